// The dual of the SVM with a free bias, kept optimal as members come, go and change their bounds:
//     max  sum y_i s_i - s'Ks/2   with  lo_i <= s_i <= hi_i,  sum s_i = 0     (P1, s = y alpha)
// h = y - f is its gradient (y h = -g of Cauwenberghs & Poggio), the bias b its multiplier.
//
// Three sets: the margin set S (strictly between the bounds, h = 0), the error set E (at C) and the
// reserve R (at 0). One member c moves at a time and S follows, so that h_S = 0 and the balance
// hold all along:
//     beta = -P [1; K_Sc],   P = inverse of [[0, 1'], [1, K_SS]]    (sensitivities, b first)
//     gamma_c = K_cc + beta' [1; K_Sc]                              (what is left of K_cc beside S)
// A member that depends on S has gamma_c = 0: it slides at constant h until a bound is met and an
// exchange has been made. So S never becomes singular, and nothing needs a jitter. h of E and R
// follows when a move is over; members that then violate their conditions move in turn. Every move
// raises the dual, so that no state comes twice. The variables are those of SignedDual.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "onlinesvm/solver/inverse.hpp"
#include "onlinesvm/solver/signed_dual.hpp"

namespace onlinesvm {

template <class T>
class Balanced final : public SignedDual<Balanced<T>, T> {
    using Dual = SignedDual<Balanced<T>, T>;

  public:
    struct Terms {
        double kkt = 1e-8;           // done when no member violates its condition by more,
        std::int64_t rounds = 1000;  // or given up after so many rounds
    };

    Balanced(KernelCache<T>& rows, Terms terms)
        : Dual(rows), tol_(terms.kkt), rounds_(terms.rounds) {
        this->follow_slots();
    }

    auto parts() {
        return std::tuple_cat(Dual::dual_parts("h", "y"),
                              std::tuple(unsaved(synced_), saved("bias", bias_),
                                         unsaved(synced_bias_), saved("margin", margin_),
                                         saved("inverse", inverse_), saved("settled", settled_)));
    }
    void check() {
        Dual::check(), Dual::check_labels();
        demand(inverse_.size() == (margin_.empty() ? 0 : margin_.size() + 1),
               "the inverse does not fit the margin set");
        for (Slot j : margin_) demand(j < rows_.active(), "the margin set is out of range");
        synced_ = s_;
        synced_bias_ = bias_;
        if (!inverse_fits()) rebuild();
    }
    void turn_round() {
        Dual::turn_round();
        bias_ = 0.0 - bias_, synced_bias_ = 0.0 - synced_bias_;
    }

    // ---- members, by id: their slots change as they move ----

    // A new member with label y, upper bound c and decision value f; alpha = 0.
    void add(Slot j, double y, double c, double f) {
        Dual::enter(j, y, c, f);
        synced_.edit(j) = 0;
    }
    bool violates(Slot j) const { return off(j, h_[j]) > tol_; }

    // Makes room for a new member. Without a margin set any new one may narrow what b can be.
    void absorb(Id id) {
        const Slot j = rows_.slot(id);
        const bool moves = violates(j);
        if (moves) drive_to_optimum(id, h_[j]);
        if (moves || margin_.empty()) settle();
    }

    // Changes a member's bound, the others giving way; 0 takes its influence. settle() finishes.
    void rebound(Id id, double c) {
        Slot j = rows_.slot(id);
        const double edge = y_[j] * c;
        const double target = std::clamp(s_[j], std::min(0.0, edge), std::max(0.0, edge));
        if (target != s_[j]) {
            if (margin_.contains(j)) leave(margin_.place(j));
            drive(id, h_[j], target, Until::there);
            j = rows_.slot(id);
            s_.edit(j) = target;  // to the bit, even if no member was left to give way
            sync();
        }
        Dual::set_box(j, c);
    }

    // All bounds and coefficients times r: the path from C to rC starts there. settle() finishes.
    void scale(double r) {
        for (Slot j{}; j < rows_.size(); ++j) {
            const double f = y_[j] - bias_ - h_[j];  // without bias
            h_.edit(j) = y_[j] - bias_ - r * f;
            for (auto* v : {&s_, &lo_, &hi_, &synced_}) v->edit(j) *= r;
        }
    }

    // Optimal within the tolerance.
    void settle() {
        capped_ = false;
        if (++settled_ % kRefresh == 0) refresh();
        for (std::int64_t round = 0; round < rounds_; ++round) {
            poll(4 * rows_.size());
            sync();
            gather();
            restore();
            if (margin_.empty()) centre();
            const double tol = tolerance();
            const auto violators = worst_violators(tol);
            if (violators.empty()) return;
            for (const auto& [violation, id] : violators) {
                const Slot c = rows_.promote(rows_.slot(id));
                const double h = y_[c] - bias_ - this->f(rows_.row(c, rows_.active()));
                if (!margin_.contains(c) && off(c, h) > tol) drive_to_optimum(id, h);
            }
        }
        sync();
        capped_ = true;
    }

    double decision(Slot j) const { return y_[j] - h_[j]; }  // f(x_j)
    double bias() const { return bias_; }
    bool free_bias() const { return true; }
    bool has_margin() const { return !margin_.empty(); }
    double kept(Slot j) const { return y_[j] - bias_ - h_[j]; }

    void refresh() {
        this->recompute_gradient(bias_);
        synced_ = s_;
        synced_bias_ = bias_;
    }

    void slot_popped() override {
        if (const Slot last(s_.size() - 1); margin_.contains(last)) leave(margin_.place(last));
        Dual::slot_popped();
    }

  private:
    enum class Until { optimal, there };  // a move ends where h_c = 0, or at its target only

    using Dual::moves_, Dual::is_free, Dual::can_rise, Dual::can_fall, Dual::off, Dual::edge;
    using Dual::rows_, Dual::s_, Dual::h_, Dual::lo_, Dual::hi_, Dual::y_, Dual::capped_;

    static constexpr std::int64_t kRefresh = 1000;  // calls between recomputations of h
    static constexpr std::size_t kBatch = 64;  // violators that move before h of the others follows
    static constexpr int kAttempts = 6;        // Newton steps to restore the margin set
    // Below this share of the kernel diagonal a member counts as a combination of the margin set.
    static constexpr double kDependent = sizeof(T) == 4 ? 1e-6 : 1e-11;

    // Onto a bound within rounding of it, which is that of the largest coefficients: a move changes
    // all.
    void set(Slot j, double s) {
        const double near = Dual::kSnap * (hi_[j] - lo_[j]);
        s_.edit(j) = s <= lo_[j] + near ? lo_[j] : s >= hi_[j] - near ? hi_[j] : s;
    }
    double tolerance() const { return std::max(tol_, this->rounding(0, rows_.active())); }
    std::vector<std::pair<double, Id>> worst_violators(double tol) const {
        std::vector<std::pair<double, Id>> found;
        for (Slot j{}; j < rows_.size(); ++j)
            if (const double v = off(j, h_[j]); v > tol && !margin_.contains(j))
                found.push_back({-v, rows_.id(j)});
        std::sort(found.begin(), found.end());
        if (found.size() > kBatch) found.resize(kBatch);
        return found;
    }

    // ---- one member moves, the margin set follows ----

    // A violator goes where its gradient pulls it.
    void drive_to_optimum(Id id, double h) {
        drive(id, h, edge(rows_.slot(id), h), Until::optimal);
    }

    // Moves s_c from gradient h towards the target, to its end or until h = 0.
    void drive(Id id, double h, double target, Until until) {
        Slot c = rows_.promote(rows_.slot(id));
        while (s_[c] != target) {
            const double way = target > s_[c] ? 1 : -1;
            if (margin_.empty()) {
                if (!found_margin(id, way)) return;
                c = rows_.slot(id);
                h = h_[c];
                if (until == Until::optimal && way * h <= 0) return;
            }
            poll(2 * margin_.size() * margin_.size());
            const double gamma = sensitivities(c);
            double t = std::abs(target - s_[c]);
            const bool optimal = until == Until::optimal && gamma * t >= way * h;
            if (optimal) t = std::max(0.0, way * h / gamma);
            const auto [reached, blocker] = reach(-way, t);
            follow(-way * reached);
            h -= way * reached * gamma;
            if (blocker != margin_.size()) {
                set(c, s_[c] + way * reached);
                stop_at_bound(blocker, -way);
            } else if (optimal) {
                set(c, s_[c] + way * reached);
                if (is_free(c)) join(c);
                return;
            } else {
                s_.edit(c) = target;
            }
        }
    }
    // s_c cannot move alone, only b can: until the first other member comes to the margin.
    bool found_margin(Id id, double way) {
        const std::optional<Id> partner = most_willing(id, -way);
        if (!partner) return false;
        const Slot p = rows_.promote(rows_.slot(*partner));
        shift(h_[p]);
        join(p);
        return true;
    }

    // u = P [1; K_Sc] = -beta; returns gamma_c, 0 where c depends on the margin set.
    double sensitivities(Slot c) {
        column_of(c);
        u_.resize(column_.size());
        inverse_.apply(column_.data(), u_.data());
        double gamma = rows_.diagonal()[c];
        for (std::size_t m = 0; m < u_.size(); ++m) gamma -= column_[m] * u_[m];
        return gamma > least_for(c) ? gamma : 0;
    }
    // How far the margin set can go along a multiple of u, at most t, and which member stops it.
    std::pair<double, std::size_t> reach(double along, double t) const {
        return Dual::reach(margin_, [&](std::size_t m) { return along * u_[m + 1]; }, t);
    }
    // b and the margin set move by a multiple of u.
    void follow(double along) {
        bias_ += along * u_[0];
        for (std::size_t m = 0; m < margin_.size(); ++m)
            set(margin_[m], s_[margin_[m]] + along * u_[m + 1]);
    }
    // The member, besides one, that would be first to go up (way = 1) or down if b moved.
    std::optional<Id> most_willing(Id besides, double way) {
        sync();
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

    // ---- the margin set ----

    void column_of(Slot j) {
        const T* row = rows_.row(j, rows_.active());
        column_.resize(margin_.size() + 1);
        column_[0] = 1;
        for (std::size_t m = 0; m < margin_.size(); ++m) column_[m + 1] = double(row[margin_[m]]);
    }
    double least_for(Slot j) const {
        double largest = rows_.diagonal()[j];
        if (!rows_.uniform())
            for (Slot i : margin_) largest = std::max(largest, rows_.diagonal()[i]);
        return kDependent * largest;
    }
    // False if j depends on the margin set: then it stays outside.
    bool join(Slot j) {
        poll(2 * margin_.size() * margin_.size());
        if (margin_.empty()) {
            inverse_.border(rows_.diagonal()[j]);
        } else {
            column_of(j);
            if (!inverse_.add(column_.data(), rows_.diagonal()[j], least_for(j), u_)) return false;
        }
        margin_.add(j);
        return true;
    }
    void leave(std::size_t m) {
        if (margin_.size() == 1)
            inverse_.clear();
        else
            inverse_.remove(m + 1, u_);
        margin_.remove_at(m);
    }
    void stop_at_bound(std::size_t m, double along) {
        s_.edit(margin_[m]) = edge(margin_[m], along * u_[m + 1]);
        leave(m);
    }
    // Members that have come to a bound leave; free ones off the margin join.
    void gather() {
        for (std::size_t m = margin_.size(); m-- > 0;)
            if (!is_free(margin_[m])) leave(m);
        for (Slot j{}; j < rows_.active(); ++j)
            if (is_free(j) && !margin_.contains(j))
                if (margin_.empty() || std::abs(h_[j]) > 0.1 * tol_) join(j);
    }
    // Newton steps to h_S = 0 and to the balance, stopping at bounds.
    void restore() {
        double before = std::numeric_limits<double>::infinity();
        for (int attempt = 0; attempt < kAttempts && !margin_.empty(); ++attempt) {
            double balance = 0, worst = 0;
            for (Slot j{}; j < rows_.active(); ++j) balance += s_[j];
            for (Slot j : margin_) worst = std::max(worst, std::abs(h_[j]));
            worst = std::max(worst, std::abs(balance));
            if (worst <= 0.1 * tol_) return;
            if (worst > 0.5 * before) rebuild();  // the inverse has decayed
            before = worst;
            newton(balance);
            sync();
        }
    }
    void newton(double balance) {
        rest_.assign(1, -balance);
        for (Slot j : margin_) rest_.push_back(h_[j]);
        while (!margin_.empty()) {
            poll(2 * margin_.size() * margin_.size());
            u_.resize(rest_.size());
            inverse_.apply(rest_.data(), u_.data());
            const auto [t, blocker] = reach(1, 1.0);
            follow(t);
            if (blocker == margin_.size()) return;
            for (double& r : rest_) r *= 1 - t;
            rest_[blocker + 1] = rest_.back();
            rest_.pop_back();
            stop_at_bound(blocker, 1);
        }
    }

    // The bordered matrix [[0, 1'], [1, K_SS]] times the kept inverse.
    bool inverse_fits() {
        if (margin_.empty() || rows_.store().kernel().shape == Shape::function) return true;
        return inverse_.inverts([&](const double* x, double* y) {
            y[0] = 0;
            for (std::size_t m = 0; m < margin_.size(); ++m) y[0] += x[m + 1];
            rows_.among(margin_.members(), [&](std::size_t i, const T* row) {
                y[i + 1] = x[0] + isa::table<T>().dot(row, x + 1, margin_.size());
            });
        });
    }
    void rebuild() {
        const std::vector<Slot> members = margin_.members();
        margin_.clear();
        inverse_.clear();
        for (Slot j : members) join(j);
    }

    // ---- b and h ----

    // Without free members b is only an interval: its midpoint.
    void centre() {
        constexpr double inf = std::numeric_limits<double>::infinity();
        double low = -inf, high = inf;
        for (Slot j{}; j < rows_.size(); ++j) {
            if (can_rise(j)) low = std::max(low, h_[j]);
            if (can_fall(j)) high = std::min(high, h_[j]);
        }
        if (low == -inf && high == inf)
            shift(-bias_);
        else
            shift(low == -inf ? high : high == inf ? low : 0.5 * (low + high));
    }
    void shift(double by) {
        bias_ += by;
        synced_bias_ = bias_;
        for (double& h : h_.edit()) h -= by;
    }

    // h of the members outside follows all moves since the last time.
    void sync() {
        moves_.clear();
        for (Slot j{}; j < rows_.active(); ++j)
            if (s_[j] != synced_[j]) moves_.push_back({j, s_[j] - synced_[j]});
        this->subtract(moves_, 0, rows_.size());
        for (const Move& move : moves_) synced_.edit(move.slot) = s_[move.slot];
        const double by = bias_ - synced_bias_;
        if (by != 0)
            for (double& h : h_.edit()) h -= by;
        synced_bias_ = bias_;
    }

    double tol_;
    std::int64_t rounds_;
    SignedColumn<> synced_;  // s as h of the others knows it
    double bias_ = 0, synced_bias_ = 0;
    IndexSet<> margin_;  // S, in the order of the inverse
    Inverse inverse_;
    std::int64_t settled_ = 0;

    std::vector<double> column_, u_, rest_;
};

}  // namespace onlinesvm
