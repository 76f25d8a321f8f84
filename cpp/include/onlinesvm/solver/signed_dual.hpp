// The dual of a kernel machine in signed form, s = y alpha, one variable per example (or Copies):
//     max  sum y_i s_i - s'Ks/2   with  lo_i <= s_i <= hi_i                                   (P1z)
// and with a free bias sum s_i = target as well (P1). h = y - f is the gradient; whether the bias
// counts in this f is the solver's choice. A variable is optimal where h = 0, at its upper bound
// where h > 0, and at its lower bound where h < 0.
//
// Here are the variables, their conditions, and h -= K ds. How to make them optimal is what
// distinguishes the solvers: Box, Balanced, Pair and Parametric.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "onlinesvm/function/slotted.hpp"
#include "onlinesvm/function/variable.hpp"

namespace onlinesvm {

// Which of them h of the members that are not hot must know: those too small to matter can wait.
enum class Moves { that_matter, all };

template <class Self, class T, std::size_t Copies = 1>
class SignedDual : public Slotted<Self, T> {
    using Base = Slotted<Self, T>;

  public:
    using Member = std::size_t;  // slot * Copies + copy

    // ---- the interface of OneVsRest, as far as the dual alone decides it ----

    double coefficient(Slot j) const { return s_[j]; }
    const double* coefficients() const { return s_.data(); }
    double label(Slot j) const { return y_[j]; }
    double upper(Slot j) const {
        return largest(j, [&](Member m) { return hi_[m] - lo_[m]; });
    }
    bool tight(Slot j) const {
        return largest(j, [&](Member m) { return is_free(m); }) > 0;
    }
    double violation(Slot j, double f) const {
        return largest(j, [&](Member m) { return off(m, y_[m] - f); });
    }
    double imbalance() const { return self().free_bias() ? std::abs(self().target() - sum()) : 0; }
    std::array<Variable, Copies> variables(Slot j) const {
        std::array<Variable, Copies> all;
        for (std::size_t k = 0; k < Copies; ++k) {
            const Member m = j * Copies + k;
            all[k] = {y_[m], lo_[m], hi_[m], s_[m]};
        }
        return all;
    }
    bool capped() const { return capped_; }  // when last solved, it fell short of the tolerance
    double target() const { return 0; }      // of the sum of s
    // K s of an example whose kernel row is given: f without the bias.
    double f(const T* row) const {
        return isa::table<T>().dot(row, self().coefficients(), rows_.active());
    }
    // A kept value of K s, and the coefficients on which it rests: what a file is checked by.
    double kept(Slot j) const { return y_[j] - h_[j]; }
    double weight(Slot j) const { return std::abs(self().coefficient(j)); }
    double postponed() const { return 0; }  // how far a kept value may be behind

    // ---- Slotted ----

    void check() {
        for (Member m = 0; m < s_.size(); ++m)
            demand(lo_[m] <= s_[m] && s_[m] <= hi_[m] && lo_[m] <= 0 && hi_[m] >= 0 &&
                       (lo_[m] == 0 || hi_[m] == 0),
                   "a coefficient is outside its bounds");
    }
    // Of a dual whose y are labels.
    void check_labels() {
        for (Slot j{}; j < s_.size(); ++j)
            demand(std::abs(y_[j]) == 1 && (y_[j] > 0 ? lo_[j] : hi_[j]) == 0,
                   "a label does not fit its bounds");
    }
    void turn_round() { std::swap(lo_, hi_); }

  protected:
    using Base::Base;
    using Base::rows_, Base::self;

    static constexpr double kSnap = 1e-12;

    // The names that files know h and y by; nullptr: not in files.
    auto dual_parts(const char* h, const char* y) {
        return std::tuple(saved("s", s_), saved(h, h_), saved("lo", lo_), saved("hi", hi_),
                          saved(y, y_), unsaved(capped_));
    }
    // Of a slot's variables.
    template <class Value>
    double largest(Slot j, Value value) const {
        double most = 0;
        for (std::size_t k = 0; k < Copies; ++k)
            most = std::max<double>(most, value(j * Copies + k));
        return most;
    }

    // ---- one variable ----

    bool can_rise(Member m) const { return s_[m] < hi_[m]; }
    bool can_fall(Member m) const { return s_[m] > lo_[m]; }
    bool is_free(Member m) const { return can_rise(m) && can_fall(m); }
    // By how much it violates its condition if its gradient is h.
    double off(Member m, double h) const { return box_violation(s_[m], lo_[m], hi_[m], h); }
    double edge(Member m, double way) const { return way > 0 ? hi_[m] : lo_[m]; }

    // A new variable of label y and bound c, with s = 0 and decision value f.
    void enter(Slot j, double y, double c, double f) {
        y_.edit(j) = y;
        h_.edit(j) = y - f;
        s_.edit(j) = 0;
        set_box(j, c);
    }
    // 0 <= alpha <= c.
    void set_box(Slot j, double c) {
        lo_.edit(j) = std::min(0.0, y_[j] * c);
        hi_.edit(j) = std::max(0.0, y_[j] * c);
    }
    void close(Member m) { lo_.edit(m) = hi_.edit(m) = 0; }
    // Onto a bound within rounding of it. At 0 the distance is absolute: alpha may be far below C.
    double snapped(Member m, double s) const {
        const double range = hi_[m] - lo_[m];
        if (std::abs(s) <= kSnap * std::min(1.0, range)) return 0.0;
        if (std::abs(s) >= range * (1 - kSnap)) return s > 0 ? hi_[m] : lo_[m];
        return s;
    }

    // ---- all of them ----

    double sum() const { return std::accumulate(s_.begin(), s_.end(), 0.0); }
    // What rounding leaves of h at best, of these slots: a tolerance below it cannot be met.
    double rounding(std::size_t first, std::size_t last) const {
        double largest = 1;
        for (Slot j(first); j < last; ++j)
            largest = std::max(largest, std::abs(s_[j]) * rows_.diagonal()[j]);
        return 1e-15 * largest * std::sqrt(double(last - first + 1));
    }
    // How far variables can go along a direction, at most t, and the place of the one that stops
    // them (their number: none).
    template <class Members, class Direction>
    std::pair<double, std::size_t> reach(const Members& members, Direction direction,
                                         double t) const {
        std::size_t blocker = members.size();
        for (std::size_t i = 0; i < members.size(); ++i) {
            const Member m = members[i];
            const double d = direction(i), room = (d > 0 ? hi_[m] : lo_[m]) - s_[m];
            if (d != 0 && room / d < t) {
                t = std::max(0.0, room / d);
                blocker = i;
            }
        }
        return {t, blocker};
    }
    // h -= K ds over the slots [first, last).
    void subtract(const std::vector<Move>& moves, std::size_t first, std::size_t last) {
        if (first >= last || moves.empty()) return;
        rows_.subtract(h_.edit().data(), moves, first, last);
    }
    // h = y - b - Ks from its definition: stops the drift of incremental updates.
    void recompute_gradient(double b) {
        moves_.clear();
        const std::span<double> h = h_.edit();
        for (Slot j{}; j < s_.size(); ++j) {
            h[j] = y_[j] - b;
            if (s_[j] != 0) moves_.push_back({j, s_[j]});
        }
        subtract(moves_, 0, s_.size());
    }

    SignedColumn<Copies> s_, h_, lo_, hi_, y_;
    bool capped_ = false;
    std::vector<Move> moves_;
};

// The same with the room of each variable kept beside it, as the loops of loops/isa.hpp read it.
template <class Self, class T>
class SteppingDual : public SignedDual<Self, T> {
    using Base = SignedDual<Self, T>;

  public:
    void derive() {
        fall_.resize(s_.size()), rise_.resize(s_.size());
        for (Slot j{}; j < s_.size(); ++j) measure(j);
    }

  protected:
    using Base::Base;
    using Base::rows_, Base::s_, Base::h_, Base::lo_, Base::hi_;

    auto dual_parts(const char* h, const char* y) {
        return std::tuple_cat(Base::dual_parts(h, y), std::tuple(derived(fall_), derived(rise_)));
    }
    void set(Slot j, double s) {
        s_.edit(j) = s;
        measure(j);
    }
    void enter(Slot j, double y, double c, double f) {
        Base::enter(j, y, c, f);
        measure(j);
    }
    void set_box(Slot j, double c) {
        Base::set_box(j, c);
        measure(j);
    }
    isa::BoxView view(std::size_t from) {
        return {.h = h_.edit().data() + from,
                .fall = fall_.data() + from,
                .rise = rise_.data() + from,
                .k = rows_.diagonal() + from,
                .k_inv = rows_.diagonal_inverse() + from,
                .uniform = rows_.uniform()};
    }

    DerivedColumn fall_, rise_;  // lo - s <= 0, hi - s >= 0

  private:
    void measure(Slot j) { fall_[j] = lo_[j] - s_[j], rise_[j] = hi_[j] - s_[j]; }
};

}  // namespace onlinesvm
