// The dual of the SVM with a free bias, kept optimal as members come, go and change their bounds:
//     max  sum y_i s_i - s'Ks/2   with  lo_i <= s_i <= hi_i,  sum s_i = 0     (P1, s = y alpha)
// h = y - f is its gradient (y h = -g of Cauwenberghs & Poggio), the bias b its multiplier.
//
// Three sets: the margin set S (strictly between the bounds, h = 0), the error set E (at C) and the
// reserve R (at 0). One member c moves at a time and S follows, so that h_S = 0 and the balance
// hold all along:
//     beta = -P [1; K_Sc],   P = inverse of [[0, 1'], [1, K_SS]]    (sensitivities, b first)
//     gamma_c = K_cc + beta' [1; K_Sc]                              (what is left of K_cc beside S)
// A member that depends on S has gamma_c = 0: it slides, nobody's h changes, until a bound is met
// and an exchange has been made. So S never becomes singular, and nothing needs a jitter.
// The members of E and R hear of a move when it is over; whoever then violates its condition moves
// in turn. Every move raises the dual, so that no state comes twice.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "onlinesvm/base/aligned.hpp"
#include "onlinesvm/base/rows.hpp"
#include "onlinesvm/base/variable.hpp"
#include "onlinesvm/solver/inverse.hpp"

namespace onlinesvm {

template <class T>
class Balanced final : public Follower {
  public:
    struct Terms {
        double kkt = 1e-8;           // done when nobody violates its condition by more,
        std::int64_t rounds = 1000;  // or given up after so many rounds
    };

    Balanced(Rows<T>& rows, Terms terms) : rows_(rows), tol_(terms.kkt), rounds_(terms.rounds) {
        for (Slot j = 0; j < rows_.size(); ++j) slot_pushed();
        rows_.follow(this);  // last: whoever fails to be made follows nobody
    }
    ~Balanced() override { rows_.unfollow(this); }
    Balanced(const Balanced&) = delete;
    Balanced& operator=(const Balanced&) = delete;

    // ---- members, by id: their slots change as they move ----

    // A new member with label y, upper bound c and decision value f; alpha = 0.
    void add(Slot j, double y, double c, double f) {
        y_.edit(j) = y;
        h_.edit(j) = y - f;
        s_.edit(j) = synced_.edit(j) = 0;
        set_box(j, c);
    }
    bool violates(Slot j) const { return off(j, h_[j]) > tol_; }

    // Makes room for a new member. Without a margin set any newcomer may narrow what b can be.
    void absorb(std::int64_t id) {
        const Slot j = rows_.slot(id);
        const bool moves = violates(j);
        if (moves) enter(id, h_[j]);
        if (moves || margin_.empty()) settle();
    }

    // Changes a member's bound, the others giving way; 0 takes its influence. settle() finishes.
    void rebound(std::int64_t id, double c) {
        Slot j = rows_.slot(id);
        const double edge = y_[j] * c;
        const double target = std::clamp(s_[j], std::min(0.0, edge), std::max(0.0, edge));
        if (target != s_[j]) {
            if (place_[j] != kNowhere) leave(std::size_t(place_[j]));
            drive(id, h_[j], target, Until::there);
            j = rows_.slot(id);
            s_.edit(j) =
                target;  // to the bit: neither nobody left to give way nor the old bound counts
            sync();
        }
        set_box(j, c);
    }

    // All bounds and coefficients times r: the path from C to rC starts there. settle() finishes.
    void scale(double r) {
        for (Slot j = 0; j < rows_.size(); ++j) {
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
            std::vector<std::pair<double, std::int64_t>> found;
            for (Slot j = 0; j < rows_.size(); ++j)
                if (const double v = off(j, h_[j]); v > tol && place_[j] == kNowhere)
                    found.push_back({-v, rows_.id(j)});
            if (found.empty()) return;
            std::sort(found.begin(), found.end());
            if (found.size() > kBatch) found.resize(kBatch);
            for (const auto& [violation, id] : found) {
                const Slot c = rows_.promote(rows_.slot(id));
                const double h = y_[c] - bias_ - f(rows_.row(c, rows_.active()));
                if (place_[c] == kNowhere && off(c, h) > tol) enter(id, h);
            }
        }
        sync();
        capped_ = true;
    }

    double coefficient(Slot j) const { return s_[j]; }
    const double* coefficients() const { return s_.data(); }
    double label(Slot j) const { return y_[j]; }
    double upper(Slot j) const { return std::max(-lo_[j], hi_[j]); }
    double decision(Slot j) const { return y_[j] - h_[j]; }  // f(x_j)
    double bias() const { return bias_; }
    bool tight(Slot j) const { return is_free(j); }
    double violation(Slot j, double f) const {
        return box_violation(s_[j], lo_[j], hi_[j], y_[j] - f);
    }
    std::array<Variable, 1> variables(Slot j) const { return {{{y_[j], lo_[j], hi_[j], s_[j]}}}; }
    bool free_bias() const { return true; }
    double target() const { return 0; }  // of the sum of s
    double imbalance() const { return std::abs(std::accumulate(s_.begin(), s_.end(), 0.0)); }
    bool has_margin() const { return !margin_.empty(); }
    double f(const T* row) const { return isa::table<T>().dot(row, s_.data(), rows_.active()); }
    bool capped() const { return capped_; }

    // ---- Follower ----

    void slot_pushed() override {
        for (auto* v : arrays()) v->push_back(0);
        place_.push_back(kNowhere);
    }
    void slots_swapped(Slot a, Slot b) override {
        for (auto* v : arrays()) v->swap(a, b);
        place_.swap(a, b);
        for (Slot j : {a, b})
            if (place_[j] != kNowhere) margin_.edit(std::size_t(place_[j])) = j;
    }
    void slot_popped() override {
        if (place_.back() != kNowhere) leave(std::size_t(place_.back()));
        for (auto* v : arrays()) v->pop_back();
        place_.pop_back();
    }

    auto undoable() {
        return std::tie(s_, h_, lo_, hi_, y_, synced_, bias_, synced_bias_, margin_, place_,
                        inverse_, settled_, capped_);
    }

    // Sees the same members with the opposite labels.
    void mirror(const Balanced& other) {
        s_ = other.s_, h_ = other.h_, y_ = other.y_, synced_ = other.synced_;
        lo_ = other.hi_, hi_ = other.lo_;
        for (auto* v : arrays())
            for (double& x : v->edit()) x = 0.0 - x;
        bias_ = 0.0 - other.bias_, synced_bias_ = 0.0 - other.synced_bias_;
        place_ = other.place_, margin_ = other.margin_, inverse_ = other.inverse_;
        settled_ = other.settled_, capped_ = other.capped_;
    }

    template <class A>
    void state(A& a) {
        a("s", s_);
        a("h", h_);
        a("lo", lo_);
        a("hi", hi_);
        a("y", y_);
        a("bias", bias_);
        a("settled", settled_);
        std::vector<std::int64_t> margin(margin_.begin(), margin_.end());
        a("margin", margin);
        a("inverse", inverse_);
        if constexpr (A::loading) {
            for (auto* v : {&s_, &h_, &lo_, &hi_, &y_})
                demand(v->size() == rows_.size(), "a solver array does not fit the examples");
            for (Slot j = 0; j < rows_.size(); ++j)
                demand(lo_[j] <= s_[j] && s_[j] <= hi_[j] && std::abs(y_[j]) == 1 &&
                           (y_[j] > 0 ? lo_[j] : hi_[j]) == 0,
                       "a coefficient is out of its bounds");
            demand(inverse_.size() == (margin.empty() ? 0 : margin.size() + 1),
                   "the inverse does not fit the margin set");
            synced_ = s_;
            synced_bias_ = bias_;
            place_.assign(rows_.size(), kNowhere);
            margin_.clear();
            for (std::int64_t j : margin) {
                demand(std::size_t(j) < rows_.active() && place_[std::size_t(j)] == kNowhere,
                       "the margin set is out of range");
                place_.edit(std::size_t(j)) = std::int32_t(margin_.size());
                margin_.push_back(Slot(j));
            }
            if (!inverse_fits()) rebuild();
        }
    }
    // On what a kept value rests, and that value: f without the bias.
    double weight(Slot j) const { return std::abs(s_[j]); }
    double kept(Slot j) const { return y_[j] - bias_ - h_[j]; }
    double postponed() const { return 0; }

    // h afresh from the definition: stops the drift of incremental updates.
    void refresh() {
        moves_.clear();
        for (Slot j = 0; j < rows_.size(); ++j) {
            h_.edit(j) = y_[j] - bias_;
            if (s_[j] != 0) moves_.push_back({j, s_[j]});
        }
        subtract(moves_);
        synced_ = s_;
        synced_bias_ = bias_;
    }
    std::size_t nbytes() const {
        return nbytes_of(s_, h_, lo_, hi_, y_, synced_, margin_, place_, inverse_);
    }

  private:
    enum class Until { optimal, there };  // a move ends where h_c = 0, or at its target only

    static constexpr std::int32_t kNowhere = -1;
    static constexpr std::int64_t kRefresh = 1000;  // calls between recomputations of h
    static constexpr std::size_t kBatch = 64;       // violators that move before the others hear
    static constexpr double kSnap = 1e-12;
    // Below this share of the kernel diagonal a member counts as a combination of the margin set.
    static constexpr double kDependent = sizeof(T) == 4 ? 1e-6 : 1e-11;

    std::array<Ledger<double>*, 6> arrays() { return {&s_, &h_, &lo_, &hi_, &y_, &synced_}; }

    void set_box(Slot j, double c) {
        lo_.edit(j) = std::min(0.0, y_[j] * c);
        hi_.edit(j) = std::max(0.0, y_[j] * c);
    }
    void set(Slot j, double s) {
        const double near = kSnap * (hi_[j] - lo_[j]);
        s_.edit(j) = s <= lo_[j] + near ? lo_[j] : s >= hi_[j] - near ? hi_[j] : s;
    }
    bool is_free(Slot j) const { return lo_[j] < s_[j] && s_[j] < hi_[j]; }
    bool can_rise(Slot j) const { return s_[j] < hi_[j]; }
    bool can_fall(Slot j) const { return s_[j] > lo_[j]; }
    // By how much member j with gradient h is off.
    double off(Slot j, double h) const { return box_violation(s_[j], lo_[j], hi_[j], h); }

    // What rounding leaves of h at best: a tolerance below it cannot be met.
    double tolerance() const {
        double largest = 1;
        for (Slot j = 0; j < rows_.active(); ++j)
            largest = std::max(largest, std::abs(s_[j]) * rows_.diagonal()[j]);
        return std::max(tol_, 1e-15 * largest * std::sqrt(double(rows_.active() + 1)));
    }

    // ---- one member moves, the margin set follows ----

    // A violator goes where its gradient pulls it.
    void enter(std::int64_t id, double h) {
        const Slot c = rows_.slot(id);
        drive(id, h, h > 0 ? hi_[c] : lo_[c], Until::optimal);
    }

    // Moves s_c from gradient h towards the target, to its end or until h = 0.
    void drive(std::int64_t id, double h, double target, Until until) {
        Slot c = rows_.promote(rows_.slot(id));
        while (s_[c] != target) {
            const double way = target > s_[c] ? 1 : -1;
            if (margin_.empty()) {
                // s_c cannot move alone, only b can: until the first other one comes to the margin.
                const std::optional<std::int64_t> partner = most_willing(id, -way);
                if (!partner) return;
                const Slot p = rows_.promote(rows_.slot(*partner));
                shift(h_[p]);
                join(p);
                c = rows_.slot(id);
                h = h_[c];
                if (until == Until::optimal && way * h <= 0) return;
            }
            poll(2 * margin_.size() * margin_.size());
            const double gamma = sensitivities(c);
            double t = std::abs(target - s_[c]);
            bool optimal = false;
            if (until == Until::optimal && gamma * t >= way * h) {
                t = std::max(0.0, way * h / gamma);
                optimal = true;
            }
            const auto [reached, blocker] = reach(-way, t);
            follow(-way * reached);
            h -= way * reached * gamma;
            if (blocker != margin_.size()) {
                set(c, s_[c] + way * reached);
                const Slot j = margin_[blocker];
                s_.edit(j) = -way * u_[blocker + 1] > 0 ? hi_[j] : lo_[j];
                leave(blocker);
            } else if (optimal) {
                set(c, s_[c] + way * reached);
                if (is_free(c)) join(c);
                return;
            } else {
                s_.edit(c) = target;
            }
        }
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
    // How far the margin set can go along a multiple of u, at most t, and who stops it.
    std::pair<double, std::size_t> reach(double along, double t) const {
        std::size_t blocker = margin_.size();
        for (std::size_t m = 0; m < margin_.size(); ++m) {
            const Slot j = margin_[m];
            const double d = along * u_[m + 1], room = (d > 0 ? hi_[j] : lo_[j]) - s_[j];
            if (d != 0 && room / d < t) {
                t = std::max(0.0, room / d);
                blocker = m;
            }
        }
        return {t, blocker};
    }
    // b and the margin set move by a multiple of u.
    void follow(double along) {
        bias_ += along * u_[0];
        for (std::size_t m = 0; m < margin_.size(); ++m)
            set(margin_[m], s_[margin_[m]] + along * u_[m + 1]);
    }
    // Who, besides one, would be first to go up (way = 1) or down if b moved.
    std::optional<std::int64_t> most_willing(std::int64_t besides, double way) {
        sync();
        std::optional<std::int64_t> best;
        double pull = 0;
        for (Slot j = 0; j < rows_.size(); ++j) {
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
        place_.edit(j) = std::int32_t(margin_.size());
        margin_.push_back(j);
        return true;
    }
    void leave(std::size_t m) {
        if (margin_.size() == 1)
            inverse_.clear();
        else
            inverse_.remove(m + 1, u_);
        place_.edit(margin_[m]) = kNowhere;
        if (m + 1 != margin_.size()) {
            margin_.edit(m) = margin_.back();
            place_.edit(margin_[m]) = std::int32_t(m);
        }
        margin_.pop_back();
    }
    // Who has come to a bound leaves; who is free and off the margin joins.
    void gather() {
        for (std::size_t m = margin_.size(); m-- > 0;)
            if (!is_free(margin_[m])) leave(m);
        for (Slot j = 0; j < rows_.active(); ++j)
            if (is_free(j) && place_[j] == kNowhere)
                if (margin_.empty() || std::abs(h_[j]) > 0.1 * tol_) join(j);
    }
    // Newton steps to h_S = 0 and to the balance, stopping at bounds.
    void restore() {
        double before = std::numeric_limits<double>::infinity();
        for (int attempt = 0; attempt < kAttempts && !margin_.empty(); ++attempt) {
            double balance = 0, worst = 0;
            for (Slot j = 0; j < rows_.active(); ++j) balance += s_[j];
            for (Slot j : margin_) worst = std::max(worst, std::abs(h_[j]));
            worst = std::max(worst, std::abs(balance));
            if (worst <= 0.1 * tol_) return;
            if (worst > 0.5 * before) rebuild();  // the inverse has decayed
            before = worst;
            rest_.assign(1, -balance);
            for (Slot j : margin_) rest_.push_back(h_[j]);
            while (!margin_.empty()) {
                poll(2 * margin_.size() * margin_.size());
                u_.resize(rest_.size());
                inverse_.apply(rest_.data(), u_.data());
                const auto [t, blocker] = reach(1, 1.0);
                follow(t);
                if (blocker == margin_.size()) break;
                for (double& r : rest_) r *= 1 - t;
                const Slot j = margin_[blocker];
                s_.edit(j) = u_[blocker + 1] > 0 ? hi_[j] : lo_[j];
                rest_[blocker + 1] = rest_.back();
                rest_.pop_back();
                leave(blocker);
            }
            sync();
        }
    }
    static constexpr int kAttempts = 6;

    // The bordered matrix [[0, 1'], [1, K_SS]] times the kept inverse.
    bool inverse_fits() {
        if (margin_.empty() || rows_.store().kernel().shape == Shape::function) return true;
        return inverse_.inverts([&](const double* x, double* y) {
            y[0] = 0;
            for (std::size_t m = 0; m < margin_.size(); ++m) y[0] += x[m + 1];
            rows_.among(margin_, [&](std::size_t i, const T* row) {
                y[i + 1] = x[0] + isa::table<T>().dot(row, x + 1, margin_.size());
            });
        });
    }
    void rebuild() {
        const std::vector<Slot> members = margin_;
        margin_.clear();
        inverse_.clear();
        for (Slot j : members) place_.edit(j) = kNowhere;
        for (Slot j : members) join(j);
    }

    // ---- b and h ----

    // With nobody free, b is only an interval: its midpoint.
    void centre() {
        constexpr double inf = std::numeric_limits<double>::infinity();
        double low = -inf, high = inf;
        for (Slot j = 0; j < rows_.size(); ++j) {
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

    // The members outside hear of all moves since the last time.
    void sync() {
        moves_.clear();
        for (Slot j = 0; j < rows_.active(); ++j)
            if (s_[j] != synced_[j]) moves_.push_back({j, s_[j] - synced_[j]});
        subtract(moves_);
        for (const auto& [j, delta] : moves_) synced_.edit(j) = s_[j];
        const double by = bias_ - synced_bias_;
        if (by != 0)
            for (double& h : h_.edit()) h -= by;
        synced_bias_ = bias_;
    }
    void subtract(const std::vector<std::pair<Slot, double>>& moves) {
        std::array<const T*, 8> rows;
        std::array<double, 8> deltas;
        std::array<Slot, 8> slots;
        for (std::size_t i = 0; i < moves.size();) {
            std::size_t m = 0;
            for (; m < 8 && i < moves.size(); ++m, ++i) std::tie(slots[m], deltas[m]) = moves[i];
            rows_.rows(std::span<const Slot>(slots.data(), m), rows_.size(), rows.data());
            isa::table<T>().subtract(h_.edit().data(), rows.data(), deltas.data(), m, 0,
                                     rows_.size());
        }
    }

    Rows<T>& rows_;
    double tol_;
    std::int64_t rounds_;
    Ledger<double> s_, h_, lo_, hi_, y_;
    Ledger<double> synced_;  // s as h knows it
    double bias_ = 0, synced_bias_ = 0;
    PlainLedger<Slot> margin_;         // S, in the order of the inverse
    PlainLedger<std::int32_t> place_;  // in S
    Inverse inverse_;
    std::int64_t settled_ = 0;
    bool capped_ = false;

    std::vector<std::pair<Slot, double>> moves_;
    std::vector<double> column_, u_, rest_;
};

}  // namespace onlinesvm
