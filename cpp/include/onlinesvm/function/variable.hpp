// One variable of a dual in signed form, and what its optimality condition says: with gradient h it
// may pull upwards only at its upper bound, downwards only at its lower one.
#pragma once

#include <cmath>

namespace onlinesvm {

struct Variable {
    double base = 0, lo = 0, hi = 0;  // gradient h = base - f
    double s = 0;                     // its value
};

// By how much a coefficient s in [lo, hi] with gradient h violates its condition; a variable without
// room takes no part.
inline double box_violation(double s, double lo, double hi, double h) {
    return (h > 0 ? s < hi : s > lo) ? std::abs(h) : 0;
}

}  // namespace onlinesvm
