// A square matrix whose rows and columns come and go at the end: row-major, with room to grow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "onlinesvm/loops/isa.hpp"
#include "onlinesvm/memory/aligned.hpp"
#include "onlinesvm/memory/undo.hpp"
#include "onlinesvm/state/archive.hpp"
#include "onlinesvm/state/checked.hpp"

namespace onlinesvm {

class Square {
  public:
    std::size_t nbytes() const { return values_.nbytes(); }
    // What nbytes is at most for n rows: while a call can be taken back, there are two.
    static std::size_t footprint(std::size_t n) {
        return 2 * checked_mul(wider(n), wider(n)) * sizeof(double);
    }
    auto undoable() { return std::tie(values_, stride_); }

    double operator()(std::size_t i, std::size_t j) const { return values_[i * stride_ + j]; }
    const double* row(std::size_t i) const { return values_.data() + i * stride_; }
    double* edit_row(std::size_t i) { return values_.edit().data() + i * stride_; }
    double& edit(std::size_t i, std::size_t j) { return values_.edit(i * stride_ + j); }
    void swap(std::size_t i, std::size_t j, std::size_t k, std::size_t l) {
        values_.swap(i * stride_ + j, k * stride_ + l);
    }
    // y = A x, of the first n rows and columns.
    void apply(std::size_t n, const double* x, double* y) const {
        isa::dense().symv(values_.data(), stride_, n, x, y);
    }
    // A += c u u', all of it: the old values need no copy.
    void rank_one(std::size_t n, double c, const double* u) {
        const auto [from, to] = values_.renew();
        isa::dense().rank_one(from, to, stride_, n, c, u);
    }
    // The same two of a symmetric matrix of which the lower triangle counts. The u are rows of `us`.
    void apply_lower(std::size_t n, const double* x, double* y) const {
        isa::dense().symv_lower(values_.data(), stride_, n, x, y);
    }
    void add_ranks_lower(std::size_t n, std::span<const double> c, const double* us,
                         std::size_t us_stride) {
        const auto [from, to] = values_.renew();
        isa::dense().add_ranks(from, to, stride_, n, c.data(), us, us_stride, c.size());
    }
    std::size_t room() const { return stride_; }
    // Room for n rows, of which the first `used` hold values.
    void reserve(std::size_t n, std::size_t used) {
        if (n <= stride_) return;
        const std::size_t stride = wider(n);
        Aligned<double> grown(stride * stride);
        for (std::size_t i = 0; i < used; ++i) std::copy_n(row(i), used, grown.data() + i * stride);
        values_ = std::move(grown);
        stride_ = stride;
    }

    // The first n rows and columns, under a name.
    template <class A>
    void state(A& a, const char* name, std::size_t n) {
        if constexpr (A::loading) {
            const std::span<const double> from = a.template array<double>(name);
            demand(from.size() == checked_mul(n, n), "a matrix does not fit its members");
            stride_ = round_up(n, 8);  // no more than the file has
            values_.assign(checked_mul(stride_, stride_), 0.0);
            for (std::size_t i = 0; i < n; ++i) std::copy_n(from.data() + i * n, n, edit_row(i));
        } else {
            std::vector<double> packed;
            for (std::size_t i = 0; i < n; ++i) packed.insert(packed.end(), row(i), row(i) + n);
            a(name, packed);
        }
    }

    // Their lower triangle alone.
    template <class A>
    void state_lower(A& a, const char* name, std::size_t n) {
        std::vector<double> packed;
        if constexpr (!A::loading)
            for (std::size_t i = 0; i < n; ++i) packed.insert(packed.end(), row(i), row(i) + i + 1);
        a(name, packed);
        if constexpr (A::loading) {
            demand(packed.size() == checked_mul(n, n + 1) / 2, "a matrix does not fit its members");
            stride_ = round_up(n, 8);
            values_.assign(checked_mul(stride_, stride_), 0.0);
            for (std::size_t i = 0, from = 0; i < n; from += ++i)
                std::copy_n(packed.data() + from, i + 1, edit_row(i));
        }
    }

  private:
    static std::size_t wider(std::size_t n) { return round_up(n + n / 4 + 16, 8); }

    Ledger<double> values_;
    std::size_t stride_ = 0;
};

}  // namespace onlinesvm
