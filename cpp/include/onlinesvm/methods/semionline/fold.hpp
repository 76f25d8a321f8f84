// f on fewer examples: those that are combinations of others, or nearly, are left out, and what they
// contributed is given to the others, so that f hardly changes. Pronobis, Jie & Caputo, "The More you
// Learn, the Less you Store", 2010, after Downs, Gates & Masters, JMLR 2, 2001.
//
// What comes out predicts, but is no point of the dual: coefficients may leave their bounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "onlinesvm/function/in_double.hpp"
#include "onlinesvm/function/kernel_cache.hpp"
#include "onlinesvm/solver/growing_cholesky.hpp"
#include "onlinesvm/state/checked.hpp"

namespace onlinesvm {

template <class T>
class Fold {
  public:
    struct Member {
        Slot slot;
        Id id;
        std::vector<double> s;  // of every output
        bool stays;             // whether it can be left out or not
    };

    bool empty() const { return bias_.empty(); }
    void clear() { s_.clear(), bias_.clear(); }

    // Visits the members in their order and keeps one if more than eta of k(x, x) lies outside the span
    // of those kept before, at most `most` of all. Returns the kept ones, with what they took over.
    static std::vector<Member> onto_fewer(const Store<T>& store, std::vector<Member> members,
                                          double eta, std::size_t most) {
        std::vector<Member> kept;
        std::vector<std::size_t> basis;  // of the kept, those that span
        std::vector<double> column, u;
        Store<double> wide(store.kernel());
        Aligned<double> k;
        Widened<T> widened;
        GrowingCholesky factor;
        for (Member& m : members) {
            poll(factor.size() * factor.size());
            const Row<double> x = widened.get(store, m.slot);
            k.resize(wide.padded_size());
            if (!basis.empty()) wide.row(x, 0, basis.size(), k.data());
            column.assign(k.begin(), k.begin() + std::ptrdiff_t(basis.size()));
            const double self = wide.self(x);
            const double least = std::max(eta, kExact * self);
            const double left = factor.explain(column.data(), self);
            const bool spans = left > least && kept.size() < most;
            if (spans) {
                factor.append(left);
                wide.push(x);
                basis.push_back(kept.size());
            } else {
                factor.combine(u);
                for (std::size_t i = 0; i < basis.size(); ++i)
                    for (std::size_t c = 0; c < m.s.size(); ++c)
                        kept[basis[i]].s[c] += u[i] * m.s[c];
                std::fill(m.s.begin(), m.s.end(), 0.0);
            }
            if (spans || m.stays) kept.push_back(std::move(m));
        }
        return kept;
    }

    // What predicts from now on: so many slots, of which these have coefficients, and a bias for
    // every output.
    void set(const KernelCache<T>& rows, std::span<const Member> kept, std::vector<double> bias) {
        s_.assign(bias.size() * rows.active(), 0.0);
        for (const Member& m : kept)
            for (std::size_t c = 0; c < bias.size(); ++c)
                s_.edit(c * rows.active() + rows.slot(m.id)) = m.s[c];
        bias_ = std::move(bias);
    }
    // Where the coefficients of every output lie, by slot.
    std::vector<const double*> coefficients() const {
        std::vector<const double*> all;
        const std::size_t slots = s_.size() / bias_.size();
        for (std::size_t c = 0; c < bias_.size(); ++c) all.push_back(s_.data() + c * slots);
        return all;
    }
    const std::vector<double>& bias() const { return bias_; }

    void demand_fits(std::size_t outputs, std::size_t active) const {
        demand(empty() ? s_.empty()
                       : bias_.size() == outputs && s_.size() == checked_mul(outputs, active),
               "the folded coefficients do not fit the examples");
    }
    auto undoable() { return std::tie(s_, bias_); }
    std::size_t nbytes() const { return s_.nbytes() + bias_.nbytes(); }
    template <class A>
    void state(A& a) {
        a("s", s_);
        a("bias", bias_);
    }

  private:
    // Of k(x, x): less than this, rounding makes. Coefficients grow to the root of its inverse, and
    // with them the rounding of the kernel values that predict.
    static constexpr double kExact = std::max(1e-10, double(std::numeric_limits<T>::epsilon()));

    Ledger<double> s_;  // outputs x slots
    PlainLedger<double> bias_;
};

}  // namespace onlinesvm
