// A basis of linearly independent examples: one joins if it is further than eta from the span of
// those before (Orabona et al.: On-line Independent Support Vector Machines, 2010, section 3).
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "onlinesvm/function/score.hpp"
#include "onlinesvm/solver/inverse.hpp"

namespace onlinesvm {

template <class T>
class Basis {
  public:
    Basis(const Kernel& kernel, double eta, bool bias)
        : eta(eta), bias(bias), rows(kernel, kBytes) {
        if (bias) widen({}, kRidge);
    }

    std::size_t size() const { return rows.size(); }
    // Unknowns of a function in the span: a bias first, where there is one, and a beta each.
    std::size_t unknowns() const { return bias + size(); }
    std::size_t first() const { return bias; }
    const Store<T>& store() const { return rows.store(); }
    const Square& penalty() const { return penalty_; }

    void expect(std::span<const Row<T>> coming) { rows.expect(coming); }
    void turn(std::size_t i) { rows.turn(i); }
    // Reads the example about to be learned. Its z is 1 for the bias, where there is one, and its
    // kernel values: f(x) = z'theta.
    void read(const Row<T>& x) {
        KernelRow<T> row = rows.arriving(x);
        z_.assign(bias, T(1));
        z_.insert(z_.end(), row.data(), row.data() + size());
        rows.recycle(std::move(row));
    }
    std::span<const T> z() const { return z_; }
    // Whether it is independent, delta = k(x, x) - k' Kinv k > eta; then it has joined. A delta that is
    // a small share of k(x, x) is rounding.
    bool joins(const Row<T>& x, Id id) {
        const double k = store().self(x);
        column.assign(z_.begin() + std::ptrdiff_t(bias), z_.end());
        if (!inverse.add(column.data(), k, std::max(eta, kFloor * k), d)) return false;
        rows.admit(rows.push(x, Id(std::int64_t(size()))));
        names.push_back(id);
        z_.push_back(static_cast<T>(k));
        column.insert(column.begin(), bias, 0.0);
        widen(column, k);
        return true;
    }
    // The example is gone; its vector stays, without a name.
    void forget(Id id) {
        const auto at = std::find(names.begin(), names.end(), id);
        if (at != names.end()) names.edit(std::size_t(at - names.begin())) = kNoId;
    }
    Support<T> support(std::span<const double* const> beta) const {
        std::vector<Slot> all;
        for (Slot j{}; j < size(); ++j) all.push_back(j);
        Support<T> out = examples_of(rows, all, beta);
        out.ids = names;
        return out;
    }

    auto undoable() { return std::tie(rows, names, inverse, penalty_); }
    std::size_t nbytes() const {
        return rows.nbytes() + names.nbytes() + inverse.nbytes() + penalty_.nbytes();
    }
    template <class A>
    void state(A& a) {
        a("rows", rows), a("names", any(names)), a("inverse", inverse);
        if constexpr (A::loading) loaded();
    }

    const std::vector<Id>& ids() const { return names; }

  private:
    static constexpr std::size_t kBytes = std::size_t(1) << 26;  // for kernel rows to come
    static constexpr double kRidge = 1e-10;  // of the bias, which otherwise costs nothing
    static constexpr double kFloor =
        std::max(1e-6, 1e3 * double(std::numeric_limits<T>::epsilon()));

    void widen(std::span<const double> column, double own) {
        const std::size_t n = column.size();
        penalty_.reserve(n + 1, n);
        for (std::size_t i = 0; i < n; ++i)
            penalty_.edit_row(i)[n] = penalty_.edit_row(n)[i] = column[i];
        penalty_.edit_row(n)[n] = own;
    }
    void loaded() {
        const std::size_t n = size();
        demand(names.size() == n && inverse.size() == n && rows.active() == n,
               "the basis does not fit together");
        std::vector<Id> known;
        std::copy_if(names.begin(), names.end(), std::back_inserter(known),
                     [](Id id) { return id != kNoId; });
        std::sort(known.begin(), known.end());
        demand(std::adjacent_find(known.begin(), known.end()) == known.end(),
               "the basis names an example twice");
        for (Slot j{}; j < n; ++j)
            demand(rows.id(j) == Id(std::int64_t(j)), "the basis is out of order");
        for (Slot j{}; j < n; ++j) {
            const Aligned<T> k = rows.values_of(j);
            column.assign(bias, 0.0);
            column.insert(column.end(), k.begin(), k.begin() + std::ptrdiff_t(j));
            widen(column, k[j]);
        }
        demand(inverse.inverts([&](const double* x, double* y) {
            for (std::size_t i = 0; i < n; ++i)
                y[i] = isa::table<double>().dot(penalty_.row(bias + i) + bias, x, n);
        }),
               "the inverse is not that of the basis");
    }

    double eta;
    std::size_t bias;  // unknowns of it: 1 or 0
    KernelCache<T> rows;
    PlainLedger<Id> names;  // the examples that they are
    Inverse inverse;        // of their kernel matrix
    Square penalty_;        // P of |w|^2 = theta'P theta: the ridge, and the kernel matrix
    std::vector<T> z_;
    std::vector<double> column, d;
};

}  // namespace onlinesvm
