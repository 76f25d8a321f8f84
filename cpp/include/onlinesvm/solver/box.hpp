// The box-constrained dual over the members of a Rows, kept optimal as members come, go and change:
//     max  sum y_i s_i - s'Ks/2   with  lo_i <= s_i <= hi_i          (P1z, signed form s = y alpha)
// h = y - f is its gradient; y h is the g of the papers.
//
// Two kinds of step, chosen by what they cost. A one-variable step (eq. 13-14 of the ramp paper)
// reads one kernel row; it is the better one while few members disagree. A Newton step solves for
// all free members at once with a kept inverse; it is the better one when the free members are so
// correlated that single steps zigzag. Only hot members move; the others learn of it once per round
// (sync).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "onlinesvm/base/aligned.hpp"
#include "onlinesvm/base/rows.hpp"
#include "onlinesvm/base/tolerance.hpp"
#include "onlinesvm/base/variable.hpp"
#include "onlinesvm/solver/inverse.hpp"

namespace onlinesvm {

template <class T>
class Box final : public Follower {
  public:
    using Terms = Tolerance;

    Box(Rows<T>& rows, Tolerance tol) : rows_(rows), tol_(tol) {
        for (Slot j = 0; j < rows_.size(); ++j) slot_pushed();
        rows_.follow(this);  // last: whoever fails to be made follows nobody
    }
    ~Box() override { rows_.unfollow(this); }
    Box(const Box&) = delete;
    Box& operator=(const Box&) = delete;

    // ---- members ----

    // A new member with label y, upper bound c, and decision value f.
    void learn(Slot j, double y, double c, double f) {
        y_.edit(j) = y;
        h_.edit(j) = y - f;
        synced_.edit(j) = 0;
        s_.edit(j) = 0;
        set_box(j, c);
    }
    // Changes a member's bound; 0 takes its weight away (unlearns it). Returns its slot afterwards.
    Slot bound(Slot j, double c) {
        const double edge = y_[j] * c, lo = std::min(0.0, edge), hi = std::max(0.0, edge);
        const double d = std::clamp(s_[j], lo, hi) - s_[j];
        if (d != 0) {
            j = rows_.promote(j);
            move(j, d);
        }
        set_box(j, c);
        return j;
    }

    double coefficient(Slot j) const { return s_[j]; }
    double label(Slot j) const { return y_[j]; }
    double gradient(Slot j) const { return y_[j] * h_[j]; }  // g = 1 - y f
    double upper(Slot j) const { return std::max(-lo_[j], hi_[j]); }
    bool is_free(Slot j) const { return lo_[j] < s_[j] && s_[j] < hi_[j]; }
    // At a bound and pressed against it: it will not move soon.
    bool firm(Slot j) const { return !is_free(j) && std::abs(h_[j]) >= kFirm && step_of(j) == 0; }

    // Worth a step?
    bool violates(Slot j) const {
        return step_of(j) != 0 && std::abs(h_[j]) > tol_.kkt && gain_of(j) > tol_.gain;
    }

    double f(const T* row) const { return isa::table<T>().dot(row, s_.data(), rows_.active()); }
    const double* coefficients() const { return s_.data(); }
    double bias() const { return 0; }
    bool tight(Slot j) const { return is_free(j); }
    double violation(Slot j, double f) const {
        return box_violation(s_[j], lo_[j], hi_[j], y_[j] - f);
    }
    double imbalance() const { return 0; }  // no bias, no sum to keep
    std::array<Variable, 1> variables(Slot j) const { return {{{y_[j], lo_[j], hi_[j], s_[j]}}}; }
    bool free_bias() const { return false; }
    double target() const { return 0; }      // of the sum of s
    bool capped() const { return capped_; }  // when last solved, it fell short of the tolerance
    void give_up() { capped_ = true; }

    // ---- solving ----

    // Optimal over all members within the tolerance.
    void optimise() {
        capped_ = false;
        for (int round = 0; round < kRounds; ++round) {
            settle();
            sync();
            if (!promote_violators()) return;
        }
        capped_ = true;
    }

    // Cold members hear of the moves since the last sync. Moves too small to matter wait, unless
    // told.
    void sync(bool every_move = false) {
        const double ignore = every_move ? 0 : 0.1 * tol_.kkt / double(rows_.hot() + 1);
        batch_.clear();
        for (Slot i = rows_.resting(); i < rows_.active(); ++i)
            if (std::abs(s_[i] - synced_[i]) * rows_.diagonal()[i] > ignore) {
                batch_.push_back({i, s_[i] - synced_[i]});
                synced_.edit(i) = s_[i];
            }
        subtract(batch_, 0, rows_.resting());
        subtract(batch_, rows_.active(), rows_.size());
    }

    // h afresh from the definition: stops the drift of incremental updates.
    void refresh() {
        sync(true);
        std::ranges::copy(y_, h_.edit().begin());
        batch_.clear();
        for (Slot i = 0; i < rows_.active(); ++i)
            if (s_[i] != 0) batch_.push_back({i, s_[i]});
        subtract(batch_, 0, rows_.size());
        forget_inverse();
    }

    // ---- Follower ----

    void slot_pushed() override {
        for (auto* v : arrays()) v->push_back(0);
        for (auto* v : {&fall_, &rise_}) v->push_back(0);
        place_.push_back(kNowhere);
    }
    void slots_swapped(Slot a, Slot b) override {
        for (auto* v : arrays()) v->swap(a, b);
        for (auto* v : {&fall_, &rise_}) std::swap((*v)[a], (*v)[b]);
        place_.swap(a, b);
        for (Slot j : {a, b})
            if (place_[j] != kNowhere) free_.edit(std::size_t(place_[j])) = j;
    }
    void slot_promoted(Slot j) override { h_.edit(j) = y_[j] - f(rows_.row(j, rows_.active())); }
    void slot_popped() override {
        if (place_.back() != kNowhere) forget_free(place_.back());
        for (auto* v : arrays()) v->pop_back();
        for (auto* v : {&fall_, &rise_}) v->pop_back();
        place_.pop_back();
    }

    auto undoable() {
        return std::tie(s_, h_, lo_, hi_, y_, synced_, place_, free_, inverse_, capped_);
    }
    void mark() noexcept {}
    void commit() noexcept {}
    void revert() noexcept { measure(); }

    // Sees the same members with the opposite labels.
    void mirror(const Box& other) {
        s_ = other.s_, h_ = other.h_, y_ = other.y_, synced_ = other.synced_;
        lo_ = other.hi_, hi_ = other.lo_;
        for (auto* v : arrays())
            for (double& x : v->edit()) x = 0.0 - x;
        place_ = other.place_, free_ = other.free_, inverse_ = other.inverse_;
        measure();
    }

    template <class A>
    void state(A& a) {
        a("s", s_);
        a("h", h_);
        a("lo", lo_);
        a("hi", hi_);
        a("y", y_);
        a("synced", synced_);
        std::vector<std::int64_t> free(free_.begin(), free_.end());
        a("free", free);
        a("inverse", inverse_);
        if constexpr (A::loading) {
            for (auto* v : arrays())
                demand(v->size() == rows_.size(), "a solver array does not fit the examples");
            for (Slot j = 0; j < s_.size(); ++j)
                demand(lo_[j] <= s_[j] && s_[j] <= hi_[j] && std::abs(y_[j]) == 1 &&
                           (y_[j] > 0 ? lo_[j] : hi_[j]) == 0,
                       "a coefficient is outside its bounds");
            demand(free.size() == inverse_.size(), "the inverse does not fit the free set");
            measure();
            place_.assign(rows_.size(), kNowhere);
            free_.clear();
            for (std::int64_t j : free) {
                demand(std::size_t(j) < rows_.size() && place_[std::size_t(j)] == kNowhere,
                       "the free set is out of range");
                place_.edit(std::size_t(j)) = std::int32_t(free_.size());
                free_.push_back(Slot(j));
            }
            if (!inverse_fits()) forget_inverse();
        }
    }
    // The largest coefficient on which a kept value may rest, and that value: f without a bias.
    double weight(Slot j) const { return std::max(std::abs(s_[j]), std::abs(synced_[j])); }
    double kept(Slot j) const { return y_[j] - h_[j]; }
    double postponed() const { return tol_.kkt; }  // what it may still be told of moves
    std::size_t nbytes() const {
        return nbytes_of(s_, h_, lo_, hi_, y_, synced_, place_, free_, inverse_) +
               (fall_.capacity() + rise_.capacity()) * sizeof(double);
    }

  private:
    std::array<Ledger<double>*, 6> arrays() { return {&s_, &h_, &lo_, &hi_, &y_, &synced_}; }

    struct Move {
        Slot slot;
        double delta;
    };
    static constexpr std::int32_t kNowhere = -1;
    static constexpr int kRounds = 1000;
    static constexpr double kFirm = 0.1;  // in units of the margin
    static constexpr double kSnap = 1e-12;
    // Below this share of its own kernel value a member counts as a combination of the others.
    static constexpr double kDependent = sizeof(T) == 4 ? 1e-5 : 1e-10;

    isa::BoxView hot_view() {
        const std::size_t from = rows_.resting();
        return {.h = h_.edit().data() + from,
                .fall = fall_.data() + from,
                .rise = rise_.data() + from,
                .k = rows_.diagonal() + from,
                .k_inv = rows_.diagonal_inverse() + from,
                .uniform = rows_.uniform()};
    }
    void set_box(Slot j, double c) {
        const double edge = y_[j] * c;
        lo_.edit(j) = std::min(0.0, edge);
        hi_.edit(j) = std::max(0.0, edge);
        set(j, s_[j]);
    }
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
    // d_i = clip(s_i + h_i / K_ii) - s_i
    double step_of(Slot j) const {
        return std::clamp(s_[j] + h_[j] * rows_.diagonal_inverse()[j], lo_[j], hi_[j]) - s_[j];
    }
    double gain_of(Slot j) const {
        const double d = step_of(j);
        const double k = rows_.diagonal()[j];
        return d * (h_[j] - 0.5 * k * d) * std::max(1.0, k);
    }
    // h -= sum delta_i K_i over [first, last), eight rows at a time.
    void subtract(const std::vector<Move>& moves, Slot first, Slot last) {
        if (first >= last) return;
        const T* rows[8];
        double deltas[8];
        for (std::size_t i = 0; i < moves.size();) {
            std::size_t m = 0;
            Slot slots[8];
            for (; m < 8 && i < moves.size(); ++m, ++i) {
                slots[m] = moves[i].slot;
                deltas[m] = moves[i].delta;
            }
            rows_.rows(std::span(slots, m), last, rows);
            isa::table<T>().subtract(h_.edit().data(), rows, deltas, m, first, last);
        }
    }
    // One member moves by d; the hot ones hear of it at once.
    void move(Slot j, double d) {
        batch_.assign(1, {j, d});
        subtract(batch_, rows_.resting(), rows_.active());
        set(j, s_[j] + d);
    }

    bool promote_violators() {
        std::vector<std::pair<double, std::int64_t>> found;
        for (Slot j = 0; j < rows_.size(); ++j)
            if (!rows_.is_hot(j) && violates(j)) found.push_back({-gain_of(j), rows_.id(j)});
        if (found.empty()) return false;
        const std::size_t most = std::max<std::size_t>(64, rows_.hot() / 2);
        if (found.size() > most) {
            std::sort(found.begin(), found.end());
            found.resize(most);
        }
        for (const auto& [gain, id] : found) rows_.promote(rows_.slot(id));
        return true;
    }

    // Optimal over the hot members.
    void settle() {
        const std::size_t first = rows_.resting(), hot = rows_.hot();
        const auto& loops = isa::table<T>();
        const T* rows[isa::kPicks];
        double delta[isa::kPicks];
        std::size_t since = 0, patience = kLook;
        std::int64_t left = kSteps * std::int64_t(hot + 100);
        const double tol = std::max(tol_.kkt, noise());
        double slack = 1;
        isa::Picks picks = loops.step(hot_view(), rows, delta, 0, hot);
        while (picks.gain[0] > tol_.gain || press()) {
            poll(4 * hot);
            if (--left < 0) {
                capped_ = true;
                return;
            }
            if (picks.gain[0] <= tol_.gain) {
                picks = loops.step(hot_view(), rows, delta, 0, hot);
                continue;
            }
            // Somebody violates by more than tol if the chosen one does; else look at everybody.
            if (std::abs(h_[first + picks.index[0]]) <= tol &&
                loops.violation(hot_view(), hot) <= tol)
                return;
            if (since >= patience) {
                const double wait = slack * newton_cost();
                if (double(since) >= wait) {
                    bool gained = newton(first + picks.index[0]);
                    if (!gained) slack *= 2;
                    picks = loops.step(hot_view(), rows, delta, 0, hot);
                    // A free member that depends on the others is none of the inverse's, and single
                    // steps would spoil what Newton just did: it slides to a bound at once.
                    while (gained && picks.gain[0] > tol_.gain && left-- > 0 &&
                           depends(first + picks.index[0])) {
                        gained = newton(first + picks.index[0]);
                        picks = loops.step(hot_view(), rows, delta, 0, hot);
                    }
                    since = 0;
                    patience = kLook;
                    continue;
                }
                patience = wait < 1e9 ? std::size_t(wait) + 1 : std::size_t(1e9);
            }
            std::size_t n = 0;
            for (std::size_t p = 0; p < picks.n; ++p)
                if (step(first + picks.index[p], p == 0 ? 0 : 0.1 * picks.gain[0], rows, delta, n))
                    ++n;
            if (n == 0) break;  // steps too short for their numbers: this is as near as they get
            picks = loops.step(hot_view(), rows, delta, n, hot);
            since += n;
        }
        if (tol_.gain == 0 && loops.violation(hot_view(), hot) > tol) capped_ = true;
    }
    // A member a hair from its bound and pulled towards it gains too little to be picked, yet
    // violates its condition by much: such members are put onto their bounds together. False if
    // there were none.
    bool press() {
        moved_.clear();
        for (Slot j = rows_.resting(); j < rows_.active(); ++j) {
            const double room = h_[j] > 0 ? rise_[j] : fall_[j];
            if (std::abs(h_[j]) <= 10 * tol_.kkt || room == 0) continue;
            if (std::abs(room) * rows_.diagonal()[j] <= 0.1 * std::abs(h_[j]))
                moved_.push_back({j, room});
        }
        for (const Move& m : moved_) set(m.slot, h_[m.slot] > 0 ? hi_[m.slot] : lo_[m.slot]);
        subtract(moved_, rows_.resting(), rows_.active());
        return !moved_.empty();
    }
    // Takes member i's best step (eq. 14), knowing of the n steps just taken that h has yet to hear
    // of, and appends it to them. False if that step gains no more than `least`.
    bool step(Slot i, double least, const T** rows, double* delta, std::size_t n) {
        double h = h_[i];
        for (std::size_t m = 0; m < n; ++m) h -= double(rows[m][i - rows_.resting()]) * delta[m];
        double d = std::clamp(h * rows_.diagonal_inverse()[i], fall_[i], rise_[i]);
        const double k = rows_.diagonal()[i];
        if (d * (h - 0.5 * k * d) * std::max(1.0, k) <= least) return false;
        const double to = snapped(i, s_[i] + d);
        if (to == s_[i]) return false;
        delta[n] = to - s_[i];
        rows[n] = rows_.row(i, rows_.active()) + rows_.resting();
        set(i, to);
        return true;
    }
    static constexpr std::size_t kLook = 32;        // steps before thinking about Newton
    static constexpr std::int64_t kSteps = 10'000;  // passes per hot member before giving up

    // What rounding leaves of h at best: a tolerance below it cannot be met.
    double noise() const {
        double largest = 1;
        for (Slot j = rows_.resting(); j < rows_.active(); ++j)
            largest = std::max(largest, std::abs(s_[j]) * rows_.diagonal()[j]);
        return 1e-15 * largest * std::sqrt(double(rows_.hot() + 1));
    }

    // What a Newton step costs, in one-variable steps. A multiply-add is about a quarter of the
    // work that a one-variable step does per member.
    double newton_cost() const {
        double free = 0, changes = 0;
        for (Slot j = rows_.resting(); j < rows_.active(); ++j) {
            free += is_free(j);
            changes += is_free(j) != (place_[j] != kNowhere);
        }
        if (free < 2 || 2 * free > double(rows_.room()))
            return std::numeric_limits<double>::infinity();
        const double hot = double(rows_.hot());
        return 0.25 * ((1 + 2 * changes) * free * free + hot * free) / hot;
    }

    bool depends(Slot j) const { return is_free(j) && place_[j] == kNowhere; }

    void forget_inverse() {
        for (Slot j : free_) place_.edit(j) = kNowhere;
        free_.clear();
        inverse_.clear();
    }
    bool inverse_fits() {
        if (rows_.store().kernel().shape == Shape::function) return true;  // never from a file
        return inverse_.inverts([&](const double* x, double* y) {
            rows_.among(free_, [&](std::size_t i, const T* row) {
                y[i] = isa::table<T>().dot(row, x, free_.size());
            });
        });
    }
    // Brings the inverse in line with the free set.
    void gather_free() {
        for (std::size_t m = free_.size(); m-- > 0;)
            if (!is_free(free_[m]) || !rows_.is_hot(free_[m])) forget_free(m);
        for (Slot j = rows_.resting(); j < rows_.active(); ++j) {
            if (!is_free(j) || place_[j] != kNowhere) continue;
            poll(2 * free_.size() * free_.size());
            column_of(j);
            const double k = rows_.diagonal()[j];
            if (!inverse_.add(column_.data(), k, kDependent * k, work_)) continue;
            place_.edit(j) = std::int32_t(free_.size());
            free_.push_back(j);
        }
    }
    void forget_free(std::size_t m) {
        inverse_.remove(m, work_);
        place_.edit(free_[m]) = kNowhere;
        if (m + 1 != free_.size()) {
            free_.edit(m) = free_.back();
            place_.edit(free_[m]) = std::int32_t(m);
        }
        free_.pop_back();
    }
    void column_of(Slot j) {
        const T* row = rows_.row(j, rows_.active());
        column_.resize(free_.size());
        for (std::size_t m = 0; m < free_.size(); ++m) column_[m] = double(row[free_[m]]);
    }

    // Moves all free members to where their gradients vanish, stopping at bounds. With nothing to
    // gain there, slides `violator` in, the free members giving way. False if the inverse was no
    // help.
    bool newton(Slot violator) {
        gather_free();
        const std::size_t n = free_.size();
        moved_.clear();
        double worst = 0, before = 0;
        for (Slot j : free_) {
            moved_.push_back({j, s_[j]});
            worst = std::max(worst, std::abs(h_[j]));
        }
        gradient_.resize(n);
        direction_.resize(n);
        if (worst > 0.1 * tol_.kkt) {
            for (std::size_t m = 0; m < n; ++m) gradient_[m] = h_[free_[m]];
            while (!free_.empty()) {
                poll(2 * free_.size() * free_.size());
                inverse_.apply(gradient_.data(), direction_.data());
                const auto [t, blocker] = reach(1.0);
                for (std::size_t m = 0; m < free_.size(); ++m)
                    set(free_[m], s_[free_[m]] + t * direction_[m]);
                if (blocker == free_.size()) break;
                for (double& g : gradient_)
                    g *= 1 - t;  // K direction = gradient, so what is left of it
                stop_at_bound(blocker);
            }
        } else {
            if (place_[violator] != kNowhere) return false;
            moved_.push_back({violator, s_[violator]});
            slide(violator);
        }
        for (Move& m : moved_) {
            before += h_[m.slot] * (s_[m.slot] - m.delta);
            set(m.slot, snapped(m.slot, s_[m.slot]));
            m.delta = s_[m.slot] - m.delta;
        }
        subtract(moved_, rows_.resting(), rows_.active());
        double gain = before;  // twice the gain of the dual: sum delta (h_old + h_new)
        for (const Move& m : moved_) gain += h_[m.slot] * m.delta;
        if (gain >= 0) return gain > 0;
        for (Move& m : moved_) {  // the inverse has decayed: take the step back and start a new one
            set(m.slot, s_[m.slot] - m.delta);
            m.delta = -m.delta;
        }
        subtract(moved_, rows_.resting(), rows_.active());
        forget_inverse();
        return false;
    }

    // How far along direction_ the free members can go, at most t, and who stops them.
    std::pair<double, std::size_t> reach(double t) const {
        std::size_t blocker = free_.size();
        for (std::size_t m = 0; m < free_.size(); ++m) {
            const Slot j = free_[m];
            const double d = direction_[m], room = (d > 0 ? hi_[j] : lo_[j]) - s_[j];
            if (d != 0 && room / d < t) {
                t = std::max(0.0, room / d);
                blocker = m;
            }
        }
        return {t, blocker};
    }
    void stop_at_bound(std::size_t m) {
        const Slot j = free_[m];
        set(j, direction_[m] > 0 ? hi_[j] : lo_[j]);
        gradient_[m] = gradient_.back();
        gradient_.pop_back();
        direction_.pop_back();
        forget_free(m);
    }
    // One member outside the free set moves, the free ones keep their gradients at zero.
    void slide(Slot j) {
        column_of(j);
        const double sign = h_[j] > 0 ? 1 : -1;
        inverse_.apply(column_.data(), direction_.data());
        double curvature = rows_.diagonal()[j];
        for (std::size_t m = 0; m < free_.size(); ++m) curvature -= column_[m] * direction_[m];
        for (double& d : direction_) d *= -sign;
        double t = (sign > 0 ? hi_[j] : lo_[j]) - s_[j];
        t = std::abs(t);
        if (curvature > kDependent * rows_.diagonal()[j])
            t = std::min(t, std::abs(h_[j]) / curvature);
        const auto [reached, blocker] = reach(t);
        for (std::size_t m = 0; m < free_.size(); ++m)
            set(free_[m], s_[free_[m]] + reached * direction_[m]);
        set(j, s_[j] + reached * sign);
        if (blocker != free_.size()) stop_at_bound(blocker);
    }

    Rows<T>& rows_;
    Tolerance tol_;
    Ledger<double> s_, h_, lo_, hi_, y_;
    Aligned<double> fall_, rise_;      // lo - s, hi - s
    Ledger<double> synced_;            // s as the cold members know it
    PlainLedger<std::int32_t> place_;  // in the inverse
    PlainLedger<Slot> free_;           // members of the inverse
    Inverse inverse_;
    bool capped_ = false;

    std::vector<Move> batch_, moved_;
    std::vector<double> column_, gradient_, direction_, work_;
};

}  // namespace onlinesvm
