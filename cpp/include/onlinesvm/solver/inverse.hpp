// The inverse P of a kernel matrix over a changing set of members: one rank-one change to add or
// remove.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "onlinesvm/base/aligned.hpp"
#include "onlinesvm/base/archive.hpp"
#include "onlinesvm/base/checked.hpp"
#include "onlinesvm/base/isa.hpp"
#include "onlinesvm/base/random.hpp"
#include "onlinesvm/base/undo.hpp"

namespace onlinesvm {

class Inverse {
  public:
    std::size_t size() const { return n_; }
    std::size_t nbytes() const { return p_.nbytes(); }
    void clear() { n_ = 0; }

    auto undoable() { return std::tie(p_, n_, stride_); }

    // y = P x
    void apply(const double* x, double* y) const {
        isa::dense().symv(p_.data(), stride_, n_, x, y);
    }

    // Starts with the bordered matrix [[0, 1], [1, k]]: one member under the constraint that all
    // together sum to a constant. Place 0 is the multiplier of that constraint, for good.
    void border(double k) {
        n_ = 0;
        reserve(2);
        n_ = 2;
        double *first = row(0), *second = row(1);
        first[0] = -k;
        first[1] = second[0] = 1;
        second[1] = 0;
    }

    // Adds a member with kernel values `column` to the others and `k` to itself. `u` receives P
    // column. False, and nothing changed, when no more than `least` of k is left beside what the
    // others explain.
    bool add(const double* column, double k, double least, std::vector<double>& u) {
        u.resize(n_ + 1);
        apply(column, u.data());
        double schur = k;
        for (std::size_t i = 0; i < n_; ++i) schur -= column[i] * u[i];
        if (!(schur > least)) return false;
        reserve(n_ + 1);
        change(1 / schur, u);
        double* mine = row(n_);
        for (std::size_t i = 0; i < n_; ++i) mine[i] = row(i)[n_] = -u[i] / schur;
        mine[n_] = 1 / schur;
        ++n_;
        return true;
    }

    // Removes the member at place m; the last one takes its place.
    void remove(std::size_t m, std::vector<double>& u) {
        const double* out = &p_[m * stride_];
        u.assign(out, out + n_);
        change(-1 / u[m], u);
        if (m != --n_) {
            for (std::size_t i = 0; i < n_; ++i) row(i)[m] = row(i)[n_];
            std::copy_n(row(n_), n_, row(m));
            row(m)[m] = row(n_)[n_];
        }
    }

    // Whether P is an inverse of the matrix K that `times` applies: K P v = v for a v that hangs on
    // every bit of P, so that nobody can choose P by it. Updates drift, so much room is left.
    template <class Times>
    bool inverts(Times&& times) {
        std::uint64_t seed = n_;
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t j = 0; j < n_; ++j)
                seed = (seed ^ std::bit_cast<std::uint64_t>(at(i, j))) * 0x100000001b3u;
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
        if constexpr (A::loading) {
            const std::span<const double> p = a.template array<double>("values");
            demand(p.size() == checked_mul(n_, n_), "the inverse is not square");
            stride_ = round_up(n_, 8);  // no more than the file has
            p_.assign(checked_mul(stride_, stride_), 0.0);
            for (std::size_t i = 0; i < n_; ++i) std::copy_n(p.data() + i * n_, n_, row(i));
        } else {
            std::vector<double> p;
            for (std::size_t i = 0; i < n_; ++i)
                p.insert(p.end(), &p_[i * stride_], &p_[i * stride_] + n_);
            a("values", p);
        }
    }

  private:
    static constexpr double kDrift = 0.1;

    // P += c u u', all of it: the old values need no copy.
    void change(double c, const std::vector<double>& u) {
        const auto [from, to] = p_.renew();
        isa::dense().rank_one(from, to, stride_, n_, c, u.data());
    }
    double at(std::size_t i, std::size_t j) const { return p_[i * stride_ + j]; }
    double* row(std::size_t i) { return p_.edit().data() + i * stride_; }
    void reserve(std::size_t n) {
        if (n <= stride_) return;
        const std::size_t wider = round_up(n + n / 4 + 16, 8);
        Aligned<double> grown(wider * wider);
        for (std::size_t i = 0; i < n_; ++i)
            std::copy_n(&p_[i * stride_], n_, grown.data() + i * wider);
        p_ = std::move(grown);
        stride_ = wider;
    }

    Ledger<double> p_;
    std::size_t n_ = 0, stride_ = 0;
};

}  // namespace onlinesvm
