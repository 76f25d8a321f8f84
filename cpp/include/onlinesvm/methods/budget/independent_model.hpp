// What OISVM keeps: the examples whose errors count, the basis, and one machine per output.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "onlinesvm/function/in_double.hpp"
#include "onlinesvm/function/loss.hpp"
#include "onlinesvm/machine/room.hpp"
#include "onlinesvm/machine/verbs.hpp"
#include "onlinesvm/methods/budget/independent_machine.hpp"

namespace onlinesvm {

template <class Task>
struct IndependentParams {
    double C = 1.0, eta = 0.1;
    Room budget;             // for the basis
    std::size_t window = 0;  // of the examples; 0: no bound
    std::int64_t max_rounds = 20;
    std::string bias = "free";
    Kernel kernel;
    Task task;
    void fields(auto&& f) {
        f("C", C), f("eta", eta), budget.fields(f), f("window", window);
        f("max_rounds", max_rounds), f("bias", bias), f("kernel", kernel), task.fields(f);
    }
};

template <class T, class Task>
class IndependentModel {
  public:
    explicit IndependentModel(const IndependentParams<Task>& p)
        : p(p), rows(p.kernel, 0), examples(rows), basis(p.kernel, p.eta, p.bias == "free") {
        require(p.C > 0.0, "C: must be positive");
        require(p.eta > 0.0, "eta: must be positive");
        add_machine();
    }

    void expect(std::span<const Row<T>> coming) { basis.expect(coming); }
    void turn(std::size_t i) { basis.turn(i); }
    bool holds(Id id) const { return rows.holds(id); }
    std::size_t held() const { return rows.size(); }

    void score(const Row<T>& x, double* out) const { score_many({&x, 1}, out); }
    void score_many(std::span<const Row<T>> xs, double* out) const {
        onlinesvm::score<T>(basis.store(), basis.size(), betas(), xs, out);
        for (std::size_t i = 0; i < xs.size(); ++i)
            for (const auto& machine : machines) *out++ += machine->bias();
    }
    std::size_t outputs() const { return machines.size(); }
    Support<T> support() const { return basis.support(betas()); }
    std::vector<double> bias() const {
        std::vector<double> b;
        for (const auto& machine : machines) b.push_back(machine->bias());
        return b;
    }
    bool capped() const {
        return std::any_of(machines.begin(), machines.end(),
                           [](const auto& machine) { return machine->capped(); });
    }
    // The largest entry of the gradient; the objective; both over all outputs.
    double kkt_residual() const { return measured().first; }
    double spot_check() const { return kkt_residual(); }
    double objective() const { return measured().second; }

    // Two classes share one output; with a third, it becomes the first one's.
    void grow(std::size_t classes) {
        if (classes < 3 || classes <= outputs()) return;
        if (outputs() == 1) machines[0]->turn_round(0.0);
        while (outputs() < classes) {
            add_machine();
            machines.back()->learn_all();
        }
    }

    auto undoable() { return std::tie(rows, examples, basis, arrivals); }
    void mark() {
        was.resize(machines.size());
        for (std::size_t c = 0; c < was.size(); ++c) was[c].mark(*machines[c]);
    }
    void commit() noexcept {
        for (std::size_t c = 0; c < was.size(); ++c) was[c].commit(*machines[c]);
    }
    void revert() noexcept {
        machines.resize(was.size());
        for (std::size_t c = 0; c < was.size(); ++c) was[c].revert(*machines[c]);
    }
    std::size_t nbytes() const {
        std::size_t bytes = sizeof(*this) + rows.nbytes() + examples.nbytes() + basis.nbytes();
        for (const auto& machine : machines) bytes += sizeof(Machine) + machine->nbytes();
        return bytes;
    }
    template <class A>
    void state(A& a) {
        a("rows", rows), a("examples", examples), a("basis", basis), a("arrivals", arrivals);
        std::size_t count = outputs();
        if constexpr (A::loading) {
            count = a.outputs();
            check(count);
            machines.clear();
        }
        for (std::size_t c = 0; c < count; ++c) {
            if constexpr (A::loading)
                add_machine();  // one by one: a false count fails at the first
            if (count > 1) machines[c]->stands_for(double(c));
            a("machine" + std::to_string(c), *machines[c]);
        }
    }

  protected:
    using Machine = IndependentMachine<T, Task>;

    // The largest basis, and the longest window, that there is room for.
    std::size_t most() const {
        return p.budget.most([&](std::size_t n) { return footprint(n, window_with(n)); });
    }
    std::size_t window() const { return window_with(p.budget.bytes > 0 ? most() : 0); }

    Slot hold(const Row<T>& x, double y, double C, Id id) {
        p.task.demand_known(y, outputs());
        require(std::isfinite(C), "sample_weight: C times a weight is infinite; scale it down");
        const Slot j = rows.push(x, id);
        examples.y.edit(j) = y;
        examples.C.edit(j) = C;
        examples.arrival.edit(j) = arrivals++;
        examples.z.put(j, basis.z());
        return j;
    }
    void drop(Slot j) {
        for (auto& machine : machines) machine->forget(j);
        basis.forget(rows.id(j));
        rows.remove(j);
    }
    Slot oldest() const {
        const auto& arrival = examples.arrival;
        return Slot(std::min_element(arrival.begin(), arrival.end()) - arrival.begin());
    }
    // The basis has gained x: so do the rows of the examples, and the machines.
    void widen(const Row<T>& x) {
        Aligned<T> k(rows.store().padded_size());
        if (rows.size() > 0) rows.store().row(x, 0, rows.size(), k.data());
        examples.z.add_column(k.data());
        for (auto& machine : machines) machine->widen();
    }

    IndependentParams<Task> p;
    KernelCache<T> rows;  // the examples whose errors count
    IndependentExamples<T> examples;
    Basis<T> basis;
    std::vector<std::unique_ptr<Machine>> machines;

  private:
    std::vector<Before<Machine>> was;
    std::int64_t arrivals = 0;

    // Where only bytes are given, it is ten times as long as the basis.
    std::size_t window_with(std::size_t n) const {
        if (p.window > 0) return p.window;
        return p.budget.bytes > 0 ? 10 * n : std::numeric_limits<std::size_t>::max();
    }
    // What nbytes is at most with a basis of n and w examples such as those held, as measured.
    double footprint(std::size_t n, std::size_t w) const {
        const double row = 2.0 * rows.store().bytes_each() + 200.0;
        const double z = 2.0 * (1.25 * double(n) + 24.0) * sizeof(T), m = double(outputs());
        return double(2 * Square::footprint(n + 1)) * (1.0 + m) + double(n) * (row + z) +
               double(w) * (row + z + 150.0 * m) + 16384.0;
    }

    // One output stands for the second class.
    void add_machine() {
        const double positive = machines.empty() ? 1.0 : double(machines.size());
        machines.push_back(
            std::make_unique<Machine>(rows, examples, basis, p.task, p.max_rounds, positive));
    }
    std::vector<const double*> betas() const {
        std::vector<const double*> all;
        for (const auto& machine : machines) all.push_back(machine->beta());
        return all;
    }

    // A state that was loaded; the rows z are not part of it.
    void check(std::size_t outputs) {
        demand(rows.size() <= window() && basis.size() <= most(), "there is more than allowed");
        demand(rows.active() == 0, "slots do not fit the examples");
        for (Id id : basis.ids())
            demand(id == kNoId || rows.holds(id), "the basis names an unknown example");
        typename Store<T>::Scratch scratch;
        for (Slot j{}; j < rows.size(); ++j) {
            demand(examples.C[j] > 0.0 && examples.arrival[j] < arrivals,
                   "an example does not fit the others");
            p.task.demand_known(examples.y[j], outputs);
            const Row<T> x = rows.store().get(j, scratch);
            demand(x.sparse() || basis.size() == 0 || x.width == basis.store().width(),
                   "the basis is of another width");
            basis.read(x);
            examples.z.put(j, basis.z());
        }
    }

    // From the stored examples and coefficients alone, in double: no z, no equations.
    std::pair<double, double> measured() const {
        Store<double> wide(basis.store().kernel());
        Widened<T> widened;
        for (Slot b{}; b < basis.size(); ++b) wide.push(widened.get(basis.store(), b));
        double worst = 0.0, total = 0.0;
        for (const auto& machine : machines) {
            const auto [gradient, objective] = machine->measured(wide);
            worst = std::max(worst, gradient);
            total += objective;
        }
        return {worst, total};
    }
};

}  // namespace onlinesvm
