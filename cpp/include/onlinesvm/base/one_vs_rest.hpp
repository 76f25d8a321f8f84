// What kernel machines over stored examples share: the examples with their kernel rows, and one
// binary machine per output (one against the rest; two classes need one output only).
//
// A Machine follows the Rows it was made with, Machine(Rows<T>&, Machine::Terms), and offers
// coefficient(s), label, upper, bias, balanced (the coefficients sum to 0), capped, mirror, nbytes
// and state.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "onlinesvm/base/rows.hpp"
#include "onlinesvm/base/score.hpp"
#include "onlinesvm/base/support.hpp"

namespace onlinesvm {

template <class T, class Machine>
class OneVsRest {
  public:
    OneVsRest(const Kernel& kernel, std::int64_t cache_bytes, typename Machine::Terms terms)
        : rows_(std::make_unique<Rows<T>>(kernel, std::size_t(cache_bytes))),
          notes_(std::make_unique<Notes>()),
          terms_(terms) {
        rows_->follow(notes_.get());
        add_machine();
    }
    // No assignment: it would free the rows before the machines let go of them.
    OneVsRest(OneVsRest&&) = default;
    OneVsRest& operator=(OneVsRest&&) = delete;

    std::size_t outputs() const { return machines_.size(); }
    bool holds(std::int64_t id) const { return rows_->holds(id); }
    std::size_t held() const { return rows_->size(); }
    // By slot: the ids held, and the class number of each.
    std::vector<std::int64_t> ids() const {
        std::vector<std::int64_t> ids;
        for (Slot j = 0; j < rows_->size(); ++j) ids.push_back(rows_->id(j));
        return ids;
    }
    std::vector<std::int64_t> labels() const {
        return {notes_->label.begin(), notes_->label.end()};
    }

    void use_threads(std::size_t n) { rows_->use_threads(n); }
    // The next example is the i-th of those that expect() was told of.
    void turn(std::size_t i) { rows_->turn(i); }

    void mark() {
        was_.resize(machines_.size());
        for (std::size_t c = 0; c < was_.size(); ++c) was_[c].mark(*machines_[c]);
        notes_->cost.mark(), notes_->label.mark();
        rows_->mark();
    }
    void commit() noexcept {
        for (std::size_t c = 0; c < was_.size(); ++c) was_[c].commit(*machines_[now(c)]);
        notes_->cost.commit(), notes_->label.commit();
        rows_->commit();
    }
    void revert() noexcept {
        if (now(0) != 0) machines_[0].swap(machines_[now(0)]);
        machines_.resize(was_.size());
        for (std::size_t c = 0; c < was_.size(); ++c) was_[c].revert(*machines_[c]);
        notes_->cost.revert(), notes_->label.revert();
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
        for (Slot j = 0; j < rows_->active(); ++j) n += supports(j);
        return n;
    }
    bool capped() const {
        return std::any_of(machines_.begin(), machines_.end(),
                           [](const auto& m) { return m->capped(); });
    }
    // Largest violation of the KKT conditions, from f computed afresh; a bound of 0 takes no part.
    double kkt_residual() const {
        double worst = 0;
        const std::vector<double> f = scores_of_held();
        for (std::size_t c = 0; c < machines_.size(); ++c) {
            const Machine& m = *machines_[c];
            double sum = 0;
            for (Slot j = 0; j < rows_->size(); ++j) {
                const double alpha = std::abs(m.coefficient(j)), upper = m.upper(j);
                const double g = 1 - m.label(j) * f[j * machines_.size() + c];
                sum += m.coefficient(j);
                if (upper == 0) continue;
                worst = std::max(worst, alpha == 0 ? g : alpha == upper ? -g : std::abs(g));
            }
            if (m.balanced()) worst = std::max(worst, std::abs(sum));
        }
        return worst;
    }
    std::size_t nbytes() const {
        std::size_t n = rows_->nbytes();
        for (const auto& machine : machines_) n += machine->nbytes();
        return n + rows_->size() * (sizeof(double) + sizeof(std::int32_t));
    }

    template <class A>
    void state(A& a) {
        std::int64_t outputs = std::int64_t(machines_.size());
        a("outputs", outputs);
        a("rows", *rows_);
        a("cost", notes_->cost);
        a("class", notes_->label);
        if constexpr (A::loading) {
            if (outputs < 1 || notes_->cost.size() != rows_->size() ||
                notes_->label.size() != rows_->size())
                throw std::invalid_argument("state: outputs or costs do not fit the examples");
            machines_.clear();
        }
        for (std::int64_t c = 0; c < outputs; ++c) {
            if constexpr (A::loading)
                add_machine();  // one by one: a false count fails at the first
            a("box" + std::to_string(c), *machines_[std::size_t(c)]);
        }
    }

  protected:
    struct Notes final : Follower {  // what is known of an example besides x
        PlainLedger<double> cost;    // C_i
        PlainLedger<std::int32_t> label;
        void slot_pushed() override { cost.push_back(0), label.push_back(0); }
        void slots_swapped(Slot a, Slot b) override {
            std::swap(cost[a], cost[b]), std::swap(label[a], label[b]);
        }
        void slot_popped() override { cost.pop_back(), label.pop_back(); }
    };

    double cost(Slot j) const { return notes_->cost[j]; }
    double sign(std::size_t output, std::int32_t label) const {
        return label == std::int32_t(machines_.size() == 1 ? 1 : output) ? 1.0 : -1.0;
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
            for (Slot j = active; j-- > 0;)
                if (!supports(j)) rows_->demote(j);
        });
    }

    // f of every example held, afresh: outputs() values each.
    std::vector<double> scores_of_held() const {
        std::vector<double> f(rows_->size() * machines_.size());
        typename Store<T>::Scratch scratch;
        for (Slot j = 0; j < rows_->size(); ++j)
            score(rows_->store().get(j, scratch), f.data() + j * machines_.size());
        return f;
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

    std::unique_ptr<Rows<T>> rows_;  // on the heap: its followers keep its address
    std::unique_ptr<Notes> notes_;
    std::vector<std::unique_ptr<Machine>> machines_;
    std::vector<Before<Machine>> was_;
    typename Machine::Terms terms_;  // what a machine is told when it is made
};

}  // namespace onlinesvm
