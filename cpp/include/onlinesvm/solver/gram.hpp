// The kernel matrix of a changing set of members with its inverse: solves to the accuracy of the
// matrix, however far the updates of the inverse have drifted.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "onlinesvm/loops/interrupt.hpp"
#include "onlinesvm/solver/inverse.hpp"

namespace onlinesvm {

class Gram {
  public:
    std::size_t size() const { return inverse_.size(); }
    std::size_t nbytes() const { return nbytes_of(inverse_, k_); }
    void clear() { inverse_.clear(); }

    auto undoable() { return std::tie(k_, inverse_); }

    // Adds a member with kernel values `column` to the others and `k` to itself. False, and nothing
    // changed, when no more than `least` of k is left beside what the others explain: then u()
    // holds the combination of the others that equals it.
    bool add(const double* column, double k, double least) {
        const std::size_t n = size();
        solve(column, u_);
        double schur = k;
        for (std::size_t i = 0; i < n; ++i) schur -= column[i] * u_[i];
        k_.reserve(n + 1, n);
        if (!(schur > least) || !inverse_.add(column, k, least, scratch_)) return false;
        for (std::size_t i = 0; i < n; ++i) k_.edit(n, i) = k_.edit(i, n) = column[i];
        k_.edit(n, n) = k;
        return true;
    }
    const std::vector<double>& u() const { return u_; }

    // Removes the member at place m; the last one takes its place.
    void remove(std::size_t m) {
        const std::size_t last = size() - 1;
        if (m != last) {
            for (std::size_t i = 0; i <= last; ++i) k_.swap(i, m, i, last);
            for (std::size_t i = 0; i <= last; ++i) k_.swap(m, i, last, i);
        }
        inverse_.remove(m, scratch_);
    }

    // K x = b, with one step of refinement; a residual that remains asks for a new inverse.
    void solve(const double* b, std::vector<double>& x) {
        if (refined(b, x) <= kResidual) return;
        rebuild();
        refined(b, x);
    }

    template <class A>
    void state(A& a) {
        a("inverse", inverse_);  // first: it knows the size
        k_.state(a, "kernel", size());
    }

    // Whether row i is, up to the last digits of another machine, the one given.
    template <class V>
    bool has_row(std::size_t i, const V* row) {
        if (!(std::abs(k_(i, i) - double(row[i])) <= kDigits * double(row[i]))) return false;
        bool same = true;
        for (std::size_t j = 0; j < size(); ++j)
            same = same && std::abs(k_(i, j) - double(row[j])) <=
                               kDigits * std::sqrt(std::abs(k_(i, i) * k_(j, j)));
        return same;
    }
    bool is_inverted() {
        return inverse_.inverts([&](const double* x, double* y) { k_.apply(size(), x, y); });
    }

  private:
    static constexpr double kResidual = 1e-10;
    static constexpr double kDigits = 1e-4;

    // What remains of b, relative to its size.
    double refined(const double* b, std::vector<double>& x) {
        const std::size_t n = size();
        x.resize(n), rest_.resize(n), more_.resize(n);
        inverse_.apply(b, x.data());
        double worst = 0, largest = 0;
        for (int round = 0; round < 2; ++round) {
            k_.apply(n, x.data(), rest_.data());
            worst = largest = 0;
            for (std::size_t i = 0; i < n; ++i) {
                rest_[i] = b[i] - rest_[i];
                worst = std::max(worst, std::abs(rest_[i]));
                largest = std::max(largest, std::abs(b[i]));
            }
            if (worst <= 1e-14 * largest) break;
            inverse_.apply(rest_.data(), more_.data());
            for (std::size_t i = 0; i < n; ++i) x[i] += more_[i];
        }
        return largest > 0 ? worst / largest : 0;
    }
    void rebuild() {
        const std::size_t n = size();
        inverse_.clear();
        for (std::size_t i = 0; i < n; ++i) {
            poll(2 * i * i);
            const double *row = k_.row(i), given = row[i];
            double k = given;  // raised a little where rounding made the rest negative
            for (double more = 1e-16; !inverse_.add(row, k, 0, scratch_); more *= 10)
                k = given * (1 + more);
        }
    }

    Square k_;
    Inverse inverse_;
    std::vector<double> u_, rest_, more_, scratch_;
};

}  // namespace onlinesvm
