// The SVM dual with a free bias over the members of a Rows, climbed by pair steps:
//     max  sum y_i s_i - s'Ks/2   with  lo_i <= s_i <= hi_i,  sum s_i = 0    (P1, signed form s = y alpha)
// g = y - K s is its gradient without the bias. A step raises s_i and lowers s_j by the same amount,
// so the sum stays; it pays where g_i > g_j. The pair that pays most, i = argmax {g : s < hi} and
// j = argmin {g : s > lo}, is known at all times, and with it the bias (g_i + g_j)/2.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "onlinesvm/base/aligned.hpp"
#include "onlinesvm/base/rows.hpp"
#include "onlinesvm/base/tolerance.hpp"

namespace onlinesvm {

template <class T>
class Pair final : public Follower {
  public:
    // A pair violates when g_i - g_j is more than tol.kkt, the tau of the papers.
    Pair(Rows<T>& rows, Tolerance tol) : rows_(rows), tau_(tol.kkt) {
        rows_.follow(this);
        for (Slot j = 0; j < rows_.size(); ++j) slot_pushed();
    }
    ~Pair() override { rows_.unfollow(this); }
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;

    // ---- members ----

    // The newest member: label y, bound c, and decision value f without the bias.
    void learn(Slot j, double y, double c, double f) {
        const double edge = y * c;
        lo_[j] = std::min(0.0, edge);
        hi_[j] = std::max(0.0, edge);
        g_[j] = y - f;
        set(j, 0);
        if (rise_[j] > 0 && g_[j] > ends_.high) ends_.up = j, ends_.high = g_[j];
        if (fall_[j] < 0 && g_[j] < ends_.low) ends_.down = j, ends_.low = g_[j];
    }
    // Whether a newcomer would be half of a violating pair. Where everybody sits at a bound, pairs
    // are apart by a gap in which the bias may lie anywhere; who narrows it matters, too.
    bool wants(double y, double f) const {
        const double g = y - f;
        if (y > 0 ? g - ends_.low > tau_ : ends_.high - g > tau_) return true;
        return complete() && delta() < 0 && (y > 0 ? g > ends_.high : g < ends_.low);
    }
    // Whether anybody could step against a newcomer with label y.
    bool has_partner(double y) const { return std::isfinite(y > 0 ? ends_.low : ends_.high); }
    bool complete() const { return std::isfinite(ends_.low) && std::isfinite(ends_.high); }

    // Supports nothing, no pair with it could gain, and the bias does not hang on it.
    bool idle(Slot j) const {
        return s_[j] == 0 && (hi_[j] > 0 ? g_[j] <= ends_.low && g_[j] < ends_.high
                                         : g_[j] >= ends_.high && g_[j] > ends_.low);
    }

    double coefficient(Slot j) const { return s_[j]; }
    double label(Slot j) const { return hi_[j] > 0 ? 1 : -1; }
    double upper(Slot j) const { return hi_[j] - lo_[j]; }
    const double* coefficients() const { return s_.data(); }
    double f(const T* row) const { return isa::table<T>().dot(row, s_.data(), rows_.active()); }
    bool capped() const { return capped_; }

    // Ids of members whose coefficient has become 0 since the last call.
    std::vector<std::int64_t> retired() { return std::exchange(retired_, {}); }

    double delta() const { return complete() ? ends_.high - ends_.low : 0; }
    // With one class alone, that class; with nobody, 0.
    double bias() const {
        if (complete()) return 0.5 * (ends_.high + ends_.low);
        return std::isfinite(ends_.high) ? ends_.high : std::isfinite(ends_.low) ? ends_.low : 0;
    }
    double dual() const {
        double twice = 0;
        for (Slot j = 0; j < s_.size(); ++j) twice += s_[j] * (label(j) + g_[j]);
        return 0.5 * twice;
    }

    // ---- steps ----

    // The newcomer k and its best partner. False if they do not violate.
    bool process(Slot k) {
        if (!complete()) return false;
        const Slot i = hi_[k] > 0 ? k : ends_.up, j = hi_[k] > 0 ? ends_.down : k;
        return g_[i] - g_[j] > tau_ && step(i, j);
    }
    // Steps of the best pair: `least` of them where it violates, then more while it does so grossly,
    // but no more than `most`. False if there was none to take.
    bool reprocess(std::int64_t least, std::int64_t most) {
        std::int64_t taken = 0;
        while (taken < most && delta() > (taken < least ? tau_ : std::max(tau_, kGross)) &&
               step(ends_.up, ends_.down))
            ++taken;
        return taken > 0;
    }
    // Until no pair violates by more than tau, or by more than rounding can tell.
    bool settle() {
        const double tol = std::max(tau_, noise());
        bool moved = false;
        for (std::int64_t left = kSteps * std::int64_t(s_.size() + 100); delta() > tol; --left) {
            if (left == 0) capped_ = true;
            if (left == 0 || !step(ends_.up, ends_.down)) break;
            moved = true;
        }
        return moved;
    }

    // Takes a member's coefficient away, in favour of those who gain most by it. Its bounds close.
    void clear(Slot k) {
        while (s_[k] != 0) {
            const double sign = s_[k] > 0 ? 1 : -1;  // of what the partner receives
            Slot best = k;
            for (Slot j = 0; j < s_.size(); ++j)
                if (j != k && (sign > 0 ? rise_[j] > 0 : fall_[j] < 0) &&
                    (best == k || sign * g_[j] > sign * g_[best]))
                    best = j;
            if (best == k) break;  // rounding left a crumb that nobody can take
            const double room = sign > 0 ? rise_[best] : -fall_[best];
            const double amount = std::min(room, std::abs(s_[k]));
            sign > 0 ? move(best, k, amount) : move(k, best, amount);
        }
        set(k, 0);
        lo_[k] = hi_[k] = fall_[k] = rise_[k] = 0;
        look();
    }

    // g afresh from the definition: stops the drift of incremental updates.
    void refresh() {
        const std::size_t n = s_.size();
        for (Slot j = 0; j < n; ++j) g_[j] = label(j);
        std::array<Slot, 8> slots;
        std::array<const T*, 8> rows;
        std::array<double, 8> s;
        for (Slot j = 0, m = 0; j < n; ++j) {
            if (s_[j] != 0) slots[m] = j, s[m++] = s_[j];
            if (m < 8 && (j + 1 < n || m == 0)) continue;
            rows_.rows(std::span(slots.data(), m), n, rows.data());
            isa::table<T>().subtract(g_.data(), rows.data(), s.data(), m, 0, n);
            m = 0;
        }
        look();
    }
    // Finds the best pair anew, after members have come, gone or changed places.
    void look() { ends_ = isa::table<T>().pair(view(), nullptr, nullptr, s_.size()); }

    // ---- Follower ----

    void slot_pushed() override {
        for (auto* v : arrays()) v->push_back(0);
    }
    void slots_swapped(Slot a, Slot b) override {
        for (auto* v : arrays()) std::swap((*v)[a], (*v)[b]);
    }
    void slot_popped() override {
        for (auto* v : arrays()) v->pop_back();
    }

    // Sees the same members with the opposite labels.
    void mirror(const Pair& other) {
        s_ = other.s_, g_ = other.g_, lo_ = other.hi_, hi_ = other.lo_;
        for (auto* v : {&s_, &g_, &lo_, &hi_})
            for (double& x : *v) x = 0.0 - x;
        for (Slot j = 0; j < s_.size(); ++j) set(j, s_[j]);
        look();
    }

    template <class A>
    void state(A& a) {
        a("s", s_);
        a("g", g_);
        a("lo", lo_);
        a("hi", hi_);
        if constexpr (A::loading) {
            for (auto* v : {&s_, &g_, &lo_, &hi_})
                if (v->size() != rows_.size())
                    throw std::invalid_argument("state: coefficients do not fit the examples");
            for (Slot j = 0; j < s_.size(); ++j)
                if (!(lo_[j] <= s_[j] && s_[j] <= hi_[j] && lo_[j] * hi_[j] == 0))
                    throw std::invalid_argument("state: a coefficient is outside its bounds");
            fall_.resize(rows_.size());
            rise_.resize(rows_.size());
            for (Slot j = 0; j < s_.size(); ++j) set(j, s_[j]);
            look();
        }
    }
    std::size_t nbytes() const { return s_.capacity() * 6 * sizeof(double); }

  private:
    static constexpr double kGross = 1;  // half the width of the margin
    static constexpr double kSnap = 1e-12;
    static constexpr double kFlat = 1e-12;          // least curvature: duplicates run to a bound
    static constexpr std::int64_t kSteps = 10'000;  // per member before giving up

    std::array<Aligned<double>*, 6> arrays() { return {&s_, &g_, &lo_, &hi_, &fall_, &rise_}; }
    isa::BoxView view() {
        return {.h = g_.data(),
                .fall = fall_.data(),
                .rise = rise_.data(),
                .k = nullptr,
                .k_inv = nullptr,
                .uniform = true};
    }
    void set(Slot j, double s) {
        s_[j] = s;
        fall_[j] = lo_[j] - s;
        rise_[j] = hi_[j] - s;
    }
    // Onto a bound within rounding of it. At 0 the distance is absolute: alpha may be far below C.
    double snapped(Slot j, double s) const {
        const double range = hi_[j] - lo_[j];
        if (std::abs(s) <= kSnap * std::min(1.0, range)) return 0.0;
        if (std::abs(s) >= range * (1 - kSnap)) return s > 0 ? hi_[j] : lo_[j];
        return s;
    }

    // The best step of a violating pair. False if it is too short for the numbers.
    bool step(Slot i, Slot j) {
        const double* k = rows_.diagonal();
        const double k_ij = double(rows_.row(i, s_.size())[j]);
        const double eta = std::max(k[i] + k[j] - 2 * k_ij, kFlat);
        const double lambda = std::min({(g_[i] - g_[j]) / eta, rise_[i], -fall_[j]});
        const double before_i = s_[i], before_j = s_[j];
        move(i, j, lambda);
        return s_[i] != before_i && s_[j] != before_j;
    }
    // s_i += lambda, s_j -= lambda, and everybody's gradient hears of it.
    void move(Slot i, Slot j, double lambda) {
        set(i, snapped(i, s_[i] + lambda));
        set(j, snapped(j, s_[j] - lambda));
        for (Slot k : {i, j})
            if (s_[k] == 0) retired_.push_back(rows_.id(k));
        const std::array<Slot, 2> slots = {i, j};
        std::array<const T*, 2> rows;
        rows_.rows(slots, s_.size(), rows.data());
        const double delta[] = {lambda, -lambda};
        ends_ = isa::table<T>().pair(view(), rows.data(), delta, s_.size());
    }

    // What rounding leaves of g at best.
    double noise() const {
        double largest = 1;
        for (Slot j = 0; j < s_.size(); ++j)
            largest = std::max(largest, std::abs(s_[j]) * rows_.diagonal()[j]);
        return 1e-15 * largest * std::sqrt(double(s_.size() + 1));
    }

    Rows<T>& rows_;
    double tau_;
    Aligned<double> s_, g_, lo_, hi_;
    Aligned<double> fall_, rise_;  // lo - s <= 0, hi - s >= 0
    isa::Ends ends_;
    bool capped_ = false;
    std::vector<std::int64_t> retired_;
};

}  // namespace onlinesvm
