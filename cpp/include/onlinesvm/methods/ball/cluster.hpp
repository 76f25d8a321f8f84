// A few balls known by their radii and by the inner products of their centres.
//
// A centre has a feature part, kept elsewhere, and a slack part, of which only the squared length
// matters: balls are built from disjoint examples, so their slack parts are orthogonal.
//
// A ball is an SVM only if its points are equally long, and weights give them unlike slacks. So a
// point stands above the space of the centres by what it lacks of the longest slack, its lift
// (Tsang et al. 2007, the centre-constrained ball).
//
// A centre c = sum l_n Z_n is a convex combination of the points, so by the dual of the smallest
// ball, R*^2 = max_l sum l_n |Z_n|^2 - |sum l_n Z_n|^2, every l is a lower bound on R*. The best one
// met so far is kept with the ball: it says how far R can be from R*, whatever was united.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "onlinesvm/solver/enclosing_ball.hpp"
#include "onlinesvm/state/archive.hpp"
#include "onlinesvm/state/checked.hpp"

namespace onlinesvm {

struct Ball {
    double rho = 0.0;     // along the space of the centres no point is farther from the centre
    double lift2 = 0.0;   // squared, and no point is less high above it
    double xi2 = 0.0;     // squared length of the slack part of the centre
    std::int64_t M = 0;   // examples that shaped it
    double square = 0.0;  // sum l_n |Z_n|^2 of the centre's points
    double lower2 = 0.0;  // no ball around the points is smaller than its root

    double R() const { return reach(0.0); }
    // The radius that holds it, of a ball whose centre is at distance d.
    double reach(double d) const {
        return lift2 > 0.0 ? std::sqrt((d + rho) * (d + rho) + lift2) : d + rho;
    }
    void lift(double rise) {  // a longer slack came
        lift2 += rise;
        square += rise;
        lower2 += rise;
    }

    template <class A>
    void state(A& a) {
        a("rho", rho), a("lift2", lift2), a("xi2", xi2), a("M", M), a("square", square);
        a("lower2", lower2);
        if constexpr (A::loading)
            demand(rho >= 0.0 && lift2 >= 0.0 && xi2 >= 0.0 && M >= 1, "a ball is malformed");
    }
};

// The smallest ball around two, its centre (1 - tau) c_1 + tau c_2.
struct Union {
    double R, tau;
};

// (tau d + rho_1)^2 + lift_1^2 = ((1 - tau) d + rho_2)^2 + lift_2^2, unless one ball holds the other.
inline Union unite(const Ball& one, const Ball& two, double d) {
    const double width = d + one.rho + two.rho;
    const double step = width > 0.0
                            ? 0.5 * (d + two.rho - one.rho + (two.lift2 - one.lift2) / width)
                            : two.lift2 - one.lift2;
    if (step <= 0.0) return {one.R(), 0.0};
    if (step >= d) return {two.R(), 1.0};
    return {one.reach(step), step / d};
}

// The radius along the space of the centres that is left of R by a lift.
inline double under(double lift2, double R) {
    return lift2 > 0.0 ? std::sqrt(std::max(0.0, R * R - lift2)) : R;
}

// The best dual value between two centres at distance d, from the dual values a and b of each:
// the maximum over tau in [0, 1] of (1 - tau) a + tau b + tau (1 - tau) d^2.
inline double best_dual(double a, double b, double d2) {
    const double tau = d2 > 0.0 ? std::clamp(0.5 + 0.5 * (b - a) / d2, 0.0, 1.0) : b > a;
    return (1.0 - tau) * a + tau * b + tau * (1.0 - tau) * d2;
}

class Cluster {
  public:
    // Of a dual value: kernel values may be float32, and what is kept of them is a convex combination.
    static constexpr double kRounding = 1e-5;

    std::vector<Ball> balls;
    std::vector<double> dots;  // of the feature parts, size() x size()

    std::size_t size() const { return balls.size(); }
    double& dot(std::size_t i, std::size_t j) { return dots[i * size() + j]; }
    double dot(std::size_t i, std::size_t j) const { return dots[i * size() + j]; }

    // The distance of two centres, from |feature part|^2 and inner product of the second one.
    double distance(std::size_t i, double inner, double norm2, double xi2) const {
        const double d2 = dot(i, i) - 2.0 * inner + norm2;
        return std::sqrt(std::max(0.0, d2) + balls[i].xi2 + xi2);
    }
    double distance(std::size_t i, std::size_t j) const {
        return distance(i, dot(i, j), dot(j, j), balls[j].xi2);
    }

    // The dual value of centre i, less what rounding may have added to it.
    double dual(std::size_t i) const {
        return (1.0 - kRounding) * balls[i].square - dot(i, i) - balls[i].xi2;
    }
    // A lower bound on the squared radius of any ball around all points of all balls.
    double lower2() const {
        double best = 0.0;
        for (std::size_t i = 0; i < size(); ++i) {
            best = std::max(best, balls[i].lower2);
            for (std::size_t j = 0; j < i; ++j) best = std::max(best, lower2(i, j));
        }
        return best;
    }
    double lower2(std::size_t i, std::size_t j) const {
        const double d = distance(i, j);
        return std::max({balls[i].lower2, balls[j].lower2,
                         best_dual(dual(i), dual(j), (1.0 - kRounding) * d * d)});
    }

    // `inner`: products with the centres before it.
    void push(Ball ball, std::span<const double> inner, double norm2) {
        const std::size_t n = size();
        std::vector<double> wider((n + 1) * (n + 1));
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) wider[i * (n + 1) + j] = dot(i, j);
            wider[i * (n + 1) + n] = wider[n * (n + 1) + i] = inner[i];
        }
        wider.back() = norm2;
        dots = std::move(wider);
        balls.push_back(ball);
    }

    // Ball i becomes the union of i and j, and the last ball takes the place of j.
    Union merge(std::size_t i, std::size_t j) {
        const Union u = unite(balls[i], balls[j], distance(i, j));
        const double keep = 1.0 - u.tau, bound = lower2(i, j);
        const double norm2 =
            keep * keep * dot(i, i) + 2.0 * u.tau * keep * dot(i, j) + u.tau * u.tau * dot(j, j);
        for (std::size_t k = 0; k < size(); ++k)
            dot(i, k) = dot(k, i) = keep * dot(i, k) + u.tau * dot(j, k);
        dot(i, i) = std::max(0.0, norm2);
        const double lift2 = std::min(balls[i].lift2, balls[j].lift2);
        balls[i] = {under(lift2, u.R),
                    lift2,
                    keep * keep * balls[i].xi2 + u.tau * u.tau * balls[j].xi2,
                    balls[i].M + balls[j].M,
                    keep * balls[i].square + u.tau * balls[j].square,
                    bound};
        remove(j);
        return u;
    }

    // The one ball becomes that around it and n - 1 points: radius R, shares l of the centres whose
    // products are G.
    template <class Slack>
    void replace(double R, std::span<const double> l, std::span<const double> G,
                 std::span<const double> lifts2, Slack&& slack) {
        const std::size_t n = l.size();
        Ball& ball = balls[0];
        double norm2 = 0.0, xi2 = l[0] * l[0] * ball.xi2, square = l[0] * ball.square;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) norm2 += l[i] * l[j] * G[i * n + j];
        for (std::size_t i = 1; i < n; ++i) {
            xi2 += l[i] * l[i] * slack(i);
            square += l[i] * (G[i * n + i] + lifts2[i]);
        }
        const double lift2 = *std::min_element(lifts2.begin(), lifts2.end());
        dots[0] = std::max(0.0, norm2 - xi2);
        ball = {under(lift2, std::max(R, ball.R())),       lift2,  xi2,
                ball.M + static_cast<std::int64_t>(n - 1), square, ball.lower2};
        ball.lower2 = std::max(ball.lower2, dual(0));
    }

    // The one centre moves tau of the way to a point that has a share in it already.
    void pull(double tau, double inner, double norm2, double slack, double share, double length2) {
        const double keep = 1.0 - tau, both = 2.0 * tau * keep;
        dots[0] = std::max(0.0, keep * keep * dots[0] + both * inner + tau * tau * norm2);
        balls[0].xi2 = keep * keep * balls[0].xi2 + (both * share + tau * tau) * slack;
        balls[0].square = keep * balls[0].square + tau * length2;
    }

    // Ball i goes to place[i].
    void reorder(std::span<const std::size_t> place) {
        const Cluster old = *this;
        for (std::size_t i = 0; i < size(); ++i) {
            balls[place[i]] = old.balls[i];
            for (std::size_t j = 0; j < size(); ++j) dot(place[i], place[j]) = old.dot(i, j);
        }
    }

    void lift(double rise) {
        for (Ball& ball : balls) ball.lift(rise);
    }

    // The two balls, i < j, whose union is smallest.
    std::pair<std::size_t, std::size_t> closest() const {
        std::pair<std::size_t, std::size_t> pair{0, 1};
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < size(); ++i)
            for (std::size_t j = i + 1; j < size(); ++j) {
                const double R = unite(balls[i], balls[j], distance(i, j)).R;
                if (R < least) least = R, pair = {i, j};
            }
        return pair;
    }

    // The exact ball around all of them.
    EnclosingBall whole() const {
        const std::size_t n = size();
        if (n == 1) return {balls[0].R(), {1.0}};
        std::vector<double> G = dots, rho(n), lift2(n);
        for (std::size_t i = 0; i < n; ++i) {
            G[i * n + i] += balls[i].xi2;
            rho[i] = balls[i].rho;
            lift2[i] = balls[i].lift2;
        }
        return enclosing_ball(G, rho, lift2);
    }

    template <class A>
    void state(A& a) {
        a("balls", balls);
        a("dots", dots);
        if constexpr (A::loading) {
            demand(dots.size() == checked_mul(size(), size()), "the balls do not fit their shape");
            for (std::size_t i = 0; i < size(); ++i)
                demand(dot(i, i) >= 0.0, "the balls do not fit their shape");
        }
    }

  private:
    void remove(std::size_t j) {
        const std::size_t n = size(), last = n - 1;
        for (std::size_t k = 0; k < n; ++k) dot(j, k) = dot(last, k);
        for (std::size_t k = 0; k < n; ++k) dot(k, j) = dot(k, last);
        balls[j] = balls[last];
        std::vector<double> narrower(last * last);
        for (std::size_t i = 0; i < last; ++i)
            for (std::size_t k = 0; k < last; ++k) narrower[i * last + k] = dot(i, k);
        dots = std::move(narrower);
        balls.pop_back();
    }
};

}  // namespace onlinesvm
