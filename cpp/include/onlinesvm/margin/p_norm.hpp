// Weights in the ball |w|_q <= 1 that are moved where they are theta = grad(w; q), 1/p + 1/q = 1.
//
// grad(v; r)_i = sign(v_i) |v_i|^(r-1) / |v|_r^(r-2) is the gradient of |v|_r^2 / 2; grad(.; p)
// undoes grad(.; q), and |grad(v; q)|_p = |v|_q. So only w is kept: theta of a feature comes from its
// weight and the norm, and where theta stays, w changes by one factor for all features.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "onlinesvm/base/function.hpp"

namespace onlinesvm {

// |x|_p, with the constant feature sqrt(offset).
template <class T>
double p_norm(const Row<T>& x, double offset, double p) {
    const double constant = std::sqrt(offset);
    double largest = constant;
    for (std::size_t i = 0; i < x.size; ++i)
        largest = std::max(largest, std::abs(static_cast<double>(x.values[i])));
    if (largest == 0.0) return 0.0;
    double sum = std::pow(constant / largest, p);
    for (std::size_t i = 0; i < x.size; ++i)
        sum += std::pow(std::abs(static_cast<double>(x.values[i])) / largest, p);
    return largest * std::pow(sum, 1.0 / p);
}

// What is known of one output.
struct InBall {
    double k = 1.0;              // number of the next correction
    double N = 0.0, peak = 0.0;  // |w|_q, and the largest N^p since it was last summed up

    // w += step x, by which |w|^2 grows by `growth`; p = 2.
    template <class T>
    void add(Function<T>& f, std::size_t r, const Example<T>& e, double step, double growth) {
        const Change change{r, step};
        f.add(e, {&change, 1});
        N = std::sqrt(std::max(0.0, N * N + growth));
        if (N > 1.0) f.shrink(r, 1.0 / std::exchange(N, 1.0));
    }

    // theta += step x
    template <class T>
    void mirror(Function<T>& f, std::size_t r, const Example<T>& e, double step, double p) {
        const double q = p / (p - 1.0), unit = N > 0.0 ? N : 1.0;
        const double up = std::pow(unit, 2.0 - q), down = std::pow(unit, 2.0 - p);
        double sum = std::pow(N, p);  // of |theta_i|^p
        f.map(r, e.x, [&](double w, double x) {
            const double theta = std::copysign(std::pow(std::abs(w), q - 1.0) * up, w);
            const double moved = theta + step * x, power = std::pow(std::abs(moved), p - 1.0);
            sum += std::abs(moved) * power - theta * w / down;  // |theta|^(p-1) = |w| / down
            return std::copysign(power * down, moved);
        });
        if (peak = std::max(peak, sum); !(sum > 1e-6 * peak))  // its digits are used up
            peak = sum = f.sum(r, [&](double w) { return std::pow(std::abs(w), q); }) *
                         std::pow(unit, p - q);
        N = std::pow(sum, 1.0 / p);
        const double ball = std::max(1.0, N);
        f.shrink(r, N > 0.0 ? std::pow(N / unit, 2.0 - p) / ball : 0.0);
        N /= ball, peak /= std::pow(ball, p);
    }

    InBall half() const { return {k, N / 2.0, peak}; }

    template <class A>
    void state(A& a) {
        a("k", k), a("norm", N), a("peak", peak);
        if constexpr (A::loading)
            demand(k >= 1.0 && N >= 0.0 && N < 1.001 && peak >= 0.0, "an output is malformed");
    }
};

}  // namespace onlinesvm
