// The smallest ball around balls, from the inner products of their centres alone.
//
// Ball i reaches rho_i far from its centre and stands lift_i above the space of the centres. So R^2
// must be at least (|c - c_i| + rho_i)^2 + lift_i^2, a cone program. For fixed R it is a QP over the
// simplex: with s_i = sqrt(R^2 - lift_i^2), what is left of R up there,
//     v(R) = max_l sum_i l_i (|c_i|^2 + lift_i^2 + 2 s_i rho_i - rho_i^2) - |sum_i l_i c_i|^2,
// and the answer is the root of v(R) = R^2, with the centre sum_i l_i c_i.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "onlinesvm/solver/cholesky.hpp"

namespace onlinesvm {

// max b'l - l'Gl over the simplex, G positive definite: an active set that ends exactly.
class SimplexQP {
  public:
    SimplexQP(std::span<const double> G, std::size_t n) : G(G), n(n), l(n), slope(n) {
        for (std::size_t i = 0; i < n; ++i) shift = std::max(shift, G[i * n + i]);
    }

    const std::vector<double>& maximise(std::span<const double> b) {
        start(b);
        for (std::size_t round = 0; round < 20 * n + 20; ++round) {
            const std::size_t best = steepest(b);
            if (best == n) break;
            members.push_back(best);
            if (!settle(b)) break;
        }
        return l;
    }

    double value(std::span<const double> b) const {
        double linear = 0.0, square = 0.0;
        for (std::size_t i : members) {
            linear += b[i] * l[i];
            for (std::size_t j : members) square += l[i] * l[j] * G[i * n + j];
        }
        return linear - square;
    }

  private:
    std::span<const double> G;
    std::size_t n;
    double shift = 1e-300;  // added to all of G, which moves no optimum: a centre may be 0
    std::vector<double> l, slope;
    std::vector<std::size_t> members;  // those with l > 0
    Cholesky factor;
    std::vector<double> target, ones;

    void start(std::span<const double> b) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < n; ++i)
            if (b[i] - G[i * n + i] > b[best] - G[best * n + best]) best = i;
        std::fill(l.begin(), l.end(), 0.0);
        l[best] = 1.0;
        members.assign(1, best);
    }

    // The outsider whose slope exceeds that of the members most; n: none does.
    std::size_t steepest(std::span<const double> b) {
        double common = 0.0, scale = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            slope[i] = b[i];
            for (std::size_t j : members) slope[i] -= 2.0 * G[i * n + j] * l[j];
            common += l[i] * slope[i];
            scale = std::max(scale, std::abs(b[i]) + G[i * n + i]);
        }
        std::size_t best = n;
        double most = common + 1e-14 * scale;
        for (std::size_t i = 0; i < n; ++i)
            if (l[i] == 0.0 && slope[i] > most) most = slope[best = i];
        return best;
    }

    // To the optimum over the members, leaving behind those that would turn negative. False: the
    // newcomer was left at once, so rounding is all that remains.
    bool settle(std::span<const double> b) {
        for (;;) {
            const std::vector<double>& u = unconstrained(b);
            const auto reach = [&](std::size_t k) {  // how much of the way stays positive
                const double before = l[members[k]];
                if (u[k] > 0.0) return std::numeric_limits<double>::infinity();
                return before > 0.0 ? before / (before - u[k]) : 0.0;
            };
            double step = 1.0;
            for (std::size_t k = 0; k < members.size(); ++k) step = std::min(step, reach(k));
            bool dropped = false;
            for (std::size_t k = 0; k < members.size(); ++k) {
                const double before = l[members[k]];
                const bool bound = reach(k) <= step;
                l[members[k]] = bound ? 0.0 : before + step * (u[k] - before);
                dropped = dropped || bound;
            }
            if (!dropped) return true;
            std::erase_if(members, [&](std::size_t i) { return l[i] == 0.0; });
            if (step == 0.0) return false;
        }
    }

    // 2 G u = b - nu 1 over the members, with nu such that u sums to one; by Cholesky.
    const std::vector<double>& unconstrained(std::span<const double> b) {
        const std::size_t m = members.size();
        target.resize(m);
        ones.assign(m, 1.0);
        for (std::size_t i = 0; i < m; ++i) target[i] = b[members[i]];
        factor.factor(m, [&](std::size_t i, std::size_t j) {
            return 2.0 * (G[members[i] * n + members[j]] + shift);
        });
        factor.solve(target);
        factor.solve(ones);
        double sum = 0.0, units = 0.0;
        for (std::size_t i = 0; i < m; ++i) sum += target[i], units += ones[i];
        const double nu = (sum - 1.0) / units;
        for (std::size_t i = 0; i < m; ++i) target[i] -= nu * ones[i];
        return target;
    }
};

struct EnclosingBall {
    double R;
    std::vector<double> l;  // shares of the given centres in the new one
};

// G: inner products of the n centres, row-major; rho: radii; lift2: squared lifts.
class BallsToEnclose {
  public:
    BallsToEnclose(std::span<const double> G, std::span<const double> rho,
                   std::span<const double> lift2)
        : G(G), rho(rho), lift2(lift2), n(rho.size()) {}

    EnclosingBall solve() {
        for (std::size_t i = 0; i < n; ++i)
            if (bound(i)) {  // one ball holds all others
                EnclosingBall whole{reach(0.0, i), std::vector<double>(n)};
                whole.l[i] = 1.0;
                return whole;
            }
        SimplexQP qp(G, n);
        std::vector<double> b(n), slope(n), l;
        double R = low;
        for (int round = 0; round < 100; ++round) {  // Newton, kept inside [low, high]
            for (std::size_t i = 0; i < n; ++i) {
                const double s = lift2[i] > 0.0 ? std::sqrt(std::max(0.0, R * R - lift2[i])) : R;
                b[i] = G[i * n + i] + lift2[i] + (2.0 * s - rho[i]) * rho[i];
                slope[i] = rho[i] > 0.0 ? 2.0 * rho[i] * R / s : 0.0;
            }
            l = qp.maximise(b);
            const double excess = qp.value(b) - R * R;
            double down = 2.0 * R;
            for (std::size_t i = 0; i < n; ++i) down -= l[i] * slope[i];
            (excess > 0.0 ? low : high) = R;
            double next = R + excess / down;
            if (!(next >= low && next <= high)) next = 0.5 * (low + high);
            const bool still = std::abs(next - R) <= 1e-15 * R;
            R = next;
            if (still) break;
        }
        return {R, std::move(l)};
    }

  private:
    std::span<const double> G, rho, lift2;
    std::size_t n;
    double low = 0.0, high = std::numeric_limits<double>::infinity();  // of R

    // The radius that holds ball i, of one whose centre is at distance d.
    double reach(double d, std::size_t i) const {
        return lift2[i] > 0.0 ? std::sqrt((d + rho[i]) * (d + rho[i]) + lift2[i]) : d + rho[i];
    }
    // What ball i says of R; whether it holds all others.
    bool bound(std::size_t i) {
        const double own = reach(0.0, i);
        double all = own;  // from c_i around everything
        low = std::max(low, own);
        for (std::size_t j = 0; j < n; ++j) {
            if (i == j) continue;
            const double d2 = G[i * n + i] + G[j * n + j] - 2.0 * G[i * n + j];
            const double d = std::sqrt(std::max(0.0, d2));
            all = std::max(all, reach(d, j));
            low = std::max(low, 0.5 * (d + rho[i] + rho[j]));
        }
        high = std::min(high, all);
        return all <= own;
    }
};

inline EnclosingBall enclosing_ball(std::span<const double> G, std::span<const double> rho,
                                    std::span<const double> lift2) {
    return BallsToEnclose(G, rho, lift2).solve();
}

}  // namespace onlinesvm
