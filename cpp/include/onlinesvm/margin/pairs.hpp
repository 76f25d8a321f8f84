// Two positive weights for each feature, u and v, of which a function holds the difference u - v.
//
// Beside it the smaller of the two is kept: the larger comes from it by adding, which loses no digits,
// so that a weight that was multiplied down can come up again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "onlinesvm/base/exponential.hpp"
#include "onlinesvm/base/function.hpp"

namespace onlinesvm {

// base^(unit s), of numbers s that come in runs, as bits do, and are then exact; 0^s is 0.
class Power {
  public:
    explicit Power(double base, double unit = 1.0) : base(base), unit(unit), log(std::log(base)) {}

    double operator()(double s) {
        if (s == last) return value;
        last = s, s = std::min(unit * s, kMost);
        return value = s == std::round(s) || base == 0.0 ? std::pow(base, s) : exponential(s * log);
    }

  private:
    static constexpr double kMost = 100.0;
    double base, unit, log, last = 0.0, value = 1.0;
};

// Positive weights that start at 1, and a threshold to reach; 0: half the number of features.
template <class T>
void meet_in_unit_cube(Function<T>& f, const Row<T>& x, double threshold) {
    require(std::all_of(x.values, x.values + x.size, [](T v) { return v >= T(0) && v <= T(1); }),
            "X: this variant takes values from 0 to 1; scale them, or take variant='balanced'");
    f.begin(x, 1.0);
    f.set_constant(0, -(threshold > 0.0 ? threshold : 0.5 * static_cast<double>(f.width())));
}

template <class T>
class Pairs {
  public:
    explicit Pairs(const Kernel& kernel) : offset(kernel.offset), least(kernel) {}

    // Features that x is the first to have: u = v = 1. From here on nothing fails.
    void meet(const Row<T>& x) {
        least.begin(x, 1.0);
        smaller.reserve(x.size + 1);
    }

    // For an example counted as pro: u_i <- u_i promotion^s, v_i <- v_i demotion^s, with s as large as
    // the feature is beside the largest of x; where x_i < 0, the other way round.
    void exchange(Function<T>& f, std::size_t r, const Row<T>& x, double pro, double promotion,
                  double demotion) {
        double largest = std::sqrt(offset);
        for (std::size_t i = 0; i < x.size; ++i)
            largest = std::max(largest, std::abs(static_cast<double>(x.values[i])));
        Power up{promotion}, down{demotion};
        smaller.clear();
        least.map(r, x, [&](double m, double) { return smaller.emplace_back(m); });
        auto m = smaller.begin();
        f.map(r, x, [&](double w, double x_i) {
            const double step = pro * x_i / largest, s = std::abs(step);
            const double u = (*m + std::max(0.0, w)) * (step > 0.0 ? up(s) : down(s));
            const double v = (*m + std::max(0.0, -w)) * (step > 0.0 ? down(s) : up(s));
            const double a = std::clamp(u, kSmall, kLarge), b = std::clamp(v, kSmall, kLarge);
            *m++ = std::min(a, b);
            return a - b;
        });
        m = smaller.begin();
        least.map(r, x, [&](double, double) { return *m++; });
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
        least.copy(0, 1, 1.0);
        for (std::size_t r : {0, 1}) f.shrink(r, 2.0);  // which had halved them
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
    }

  private:
    static constexpr double kSmall = 1e-100, kLarge = 1e100;  // from which weights come back

    double offset;
    Function<T> least;
    std::vector<double> smaller;  // of the features at hand
};

}  // namespace onlinesvm
