// K = L L' for a kernel matrix that gains members and loses none, one row at a time.
//
// Members may nearly depend on each other: what is solved by L stays right where an inverse, kept by
// changes of rank one, does not.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "onlinesvm/loops/isa.hpp"
#include "onlinesvm/memory/aligned.hpp"

namespace onlinesvm {

class GrowingCholesky {
  public:
    std::size_t size() const { return rows_.size(); }

    // Which share of k, a vector's product with itself, is left beside what the members explain, of
    // whose products with it `column` consists.
    double explain(const double* column, double k) {
        row_.resize(size() + 1);
        double left = k;
        for (std::size_t i = 0; i < size(); ++i) {
            const double* const own = rows_[i].data();
            row_[i] = (column[i] - isa::table<double>().dot(own, row_.data(), i)) / own[i];
            left -= row_[i] * row_[i];
        }
        return left;
    }
    // The vector explained last as a combination u of the members, but for what is left.
    void combine(std::vector<double>& u) const {
        u.assign(row_.begin(), row_.begin() + std::ptrdiff_t(size()));
        for (std::size_t i = size(); i-- > 0;) {
            u[i] /= rows_[i][i];
            isa::table<double>().axpy(-u[i], rows_[i].data(), u.data(), i);
        }
    }
    // It joins.
    void append(double left) {
        row_[size()] = std::sqrt(left);
        rows_.push_back(row_);
    }

  private:
    std::vector<Aligned<double>> rows_;  // of L
    Aligned<double> row_;
};

}  // namespace onlinesvm
