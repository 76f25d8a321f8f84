// The parametric engine of POKER (Fine & Scheinberg, NIPS 2001): the dual of a kernel machine,
//     max  q(u)'s - s'Ks/2   with  lo_i <= s_i <= hi_i,      q(u) = q + u c,
// followed along u. It is kept in signed form, s = z a with z the sign of a variable (its label),
// so that one engine serves every task: q = base + t, h = q - Ks = z G is the signed gradient, and
//     classification  base y          box [0, C] or [-C, 0]        sum s = 0
//     regression      base y -+ eps   boxes [0, C] and [-C, 0]     sum s = 0      (two per example)
//     one class       base 0          box [0, 1]                   sum s = nu n
// The decision is f = Ks - t. With t free, sum s = target is its optimality condition.
//
// The variables and their partition are in parametric_variables.hpp, a run from breakpoint to
// breakpoint in parametric_run.hpp, what to do where runs do not help in parametric_climb.hpp. Here
// are the paper's algorithms: each says what to pretend at u = 0, and where a run has to end.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "onlinesvm/solver/parametric_climb.hpp"

namespace onlinesvm {

template <class T, std::size_t Copies = 1>
class Parametric final : public ParametricClimb<Parametric<T, Copies>, T, Copies> {
    using Base = ParametricClimb<Parametric<T, Copies>, T, Copies>;
    using typename Base::End;

  public:
    using typename Base::Member, typename Base::Terms;

    Parametric(KernelCache<T>& rows, Terms terms) : Base(rows, terms) { this->follow_slots(); }

    // Self-Init: with t far out all variables sit at one end; then t comes in.
    void self_init() {
        double lowest = 0, highest = 0;
        for (Member m = 0; m < s_.size(); ++m) lowest += lo_[m], highest += hi_[m];
        const double way = target_ - lowest <= highest - target_ ? 1 : -1;
        s_ = way > 0 ? lo_ : hi_;
        for (Slot j{}; j < rows_.size(); ++j)
            if (supports(j)) rows_.promote(j);
        t_ = 0;
        this->refresh();
        double nearest = -kInfinity;
        for (Member m = 0; m < s_.size(); ++m)
            if (lo_[m] < hi_[m]) nearest = std::max(nearest, way * h_[m]);
        if (nearest > -kInfinity) shift(-way * (nearest + 1));
        adjust_bias();
    }

    // The same at a given bias. From s = 0 all violate their condition alike; if all pretended the same
    // slack, they would come to h = 0 at once, and which of them move would be a problem as large as
    // the whole. They pretend slacks from 1 to 2, and come one after the other.
    void self_init_at_bias() { fixed_bias(kNoLimit, 1.0); }

    // POKER fixed-bias, from a problem that the present solution solves: a variable that violates
    // its condition pretends a slack of 1 (to 1 + spread), and gives it up as u goes from 0 to 1.
    void fixed_bias(std::size_t limit = kNoLimit, double spread = 0.0) {
        if (since_refresh_ >= kRefresh) this->refresh();
        const double eps = this->tie_width();
        bool any = false;
        double *h = h_.edit().data(), *c = c_.edit().data();
        for (Member m = 0; m < s_.size(); ++m) {
            const bool free = is_free(m), wrong = off(m, h[m]) > eps;
            any |= wrong;
            const double slack = 1.0 + spread * double(m) / double(s_.size());
            c[m] = free ? h[m] : wrong ? h[m] + (h[m] > 0 ? slack : -slack) : 0;
            h[m] -= c[m];
        }
        const double u = any ? run(End::true_problem, limit) : 0;
        for (Member m = 0; m < s_.size(); ++m) h[m] += (1 - u) * std::exchange(c[m], 0.0);
    }

    // POKER adjust-bias: t moves, the solution for fixed t follows, until sum s = target.
    void adjust_bias() {
        const double gap = target_ - this->sum();
        if (std::abs(gap) > 1e-13 * this->scale()) {
            std::ranges::fill(c_.edit(), gap > 0 ? 1.0 : -1.0);
            run(End::balance);
            std::ranges::fill(c_.edit(), 0.0);
        }
        centre();
    }

    // Decremental: the variables of these examples are pushed to 0 and held there.
    void vacate(std::span<const Id> ids) {
        for (Id id : ids)
            for (std::size_t k = 0; k < Copies; ++k) {
                const Member m = rows_.slot(id) * Copies + k;
                c_.edit(m) = s_[m] > 0 ? -1 : s_[m] < 0 ? 1 : 0;
                if (s_[m] == 0) this->close(m);
            }
        run(End::vacated);
        bool forced = false;
        for (Member m = 0; m < s_.size(); ++m)
            if (c_[m] != 0) {
                s_.edit(m) = c_.edit(m) = 0;
                this->close(m);
                forced = true;
            }
        if (forced) {  // the run gave up
            purge();
            this->refresh();
        }
    }

    // Whatever rounding has left is the next run's business; where runs do not help, steps that
    // only ever raise the dual do.
    void settle(bool free_bias) {
        capped_ = false;
        for (int round = 0; round < kRounds; ++round) {
            if (this->worst(free_bias) <= this->tolerance()) return sum_copies();
            this->refresh();
            fixed_bias();
            if (free_bias) adjust_bias();
        }
        this->climb(free_bias);
        sum_copies();
    }

    // How much the dual gains, at least, by thawing an example: a few breakpoints are tried and
    // taken back.
    double gain(Slot j, const std::array<Variable, Copies>& variables, std::size_t breakpoints) {
        const Snapshot before(*this);
        const Id id = rows_.id(j);
        this->thaw(j, variables);
        const double dual = this->dual();
        fixed_bias(breakpoints);
        const double gained = this->dual() - dual;
        before.restore(*this);
        this->freeze(rows_.slot(id));
        return gained;
    }

  private:
    using Base::is_free, Base::off, Base::shift, Base::centre, Base::purge, Base::sum_copies;
    using Base::rows_, Base::s_, Base::h_, Base::lo_, Base::hi_, Base::y_, Base::c_, Base::t_;
    using Base::run, Base::slot_of, Base::kNoLimit, Base::kInfinity;
    using Base::S_, Base::gram_, Base::target_, Base::capped_, Base::since_refresh_, Base::path_;

    static constexpr int kRounds = 4;
    static constexpr std::int64_t kRefresh = 1000;  // breakpoints between recomputations of h

    bool supports(Slot j) const {
        bool any = false;
        for (std::size_t k = 0; k < Copies; ++k) any |= s_[j * Copies + k] != 0;
        return any;
    }

    // The solution by id, since slots move.
    class Snapshot {
      public:
        explicit Snapshot(const Parametric& p)
            : s_(p.s_.begin(), p.s_.end()),
              h_(p.h_.begin(), p.h_.end()),
              gram_(p.gram_),
              since_(p.since_refresh_),
              path_(p.path_.size()) {
            for (Slot j{}; j < p.rows_.size(); ++j) ids_.push_back(p.rows_.id(j));
            for (Member m : p.S_) S_.push_back({p.rows_.id(slot_of(m)), m % Copies});
        }
        void restore(Parametric& p) const {
            for (std::size_t i = 0; i < ids_.size(); ++i)
                for (std::size_t k = 0; k < Copies; ++k) {
                    const Member m = p.rows_.slot(ids_[i]) * Copies + k;
                    p.s_.edit(m) = s_[i * Copies + k];
                    p.h_.edit(m) = h_[i * Copies + k];
                }
            p.S_.clear();
            for (const auto& [id, k] : S_) p.S_.add(p.rows_.slot(id) * Copies + k);
            p.gram_ = gram_;
            p.since_refresh_ = since_;
            p.path_.resize(path_);
        }

      private:
        Aligned<double> s_, h_;
        Gram gram_;
        std::int64_t since_;
        std::size_t path_;
        std::vector<Id> ids_;
        std::vector<std::pair<Id, std::size_t>> S_;
    };
};

}  // namespace onlinesvm
