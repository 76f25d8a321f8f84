// Winnow (Littlestone: Machine Learning 2, 1988): a mistake multiplies the weights of its features.
//
// "divide", "eliminate": f = w.x - threshold, x in [0, 1]. A missed example multiplies by promotion^x_i,
// a false alarm by demotion^x_i, which eliminates if it is 0. "balanced": f = (u - v).x, the one
// promoted where the other is demoted.
#pragma once

#include <string>

#include "onlinesvm/machine/step_learner.hpp"
#include "onlinesvm/methods/margin/pairs.hpp"

namespace onlinesvm {

template <class T>
class Winnow : public StepLearner<T, Winnow<T>> {
  public:
    struct Params {
        std::string variant = "balanced";
        double promotion = 1.5, demotion = 0.5, threshold = 0.0;  // 0: half the number of features
        bool average = true;
        Kernel kernel;
        void fields(auto&& f) {
            f("variant", variant), f("promotion", promotion), f("demotion", demotion);
            f("threshold", threshold), f("average", average), f("kernel", kernel);
        }
    };

    explicit Winnow(const Params& p)
        : Winnow::StepLearner(p.kernel, {.mean = p.average}), p(p), pairs(p.kernel) {}

    double step(Function<T>& f, const Example<T>& e) {
        balanced ? pairs.meet(e.x) : meet_in_unit_cube(f, e.x, p.threshold);
        const auto moves = judge.moves(f.read(e.x), e.y, e.weight);
        f.serve();
        for (const auto& [r, step] : moves)
            if (balanced)
                pairs.exchange(f, r, e.x, step, up, down);
            else
                multiply(f, r, e.x, step > 0.0 ? up : down, std::abs(step));
        return moves.empty() ? 0.0 : 1.0;
    }

    void grow(std::size_t classes) {
        require(balanced || classes < 3, "variant: only 'balanced' knows more than two classes");
        Winnow::StepLearner::grow(classes), pairs.resize(this->outputs());
    }
    void split() { pairs.split(this->f); }
    auto members() { return std::tuple(Named{"pairs", pairs}); }
    void loaded() const { pairs.demand_fits(this->f, balanced); }

  private:
    Params p;
    Factor up{p.promotion}, down{p.demotion};
    bool balanced = p.variant == "balanced";
    Pairs<T> pairs;
    Mistakes judge;
};

}  // namespace onlinesvm
