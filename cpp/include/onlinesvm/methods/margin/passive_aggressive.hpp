// Online Passive-Aggressive Algorithms (Crammer, Dekel, Keshet, Shalev-Shwartz, Singer, JMLR 2006).
//
// The smallest change of w that makes the loss of the current example vanish (PA), or that trades
// the change against the loss: w <- argmin |w - w_t|^2 / 2 + C loss (PA-I) or + C loss^2 (PA-II).
#pragma once

#include <string>

#include "onlinesvm/machine/step_learner.hpp"

namespace onlinesvm {

template <class T, class Task>
class PassiveAggressive : public StepLearner<T, PassiveAggressive<T, Task>> {
  public:
    struct Params {
        std::string variant = "PA-I";
        double C = 1.0;  // infinity: plain PA
        bool average = false;
        Kernel kernel;
        Task task;

        void fields(auto&& f) {
            f("variant", variant), f("C", C), f("average", average), f("kernel", kernel);
            task.fields(f);
        }
    };

    explicit PassiveAggressive(const Params& p)
        : PassiveAggressive::StepLearner(p.kernel, {.mean = p.average}), p(p) {
        require(p.C > 0.0, "C: must be positive");
        require(first || p.variant == "PA-II", "variant: must be 'PA-I' or 'PA-II'");
    }

    // Figure 1.
    double step(Function<T>& f, const Example<T>& e) {
        Loss loss = p.task.loss(f.read(e.x), e.y);
        f.serve();
        if (!(loss.value > 0.0)) return 0.0;  // passive
        const double V2 = static_cast<double>(loss.count) * f.k(e.x), C = p.C * e.weight;
        const double tau = first ? std::min(C, loss.value / V2) : loss.value / (V2 + 0.5 / C);
        if (V2 > 0.0 && std::isfinite(tau)) f.add(e, loss.moves(tau));  // aggressive, but for x = 0
        return loss.value;
    }

  private:
    Params p;
    bool first = p.variant == "PA-I";
};

template <class T>
using PassiveAggressiveClassifier = PassiveAggressive<T, Classification>;
template <class T>
using PassiveAggressiveRegressor = PassiveAggressive<T, Regression>;

}  // namespace onlinesvm
