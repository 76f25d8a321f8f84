// The box-constrained dual kept optimal as members come, go and change their bounds:
//     max  sum y_i s_i - s'Ks/2   with  lo_i <= s_i <= hi_i          (P1z, signed form s = y alpha)
// h = y - f is its gradient; y h is the g of the papers. The variables are those of SignedDual.
//
// Two kinds of step, chosen by what they cost. A one-variable step (eq. 13-14 of the ramp paper)
// reads one kernel row; it is the better one while few members disagree. A Newton step solves for
// all free members at once with a kept inverse; it is the better one when the free members are so
// correlated that single steps zigzag. Only hot members move; h of the others is brought up to date
// once per round (sync).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "onlinesvm/function/tolerance.hpp"
#include "onlinesvm/solver/inverse.hpp"
#include "onlinesvm/solver/signed_dual.hpp"

namespace onlinesvm {

template <class T>
class Box final : public SteppingDual<Box<T>, T> {
    using Dual = SteppingDual<Box<T>, T>;

  public:
    using Terms = Tolerance;

    Box(KernelCache<T>& rows, Tolerance tol) : Dual(rows), tol_(tol) { this->follow_slots(); }

    auto parts() {
        return std::tuple_cat(
            Dual::dual_parts("h", "y"),
            std::tuple(saved("synced", synced_), saved("free", free_), saved("inverse", inverse_)));
    }
    void check() {
        Dual::check(), Dual::check_labels();
        demand(free_.size() == inverse_.size(), "the inverse does not fit the free set");
        if (!inverse_fits()) forget_inverse();
    }

    // ---- members ----

    // A new member with label y, upper bound c, and decision value f.
    void learn(Slot j, double y, double c, double f) {
        Dual::enter(j, y, c, f);
        synced_.edit(j) = 0;
    }
    // Changes a member's bound; 0 takes its weight away (unlearns it). Returns its slot afterwards.
    Slot bound(Slot j, double c) {
        const double edge = y_[j] * c, lo = std::min(0.0, edge), hi = std::max(0.0, edge);
        if (const double d = std::clamp(s_[j], lo, hi) - s_[j]; d != 0) {
            j = rows_.promote(j);
            move(j, d);
        }
        Dual::set_box(j, c);
        return j;
    }

    double gradient(Slot j) const { return y_[j] * h_[j]; }  // g = 1 - y f
    double bias() const { return 0; }
    bool free_bias() const { return false; }
    void give_up() { capped_ = true; }
    // At a bound and pressed against it: it will not move soon.
    bool firm(Slot j) const { return !is_free(j) && std::abs(h_[j]) >= kFirm && step_of(j) == 0; }
    // Another tolerance from here on. Returns the one before.
    double tune(double kkt) { return std::exchange(tol_.kkt, kkt); }
    // Worth a step?
    bool violates(Slot j) const {
        return step_of(j) != 0 && std::abs(h_[j]) > tol_.kkt && gain_of(j) > tol_.gain;
    }
    // What h rests on may be older than s, by moves too small to matter.
    double weight(Slot j) const { return std::max(std::abs(s_[j]), std::abs(synced_[j])); }
    double postponed() const { return tol_.kkt; }

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

    // Brings h of the cold members up to date with the moves since the last sync. Moves too small
    // to matter wait, unless all are asked for.
    void sync(Moves which = Moves::that_matter) {
        const double ignore = which == Moves::all ? 0 : 0.1 * tol_.kkt / double(rows_.hot() + 1);
        moves_.clear();
        for (Slot i(rows_.resting()); i < rows_.active(); ++i)
            if (std::abs(s_[i] - synced_[i]) * rows_.diagonal()[i] > ignore) {
                moves_.push_back({i, s_[i] - synced_[i]});
                synced_.edit(i) = s_[i];
            }
        this->subtract(moves_, 0, rows_.resting());
        this->subtract(moves_, rows_.active(), rows_.size());
    }

    void refresh() {
        sync(Moves::all);
        this->recompute_gradient(0);
        forget_inverse();
    }

    // ---- Follower ----

    void slot_promoted(Slot j) override {
        h_.edit(j) = y_[j] - this->f(rows_.row(j, rows_.active()));
    }
    void slot_popped() override {
        if (const Slot last(s_.size() - 1); free_.contains(last)) forget_free(free_.place(last));
        Dual::slot_popped();
    }

  private:
    using Dual::capped_, Dual::moves_, Dual::set, Dual::snapped, Dual::is_free, Dual::edge;
    using Dual::rows_, Dual::s_, Dual::h_, Dual::lo_, Dual::hi_, Dual::y_, Dual::fall_, Dual::rise_;

    static constexpr int kRounds = 1000;
    static constexpr double kFirm = 0.1;            // in units of the margin
    static constexpr std::size_t kLook = 32;        // steps before a Newton step is considered
    static constexpr std::int64_t kSteps = 10'000;  // passes per hot member before giving up
    // Below this share of its own kernel value a member counts as a combination of the others.
    static constexpr double kDependent = sizeof(T) == 4 ? 1e-5 : 1e-10;

    // d_i = clip(s_i + h_i / K_ii) - s_i
    double step_of(Slot j) const {
        return std::clamp(s_[j] + h_[j] * rows_.diagonal_inverse()[j], lo_[j], hi_[j]) - s_[j];
    }
    double gain_of(Slot j) const { return gain(j, h_[j], step_of(j)); }
    // Of the dual by a step d, as loops/isa.hpp measures it.
    double gain(Slot j, double h, double d) const {
        const double k = rows_.diagonal()[j];
        return d * (h - 0.5 * k * d) * std::max(1.0, k);
    }
    void subtract_from_hot(const std::vector<Move>& moves) {
        this->subtract(moves, rows_.resting(), rows_.active());
    }
    void move(Slot j, double d) {
        moves_.assign(1, {j, d});
        subtract_from_hot(moves_);
        set(j, s_[j] + d);
    }

    bool promote_violators() {
        if (worst_of(0, rows_.resting()).by <= tol_.kkt &&
            worst_of(rows_.active(), rows_.size()).by <= tol_.kkt)
            return false;
        std::vector<std::pair<double, Id>> found;
        for (Slot j{}; j < rows_.size(); ++j)
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

    // ---- one-variable steps ----

    // The steps that a pass has taken and h has yet to follow, with their kernel rows.
    struct Pass {
        const T* rows[isa::kPicks];
        double by[isa::kPicks];
        std::size_t n = 0;
    };
    // h follows the steps of the pass; then the best next ones.
    isa::Picks pick(const Pass& pass) {
        return isa::table<T>().step(Dual::view(rows_.resting()), pass.rows, pass.by, pass.n,
                                    rows_.hot());
    }
    isa::Picks pick() { return pick(Pass()); }
    // Who of the slots [first, last) violates most; its index counts from there.
    isa::Worst worst_of(std::size_t first, std::size_t last) {
        return isa::table<T>().violation(Dual::view(first), last - first);
    }
    isa::Worst worst_of_hot() { return worst_of(rows_.resting(), rows_.active()); }

    // Optimal over the hot members: passes of the best one-variable steps, and Newton steps where
    // these have taken longer than one costs.
    void settle() {
        const std::size_t first = rows_.resting();
        const double tol = std::max(tol_.kkt, this->rounding(first, rows_.active()));
        std::int64_t left = kSteps * std::int64_t(rows_.hot() + 100);
        Patience patience;
        isa::Picks picks = pick();
        while (picks.gain[0] > tol_.gain || press()) {
            poll(4 * rows_.hot());
            if (--left < 0) return give_up();
            if (picks.gain[0] <= tol_.gain) {
                picks = pick();
                continue;
            }
            // Who violates more than the one that gains most is a hair from its bound, and goes
            // there first: each step of the others would move it by another hair.
            if (std::abs(h_[first + picks.index[0]]) <= tol) {
                const isa::Worst worst = worst_of_hot();
                if (worst.by <= tol) return;
                picks = {.n = 1, .index = {worst.index}, .gain = {picks.gain[0]}};
            }
            if (patience.ends([&] { return newton_cost(); })) {
                patience.begin(newton_steps(picks, left));
                continue;
            }
            const Pass pass = take_steps(picks);
            if (pass.n == 0) break;  // too short for their numbers: this is as near as they get
            picks = pick(pass);
            patience.taken += pass.n;
        }
        if (tol_.gain == 0 && worst_of_hot().by > tol) capped_ = true;
    }
    Pass take_steps(const isa::Picks& picks) {
        Pass pass;
        for (std::size_t p = 0; p < picks.n; ++p)
            step(Slot(rows_.resting() + picks.index[p]), p == 0 ? 0 : 0.1 * picks.gain[0], pass);
        return pass;
    }
    // Takes member i's best step (eq. 14), allowing for the steps of the pass that h has yet to
    // follow, and appends it to them, if it gains more than `least`.
    void step(Slot i, double least, Pass& pass) {
        double h = h_[i];
        for (std::size_t m = 0; m < pass.n; ++m)
            h -= double(pass.rows[m][i - rows_.resting()]) * pass.by[m];
        const double d = std::clamp(h * rows_.diagonal_inverse()[i], fall_[i], rise_[i]);
        if (gain(i, h, d) <= least) return;
        const double to = snapped(i, s_[i] + d);
        if (to == s_[i]) return;
        pass.by[pass.n] = to - s_[i];
        pass.rows[pass.n++] = rows_.row(i, rows_.active()) + rows_.resting();
        set(i, to);
    }
    // A member a hair from its bound and pulled towards it gains too little to be picked, yet
    // violates its condition by much: such members are put onto their bounds together. False if
    // there were none.
    bool press() {
        moved_.clear();
        for (Slot j(rows_.resting()); j < rows_.active(); ++j) {
            const double room = h_[j] > 0 ? rise_[j] : fall_[j];
            if (std::abs(h_[j]) <= 10 * tol_.kkt || room == 0) continue;
            if (std::abs(room) * rows_.diagonal()[j] <= 0.1 * std::abs(h_[j]))
                moved_.push_back({j, room});
        }
        for (const Move& m : moved_) set(m.slot, edge(m.slot, h_[m.slot]));
        subtract_from_hot(moved_);
        return !moved_.empty();
    }

    // ---- Newton steps ----

    // One-variable steps until a Newton step is worth its cost, which counts twice as much after
    // each that was no help.
    struct Patience {
        std::size_t taken = 0, limit = kLook;
        double slack = 1;

        template <class Cost>
        bool ends(Cost cost) {
            if (taken < limit) return false;
            const double wait = slack * cost();
            limit = wait < 1e9 ? std::size_t(wait) + 1 : std::size_t(1e9);
            return double(taken) >= wait;
        }
        void begin(bool helped) {
            if (!helped) slack *= 2;
            taken = 0;
            limit = kLook;
        }
    };

    // What a Newton step costs, in one-variable steps. A multiply-add is about a quarter of the
    // work that a one-variable step does per member.
    double newton_cost() const {
        double free = 0, changes = 0;
        for (Slot j(rows_.resting()); j < rows_.active(); ++j) {
            free += is_free(j);
            changes += is_free(j) != free_.contains(j);
        }
        if (free < 2 || 2 * free > double(rows_.room()))
            return std::numeric_limits<double>::infinity();
        const double hot = double(rows_.hot());
        return 0.25 * ((1 + 2 * changes) * free * free + hot * free) / hot;
    }
    // A Newton step, then more while the next pick is a free member that depends on the others: it
    // is not in the inverse, and single steps would spoil what Newton just did, so it slides to a
    // bound at once. False if the first was no help.
    bool newton_steps(isa::Picks& picks, std::int64_t& left) {
        const auto next = [&] {
            const bool gained = newton(Slot(rows_.resting() + picks.index[0]));
            picks = pick();
            return gained;
        };
        const bool helped = next();
        bool gained = helped;
        while (gained && picks.gain[0] > tol_.gain && left-- > 0 &&
               depends(Slot(rows_.resting() + picks.index[0])))
            gained = next();
        return helped;
    }
    bool depends(Slot j) const { return is_free(j) && !free_.contains(j); }

    // Moves all free members to where their gradients vanish, stopping at bounds. With nothing to
    // gain there, slides `violator` in, the free members giving way. False if the inverse was no
    // help.
    bool newton(Slot violator) {
        gather_free();
        direction_.resize(free_.size());
        before_.clear();
        double worst = 0;
        for (Slot j : free_) {
            before_.push_back({j, s_[j]});
            worst = std::max(worst, std::abs(h_[j]));
        }
        if (worst > 0.1 * tol_.kkt) {
            solve_free();
        } else {
            if (free_.contains(violator)) return false;
            before_.push_back({violator, s_[violator]});
            slide(violator);
        }
        return accept();
    }
    // K ds = h on the free members; a member that meets a bound stays there, and the rest go on.
    void solve_free() {
        gradient_.clear();
        for (Slot j : free_) gradient_.push_back(h_[j]);
        while (!free_.empty()) {
            poll(2 * free_.size() * free_.size());
            inverse_.apply(gradient_.data(), direction_.data());
            const std::size_t blocker = go(1.0).second;
            if (blocker == free_.size()) break;
            stop_at_bound(blocker);
        }
    }
    // One member outside the free set moves, the free ones keep their gradients at zero.
    void slide(Slot j) {
        column_of(j);
        gradient_.assign(free_.size(), 0);
        const double sign = h_[j] > 0 ? 1 : -1;
        inverse_.apply(column_.data(), direction_.data());
        double curvature = rows_.diagonal()[j];
        for (std::size_t m = 0; m < free_.size(); ++m) curvature -= column_[m] * direction_[m];
        for (double& d : direction_) d *= -sign;
        double t = std::abs(edge(j, sign) - s_[j]);
        if (curvature > kDependent * rows_.diagonal()[j])
            t = std::min(t, std::abs(h_[j]) / curvature);
        const auto [reached, blocker] = go(t);
        set(j, s_[j] + reached * sign);
        if (blocker != free_.size()) stop_at_bound(blocker);
    }
    // The free members go t times along direction_, or as far as they can. Says how far, and which
    // one stopped them. K direction = gradient, so that is what remains of it.
    std::pair<double, std::size_t> go(double t) {
        const auto stop = this->reach(free_, [&](std::size_t m) { return direction_[m]; }, t);
        for (std::size_t m = 0; m < free_.size(); ++m)
            set(free_[m], s_[free_[m]] + stop.first * direction_[m]);
        for (double& g : gradient_) g *= 1 - stop.first;
        return stop;
    }
    void stop_at_bound(std::size_t m) {
        set(free_[m], edge(free_[m], direction_[m]));
        gradient_[m] = gradient_.back();
        gradient_.pop_back();
        direction_.pop_back();
        forget_free(m);
    }
    // h follows the moves since before_. If the dual fell, the inverse has decayed: the moves are
    // taken back, and a new one begun. False if nothing was gained.
    bool accept() {
        double gain = 0;  // twice that of the dual: sum ds (h_old + h_new)
        moved_.clear();
        for (const auto& [j, was] : before_) {
            gain += h_[j] * (s_[j] - was);
            set(j, snapped(j, s_[j]));
            moved_.push_back({j, s_[j] - was});
        }
        subtract_from_hot(moved_);
        for (const Move& m : moved_) gain += h_[m.slot] * m.by;
        if (gain >= 0) return gain > 0;
        for (Move& m : moved_) {
            set(m.slot, s_[m.slot] - m.by);
            m.by = -m.by;
        }
        subtract_from_hot(moved_);
        forget_inverse();
        return false;
    }

    // ---- the inverse of K over the free members ----

    // Brings the inverse in line with the free set.
    void gather_free() {
        for (std::size_t m = free_.size(); m-- > 0;)
            if (!is_free(free_[m]) || !rows_.is_hot(free_[m])) forget_free(m);
        for (Slot j(rows_.resting()); j < rows_.active(); ++j) {
            if (!depends(j)) continue;
            poll(2 * free_.size() * free_.size());
            column_of(j);
            const double k = rows_.diagonal()[j];
            if (inverse_.add(column_.data(), k, kDependent * k, work_)) free_.add(j);
        }
    }
    void forget_free(std::size_t m) {
        inverse_.remove(m, work_);
        free_.remove_at(m);
    }
    void forget_inverse() {
        free_.clear();
        inverse_.clear();
    }
    void column_of(Slot j) {
        const T* row = rows_.row(j, rows_.active());
        column_.resize(free_.size());
        for (std::size_t m = 0; m < free_.size(); ++m) column_[m] = double(row[free_[m]]);
    }
    bool inverse_fits() {
        if (rows_.store().kernel().shape == Shape::function) return true;  // never from a file
        return inverse_.inverts([&](const double* x, double* y) {
            rows_.among(free_.members(), [&](std::size_t i, const T* row) {
                y[i] = isa::table<T>().dot(row, x, free_.size());
            });
        });
    }

    Tolerance tol_;
    SignedColumn<> synced_;  // s as h of the cold members knows it
    IndexSet<> free_;        // in the order of the inverse
    Inverse inverse_;

    std::vector<Move> moved_;
    std::vector<std::pair<Slot, double>> before_;
    std::vector<double> column_, gradient_, direction_, work_;
};

}  // namespace onlinesvm
