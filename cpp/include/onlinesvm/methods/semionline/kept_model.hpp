// The examples of an SVM that is trained now and then: those kept, which are its solution, and those
// that wait at alpha = 0 for the next training. The kept ones are the active slots, [0, active); what
// the machines know, their bias included, is known of these alone.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "onlinesvm/machine/forget.hpp"
#include "onlinesvm/methods/dual/pair_model.hpp"
#include "onlinesvm/methods/semionline/trial.hpp"
#include "onlinesvm/solver/smo.hpp"

namespace onlinesvm {

template <class T>
class KeptModel : public PairModel<T> {
    using Base = PairModel<T>;

  public:
    KeptModel(const KernelParams& p, double tol, std::size_t chunk)
        : Base(p, {.tau = tol}), chunk_(chunk) {}

    void grow(std::size_t classes) {
        Base::grow(classes);
        look();
    }
    bool capped() const { return capped_; }
    // Over the examples kept: those that wait violate, or they would not.
    double kkt_residual() const { return this->worst_violation(of_kept(this->all_slots())); }
    double spot_check() const { return this->worst_violation(of_kept(this->some_slots())); }

    auto undoable() { return std::tie(capped_, tried_); }

    template <class A>
    void state(A& a) {
        Base::state(a);
        a("tried", tried_);
        if constexpr (A::loading) {
            demand(tried_ <= chunk_ && waiting() <= chunk_ + tried_,
                   "more examples wait than a chunk has");
            look();
        }
    }

  protected:
    using Base::machines_, Base::rows_, Base::notes_, Base::sign, Base::f_;

    bool trained() const { return rows_->active() > 0; }
    std::size_t waiting() const { return rows_->size() - rows_->active(); }
    // A chunk has come since the last training, or since it was tried in vain.
    bool is_due() const { return waiting() >= chunk_ + tried_; }
    std::vector<Id> waiting_ids() const {
        std::vector<Id> ids;
        for (Slot j(rows_->active()); j < rows_->size(); ++j) ids.push_back(rows_->id(j));
        return ids;
    }
    bool lacks_a_class() const {
        const auto& label = notes_->label;
        return std::all_of(label.begin(), label.end(), [&](auto l) { return l == label[0]; });
    }

    // f_ is of this example.
    void wait(Row<T> x, double y, double cost, Id id) {
        const Slot j = this->hold(x, y, cost, id);
        for (std::size_t c = 0; c < machines_.size(); ++c)
            machines_[c]->learn(j, sign(c, y), cost, f_[c]);
        if (!trained()) look();
    }
    // Whether it was among those kept; the machines may then be far from optimal.
    bool take_away(Id id) {
        if (!rows_->holds(id)) return false;
        const bool kept = rows_->slot(id) < rows_->active();
        kept ? this->remove(id) : rows_->remove(rows_->slot(id));
        tried_ = std::min(tried_, waiting());
        if (!trained()) look();
        return kept;
    }
    // With one class alone there is nothing to tell apart: all wait, of too many the newest, until
    // another chunk has come, so that a second class is more than one example when it counts.
    void wait_anew(std::size_t most) {
        for (Slot j(rows_->active()); j-- > 0;) rows_->demote(j);
        std::vector<std::pair<std::int64_t, Id>> by_age;
        for (Slot j{}; j < rows_->size(); ++j) by_age.push_back({notes_->age[j], rows_->id(j)});
        std::sort(by_age.rbegin(), by_age.rend());
        tried_ = std::min({by_age.size(), chunk_, most});
        for (const auto& [age, id] : std::span(by_age).subspan(tried_))
            rows_->remove(rows_->slot(id));
        for (Slot j{}; j < rows_->size(); ++j)
            for (std::size_t c = 0; c < machines_.size(); ++c)
                machines_[c]->learn(j, sign(c, notes_->label[j]), this->cost(j), 0);
        look();
    }

    // Optimal over all examples held.
    void solve(double tol) {
        capped_ = false;
        for (auto& m : machines_) {
            if (machines_.size() > 1) rows_->rest_all();  // the hot ones were another's
            SmoSolver<T> solver(*rows_, *m, Pair<T>::Order::second, tol,
                                [&](Slot j) { return this->supports(j); });
            capped_ |= !solver.solve();
        }
        for (auto& m : machines_) m->look();
    }
    // Whose coefficient or whose place at the edge of the margin counts, for some machine. A machine
    // that lacks a class has neither.
    std::vector<Slot> needed() const {
        std::vector<Slot> needed;
        for (Slot j{}; j < rows_->size(); ++j)
            if (std::any_of(machines_.begin(), machines_.end(), [&](const auto& m) {
                    return m->coefficient(j) != 0 || (m->complete() && !m->idle(j));
                }))
                needed.push_back(j);
        return needed;
    }
    void drop_idle() {
        std::vector<bool> is_needed(rows_->size());
        for (Slot j : needed()) is_needed[j] = true;
        std::vector<Id> idle;
        for (Slot j{}; j < rows_->size(); ++j)
            if (!is_needed[j]) idle.push_back(rows_->id(j));
        for (Id id : idle) {
            poll(rows_->size());
            rows_->remove(rows_->slot(id));
        }
    }
    // Nobody waits any more.
    void keep_all() {
        while (waiting() > 0) rows_->admit(Slot(rows_->active()));
        tried_ = 0;
        look();
    }

    // ---- what is said of an example ----

    std::vector<double> coefficients_of(Slot j) const {
        std::vector<double> s;
        for (const auto& m : machines_) s.push_back(m->coefficient(j));
        return s;
    }
    Candidate candidate(Slot j) const {
        Candidate c{rows_->id(j), notes_->age[j]};
        for (const auto& m : machines_) c.add(m->coefficient(j), 1 - m->label(j) * f(*m, j));
        return c;
    }
    std::vector<typename Trial<T>::Judged> judged(std::span<const Id> ids) const {
        std::vector<typename Trial<T>::Judged> all;
        for (Id id : ids) {
            const Slot j = rows_->slot(id);
            all.push_back({j, notes_->label[j], {}});
            for (const auto& m : machines_) all.back().f.push_back(f(*m, j));
        }
        return all;
    }

  private:
    // As the machine keeps it, for an example held.
    static double f(const Pair<T>& m, Slot j) { return m.kept(j) + m.bias(); }

    std::vector<Slot> of_kept(std::vector<Slot> slots) const {
        std::erase_if(slots, [&](Slot j) { return j >= rows_->active(); });
        return slots;
    }
    // Where the bias lies, by the examples kept; before there are any, by those of the first class
    // while another waits for its chunk, or by all.
    void look() {
        const std::size_t known = tried_ > 0 ? tried_ : rows_->size();
        for (auto& m : machines_) m->look(trained() ? rows_->active() : known);
    }

    std::size_t chunk_;
    std::size_t tried_ = 0;  // of those that wait, how many could not be trained on: all of a class
    bool capped_ = false;
};

}  // namespace onlinesvm
