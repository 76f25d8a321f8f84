// Projectron and Projectron++ (Orabona, Keshet, Caputo: JMLR 10, 2009).
//
// A perceptron on examples of length one that stores a mistake only if it lies further than eta from
// the span of those stored; otherwise f takes its projection. "++" also learns from examples inside the
// margin, by their projection, as far as the part outside the span cannot spoil what is gained.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "onlinesvm/machine/room.hpp"
#include "onlinesvm/machine/step_learner.hpp"
#include "onlinesvm/methods/budget/span.hpp"

namespace onlinesvm {

template <class T>
class Projectron : public StepLearner<T, Projectron<T>> {
  public:
    struct Params {
        std::string variant = "++";
        double eta = 0.1;
        Room budget;
        Kernel kernel;
        void fields(auto&& f) {
            f("variant", variant), f("eta", eta), budget.fields(f), f("kernel", kernel);
        }
    };

    explicit Projectron(const Params& p)
        : Projectron::StepLearner(p.kernel, {.births = true}), p(p) {
        require(p.eta >= 0.01 && p.eta < 1.0, "eta: must be at least 0.01 and below 1");
    }

    // Figures 2 and 4; delta2 is the squared distance from the span, V2 what lies in it.
    double step(Function<T>& f, const Example<T>& e) {
        const double X = std::sqrt(f.k(e.x));
        Loss loss = Classification().loss(f.read(e.x), e.y, 0.0);  // -z, where x has its length
        const double z = X > 0.0 ? -loss.value / X : 0.0, l = 1.0 - z;
        if (l <= 0.0 || X == 0.0 || (z > 0.0 && p.variant == "plain")) return std::max(0.0, l);
        f.push(e, loss.moves(e.weight / X));
        const double n = static_cast<double>(loss.count), delta2 = span.outside(f);
        const double V2 = n * (1.0 - delta2), room = l - std::sqrt(n * delta2) / p.eta;
        if (z > 0.0)
            span.fold(f, std::clamp(std::min(l, 2.0 * room) / (V2 * e.weight), 0.0, 1.0));
        else if (delta2 > p.eta * p.eta && !is_exceeded_by(f))
            span.join();
        else
            span.fold(f, 1.0);
        return l;
    }

    auto members() { return std::tuple(Named{"span", span}); }
    void loaded() {
        demand(!is_exceeded_by(this->f), "more is stored than the budget allows");
        span.demand_fits(this->f);
    }

  private:
    Params p;
    Span<T> span;

    bool is_exceeded_by(const Function<T>& f) const {
        return p.budget.is_exceeded_by(f, Span<T>::footprint(f.size()));
    }
};

}  // namespace onlinesvm
