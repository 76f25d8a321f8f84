// What the online and the offline ramp-loss SVM share: the examples, one Box per output, and V.
//
//     min |w|^2/2 + sum C_i R_s(y_i f(x_i)),   R_s(z) = min(1 - s, max(0, 1 - z))          (eq. 7)
//
// V = {i : g_i <= 1 - s} are the examples inside the ramp, g_i = 1 - y_i f(x_i). On V this is a
// hinge SVM without bias, which Box keeps optimal; outside V an example has the bound 0. Several
// classes share the examples and their kernel rows, one Box each (one against the rest).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "onlinesvm/machine/one_vs_rest.hpp"
#include "onlinesvm/methods/exact/hot_set.hpp"
#include "onlinesvm/solver/box.hpp"

namespace onlinesvm {

struct RampParams : KernelParams {
    double s = -1.0;    // where the ramp ends; -inf: hinge loss
    double tol = 1e-2;  // largest violation left
    std::string stopping = "kkt";
    double gain_tol = 1e-5;  // of stopping "paper": the smallest gain of the dual worth a step
    std::int64_t max_rounds = 50;  // rounds of relocation

    template <class F>
    void fields(F&& field) {
        KernelParams::fields(field);
        field("s", s);
        field("tol", tol);
        field("stopping", stopping);
        field("gain_tol", gain_tol);
    }

    // "kkt" keeps tol: it solves to a part of it, the rest is for moves too small to be passed on
    // to the cold members, and for the rounding of kernel values. "paper" also stops where no step
    // gains enough.
    Tolerance terms() const {
        if (stopping == "kkt") return {.kkt = 0.8 * tol, .gain = 0};
        if (stopping == "paper") return {.kkt = tol, .gain = gain_tol};
        throw std::invalid_argument("stopping must be \"kkt\" or \"paper\"");
    }
};

template <class T>
class RampModel : public OneVsRest<T, Box<T>> {
    using Base = OneVsRest<T, Box<T>>;

  public:
    explicit RampModel(const RampParams& p) : Base(p, p.terms()), ramp_(p) {}

    // Takes examples away and settles the rest; an id dropped before has no influence left.
    void unlearn(std::span<const Id> ids) {
        const std::size_t before = rows_->size();
        for (Id id : ids)
            if (rows_->holds(id)) take_away(id);
        if (rows_->size() < before)
            for (auto& box : machines_) settle(*box);
    }

    // A new class starts with every example held as a negative.
    void grow(std::size_t classes) {
        Base::grow_to(classes, [&](Box<T>& box) {
            for (Slot j{}; j < rows_->size(); ++j) box.learn(j, -1, in_ramp(1.0) ? cost(j) : 0, 0);
            settle(box);
        });
    }

    // Optimal on V, and V those inside the ramp: a member on the wrong side violates by how far.
    double kkt_residual() const { return this->worst_violation(this->all_slots(), on_its_side()); }
    double spot_check() const { return this->worst_violation(this->some_slots(), on_its_side()); }

    // P(w) of eq. 7 over the examples held, summed over outputs.
    double objective() const {
        return this->sum_of_held([&](const Box<T>& box, Slot j, double f) {
            return 0.5 * box.coefficient(j) * f +
                   cost(j) * std::min(1 - ramp_.s, std::max(0.0, 1 - box.label(j) * f));
        });
    }

    auto undoable() { return std::tie(updates_, put_aside_, hot_); }

    template <class A>
    void state(A& a) {
        Base::state(a);
        a("updates", updates_);
        a("put_aside", put_aside_);
        hot_.state(a, "hot_limit");
    }

  protected:
    static constexpr int kRefresh = 1000;  // updates between recomputations of h
    static constexpr double kRough = 25;   // times the tolerance

    using Base::rows_, Base::machines_, Base::cost, Base::supports, Base::terms_;

    bool in_ramp(double g) const { return g <= 1 - ramp_.s; }
    auto on_its_side() const {
        return [edge = 1 - ramp_.s](const Box<T>& box, Slot j, double f) {
            const double beyond = std::isfinite(edge) ? 1 - box.label(j) * f - edge : 0;
            return std::max(box.violation(j, f), box.upper(j) == 0 ? -beyond : beyond);
        };
    }

    // A stationary point: optimal on V, and V the examples inside the ramp.
    void settle(Box<T>& box) {
        std::int64_t round = 0;
        do box.optimise();
        while (relocate(box) && ++round < ramp_.max_rounds);
        if (round == ramp_.max_rounds) box.give_up();
        if (++updates_ % kRefresh == 0) box.refresh();
    }

    // Begins anew from the hinge loss: everybody inside the ramp, roughly solved; then those outside whom
    // that has on the wrong side, or, of a class of which this would be more than half, those beyond
    // the ramp; then stationary. So a field of examples that were taken for noise comes back.
    void examine(Box<T>& box) {
        solve_hinge(box);
        double wrong[2] = {}, all[2] = {};
        for (Slot j{}; j < rows_->size(); ++j) {
            const bool positive = box.label(j) > 0;
            all[positive] += cost(j);
            if (box.gradient(j) > 1) wrong[positive] += cost(j);
        }
        changed_.clear();
        for (Slot j{}; j < rows_->size(); ++j) {
            const bool positive = box.label(j) > 0;
            const bool noisy = 2 * wrong[positive] <= all[positive];
            if (box.gradient(j) > (noisy ? 1 : 1 - ramp_.s)) changed_.push_back(rows_->id(j));
        }
        for (Id id : changed_) box.bound(rows_->slot(id), 0);
        settle(box);
    }
    // Roughly optimal where everybody counts.
    void solve_hinge(Box<T>& box) {
        for (Slot j{}; j < rows_->size(); ++j)
            if (box.upper(j) != cost(j)) box.bound(j, cost(j));
        const double tol = box.tune(kRough * terms_.kkt);
        box.optimise();
        box.tune(tol);
    }
    std::size_t outside(const Box<T>& box) const {
        std::size_t n = 0;
        for (Slot j{}; j < rows_->size(); ++j) n += box.upper(j) == 0 && cost(j) > 0;
        return n;
    }

    // CCCP: which examples are inside the ramp now? A member leaves V when it is beyond the end of
    // the ramp by more than the solver's tolerance, or inexact solutions would oscillate.
    bool relocate(Box<T>& box) {
        if (std::isinf(ramp_.s)) return false;
        changed_.clear();
        const auto strays = [&, edge = 1 - ramp_.s, beyond = 1 - ramp_.s + terms_.kkt](Slot j) {
            const double g = box.gradient(j);
            const bool out = box.upper(j) == 0;
            return (out & (g <= edge)) | (!out & (g > beyond));
        };
        bool any = false;  // seldom: no branch for each
        for (Slot j{}; j < rows_->size(); ++j) any |= strays(j);
        if (!any) return false;
        for (Slot j{}; j < rows_->size(); ++j)
            if (strays(j) && cost(j) > 0) changed_.push_back(rows_->id(j));
        for (Id id : changed_) put_aside_ += box.upper(rows_->slot(id)) > 0 ? 1 : -1;
        put_aside_ = std::max<std::int64_t>(0, put_aside_);
        for (Id id : changed_) {
            const Slot j = rows_->slot(id);
            box.bound(j, box.upper(j) == 0 ? cost(j) : 0);
        }
        return !changed_.empty();
    }

    void take_away(Id id) {
        for (auto& box : machines_) {
            box->bound(rows_->slot(id), 0);
            box->sync(Moves::all);
        }
        rows_->remove(rows_->slot(id));
    }

    void relax() {
        hot_.relax(*rows_, machines_, [&](Slot j) { return supports(j); });
    }

    RampParams ramp_;
    std::int64_t updates_ = 0;
    std::int64_t put_aside_ = 0;  // that left the ramp, less those that came back, since it was 0
    HotSet hot_;
    std::vector<Id> changed_;
};

}  // namespace onlinesvm
