// The core vector machine: the smallest ball around all examples from that around few of them.
// Tsang, Kwok & Cheung, "Core Vector Machines: Fast SVM Training on Very Large Data Sets",
// JMLR 6, 2005.
//
// The ball around a core is in solver/core_ball.hpp; here is which examples enter it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "onlinesvm/machine/one_vs_rest.hpp"
#include "onlinesvm/solver/core_ball.hpp"
#include "onlinesvm/state/random.hpp"

namespace onlinesvm {

template <class T>
class CoreVector : public OneVsRest<T, CoreBall<T>> {
  public:
    using Verbs = Offers<SolvedVerbs, verb::solve, verb::passes, verb::radius>;

    struct Params : KernelParams {
        double tol = 1e-3;         // epsilon: an example may lie (1 + epsilon) R from the centre
        std::int64_t sample = 59;  // candidates of a round; 0: all examples
        std::int64_t random_state = 0;

        template <class F>
        void fields(F&& field) {
            KernelParams::fields(field);
            field("tol", tol);
            field("sample", sample);
            field("random_state", random_state);
        }
    };

    explicit CoreVector(const Params& p)
        : OneVsRest<T, CoreBall<T>>(p, {.kkt = p.tol}), params_(p), random_(p.random_state) {}

    // Collects; solve() learns.
    void learn(Row<T> x, double y, double weight, Id id) {
        const double cost = params_.C * weight;
        if (!(cost > 0 && std::isfinite(1 / cost))) return;
        const Slot t = this->hold(x, y, cost, id);
        for (std::size_t o = 0; o < machines_.size(); ++o)
            machines_[o]->add(t, sign(o, y), 1 / cost);
    }

    // From the core at hand to one whose ball, (1 + epsilon) times as wide, holds all examples.
    void solve() {
        passes_ = 0;
        if (rows_->size() == 0) return;
        for (auto& ball : machines_) {
            ball->open();
            if (!ball->has_centre()) begin(*ball);
            std::int64_t passes = 0;
            double excess = 0;  // of the last example to enter; 0: the ball is exact
            for (bool exact = false; excess > 0 || !exact;) {
                exact = excess == 0;
                ball->optimise(excess);
                excess = enter_one_of_a_sample(*ball);
                if (excess > 0) continue;
                ++passes;
                excess = enter_farthest(*ball);
            }
            ball->close();
            passes_ = std::max(passes_, passes);
        }
        for (Slot j(rows_->active()); j-- > 0;)
            if (!Base::supports(j)) rows_->demote(j);
    }

    // Takes examples away, and goes on with the rest of the core.
    void unlearn(std::span<const Id> ids) {
        const std::size_t before = rows_->size();
        for (Id id : ids) {
            if (!rows_->holds(id)) continue;
            for (auto& ball : machines_) ball->forget(rows_->slot(id));
            rows_->remove(rows_->slot(id));
        }
        if (rows_->size() < before) solve();
    }

    void grow(std::size_t classes) {
        this->grow_to(classes, [&](CoreBall<T>& ball) {  // every example held is a negative
            for (Slot j{}; j < rows_->size(); ++j) ball.add(j, -1, 1 / this->cost(j));
        });
    }

    std::vector<double> radius() const {
        std::vector<double> R;
        for (const auto& ball : machines_) R.push_back(ball->radius());
        return R;
    }
    // Over all examples, in the last search; the most of any output.
    std::size_t passes() const { return std::size_t(passes_); }

    // |w|^2/2 + sum C_i max(0, 1 - y_i f(x_i))^2/2 over the examples held, summed over outputs.
    double objective() const {
        return this->sum_of_held([](const CoreBall<T>& ball, Slot j, double f) {
            const double xi = std::max(0.0, 1 - ball.label(j) * f);
            return 0.5 * (ball.coefficient(j) * f + xi * xi / ball.slack(j));
        });
    }

    auto undoable() { return std::tie(random_, passes_); }

    template <class A>
    void state(A& a) {
        Base::state(a);
        a("random", random_);
        a("passes", passes_);
    }

  private:
    using Base = OneVsRest<T, CoreBall<T>>;
    using Base::machines_, Base::rows_, Base::sign;

    // a is farthest from a random z_0, b farthest from a.
    void begin(CoreBall<T>& ball) {
        const Slot z(random_.below(rows_->size()));
        const Id a = rows_->id(ball.farthest_from(z));
        const Id b = rows_->id(ball.farthest_from(rows_->slot(a)));
        for (Id id : {a, b}) enter(ball, id);
        ball.start(rows_->slot(a));
    }
    void enter(CoreBall<T>& ball, Id id) {
        if (const Slot j = rows_->slot(id); j >= rows_->active()) ball.enter(j);
    }

    // The farthest of a few examples drawn at random: 59 find one of the farthest 5 % with
    // probability 0.95.
    double enter_one_of_a_sample(CoreBall<T>& ball) {
        const std::size_t outsiders = rows_->size() - rows_->active();
        if (params_.sample == 0 || outsiders == 0 || ball.capped()) return 0;
        std::vector<Slot> drawn;
        for (std::int64_t i = 0; i < params_.sample; ++i)
            drawn.push_back(Slot(rows_->active() + random_.below(outsiders)));
        const std::vector<double> v = ball.inner_products(drawn);
        const std::size_t best = std::size_t(std::min_element(v.begin(), v.end()) - v.begin());
        const double excess = ball.excess(v[best]);
        if (excess > 0) ball.enter(drawn[best]);
        return excess;
    }
    // The farthest of all examples or, where rounds have samples, as many of the farthest as a
    // sample has. A pass in which none enters proves the bound.
    double enter_farthest(CoreBall<T>& ball) {
        const std::vector<double> v = ball.pass();
        std::vector<Slot> outside;
        for (Slot j(rows_->active()); j < v.size(); ++j)
            if (ball.excess(v[j]) > 0) outside.push_back(j);
        if (outside.empty() || ball.capped()) return 0;
        const std::size_t most = std::max<std::size_t>(1, std::size_t(params_.sample));
        const std::size_t n = std::min(most, outside.size());
        std::partial_sort(outside.begin(), outside.begin() + std::ptrdiff_t(n), outside.end(),
                          [&](Slot i, Slot j) { return v[i] < v[j]; });
        const double excess = ball.excess(v[outside[0]]);
        std::vector<Id> ids;
        for (std::size_t i = 0; i < n; ++i) ids.push_back(rows_->id(outside[i]));
        for (Id id : ids) enter(ball, id);
        return excess;
    }

    Params params_;
    Random random_;
    std::int64_t passes_ = 0;
};

}  // namespace onlinesvm
