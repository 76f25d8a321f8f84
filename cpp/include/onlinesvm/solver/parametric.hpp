// The parametric engine of POKER (Fine & Scheinberg, NIPS 2001): the dual of a kernel machine,
//     max  q(u)'s - s'Ks/2   with  lo_i <= s_i <= hi_i,      q(u) = q + u c,
// followed along u. It is kept in signed form, s = z a with z the sign of a variable (its label), so
// that one engine serves every task: q = base + t, h = q - Ks = z G is the signed gradient, and
//     classification  base y          box [0, C] or [-C, 0]        sum s = 0
//     regression      base y -+ eps   boxes [0, C] and [-C, 0]     sum s = 0      (two per example)
//     one class       base 0          box [0, 1]                   sum s = nu n
// The decision is f = Ks - t. With t free, sum s = target is its optimality condition.
//
// Partition: O at 0, E at the other bound, S with h = 0. While it holds the solution is linear in u:
//     K_SS d_S = c_S,  d = ds/du;    r = dh/du = c - Kd,  0 on S                     (linear piece)
// and it breaks where somebody in S meets a bound, or somebody outside comes to h = 0.
// K_SS never becomes singular: who depends on S slides in by an exchange at constant u.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "onlinesvm/base/aligned.hpp"
#include "onlinesvm/base/path.hpp"
#include "onlinesvm/base/rows.hpp"
#include "onlinesvm/base/variable.hpp"
#include "onlinesvm/solver/gram.hpp"

namespace onlinesvm {

template <class T, std::size_t Copies = 1>
class Parametric final : public Follower {
  public:
    using Member = std::size_t;  // slot * Copies + copy

    struct Terms {
        double kkt = 1e-8;      // largest violation left
        bool free_bias = true;  // then the sum of the coefficients is held to a target
    };

    Parametric(Rows<T>& rows, Terms terms)
        : rows_(rows), tol_(terms.kkt), free_bias_(terms.free_bias) {
        for (Slot j = 0; j < rows_.size(); ++j) slot_pushed();
        rows_.follow(this);  // last: whoever fails to be made follows nobody
    }
    ~Parametric() override { rows_.unfollow(this); }
    Parametric(const Parametric&) = delete;
    Parametric& operator=(const Parametric&) = delete;

    // ---- variables ----

    // The variables of a new example with decision value f; s = 0.
    void add(Slot j, const std::array<Variable, Copies>& variables, double f) {
        for (std::size_t k = 0; k < Copies; ++k) {
            const Member m = j * Copies + k;
            base_.edit(m) = variables[k].base;
            lo_.edit(m) = variables[k].lo;
            hi_.edit(m) = variables[k].hi;
            h_.edit(m) = base_[m] - f;
            s_.edit(m) = c_.edit(m) = 0;
        }
        net_.edit(j) = 0;
    }
    std::array<Variable, Copies> variables(Slot j) const {
        std::array<Variable, Copies> all;
        for (std::size_t k = 0; k < Copies; ++k)
            all[k] = {base_[j * Copies + k], lo_[j * Copies + k], hi_[j * Copies + k],
                      s_[j * Copies + k]};
        return all;
    }
    void aim(double target) { target_ = target; }
    // Takes an example without influence out of the problem, though h goes on following it; and
    // back in.
    void freeze(Slot j) {
        for (std::size_t k = 0; k < Copies; ++k) close(j * Copies + k);
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

    // ---- runs ----

    // Self-Init: with t far out everybody sits at one end; then t comes in.
    void self_init() {
        double lowest = 0, highest = 0;
        for (Member m = 0; m < s_.size(); ++m) lowest += lo_[m], highest += hi_[m];
        const double way = target_ - lowest <= highest - target_ ? 1 : -1;
        s_ = way > 0 ? lo_ : hi_;
        for (Slot j = 0; j < rows_.size(); ++j)
            if (supports(j)) rows_.promote(j);
        t_ = 0;
        refresh();
        double nearest = -kInfinity;
        for (Member m = 0; m < s_.size(); ++m)
            if (lo_[m] < hi_[m]) nearest = std::max(nearest, way * h_[m]);
        if (nearest > -kInfinity) shift(-way * (nearest + 1));
        adjust_bias();
    }

    // POKER fixed-bias, from a problem that the present solution solves: whoever violates its
    // condition pretends a slack of 1, and gives it up as u goes from 0 to 1.
    void fixed_bias(std::size_t limit = kNoLimit) {
        if (since_refresh_ >= kRefresh) refresh();
        const double eps = tie_width();
        bool any = false;
        double *h = h_.edit().data(), *c = c_.edit().data();
        for (Member m = 0; m < s_.size(); ++m) {
            const bool free = is_free(m), wrong = off(m, h[m]) > eps;
            any |= wrong;
            c[m] = free ? h[m] : wrong ? h[m] + (h[m] > 0 ? 1 : -1) : 0;
            h[m] -= c[m];
        }
        const double u = any ? run(End::true_problem, limit) : 0;
        for (Member m = 0; m < s_.size(); ++m) h[m] += (1 - u) * std::exchange(c[m], 0.0);
    }

    // POKER adjust-bias: t moves, the solution for fixed t follows, until sum s = target.
    void adjust_bias() {
        const double gap = target_ - sum();
        if (std::abs(gap) > 1e-13 * scale()) {
            std::ranges::fill(c_.edit(), gap > 0 ? 1.0 : -1.0);
            run(End::balance);
            std::ranges::fill(c_.edit(), 0.0);
        }
        centre();
    }

    // Decremental: the variables of these examples are pushed to 0 and held there.
    void vacate(std::span<const std::int64_t> ids) {
        for (std::int64_t id : ids)
            for (std::size_t k = 0; k < Copies; ++k) {
                const Member m = rows_.slot(id) * Copies + k;
                c_.edit(m) = s_[m] > 0 ? -1 : s_[m] < 0 ? 1 : 0;
                if (s_[m] == 0) close(m);
            }
        run(End::vacated);
        bool forced = false;
        for (Member m = 0; m < s_.size(); ++m)
            if (c_[m] != 0) {
                s_.edit(m) = c_.edit(m) = 0;
                close(m);
                forced = true;
            }
        if (forced) {  // the run gave up
            purge();
            refresh();
        }
    }

    // Whatever rounding has left is the next run's business; where runs do not help, steps that
    // only ever raise the dual do.
    void settle(bool free_bias) {
        capped_ = false;
        for (int round = 0; round < kRounds; ++round) {
            if (worst(free_bias) <= tolerance()) return finish();
            refresh();
            fixed_bias();
            if (free_bias) adjust_bias();
        }
        climb(free_bias);
        finish();
    }

    // How much the dual gains, at least, by thawing an example: a few breakpoints are tried and
    // taken back.
    double gain(Slot j, const std::array<Variable, Copies>& variables, std::size_t breakpoints) {
        const Snapshot before(*this);
        const std::int64_t id = rows_.id(j);
        thaw(j, variables);
        const double dual = this->dual();
        fixed_bias(breakpoints);
        const double gained = this->dual() - dual;
        before.restore(*this);
        freeze(rows_.slot(id));
        return gained;
    }
    // At the true q, with the present t.
    double dual() const {
        double total = 0;
        for (Member m = 0; m < s_.size(); ++m) total += 0.5 * s_[m] * (base_[m] + t_ + h_[m]);
        return total;
    }

    // h afresh from the definition: stops the drift of incremental updates.
    void refresh() {
        finish();
        weighted_.clear();
        for (Slot j = 0; j < rows_.size(); ++j)
            if (coefficients()[j] != 0) weighted_.push_back({j, coefficients()[j]});
        subtract();
        double* h = h_.edit().data();
        for (Member m = 0; m < s_.size(); ++m) h[m] = base_[m] + t_ + rate_[slot_of(m)];
        since_refresh_ = 0;
    }

    // Nobody violates its condition by more, or by what rounding leaves.
    double tolerance() const { return std::max(tol_, 2 * tie_width()); }

    // ---- looking ----

    double coefficient(Slot j) const { return coefficients()[j]; }
    const double* coefficients() const { return Copies == 1 ? s_.data() : net_.data(); }
    double bias() const { return -t_; }
    double f(const T* row) const {
        return isa::table<T>().dot(row, coefficients(), rows_.active()) - t_;
    }
    double gradient(Slot j) const { return h_[j * Copies]; }
    bool capped() const { return capped_; }
    const std::vector<Breakpoint>& path() const { return path_; }
    void begin_path() { path_.clear(); }

    bool tight(Slot j) const {
        bool any = false;
        for (std::size_t k = 0; k < Copies; ++k) any |= is_free(j * Copies + k);
        return any;
    }
    double violation(Slot j, double f) const {
        double worst = 0;
        for (std::size_t k = 0; k < Copies; ++k) {
            const Member m = j * Copies + k;
            worst = std::max(worst, off(m, base_[m] - f));
        }
        return worst;
    }
    double imbalance() const { return free_bias_ ? std::abs(target_ - sum()) : 0; }
    // The loss of an example with decision f: its slacks times their prices.
    double loss_at(Slot j, double f) const {
        double loss = 0;
        for (std::size_t k = 0; k < Copies; ++k) {
            const Member m = j * Copies + k;
            const double h = base_[m] - f;
            loss += std::max({0.0, hi_[m] * h, lo_[m] * h});
        }
        return loss;
    }
    double target() const { return target_; }
    bool free_bias() const { return free_bias_; }
    double upper(Slot j) const {
        double most = 0;
        for (std::size_t k = 0; k < Copies; ++k)
            most = std::max(most, hi_[j * Copies + k] - lo_[j * Copies + k]);
        return most;
    }
    // On what a kept value rests, and that value: f without the bias, on which all copies agree.
    double weight(Slot j) const { return std::abs(coefficient(j)); }
    double kept(Slot j) const {
        const auto of = [&](std::size_t k) {
            return base_[j * Copies + k] + t_ - h_[j * Copies + k];
        };
        for (std::size_t k = 1; k < Copies; ++k)
            if (std::abs(of(k) - of(0)) > 1e-6 * (1 + std::abs(of(0)))) return kInfinity;
        return of(0);
    }
    double postponed() const { return 0; }

    // ---- Follower ----

    void slot_pushed() override {
        for (auto* v : arrays()) v->resize(v->size() + Copies);
        place_.resize(place_.size() + Copies, kNowhere);
        net_.push_back(0);
    }
    void slots_swapped(Slot a, Slot b) override {
        for (std::size_t k = 0; k < Copies; ++k) {
            const Member x = a * Copies + k, y = b * Copies + k;
            for (auto* v : arrays()) v->swap(x, y);
            place_.swap(x, y);
            for (Member m : {x, y})
                if (place_[m] != kNowhere) S_.edit(std::size_t(place_[m])) = m;
            for (Member& m : ties_) m = m == x ? y : m == y ? x : m;
        }
        net_.swap(a, b);
    }
    void slot_popped() override {
        for (std::size_t k = 0; k < Copies; ++k) {
            if (place_.back() != kNowhere) leave(std::size_t(place_.back()));
            for (auto* v : arrays()) v->pop_back();
            place_.pop_back();
        }
        net_.pop_back();
    }

    auto undoable() {
        return std::tie(s_, h_, lo_, hi_, base_, c_, t_, target_, S_, place_, gram_, net_,
                        since_refresh_, capped_, path_);
    }

    // Sees the same members with the opposite labels.
    void mirror(const Parametric& other) {
        s_ = other.s_, h_ = other.h_, base_ = other.base_, c_ = other.c_;
        lo_ = other.hi_, hi_ = other.lo_;
        for (auto* v : arrays())
            for (double& x : v->edit()) x = 0.0 - x;
        net_ = other.net_;
        for (double& x : net_.edit()) x = 0.0 - x;
        t_ = 0.0 - other.t_, target_ = 0.0 - other.target_;
        place_ = other.place_, S_ = other.S_, gram_ = other.gram_;
        since_refresh_ = other.since_refresh_, capped_ = other.capped_;
    }

    template <class A>
    void state(A& a) {
        a("s", s_);
        a("h", h_);
        a("lo", lo_);
        a("hi", hi_);
        a("base", base_);
        a("t", t_);
        a("target", target_);
        a("since_refresh", since_refresh_);
        std::vector<std::int64_t> S(S_.begin(), S_.end());
        a("S", S);
        a("gram", gram_);
        if constexpr (A::loading) loaded(S);
    }
    std::size_t nbytes() const {
        return nbytes_of(s_, h_, lo_, hi_, base_, c_, S_, place_, gram_, net_, path_) +
               rate_.capacity() * sizeof(double);
    }

  private:
    enum class End { true_problem, balance, vacated };  // u = 1, sum s = target, all of them at 0
    enum class Way { linear, null, lost };
    // Where the next breakpoint is: the step, who, and what happens to it.
    struct Next {
        double step = kInfinity;
        Member who = 0;
        Event event = Event::end;
    };

    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    static constexpr std::int32_t kNowhere = -1;
    static constexpr std::size_t kNoLimit = std::size_t(-1);
    static constexpr int kRounds = 4;
    static constexpr std::int64_t kRefresh = 1000;  // breakpoints between recomputations of h
    // Below this share of the kernel diagonal a member counts as a combination of S.
    static constexpr double kDependent = sizeof(T) == 4 ? 1e-6 : 1e-11;
    static constexpr double kDust = 1e-9;  // a share of a null direction that is rounding

    std::array<Ledger<double>*, 6> arrays() { return {&s_, &h_, &lo_, &hi_, &base_, &c_}; }
    static Slot slot_of(Member m) { return m / Copies; }
    void close(Member m) { lo_.edit(m) = hi_.edit(m) = 0; }  // its bounds
    double k(Member m) const { return rows_.diagonal()[slot_of(m)]; }
    bool can_rise(Member m) const { return s_[m] < hi_[m]; }
    bool can_fall(Member m) const { return s_[m] > lo_[m]; }
    bool is_free(Member m) const { return can_rise(m) && can_fall(m); }
    bool in_S(Member m) const { return place_[m] != kNowhere; }
    // By how much member m with gradient h is off.
    double off(Member m, double h) const { return box_violation(s_[m], lo_[m], hi_[m], h); }
    bool supports(Slot j) const {
        bool any = false;
        for (std::size_t k = 0; k < Copies; ++k) any |= s_[j * Copies + k] != 0;
        return any;
    }
    double sum() const {
        double total = 0;
        for (double s : s_) total += s;
        return total;
    }
    double scale() const {  // of sum s
        double largest = 1e-300;
        for (Member m = 0; m < s_.size(); ++m) largest = std::max(largest, hi_[m] - lo_[m]);
        return largest;
    }

    // ---- tolerances ----

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
        for (double b : base_) largest = std::max(largest, std::abs(b));
        return std::max(1e-10 * (1 + largest), noise());
    }
    double worst(bool free_bias) const {
        double v = free_bias && !s_.empty() ? imbalance() / scale() : 0;
        for (Member m = 0; m < s_.size(); ++m) v = std::max(v, off(m, h_[m]));
        return v;
    }

    // ---- one run along u ----

    // Follows the solution from u = 0 to the end of the run. A cap, or a circle of empty steps, may
    // end it early: s is inside its bounds even then, and settle() sees to the rest. Returns u.
    double run(End end, std::size_t limit = kNoLimit) {
        begin(end);
        const std::size_t cap = std::min(limit, 100 * (s_.size() + 100));
        const std::size_t patience = s_.size() + 100;
        for (std::size_t n = 0, idle = 0; n < cap && idle < patience && !run_.over; ++n) {
            poll(8 * s_.size());
            const Way way = direction();
            if (way == Way::lost) break;
            note();  // the breakpoint just passed, with the partition behind it
            follow(way);
            const Next next = nearest(way);
            if (next.step == kInfinity) break;  // nobody is left to move
            idle = next.step > 0 ? 0 : idle + 1;
            advance(next, way);
        }
        note();
        snap();
        purge();
        ties_.clear();
        return run_.over && end == End::true_problem ? 1 : run_.u;
    }

    void begin(End end) {
        purge();
        run_ = Run();
        run_.end = end;
        tie_eps_ = tie_width();
        for (Member m = 0; m < s_.size(); ++m) {
            const double c = c_[m], h = h_[m] + (end == End::true_problem ? c : 0);
            run_.largest_c = std::max(run_.largest_c, std::abs(c));
            run_.largest_k = std::max(run_.largest_k, k(m));
            run_.sum += s_[m];
            run_.dual += 0.5 * s_[m] * (base_[m] + t_ + h);
            run_.in_E += s_[m] != 0 && !in_S(m);
            run_.to_vacate += end == End::vacated && c != 0;
        }
        run_.over = end == End::vacated && run_.to_vacate == 0;
        if (end == End::balance && !c_.empty()) run_.tilt = c_[0];
        gather_ties();
    }

    // d = ds/du, one-sided: the solution of
    //     min d'Kd/2 - c'd,  d free on S, and only inwards for those who wait at a bound with h = 0,
    // by an active set in the manner of non-negative least squares: every change of S lowers the
    // objective, so none comes twice. Where c has a part that no d can balance, a null direction v
    // of K results, along which s slides at constant u.
    Way direction() {
        inward_.assign(S_.size(), 0);
        d_.assign(S_.size(), 0);
        const std::size_t limit = 20 * (S_.size() + ties_.size() + 10);
        for (std::size_t round = 0; round < limit; ++round) {
            poll(4 * S_.size() * S_.size());
            solve_on_S();
            if (approach()) continue;
            const auto [member, push] = most_pushed();
            if (push == 0) return Way::linear;
            const Member m = hot(member);
            const double way = push > 0 ? 1 : -1;
            if (join(m)) {
                inward_.push_back(is_free(m) ? 0 : way);
                d_.push_back(0);
            } else if (!exchange(m, way)) {
                slider_ = m;
                return Way::null;
            }
        }
        return Way::lost;
    }
    void solve_on_S() {
        on_S_.resize(S_.size());
        for (std::size_t i = 0; i < S_.size(); ++i) on_S_[i] = c_[S_[i]];
        gram_.solve(on_S_.data(), x_);
    }
    // From d towards x; true where somebody came from a bound, would go back through it, and leaves.
    bool approach() {
        double part = 1;
        std::size_t blocker = S_.size();
        for (std::size_t i = 0; i < S_.size(); ++i)
            if (inward_[i] * x_[i] < 0 && d_[i] / (d_[i] - x_[i]) < part) {
                part = d_[i] / (d_[i] - x_[i]);
                blocker = i;
            }
        for (std::size_t i = 0; i < S_.size(); ++i) d_[i] += part * (x_[i] - d_[i]);
        if (blocker == S_.size()) return false;
        leave(blocker);
        return true;
    }
    // Of those who wait with h = 0: who is pushed most where it can go, and how much (0: nobody).
    std::pair<Member, double> most_pushed() {
        push_.assign(ties_.size(), 0);
        for (std::size_t i = 0; i < ties_.size(); ++i) push_[i] = c_[ties_[i]];
        each_row_of_S([&](std::size_t i, const T* row) {
            for (std::size_t j = 0; j < ties_.size(); ++j)
                push_[j] -= d_[i] * double(row[slot_of(ties_[j])]);
        });
        run_.still = stillness();
        std::pair<Member, double> most{0, 0};
        for (std::size_t j = 0; j < ties_.size(); ++j) {
            const double r = push_[j];
            if (in_S(ties_[j]) || std::abs(r) <= run_.still) continue;
            if ((r > 0 ? can_rise(ties_[j]) : can_fall(ties_[j])) &&
                std::abs(r) > std::abs(most.second))
                most = {ties_[j], r};
        }
        return most;
    }
    // A rate that is rounding.
    double stillness() const {
        double reach = 0;
        for (std::size_t i = 0; i < S_.size(); ++i) reach += std::abs(d_[i]) * std::sqrt(k(S_[i]));
        return 1e-10 * run_.largest_c + 1e-15 * reach * std::sqrt(run_.largest_k);
    }
    // m depends on S, m = u'S: d goes along v = e_m - u until somebody who came from a bound is back
    // there; m takes its place. Without such a one v is the null direction, left in d.
    bool exchange(Member m, double way) {
        std::vector<double> u = gram_.u();
        double longest = 1, part = kInfinity;
        for (double v : u) longest = std::max(longest, std::abs(v));
        for (double& v : u)
            if (std::abs(v) <= kDust * longest) v = 0;
        std::size_t blocker = S_.size();
        for (std::size_t i = 0; i < S_.size(); ++i) {
            const double v = -way * u[i];
            if (inward_[i] * v < 0 && -d_[i] / v < part) {
                part = -d_[i] / v;
                blocker = i;
            }
        }
        if (blocker == S_.size()) {
            for (std::size_t i = 0; i < S_.size(); ++i) d_[i] = -way * u[i];
            d_.push_back(way);
            return false;
        }
        for (std::size_t i = 0; i < S_.size(); ++i) d_[i] -= part * way * u[i];
        leave(blocker);
        if (join(m)) {
            inward_.push_back(is_free(m) ? 0 : way);
            d_.push_back(part * way);
        }
        return true;
    }

    // rate = -K d over all slots.
    void follow(Way way) {
        weighted_.clear();
        for (std::size_t i = 0; i < S_.size(); ++i) weighted_.push_back({slot_of(S_[i]), d_[i]});
        if (way == Way::null) weighted_.push_back({slot_of(slider_), d_.back()});
        subtract();
    }
    // The smallest step to an event, or to the end of the run.
    Next nearest(Way way) const {
        Next next;
        double slope = 0;
        const auto meets_bound = [&](Member m, double d) {
            slope += d;
            if (d == 0) return;
            const double edge = d > 0 ? hi_[m] : lo_[m], step = std::max(0.0, (edge - s_[m]) / d);
            if (step >= next.step) return;
            next = {step, m, edge == 0 ? Event::S_to_O : Event::S_to_E};
        };
        for (std::size_t i = 0; i < S_.size(); ++i) meets_bound(S_[i], d_[i]);
        if (way == Way::null) {
            meets_bound(slider_, d_.back());
            if (next.who == slider_)
                next.event = next.event == Event::S_to_O ? Event::E_to_O : Event::O_to_E;
        } else {
            const double still = 2 * run_.still;
            for (Member m = 0; m < s_.size(); ++m) {
                const double r = c_[m] + rate_[slot_of(m)];
                if (r > still ? !can_rise(m) : r < -still ? !can_fall(m) : true) continue;
                const double step = std::max(0.0, -h_[m] / r);
                if (step < next.step && !in_S(m))
                    next = {step, m, s_[m] == 0 ? Event::O_to_S : Event::E_to_S};
            }
        }
        const double end = to_the_end(way, slope);
        return end <= next.step ? Next{end, 0, Event::end} : next;
    }
    double to_the_end(Way way, double slope) const {
        if (run_.end == End::true_problem && way == Way::linear) return std::max(0.0, 1 - run_.u);
        if (run_.end == End::balance && slope != 0) {
            const double step = (target_ - run_.sum) / slope;
            if (step >= 0) return step;
        }
        return kInfinity;
    }

    void advance(const Next& next, Way way) {
        const bool slides = way == Way::null;
        const double step = next.step, by = slides ? 0 : step;
        keep_account(step, by);
        const auto move = [&](Member m, double d) {
            s_.edit(m) = std::clamp(s_[m] + step * d, lo_[m], hi_[m]);
        };
        for (std::size_t i = 0; i < S_.size(); ++i) move(S_[i], d_[i]);
        if (slides) {
            run_.in_E -= s_[slider_] != 0;
            move(slider_, d_.back());
        }
        run_.u += by;
        t_ += by * run_.tilt;
        ++since_refresh_;
        double* h = h_.edit().data();
        const double *c = c_.data(), *rate = rate_.data();
        for (Member m = 0; m < s_.size(); ++m) h[m] += by * c[m] + step * rate[slot_of(m)];
        run_.over = next.event == Event::end;
        run_.passed = {next.event, run_.over ? -1 : rows_.id(slot_of(next.who))};
        run_.noted = false;
        if (!run_.over) arrive(next);
        purge();
        if (slides && !(is_free(slider_) && join(slider_))) run_.in_E += s_[slider_] != 0;
        gather_ties();
    }
    // Exactly there: at its bound, or at h = 0.
    void arrive(const Next& next) {
        const Member m = next.who;
        if (next.event == Event::O_to_S || next.event == Event::E_to_S) {
            h_.edit(m) = 0;
            return;
        }
        const bool to_zero = next.event == Event::S_to_O || next.event == Event::E_to_O;
        s_.edit(m) = to_zero ? 0 : hi_[m] != 0 ? hi_[m] : lo_[m];
        if (to_zero && run_.end == End::vacated && c_[m] != 0) {
            close(m);
            c_.edit(m) = 0;
            run_.over = --run_.to_vacate == 0;
        }
    }
    // The sum of s, and the dual at the true q.
    void keep_account(double step, double by) {
        double slope = 0, bend = 0;
        for (std::size_t i = 0; i < d_.size(); ++i) {
            slope += d_[i];
            bend += d_[i] * c_[i < S_.size() ? S_[i] : slider_];
        }
        if (run_.end == End::balance)
            run_.dual += by * run_.tilt * (run_.sum + 0.5 * step * slope);
        else if (run_.end == End::true_problem)
            run_.dual += bend * step * (1 - run_.u - 0.5 * by);
        else
            run_.dual -= bend * step * (run_.u + 0.5 * by);
        run_.sum += step * slope;
    }
    void note() {
        if (std::exchange(run_.noted, true)) return;
        const auto [event, id] = run_.passed;
        const std::int64_t in_S = std::int64_t(S_.size()), all = std::int64_t(s_.size());
        path_.push_back({run_.end == End::balance ? t_ : run_.u, event, id, in_S, run_.in_E,
                         all - in_S - run_.in_E, run_.dual});
    }

    // ---- the sets ----

    // Who waits outside S with h = 0, or on the wrong side of it by rounding.
    void gather_ties() {
        ties_.clear();
        for (Member m = 0; m < s_.size(); ++m) {
            const double h = h_[m];
            if ((s_[m] <= lo_[m] && h < -tie_eps_) || (s_[m] >= hi_[m] && h > tie_eps_)) continue;
            if (lo_[m] < hi_[m] && !in_S(m)) ties_.push_back(m);
        }
    }
    // False if m depends on S: then gram_.u() says how.
    bool join(Member m) {
        column_.resize(S_.size());
        each_row_of_S([&](std::size_t i, const T* row) { column_[i] = double(row[slot_of(m)]); });
        double largest = k(m);
        for (Member i : S_) largest = std::max(largest, k(i));
        if (!gram_.add(column_.data(), k(m), kDependent * largest)) return false;
        run_.in_E -= s_[m] != 0 && !is_free(m);
        place_.edit(m) = std::int32_t(S_.size());
        S_.push_back(m);
        return true;
    }
    void leave(std::size_t i) {
        gram_.remove(i);
        const Member m = S_[i];
        run_.in_E += s_[m] != 0;
        place_.edit(m) = kNowhere;
        const std::size_t last = S_.size() - 1;
        for (auto* v : {&d_, &inward_})
            if (last < v->size()) {
                (*v)[i] = (*v)[last];
                v->erase(v->begin() + std::ptrdiff_t(last));
            }
        if (i != last) {
            S_.edit(i) = S_[last];
            place_.edit(S_[i]) = std::int32_t(i);
        }
        S_.pop_back();
    }
    // The end of a run may fall together with a bound: at it, or a rounding error before.
    void snap() {
        for (Member m = 0; m < s_.size(); ++m)  // a tie that slid need not be in S
            for (double edge : {lo_[m], hi_[m]}) {
                const double off = std::abs(s_[m] - edge);
                if (off <= 1e-12 * (hi_[m] - lo_[m]) &&
                    off * std::sqrt(k(m) * run_.largest_k) <= 1e-12)
                    s_.edit(m) = edge;
            }
    }
    // Who has come to a bound leaves S, and waits.
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

    // ---- t and h ----

    // With nobody free, t is only an interval: its midpoint.
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
    // rate = -K w for the weights given, eight rows at a time.
    void subtract() {
        rate_.assign(rows_.size(), 0);
        std::array<const T*, 8> rows;
        std::array<double, 8> w;
        std::array<Slot, 8> slots;
        for (std::size_t i = 0; i < weighted_.size(); i += 8) {
            const std::size_t n = std::min<std::size_t>(8, weighted_.size() - i);
            for (std::size_t j = 0; j < n; ++j) std::tie(slots[j], w[j]) = weighted_[i + j];
            rows_.rows(std::span<const Slot>(slots.data(), n), rows_.size(), rows.data());
            for (std::size_t j = n; j < 8; ++j) rows[j] = rows[0], w[j] = 0;
            isa::table<T>().subtract(rate_.data(), rows.data(), w.data(), 8, 0, rows_.size());
        }
    }
    void finish() {
        if constexpr (Copies > 1)
            for (Slot j = 0; j < rows_.size(); ++j) {
                double& net = net_.edit(j) = 0;
                for (std::size_t k = 0; k < Copies; ++k) net += s_[j * Copies + k];
            }
    }

    // ---- the fallback ----

    // One or two variables at a time, each step raising the dual: it cannot go in circles.
    void climb(bool free_bias) {
        while (!S_.empty()) leave(S_.size() - 1);
        refresh();
        const double tol = tolerance();
        capped_ = true;
        for (std::size_t n = 0; n < 1000 * (s_.size() + 100) && capped_; ++n) {
            poll(4 * s_.size());
            Member up = s_.size(), down = s_.size();
            for (Member m = 0; m < s_.size(); ++m) {
                if (can_rise(m) && (up == s_.size() || h_[m] > h_[up])) up = m;
                if (can_fall(m) && (down == s_.size() || h_[m] < h_[down])) down = m;
            }
            capped_ = free_bias ? pair_step(up, down, tol) : single_step(up, down, tol);
        }
        for (Member m = 0; m < s_.size(); ++m)
            if (is_free(m)) join(m);
    }
    bool single_step(Member up, Member down, double tol) {
        const double rise = up < s_.size() ? h_[up] : 0, fall = down < s_.size() ? -h_[down] : 0;
        if (std::max(rise, fall) <= tol) return false;
        const Member m = hot(rise > fall ? up : down);
        change(m, k(m) > 0 ? h_[m] / k(m) : h_[m] * kInfinity);
        return true;
    }
    // Towards the balance first, then along it.
    bool pair_step(Member up, Member down, double tol) {
        const double gap = target_ - sum();
        if (std::abs(gap) > 1e-12 * scale()) {
            const Member m = gap > 0 ? up : down;
            if (m < s_.size()) change(hot(m), gap);
            return m < s_.size();
        }
        if (up == s_.size() || down == s_.size()) return false;
        const double pull = h_[up] - h_[down];
        shift(-0.5 * (h_[up] + h_[down]));
        if (pull <= tol) return false;
        const std::int64_t upper = rows_.id(slot_of(up));
        const Member j = hot(down), i = hot(rows_.slot(upper) * Copies + up % Copies);
        const double k_ij = double(rows_.row(slot_of(i), rows_.size())[slot_of(j)]);
        const double curve = std::max(k(i) + k(j) - 2 * k_ij, 1e-300);
        const double step = std::min({pull / curve, hi_[i] - s_[i], s_[j] - lo_[j]});
        change(i, step);
        change(j, -step);
        return true;
    }
    // The same member among those whose rows are kept: slots may move.
    Member hot(Member m) { return rows_.promote(slot_of(m)) * Copies + m % Copies; }
    void change(Member m, double by) {
        const double before = s_[m];
        s_.edit(m) = std::clamp(before + by, lo_[m], hi_[m]);
        weighted_.assign(1, {slot_of(m), s_[m] - before});
        subtract();
        double* h = h_.edit().data();
        for (Member i = 0; i < s_.size(); ++i) h[i] += rate_[slot_of(i)];
    }

    void loaded(const std::vector<std::int64_t>& S) {
        const std::size_t n = rows_.size() * Copies;
        for (auto* v : {&s_, &h_, &lo_, &hi_, &base_})
            demand(v->size() == n, "a solver array does not fit the examples");
        for (Member m = 0; m < n; ++m)
            demand(lo_[m] <= s_[m] && s_[m] <= hi_[m] && lo_[m] <= 0 && hi_[m] >= 0 &&
                       (lo_[m] == 0 || hi_[m] == 0),
                   "a coefficient is out of its bounds");
        demand(gram_.size() == S.size(), "the kernel matrix does not fit the set S");
        c_.assign(n, 0);
        net_.assign(rows_.size(), 0);
        place_.assign(n, kNowhere);
        S_.clear();
        for (std::int64_t m : S) {
            demand(std::size_t(m) < rows_.active() * Copies && !in_S(Member(m)),
                   "the set S is out of range");
            place_.edit(Member(m)) = std::int32_t(S_.size());
            S_.push_back(Member(m));
        }
        finish();
        if (!gram_fits()) {  // who is free joins again
            for (Member m : S_) place_.edit(m) = kNowhere;
            S_.clear();
            gram_.clear();
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

    // The solution by id, since slots move.
    class Snapshot {
      public:
        explicit Snapshot(const Parametric& p)
            : s_(p.s_), h_(p.h_), gram_(p.gram_), since_(p.since_refresh_), path_(p.path_.size()) {
            for (Slot j = 0; j < p.rows_.size(); ++j) ids_.push_back(p.rows_.id(j));
            for (Member m : p.S_) S_.push_back({p.rows_.id(slot_of(m)), m % Copies});
        }
        void restore(Parametric& p) const {
            for (std::size_t i = 0; i < ids_.size(); ++i)
                for (std::size_t k = 0; k < Copies; ++k) {
                    const Member m = p.rows_.slot(ids_[i]) * Copies + k;
                    p.s_.edit(m) = s_[i * Copies + k];
                    p.h_.edit(m) = h_[i * Copies + k];
                    p.place_.edit(m) = kNowhere;
                }
            p.S_.clear();
            for (const auto& [id, k] : S_) {
                const Member m = p.rows_.slot(id) * Copies + k;
                p.place_.edit(m) = std::int32_t(p.S_.size());
                p.S_.push_back(m);
            }
            p.gram_ = gram_;
            p.since_refresh_ = since_;
            p.path_.resize(path_);
        }

      private:
        Aligned<double> s_, h_;
        Gram gram_;
        std::int64_t since_;
        std::size_t path_;
        std::vector<std::int64_t> ids_;
        std::vector<std::pair<std::int64_t, std::size_t>> S_;
    };

    Rows<T>& rows_;
    double tol_;
    bool free_bias_;
    Ledger<double> s_, h_, lo_, hi_, base_, c_;
    double t_ = 0, target_ = 0;
    PlainLedger<Member> S_;            // in the order of the kernel matrix
    PlainLedger<std::int32_t> place_;  // in S
    Gram gram_;                        // K_SS
    PlainLedger<double> net_;          // per example, where it has several variables
    std::int64_t since_refresh_ = 0;
    bool capped_ = false;
    PlainLedger<Breakpoint> path_;

    // ---- working memory of a run ----
    struct Run {
        End end = End::true_problem;
        double u = 0, tilt = 0;  // tilt = dt/du
        double sum = 0, dual = 0;
        double largest_c = 0, largest_k = 0, still = 0;
        std::int64_t in_E = 0;
        std::size_t to_vacate = 0;
        std::pair<Event, std::int64_t> passed{Event::end, -1};
        bool noted = true, over = false;
    };
    Run run_;
    double tie_eps_ = 0;
    std::vector<Member> ties_;
    Member slider_ = 0;
    std::vector<double> d_, x_, inward_, on_S_, push_, column_;
    std::vector<std::pair<Slot, double>> weighted_;
    Aligned<double> rate_;
};

}  // namespace onlinesvm
