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
    struct Params {
        double C = 1.0;
        double tol = 1e-8;  // largest KKT violation left
        std::int64_t cache_bytes = std::int64_t(1) << 28;
        Kernel kernel;

        template <class F>
        void fields(F&& field) {
            field("C", C);
            field("tol", tol);
            field("cache_bytes", cache_bytes);
            field("kernel", kernel);
        }
    };

    explicit Incremental(const Params& p)
        : Base(p.kernel, p.cache_bytes, {.kkt = p.tol, .gain = 0}), C_(p.C) {}

    void expect(std::span<const Row<T>> coming) { rows_->expect(coming); }

    void learn(Row<T> x, double y, double weight, std::int64_t id) {
        KernelRow<T> row = rows_->arriving(x);
        if (weight <= 0) return;
        const Slot c = rows_->push(x, id);
        notes_->label[c] = std::int32_t(y);
        notes_->cost[c] = C_ * weight;
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
        for (double& cost : notes_->cost) cost *= r;
        for (auto& machine : machines_) machine->scale(r);
        settle();
    }

    void reweight(std::span<const std::int64_t> ids, std::span<const double> weights) {
        for (std::int64_t id : ids) rows_->slot(id);  // all held, before anything changes
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const double cost = notes_->cost[rows_->slot(ids[i])] = C_ * weights[i];
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

    // Largest violation of the KKT conditions, the balance included, from f computed afresh.
    double kkt_residual() const {
        double worst = 0;
        const std::vector<double> f = scores_of_held();
        for (std::size_t o = 0; o < machines_.size(); ++o) {
            double balance = 0;
            for (Slot j = 0; j < rows_->size(); ++j) {
                const Balanced<T>& machine = *machines_[o];
                const double alpha = std::abs(machine.coefficient(j)), upper = machine.upper(j);
                const double g = 1 - machine.label(j) * f[j * machines_.size() + o];
                balance += machine.coefficient(j);
                if (upper == 0) continue;
                worst = std::max(worst, alpha == 0 ? g : alpha == upper ? -g : std::abs(g));
            }
            worst = std::max(worst, std::abs(balance));
        }
        return worst;
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

    // Primal minus dual value: |w - w*|^2 / 2 is no more, w* being the exact solution.
    double duality_gap() const {
        double gap = 0;
        const std::vector<double> f = scores_of_held();
        for (std::size_t o = 0; o < machines_.size(); ++o)
            for (Slot j = 0; j < rows_->size(); ++j) {
                const Balanced<T>& machine = *machines_[o];
                const double fj = f[j * machines_.size() + o], y = machine.label(j);
                gap += machine.coefficient(j) * (fj - machine.bias() - y);
                gap += cost(j) * std::max(0.0, 1 - y * fj);
            }
        return std::max(0.0, gap);
    }

    template <class A>
    void state(A& a) {
        Base::state(a);
        a("C", C_);
        if constexpr (A::loading)
            if (!(C_ > 0 && std::isfinite(C_)))
                throw std::invalid_argument("state: C is not a positive number");
    }

  private:
    using Base::rows_, Base::notes_, Base::machines_, Base::cost, Base::scores_of_held;

    void settle() {
        for (auto& machine : machines_) machine->settle();
        tidy();
    }
    // Those without a coefficient leave f, once there are many.
    void tidy() {
        const std::size_t active = rows_->active();
        if (8 * (active - Base::n_support()) <= active + 128) return;
        for (Slot j = active; j-- > 0;)
            if (!Base::supports(j)) rows_->demote(j);
    }

    double C_;
};

}  // namespace onlinesvm
