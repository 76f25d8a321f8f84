// The inverse P of a kernel matrix over a changing set of members. To add or remove one is a change of
// rank one, P + c u u'. Changes wait beside P and join it many at a time: its square of numbers is
// then read and written once for all of them. P is symmetric: its lower triangle is kept.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "onlinesvm/solver/square.hpp"
#include "onlinesvm/state/random.hpp"

namespace onlinesvm {

class Inverse {
  public:
    std::size_t size() const { return n_; }
    std::size_t nbytes() const { return p_.nbytes() + nbytes_of(us_, cs_); }
    static std::size_t footprint(std::size_t n) {
        return Square::footprint(n) + 2 * most_waiting(n) * sizeof(double) * (n + n / 4 + 24);
    }
    void clear() {
        n_ = 0;
        forget_changes();
    }

    auto undoable() { return std::tie(p_, us_, cs_, n_, wide_); }

    // y = P x
    void apply(const double* x, double* y) const;
    // One column of P.
    void column(std::size_t m, std::vector<double>& u) const;

    // Starts with the bordered matrix [[0, 1], [1, k]]: one member under the constraint that all
    // together sum to a constant. Place 0 is the multiplier of that constraint, for good.
    void border(double k);

    // Adds a member with kernel values `column` to the others and `k` to itself. `u` receives P
    // column. False, and nothing changed, when no more than `least` of k is left beside what the
    // others explain.
    bool add(const double* column, double k, double least, std::vector<double>& u);
    // How much of k is left beside what the others explain, and by which u.
    double explain(const double* column, double k, std::vector<double>& u) const;
    // The member that was explained last joins: P + [u; -1] [u; -1]' / schur.
    void append(double schur, const std::vector<double>& u);

    // Removes the member at place m; the last one takes its place. `u` receives its column of P.
    void remove(std::size_t m, std::vector<double>& u);

    // Whether P is an inverse of the matrix K that `times` applies: K P v = v for a v that hangs on
    // every bit of P, so that a file cannot be made to pass it. Updates drift, so much room is
    // left.
    template <class Times>
    bool inverts(Times&& times) {
        std::uint64_t seed = n_;
        const auto hang_on = [&](double x) {
            seed = (seed ^ std::bit_cast<std::uint64_t>(x)) * 0x100000001b3u;
        };
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t j = 0; j <= i; ++j) hang_on(p_(i, j));
        for (std::size_t k = 0; k < cs_.size(); ++k) {
            hang_on(cs_[k]);
            for (std::size_t i = 0; i < n_; ++i) hang_on(change(k)[i]);
        }
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
        p_.state_lower(a, "values", n_);
        std::vector<double> us, cs(cs_.begin(), cs_.end());
        if constexpr (!A::loading)
            for (std::size_t k = 0; k < cs.size(); ++k)
                us.insert(us.end(), change(k), change(k) + n_);
        a("changes", us);
        a("weights", cs);
        if constexpr (A::loading) {
            demand(cs.size() <= kMost && us.size() == cs.size() * n_,
                   "the changes of an inverse do not fit it");
            forget_changes();
            wide_ = p_.room();
            for (std::size_t k = 0; k < cs.size(); ++k) begin_change(cs[k], us.data() + k * n_);
        }
    }

  private:
    static constexpr double kDrift = 0.1;
    static constexpr std::size_t kMost = isa::kRanks;  // changes that wait
    static constexpr std::size_t kShare = 16;          // and no more than one for so many members

    static std::size_t most_waiting(std::size_t n) {
        return std::clamp<std::size_t>(n / kShare, 1, kMost);
    }
    // More room; when changes join must not hang on it, or a model that was saved would go on with
    // other bits.
    void widen();
    const double* change(std::size_t k) const { return us_.data() + k * wide_; }
    void begin_change(double c, const double* u);
    void forget_changes() {
        us_.clear();
        cs_.clear();
    }
    void settle_many() {
        if (cs_.size() >= most_waiting(n_)) settle_changes();
    }
    void settle_changes();

    Square p_;
    Ledger<double> us_;  // u of the changes that wait, row by row
    PlainLedger<double> cs_;
    std::size_t n_ = 0, wide_ = 0;  // members, and the room for them in a row of us
};

}  // namespace onlinesvm
