// The dual of the SVM with a free bias, kept optimal as members come, go and change their bounds:
//     max  sum y_i s_i - s'Ks/2   with  lo_i <= s_i <= hi_i,  sum s_i = 0     (P1, s = y alpha)
// h = y - f is its gradient (y h = -g of Cauwenberghs & Poggio), the bias b its multiplier.
//
// Three sets: the margin set S (strictly between the bounds, h = 0), the error set E (at C) and the
// reserve R (at 0). One member c moves at a time and S follows, so that h_S = 0 and the balance
// hold all along:
//     beta = -P [1; K_Sc]                     (sensitivities; P and S are those of margin_set.hpp)
//     gamma_c = K_cc + beta' [1; K_Sc]        (what is left of K_cc beside S)
// A member that depends on S has gamma_c = 0: it slides at constant h until a bound is met and an
// exchange has been made. So S never becomes singular, and nothing needs a jitter. h of E and R
// follows when a move is over; members that then violate their conditions move in turn. Every move
// raises the dual, so that no state comes twice. The variables are those of SignedDual.
//
// Only hot members move. h of the others follows once the hot ones are optimal, and only as far as it
// must: of moves d that they have not heard of, K d is at most |d|_K |phi(x)| away. The largest are
// told until that is little (sync), and whoever might violate its condition all the same becomes hot.
//
// After many changes at once, and where the tolerance is loose, pair steps of the hot members come first
// (climb): they cost less while much is to be moved. The margin set moves where they zigzag.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "onlinesvm/solver/margin_set.hpp"
#include "onlinesvm/solver/signed_dual.hpp"

namespace onlinesvm {

template <class T>
class Balanced final : public SteppingDual<Balanced<T>, T> {
    using Dual = SteppingDual<Balanced<T>, T>;

  public:
    struct Terms {
        double kkt = 1e-8;           // done when no member violates its condition by more,
        std::int64_t rounds = 1000;  // or given up after so many rounds
    };

    Balanced(KernelCache<T>& rows, Terms terms)
        : Dual(rows), tol_(terms.kkt), rounds_(terms.rounds), margin_(rows) {
        this->follow_slots();
    }

    auto parts() {
        return std::tuple_cat(
            Dual::dual_parts("h", "y"),
            std::tuple(unsaved(heard_), unsaved(heard_bias_), saved("synced", synced_),
                       saved("late", late_), saved("synced_bias", synced_bias_),
                       saved("bias", bias_), saved("margin", margin_), saved("settled", settled_)));
    }
    void check() {
        Dual::check(), Dual::check_labels();
        margin_.check();
        heard_ = s_;
        heard_bias_ = bias_;
    }
    void turn_round() {
        Dual::turn_round();
        for (double* b : {&bias_, &heard_bias_, &synced_bias_}) *b = 0.0 - *b;
    }

    // ---- members, by id: their slots change as they move ----

    // A new member with label y, upper bound c and decision value f; alpha = 0.
    void add(Slot j, double y, double c, double f) {
        Dual::enter(j, y, c, f);
        heard_.edit(j) = synced_.edit(j) = 0;
    }
    // The same from its kernel row, as the others know it. Says whether it violates its condition.
    bool add(Slot j, double y, double c, const T* row, double f) {
        add(j, y, c, isa::table<T>().dot(row, synced_.data(), rows_.active()) + synced_bias_);
        return violates(j, f);
    }
    bool violates(Slot j, double f) const { return this->violation(j, f + bias_) > tol_; }
    // At a bound and pressed against it: it will not move soon.
    bool firm(Slot j) const {
        return !is_free(j) && std::abs(h_[j]) >= kFirm && off(j, h_[j]) == 0 &&
               !margin_.contains(j);
    }

    // Makes room for a new member. Where nobody is free any new one may narrow what b can be.
    void absorb(Id id, double f) {
        const Slot j = rows_.slot(id);
        const bool moves = violates(j, f);
        if (moves) drive_to_optimum(id, y_[j] - bias_ - f);
        if (moves || !has_free()) settle();
    }

    // Changes a member's bound, the others giving way; 0 takes its influence. settle() finishes.
    void rebound(Id id, double c) {
        Slot j = rows_.slot(id);
        const double edge = y_[j] * c;
        const double target = std::clamp(s_[j], std::min(0.0, edge), std::max(0.0, edge));
        if (target != s_[j]) {
            if (margin_.contains(j)) margin_.drop(margin_.place(j));
            j = rows_.promote(j);
            drive(id, h_[j], target, Until::there);
            j = rows_.slot(id);
            Dual::set(j, target);  // to the bit, even if no member was left to give way
            hear();
        }
        tell_of(j);  // it may be about to go, and have moved before
        Dual::set_box(j, c);
    }

    // All bounds and coefficients times r: the path from C to rC starts there. settle() finishes.
    void scale(double r) {
        sync(Moves::all);
        for (Slot j{}; j < rows_.size(); ++j) {
            const double f = y_[j] - bias_ - h_[j];  // without bias
            h_.edit(j) = y_[j] - bias_ - r * f;
            for (auto* v : {&s_, &lo_, &hi_, &heard_, &synced_}) v->edit(j) *= r;
        }
        Dual::derive();
        late_ = h_;
    }

    // Another tolerance from here on; settle() goes there. Returns the one before.
    double tune(double tol) { return std::exchange(tol_, tol); }

    // Optimal within the tolerance, after so many changes.
    void settle(std::size_t changes = 1) {
        capped_ = false;
        if (++settled_ % kRefresh == 0) refresh();
        const double most = double(rounds_) * double(changes);
        for (std::size_t round = 0; double(round) < most; ++round) {
            poll(4 * rows_.size());
            if (!(changes > 1 && loose() ? climb_or_walk() : walk())) return;
        }
        sync();
        capped_ = true;
    }

    double decision(Slot j) const { return y_[j] - h_[j]; }  // f(x_j)
    double bias() const { return bias_; }
    bool free_bias() const { return true; }
    bool has_free() const {
        for (Slot j(rows_.resting()); j < rows_.active(); ++j)
            if (is_free(j)) return true;
        return false;
    }
    double kept(Slot j) const { return y_[j] - bias_ - h_[j]; }
    // What h rests on may be older than s, by moves too small to matter.
    double weight(Slot j) const { return std::max(std::abs(s_[j]), std::abs(synced_[j])); }
    double postponed() const { return tol_ + kLag; }

    // Brings h of the members that are not hot up to date with all moves, or near: all count before a
    // member leaves the hot ones, and nobody who does is in the margin set. Returns how far off they
    // are at most, for |phi(x)| = 1.
    double sync(Moves which = Moves::that_matter) {
        if (which == Moves::all)
            for (std::size_t m = margin_.size(); m-- > 0;)
                if (!is_free(margin_[m])) margin_.drop(m);
        hear();
        untold_.clear();
        for (Slot j(rows_.resting()); j < rows_.active(); ++j)
            if (s_[j] != synced_[j]) untold_.push_back({j, s_[j] - synced_[j]});
        const bool few = rows_.size() <= 2 * rows_.hot();  // not worth a choice
        const double lag = which == Moves::all || few ? tell_all() : tell_largest();
        const double by = bias_ - synced_bias_;
        shift_run(h_, 0, rows_.resting(), by);
        shift_run(h_, rows_.active(), rows_.size(), by);
        synced_bias_ = bias_;
        return lag;
    }
    void refresh() {
        this->recompute_gradient(bias_);
        late_ = h_;
        heard_ = synced_ = s_;
        heard_bias_ = synced_bias_ = bias_;
    }

    // ---- Follower ----

    void slot_promoted(Slot j) override {
        const T* row = rows_.row(j, rows_.active());
        late_.edit(j) = h_[j];
        h_.edit(j) = y_[j] - heard_bias_ - isa::table<T>().dot(row, heard_.data(), rows_.active());
    }

  private:
    enum class Until { optimal, there };  // a move ends where h_c = 0, or at its target only

    using Dual::fall_, Dual::rise_;
    using Dual::moves_, Dual::is_free, Dual::can_rise, Dual::can_fall, Dual::off, Dual::edge;
    using Dual::rows_, Dual::s_, Dual::h_, Dual::lo_, Dual::hi_, Dual::y_, Dual::capped_;

    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    static constexpr double kLoose = 1e-5;    // tolerances that pair steps can reach
    static constexpr double kFirm = 0.1;      // in units of the margin
    static constexpr double kLag = 0.05;      // in units of the margin, of those not hot
    static constexpr std::size_t kTold = 16;  // moves told before the lag is looked at again
    // What the rounding of kernel values can do to d'Kd.
    static constexpr double kRounded = std::numeric_limits<T>::epsilon();
    static constexpr std::int64_t kRefresh = 1000;  // calls between recomputations of h
    static constexpr std::size_t kBatch = 64;  // violators that move before h of the others follows
    static constexpr int kAttempts = 6;        // Newton steps to restore the margin set

    // Onto a bound within rounding of it, which is that of the largest coefficients: a move changes
    // all.
    void set(Slot j, double s) {
        const double near = Dual::kSnap * (hi_[j] - lo_[j]);
        Dual::set(j, s <= lo_[j] + near ? lo_[j] : s >= hi_[j] - near ? hi_[j] : s);
    }
    double tolerance() const { return std::max(tol_, this->rounding(0, rows_.active())); }
    // The worst of the hot members.
    std::vector<Id> worst_violators(double tol) const {
        std::vector<std::pair<double, Id>> found;
        for (Slot j(rows_.resting()); j < rows_.active(); ++j)
            if (const double v = off(j, h_[j]); v > tol && !margin_.contains(j))
                found.push_back({-v, rows_.id(j)});
        return best_of(found);
    }
    static std::vector<Id> best_of(std::vector<std::pair<double, Id>>& found) {
        std::sort(found.begin(), found.end());
        std::vector<Id> ids;
        for (std::size_t i = 0; i < std::min(found.size(), kBatch); ++i)
            ids.push_back(found[i].second);
        return ids;
    }

    // ---- the path: one member moves, the margin set follows ----

    // False if no member violates its condition.
    bool walk() {
        hear();
        const double tol = tolerance();
        gather();
        restore();
        if (margin_.empty()) sync(Moves::all), centre();
        const std::vector<Id> violators = worst_violators(tol);
        if (violators.empty()) return admit_doubtful(tol, sync());
        for (Id id : violators) {
            const Slot c = rows_.slot(id);
            const double h = y_[c] - bias_ - this->f(rows_.row(c, rows_.active()));
            if (!margin_.contains(c) && off(c, h) > tol) drive_to_optimum(id, h);
        }
        return true;
    }
    // Those that are not hot and may violate their conditions, for all that is known of them, become
    // hot and are known exactly, the worst first. False if there were none.
    bool admit_doubtful(double tol, double lag) {
        std::vector<std::pair<double, Id>> found;
        const auto look = [&](std::size_t first, std::size_t last) {
            for (Slot j(first); j < last; ++j) {
                const double by = lag * std::sqrt(rows_.diagonal()[j]);
                const double v = std::max(off(j, h_[j] - by), off(j, h_[j] + by));
                if (v > tol) found.push_back({-v, rows_.id(j)});
            }
        };
        look(0, rows_.resting());
        look(rows_.active(), rows_.size());
        for (Id id : best_of(found)) rows_.promote(rows_.slot(id));
        return !found.empty();
    }

    // ---- pair steps: where the tolerance is loose ----

    bool loose() const { return tol_ >= kLoose; }
    bool climb_or_walk() {
        hear();
        const double tol = tolerance();
        return climb(tol) ? admit_doubtful(tol, sync()) : walk();
    }
    // Who pulls up hardest steps with the partner by whom it gains most, until no two hot members
    // disagree by more than twice the tolerance, and b is in their middle. False if they did not get
    // there by what moves of the margin set would have cost.
    bool climb(double tol) {
        const std::size_t from = rows_.resting();
        double left = cost_of_following(tol);
        isa::Ends ends = isa::table<T>().pair(this->view(from), nullptr, nullptr, 0, rows_.hot());
        for (; ends.high - ends.low > 2 * tol; --left) {
            if (left <= 0) return false;
            poll(4 * rows_.hot());
            ends = step(Slot(from + ends.up));
        }
        if (!has_free()) return false;  // b is an interval
        shift_hot(0.5 * (ends.high + ends.low));
        return true;
    }
    isa::Ends step(Slot i) {
        const std::size_t from = rows_.resting();
        const T* row = rows_.row(i, rows_.active());
        const double k = rows_.diagonal()[i];
        const Slot j(
            from +
            isa::table<T>().partner(this->view(from), row + from, h_[i], k, rows_.hot()).index);
        const double eta = std::max(k + rows_.diagonal()[j] - 2 * double(row[j]), isa::kFlat);
        const double lambda = std::min({(h_[i] - h_[j]) / eta, rise_[i], -fall_[j]});
        const std::array<Slot, 2> pair{i, j};
        const std::array<double, 2> before{s_[i], s_[j]};
        set(i, s_[i] + lambda);
        set(j, s_[j] - (s_[i] - before[0]));
        std::array<const T*, 2> rows;
        std::array<double, 2> by;
        rows_.rows(pair, rows_.active(), rows.data());
        for (std::size_t m = 0; m < 2; ++m) {
            heard_.edit(pair[m]) = s_[pair[m]];
            by[m] = s_[pair[m]] - before[m];
            rows[m] += from;
        }
        return isa::table<T>().pair(this->view(from), rows.data(), by.data(), 2, rows_.hot());
    }
    // What it costs, in pair steps, to bring the margin set in line and to move it once for each who
    // violates its condition. A pair step does about four times the work of a multiply-add per member.
    double cost_of_following(double tol) const {
        double free = 0, changes = 0, violators = 0;
        for (Slot j(rows_.resting()); j < rows_.active(); ++j) {
            free += is_free(j);
            changes += is_free(j) != margin_.contains(j);
            violators += !is_free(j) && off(j, h_[j]) > tol;
        }
        const double hot = double(rows_.hot()), moves = 1 + violators + 2 * changes;
        return 0.25 * (moves * free + hot) * free / hot;
    }

    // A violator goes where its gradient pulls it.
    void drive_to_optimum(Id id, double h) {
        drive(id, h, edge(rows_.slot(id), h), Until::optimal);
    }

    // Moves s_c from gradient h towards the target, to its end or until h = 0.
    void drive(Id id, double h, double target, Until until) {
        Slot c = rows_.promote(rows_.slot(id));
        std::optional<double> gamma;
        while (s_[c] != target) {
            const double way = target > s_[c] ? 1 : -1;
            if (margin_.empty()) {
                if (!found_margin(id, way)) return;
                c = rows_.slot(id);
                h = h_[c];
                gamma.reset();
                if (until == Until::optimal && way * h <= 0) return;
            }
            poll(2 * margin_.size());
            if (!gamma) gamma = margin_.sensitivities(c);
            double t = std::abs(target - s_[c]);
            const bool optimal = until == Until::optimal && *gamma * t >= way * h;
            if (optimal) t = std::max(0.0, way * h / *gamma);
            const auto [reached, blocker] = reach(-way, t);
            follow(-way * reached);
            h -= way * reached * *gamma;
            if (blocker != margin_.size()) {
                set(c, s_[c] + way * reached);
                *gamma += stop_at_bound(blocker, -way);
            } else if (optimal) {
                set(c, s_[c] + way * reached);
                if (is_free(c) && *gamma > 0) margin_.join(c, *gamma);
                return;
            } else {
                Dual::set(c, target);
            }
        }
    }
    // s_c cannot move alone, only b can: until the first other member comes to the margin.
    bool found_margin(Id id, double way) {
        sync(Moves::all);
        const std::optional<Id> partner = most_willing(id, -way);
        if (!partner) return false;
        const Slot p = rows_.promote(rows_.slot(*partner));
        shift(h_[p]);
        margin_.add(p);
        return true;
    }

    // How far the margin set can go along a multiple of u, at most t, and which member stops it.
    std::pair<double, std::size_t> reach(double along, double t) const {
        return Dual::reach(margin_, [&](std::size_t m) { return along * margin_.of(m); }, t);
    }
    // b and the margin set move by a multiple of u.
    void follow(double along) {
        bias_ += along * margin_.of_bias();
        for (std::size_t m = 0; m < margin_.size(); ++m)
            set(margin_[m], s_[margin_[m]] + along * margin_.of(m));
    }
    double stop_at_bound(std::size_t m, double along) {
        Dual::set(margin_[m], edge(margin_[m], along * margin_.of(m)));
        return margin_.leave(m);
    }
    // The member, besides one, that would be first to go up (way = 1) or down if b moved.
    std::optional<Id> most_willing(Id besides, double way) const {
        std::optional<Id> best;
        double pull = 0;
        for (Slot j{}; j < rows_.size(); ++j) {
            if (!(way > 0 ? can_rise(j) : can_fall(j)) || rows_.id(j) == besides) continue;
            if (!best || way * h_[j] > pull) {
                best = rows_.id(j);
                pull = way * h_[j];
            }
        }
        return best;
    }

    // Members that have come to a bound leave; free ones off the margin join.
    void gather() {
        for (std::size_t m = margin_.size(); m-- > 0;)
            if (!is_free(margin_[m])) margin_.drop(m);
        for (Slot j(rows_.resting()); j < rows_.active(); ++j)
            if (is_free(j) && !margin_.contains(j))
                if (margin_.empty() || std::abs(h_[j]) > 0.1 * tol_) margin_.add(j);
    }
    // Newton steps to h_S = 0 and to the balance, stopping at bounds.
    void restore() {
        double before = kInfinity;
        for (int attempt = 0; attempt < kAttempts && !margin_.empty(); ++attempt) {
            const double balance = this->sum();
            double worst = std::abs(balance);
            for (Slot j : margin_) worst = std::max(worst, std::abs(h_[j]));
            if (worst <= 0.1 * tol_) return;
            if (worst > 0.5 * before) margin_.rebuild();  // the inverse has decayed
            before = worst;
            newton(balance);
            hear();
        }
    }
    void newton(double balance) {
        rest_.assign(1, -balance);
        for (Slot j : margin_) rest_.push_back(h_[j]);
        margin_.solve(rest_);
        while (!margin_.empty()) {
            const auto [t, blocker] = reach(1, 1.0);
            follow(t);
            if (blocker == margin_.size()) return;
            stop_at_bound(blocker, 1);
            margin_.shorten(t);
        }
    }

    // ---- b and h ----

    // Without free members b is only an interval: its midpoint.
    void centre() {
        double low = -kInfinity, high = kInfinity;
        for (Slot j{}; j < rows_.size(); ++j) {
            if (can_rise(j)) low = std::max(low, h_[j]);
            if (can_fall(j)) high = std::min(high, h_[j]);
        }
        if (low == -kInfinity && high == kInfinity)
            shift(-bias_);
        else
            shift(low == -kInfinity ? high : high == kInfinity ? low : 0.5 * (low + high));
    }
    // Of all members, whose h knows b.
    void shift(double by) {
        bias_ += by;
        heard_bias_ = synced_bias_ = bias_;
        shift_run(h_, 0, rows_.size(), by);
        shift_run(late_, rows_.resting(), rows_.active(), by);
    }
    // Of the hot members alone.
    void shift_hot(double by) {
        bias_ += by;
        shift_run(h_, rows_.resting(), rows_.active(), by);
        heard_bias_ = bias_;
    }
    static void shift_run(SignedColumn<>& column, std::size_t first, std::size_t last, double by) {
        if (by == 0 || first == last) return;
        const std::span<double> h = column.edit();
        for (std::size_t j = first; j < last; ++j) h[j] -= by;
    }
    // The members that are not hot hear of all moves; how far off they are.
    double tell_all() {
        tell(untold_);
        const std::span<double> late = late_.edit();
        for (Slot j(rows_.resting()); j < rows_.active(); ++j) late[j] = h_[j];
        return 0;
    }
    // They hear of the largest, until the others can be late.
    double tell_largest() {
        std::sort(untold_.begin(), untold_.end(), [&](const Move& a, const Move& b) {
            const double x = length_of(a), y = length_of(b);
            return x > y || (x == y && a.slot < b.slot);
        });
        const double most = kLag / longest();
        std::span<const Move> rest = untold_;
        double lag = lag_of(rest);
        while (lag > most) {
            const std::size_t n = std::min(rest.size(), kTold);
            rows_.subtract(late_.edit().data(), rest.first(n), rows_.resting(), rows_.active());
            rest = rest.subspan(n);
            lag = lag_of(rest);
        }
        tell(std::span<const Move>(untold_).first(untold_.size() - rest.size()));
        shift_run(late_, rows_.resting(), rows_.active(), bias_ - synced_bias_);
        return lag;
    }
    void tell(std::span<const Move> moves) {
        if (moves.empty()) return;
        rows_.subtract(h_.edit().data(), moves, 0, rows_.resting());
        rows_.subtract(h_.edit().data(), moves, rows_.active(), rows_.size());
        for (const Move& move : moves) synced_.edit(move.slot) = s_[move.slot];
    }
    void tell_of(Slot j) {
        if (s_[j] == synced_[j]) return;
        moves_.assign(1, {j, s_[j] - synced_[j]});
        rows_.subtract(late_.edit().data(), moves_, rows_.resting(), rows_.active());
        tell(moves_);
    }
    // |d|_K of moves d: by it and |phi(x)| K d is bounded. A user's own function may be no kernel.
    double lag_of(std::span<const Move> moves) const {
        if (moves.empty()) return 0;
        if (rows_.store().kernel().shape == Shape::function) return kInfinity;
        const double b = bias_ - synced_bias_;
        double square = 0, length = 0;
        for (const Move& m : moves) {
            square += m.by * (late_[m.slot] - h_[m.slot] - b);  // d'Kd
            length += length_of(m);
        }
        return std::sqrt(std::max(0.0, square) + kRounded * length * length);
    }
    double length_of(const Move& m) const {
        return std::abs(m.by) * std::sqrt(rows_.diagonal()[m.slot]);
    }
    // The largest |phi(x)|.
    double longest() const {
        double most = rows_.diagonal()[0];
        if (!rows_.uniform())
            for (Slot j{}; j < rows_.size(); ++j) most = std::max(most, rows_.diagonal()[j]);
        return std::sqrt(most);
    }
    // h of the hot members follows all moves since the last time.
    void hear() {
        moves_.clear();
        for (Slot j(rows_.resting()); j < rows_.active(); ++j)
            if (s_[j] != heard_[j]) {
                moves_.push_back({j, s_[j] - heard_[j]});
                heard_.edit(j) = s_[j];
            }
        this->subtract(moves_, rows_.resting(), rows_.active());
        shift_run(h_, rows_.resting(), rows_.active(), bias_ - heard_bias_);
        heard_bias_ = bias_;
    }

    double tol_;
    std::int64_t rounds_;
    SignedColumn<> heard_, synced_;  // s as h of the hot members knows it, and as the others' does
    SignedColumn<> late_;            // of the hot members: h as it would be if they knew no more
    double bias_ = 0, heard_bias_ = 0, synced_bias_ = 0;
    MarginSet<T> margin_;
    std::int64_t settled_ = 0;

    std::vector<Move> untold_;
    std::vector<double> rest_;
};

}  // namespace onlinesvm
