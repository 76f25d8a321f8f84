// The path along C over a matrix: optimal at each, examples of weight 0 decided and not learned.
#include <cmath>
#include <random>

#include "check.hpp"
#include "onlinesvm/solver/gram_path.hpp"

using namespace onlinesvm;

int main() {
    constexpr std::size_t n = 120;
    std::mt19937 draws(1);
    std::normal_distribution<double> normal;
    std::vector<double> x(2 * n), y(n), weight(n, 1.0);
    for (double& v : x) v = normal(draws);
    for (std::size_t i = 0; i < n; ++i) {
        y[i] = x[2 * i] * x[2 * i + 1] + 0.3 * normal(draws) > 0 ? 1 : -1;
        if (i % 5 == 0) weight[i] = 0;
    }
    std::vector<float> K(n * n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            K[i * n + j] = float(std::exp(-std::pow(x[2 * i] - x[2 * j], 2) -
                                          std::pow(x[2 * i + 1] - x[2 * j + 1], 2)));
    GramPath path(K.data(), y, weight);
    for (const double C : {0.1, 1.0, 30.0, 1000.0, 2.0}) {
        CHECK(path.solve(C, 1e-6));
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double s = path.coefficients()[i];
            double f = path.bias();
            for (std::size_t j = 0; j < n; ++j) f += path.coefficients()[j] * double(K[i * n + j]);
            CHECK(std::abs(f - path.decision(i)) < 1e-6 * (1 + C));
            sum += s;
            if (weight[i] == 0) {
                CHECK(s == 0);
                continue;
            }
            const double alpha = y[i] * s, g = 1 - y[i] * path.decision(i);
            CHECK(alpha >= 0 && alpha <= C);
            if (alpha < C) CHECK(g <= 2e-6);
            if (alpha > 0) CHECK(g >= -2e-6);
        }
        CHECK(std::abs(sum) < 1e-9 * C * n);
    }
}
