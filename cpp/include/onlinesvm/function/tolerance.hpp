// When a solver of the exact family may stop.
#pragma once

namespace onlinesvm {

struct Tolerance {
    double kkt = 1e-3;   // done when no member violates its condition by more,
    double gain = 1e-5;  // or when no single step gains more (times max(1, K_ii))
};

}  // namespace onlinesvm
