// The SVM dual climbed by pair steps:
//     max  sum y_i s_i - s'Ks/2   with  lo_i <= s_i <= hi_i,  sum s_i = 0    (P1, signed form s = y alpha)
// h = y - Ks is its gradient without the bias (the g of the LASVM paper). A step raises s_i and
// lowers s_j by the same amount, so the sum stays; it pays where h_i > h_j. The ends,
// i = argmax {h : s < hi} and j = argmin {h : s > lo}, are known at all times, and with them the
// bias (h_i + h_j)/2. The variables are those of SignedDual.
//
// Without a bias there is no sum to keep (P1z). Then an anchor belongs to the members: it lies at
// the origin of the feature space, nothing bounds it, its gradient is 0, and a pair with it is one
// coefficient that moves alone.
//
// Only hot members step; h of the others is brought up to date by catch_up().
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "onlinesvm/solver/signed_dual.hpp"

namespace onlinesvm {

template <class T>
class Pair final : public SteppingDual<Pair<T>, T> {
    using Dual = SteppingDual<Pair<T>, T>;

  public:
    enum class Bias { free, none };
    // Which j steps with the i that pulls hardest: the one that pulls hardest, or that of the best
    // step.
    enum class Order { first, second };
    struct Terms {
        double tau = 1e-3;  // a pair violates when h_i - h_j is more
        Bias bias = Bias::free;
    };

    Pair(KernelCache<T>& rows, Terms terms) : Dual(rows), terms_(terms) { this->follow_slots(); }

    auto parts() {
        return std::tuple_cat(Dual::dual_parts("g", nullptr),
                              std::tuple(unsaved(ends_), unsaved(retired_)));
    }
    void check() {
        for (Slot j{}; j < s_.size(); ++j) y_.edit(j) = hi_[j] > 0 ? 1 : -1;
        Dual::check(), Dual::check_labels(), Dual::derive();
        look();
    }
    void turn_round() {
        Dual::turn_round();
        ends_ = {ends_.down, ends_.up, 0.0 - ends_.low, 0.0 - ends_.high};
    }

    // ---- members ----

    // The newest member: label y, bound c, and decision value f without the bias.
    void learn(Slot j, double y, double c, double f) {
        Dual::enter(j, y, c, f);
        if (!rows_.is_hot(j)) return;
        if (rise_[j] > 0 && h_[j] > ends_.high) ends_.up = j, ends_.high = h_[j];
        if (fall_[j] < 0 && h_[j] < ends_.low) ends_.down = j, ends_.low = h_[j];
    }
    // Whether a new example would be half of a violating pair. Where all members sit at bounds,
    // pairs are apart by a gap in which the bias may lie anywhere; an example that narrows it
    // matters, too.
    bool wants(double y, double f) const {
        const double h = y - f;
        if (y > 0 ? h - ends_.low > terms_.tau : ends_.high - h > terms_.tau) return true;
        return complete() && delta() < 0 && (y > 0 ? h > ends_.high : h < ends_.low);
    }
    // Whether some member could step against a new one with label y.
    bool has_partner(double y) const { return std::isfinite(y > 0 ? ends_.low : ends_.high); }
    bool complete() const { return std::isfinite(ends_.low) && std::isfinite(ends_.high); }

    // At a bound, where no pair with it could gain and the bias does not hang on it.
    bool pressed(Slot j) const {
        return (fall_[j] == 0 && h_[j] <= ends_.low && h_[j] < ends_.high) ||
               (rise_[j] == 0 && h_[j] >= ends_.high && h_[j] > ends_.low);
    }
    bool idle(Slot j) const { return s_[j] == 0 && pressed(j); }
    // By how much it pulls away from the bias, up (> 0) or down (< 0), where its bounds let it.
    double pull(Slot j) const {
        const double away = h_[j] - bias();
        return (away > 0 ? rise_[j] > 0 : fall_[j] < 0) ? away : 0;
    }

    bool free_bias() const { return terms_.bias == Bias::free; }
    // Closed bounds imply no label, and none is saved.
    double kept(Slot j) const {
        return this->upper(j) > 0 ? Dual::kept(j) : std::numeric_limits<double>::quiet_NaN();
    }

    // Ids of members whose coefficient has become 0 since the last call.
    std::vector<Id> retired() { return std::exchange(retired_, {}); }

    double delta() const { return complete() ? ends_.high - ends_.low : 0; }
    // With one class alone, that class; without members, 0.
    double bias() const {
        if (terms_.bias == Bias::none) return 0;
        if (complete()) return 0.5 * (ends_.high + ends_.low);
        return std::isfinite(ends_.high) ? ends_.high : std::isfinite(ends_.low) ? ends_.low : 0;
    }

    // ---- steps ----

    // PROCESS: the new member k and its best partner. False if they do not violate.
    bool process(Slot k) {
        const auto [i, j] = pair_of(k);
        return complete() && h_[i] - h_[j] > terms_.tau && step(i, j);
    }
    std::array<Slot, 2> pair_of(Slot k) const {
        return hi_[k] > 0 ? std::array{k, down()} : std::array{up(), k};
    }
    // REPROCESS: steps of the best pair, `least` of them where it violates, then more while it does
    // so grossly, but no more than `most`. Is another due, after so many?
    struct Steps {
        std::int64_t least, most;
    };
    bool is_due(std::int64_t taken, Steps steps) const {
        return taken < steps.most && delta() > (taken < steps.least ? terms_.tau : gross());
    }
    // False if it was too short for the numbers.
    bool reprocess() {
        poll(4 * rows_.hot());
        return step(up(), down());
    }
    std::array<Slot, 2> best_pair() const { return {up(), down()}; }
    // Until no pair violates by more than tau, or by more than rounding leaves. Where the worst
    // pairs crawl, as beside contradictory duplicates, those that gain most go on; given up where
    // many steps have not raised the dual by what its digits can show.
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
        while (taken < most && delta() > tol &&
               ((order == Order::second && step(up(), partner())) || step(up(), down()))) {
            ++taken;
            poll(4 * rows_.hot());
        }
        return taken;
    }
    // sum y s - s'Ks/2, by h = y - Ks.
    double dual() const {
        double total = 0;
        for (Slot j{}; j < s_.size(); ++j) total += 0.5 * s_[j] * (y_[j] + h_[j]);
        return total;
    }
    // More steps than this do not end.
    std::int64_t limit() const { return kSteps * std::int64_t(s_.size() + 100); }
    // tau, or what rounding leaves of h at best.
    double tolerance(double tau) const { return std::max(tau, this->rounding(0, s_.size())); }

    // Takes a member's coefficient away, in favour of the members that gain most by it. Its bounds
    // close.
    void clear(Slot k) {
        if (s_[k] != 0) k = rows_.admit(k);
        while (s_[k] != 0) {
            poll(s_.size());
            const double sign = s_[k] > 0 ? 1 : -1;  // of what the partner receives
            Slot best = terms_.bias == Bias::none ? kAnchor : k;
            for (Slot j{}; j < s_.size() && best != kAnchor; ++j)
                if (j != k && (sign > 0 ? rise_[j] > 0 : fall_[j] < 0) &&
                    (best == k || sign * h_[j] > sign * h_[best]))
                    best = j;
            if (best == k) break;  // what rounding left, no member can take
            if (best != kAnchor) best = rows_.admit(best);  // k is hot and stays where it is
            const double amount = std::min(sign > 0 ? rise(best) : -fall(best), std::abs(s_[k]));
            sign > 0 ? move(best, k, amount) : move(k, best, amount);
            const double delta = sign * amount;
            moves_.assign(1, {k, -delta});
            if (best != kAnchor) moves_.push_back({best, delta});
            catch_up(moves_);
        }
        this->close(k);
        set(k, 0);
        look();
    }

    // h of the members that are not hot follows the moves of those that are.
    void catch_up(const std::vector<Move>& moves) {
        this->subtract(moves, 0, rows_.resting());
        this->subtract(moves, rows_.active(), s_.size());
    }
    void refresh() {
        this->recompute_gradient(0);
        look();
    }
    // Finds the ends anew, after members have come, gone or changed places.
    void look() { look(s_.size()); }
    // The same among the first n slots alone: the others do not count yet.
    void look(std::size_t n) { note(isa::table<T>().pair(view(0), nullptr, nullptr, 0, n), 0); }
    // The ends of the hot members alone: from here on they climb.
    void focus() {
        const std::size_t from = rows_.resting();
        note(isa::table<T>().pair(view(from), nullptr, nullptr, 0, rows_.hot()), from);
    }

  private:
    using Dual::capped_, Dual::moves_, Dual::set, Dual::snapped, Dual::view;
    using Dual::rows_, Dual::s_, Dual::h_, Dual::hi_, Dual::y_, Dual::fall_, Dual::rise_;

    static constexpr double kGross = 1;             // half the width of the margin
    static constexpr std::int64_t kSteps = 10'000;  // per member before giving up
    static constexpr double kDigits = 1e-15;
    static constexpr Slot kAnchor{std::numeric_limits<std::size_t>::max()};
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();

    void note(isa::Ends ends, std::size_t from) {
        ends.up += from;
        ends.down += from;
        if (terms_.bias == Bias::none) {
            if (ends.high < 0) ends.up = kAnchor, ends.high = 0;
            if (ends.low > 0) ends.down = kAnchor, ends.low = 0;
        }
        ends_ = ends;
    }
    double gross() const { return std::max(terms_.tau, kGross); }
    Slot up() const { return Slot(ends_.up); }
    Slot down() const { return Slot(ends_.down); }
    double h(Slot j) const { return j == kAnchor ? 0 : h_[j]; }
    double fall(Slot j) const { return j == kAnchor ? -kInfinity : fall_[j]; }
    double rise(Slot j) const { return j == kAnchor ? kInfinity : rise_[j]; }
    double k(Slot j) const { return j == kAnchor ? 0 : rows_.diagonal()[j]; }
    // The j whose step with the upper end gains most.
    Slot partner() {
        const Slot i = up(), from(rows_.resting());
        if (i == kAnchor) return down();
        const isa::Partner best = isa::table<T>().partner(
            view(from), rows_.row(i, rows_.active()) + from, h_[i], k(i), rows_.hot());
        const bool alone = terms_.bias == Bias::none && h_[i] > 0 &&
                           h_[i] * h_[i] > best.gain * std::max(k(i), isa::kFlat);
        return alone ? kAnchor : Slot(best.index + from);
    }
    // The best step of a violating pair. False if it is too short for the numbers.
    bool step(Slot i, Slot j) {
        const bool alone = i == kAnchor || j == kAnchor;
        const double k_ij = alone ? 0 : double(rows_.row(i, rows_.active())[j]);
        const double eta = std::max(k(i) + k(j) - 2 * k_ij, isa::kFlat);
        const double lambda = std::min({(h(i) - h(j)) / eta, rise(i), -fall(j)});
        const double before_i = i == kAnchor ? 1 : s_[i], before_j = j == kAnchor ? 1 : s_[j];
        move(i, j, lambda);
        return (i == kAnchor || s_[i] != before_i) && (j == kAnchor || s_[j] != before_j);
    }
    // s_i += lambda, s_j -= lambda, and h of every hot member follows.
    void move(Slot i, Slot j, double lambda) {
        std::array<Slot, 2> slots;
        std::array<double, 2> delta;
        std::array<const T*, 2> rows;
        std::size_t n = 0;
        if (i != kAnchor) slots[n] = i, delta[n++] = lambda;
        if (j != kAnchor) slots[n] = j, delta[n++] = -lambda;
        const std::size_t from = rows_.resting();
        rows_.rows(std::span(slots.data(), n), rows_.active(), rows.data());
        for (std::size_t m = 0; m < n; ++m) {
            set(slots[m], snapped(slots[m], s_[slots[m]] + delta[m]));
            if (s_[slots[m]] == 0) retired_.push_back(rows_.id(slots[m]));
            rows[m] += from;
        }
        note(isa::table<T>().pair(view(from), rows.data(), delta.data(), n, rows_.hot()), from);
    }

    Terms terms_;
    isa::Ends ends_;
    std::vector<Id> retired_;
};

}  // namespace onlinesvm
