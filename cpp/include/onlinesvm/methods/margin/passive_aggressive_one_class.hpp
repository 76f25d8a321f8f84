// Passive-aggressive learning of one class (Crammer et al., JMLR 2006, section 6): a ball.
//
// With one more coordinate the centre is (w, beta), an example (x, 0): PA keeps their distance d within
// B, and so |x - w| within the radius sqrt(B^2 - beta^2), which is 0 at the first example. B is given,
// or the farthest that an example was from the centre when it came.
#pragma once

#include "onlinesvm/machine/step_learner.hpp"

namespace onlinesvm {

template <class T>
class PassiveAggressiveOneClass : public StepLearner<T, PassiveAggressiveOneClass<T>> {
  public:
    using Verbs = Offers<StepVerbs, verb::level, verb::radius>;
    struct Params {
        std::string variant = "PA-II";
        double C = 1.0, max_radius = 0.0;  // infinity: plain PA; 0: by the examples
        Kernel kernel;
        void fields(auto&& f) {
            f("variant", variant), f("C", C), f("max_radius", max_radius), f("kernel", kernel);
        }
    };
    explicit PassiveAggressiveOneClass(const Params& p)
        : PassiveAggressiveOneClass::StepLearner(p.kernel, {.norm = true}), p(p) {}

    double step(Function<T>& f, const Example<T>& e) {
        const double far2 = distance2(f.read(e.x)[0], e.x), C = p.C * e.weight;
        const auto add = [&](Change change) { f.add(e, {&change, 1}); };
        if (e.t == 1) return add({0, 1.0}), 0.0;
        if (p.max_radius == 0.0 && far2 > B * B)  // the radius stays
            beta = std::sqrt(far2 - (B - beta) * (B + beta)), B = std::sqrt(far2);
        const double d = std::sqrt(far2 + beta * beta), loss = d - B;
        if (!(loss > 1e-12 * B)) return 0.0;
        const double tau = p.variant == "PA-I" ? std::min(C, loss) : loss / (1.0 + 0.5 / C);
        f.shrink(1.0 - tau / d), beta *= 1.0 - tau / d, add({0, tau / d});  // towards x
        return loss;
    }

    void score_many(std::span<const Row<T>> xs, double* out) const {
        this->f.score_many(xs, out);
        for (std::size_t i = 0; i < xs.size() && this->t > 0; ++i)
            out[i] = -level() - std::sqrt(distance2(out[i], xs[i]));
    }
    double level() const { return -std::sqrt((B - beta) * (B + beta)); }
    std::vector<double> radius() const { return {-level()}; }
    auto members() { return std::tuple(Named{"bound", B}, Named{"beta", beta}); }
    void loaded() const { demand(beta >= 0.0 && beta <= B, "the ball is malformed"); }

  private:
    Params p;
    double B = p.max_radius, beta = B;

    double distance2(double wx, const Row<T>& x) const {
        return std::max(0.0, this->f.k(x) - 2.0 * wx + this->f.norm2());
    }
};

}  // namespace onlinesvm
