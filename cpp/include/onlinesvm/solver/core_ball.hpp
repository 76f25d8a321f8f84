// The smallest ball around a core, the active examples, by pair steps; and distances from its
// centre to all others.
//
// Example i is the point Z_i = [y_i phi(x_i); e_i / sqrt(C_i)], Z_i.Z_j = Kt_ij. The centre is
// c = sum_i l_i Z_i with l in the simplex. Points shorter than the longest, of squared length eta,
// count as balls: d_i^2 = |c - Z_i|^2 + eta - Kt_ii. With v = Kt l,
//     rho = |c|^2 = l'v,   R^2 = eta - rho,   d_i^2 = eta + rho - 2 v_i,
// so the ball is smallest where rho is, and alpha = l / rho solves the SVM with squared slack (P2).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "onlinesvm/function/score.hpp"
#include "onlinesvm/function/slotted.hpp"
#include "onlinesvm/function/tolerance.hpp"
#include "onlinesvm/solver/cholesky.hpp"

namespace onlinesvm {

template <class T>
class CoreBall final : public Slotted<CoreBall<T>, T> {
    using Base = Slotted<CoreBall<T>, T>;

  public:
    using Terms = Tolerance;

    CoreBall(KernelCache<T>& rows, Tolerance tol) : Base(rows), tol_(tol.kkt) {
        this->follow_slots();
    }

    auto parts() {
        return std::tuple(saved("y", y_), saved("s", s_), saved("slack", slack_), unsaved(alpha_),
                          saved("rho", rho_), saved("eta", eta_), unsaved(capped_));
    }
    void check() {
        bool fits = rho_ >= 0;
        double sum = 0, least = 0, most = 0;  // of l; |c|^2 by slacks alone, |c| if parallel
        for (Slot j{}; fits && j < s_.size(); ++j) {
            sum += l(j), least += slack_[j] * l(j) * l(j), most += l(j) * std::sqrt(length2(j));
            fits = std::abs(y_[j]) == 1 && slack_[j] > 0 && l(j) >= 0 &&
                   (j < rows_.active() || s_[j] == 0);
        }
        demand(fits && std::abs(sum - double(has_centre())) < 1e-6,
               "the ball does not fit its examples");
        const double room = 1e-6 * (1 + least);
        if (!(rho_ >= least - room && rho_ <= most * most + room && eta_ >= rho_)) {
            demand(rows_.are_few(), "the centre is not that of its examples");
            open();
        }
        close();
    }

    // The newest example: label y, slack 1 / C_j.
    void add(Slot j, double y, double slack) { y_.edit(j) = y, slack_.edit(j) = slack; }

    double label(Slot j) const { return y_[j]; }
    double slack(Slot j) const { return slack_[j]; }
    double coefficient(Slot j) const { return alpha_[j]; }  // signed
    const double* coefficients() const { return alpha_.data(); }
    double bias() const { return 0; }
    bool tight(Slot j) const { return alpha_[j] != 0; }
    // Of v_i >= rho, with equality where alpha_i > 0, in units of rho.
    double violation(Slot j, double f) const {
        const double alpha = std::abs(alpha_[j]), g = 1 - y_[j] * f - alpha * slack_[j];
        return alpha == 0 ? std::max(0.0, g) : std::abs(g);
    }
    double imbalance() const { return 0; }
    double radius() const { return std::sqrt(R2()); }
    bool has_centre() const { return rho_ > 0; }
    bool capped() const { return capped_; }

    // ---- a solution is looked for between open() and close() ----

    // v of the core afresh, so that errors of one search do not reach the next.
    void open() {
        capped_ = false;
        eta_ = 0;
        for (Slot j{}; j < y_.size(); ++j) eta_ = std::max(eta_, length2(j));
        look();
    }
    void close() {
        for (Slot j{}; j < s_.size(); ++j) alpha_.edit(j) = has_centre() ? s_[j] / rho_ : 0;
        v_.clear();
    }

    // The point that is farthest from Z_j: that with the smallest inner product.
    Slot farthest_from(Slot j) const {
        Aligned<T> k(rows_.store().padded_size());  // of its own: cold examples have none cached
        typename Store<T>::Scratch scratch;
        rows_.store().row(rows_.store().get(j, scratch), 0, rows_.size(), k.data());
        Slot best = j;
        double least = std::numeric_limits<double>::infinity();
        for (Slot i{}; i < y_.size(); ++i)
            if (const double v = y_[i] * y_[j] * double(k[i]); i != j && v < least)
                least = v, best = i;
        return best;
    }

    // The ball begins as one point of the core.
    void start(Slot j) {
        s_.edit(j) = y_[j];
        open();
    }
    // An example joins the core.
    void enter(Slot j) {
        j = rows_.promote(j);
        const T* k = rows_.row(j, rows_.active());
        v_.push_back(y_[j] * isa::table<T>().dot(k, s_.data(), rows_.active()));
    }

    // Pair steps until no member's distance tells it from the others: i gains what j loses. Where
    // they crawl, because the points are long and the slacks short, leaps bring them forward.
    // As exactly as tol asks, or as the excess of a new member is worth.
    void optimise(double excess) {
        const auto n = std::int64_t(v_.size());
        const std::int64_t patience = kPatience * (n + 20), pace = 1 + n / 16;
        for (std::int64_t taken = 1; taken <= patience + kLeaps * pace; ++taken) {
            poll(4 * v_.size());
            const Slot i(std::min_element(v_.begin(), v_.end()) - v_.begin());
            const T* k_i = rows_.row(i, v_.size());
            const auto [j, gap] = partner(i, k_i);
            if (gap <= std::max(kInner * std::max(edge(), excess), kNoise * eta_)) return measure();
            const T* k_j = rows_.row(j, v_.size());
            const double rise = v_[j] - v_[i], eta = curvature(i, j, k_i);
            const double share = std::min(l(j), rise / eta);
            rho_ -= share * (2 * rise - share * eta);
            move(i, k_i, j, k_j, share);
            if (taken >= patience && taken % pace == 0)
                while (!leap()) continue;
        }
        capped_ = true;
        measure();
    }

    // By how much d^2 / 2 of a point with inner product v is too large; 0 if it is not, that is,
    // if d <= (1 + tol) R and 1 - z <= tol.
    double excess(double v) const {
        return rho_ - v > std::max(edge(), kNoise * eta_) ? rho_ - v : 0.0;
    }

    // y f of examples: inner products of points outside the core with the centre.
    std::vector<double> inner_products(std::span<const Slot> slots) const {
        std::vector<typename Store<T>::Scratch> scratch(slots.size());
        std::vector<Row<T>> xs;
        for (std::size_t q = 0; q < slots.size(); ++q)
            xs.push_back(rows_.store().get(slots[q], scratch[q]));
        std::vector<double> v(slots.size());
        const double* s = s_.data();
        score(rows_.store(), rows_.active(), std::span(&s, 1), std::span<const Row<T>>(xs),
              v.data());
        for (std::size_t q = 0; q < slots.size(); ++q) v[q] *= y_[slots[q]];
        return v;
    }
    // The same for all examples: a pass.
    std::vector<double> pass() {
        std::vector<double> v(rows_.size());
        products(rows_.active(), rows_.size(), v);
        std::copy(v_.begin(), v_.end(), v.begin());
        return v;
    }

    // An example about to go leaves its share to the others.
    void forget(Slot j) {
        s_.edit(j) = alpha_.edit(j) = 0;
        double rest = 0;
        for (Slot i{}; i < s_.size(); ++i) rest += l(i);
        for (double& s : s_.edit()) s = rest > 0 ? s / rest : 0;
        if (rest == 0) rho_ = eta_ = 0;
    }

  private:
    using Base::rows_;

    static constexpr double kInner = 0.5;          // of what is allowed outside the core
    static constexpr double kNoise = 1e-14;        // of eta: closer than rounding can resolve
    static constexpr double kFlat = 1e-12;         // least curvature
    static constexpr std::int64_t kPatience = 10;  // steps per member before a leap
    static constexpr std::int64_t kLeaps = 1000;   // before giving up

    double l(Slot j) const { return y_[j] * s_[j]; }
    double length2(Slot j) const { return rows_.diagonal()[j] + slack_[j]; }
    double R2() const { return std::max(0.0, eta_ - rho_); }
    // The excess rho - v_i that is allowed: (1 + tol) R, but no more than tol of the margin either.
    double edge() const { return tol_ * std::min(R2(), rho_); }
    void look() {
        v_.assign(rows_.active(), 0);
        products(0, rows_.active(), v_);
        for (Slot j{}; j < v_.size(); ++j) v_[j] += slack_[j] * l(j);
        measure();
    }
    void measure() {
        rho_ = 0;
        for (Slot j{}; j < v_.size(); ++j) rho_ += l(j) * v_[j];
    }

    // out = y (K s) over [first, last).
    void products(std::size_t first, std::size_t last, std::vector<double>& out) {
        std::vector<Move> minus;
        for (Slot j{}; j < rows_.active(); ++j)
            if (s_[j] != 0) minus.push_back({j, -s_[j]});
        rows_.subtract(out.data(), minus, first, last);
        for (Slot j(first); j < last; ++j) out[j] *= y_[j];
    }

    double curvature(Slot i, Slot j, const T* k_i) const {
        const double between = 2 * y_[i] * y_[j] * double(k_i[j]);
        return std::max(kFlat, length2(i) + length2(j) - between);
    }
    struct Partner {
        Slot j;
        double gap;  // between the farthest member and the nearest that has a share
    };
    // The member whose share is worth most to i.
    Partner partner(Slot i, const T* k_i) const {
        Partner best{i, 0};
        double most = 0;
        for (Slot j{}; j < v_.size(); ++j) {
            const double gap = v_[j] - v_[i];
            if (s_[j] == 0 || gap <= 0) continue;
            best.gap = std::max(best.gap, gap);
            if (const double gain = gap * gap / curvature(i, j, k_i); gain > most)
                most = gain, best.j = j;
        }
        return best;
    }
    void move(Slot i, const T* k_i, Slot j, const T* k_j, double share) {
        s_.edit(i) += y_[i] * share;
        s_.edit(j) = share == l(j) ? 0 : s_[j] - y_[j] * share;
        const double gain = y_[i] * share, loss = y_[j] * share;
        for (Slot m{}; m < v_.size(); ++m)
            v_[m] += y_[m] * (gain * double(k_i[m]) - loss * double(k_j[m]));
        v_[i] += slack_[i] * share;
        v_[j] -= slack_[j] * share;
    }

    // To the best centre of those that have a share. False: on the way one had none left.
    bool leap() {
        std::vector<Slot> members;
        for (Slot j{}; j < v_.size(); ++j)
            if (s_[j] != 0) members.push_back(j);
        std::vector<double> u(members.size(), 1.0);  // Kt u = 1, and u sums to one
        Cholesky factor;
        factor.factor(members.size(), [&](std::size_t a, std::size_t b) {
            const Slot i = members[a], j = members[b];
            return a == b ? length2(i) : y_[i] * y_[j] * double(rows_.row(i, v_.size())[j]);
        });
        factor.solve(u);
        const double sum = std::accumulate(u.begin(), u.end(), 0.0);
        if (!(sum > 0)) return true;             // rounding has eaten the problem; pair steps go on
        const auto reach = [&](std::size_t a) {  // how much of the way its share lasts
            const double here = l(members[a]);
            return u[a] < 0 ? here / (here - u[a] / sum) : 1.0;
        };
        double step = 1;
        for (std::size_t a = 0; a < u.size(); ++a) step = std::min(step, reach(a));
        for (std::size_t a = 0; a < u.size(); ++a) {
            const Slot j = members[a];
            const double share = l(j) + step * (u[a] / sum - l(j));
            s_.edit(j) = step < 1 && reach(a) <= step ? 0 : y_[j] * share;
        }
        look();
        return step == 1;
    }

    double tol_;
    SignedColumn<> y_, s_, alpha_;  // s = y l
    Column<double> slack_;
    double rho_ = 0, eta_ = 0;
    std::vector<double> v_;  // per member of the core, while it is open
    bool capped_ = false;
};

}  // namespace onlinesvm
