// The SVM in one batch by sequential minimal optimisation, with a free bias or none; it goes on
// from any solution at hand. Platt 1999; Fan, Chen & Lin, JMLR 6, 2005.
//
// The steps are in solver/pair.hpp, rounds and shrinking in solver/smo.hpp.
#pragma once

#include <limits>
#include <string>

#include "onlinesvm/machine/one_vs_one.hpp"
#include "onlinesvm/methods/dual/pair_model.hpp"
#include "onlinesvm/solver/smo.hpp"

namespace onlinesvm {

template <class T>
class Smo : public PairModel<T> {
    using Base = PairModel<T>;

  public:
    using Verbs = Offers<SolvedVerbs, verb::evidence, verb::improve, verb::bias>;

    struct Params : KernelParams {
        double tol = 1e-3;
        std::string bias = "free";
        std::string order = "second";
        std::int64_t max_iter = std::numeric_limits<std::int64_t>::max();  // steps per output

        template <class F>
        void fields(F&& field) {
            KernelParams::fields(field);
            field("tol", tol);
            field("bias", bias);
            field("order", order);
            field("max_iter", max_iter);
        }
    };

    explicit Smo(const Params& p)
        : Base(p, {.tau = p.tol,
                   .bias = p.bias == "none" ? Pair<T>::Bias::none : Pair<T>::Bias::free}),
          params_(p),
          steps_(1) {}

    // The example waits at alpha = 0; improve() lets it in.
    void learn(Row<T> x, double y, double weight, Id id) {
        KernelRow<T> row = rows_->arriving(x);
        if (weight <= 0) return;
        const Slot j = this->hold(x, y, params_.C * weight, id);
        capped_ = false;
        for (std::size_t c = 0; c < machines_.size(); ++c) {
            Pair<T>& m = *machines_[c];
            m.learn(j, this->sign(c, y), this->cost(j), m.f(row.data()));
        }
        rows_->recycle(std::move(row));
    }
    void expect(std::span<const Row<T>> coming) { rows_->expect(coming); }

    void grow(std::size_t classes) {
        Base::grow(classes);
        steps_.resize(machines_.size());
    }

    // Their coefficients go to others; improve() makes the best of it.
    void unlearn(std::span<const Id> ids) {
        for (Id id : ids)
            if (rows_->holds(id)) this->remove(id);
    }

    // One round of steps. False once every machine is optimal, or may step no more.
    bool improve() {
        if (turn_ == kIdle) begin();
        for (; turn_ < machines_.size(); ++turn_, entering_ = true)
            if (improves(*machines_[turn_], steps_[turn_])) return true;
        turn_ = kIdle;
        this->tidy();
        return false;
    }

    // How much the worst pair of the machine at work violates; 0 when none is.
    double gap() const { return turn_ == kIdle ? 0 : machines_[turn_]->delta(); }
    bool capped() const { return capped_; }
    // Steps of the last solution, per output.
    std::vector<std::int64_t> steps() const { return steps_; }

    auto undoable() { return std::tie(steps_, capped_, turn_, entering_, checked_); }

    template <class A>
    void state(A& a) {
        Base::state(a);
        if constexpr (A::loading) steps_.assign(machines_.size(), 0);
    }

  private:
    using Base::machines_, Base::rows_;
    static constexpr std::size_t kIdle = std::numeric_limits<std::size_t>::max();
    static constexpr double kTight = 1e-6;  // below, g is computed afresh before it is believed

    void begin() {
        turn_ = 0;
        entering_ = true;
        capped_ = false;
        steps_.assign(machines_.size(), 0);
    }
    bool improves(Pair<T>& m, std::int64_t& steps) {
        SmoSolver<T> solver(*rows_, m, order(), params_.tol,
                            [&](Slot j) { return this->supports(j); });
        if (entering_) checked_ = 0;
        if (!solver.violates()) {
            if (params_.tol >= kTight || steps == checked_) return false;
            m.refresh();
            checked_ = steps;
            if (!solver.violates()) return false;
        }
        const std::int64_t left = std::min(params_.max_iter, m.limit()) - steps;
        if (left <= 0) capped_ = true;
        if (left <= 0) return false;
        if (entering_ && machines_.size() > 1) rows_->rest_all();  // the hot ones were another's
        entering_ = false;
        const std::int64_t taken = solver.round(left);
        steps += taken;
        return taken > 0;
    }
    typename Pair<T>::Order order() const {
        return params_.order == "first" ? Pair<T>::Order::first : Pair<T>::Order::second;
    }

    Params params_;
    std::vector<std::int64_t> steps_;
    bool capped_ = false;

    // While improving:
    std::size_t turn_ = kIdle;  // whose turn it is
    bool entering_ = true;
    std::int64_t checked_ = 0;  // steps when g was last computed afresh
};

template <class T>
using SmoPairs =
    OneVsOne<T, Smo<T>, Offers<SolvedVerbs, verb::evidence, verb::improve, verb::bias>>;

}  // namespace onlinesvm
