// BSGD: Pegasos in the space of a kernel, on a budget (Wang, Crammer, Vucetic: Breaking the Curse of
// Kernelization, JMLR 2012).
//
// Steps along the subgradient of lambda/2 |f|^2 + loss, as long as 1/(lambda (t + t0)); when one
// example more than B is kept, f loses one: by merging two, by projection, or by leaving it out.
#pragma once

#include "onlinesvm/machine/step_learner.hpp"
#include "onlinesvm/methods/budget/bsgd_task.hpp"
#include "onlinesvm/methods/budget/upkeep.hpp"

namespace onlinesvm {

template <class T, class Task>
class Bsgd : public StepLearner<T, Bsgd<T, Task>> {
  public:
    struct Params {
        double alpha = 1e-4;  // lambda
        double t0 = 0.0;      // the paper's; below 0: by the scale of the kernel
        Room budget{100};
        std::string maintenance = "merge";
        Kernel kernel;
        Task task;
        void fields(auto&& f) {
            f("alpha", alpha), budget.fields(f), f("maintenance", maintenance);
            f("t0", t0), f("kernel", kernel), task.fields(f);
        }
    };

    explicit Bsgd(const Params& p)
        : Bsgd::StepLearner(p.kernel, {}), p(p), upkeep(p.maintenance, p.budget, p.kernel) {
        require(p.alpha > 0.0, "alpha: must be positive");
    }

    // Algorithm 1.
    double step(Function<T>& f, const Example<T>& e) {
        Loss loss = p.task.loss(f.read(e.x), e.y);
        const double t = static_cast<double>(e.t);
        if (p.t0 < 0.0) lengths += f.k(e.x);
        const double eta = 1.0 / (lambda * t + (p.t0 < 0.0 ? lengths / t : lambda * p.t0));
        if (e.t > 1) f.shrink(1.0 - eta * lambda);
        if (loss.value > 0.0) {
            f.add(e, loss.moves(p.task.capped(eta * e.weight, loss.value, f.k(e.x))));
            upkeep(f, e.x);
        }
        return loss.value;
    }

    auto members() { return std::tuple(Named{"lengths", lengths}, Named{"upkeep", upkeep}); }
    void loaded() { upkeep.demand_fits(this->f); }

  private:
    Params p;
    Upkeep<T> upkeep;
    double lambda = p.alpha, lengths = 0.0;  // sum of k(x, x) where it says t0
};

}  // namespace onlinesvm
