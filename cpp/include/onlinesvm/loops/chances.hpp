// Loops from scores to probabilities. Compiled once per instruction set, as those of isa.hpp.
#pragma once

#include <cstddef>

namespace onlinesvm::isa {

struct Chances {
    // sums += weight / (1 + exp(-(slope * score + offset))).
    void (*add_sigmoid)(double slope, double offset, double weight, const double* scores,
                        double* sums, std::size_t n);
    // pairs[2i] = 1 - second[i], pairs[2i + 1] = second[i].
    void (*pair_up)(const double* second, double* pairs, std::size_t n);
};

const Chances& chances();

}  // namespace onlinesvm::isa
