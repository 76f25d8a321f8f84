// The SVM with a free bias kept exactly optimal as examples come and go. Cauwenberghs & Poggio,
// "Incremental and Decremental Support Vector Machine Learning", NIPS 2000.
//
// How alpha moves is in solver/balanced.hpp; the examples and outputs are in machine/one_vs_rest.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "onlinesvm/machine/one_vs_one.hpp"
#include "onlinesvm/machine/one_vs_rest.hpp"
#include "onlinesvm/methods/exact/hot_set.hpp"
#include "onlinesvm/solver/balanced.hpp"

namespace onlinesvm {

template <class T>
class Incremental : public OneVsRest<T, Balanced<T>> {
    using Base = OneVsRest<T, Balanced<T>>;

  public:
    using Verbs = Offers<SolvedVerbs, verb::evidence, verb::bias, verb::set_C, verb::reweight,
                         verb::leave_one_out, verb::solve, verb::polish, verb::decisions>;

    struct Params : KernelParams {
        double tol = 1e-8;               // largest KKT violation left
        std::int64_t max_rounds = 1000;  // rounds per change
        std::string settle = "example";  // when: after each, or once for a "call"

        template <class F>
        void fields(F&& field) {
            KernelParams::fields(field);
            field("tol", tol);
            field("max_rounds", max_rounds);
            field("settle", settle);
        }
    };

    explicit Incremental(const Params& p)
        : Base(p, {.kkt = kKept * p.tol, .rounds = p.max_rounds}),
          C_(p.C),
          exact_(std::min(p.tol, kExact)),
          by_call_(p.settle == "call") {
        require(by_call_ || p.settle == "example", "settle: must be 'example' or 'call'");
    }

    void expect(std::span<const Row<T>> coming) {
        rows_->expect(coming);
        announce(coming.size());
    }
    // So many rows come together: one alone is learned by itself.
    void announce(std::size_t n) { together_ = n > 1; }

    void learn(Row<T> x, double y, double weight, Id id) {
        KernelRow<T> row = rows_->arriving(x);
        if (weight <= 0) return;
        this->decide(row);
        const Slot c = this->hold(x, y, C_ * weight, id);
        bool moves = false;
        for (std::size_t o = 0; o < machines_.size(); ++o)  // alpha_c = 0
            moves |= machines_[o]->add(c, this->sign(o, y), cost(c), row.data(), f_[o]);
        if (by_call_ && (together_ || unsettled_ > 0)) {
            this->await_end(c, std::move(row), moves);
            ++unsettled_;
            if (has_grown()) solve_roughly();
            return;
        }
        this->keep_or_recycle(c, std::move(row), moves);
        for (std::size_t o = 0; o < machines_.size(); ++o)
            machines_[o]->absorb(id, f_[o]);  // alpha_c grows until g_c = 0, or C_c
        relax();
    }

    // What a call has brought becomes optimal. In between it does roughly, each time the examples have
    // grown by half, so that few of those to come seem to violate their conditions.
    void solve() {
        if (unsettled_ > 0) settle(unsettled_);
    }

    // The polish: optimal within another tolerance than that of the stream, which may go on.
    void polish(double tol) {
        const Within within(machines_, kKept * tol);
        settle(std::max<std::size_t>(1, unsettled_));
    }

    // alpha_c shrinks to 0, the others giving way; then c is gone. An id dropped before has no
    // influence left.
    void unlearn(std::span<const Id> ids) {
        const std::size_t before = rows_->size();
        for (Id id : ids) {
            if (!rows_->holds(id)) continue;
            for (auto& machine : machines_) machine->rebound(id, 0);
            rows_->remove(rows_->slot(id));
        }
        if (rows_->size() < before) settle();
    }

    // From one C to another: all coefficients in proportion, then those that disagree. The path is that
    // of the exact solution.
    void set_C(double C) {
        const double r = C / C_;
        C_ = C;
        for (double& cost : notes_->cost.edit()) cost *= r;
        for (auto& machine : machines_) machine->scale(r);
        polish(exact_);
    }

    void reweight(std::span<const Id> ids, std::span<const double> weights) {
        for (Id id : ids) rows_->slot(id);  // all held, before anything changes
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const double cost = notes_->cost.edit(rows_->slot(ids[i])) = C_ * weights[i];
            for (auto& machine : machines_) machine->rebound(ids[i], cost);
        }
        settle();
    }

    struct LeftOut {
        std::vector<Id> ids;
        std::vector<std::int64_t> labels;  // class numbers
        std::vector<double> f;             // of each example by the model without it, ids x outputs
    };
    // Takes each example away, looks, and brings it back, from one exact solution to another. Those
    // without influence come first, while all decision values are known: they cost nothing.
    LeftOut leave_one_out() {
        const Within within(machines_, kKept * exact_);
        settle();
        LeftOut out;
        for (Slot j{}; j < rows_->size(); ++j) out.ids.push_back(rows_->id(j));
        std::sort(out.ids.begin(), out.ids.end());
        for (Id id : out.ids) out.labels.push_back(notes_->label[rows_->slot(id)]);
        const std::size_t outputs = machines_.size();
        out.f.resize(out.ids.size() * outputs);
        std::vector<std::size_t> influential;  // places in out.f
        for (std::size_t o = 0; o < outputs; ++o) {
            Balanced<T>& machine = *machines_[o];
            machine.sync(Moves::all);
            for (std::size_t i = 0; i < out.ids.size(); ++i) {
                const Slot j = rows_->slot(out.ids[i]);
                out.f[i * outputs + o] = machine.decision(j);
                if (machine.coefficient(j) != 0 || !machine.has_free())
                    influential.push_back(i * outputs + o);
            }
        }
        for (std::size_t at : influential) {
            out.f[at] = without(out.ids[at / outputs], *machines_[at % outputs]);
            relax();
        }
        return out;
    }

    std::vector<double> decisions() {
        for (auto& machine : machines_) machine->sync(Moves::all);
        return Base::decisions();
    }

    // A new class starts with every example held as a negative: alpha = 0, b = -1.
    void grow(std::size_t classes) {
        Base::grow_to(classes, [&](Balanced<T>& machine) {
            for (Slot j{}; j < rows_->size(); ++j) machine.add(j, -1, cost(j), 0);
            machine.settle();
        });
    }

    // |w|^2/2 + sum C_i max(0, 1 - y_i f(x_i)) over the examples held, summed over outputs.
    double objective() const {
        return this->sum_of_held([&](const Balanced<T>& machine, Slot j, double f) {
            return 0.5 * machine.coefficient(j) * (f - machine.bias()) +
                   cost(j) * std::max(0.0, 1 - machine.label(j) * f);
        });
    }

    auto undoable() { return std::tie(C_, hot_, unsettled_); }

    template <class A>
    void state(A& a) {
        Base::state(a);
        a("C", C_);
        if (by_call_) a("unsettled", unsettled_);
        hot_.state(a, "hot_limit");
        if constexpr (A::loading) demand(C_ > 0, "C is not a positive number");
    }

  private:
    using Base::rows_, Base::notes_, Base::machines_, Base::cost, Base::f_;

    // Solved to a part of tol: the rest is for moves that the cold members have yet to hear of.
    static constexpr double kKept = 0.8;
    static constexpr std::size_t kFirst = 512;
    static constexpr double kRough = 0.1;  // in units of the margin
    static constexpr double kExact = sizeof(T) == 4 ? 1e-6 : 1e-9;

    // The machines solve to another tolerance while it lives.
    class Within {
      public:
        Within(std::vector<std::unique_ptr<Balanced<T>>>& machines, double tol)
            : machines_(machines) {
            for (auto& machine : machines_) before_ = machine->tune(tol);
        }
        ~Within() {
            for (auto& machine : machines_) machine->tune(before_);
        }
        Within(const Within&) = delete;
        Within& operator=(const Within&) = delete;

      private:
        std::vector<std::unique_ptr<Balanced<T>>>& machines_;
        double before_ = 0;  // of all: they are made alike
    };

    bool has_grown() const {
        std::size_t mark = kFirst;
        while (mark < rows_->size()) mark += mark / 2;
        return mark == rows_->size();
    }
    void solve_roughly() {
        const Within within(machines_, kRough);
        for (auto& machine : machines_) machine->settle(unsettled_);
        relax();
    }
    void settle(std::size_t changes = 1) {
        for (auto& machine : machines_) machine->settle(changes);
        relax();
        unsettled_ = 0;
    }
    // The decision value of an example by a machine that has never seen it.
    double without(Id id, Balanced<T>& machine) {
        const double c = machine.upper(rows_->slot(id));
        machine.rebound(id, 0);
        machine.settle();
        const double f = machine.decision(rows_->slot(id));
        machine.rebound(id, c);
        machine.settle();
        return f;
    }
    void relax() {
        hot_.relax(*rows_, machines_, [&](Slot j) { return this->supports(j); });
    }

    double C_;
    double exact_;  // the tolerance of what promises the exact solution
    bool by_call_;
    bool together_ = false;      // the next rows come in one call
    std::size_t unsettled_ = 0;  // examples that came since it was optimal
    HotSet hot_;
};

template <class T>
using IncrementalPairs =
    OneVsOne<T, Incremental<T>,
             Offers<SolvedVerbs, verb::evidence, verb::bias, verb::set_C, verb::reweight,
                    verb::leave_one_out, verb::solve, verb::polish>>;

}  // namespace onlinesvm
