// The offline ramp-loss SVM: all examples at hand, hinge SVMs on a shrinking and growing V (CCCP,
// in the drop form of the ramp paper's section II.C). Collobert, Sinz, Weston & Bottou, ICML 2006.
#pragma once

#include "onlinesvm/methods/exact/ramp_model.hpp"
#include "onlinesvm/state/random.hpp"

namespace onlinesvm {

template <class T>
class OfflineRamp : public RampModel<T> {
  public:
    using Verbs = Offers<SolvedVerbs, verb::evidence, verb::solve>;

    struct Params : RampParams {
        double start = 1.0;  // the share of the examples that V starts with
        template <class F>
        void fields(F&& field) {
            RampParams::fields(field);
            field("start", start);
            field("max_rounds", max_rounds);
        }
    };

    explicit OfflineRamp(const Params& p) : RampModel<T>(p), start_(p.start) {}

    // Collects; solve() learns.
    void learn(Row<T> x, double y, double weight, Id id) {
        if (weight <= 0) return;
        const Slot t = this->hold(x, y, ramp_.C * weight, id);
        const double bound = start_ == 1.0 || draws_.unit() < start_ ? this->cost(t) : 0.0;
        for (std::size_t c = 0; c < machines_.size(); ++c)
            machines_[c]->learn(t, this->sign(c, y), bound, 0);
    }

    // V <- all, or those drawn; then: the SVM on V, and V the examples inside the ramp, until V stays.
    void solve() {
        outer_ = 0;
        for (auto& box : machines_) {
            std::int64_t round = 0;
            bool vanishing = false, moving = false;
            do {
                box->optimise();
                vanishing = a_class_would_vanish(*box);
                moving = !vanishing && this->relocate(*box);
            } while (++round < ramp_.max_rounds && moving);
            outer_ = std::max(outer_, round);
            if (moving || vanishing) box->give_up();
        }
    }

    std::size_t outer_rounds() const { return std::size_t(outer_); }

    auto undoable() { return std::tuple_cat(RampModel<T>::undoable(), std::tie(outer_, draws_)); }

    template <class A>
    void state(A& a) {
        RampModel<T>::state(a);
        a("outer", outer_);
    }

  private:
    using RampModel<T>::machines_, RampModel<T>::rows_, RampModel<T>::ramp_;

    // Then the solution at hand is the better one.
    bool a_class_would_vanish(const Box<T>& box) const {
        bool had[2] = {}, keeps[2] = {};
        for (Slot j{}; j < rows_->size(); ++j) {
            had[box.label(j) > 0] = true;
            if (this->in_ramp(box.gradient(j) - this->terms_.kkt)) keeps[box.label(j) > 0] = true;
        }
        return had[0] != keeps[0] || had[1] != keeps[1];
    }

    double start_;
    Random draws_;
    std::int64_t outer_ = 0;
};

}  // namespace onlinesvm
