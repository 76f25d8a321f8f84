// The inverse P of a kernel matrix over a changing set of members: one rank-one change to add or
// remove.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "onlinesvm/base/random.hpp"
#include "onlinesvm/solver/square.hpp"

namespace onlinesvm {

class Inverse {
  public:
    std::size_t size() const { return n_; }
    std::size_t nbytes() const { return p_.nbytes(); }
    static std::size_t footprint(std::size_t n) { return Square::footprint(n); }
    void clear() { n_ = 0; }

    auto undoable() { return std::tie(p_, n_); }

    // y = P x
    void apply(const double* x, double* y) const { p_.apply(n_, x, y); }

    // Starts with the bordered matrix [[0, 1], [1, k]]: one member under the constraint that all
    // together sum to a constant. Place 0 is the multiplier of that constraint, for good.
    void border(double k) {
        p_.reserve(2, 0);
        n_ = 2;
        double *first = p_.edit_row(0), *second = p_.edit_row(1);
        first[0] = -k;
        first[1] = second[0] = 1;
        second[1] = 0;
    }

    // Adds a member with kernel values `column` to the others and `k` to itself. `u` receives P
    // column. False, and nothing changed, when no more than `least` of k is left beside what the
    // others explain.
    bool add(const double* column, double k, double least, std::vector<double>& u) {
        const double schur = explain(column, k, u);
        if (!(schur > least)) return false;
        append(schur, u);
        return true;
    }
    // How much of k is left beside what the others explain, and by which u.
    double explain(const double* column, double k, std::vector<double>& u) const {
        u.resize(n_ + 1);
        apply(column, u.data());
        double schur = k;
        for (std::size_t i = 0; i < n_; ++i) schur -= column[i] * u[i];
        return schur;
    }
    // The member that was explained last joins.
    void append(double schur, const std::vector<double>& u) {
        p_.reserve(n_ + 1, n_);
        p_.rank_one(n_, 1 / schur, u.data());
        double* mine = p_.edit_row(n_);
        for (std::size_t i = 0; i < n_; ++i) mine[i] = p_.edit_row(i)[n_] = -u[i] / schur;
        mine[n_] = 1 / schur;
        ++n_;
    }

    // Removes the member at place m; the last one takes its place.
    void remove(std::size_t m, std::vector<double>& u) {
        u.assign(p_.row(m), p_.row(m) + n_);
        p_.rank_one(n_, -1 / u[m], u.data());
        if (m == --n_) return;
        for (std::size_t i = 0; i < n_; ++i) p_.edit_row(i)[m] = p_.row(i)[n_];
        std::copy_n(p_.row(n_), n_, p_.edit_row(m));
        p_.edit_row(m)[m] = p_(n_, n_);
    }

    // Whether P is an inverse of the matrix K that `times` applies: K P v = v for a v that hangs on
    // every bit of P, so that a file cannot be made to pass it. Updates drift, so much room is
    // left.
    template <class Times>
    bool inverts(Times&& times) {
        std::uint64_t seed = n_;
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t j = 0; j < n_; ++j)
                seed = (seed ^ std::bit_cast<std::uint64_t>(p_(i, j))) * 0x100000001b3u;
        Random random(std::bit_cast<std::int64_t>(seed));
        std::vector<double> v(n_), u(n_), w(n_);
        for (double& x : v) x = random.below(2) ? 1 : -1;
        apply(v.data(), u.data());
        times(u.data(), w.data());
        for (std::size_t i = 0; i < n_; ++i)
            if (!(std::abs(w[i] - v[i]) <= kDrift)) return false;
        return true;
    }

    template <class A>
    void state(A& a) {
        a("size", n_);
        p_.state(a, "values", n_);
    }

  private:
    static constexpr double kDrift = 0.1;

    Square p_;
    std::size_t n_ = 0;
};

}  // namespace onlinesvm
