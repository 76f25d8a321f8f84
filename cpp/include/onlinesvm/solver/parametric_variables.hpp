// The variables of the parametric engine (parametric.hpp): s with its bounds, the shift t of the
// linear term, and the partition
//     O at 0,  E at the other bound,  S between the bounds with h = 0,
// S with its kernel matrix K_SS, which never becomes singular: a member that depends on S stays
// outside. h = q - Ks = base + t - Ks; `base` is the y of SignedDual. The decision is f = Ks - t.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "onlinesvm/solver/gram.hpp"
#include "onlinesvm/solver/path.hpp"
#include "onlinesvm/solver/signed_dual.hpp"

namespace onlinesvm {

template <class Self, class T, std::size_t Copies>
class ParametricVariables : public SignedDual<Self, T, Copies> {
    using Dual = SignedDual<Self, T, Copies>;

  public:
    using typename Dual::Member;

    struct Terms {
        double kkt = 1e-8;      // largest violation left
        bool free_bias = true;  // then the sum of the coefficients is held to a target
        double bias = 0;        // given, where it is not free
    };

    ParametricVariables(KernelCache<T>& rows, Terms terms)
        : Dual(rows), tol_(terms.kkt), free_bias_(terms.free_bias), t_(0.0 - terms.bias) {}

    auto parts() {
        return std::tuple_cat(
            Dual::dual_parts("h", "base"),
            std::tuple(unsaved(c_), unsaved(net_), saved("t", t_), saved("target", target_),
                       saved("S", S_), saved("gram", gram_), saved("since_refresh", since_refresh_),
                       unsaved(path_)));
    }
    void check() {
        Dual::check();
        demand(gram_.size() == S_.size(), "the kernel matrix does not fit the set S");
        for (Member m : S_) demand(slot_of(m) < rows_.active(), "the set S is out of range");
        sum_copies();
        if (gram_fits()) return;
        S_.clear();  // those that are free join again
        gram_.clear();
    }
    void turn_round() {
        Dual::turn_round();
        t_ = 0.0 - t_, target_ = 0.0 - target_;
    }

    // The variables of a new example with decision value f; s = 0.
    void add(Slot j, const std::array<Variable, Copies>& variables, double f) {
        for (std::size_t k = 0; k < Copies; ++k) {
            const Member m = j * Copies + k;
            y_.edit(m) = variables[k].base;
            h_.edit(m) = y_[m] - f;
            s_.edit(m) = c_.edit(m) = 0;
        }
        thaw(j, variables);
        net_.edit(j) = 0;
    }
    void aim(double target) { target_ = target; }
    // What each variable earns becomes so many times k(x, x). What all earn alike, t takes over.
    void rebase(double times) {
        double mean = 0;
        for (Member m = 0; m < s_.size(); ++m) {
            const double more = times * k(m) - y_[m];
            y_.edit(m) += more, h_.edit(m) += more;
            mean += more / double(s_.size());
        }
        shift(-mean);
    }
    void hold_bias(double bias) { shift(0.0 - bias - t_); }
    // Takes an example without influence out of the problem, though h goes on following it; and
    // back in.
    void freeze(Slot j) {
        for (std::size_t k = 0; k < Copies; ++k) this->close(j * Copies + k);
    }
    void thaw(Slot j, const std::array<Variable, Copies>& variables) {
        for (std::size_t k = 0; k < Copies; ++k) {
            lo_.edit(j * Copies + k) = variables[k].lo;
            hi_.edit(j * Copies + k) = variables[k].hi;
        }
    }
    bool violates(Slot j) const {
        bool any = false;
        for (std::size_t k = 0; k < Copies; ++k)
            any |= off(j * Copies + k, h_[j * Copies + k]) > tol_;
        return any;
    }

    // ---- looking ----

    double coefficient(Slot j) const { return coefficients()[j]; }
    const double* coefficients() const { return Copies == 1 ? s_.data() : net_.data(); }
    double bias() const { return -t_; }
    bool free_bias() const { return free_bias_; }
    double target() const { return target_; }
    double f(const T* row) const { return Dual::f(row) - t_; }
    double gradient(Slot j) const { return h_[j * Copies]; }
    const std::vector<Breakpoint>& path() const { return path_; }
    void begin_path() { path_.clear(); }
    // The largest violation left: tol, or what rounding leaves.
    double tolerance() const { return std::max(tol_, 2 * tie_width()); }
    // At the true q, with the present t.
    double dual() const {
        double total = 0;
        for (Member m = 0; m < s_.size(); ++m) total += 0.5 * s_[m] * (y_[m] + t_ + h_[m]);
        return total;
    }
    // The loss of an example with decision f: its slacks times their prices.
    double loss_at(Slot j, double f) const {
        double loss = 0;
        for (std::size_t k = 0; k < Copies; ++k) {
            const Member m = j * Copies + k;
            const double h = y_[m] - f;
            loss += std::max({0.0, hi_[m] * h, lo_[m] * h});
        }
        return loss;
    }
    // f without the bias, on which all copies agree.
    double kept(Slot j) const {
        const auto of = [&](std::size_t k) { return y_[j * Copies + k] + t_ - h_[j * Copies + k]; };
        for (std::size_t k = 1; k < Copies; ++k)
            if (std::abs(of(k) - of(0)) > 1e-6 * (1 + std::abs(of(0)))) return kInfinity;
        return of(0);
    }

    void refresh() {
        sum_copies();
        moves_.clear();
        for (Slot j{}; j < rows_.size(); ++j)
            if (coefficient(j) != 0) moves_.push_back({j, coefficient(j)});
        compute_rates();
        double* h = h_.edit().data();
        for (Member m = 0; m < s_.size(); ++m) h[m] = y_[m] + t_ + rate_[slot_of(m)];
        since_refresh_ = 0;
    }

    // ---- Follower ----

    void slots_swapped(Slot a, Slot b) override {
        Dual::slots_swapped(a, b);
        for (Member& m : ties_)
            if (const Slot j = slot_of(m); j == a || j == b)
                m = (j == a ? b : a) * Copies + m % Copies;
    }
    void slot_popped() override {
        for (std::size_t k = 1; k <= Copies; ++k)
            if (const Member m = s_.size() - k; S_.contains(m)) leave(S_.place(m));
        Dual::slot_popped();
    }

  protected:
    using Dual::can_rise, Dual::can_fall, Dual::is_free, Dual::off;
    using Dual::rows_, Dual::s_, Dual::h_, Dual::lo_, Dual::hi_, Dual::y_, Dual::moves_;

    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    // Below this share of the kernel diagonal a member counts as a combination of S.
    static constexpr double kDependent = sizeof(T) == 4 ? 1e-6 : 1e-11;

    static Slot slot_of(Member m) { return Slot(m / Copies); }
    double k(Member m) const { return rows_.diagonal()[slot_of(m)]; }
    // The same member among those whose rows are kept: slots may move.
    Member hot(Member m) { return rows_.promote(slot_of(m)) * Copies + m % Copies; }

    // ---- tolerances ----

    double scale() const {  // of sum s
        double largest = 1e-300;
        for (Member m = 0; m < s_.size(); ++m) largest = std::max(largest, hi_[m] - lo_[m]);
        return largest;
    }
    // What rounding leaves of h at best.
    double noise() const {
        double reach = 0, largest = 0;
        for (Member m = 0; m < s_.size(); ++m) {
            reach += std::abs(s_[m]) * std::sqrt(k(m));
            largest = std::max(largest, k(m));
        }
        return 2e-15 * reach * std::sqrt(largest);
    }
    // Nearer to h = 0 than this is there.
    double tie_width() const {
        double largest = 0;
        for (double b : y_) largest = std::max(largest, std::abs(b));
        return std::max(1e-10 * (1 + largest), noise());
    }
    double worst(bool free_bias) const {
        double v = free_bias && !s_.empty() ? this->imbalance() / scale() : 0;
        for (Member m = 0; m < s_.size(); ++m) v = std::max(v, off(m, h_[m]));
        return v;
    }

    // ---- the sets ----

    // Those that wait outside S with h = 0, or on the wrong side of it by rounding.
    void gather_ties() {
        ties_.clear();
        for (Member m = 0; m < s_.size(); ++m) {
            const double h = h_[m];
            if ((s_[m] <= lo_[m] && h < -tie_eps_) || (s_[m] >= hi_[m] && h > tie_eps_)) continue;
            if (lo_[m] < hi_[m] && !S_.contains(m)) ties_.push_back(m);
        }
    }
    // False if m depends on S: then gram_.u() says how.
    bool join(Member m) {
        column_.resize(S_.size());
        each_row_of_S([&](std::size_t i, const T* row) { column_[i] = double(row[slot_of(m)]); });
        double largest = k(m);
        for (Member i : S_) largest = std::max(largest, k(i));
        if (!gram_.add(column_.data(), k(m), kDependent * largest)) return false;
        in_E_ -= s_[m] != 0 && !is_free(m);
        S_.add(m);
        return true;
    }
    void leave(std::size_t i) {
        gram_.remove(i);
        in_E_ += s_[S_[i]] != 0;
        S_.remove_at(i);
        for (auto* v : {&d_, &inward_})
            if (S_.size() < v->size()) {
                (*v)[i] = (*v)[S_.size()];
                v->erase(v->begin() + std::ptrdiff_t(S_.size()));
            }
    }
    // Members that have come to a bound leave S, and wait.
    void purge() {
        for (std::size_t i = S_.size(); i-- > 0;)
            if (!is_free(S_[i])) leave(i);
    }
    template <class Use>
    void each_row_of_S(Use use) {
        std::array<const T*, 8> rows;
        std::array<Slot, 8> slots;
        for (std::size_t first = 0; first < S_.size(); first += 8) {
            const std::size_t n = std::min<std::size_t>(8, S_.size() - first);
            for (std::size_t i = 0; i < n; ++i) slots[i] = slot_of(S_[first + i]);
            rows_.rows(std::span<const Slot>(slots.data(), n), rows_.size(), rows.data());
            for (std::size_t i = 0; i < n; ++i) use(first + i, rows[i]);
        }
    }

    bool gram_fits() {
        if (rows_.store().kernel().shape == Shape::function) return true;  // never from a file
        std::vector<Slot> slots;
        for (Member m : S_) slots.push_back(slot_of(m));
        bool fits = true;
        rows_.among(slots, [&](std::size_t i, const T* row) { fits &= gram_.has_row(i, row); });
        return fits && gram_.is_inverted();
    }

    // ---- t and h ----

    // Without free members t is only an interval: its midpoint.
    void centre() {
        double low = -kInfinity, high = kInfinity;
        for (Member m = 0; m < s_.size(); ++m) {
            if (is_free(m)) return;
            if (can_rise(m)) high = std::min(high, -h_[m]);
            if (can_fall(m)) low = std::max(low, -h_[m]);
        }
        if (low == -kInfinity && high == kInfinity)
            shift(-t_);
        else
            shift(low == -kInfinity ? high : high == kInfinity ? low : 0.5 * (low + high));
    }
    void shift(double by) {
        t_ += by;
        for (double& h : h_.edit()) h += by;
    }
    // rate = -K w, w the weights in moves_.
    void compute_rates() {
        rate_.assign(rows_.size(), 0);
        rows_.subtract(rate_.data(), moves_, 0, rows_.size());
    }
    void sum_copies() {
        if constexpr (Copies > 1)
            for (Slot j{}; j < rows_.size(); ++j) {
                double& net = net_.edit(j) = 0;
                for (std::size_t k = 0; k < Copies; ++k) net += s_[j * Copies + k];
            }
    }

    double tol_;
    bool free_bias_;
    SignedColumn<Copies> c_;  // dq/du, during a run
    SignedColumn<> net_;      // s of an example, where it has several variables
    double t_ = 0, target_ = 0;
    IndexSet<Member, Copies> S_;  // in the order of the kernel matrix
    Gram gram_;                   // K_SS
    std::int64_t since_refresh_ = 0;
    PlainLedger<Breakpoint> path_;

    // Working memory of a run.
    double tie_eps_ = 0;
    std::vector<Member> ties_;        // outside S with h = 0
    std::vector<double> d_, inward_;  // per member of S: ds/du, and the side from which it came
    std::int64_t in_E_ = 0;           // members of E
    std::vector<double> column_;
    Aligned<double> rate_;
};

}  // namespace onlinesvm
