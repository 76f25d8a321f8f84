// One function of OISVM, f = z'theta in the span of the basis: the minimum of
//     theta'P theta / 2 + sum_i C_i loss(y_i - f(x_i))^2 / 2
// over all examples held, kept by Newton's method while examples come and go (Orabona et al. 2010,
// section 4). The loss is 0 on an interval of h = y - f and grows by 1 beyond: a quadratic program in
// pieces, whose piece is I, the examples beyond, and which of the ends each is beyond.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "onlinesvm/function/in_double.hpp"
#include "onlinesvm/function/loss.hpp"
#include "onlinesvm/methods/budget/basis.hpp"
#include "onlinesvm/methods/budget/independent_examples.hpp"
#include "onlinesvm/rows/rows.hpp"
#include "onlinesvm/solver/normal_equations.hpp"

namespace onlinesvm {

// Where h = y - f costs nothing.
struct Flat {
    double lo, hi;
    double beyond(double h) const { return h - std::clamp(h, lo, hi); }
};

// max(0, 1 - y f)^2
struct IndependentClassification {
    void fields(auto&&) {}
    static void demand_known(double y, std::size_t outputs) { class_number(y, outputs); }
    static double target(double y, double positive) { return y == positive ? 1.0 : -1.0; }
    static Flat flat(double target) {
        constexpr double far = std::numeric_limits<double>::infinity();
        return target > 0.0 ? Flat{-far, 0.0} : Flat{0.0, far};
    }
};

// max(0, |y - f| - epsilon)^2
struct IndependentRegression {
    double epsilon = 0.1;

    void fields(auto&& f) { f("epsilon", epsilon); }
    static void demand_known(double, std::size_t) {}
    static double target(double y, double) { return y; }
    Flat flat(double) const { return {-epsilon, epsilon}; }
};

template <class T, class Task>
class IndependentMachine final : public Slotted<IndependentMachine<T, Task>, T> {
  public:
    IndependentMachine(KernelCache<T>& rows, const IndependentExamples<T>& examples,
                       const Basis<T>& basis, const Task& task, std::int64_t max_rounds,
                       double positive)
        : IndependentMachine::Slotted(rows),
          examples(examples),
          basis(basis),
          task(task),
          max_rounds(max_rounds),
          positive_(positive) {
        theta_.assign(basis.unknowns(), 0.0);
        equations_.begin(basis.penalty(), basis.unknowns());
        this->follow_slots();
    }

    const double* beta() const { return theta_.data() + basis.first(); }
    double bias() const { return basis.first() ? theta_[0] : 0.0; }
    bool capped() const { return capped_; }
    double target(Slot j) const { return task.target(examples.y[j], positive_); }
    Flat flat(Slot j) const { return task.flat(target(j)); }

    // The example in slot j counts from now on; settle() comes after.
    void learn(Slot j) { look(j); }
    void learn_all() {
        for (Slot j{}; j < side_.size(); ++j) look(j);
        settle();
    }
    // It counts no more.
    void forget(Slot j) { turn(j, kInside); }
    // The basis has one vector more: a column of the Hessian, and beta = 0.
    void widen() {
        const std::size_t n = basis.unknowns();
        std::vector<double> column(basis.penalty().row(n - 1), basis.penalty().row(n - 1) + n);
        double q = 0.0;
        for (Slot j{}; j < side_.size(); ++j) {
            if (side_[j] == kInside) continue;
            const T* z = examples.z.row(j);
            poll(n);
            isa::table<T>().axpy(examples.C[j] * double(z[n - 1]), z, column.data(), n);
            q += examples.C[j] * edge(j, side_[j]) * double(z[n - 1]);
        }
        equations_.append(column, q);
        theta_.push_back(0.0);
        settled_ = false;
    }

    // Newton: (P + C Z_I' Z_I) theta = C Z_I' y_I, then who is in I? Half the way where the objective
    // would rise.
    void settle() {
        if (std::exchange(settled_, true)) return;
        capped_ = true;
        for (std::int64_t round = 0; round < max_rounds && capped_; ++round) {
            if (!equations_.factor() || is_worn()) begin_anew();
            const double before = objective();
            equations_.solve(to_);
            demand_numbers(to_);
            from_.assign(theta_.begin(), theta_.end());
            capped_ = go(1.0);
            const double most = before + kRounding * (std::abs(before) + constant_);
            double way = 0.5;
            while (capped_ && objective() > most && way > kShort) go(std::exchange(way, way / 2.0));
        }
        if (capped_ && !equations_.factor()) begin_anew();  // no call leaves changes that wait
        settled_ = true;
    }

    // The machine of the same examples with the opposite labels.
    void turn_round(double positive) {
        positive_ = positive;
        equations_.negate();
        for (double& theta : theta_.edit()) theta = 0.0 - theta;
        for (std::uint8_t& side : side_.edit())
            side = std::uint8_t(side == kInside ? side : 3 - side);
    }

    void stands_for(double positive) { positive_ = positive; }

    // The largest entry of the gradient, and the objective, with a basis in double.
    std::pair<double, double> measured(const Store<double>& wide) const {
        const std::size_t n = wide.size(), first = basis.first();
        Widened<T> widened;
        Aligned<double> k(wide.padded_size());
        std::vector<double> gradient(first + n);
        double objective = 0.0;
        const auto& table = isa::table<double>();
        for (Slot b{}; b < n; ++b) {
            wide.row(widened.get(basis.store(), b), 0, n, k.data());
            gradient[first + b] = table.dot(k.data(), beta(), n);
            objective += 0.5 * beta()[b] * gradient[first + b];
        }
        for (Slot j{}; j < side_.size(); ++j) {
            if (n > 0) wide.row(widened.get(rows_.store(), j), 0, n, k.data());
            const double h = target(j) - table.dot(k.data(), beta(), n) - bias();
            const double beyond = flat(j).beyond(h), pull = examples.C[j] * beyond;
            table.axpy(-pull, k.data(), gradient.data() + first, n);
            if (first) gradient[0] -= pull;
            objective += 0.5 * pull * beyond;
        }
        double worst = 0.0;
        for (double g : gradient) worst = std::max(worst, std::abs(g));
        return {worst, objective};
    }

    auto parts() {
        return std::tuple(saved("theta", theta_), saved("side", side_), saved("turns", turns_),
                          saved("constant", constant_), saved("equations", equations_),
                          unsaved(due_), unsaved(path_), unsaved(settled_), unsaved(capped_),
                          unsaved(positive_));
    }
    void check() {
        demand(theta_.size() == basis.unknowns(), "the coefficients do not fit the basis");
        for (Slot j{}; j < side_.size(); ++j) {
            const auto [side, room] = place(j);
            demand(side_[j] == side || (side_[j] <= kAbove && room < 1e-6 * (1.0 + scale(j))),
                   "an example is on another side than the function says");
        }
        NormalEquations loaded;
        std::swap(loaded, equations_);
        const double constant = constant_;
        const std::int64_t turns = turns_;
        begin_anew();
        demand(loaded.is_like(equations_) &&
                   std::abs(constant - constant_) <= 1e-6 * (1.0 + constant_),
               "the equations are not those of the examples");
        std::swap(loaded, equations_);
        constant_ = constant, turns_ = turns;
    }

  private:
    static constexpr std::uint8_t kInside = 0, kBelow = 1, kAbove = 2;  // where f is
    static constexpr std::int64_t kOften = 1000;  // changes of I until all is summed afresh
    static constexpr double kTie = 1e-12;         // so near to an end, either side will do
    static constexpr double kShort = 1e-6;        // of a step
    static constexpr double kRounding = 1e-13;

    // Which side f is on, and how much h may change until it is another.
    std::pair<std::uint8_t, double> place(Slot j) const {
        const double f = isa::table<T>().dot(examples.z.row(j), theta_.data(), theta_.size());
        const double h = target(j) - f;
        const auto [lo, hi] = flat(j);
        return {h > hi   ? kBelow
                : h < lo ? kAbove
                         : kInside,
                std::min(std::abs(h - lo), std::abs(h - hi))};
    }
    double scale(Slot j) const { return std::abs(target(j)); }
    // What f would have to be: the end of the interval that it is beyond.
    double edge(Slot j, std::uint8_t side) const {
        const auto [lo, hi] = flat(j);
        return side == kInside ? 0.0 : target(j) - (side == kBelow ? hi : lo);
    }

    bool look(Slot j) {
        const auto [side, room] = place(j);
        const double reach = std::max(1.0, std::sqrt(rows_.diagonal()[j]));
        due_.edit(j) = path_ + 0.999 * room / reach;
        if (side == side_[j] || room <= kTie * (1.0 + scale(j))) return false;
        turn(j, side);
        return true;
    }
    void turn(Slot j, std::uint8_t side) {
        if (side == side_[j]) return;
        const double C = examples.C[j], was = edge(j, side_[j]), is = edge(j, side);
        const int in = int(side != kInside) - int(side_[j] != kInside);
        equations_.change(in * C, C * (is - was), examples.z.row(j));
        constant_ += 0.5 * C * (is * is - was * was);
        side_.edit(j) = side;
        ++turns_;
        settled_ = false;
    }
    // Sums that drift are made afresh now and then, and of nothing they are 0.
    bool is_worn() const {
        return turns_ > 0 && (side_.empty() || turns_ > kOften + std::int64_t(side_.size()));
    }
    void begin_anew() {
        equations_.begin(basis.penalty(), basis.unknowns());
        constant_ = path_ = 0.0;
        due_.assign(due_.size(), 0.0);
        turns_ = 0;
        for (Slot j{}; j < side_.size(); ++j) {
            if (side_[j] == kInside) continue;
            const double C = examples.C[j], is = edge(j, side_[j]);
            poll(theta_.size() * theta_.size());
            equations_.change(C, C * is, examples.z.row(j));
            constant_ += 0.5 * C * is * is;
        }
        equations_.factor();
    }
    double objective() { return equations_.value(theta_.data()) + constant_; }

    static void demand_numbers(const std::vector<double>& theta) {
        if (!all_finite(theta.data(), theta.size()))
            throw std::invalid_argument(
                "X: rows differ too much in size for the equations to have a solution in floating "
                "point; scale the features");
    }

    // theta = from + way (to - from). Whether that changes I. |f(x)| changes by at most
    // |w - w'| sqrt k(x, x) + |b - b'|, so most examples need not be looked at.
    bool go(double way) {
        step_.resize(theta_.size());
        const auto theta = theta_.edit();
        for (std::size_t i = 0; i < theta.size(); ++i) {
            const double next = way == 1.0 ? to_[i] : from_[i] + way * (to_[i] - from_[i]);
            step_[i] = next - theta[i];
            theta[i] = next;
        }
        path_ += length(step_);
        bool turned = false;
        for (Slot j{}; j < due_.size(); ++j)
            if (!(due_[j] > path_)) {
                poll(theta_.size());
                turned |= look(j);
            }
        return turned;
    }
    double length(const std::vector<double>& step) {
        if (basis.store().kernel().shape == Shape::function)
            return std::numeric_limits<double>::infinity();  // may be no kernel
        pressed_.resize(step.size());
        basis.penalty().apply(step.size(), step.data(), pressed_.data());
        double square = 0.0, sum = 0.0;
        for (std::size_t i = 0; i < step.size(); ++i) {
            square += step[i] * pressed_[i];
            sum += std::abs(step[i]) * std::sqrt(basis.penalty()(i, i));
        }
        const double rounding = 8.0 * sum * double(std::numeric_limits<T>::epsilon());
        const double bias = basis.first() ? std::abs(step[0]) : 0.0;
        return std::sqrt(std::max(0.0, square) + rounding * sum) + rounding + bias;
    }

    using IndependentMachine::Slotted::rows_;
    const IndependentExamples<T>& examples;
    const Basis<T>& basis;
    const Task& task;
    std::int64_t max_rounds;
    double positive_;  // the class that is +1

    Ledger<double> theta_;
    Column<std::uint8_t> side_;
    Column<double> due_;  // how long the path of theta may become before an example is looked at
    double path_ = 0.0;
    NormalEquations equations_;
    double constant_ = 0.0;  // sum C_i edge_i^2 / 2
    std::int64_t turns_ = 0;
    bool settled_ = true, capped_ = false;
    std::vector<double> from_, to_, step_, pressed_;
};

}  // namespace onlinesvm
