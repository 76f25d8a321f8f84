// Weights in the ball |w|_q <= 1 that are moved where they are theta = grad(w; q), 1/p + 1/q = 1.
//
// grad(v; r)_i = sign(v_i) |v_i|^(r-1) / |v|_r^(r-2) is the gradient of |v|_r^2 / 2; grad(.; p)
// undoes grad(.; q), and |grad(v; q)|_p = |v|_q = N. So w_i = N (|theta_i| / N)^(p-1): theta is kept
// beside w, and where theta stays, w changes by one factor for all features.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "onlinesvm/function/function.hpp"

namespace onlinesvm {

inline isa::Exponent exponent(double p) {
    const bool whole = p == std::floor(p) && p <= 1000.0;
    return {p, whole ? static_cast<unsigned>(p) : 0};
}

// |x|_p, where a constant feature adds `own` to the sum of the powers.
template <class T>
double p_norm(const Row<T>& x, const isa::Exponent& p, double own) {
    const isa::Moves<T>& loops = isa::moves<T>();
    const double sum = loops.powers(x.values, x.size, 1.0, p) + own;
    if (sum > 1e-200 && sum < 1e200) return std::pow(sum, 1.0 / p.value);
    const isa::Range range = loops.range(x.values, x.size);
    const double largest = std::max({std::pow(own, 1.0 / p.value), -range.low, range.high});
    if (largest == 0.0) return 0.0;
    const double unit = std::min(1.0 / largest, 1e300);
    const double constant = own > 0.0 ? own / std::pow(largest, p.value) : 0.0;
    return std::pow(loops.powers(x.values, x.size, unit, p) + constant, 1.0 / p.value) / unit;
}

// What is known of one output.
struct InBall {
    double k = 1.0;      // number of the next correction
    double N = 0.0;      // |w|_q
    double trust = 1.0;  // what the sum of |theta_i|^p has fallen to since it was last summed up

    // w += step x, by which |w|^2 grows by `growth`; p = 2.
    template <class T>
    void add(Function<T>& f, std::size_t r, const Example<T>& e, double step, double growth) {
        const Change change{r, step};
        f.add(e, {&change, 1});
        N = std::sqrt(std::max(0.0, N * N + growth));
        if (N > 1.0) f.shrink(r, 1.0 / std::exchange(N, 1.0));
    }

    // theta += step x, which is `far` long.
    template <class T>
    void mirror(Function<T>& f, Function<T>& theta, std::size_t r, const Example<T>& e, double step,
                double far, const isa::Exponent& power) {
        if (!(far > 0.0 && std::isfinite(far))) return;
        const double p = power.value + 1.0;
        const bool fresh = is_nothing_beside(far, power.value);
        if (fresh) f.shrink(r, 0.0), N = far;
        if (power.value * far > kFar * N) f.fold(r);  // as long steps of Simplex do
        double sum = fresh ? 0.0 : 1.0;               // of |theta_i|^p, in units of N^p
        const double a = theta.scale(r);
        const isa::Link link{step / a, a / N, N / f.scale(r), power};
        sum += f.sweep(r, theta, e.x, [&](const isa::Lazy& w, double* at, const T* x, auto n) {
            return isa::moves<T>().mirror(w, at, x, n, link);
        });
        if (trust = fresh ? 1.0 : std::min(1.0, trust * sum); !(trust > 1e-6)) {
            sum = theta.sum(r, [&](double v) { return std::pow(std::abs(v) / N, p); });
            trust = 1.0;  // the digits of what was kept are used up
        }
        const double grown = sum > 0.0 ? std::pow(sum, 1.0 / p) : 0.0;  // N by this factor
        const double ball = std::max(1.0, N * grown);
        f.shrink(r, sum > 0.0 ? grown * grown / sum / ball : 0.0);  // grown^(2-p)
        theta.shrink(r, 1.0 / ball);
        N *= grown / ball;
    }

    InBall half() const { return {k, N / 2.0, trust}; }

    template <class A>
    void state(A& a) {
        a("k", k), a("norm", N), a("trust", trust);
        if constexpr (A::loading)
            demand(k >= 1.0 && N >= 0.0 && N < 1.001 && trust > 0.0 && trust <= 1.0,
                   "an output is malformed");
    }

  private:
    static constexpr double kFar = 1.0;  // weights grow by less than e where (p - 1) far / N is

    // Whether the weights so far are below 1e-150 of those that a step as long as `far` makes, whatever
    // it takes away. The condition in the middle follows from the last, and costs no power.
    bool is_nothing_beside(double far, double power) const {
        return far > 3.0 * N && power * far > 345.0 * N && std::pow(1.0 + far / N, power) > 1e150;
    }
};

// The weights of all outputs, and where p > 2, their thetas.
template <class T>
class UnitBall {
  public:
    std::vector<InBall> of;
    Function<T> theta;

    UnitBall(double p, double offset)
        : theta(linear(offset)),
          p(exponent(p)),
          power(exponent(p - 1.0)),
          own(std::pow(offset, p / 2.0)) {}

    double length(const Function<T>& f, const Row<T>& x) const {
        return p.value == 2.0 ? std::sqrt(f.k(x)) : p_norm(x, p, own);
    }
    // From here on nothing fails.
    void meet(const Row<T>& x, std::size_t outputs) {
        of.resize(outputs);
        if (p.value > 2.0) theta.begin(x, 0.0);
    }
    // Moves f_r by eta along y x / X, with y f_r(x) = m X.
    void move(Function<T>& f, std::size_t r, const Example<T>& e, double y, double eta, double m,
              double X) {
        p.value == 2.0 ? of[r].add(f, r, e, y * eta / X, eta * (2.0 * m + eta))
                       : of[r].mirror(f, theta, r, e, y * eta / X, eta, power);
    }

    // Two classes have become three.
    void split() { of.assign(of.empty() ? 0 : 2, of.empty() ? InBall{} : of[0].half()); }

    void demand_fits(const Function<T>& f) const {
        demand(of.size() <= f.outputs() && theta.outputs() == f.outputs() &&
                   theta.width() == (p.value > 2.0 ? f.width() : 0),
               "the weights do not fit their ball");
    }

  private:
    isa::Exponent p, power;  // p and p - 1
    double own;              // what the constant feature adds to |x|_p^p

    static Kernel linear(double offset) {
        Kernel kernel;
        kernel.shape = Shape::linear, kernel.offset = offset;
        return kernel;
    }
};

}  // namespace onlinesvm
