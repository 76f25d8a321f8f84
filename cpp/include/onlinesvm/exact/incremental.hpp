// The SVM with a free bias kept exactly optimal as examples come and go. Cauwenberghs & Poggio,
// "Incremental and Decremental Support Vector Machine Learning", NIPS 2000.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "onlinesvm/base/one_vs_rest.hpp"
#include "onlinesvm/solver/balanced.hpp"

namespace onlinesvm {

template <class T>
class Incremental : public OneVsRest<T, Balanced<T>> {
    using Base = OneVsRest<T, Balanced<T>>;

  public:
    using Verbs = Offers<SolvedVerbs, verb::evidence, verb::free_bias, verb::set_C, verb::reweight,
                         verb::leave_one_out>;

    struct Params {
        double C = 1.0;
        double tol = 1e-8;             // largest KKT violation left
        std::int64_t max_iter = 1000;  // rounds per change
        std::int64_t cache_bytes = std::int64_t(1) << 28;
        Kernel kernel;

        template <class F>
        void fields(F&& field) {
            field("C", C);
            field("tol", tol);
            field("max_iter", max_iter);
            field("cache_bytes", cache_bytes);
            field("kernel", kernel);
        }
    };

    explicit Incremental(const Params& p)
        : Base(p.kernel, p.cache_bytes, {.kkt = p.tol, .rounds = p.max_iter}), C_(p.C) {}

    void expect(std::span<const Row<T>> coming) { rows_->expect(coming); }

    void learn(Row<T> x, double y, double weight, std::int64_t id) {
        KernelRow<T> row = rows_->arriving(x);
        if (weight <= 0) return;
        const Slot c = rows_->push(x, id);
        notes_->label.edit(c) = std::int32_t(y);
        notes_->cost.edit(c) = C_ * weight;
        bool moves = false;
        for (std::size_t o = 0; o < machines_.size(); ++o) {
            Balanced<T>& machine = *machines_[o];
            const double f = machine.f(row.data()) + machine.bias();
            machine.add(c, Base::sign(o, std::int32_t(y)), cost(c), f);  // alpha_c = 0
            moves |= machine.violates(c);
        }
        if (moves)
            rows_->keep(c, std::move(row));
        else
            rows_->recycle(std::move(row));
        for (auto& machine : machines_) machine->absorb(id);  // alpha_c grows until g_c = 0, or C_c
        tidy();
    }

    // alpha_c shrinks to 0, the others giving way; then c is gone. An id dropped before has no
    // influence left.
    void unlearn(std::span<const std::int64_t> ids) {
        bool gone = false;
        for (std::int64_t id : ids) {
            if (!rows_->holds(id)) continue;
            gone = true;
            for (auto& machine : machines_) machine->rebound(id, 0);
            rows_->remove(rows_->slot(id));
        }
        if (gone) settle();
    }

    // From one C to another: everybody moves in proportion, then those who disagree.
    void set_C(double C) {
        const double r = C / C_;
        C_ = C;
        for (double& cost : notes_->cost.edit()) cost *= r;
        for (auto& machine : machines_) machine->scale(r);
        settle();
    }

    void reweight(std::span<const std::int64_t> ids, std::span<const double> weights) {
        for (std::int64_t id : ids) rows_->slot(id);  // all held, before anything changes
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const double cost = notes_->cost.edit(rows_->slot(ids[i])) = C_ * weights[i];
            for (auto& machine : machines_) machine->rebound(ids[i], cost);
        }
        settle();
    }

    struct LeftOut {
        std::vector<std::int64_t> ids;
        std::vector<std::int64_t> labels;  // class numbers
        std::vector<double> f;             // of each example by the model without it, ids x outputs
    };
    // Takes each example away, looks, and brings it back. Who has no influence costs nothing.
    LeftOut leave_one_out() {
        LeftOut out;
        for (Slot j = 0; j < rows_->size(); ++j) out.ids.push_back(rows_->id(j));
        std::sort(out.ids.begin(), out.ids.end());
        for (std::int64_t id : out.ids) {
            out.labels.push_back(notes_->label[rows_->slot(id)]);
            for (auto& machine : machines_) {
                const Slot j = rows_->slot(id);
                if (machine->coefficient(j) == 0 && machine->has_margin()) {
                    out.f.push_back(machine->decision(j));
                    continue;
                }
                const double c = cost(j);
                machine->rebound(id, 0);
                machine->settle();
                out.f.push_back(machine->decision(rows_->slot(id)));
                machine->rebound(id, c);
                machine->settle();
            }
            tidy();
        }
        return out;
    }

    // A new class starts with every example held as a negative: alpha = 0, b = -1.
    void grow(std::size_t classes) {
        Base::grow_to(classes, [&](Balanced<T>& machine) {
            for (Slot j = 0; j < rows_->size(); ++j) machine.add(j, -1, cost(j), 0);
            machine.settle();
        });
    }

    std::vector<double> free_bias() const {
        std::vector<double> b;
        for (const auto& machine : machines_) b.push_back(machine->bias());
        return b;
    }

    // |w|^2/2 + sum C_i max(0, 1 - y_i f(x_i)) over the examples held, summed over outputs.
    double objective() const {
        double total = 0;
        const std::vector<double> f = scores_of_held();
        for (std::size_t o = 0; o < machines_.size(); ++o)
            for (Slot j = 0; j < rows_->size(); ++j) {
                const Balanced<T>& machine = *machines_[o];
                const double fj = f[j * machines_.size() + o];
                total += 0.5 * machine.coefficient(j) * (fj - machine.bias());
                total += cost(j) * std::max(0.0, 1 - machine.label(j) * fj);
            }
        return total;
    }

    auto undoable() { return std::tie(C_); }

    template <class A>
    void state(A& a) {
        Base::state(a);
        a("C", C_);
        if constexpr (A::loading) demand(C_ > 0, "C is not a positive number");
    }

  private:
    using Base::rows_, Base::notes_, Base::machines_, Base::cost, Base::scores_of_held, Base::tidy;

    void settle() {
        for (auto& machine : machines_) machine->settle();
        tidy();
    }

    double C_;
};

}  // namespace onlinesvm
