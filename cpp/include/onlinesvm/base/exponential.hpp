// e^t for the short steps of weights that are multiplied: series instead of calls.
#pragma once

#include <cmath>

namespace onlinesvm {

// cosh t and sinh t. Where |t| is small, those of t/4 by their series, then doubled twice: within a
// few units in the last place.
struct Hyperbolic {
    static constexpr double kShort = 1.2;
    double cosh, sinh;

    explicit Hyperbolic(double t) {
        if (!(std::abs(t) <= kShort)) {
            cosh = std::cosh(t), sinh = std::sinh(t);
            return;
        }
        const double x = 0.25 * t, s = x * x;
        const double tail = 1.0 / 362880 + s * (1.0 / 39916800);
        const double sh = x + x * s * (1.0 / 6 + s * (1.0 / 120 + s * (1.0 / 5040 + s * tail)));
        const double sh2 = 2.0 * sh * std::sqrt(1.0 + sh * sh);
        sinh = 2.0 * sh2 * (1.0 + 2.0 * sh * sh), cosh = 1.0 + 2.0 * sh2 * sh2;
    }
};

// e^t
inline double exponential(double t) {
    if (!(std::abs(t) <= Hyperbolic::kShort)) return std::exp(t);
    const double x = 0.25 * t;
    const double tail =
        1.0 / 40320 +
        x * (1.0 / 362880 + x * (1.0 / 3628800 + x * (1.0 / 39916800 + x * (1.0 / 479001600))));
    const double head = 1.0 / 24 + x * (1.0 / 120 + x * (1.0 / 720 + x * (1.0 / 5040 + x * tail)));
    const double root = 1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6 + x * head)));
    const double square = root * root;
    return square * square;
}

}  // namespace onlinesvm
