// The kernel matrix of a changing set of members with its inverse: solves to the accuracy of the
// matrix, however far the updates of the inverse have drifted.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "onlinesvm/base/interrupt.hpp"
#include "onlinesvm/solver/inverse.hpp"

namespace onlinesvm {

class Gram {
  public:
    std::size_t size() const { return inverse_.size(); }
    std::size_t nbytes() const { return nbytes_of(inverse_, k_); }
    void clear() { inverse_.clear(); }

    auto undoable() { return std::tie(k_, stride_, inverse_); }

    // Adds a member with kernel values `column` to the others and `k` to itself. False, and nothing
    // changed, when no more than `least` of k is left beside what the others explain: then u()
    // holds the combination of the others that equals it.
    bool add(const double* column, double k, double least) {
        const std::size_t n = size();
        solve(column, u_);
        double schur = k;
        for (std::size_t i = 0; i < n; ++i) schur -= column[i] * u_[i];
        reserve(n + 1);
        if (!(schur > least) || !inverse_.add(column, k, least, scratch_)) return false;
        for (std::size_t i = 0; i < n; ++i) k_.edit(place(n, i)) = k_.edit(place(i, n)) = column[i];
        k_.edit(place(n, n)) = k;
        return true;
    }
    const std::vector<double>& u() const { return u_; }

    // Removes the member at place m; the last one takes its place.
    void remove(std::size_t m) {
        const std::size_t last = size() - 1;
        if (m != last) {
            for (std::size_t i = 0; i <= last; ++i) k_.swap(place(i, m), place(i, last));
            for (std::size_t i = 0; i <= last; ++i) k_.swap(place(m, i), place(last, i));
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
        if constexpr (A::loading) {
            a("inverse", inverse_);
            const std::size_t n = size();
            const std::span<const double> k = a.template array<double>("kernel");
            demand(k.size() == checked_mul(n, n), "the kernel matrix does not fit its inverse");
            stride_ = round_up(n, 8);  // no more than the file has
            k_.assign(checked_mul(stride_, stride_), 0.0);
            for (std::size_t i = 0; i < n; ++i)
                std::copy_n(k.data() + i * n, n, k_.edit().data() + place(i, 0));
        } else {
            std::vector<double> k;
            for (std::size_t i = 0; i < size(); ++i)
                k.insert(k.end(), &k_[place(i, 0)], &k_[place(i, 0)] + size());
            a("kernel", k);
            a("inverse", inverse_);
        }
    }

    // Whether row i is, up to the last digits of another machine, the one given.
    template <class V>
    bool has_row(std::size_t i, const V* row) {
        if (!(std::abs(at(i, i) - double(row[i])) <= kDigits * double(row[i]))) return false;
        bool same = true;
        for (std::size_t j = 0; j < size(); ++j)
            same = same && std::abs(at(i, j) - double(row[j])) <=
                               kDigits * std::sqrt(std::abs(at(i, i) * at(j, j)));
        return same;
    }
    bool is_inverted() {
        return inverse_.inverts([&](const double* x, double* y) {
            isa::dense().symv(k_.data(), stride_, size(), x, y);
        });
    }

  private:
    static constexpr double kResidual = 1e-10;
    static constexpr double kDigits = 1e-4;

    std::size_t place(std::size_t i, std::size_t j) const { return i * stride_ + j; }
    double at(std::size_t i, std::size_t j) const { return k_[place(i, j)]; }
    void reserve(std::size_t n) {
        if (n <= stride_) return;
        const std::size_t wider = round_up(n + n / 4 + 16, 8);
        Aligned<double> grown(wider * wider);
        for (std::size_t i = 0; i < stride_; ++i)
            std::copy_n(&k_[place(i, 0)], stride_, grown.data() + i * wider);
        k_ = std::move(grown);
        stride_ = wider;
    }
    // What remains of b, relative to its size.
    double refined(const double* b, std::vector<double>& x) {
        const std::size_t n = size();
        x.resize(n), rest_.resize(n), more_.resize(n);
        inverse_.apply(b, x.data());
        double worst = 0, largest = 0;
        for (int round = 0; round < 2; ++round) {
            isa::dense().symv(k_.data(), stride_, n, x.data(), rest_.data());
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
            const double *row = &k_[place(i, 0)], given = row[i];
            double k = given;  // raised a little where rounding made the rest negative
            for (double more = 1e-16; !inverse_.add(row, k, 0, scratch_); more *= 10)
                k = given * (1 + more);
        }
    }

    Ledger<double> k_;
    std::size_t stride_ = 0;
    Inverse inverse_;
    std::vector<double> u_, rest_, more_, scratch_;
};

}  // namespace onlinesvm
