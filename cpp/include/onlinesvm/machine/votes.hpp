// Pairs of classes that vote: each gives its vote to the class it finds, and sums of decision values,
// squashed below a third of a vote to either side, order those with equal votes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace onlinesvm {

// Which pair of classes a < b a model tells apart: those of a new class come after all others.
struct Duel {
    std::size_t a = 0, b = 1;

    static constexpr std::size_t count(std::size_t classes) { return classes * (classes - 1) / 2; }
    static constexpr std::size_t number(std::size_t c, std::size_t d) {
        return count(std::max(c, d)) + std::min(c, d);
    }
    Duel next() const { return a + 1 < b ? Duel{a + 1, b} : Duel{0, b + 1}; }
    double target(std::size_t c) const { return c == b ? 1 : 0; }  // as the binary model knows c
};

// From the decision value of every pair, positive for its second class; one of 0 gives no vote.
inline void count_votes(const double* f, std::size_t classes, double* out) {
    std::vector<double> sum(classes);
    std::fill_n(out, classes, 0.0);
    for (Duel duel; duel.b < classes; duel = duel.next(), ++f) {
        if (*f != 0) ++out[*f > 0 ? duel.b : duel.a];
        sum[duel.a] -= *f;
        sum[duel.b] += *f;
    }
    for (std::size_t c = 0; c < classes; ++c) out[c] += sum[c] / (3 * (std::abs(sum[c]) + 1));
}

}  // namespace onlinesvm
