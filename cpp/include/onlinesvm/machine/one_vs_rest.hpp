// What kernel machines over stored examples share: the examples with their kernel rows, and one
// binary machine per output (one against the rest; two classes need one output only).
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "onlinesvm/function/in_double.hpp"
#include "onlinesvm/function/score.hpp"
#include "onlinesvm/function/slotted.hpp"
#include "onlinesvm/function/variable.hpp"
#include "onlinesvm/machine/verbs.hpp"
#include "onlinesvm/rows/support.hpp"

namespace onlinesvm {

// A binary machine: its variables, and its optimality conditions. The decision values f
// that violations are asked for are computed in double, from the coefficients alone.
template <class M, class T>
concept BinaryMachine =
    std::derived_from<M, Slotted<M, T>> &&
    std::constructible_from<M, KernelCache<T>&, typename M::Terms> &&
    requires(const M& machine, Slot j, double f) {
        { machine.coefficient(j) } -> std::same_as<double>;  // signed; 0: it does not count in f
        machine.coefficients();  // of all slots: where they lie, or an array of them
        { machine.bias() } -> std::same_as<double>;
        { machine.tight(j) } -> std::same_as<bool>;           // its condition is an equation
        { machine.violation(j, f) } -> std::same_as<double>;  // of its condition
        { machine.imbalance() } -> std::same_as<double>;      // of the sum of coefficients; 0: free
        { machine.capped() } -> std::same_as<bool>;           // it gave up before the tolerance
    };

struct KernelParams {
    double C = 1.0;
    std::int64_t cache_bytes = std::int64_t(1) << 28;
    Kernel kernel;

    template <class F>
    void fields(F&& field) {
        field("C", C);
        field("cache_bytes", cache_bytes);
        field("kernel", kernel);
    }
};

template <class T, BinaryMachine<T> Machine>
class OneVsRest {
  public:
    OneVsRest(const KernelParams& p, typename Machine::Terms terms)
        : rows_(std::make_unique<KernelCache<T>>(p.kernel, std::size_t(p.cache_bytes))),
          notes_(std::make_unique<Notes>(*rows_)),
          terms_(terms) {
        add_machine();
    }
    // No assignment: it would free the rows before the machines let go of them.
    OneVsRest(OneVsRest&&) = default;
    OneVsRest& operator=(OneVsRest&&) = delete;

    // As one of several models over the same examples: machine/one_vs_one.hpp.
    void share(SharedRows<T>& all) { rows_->share(all); }
    void limit_cache(std::size_t bytes) noexcept { rows_->limit(bytes); }
    void keep_cache_within_limit() { rows_->keep_within_budget(); }
    const KernelCache<T>& examples() const { return *rows_; }
    double coefficient(Slot j, std::size_t output = 0) const {
        return machines_[output]->coefficient(j);
    }
    double bias_of(std::size_t output) const { return machines_[output]->bias(); }

    std::size_t outputs() const { return machines_.size(); }
    bool holds(Id id) const { return rows_->holds(id); }
    std::size_t held() const { return rows_->size(); }
    // By slot: the ids held, and the class number of each.
    std::vector<Id> ids() const {
        std::vector<Id> ids;
        for (Slot j{}; j < rows_->size(); ++j) ids.push_back(rows_->id(j));
        return ids;
    }
    std::vector<std::int64_t> labels() const {
        return {notes_->label.begin(), notes_->label.end()};
    }

    void use_threads(std::size_t n) { rows_->use_threads(n); }
    // The next example is the i-th of those announced by expect().
    void turn(std::size_t i) { rows_->turn(i); }

    void mark() {
        was_.resize(machines_.size());
        for (std::size_t c = 0; c < was_.size(); ++c) was_[c].mark(*machines_[c]);
        notes_before_.mark(*notes_);
        rows_->mark();
    }
    void commit() noexcept {
        for (std::size_t c = 0; c < was_.size(); ++c) was_[c].commit(*machines_[now(c)]);
        notes_before_.commit(*notes_);
        rows_->commit();
    }
    void revert() noexcept {
        if (now(0) != 0) machines_[0].swap(machines_[now(0)]);
        machines_.resize(was_.size());
        for (std::size_t c = 0; c < was_.size(); ++c) was_[c].revert(*machines_[c]);
        notes_before_.revert(*notes_);
        rows_->revert();
    }

    void score(Row<T> x, double* out) const { score_many(std::span(&x, 1), out); }
    void score_many(std::span<const Row<T>> xs, double* out) const {
        onlinesvm::score(rows_->store(), rows_->active(), coefficients(), xs, out);
        for (std::size_t i = 0; i < xs.size(); ++i)
            for (const auto& machine : machines_) *out++ += machine->bias();
    }

    Support<T> support() const { return support_of(*rows_, coefficients()); }
    std::size_t n_support() const {
        std::size_t n = 0;
        for (Slot j{}; j < rows_->active(); ++j) n += supports(j);
        return n;
    }
    bool capped() const {
        return std::any_of(machines_.begin(), machines_.end(),
                           [](const auto& m) { return m->capped(); });
    }
    // Largest violation of the optimality conditions over all examples held.
    double kkt_residual() const { return worst_violation(all_slots()); }
    // The same over a few of them, for the price of a few predictions.
    double spot_check() const { return worst_violation(some_slots()); }
    // Where the variables of a machine are a box: what a certificate can be checked by.
    Evidence<T> evidence() const
        requires requires(const Machine& m) { m.variables(Slot{}); }
    {
        std::vector<Slot> slots = all_slots();
        sort_by_id(*rows_, slots);
        const Coefficients all = coefficients();
        Evidence<T> out;
        out.rows = examples_of<T>(*rows_, slots, all);
        out.f = scores_in_double<T>(rows_->store(), rows_->active(), all, slots);
        out.free_bias = machines_.front()->free_bias();
        for (Slot j : slots) {
            out.label.push_back(notes_->label[j]);
            out.cost.push_back(notes_->cost[j]);
            out.self.push_back(self_in_double(rows_->store(), j));
        }
        for (const auto& m : machines_) {
            out.bias.push_back(m->bias());
            out.target.push_back(m->target());
            for (Slot j : slots) {
                const auto variables = m->variables(j);
                out.copies = variables.size();
                for (const Variable& v : variables) {
                    out.base.push_back(v.base), out.lo.push_back(v.lo), out.hi.push_back(v.hi);
                    out.s.push_back(v.s);
                }
            }
        }
        return out;
    }
    std::size_t nbytes() const {
        std::size_t n = rows_->nbytes();
        for (const auto& machine : machines_) n += machine->nbytes();
        return n + notes_->nbytes();
    }

    // What nbytes is at most with n examples such as those held, as measured.
    double footprint(std::size_t n) const {
        const double each = 2.0 * rows_->store().bytes_each() + 500.0;
        return double(rows_->cache_bytes()) + 16384.0 +
               double(n) * (each + 160.0 * double(machines_.size()));
    }

    template <class A>
    void state(A& a) {
        std::size_t outputs = machines_.size();
        a("rows", *rows_);
        a("cost", any(notes_->cost));  // infinite: a hard margin
        a("class", notes_->label);
        a("age", notes_->age);
        a("arrived", notes_->arrived);
        if constexpr (A::loading) {
            demand(notes_->cost.size() == rows_->size() && notes_->label.size() == rows_->size() &&
                       notes_->age.size() == rows_->size(),
                   "costs, classes or ages do not fit the examples");
            outputs = a.outputs();
            machines_.clear();
        }
        for (std::size_t c = 0; c < outputs; ++c) {
            if constexpr (A::loading)
                add_machine();  // one by one: a false count fails at the first
            a("box" + std::to_string(c), *machines_[c]);
        }
        if constexpr (A::loading) demand_sound();
    }

    // f of every example held, by id, outputs() values each, as the machines keep it: no kernel value
    // is computed.
    std::vector<double> decisions() const {
        std::vector<Slot> slots = all_slots();
        sort_by_id(*rows_, slots);
        std::vector<double> f;
        f.reserve(slots.size() * machines_.size());
        for (Slot j : slots)
            for (const auto& m : machines_) f.push_back(m->kept(j) + m->bias());
        return f;
    }

    std::vector<double> bias() const {
        std::vector<double> b;
        for (const auto& machine : machines_) b.push_back(machine->bias());
        return b;
    }

  protected:
    struct Notes final : Slotted<Notes, T> {  // what is known of an example besides x
        explicit Notes(KernelCache<T>& rows) : Slotted<Notes, T>(rows) { this->follow_slots(); }
        auto parts() {
            return std::tuple(unsaved(cost), unsaved(label), unsaved(age), unsaved(arrived));
        }

        Column<double> cost;  // C_i
        Column<std::int32_t> label;
        Column<std::int64_t> age;  // how many came before it: an id is any number a caller likes
        std::int64_t arrived = 0;
    };

    // Stores a new example; the machines get its variables afterwards.
    Slot hold(Row<T> x, double label, double cost, Id id) {
        const Slot j = rows_->push(x, id);
        notes_->label.edit(j) = std::int32_t(label);
        notes_->cost.edit(j) = cost;
        notes_->age.edit(j) = notes_->arrived++;
        return j;
    }
    // Its row is needed soon only if some coefficient moves.
    void keep_or_recycle(Slot j, KernelRow<T> row, bool moves) {
        rows_->tell_hot(row);
        if (moves)
            rows_->keep(j, std::move(row));
        else
            rows_->recycle(std::move(row));
    }
    // It waits for the end of the call: if it would move, among the hot ones at once, since its row is
    // at hand over just those.
    void await_end(Slot j, KernelRow<T> row, bool moves) {
        if (!moves) return rows_->recycle(std::move(row));
        rows_->keep(j, std::move(row));
        rows_->promote(j);
    }
    // f of the example being learned, as its machines keep it.
    void decide(const KernelRow<T>& row) {
        f_.resize(machines_.size());
        each_machine([&](std::size_t c) { f_[c] = machines_[c]->f(row.data()); });
    }
    bool has_many() const { return rows_->active() >= kMany; }
    // act(c) for every machine, each by a thread of its own where they have many values to pass.
    template <class Act>
    void each_machine(Act&& act) {
        if (has_many()) return rows_->crew().work(machines_.size(), act);
        for (std::size_t c = 0; c < machines_.size(); ++c) act(c);
    }
    double cost(Slot j) const { return notes_->cost[j]; }
    double sign(std::size_t output, double label) const {
        return label == double(machines_.size() == 1 ? 1 : output) ? 1.0 : -1.0;
    }
    bool supports(Slot j) const {
        return std::any_of(machines_.begin(), machines_.end(),
                           [&](const auto& m) { return m->coefficient(j) != 0; });
    }

    Machine& add_machine() {
        machines_.push_back(std::make_unique<Machine>(*rows_, terms_));
        return *machines_.back();
    }
    // More classes: the two-class machine is the second class's; the first's is its mirror image.
    // `begin` brings each new machine to where it would be had it been there from the start.
    template <class Begin>
    void grow_to(std::size_t classes, Begin begin) {
        if (classes <= 2 || classes <= machines_.size()) return;
        if (machines_.size() == 1) {
            auto first = std::make_unique<Machine>(*rows_, terms_);
            first->mirror(*machines_[0]);
            machines_.insert(machines_.begin(), std::move(first));
        }
        while (machines_.size() < classes) begin(add_machine());
    }
    // Where the machine is now that was the c-th at the mark.
    std::size_t now(std::size_t c) const {
        return was_.size() == 1 && machines_.size() > 1 ? 1 : c;
    }

    // Those without a coefficient leave f, once there are many.
    void tidy() {
        const std::size_t active = rows_->active();
        if (8 * (active - n_support()) <= active + 128) return;
        rows_->together([&] {
            for (Slot j(active); j-- > 0;)
                if (!supports(j)) rows_->demote(j);
        });
    }

    std::vector<Slot> all_slots() const {
        std::vector<Slot> all(rows_->size());
        std::iota(all.begin(), all.end(), Slot{});
        return all;
    }
    // Some of those between their bounds, whose conditions are equations that rounding breaks
    // first, and some of the others, evenly chosen.
    std::vector<Slot> some_slots() const {
        std::vector<Slot> kinds[2], few;
        for (Slot j{}; j < rows_->size(); ++j)
            kinds[std::any_of(machines_.begin(), machines_.end(), [&](const auto& m) {
                return m->tight(j);
            })].push_back(j);
        for (const auto& kind : kinds) {
            const std::size_t n = kind.size(), most = std::min(n, kFew);
            for (std::size_t i = 0; i < most; ++i) few.push_back(kind[i * n / most]);
        }
        return few;
    }
    // f of examples held, in double: outputs() values each.
    std::vector<double> scores_of(std::span<const Slot> slots) const {
        std::vector<double> f =
            scores_in_double<T>(rows_->store(), rows_->active(), coefficients(), slots);
        for (std::size_t i = 0; i < f.size(); ++i) f[i] += machines_[i % machines_.size()]->bias();
        return f;
    }
    // The sum of term(machine, slot, f) over machines and examples held, with f in double.
    template <class Term>
    double sum_of_held(Term term) const {
        const std::vector<double> f = scores_of(all_slots());
        double total = 0;
        for (std::size_t c = 0; c < machines_.size(); ++c)
            for (Slot j{}; j < rows_->size(); ++j)
                total += term(*machines_[c], j, f[j * machines_.size() + c]);
        return total;
    }

    double worst_violation(std::span<const Slot> slots) const {
        return worst_violation(
            slots, [](const Machine& m, Slot j, double f) { return m.violation(j, f); });
    }
    // The largest of violation(machine, slot, f) over these slots, and of the imbalances.
    template <class Violation>
    double worst_violation(std::span<const Slot> slots, Violation&& violation) const {
        double worst = 0;
        const std::vector<double> f = scores_of(slots);
        for (double fj : f)
            if (std::isnan(fj)) return fj;
        for (std::size_t c = 0; c < machines_.size(); ++c) {
            for (std::size_t i = 0; i < slots.size(); ++i)
                worst = std::max(worst,
                                 violation(*machines_[c], slots[i], f[i * machines_.size() + c]));
            worst = std::max(worst, machines_[c]->imbalance());
        }
        return worst;
    }

    // A machine shows its coefficients where they lie, or writes them out where it keeps others.
    class Coefficients {
      public:
        void add(const double* shown) { all_.push_back(shown); }
        void add(Aligned<double> written) {
            written_.push_back(std::move(written));
            all_.push_back(written_.back().data());
        }
        operator std::span<const double* const>() const { return all_; }

      private:
        std::vector<Aligned<double>> written_;
        std::vector<const double*> all_;
    };
    Coefficients coefficients() const {
        Coefficients all;
        for (const auto& machine : machines_) all.add(machine->coefficients());
        return all;
    }

    static constexpr std::size_t kFew = 32;     // of a kind, in a spot check
    static constexpr std::size_t kMany = 1000;  // slots that a machine passes while a thread wakes
    // What a file says is taken only where it fits together. A user's own function is never from a
    // file, and may be no kernel.
    void demand_sound() {
        const std::size_t classes = std::max<std::size_t>(2, machines_.size());
        for (Slot j{}; j < rows_->size(); ++j) {
            demand(std::size_t(notes_->label[j]) < classes, "a class is out of range");
            demand(cost(j) >= 0, "a cost is negative or not a number");
            demand(notes_->age[j] >= 0 && notes_->age[j] < notes_->arrived,
                   "an example is older than the first or newer than the last");
            for (const auto& m : machines_)
                demand(j < rows_->active() || m->coefficient(j) == 0,
                       "an example that counts is not among the active");
        }
        if constexpr (requires(const Machine& m) { m.kept(Slot{}), m.upper(Slot{}); }) {
            for (const auto& m : machines_)
                for (Slot j{}; j < rows_->size(); ++j)
                    demand(m->upper(j) <= cost(j) * (1 + 1e-9), "a bound is above its cost");
            if (rows_->store().kernel().shape == Shape::function) return;
            const std::vector<bool> believed = believable();
            for (std::size_t c = 0; c < machines_.size(); ++c)
                if (!believed[c]) {
                    demand(rows_->are_few(), "the decision values are not those of the examples");
                    machines_[c]->refresh();
                }
        }
    }
    // Of which machines to believe the decision values that they keep, without the bias: none is
    // beyond |w| |phi(x)|, and those of a few examples are those of the rows. So few, that the work
    // grows with the file.
    std::vector<bool> believable() const {
        constexpr std::size_t kLooks = 64;
        constexpr double kRoom = 1e-3;  // far more than rounding
        const std::size_t n = rows_->size();
        std::vector<double> length(n), w;  // |phi(x)|, and a bound of |w|
        for (Slot j{}; j < n; ++j) length[j] = std::sqrt(std::abs(rows_->diagonal()[j]));
        for (const auto& m : machines_) {
            w.push_back(0);
            for (Slot j{}; j < n; ++j) w.back() += m->weight(j) * length[j];
            for (double l : length) demand(std::isfinite(w.back() * l), "coefficients too large");
        }
        std::vector<bool> believed(machines_.size(), true);
        const auto compare = [&](std::size_t c, Slot j, double off) {
            const double reach = w[c] * length[j];
            if (off > machines_[c]->postponed() + kRoom * (1 + reach)) believed[c] = false;
        };
        for (std::size_t c = 0; c < machines_.size(); ++c)
            for (Slot j{}; j < n; ++j)
                compare(c, j, std::abs(machines_[c]->kept(j)) - w[c] * length[j]);
        for (Slot j{}; j < n; j = Slot(j + 1 + n / kLooks)) {
            const Aligned<T> row = rows_->values_of(j);
            for (std::size_t c = 0; c < machines_.size(); ++c) {
                const Machine& m = *machines_[c];
                const double f = isa::table<T>().dot(row.data(), m.coefficients(), rows_->active());
                compare(c, j, std::abs(m.kept(j) - f));
            }
        }
        return believed;
    }

    std::unique_ptr<KernelCache<T>> rows_;  // on the heap: its followers keep its address
    std::unique_ptr<Notes> notes_;
    std::vector<std::unique_ptr<Machine>> machines_;
    std::vector<Before<Machine>> was_;
    Before<Notes> notes_before_;
    typename Machine::Terms terms_;  // what a machine is made with
    std::vector<double> f_;          // of the example being learned, per output
};

}  // namespace onlinesvm
