// NORMA: Online Learning with Kernels (Kivinen, Smola, Williamson 2004).
//
// Stochastic gradient descent in the space of the kernel: f <- (1 - eta lambda) f - eta l'(f(x), y)
// k(x, .). What shrinks long enough is dropped, so that at most tau examples are ever held; or what is
// oldest, where that is too much.
#pragma once

#include "onlinesvm/machine/room.hpp"
#include "onlinesvm/machine/step_learner.hpp"
#include "onlinesvm/methods/gradient/norma_task.hpp"
#include "onlinesvm/methods/gradient/schedule.hpp"

namespace onlinesvm {

template <class T, class Task>
class Norma : public StepLearner<T, Norma<T, Task>> {
  public:
    using Verbs = Offers<StepVerbs, verb::unlearn, verb::level, verb::bias>;
    struct Params {
        double alpha = 1e-2;  // lambda
        std::string learning_rate = "constant";
        double eta0 = 0.1, nu = 0.0;  // nu = 0: the level stays
        std::int64_t truncation = 0;  // tau; 0: none
        Room budget;
        bool bias = false;
        Kernel kernel;
        Task task;
        void fields(auto&& f) {
            f("alpha", alpha), f("learning_rate", learning_rate), f("eta0", eta0), f("nu", nu);
            f("truncation", truncation), f("bias", bias), f("kernel", kernel);
            budget.fields(f), task.fields(f);
        }
    };

    explicit Norma(const Params& p)
        : Norma::StepLearner(p.kernel,
                             {.births = p.truncation > 0 || p.budget.is_bounded(), .bias = p.bias}),
          p(p) {}

    // Predict with the old f; shrink it, drop what is too old, append; then move the level.
    double step(Function<T>& f, const Example<T>& e) {
        Loss loss = p.task.loss(f.read(e.x), e.y, level_);
        const double eta_t = eta(e.t);
        f.shrink(1.0 - eta_t * p.alpha);
        if (const auto oldest = f.born_in(e.t - p.truncation)) f.drop(*oldest);
        if (loss.value > 0.0) f.add(e, loss.moves(eta_t * e.weight));
        while (p.budget.is_exceeded_by(f)) f.drop(company.oldest(f));
        if (p.nu > 0.0) level_ = Task::adapted(level_, eta_t * e.weight, p.nu, loss.value > 0.0);
        return loss.value;
    }

    void score_many(std::span<const Row<T>> xs, double* out) const {
        this->f.score_many(xs, out);
        for (std::size_t i = 0; i < xs.size() * this->outputs(); ++i)
            out[i] = p.task.decision(out[i], level_);
    }
    double level() const { return level_; }  // rho or epsilon
    auto members() { return std::tuple(Named{"level", level_}); }

  private:
    Params p;
    Schedule eta{p.learning_rate, p.eta0, p.alpha};
    double level_ = p.task.level();
    Company company;
};

}  // namespace onlinesvm
