// ALMA_p, the Approximate Large Margin Algorithm (Gentile: JMLR 2, 2001).
//
// A perceptron on examples of length one that corrects small margins too, by ever shorter steps, and
// back into the ball |w|_q <= 1; 1/p + 1/q = 1. A large p suits targets of few features.
#pragma once

#include <vector>

#include "onlinesvm/base/step_learner.hpp"
#include "onlinesvm/margin/p_norm.hpp"

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
        require(p.p == 2.0 || (p.p > 2.0 && this->f.linear()), "p: 2, or above without a kernel");
    }

    // Figure 1.
    double step(Function<T>& f, const Example<T>& e) {
        const std::size_t label = class_number(e.y, f.outputs());
        const auto scores = f.read(e.x);
        const double X = p.p == 2.0 ? std::sqrt(f.k(e.x)) : p_norm(e.x, p.kernel.offset, p.p);
        double loss = 0.0;
        of.resize(scores.size()), f.serve();  // from here on nothing may fail
        for (std::size_t r = 0; r < scores.size() && X > 0.0; ++r) {
            const double y = label == (scores.size() == 1 ? 1 : r) ? 1.0 : -1.0;
            const double m = y * scores[r] / X, root = std::sqrt((p.p - 1.0) * of[r].k);
            const double short_of = (1.0 - p.alpha) * p.B * (p.p - 1.0) / root - m;
            if (short_of < 0.0) continue;
            const double eta = e.weight * p.C / root;
            p.p == 2.0 ? of[r].add(f, r, e, y * eta / X, eta * (2.0 * m + eta))
                       : of[r].mirror(f, r, e, y * eta / X, p.p);
            loss += short_of, of[r].k += 1.0;
        }
        return loss;
    }

    auto members() { return std::tuple(Named{"outputs", of}); }
    void split() { of.assign(of.empty() ? 0 : 2, of.empty() ? InBall{} : of[0].half()); }
    void loaded() const { demand(of.size() <= this->outputs(), "ALMA has too many outputs"); }

  private:
    Params p;
    std::vector<InBall> of;  // the outputs
};

}  // namespace onlinesvm
