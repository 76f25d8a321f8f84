// The equations H x = q of a sum of squares, H = P + sum C z z' and q = sum C t z, while terms come
// and go: H and q follow each at once, and so does the factor H = R'R when it is next needed, by
// rotations where few have changed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "onlinesvm/loops/interrupt.hpp"
#include "onlinesvm/solver/square.hpp"

namespace onlinesvm {

class NormalEquations {
  public:
    std::size_t size() const { return n_; }
    std::size_t nbytes() const {
        return h_.nbytes() + r_.nbytes() + q_.nbytes() + rotations_.capacity() * sizeof(double);
    }

    // H = P, q = 0.
    void begin(const Square& penalty, std::size_t n) {
        n_ = n;
        for (Square* m : {&h_, &r_}) m->reserve(n, 0);
        for (std::size_t i = 0; i < n; ++i) std::copy_n(penalty.row(i), n, h_.edit_row(i));
        q_.assign(n, 0.0);
        rotations_.clear();
        anew_ = true, lost_ = false;
    }
    // H += dH z z', q += dq z.
    template <class T>
    void change(double dH, double dq, const T* z) {
        isa::table<T>().axpy(dq, z, q_.edit().data(), n_);
        if (dH == 0.0) return;
        u_.assign(z, z + n_);
        h_.rank_one(n_, dH, u_.data());
        anew_ = anew_ || rotations_.size() >= n_ * (n_ + 1) / 8;  // then a new factor costs less
        if (anew_) return rotations_.clear();
        rotations_.push_back(dH);
        rotations_.insert(rotations_.end(), u_.begin(), u_.end());
    }
    // One unknown more: its column of H, itself last, and its entry of q.
    void append(std::span<const double> column, double q) {
        if (!anew_) rotate();
        for (Square* m : {&h_, &r_}) m->reserve(n_ + 1, n_);
        for (std::size_t i = 0; i <= n_; ++i) h_.edit_row(i)[n_] = h_.edit_row(n_)[i] = column[i];
        q_.push_back(q);
        u_.assign(column.begin(), column.end() - 1);
        if (!anew_) forward(u_);
        double rest = column[n_];
        for (std::size_t i = 0; i < n_; ++i) {
            r_.edit_row(i)[n_] = u_[i];
            rest -= u_[i] * u_[i];
        }
        r_.edit_row(n_)[n_] = std::sqrt(std::max(rest, kTiny * column[n_]));
        ++n_;
    }

    // Brings the factor up to date. False where a term that went was nearly all there was: what is
    // left of H is then rounding, and begin() must come again.
    bool factor() {
        if (!anew_) rotate();
        if (!anew_) return true;
        for (std::size_t k = 0; k < n_; ++k) {
            poll(k * n_);
            double* row = r_.edit_row(k);
            std::copy_n(h_.row(k) + k, n_ - k, row + k);
            for (std::size_t m = 0; m < k; ++m)
                isa::table<double>().axpy(-r_(m, k), r_.row(m) + k, row + k, n_ - k);
            const double pivot = std::sqrt(std::max(row[k], kTiny * h_(k, k)));
            row[k] = pivot;
            for (std::size_t j = k + 1; j < n_; ++j) row[j] /= pivot;
        }
        anew_ = false;
        return !std::exchange(lost_, false);
    }
    // x = H^-1 q by the factor, refined once.
    void solve(std::vector<double>& x) {
        x.assign(q_.begin(), q_.end());
        forward(x), back(x);
        u_.resize(n_);
        h_.apply(n_, x.data(), u_.data());
        for (std::size_t i = 0; i < n_; ++i) u_[i] = q_[i] - u_[i];
        forward(u_), back(u_);
        for (std::size_t i = 0; i < n_; ++i) x[i] += u_[i];
    }
    // x'Hx/2 - q'x
    double value(const double* x) {
        u_.resize(n_);
        h_.apply(n_, x, u_.data());
        double sum = 0.0;
        for (std::size_t i = 0; i < n_; ++i) sum += x[i] * (0.5 * u_[i] - q_[i]);
        return sum;
    }
    // The same problem with the signs of all t turned.
    void negate() {
        for (double& q : q_.edit()) q = 0.0 - q;
    }

    // Whether a state that was loaded is that of equations just begun from the terms.
    bool is_like(const NormalEquations& fresh) const {
        constexpr double kDrift = 1e-6;
        if (n_ != fresh.n_ || q_.size() != n_) return false;
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t j = 0; j <= i; ++j) {
                double product = 0.0;
                for (std::size_t k = 0; k <= j; ++k) product += r_(k, i) * r_(k, j);
                const double is = fresh.h_(i, j);
                const double room = kDrift * std::sqrt(fresh.h_(i, i) * fresh.h_(j, j));
                if (!(std::abs(h_(i, j) - is) <= room && std::abs(h_(j, i) - is) <= room &&
                      std::abs(product - is) <= room))
                    return false;
            }
        double scale = 1.0;
        for (double q : fresh.q_) scale = std::max(scale, std::abs(q));
        for (std::size_t i = 0; i < n_; ++i)
            if (!(r_(i, i) > 0.0 && std::abs(q_[i] - fresh.q_[i]) <= kDrift * scale)) return false;
        return true;
    }

    auto undoable() { return std::tie(h_, r_, q_, n_); }
    void mark() noexcept {}
    void commit() noexcept {}
    void revert() noexcept {
        rotations_.clear(), anew_ = lost_ = false;
    }  // no call leaves any behind

    template <class A>
    void state(A& a) {
        a("size", n_);
        a("q", q_);
        h_.state(a, "matrix", n_);
        r_.state(a, "factor", n_);
        if constexpr (A::loading) anew_ = false;
    }

  private:
    static constexpr double kTiny = 1e-15;  // of a diagonal entry: a pivot that rounding has eaten
    static constexpr double kLost = 1e-9;   // of a squared pivot: left by a term that went

    // Takes the changes that wait into R.
    void rotate() {
        for (std::size_t at = 0; at < rotations_.size() && !lost_; at += n_ + 1) {
            poll(n_ * n_);
            lost_ = !rotate(rotations_[at], &rotations_[at] + 1);
        }
        rotations_.clear();
        anew_ = lost_;
    }
    // R'R + c v v', row by row; v is used up. False, and R is of no use, where that leaves nothing.
    bool rotate(double c, double* v) {
        const double sign = c > 0.0 ? 1.0 : -1.0, length = std::sqrt(std::abs(c));
        for (std::size_t i = 0; i < n_; ++i) v[i] *= length;
        for (std::size_t k = 0; k < n_; ++k) {
            double* row = r_.edit_row(k);
            const double pivot2 = row[k] * row[k], left = pivot2 + sign * v[k] * v[k];
            if (!(left > kLost * pivot2)) return false;
            const double cosine = std::sqrt(left) / row[k], sine = v[k] / row[k];
            row[k] = std::sqrt(left);
            const double over = 1.0 / cosine, by = sign * sine;
            for (std::size_t j = k + 1; j < n_; ++j) {
                row[j] = (row[j] + by * v[j]) * over;
                v[j] = cosine * v[j] - sine * row[j];
            }
        }
        return true;
    }
    void forward(std::vector<double>& x) const {  // x <- R'^-1 x
        for (std::size_t k = 0; k < n_; ++k) {
            x[k] /= r_(k, k);
            isa::table<double>().axpy(-x[k], r_.row(k) + k + 1, x.data() + k + 1, n_ - k - 1);
        }
    }
    void back(std::vector<double>& x) const {  // x <- R^-1 x
        for (std::size_t k = n_; k-- > 0;) {
            const double* row = r_.row(k);
            x[k] -= isa::table<double>().dot(row + k + 1, x.data() + k + 1, n_ - k - 1);
            x[k] /= row[k];
        }
    }

    std::size_t n_ = 0;
    Square h_, r_;  // both halves of H; the upper one of R
    Ledger<double> q_;
    std::vector<double> rotations_, u_;  // each term that waits: its factor, and z
    bool anew_ = true;                   // R is to come from H: more wait than would pay
    bool lost_ = false;                  // or one that went has left nothing
};

}  // namespace onlinesvm
