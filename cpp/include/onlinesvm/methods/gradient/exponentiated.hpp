// Exponentiated gradient (Kivinen, Warmuth: Information and Computation 132, 1997): weights are
// multiplied, so that features that do not matter cost only their logarithm.
//
// EG: f = U w.x, w_i <- w_i exp(-eta U L'(f) x_i) over their sum. EG+-: f = U (w+ - w-).x (simplex.hpp).
#pragma once

#include "onlinesvm/machine/step_learner.hpp"
#include "onlinesvm/methods/gradient/descent_task.hpp"
#include "onlinesvm/methods/gradient/schedule.hpp"
#include "onlinesvm/methods/gradient/simplex.hpp"

namespace onlinesvm {

template <class T, class Task>
class Exponentiated : public StepLearner<T, Exponentiated<T, Task>> {
  public:
    struct Params {
        std::string variant = "EG+-", learning_rate = "constant";
        double U = 100.0, eta0 = 1.0;
        bool scale = true, average = true;
        Kernel kernel;
        Task task;
        void fields(auto&& f) {
            f("variant", variant), f("learning_rate", learning_rate), f("U", U), f("eta0", eta0);
            f("scale", scale), f("average", average), f("kernel", kernel), task.fields(f);
        }
    };
    explicit Exponentiated(const Params& p)
        : Exponentiated::StepLearner(p.kernel, {.mean = p.average}), p(p) {
        this->p.task.settle();
    }

    double step(Function<T>& f, const Example<T>& e) {
        w.meet(f, e.x);
        units.X = std::max(units.X, largest(e.x, p.kernel.offset));
        Loss loss = p.task.loss(units.of(f.read(e.x)), e.y);
        f.serve();
        units.Y = std::max(units.Y, Task::size(e.y));
        for (const auto& [r, step] : loss.moves(eta(e.t) * units.eta() * e.weight))
            if (loss.value > 0.0 && std::isfinite(step)) w.multiply(f, r, e.x, step, units.X);
        return loss.value;
    }

    void score_many(std::span<const Row<T>> xs, double* out) const {
        this->f.score_many(xs, out);
        for (std::size_t i = 0; i < xs.size() * this->outputs(); ++i) out[i] *= units.U();
    }
    Weights weights() const { return times(units.U(), this->f.weights()); }
    auto members() { return std::tuple(Named{"units", units}, Named{"simplex", w}); }
    void split() { w.split(this->f); }
    void loaded() const { w.demand_fits(this->outputs()); }

  private:
    Params p;
    Schedule eta{p.learning_rate, p.eta0, 0.0};
    Simplex w{p.variant == "EG+-", p.kernel.offset};
    Units units{p.U, p.scale, 0.0, Task::size(0.0), {}};
};

}  // namespace onlinesvm
