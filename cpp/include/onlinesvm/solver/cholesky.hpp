// G = L L' for a small positive definite G, and solutions of G x = b.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "onlinesvm/loops/interrupt.hpp"

namespace onlinesvm {

class Cholesky {
  public:
    // entry(i, j) is asked for j <= i. A pivot that rounding has eaten counts as tiny.
    template <class Entry>
    void factor(std::size_t n, Entry entry) {
        n_ = n;
        L_.resize(n * n);
        for (std::size_t i = 0; i < n; ++i) {
            poll(i * i);
            for (std::size_t j = 0; j <= i; ++j) {
                const double given = entry(i, j);
                double rest = given;
                for (std::size_t k = 0; k < j; ++k) rest -= L_[i * n + k] * L_[j * n + k];
                L_[i * n + j] =
                    i == j ? std::sqrt(std::max(rest, 1e-15 * given)) : rest / L_[j * n + j];
            }
        }
    }

    // b becomes x.
    void solve(std::vector<double>& b) const {
        for (std::size_t i = 0; i < n_; ++i) {
            for (std::size_t k = 0; k < i; ++k) b[i] -= L_[i * n_ + k] * b[k];
            b[i] /= L_[i * n_ + i];
        }
        for (std::size_t i = n_; i-- > 0;) {
            for (std::size_t k = i + 1; k < n_; ++k) b[i] -= L_[k * n_ + i] * b[k];
            b[i] /= L_[i * n_ + i];
        }
    }

  private:
    std::size_t n_ = 0;
    std::vector<double> L_;  // row-major
};

}  // namespace onlinesvm
