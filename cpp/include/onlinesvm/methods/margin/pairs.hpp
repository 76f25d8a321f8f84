// Two positive weights for each feature, u and v, of which a function holds the difference u - v.
//
// Beside it the smaller of the two is kept: the larger comes from it by adding, which loses no digits,
// so that a weight that was multiplied down can come up again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "onlinesvm/function/function.hpp"

namespace onlinesvm {

// What a feature of 1 multiplies a weight by; other features are its exponents.
struct Factor {
    double base, log = std::log(base);

    double operator()(double s) const { return std::pow(base, std::min(s, kMost)); }
    // The same for loops, as long as it is short: of features up to `top`.
    bool is_short(double top) const { return std::abs(log) * top <= isa::kShort; }
    isa::Growth growth(double unit) const { return {log * unit, 1.0, (*this)(unit)}; }

  private:
    static constexpr double kMost = 100.0;
};

// w_i <- w_i factor^(unit x_i), of positive weights and features from 0 to 1. Weights do not become 0
// but by a factor of 0, and could not grow again.
template <class T>
void multiply(Function<T>& f, std::size_t r, const Row<T>& x, const Factor& factor, double unit) {
    const double least = kLeastWeight / f.scale(r);
    f.sweep(r, x, [&](const isa::Lazy& v, const T* x, std::size_t n) {
        if (factor.is_short(unit))
            return isa::moves<T>().stretch(v, x, n, factor.growth(unit), isa::kShort, least);
        for (std::size_t i = 0; i < n; ++i) {
            const double by = factor(unit * double(x[i]));
            put(v, i, by > 0.0 && v.v[i] > 0.0 ? std::max(by * v.v[i], least) : 0.0);
        }
        return 0.0;
    });
}

// Positive weights that start at 1, and a threshold to reach; 0: half the number of features.
template <class T>
void meet_in_unit_cube(Function<T>& f, const Row<T>& x, double threshold) {
    const isa::Range range = isa::moves<T>().range(x.values, x.size);
    require(range.low >= 0.0 && range.high <= 1.0,
            "X: this variant takes values from 0 to 1; scale them, or take variant='balanced'");
    f.begin(x, 1.0);
    f.set_constant(0, -(threshold > 0.0 ? threshold : 0.5 * static_cast<double>(f.width())));
}

template <class T>
class Pairs {
  public:
    explicit Pairs(const Kernel& kernel) : offset(kernel.offset), least(kernel) {}

    // Features that x is the first to have: u = v = 1. From here on nothing fails.
    void meet(const Row<T>& x) { least.begin(x, 1.0); }

    // For an example counted as pro: u_i <- u_i up^s, v_i <- v_i down^s, with s as large as the feature
    // is beside the largest of x; where x_i < 0, the other way round.
    void exchange(Function<T>& f, std::size_t r, const Row<T>& x, double pro, const Factor& up,
                  const Factor& down) {
        const isa::Range range = isa::moves<T>().range(x.values, x.size);
        const double largest = std::max({std::sqrt(offset), -range.low, range.high});
        if (!(largest > 0.0)) return;
        const double top = std::abs(pro), a = f.scale(r);
        const isa::Range bounds{kSmall / a, kLarge / a};
        const bool is_short = up.is_short(top) && down.is_short(top);
        f.sweep(r, least, x, [&](const isa::Lazy& v, double* m, const T* x, std::size_t n) {
            if (is_short)
                isa::moves<T>().exchange(v, m, x, n, pro / largest, up.growth(1.0),
                                         down.growth(1.0), bounds);
            else
                exchange_far(v, m, x, n, pro / largest, up, down, bounds);
            return 0.0;
        });
    }

    void resize(std::size_t outputs) {
        const std::size_t had = least.outputs();
        if (outputs <= had) return;
        least.resize(outputs);
        for (std::size_t r = had; r < outputs; ++r) least.fill(r, 1.0);
    }
    // Two classes have become three: the one has u and v as they are, the other has them exchanged.
    void split(Function<T>& f) {
        resize(2);
        for (std::size_t r : {1, 0}) least.copy(0, r, 0.5);
        for (std::size_t r : {0, 1}) f.shrink(r, 2.0), least.shrink(r, 2.0);  // f was halved
    }

    auto undoable() { return std::tie(least); }
    template <class A>
    void state(A& a) {
        a("least", least);
    }
    void demand_fits(const Function<T>& f, bool used) const {
        demand(least.outputs() == f.outputs() && least.width() == (used ? f.width() : 0) &&
                   (used || f.outputs() == 1),
               "the pairs of weights do not fit their function");
        for (std::size_t r = 0; r < f.outputs(); ++r)
            demand(!used || least.scale(r) == f.scale(r), "the pairs of weights have two scales");
    }

  private:
    static constexpr double kSmall = 1e-100, kLarge = 1e100;  // from which weights come back

    double offset;
    Function<T> least;  // of the same scale as the function

    static void exchange_far(const isa::Lazy& v, double* m, const T* x, std::size_t n, double unit,
                             const Factor& up, const Factor& down, const isa::Range& bounds) {
        for (std::size_t i = 0; i < n; ++i) {
            const double step = unit * double(x[i]), s = std::abs(step), w = v.v[i];
            if (step == 0.0) continue;
            const double plus = (m[i] + std::max(0.0, w)) * (step > 0.0 ? up(s) : down(s));
            const double minus = (m[i] + std::max(0.0, -w)) * (step > 0.0 ? down(s) : up(s));
            const double a = std::clamp(plus, bounds.low, bounds.high);
            const double b = std::clamp(minus, bounds.low, bounds.high);
            m[i] = std::min(a, b);
            put(v, i, a - b);
        }
    }
};

}  // namespace onlinesvm
