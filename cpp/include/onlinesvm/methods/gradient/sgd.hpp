// Stochastic gradient descent for the SVM (Bottou): w <- (1 - eta_t lambda) w + eta_t y x [z < 1].
#pragma once

#include <string>

#include "onlinesvm/machine/step_learner.hpp"
#include "onlinesvm/methods/gradient/schedule.hpp"

namespace onlinesvm {

template <class T>
class Sgd : public StepLearner<T, Sgd<T>> {
  public:
    struct Params {
        double alpha = 1e-4;  // lambda
        std::string learning_rate = "optimal";
        double eta0 = 1.0;
        bool average = false;
        Kernel kernel;

        void fields(auto&& f) {
            f("alpha", alpha), f("learning_rate", learning_rate), f("eta0", eta0);
            f("average", average), f("kernel", kernel);
        }
    };

    explicit Sgd(const Params& p)
        : Sgd::StepLearner(p.kernel, {.mean = p.average}),
          lambda(p.alpha),
          eta(p.learning_rate, p.eta0, p.alpha) {}

    double step(Function<T>& f, const Example<T>& e) {
        Loss loss = Classification().loss(f.read(e.x), e.y);
        f.serve();
        const double eta_t = eta(e.t);
        f.shrink(1.0 - eta_t * lambda);
        if (loss.value > 0.0) f.add(e, loss.moves(eta_t * e.weight));
        return loss.value;
    }

  private:
    double lambda;
    Schedule eta;
};

}  // namespace onlinesvm
