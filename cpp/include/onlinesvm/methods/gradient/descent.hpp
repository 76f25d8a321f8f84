// Gradient descent on a loss, one example at a time: w <- w - eta_t L'(f(x)) x. With the squared loss
// it is the rule of Widrow and Hoff (1960), with that of ties and mistakes the perceptron; loss bounds
// by Kivinen and Warmuth (Information and Computation 132, 1997).
//
// Steps may be measured by the longest example so far, X: eta_t is then in units of 1 / X^2, so that
// the scale of the features does not matter; a squared loss is stepped down to its bottom at most.
#pragma once

#include <algorithm>
#include <string>

#include "onlinesvm/machine/step_learner.hpp"
#include "onlinesvm/methods/gradient/descent_task.hpp"
#include "onlinesvm/methods/gradient/schedule.hpp"

namespace onlinesvm {

template <class T, class Task>
class Descent : public StepLearner<T, Descent<T, Task>> {
  public:
    struct Params {
        std::string learning_rate = "constant";
        double eta0 = 0.5;
        bool scale = true, average = true;
        Kernel kernel;
        Task task;
        void fields(auto&& f) {
            f("learning_rate", learning_rate), f("eta0", eta0), f("scale", scale);
            f("average", average), f("kernel", kernel);
            task.fields(f);
        }
    };

    explicit Descent(const Params& p) : Descent::StepLearner(p.kernel, {.mean = p.average}), p(p) {
        this->p.task.settle();
    }

    double step(Function<T>& f, const Example<T>& e) {
        Loss loss = p.task.loss(f.read(e.x), e.y);
        if (p.scale) X2 = std::max(X2, f.k(e.x));
        f.serve();
        double eta_t = eta(e.t) * e.weight;
        if (p.scale) eta_t = (p.task.curved() ? std::min(eta_t, 1.0) : eta_t) / X2;
        if (loss.value > 0.0 && std::isfinite(eta_t)) f.add(e, loss.moves(eta_t));
        return loss.value;
    }

    auto members() { return std::tuple(Named{"longest", X2}); }

  private:
    Params p;
    Schedule eta{p.learning_rate, p.eta0, 0.0};
    double X2 = 0.0;  // |x|^2 of the longest example so far
};

}  // namespace onlinesvm
