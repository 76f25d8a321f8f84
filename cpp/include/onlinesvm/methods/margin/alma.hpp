// ALMA_p, the Approximate Large Margin Algorithm (Gentile: JMLR 2, 2001).
//
// A perceptron on examples of length one that corrects small margins too, by ever shorter steps, and
// back into the ball |w|_q <= 1; 1/p + 1/q = 1. A large p suits targets of few features.
#pragma once

#include "onlinesvm/machine/step_learner.hpp"
#include "onlinesvm/methods/margin/p_norm.hpp"

namespace onlinesvm {

template <class T>
class Alma : public StepLearner<T, Alma<T>> {
  public:
    struct Params {
        double alpha = 0.9, B = 3.1427, C = 1.4142, p = 2.0;  // sqrt(8) / alpha, sqrt(2)
        bool average = true;
        Kernel kernel;
        void fields(auto&& f) {
            f("alpha", alpha), f("B", B), f("C", C), f("p", p);
            f("average", average), f("kernel", kernel);
        }
    };

    explicit Alma(const Params& p) : Alma::StepLearner(p.kernel, {.mean = p.average}), p(p) {
        require(p.p == 2.0 || (p.p > 2.0 && p.p < 300.0 && this->f.linear()),
                "p: 2, or without a kernel above it and below 300");
    }

    // Figure 1.
    double step(Function<T>& f, const Example<T>& e) {
        const std::size_t label = class_number(e.y, f.outputs());
        const auto scores = f.read(e.x);
        const double X = ball.length(f, e.x);
        double loss = 0.0;
        ball.meet(e.x, scores.size()), f.serve();
        for (std::size_t r = 0; r < scores.size() && X > 0.0; ++r) {
            const double y = label == (scores.size() == 1 ? 1 : r) ? 1.0 : -1.0;
            double& k = ball.of[r].k;
            const double m = y * scores[r] / X, root = std::sqrt((p.p - 1.0) * k);
            const double short_of = (1.0 - p.alpha) * p.B * (p.p - 1.0) / root - m;
            if (short_of < 0.0) continue;
            ball.move(f, r, e, y, e.weight * p.C / root, m, X);
            loss += short_of, k += 1.0;
        }
        return loss;
    }

    void grow(std::size_t classes) { Alma::StepLearner::grow(classes), ball.theta.grow(classes); }
    auto members() { return std::tuple(Named{"outputs", ball.of}, Named{"theta", ball.theta}); }
    void split() { ball.split(); }
    void loaded() const { ball.demand_fits(this->f); }

  private:
    Params p;
    UnitBall<T> ball{p.p, p.kernel.offset};
};

}  // namespace onlinesvm
