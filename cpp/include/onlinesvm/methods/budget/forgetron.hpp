// The self-tuned Forgetron (Dekel, Shalev-Shwartz, Singer: SIAM Journal on Computing 37, 2008).
//
// A perceptron on examples of length one that keeps B of them. When a mistake makes one more, f shrinks
// by phi and loses the oldest, r: the longer ago, the less it counts, and the less f loses. phi is the
// largest for which the damage done so far, Q, stays below 15/32 of the number of mistakes M.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "onlinesvm/machine/room.hpp"
#include "onlinesvm/machine/step_learner.hpp"

namespace onlinesvm {

template <class T>
class Forgetron : public StepLearner<T, Forgetron<T>> {
  public:
    struct Params {
        Room budget{100};
        Kernel kernel;
        void fields(auto&& f) { budget.fields(f), f("kernel", kernel); }
    };

    explicit Forgetron(const Params& p)
        : Forgetron::StepLearner(p.kernel, {.births = true}), budget(p.budget) {}

    double step(Function<T>& f, const Example<T>& e) {
        Loss loss = Classification().loss(f.read(e.x), e.y, 0.0);  // how far on the wrong side
        if (const double X = std::sqrt(f.k(e.x)); loss.value >= 0.0 && X > 0.0) {
            f.add(e, loss.moves(e.weight / X)), M += 1.0;
            while (budget.is_exceeded_by(f)) forget(f, company.oldest(f));
        }
        return loss.value >= 0.0 ? 1.0 : 0.0;
    }

    auto members() { return std::tuple(Named{"M", M}, Named{"Q", Q}); }
    void loaded() const {
        demand(!budget.is_exceeded_by(this->f), "more is stored than the budget allows");
        demand(M >= 0.0 && Q <= kShare * M + 1e-6 * M,
               "the damage is more than the mistakes allow");
    }

  private:
    static constexpr double kShare = 15.0 / 32.0;

    Room budget;
    double M = 0.0, Q = 0.0;
    Company company;
    std::vector<double> products;

    // Figure 3: a phi^2 + b phi, the damage, is at most L.
    void forget(Function<T>& f, Slot r) {
        const auto k = f.kernel_row(r);
        f.products(r, products);
        const double sigma2 = products[r] * k[r], sides = f.outputs() == 1 ? 1.0 : 2.0;
        const double sigma_mu = std::inner_product(k.begin(), k.end(), products.begin(), 0.0);
        const double a = sigma2 - 2.0 * sigma_mu, b = 2.0 * std::sqrt(sigma2 / sides);
        const double L = kShare * M - Q;
        const double phi = a + b <= L ? 1.0 : 2.0 * L / (b + std::sqrt(b * b + 4.0 * a * L));
        Q += (a * phi + b) * phi;
        f.shrink(phi), f.drop(r);
    }
};

}  // namespace onlinesvm
