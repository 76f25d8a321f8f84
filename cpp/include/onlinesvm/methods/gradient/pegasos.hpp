// Pegasos: Primal Estimated sub-GrAdient SOlver for SVM (Shalev-Shwartz, Singer, Srebro 2007).
//
// Steps along the subgradient of lambda/2 |w|^2 + (1/k) sum of the hinge losses of a block of k
// examples, as long as 1/(lambda (t + t0)), and back into the ball that holds the optimum. With
// lambda t0 = mean |x|^2 the first step repairs its example and no more (Bottou's rule).
#pragma once

#include "onlinesvm/machine/step_learner.hpp"
#include "onlinesvm/methods/gradient/block.hpp"

namespace onlinesvm {

template <class T>
class Pegasos : public StepLearner<T, Pegasos<T>> {
  public:
    struct Params {
        double alpha = 1e-4;  // lambda
        std::int64_t block = 1;
        double t0 = 0.0;  // the paper's; below 0: by the scale of the rows
        bool project = true, average = false;
        Kernel kernel;
        void fields(auto&& f) {
            f("alpha", alpha), f("block", block), f("t0", t0), f("project", project);
            f("average", average), f("kernel", kernel);
        }
    };

    explicit Pegasos(const Params& p)
        : Pegasos::StepLearner(p.kernel, {.mean = p.average, .norm = p.project}), p(p) {
        require(p.alpha > 0.0 && p.block >= 1, "alpha, block: must be positive");
    }

    // Figure 1; A+ are the examples of the block inside the margin, and the t of its steps is e.t/k.
    double step(Function<T>& f, const Example<T>& e) {
        Loss loss = Classification().loss(f.read(e.x), e.y);
        if (p.t0 < 0.0) lengths += f.k(e.x);
        if (p.block > 1 && loss.value > 0.0) A.push(e, loss.moves(e.weight));
        if (e.t % p.block != 0) return loss.value;
        const double k = static_cast<double>(p.block), t = static_cast<double>(e.t) / k;
        const double eta = 1 / (lambda * t + (p.t0 < 0.0 ? lengths / (k * t) : lambda * p.t0));
        f.serve();
        if (t > 1.0) f.shrink(1.0 - eta * lambda);
        A.empty_into(f, eta / k);
        if (p.block == 1 && loss.value > 0.0) f.add(e, loss.moves(eta * e.weight));
        if (p.project && lambda * f.norm2() > 1.0) f.shrink(1.0 / std::sqrt(lambda * f.norm2()));
        return loss.value;
    }

    auto members() { return std::tuple(Named{"lengths", lengths}, Named{"block", A}); }
    bool steps_whole() const { return this->f.linear() && p.block == 1; }
    void split() { A.split(); }
    void loaded() const { A.demand_fits(this->f, this->t % p.block); }

  private:
    Params p;
    double lambda = p.alpha, lengths = 0.0;  // sum of |x|^2 where they say t0
    Block<T> A;
};

}  // namespace onlinesvm
