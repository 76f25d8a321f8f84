// The SVM dual over the members of a Rows, climbed by pair steps:
//     max  sum y_i s_i - s'Ks/2   with  lo_i <= s_i <= hi_i,  sum s_i = 0    (P1, signed form s = y alpha)
// g = y - K s is its gradient without the bias. A step raises s_i and lowers s_j by the same amount,
// so the sum stays; it pays where g_i > g_j. The ends, i = argmax {g : s < hi} and
// j = argmin {g : s > lo}, are known at all times, and with them the bias (g_i + g_j)/2.
//
// Without a bias there is no sum to keep (P1z). Then an anchor belongs to the members: it lies at the
// origin of the feature space, nothing bounds it, its gradient is 0, and a pair with it is one
// coefficient that moves alone.
//
// Steps are taken by the hot members of the Rows; the others have to be told.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "onlinesvm/base/aligned.hpp"
#include "onlinesvm/base/rows.hpp"
#include "onlinesvm/base/variable.hpp"

namespace onlinesvm {

template <class T>
class Pair final : public Follower {
  public:
    enum class Bias { free, none };
    // Who steps with the i that pulls hardest: the j that pulls hardest, or the j of the best step.
    enum class Order { first, second };
    struct Terms {
        double tau = 1e-3;  // a pair violates when g_i - g_j is more
        Bias bias = Bias::free;
    };

    Pair(Rows<T>& rows, Terms terms) : rows_(rows), terms_(terms) {
        for (Slot j = 0; j < rows_.size(); ++j) slot_pushed();
        rows_.follow(this);  // last: whoever fails to be made follows nobody
    }
    ~Pair() override { rows_.unfollow(this); }
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;

    // ---- members ----

    // The newest member: label y, bound c, and decision value f without the bias.
    void learn(Slot j, double y, double c, double f) {
        const double edge = y * c;
        lo_.edit(j) = std::min(0.0, edge);
        hi_.edit(j) = std::max(0.0, edge);
        g_.edit(j) = y - f;
        set(j, 0);
        if (!rows_.is_hot(j)) return;
        if (rise_[j] > 0 && g_[j] > ends_.high) ends_.up = j, ends_.high = g_[j];
        if (fall_[j] < 0 && g_[j] < ends_.low) ends_.down = j, ends_.low = g_[j];
    }
    // Whether a newcomer would be half of a violating pair. Where everybody sits at a bound, pairs
    // are apart by a gap in which the bias may lie anywhere; who narrows it matters, too.
    bool wants(double y, double f) const {
        const double g = y - f;
        if (y > 0 ? g - ends_.low > terms_.tau : ends_.high - g > terms_.tau) return true;
        return complete() && delta() < 0 && (y > 0 ? g > ends_.high : g < ends_.low);
    }
    // Whether anybody could step against a newcomer with label y.
    bool has_partner(double y) const { return std::isfinite(y > 0 ? ends_.low : ends_.high); }
    bool complete() const { return std::isfinite(ends_.low) && std::isfinite(ends_.high); }

    // At a bound, where no pair with it could gain and the bias does not hang on it.
    bool pressed(Slot j) const {
        return (fall_[j] == 0 && g_[j] <= ends_.low && g_[j] < ends_.high) ||
               (rise_[j] == 0 && g_[j] >= ends_.high && g_[j] > ends_.low);
    }
    bool idle(Slot j) const { return s_[j] == 0 && pressed(j); }
    // By how much it pulls away from the bias, up (> 0) or down (< 0), where its bounds let it.
    double pull(Slot j) const {
        const double away = g_[j] - bias();
        return (away > 0 ? rise_[j] > 0 : fall_[j] < 0) ? away : 0;
    }

    double coefficient(Slot j) const { return s_[j]; }
    double label(Slot j) const { return hi_[j] > 0 ? 1 : -1; }
    double upper(Slot j) const { return hi_[j] - lo_[j]; }
    bool tight(Slot j) const { return lo_[j] < s_[j] && s_[j] < hi_[j]; }
    double violation(Slot j, double f) const {
        return box_violation(s_[j], lo_[j], hi_[j], label(j) - f);
    }
    std::array<Variable, 1> variables(Slot j) const {
        return {{{label(j), lo_[j], hi_[j], s_[j]}}};
    }
    bool free_bias() const { return terms_.bias == Bias::free; }
    double target() const { return 0; }  // of the sum of s
    double imbalance() const {
        if (terms_.bias == Bias::none) return 0;
        return std::abs(std::accumulate(s_.begin(), s_.end(), 0.0));
    }
    const double* coefficients() const { return s_.data(); }
    double f(const T* row) const { return isa::table<T>().dot(row, s_.data(), rows_.active()); }
    bool capped() const { return capped_; }

    // Ids of members whose coefficient has become 0 since the last call.
    std::vector<std::int64_t> retired() { return std::exchange(retired_, {}); }

    double delta() const { return complete() ? ends_.high - ends_.low : 0; }
    // With one class alone, that class; with nobody, 0.
    double bias() const {
        if (terms_.bias == Bias::none) return 0;
        if (complete()) return 0.5 * (ends_.high + ends_.low);
        return std::isfinite(ends_.high) ? ends_.high : std::isfinite(ends_.low) ? ends_.low : 0;
    }

    // ---- steps ----

    // The newcomer k and its best partner. False if they do not violate.
    bool process(Slot k) {
        if (!complete()) return false;
        const Slot i = hi_[k] > 0 ? k : ends_.up, j = hi_[k] > 0 ? ends_.down : k;
        return g_[i] - g_[j] > terms_.tau && step(i, j);
    }
    // Steps of the best pair: `least` of them where it violates, then more while it does so grossly,
    // but no more than `most`. False if there was none to take.
    bool reprocess(std::int64_t least, std::int64_t most) {
        std::int64_t taken = climb(Order::first, terms_.tau, least);
        if (taken == least)
            taken += climb(Order::first, std::max(terms_.tau, kGross), most - least);
        return taken > 0;
    }
    // Until no pair violates by more than tau, or by more than rounding can tell. Where the worst pairs
    // crawl, as beside contradictory duplicates, those that gain most go on; given up where many
    // steps have not raised the dual by what its digits can show.
    bool settle(double tau) {
        const double tol = tolerance(tau);
        const std::int64_t many = 1000 + 10 * std::int64_t(s_.size());
        std::int64_t taken = climb(Order::first, tol, many);
        capped_ = taken == many;
        for (double before = dual(); capped_ && taken < limit(); before = dual()) {
            const std::int64_t more = climb(Order::second, tol, many);
            taken += more;
            capped_ = more == many;
            if (!(dual() - before > kDigits * std::abs(before))) break;
        }
        return taken > 0;
    }
    // Steps of the best pairs until none violates by more than tol, or a step is too short for the
    // numbers. Says how many were taken.
    std::int64_t climb(Order order, double tol, std::int64_t most) {
        std::int64_t taken = 0;
        while (
            taken < most && delta() > tol &&
            ((order == Order::second && step(ends_.up, partner())) || step(ends_.up, ends_.down))) {
            ++taken;
            poll(4 * rows_.hot());
        }
        return taken;
    }
    // sum y s - s'Ks/2, by g = y - Ks.
    double dual() const {
        double total = 0;
        for (Slot j = 0; j < s_.size(); ++j) total += 0.5 * s_[j] * (label(j) + g_[j]);
        return total;
    }
    // More steps than this do not end.
    std::int64_t limit() const { return kSteps * std::int64_t(s_.size() + 100); }
    // tau, or what rounding leaves of g at best.
    double tolerance() const { return tolerance(terms_.tau); }
    double tolerance(double tau) const {
        double largest = 1;
        for (Slot j = 0; j < s_.size(); ++j)
            largest = std::max(largest, std::abs(s_[j]) * rows_.diagonal()[j]);
        return std::max(tau, 1e-15 * largest * std::sqrt(double(s_.size() + 1)));
    }

    // Takes a member's coefficient away, in favour of those who gain most by it. Its bounds close.
    void clear(Slot k) {
        if (s_[k] != 0) k = rows_.admit(k);
        while (s_[k] != 0) {
            poll(s_.size());
            const double sign = s_[k] > 0 ? 1 : -1;  // of what the partner receives
            Slot best = terms_.bias == Bias::none ? kAnchor : k;
            for (Slot j = 0; j < s_.size() && best != kAnchor; ++j)
                if (j != k && (sign > 0 ? rise_[j] > 0 : fall_[j] < 0) &&
                    (best == k || sign * g_[j] > sign * g_[best]))
                    best = j;
            if (best == k) break;  // rounding left a crumb that nobody can take
            if (best != kAnchor) best = rows_.admit(best);  // k is hot and stays where it is
            const double amount = std::min(sign > 0 ? rise(best) : -fall(best), std::abs(s_[k]));
            sign > 0 ? move(best, k, amount) : move(k, best, amount);
            const double delta = sign * amount;
            told_.assign(1, {k, -delta});
            if (best != kAnchor) told_.push_back({best, delta});
            tell(told_);
        }
        set(k, 0);
        lo_.edit(k) = hi_.edit(k) = fall_[k] = rise_[k] = 0;
        look();
    }

    struct Moved {
        Slot slot;
        double by;
    };
    // The members that are not hot hear of moves of those that are.
    void tell(const std::vector<Moved>& moves) {
        subtract(moves, 0, rows_.resting());
        subtract(moves, rows_.active(), s_.size());
    }
    // g afresh from the definition: stops the drift of incremental updates.
    void refresh() {
        told_.clear();
        for (Slot j = 0; j < s_.size(); ++j) {
            g_.edit(j) = label(j);
            if (s_[j] != 0) told_.push_back({j, s_[j]});
        }
        subtract(told_, 0, s_.size());
        look();
    }
    // Finds the ends anew, after members have come, gone or changed places.
    void look() { note(isa::table<T>().pair(view(0), nullptr, nullptr, 0, s_.size()), 0); }
    // The ends of the hot members alone: from here on they climb.
    void focus() {
        const Slot from = rows_.resting();
        note(isa::table<T>().pair(view(from), nullptr, nullptr, 0, rows_.hot()), from);
    }

    // ---- Follower ----

    void slot_pushed() override {
        for (auto* v : arrays()) v->push_back(0);
        for (auto* v : {&fall_, &rise_}) v->push_back(0);
    }
    void slots_swapped(Slot a, Slot b) override {
        for (auto* v : arrays()) v->swap(a, b);
        for (auto* v : {&fall_, &rise_}) std::swap((*v)[a], (*v)[b]);
    }
    void slot_popped() override {
        for (auto* v : arrays()) v->pop_back();
        for (auto* v : {&fall_, &rise_}) v->pop_back();
    }

    auto undoable() { return std::tie(s_, g_, lo_, hi_, ends_, capped_, retired_); }
    void mark() noexcept {}
    void commit() noexcept {}
    void revert() noexcept { measure(); }

    // Sees the same members with the opposite labels.
    void mirror(const Pair& other) {
        s_ = other.s_, g_ = other.g_, lo_ = other.hi_, hi_ = other.lo_;
        for (auto* v : arrays())
            for (double& x : v->edit()) x = 0.0 - x;
        measure();
        look();
    }

    template <class A>
    void state(A& a) {
        a("s", s_);
        a("g", g_);
        a("lo", lo_);
        a("hi", hi_);
        if constexpr (A::loading) {
            for (auto* v : arrays())
                demand(v->size() == rows_.size(), "coefficients do not fit the examples");
            for (Slot j = 0; j < s_.size(); ++j)
                demand(lo_[j] <= s_[j] && s_[j] <= hi_[j] && lo_[j] <= 0 && hi_[j] >= 0 &&
                           (lo_[j] == 0 || hi_[j] == 0),
                       "a coefficient is outside its bounds");
            measure();
            look();
        }
    }
    // On what a kept value rests, and that value: f without the bias. Closed bounds tell no label.
    double weight(Slot j) const { return std::abs(s_[j]); }
    double kept(Slot j) const {
        return upper(j) > 0 ? label(j) - g_[j] : std::numeric_limits<double>::quiet_NaN();
    }
    double postponed() const { return 0; }
    std::size_t nbytes() const {
        return nbytes_of(s_, g_, lo_, hi_) + (fall_.capacity() + rise_.capacity()) * sizeof(double);
    }

  private:
    static constexpr double kGross = 1;  // half the width of the margin
    static constexpr double kSnap = 1e-12;
    static constexpr std::int64_t kSteps = 10'000;  // per member before giving up
    static constexpr double kDigits = 1e-15;

    std::array<Ledger<double>*, 4> arrays() { return {&s_, &g_, &lo_, &hi_}; }
    isa::BoxView view(Slot from) {
        return {.h = g_.edit().data() + from,
                .fall = fall_.data() + from,
                .rise = rise_.data() + from,
                .k = rows_.diagonal() + from,
                .k_inv = nullptr,
                .uniform = rows_.uniform()};
    }
    void note(isa::Ends ends, Slot from) {
        ends.up += from;
        ends.down += from;
        if (terms_.bias == Bias::none) {
            if (ends.high < 0) ends.up = kAnchor, ends.high = 0;
            if (ends.low > 0) ends.down = kAnchor, ends.low = 0;
        }
        ends_ = ends;
    }
    double g(Slot j) const { return j == kAnchor ? 0 : g_[j]; }
    double fall(Slot j) const { return j == kAnchor ? -kInfinity : fall_[j]; }
    double rise(Slot j) const { return j == kAnchor ? kInfinity : rise_[j]; }
    double k(Slot j) const { return j == kAnchor ? 0 : rows_.diagonal()[j]; }
    void set(Slot j, double s) {
        s_.edit(j) = s;
        fall_[j] = lo_[j] - s;
        rise_[j] = hi_[j] - s;
    }
    // The room of everybody, from its definition.
    void measure() {
        fall_.resize(s_.size()), rise_.resize(s_.size());
        for (Slot j = 0; j < s_.size(); ++j) fall_[j] = lo_[j] - s_[j], rise_[j] = hi_[j] - s_[j];
    }
    // Onto a bound within rounding of it. At 0 the distance is absolute: alpha may be far below C.
    double snapped(Slot j, double s) const {
        const double range = hi_[j] - lo_[j];
        if (std::abs(s) <= kSnap * std::min(1.0, range)) return 0.0;
        if (std::abs(s) >= range * (1 - kSnap)) return s > 0 ? hi_[j] : lo_[j];
        return s;
    }

    // The j whose step with the upper end gains most.
    Slot partner() {
        const Slot i = ends_.up, from = rows_.resting();
        if (i == kAnchor) return ends_.down;
        const isa::Partner best = isa::table<T>().partner(
            view(from), rows_.row(i, rows_.active()) + from, g_[i], k(i), rows_.hot());
        const bool alone = terms_.bias == Bias::none && g_[i] > 0 &&
                           g_[i] * g_[i] > best.gain * std::max(k(i), isa::kFlat);
        return alone ? kAnchor : best.index + from;
    }
    // The best step of a violating pair. False if it is too short for the numbers.
    bool step(Slot i, Slot j) {
        const bool alone = i == kAnchor || j == kAnchor;
        const double k_ij = alone ? 0 : double(rows_.row(i, rows_.active())[j]);
        const double eta = std::max(k(i) + k(j) - 2 * k_ij, isa::kFlat);
        const double lambda = std::min({(g(i) - g(j)) / eta, rise(i), -fall(j)});
        const double before_i = i == kAnchor ? 1 : s_[i], before_j = j == kAnchor ? 1 : s_[j];
        move(i, j, lambda);
        return (i == kAnchor || s_[i] != before_i) && (j == kAnchor || s_[j] != before_j);
    }
    // s_i += lambda, s_j -= lambda, and the gradient of every hot member hears of it.
    void move(Slot i, Slot j, double lambda) {
        std::array<Slot, 2> slots;
        std::array<double, 2> delta;
        std::array<const T*, 2> rows;
        std::size_t n = 0;
        if (i != kAnchor) slots[n] = i, delta[n++] = lambda;
        if (j != kAnchor) slots[n] = j, delta[n++] = -lambda;
        const Slot from = rows_.resting();
        rows_.rows(std::span(slots.data(), n), rows_.active(), rows.data());
        for (std::size_t m = 0; m < n; ++m) {
            set(slots[m], snapped(slots[m], s_[slots[m]] + delta[m]));
            if (s_[slots[m]] == 0) retired_.push_back(rows_.id(slots[m]));
            rows[m] += from;
        }
        note(isa::table<T>().pair(view(from), rows.data(), delta.data(), n, rows_.hot()), from);
    }
    // g -= K s of these moves over [first, last), eight rows at a time.
    void subtract(const std::vector<Moved>& moves, Slot first, Slot last) {
        if (first >= last) return;
        std::array<Slot, 8> slots;
        std::array<const T*, 8> rows;
        std::array<double, 8> by;
        for (std::size_t i = 0; i < moves.size();) {
            std::size_t m = 0;
            for (; m < 8 && i < moves.size(); ++m, ++i)
                slots[m] = moves[i].slot, by[m] = moves[i].by;
            rows_.rows(std::span<const Slot>(slots.data(), m), last, rows.data());
            isa::table<T>().subtract(g_.edit().data(), rows.data(), by.data(), m, first, last);
        }
    }

    static constexpr Slot kAnchor = std::numeric_limits<Slot>::max();
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();

    Rows<T>& rows_;
    Terms terms_;
    Ledger<double> s_, g_, lo_, hi_;
    Aligned<double> fall_, rise_;  // lo - s <= 0, hi - s >= 0
    isa::Ends ends_;
    std::vector<Moved> told_;
    bool capped_ = false;
    std::vector<std::int64_t> retired_;
};

}  // namespace onlinesvm
