// Curves from scores to probabilities against the same in plain C++, for every length of their tails.
#include "check.hpp"
#include "onlinesvm/methods/calibrate/curves.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

namespace {

std::vector<double> scores_of(std::size_t n) {
    std::mt19937 random(static_cast<unsigned>(n));
    std::normal_distribution<double> from(0.0, 3.0);
    std::vector<double> scores(n);
    for (double& s : scores) s = from(random);
    return scores;
}

void sigmoids(std::size_t n) {
    const std::vector<double> scores = scores_of(n);
    std::vector<double> sums(n, 0.5), pairs(2 * n);
    calibrate::Sigmoid{1.7, -0.4}.add(0.25, scores, sums.data());
    isa::chances().pair_up(sums.data(), pairs.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
        CHECK(close(sums[i], 0.5 + 0.25 / (1 + std::exp(0.4 - 1.7 * scores[i])), 1e-15));
        CHECK(pairs[2 * i] == 1.0 - sums[i] && pairs[2 * i + 1] == sums[i]);
    }
}

// Far out a probability is small, not gone, and its digits count.
void tails() {
    for (const double score : {-600.0, -40.0, 0.0, 40.0, 1e300, -1e300, 1.0 / 0.0, -1.0 / 0.0}) {
        double p = 0;
        calibrate::Sigmoid{1.0, 0.0}.add(1.0, {&score, 1}, &p);
        CHECK(p > 0 && p <= 1);
        const double exact = 1 / (1 + std::exp(-score));
        if (std::abs(score) < 700) CHECK(std::abs(p - exact) <= 4e-16 * exact);
    }
    const double none = std::nan("");
    double p = 0;
    calibrate::Sigmoid{1.0, 0.0}.add(1.0, {&none, 1}, &p);
    CHECK(std::isnan(p));
}

void levels(std::size_t n) {
    std::vector<double> breaks = scores_of(n), values(n + 1);
    std::sort(breaks.begin(), breaks.end());
    for (std::size_t i = 0; i <= n; ++i) values[i] = double(i);
    std::vector<double> scores = scores_of(1500);
    scores.insert(scores.end(), breaks.begin(), breaks.end());  // a break counts as reached
    std::vector<double> sums(scores.size());
    const calibrate::Curve curve{calibrate::Levels{calibrate::Breaks(breaks), values}};
    const calibrate::Share shares[] = {{0.25, &curve}, {0.75, &curve}};
    calibrate::mix(shares, scores, [&](std::size_t first, calibrate::Numbers some) {
        std::copy(some.begin(), some.end(), sums.begin() + std::ptrdiff_t(first));
    });
    for (std::size_t i = 0; i < scores.size(); ++i) {
        const auto reached = std::upper_bound(breaks.begin(), breaks.end(), scores[i]);
        CHECK(sums[i] == double(reached - breaks.begin()));
    }
}

}  // namespace

int main() {
    for (std::size_t n = 0; n < 40; ++n) sigmoids(n);
    tails();
    for (const std::size_t n : {0, 1, 2, 30, 3000}) levels(n);
}
