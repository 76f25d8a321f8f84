// The Huller: the hard-margin SVM as the nearest points of two convex hulls, approached while
// examples pass. Bordes & Bottou, "The Huller: a simple and efficient online SVM", ECML 2005.
//
// The two points and their steps (eq. 4-8) are in solver/hulls.hpp; here is which examples enter.
#pragma once

#include <functional>
#include <limits>

#include "onlinesvm/machine/one_vs_rest.hpp"
#include "onlinesvm/solver/hulls.hpp"
#include "onlinesvm/state/random.hpp"

namespace onlinesvm {

template <class T>
class Huller : public OneVsRest<T, Hulls<T>> {
  public:
    using Verbs = Offers<SolvedVerbs, verb::duality_gap, verb::finish, verb::bias, verb::suffered,
                         verb::touching>;

    struct Params : KernelParams {
        double tol = 1e-3;           // of finish
        std::int64_t init = 1;       // examples per class whose mean founds its hull
        std::int64_t reprocess = 1;  // support vectors updated after each example
        std::int64_t random_state = 0;

        template <class F>
        void fields(F&& field) {
            KernelParams::fields(field);
            field("tol", tol);
            field("init", init);
            field("reprocess", reprocess);
            field("random_state", random_state);
        }
    };

    explicit Huller(const Params& p)
        : OneVsRest<T, Hulls<T>>(p, {}), params_(p), random_(p.random_state) {}

    // One example passes (fig. 4): an attempt to insert it, then attempts to remove others.
    void learn(Row<T> x, double y, double weight, Id id) {
        KernelRow<T> row = rows_->arriving(x);
        if (weight <= 0) return;
        const double cost = params_.C * weight;
        if (rows_->holds(id)) {  // a later epoch
            rows_->recycle(std::move(row));
            insert(rows_->slot(id));
        } else if (attracts(row, x, y, 1 / cost)) {
            insert(store(x, std::move(row), y, cost, id));
        } else {
            rows_->recycle(std::move(row));
        }
        for (auto& m : machines_) reprocess(*m);
        prune();
    }

    void expect(std::span<const Row<T>> coming) { rows_->expect(coming); }

    // Optimal over the examples held, which are then the support vectors alone: none is off its
    // margin by more than tol.
    void finish(double tol) {
        for (int round = 0; round < kRounds; ++round) {
            bool moved = false;
            for (auto& m : machines_) {
                m->refresh();
                moved |= m->settle(tol);
            }
            prune();
            if (!moved || this->capped()) return;
        }
    }

    // Takes examples away and finishes the rest; an id not stored has no influence left.
    void unlearn(std::span<const Id> ids) {
        for (Id id : ids) {
            if (!rows_->holds(id)) continue;
            for (auto& m : machines_) m->clear(rows_->slot(id));
            prune();
        }
        finish(params_.tol);
    }

    void grow(std::size_t classes) {
        this->grow_to(classes, [&](Hulls<T>& m) {  // every example held is a negative
            for (Slot j{}; j < rows_->size(); ++j) m.learn(j, {.y = -1}, 1 / this->cost(j));
            for (Slot j{}; j < std::min(rows_->size(), std::size_t(params_.init)); ++j)
                m.insert(j, params_.init);
        });
    }

    // N2, the squared distance of the hulls, which every step lowers.
    double objective() const { return apart().n2; }
    // N2 - min N2 <= 2 gap, over the examples held.
    double duality_gap() const { return apart().gap; }
    bool touching() const {
        return std::any_of(machines_.begin(), machines_.end(),
                           [](const auto& m) { return m->touching(); });
    }
    // Examples that were not held and off their margin by more than tol when they came.
    // One class alone cannot be.
    double suffered() const {
        double sum = 0;
        for (std::size_t c = 0; c < violators_.size(); ++c)
            if (machines_[c]->complete()) sum += double(violators_[c]);
        return sum;
    }

    auto undoable() { return std::tie(random_, idle_); }

    template <class A>
    void state(A& a) {
        Base::state(a);
        a("random", random_);
        if constexpr (A::loading)
            demand(rows_->active() == rows_->size(), "an example is not among the active");
    }

  private:
    using Base = OneVsRest<T, Hulls<T>>;
    using Base::machines_, Base::rows_, Base::sign;
    static constexpr int kRounds = 50;

    // Whether some hull would take the example in; views_ keeps its products with them.
    bool attracts(const KernelRow<T>& row, Row<T> x, double label, double ridge) {
        const double self = rows_->store().self(x) + ridge;
        bool wanted = false;
        views_.clear();
        violators_.resize(machines_.size());
        for (std::size_t c = 0; c < machines_.size(); ++c) {
            views_.push_back(machines_[c]->view(row.data(), sign(c, label), self));
            wanted |= machines_[c]->wants(views_.back(), params_.init);
            violators_[c] += machines_[c]->violation(views_.back()) > params_.tol;
        }
        return wanted;
    }
    Slot store(Row<T> x, KernelRow<T> row, double label, double cost, Id id) {
        Slot k = this->hold(x, label, cost, id);
        rows_->keep(k, std::move(row));
        k = rows_->promote(k);
        for (std::size_t c = 0; c < machines_.size(); ++c)
            machines_[c]->learn(k, views_[c], 1 / cost);
        return k;
    }
    void insert(Slot k) {
        for (auto& m : machines_) m->insert(k, params_.init);
        idle_.push_back(k);  // rounding may have turned its step into none
    }
    void reprocess(Hulls<T>& m) {
        for (std::int64_t i = 0; i < params_.reprocess && m.complete() && !m.support().empty(); ++i)
            m.update(m.support()[random_.below(m.support().size())]);
    }
    // Drops examples that support no machine any more, from the end: what moves into a gap stays.
    void prune() {
        for (auto& m : machines_) m->hand_over_leavers(idle_);
        std::sort(idle_.begin(), idle_.end(), std::greater<>());
        idle_.erase(std::unique(idle_.begin(), idle_.end()), idle_.end());
        for (Slot j : idle_)
            if (std::none_of(machines_.begin(), machines_.end(),
                             [&](const auto& m) { return m->supports(j); }))
                rows_->remove(j);
        idle_.clear();
    }

    // Of all machines together, from the margins in double: y (X_P - X_N).phi = y (f - b) N2 / 2.
    struct Apart {
        double n2 = 0, gap = 0;
    };
    Apart apart() const {
        Apart all;
        const std::vector<double> f = this->scores_of(this->all_slots());
        for (std::size_t c = 0; c < machines_.size(); ++c) {
            const Hulls<T>& m = *machines_[c];
            if (!m.complete()) continue;
            const double half = 0.5 * m.n2();  // a = alpha N2 / 2
            double n2 = 0, nearest[2] = {kFar, kFar};
            for (Slot j{}; j < rows_->size(); ++j) {
                const double s = m.coefficient(j), y = m.label(j);
                const double fj = f[j * machines_.size() + c] - m.bias();
                const double margin = half * y * (fj + s * m.ridge(j));
                n2 += half * y * s * margin;
                nearest[y > 0] = std::min(nearest[y > 0], margin);
            }
            all.n2 += std::max(0.0, n2);
            all.gap += std::max(0.0, n2 - nearest[0] - nearest[1]);
        }
        return all;
    }
    static constexpr double kFar = std::numeric_limits<double>::infinity();

    Params params_;
    Random random_;
    std::vector<std::int64_t> violators_;         // per output
    std::vector<typename Hulls<T>::View> views_;  // of the example being learned, per output
    std::vector<Slot> idle_;                      // good until prune(), which alone moves examples
};

}  // namespace onlinesvm
