// Confidence-weighted learning: AROW (Crammer, Kulesza, Dredze: NIPS 2009) and soft confidence-weighted
// learning (Wang, Zhao, Hoi: ICML 2012).
//
// Weights are taken to be normal, N(mu, Sigma), and f = mu.x. An example that is not clear enough moves
// them as little as possible in the sense of Kullback and Leibler: weights that many examples have
// settled move less than those of rare features.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "onlinesvm/machine/step_learner.hpp"
#include "onlinesvm/methods/margin/covariance.hpp"

namespace onlinesvm {

template <class T>
class ConfidenceWeighted : public StepLearner<T, ConfidenceWeighted<T>> {
  public:
    struct Params {
        std::string variant = "AROW", covariance = "diagonal";
        double C = 1.0, phi = 1.0;
        bool average = false;
        Kernel kernel;
        void fields(auto&& f) {
            f("variant", variant), f("covariance", covariance), f("C", C), f("phi", phi);
            f("average", average), f("kernel", kernel);
        }
    };

    explicit ConfidenceWeighted(const Params& p)
        : ConfidenceWeighted::StepLearner(p.kernel, {.mean = p.average}), p(p) {
        require(p.C > 0.0 && std::isfinite(p.C), "C: must be positive and finite");
        require(p.phi > 0.0 && std::isfinite(p.phi), "phi: must be positive and finite");
        require(p.variant == "AROW" || p.variant == "SCW-I" || p.variant == "SCW-II",
                "variant: must be 'AROW', 'SCW-I' or 'SCW-II'");
    }

    double step(Function<T>& f, const Example<T>& e) {
        sigma.meet(e.x);
        Loss loss = Classification().loss(f.read(e.x), e.y);
        f.serve();
        const double m = 1.0 - loss.value;
        if (arow && m >= 1.0) return 0.0;
        const std::span<const Change> moves = loss.moves(1.0);
        double v[2] = {};
        for (std::size_t k = 0; k < moves.size(); ++k) v[k] = sigma.read(k, moves[k].output, e.x);
        if (!std::isfinite(v[0] + v[1])) f.k(e.x);  // refuses the row
        const auto [alpha, by, cost] = rule(m, v[0] + v[1], p.C * e.weight);
        if (!(alpha > 0.0 && std::isfinite(alpha))) return cost;
        for (std::size_t k = 0; k < moves.size(); ++k) {
            const auto& [r, sign] = moves[k];
            sigma.move(k, f, r, e.x, sign * alpha);
            sigma.learn(k, r, e.x, by, v[k]);
        }
        return cost;
    }

    void grow(std::size_t classes) {
        ConfidenceWeighted::StepLearner::grow(classes), sigma.resize(this->outputs());
    }
    void split() { sigma.split(); }
    auto members() { return std::tuple(Named{"covariance", sigma}); }
    void loaded() const { sigma.demand_fits(this->f); }

  private:
    Params p;
    bool arow = p.variant == "AROW", first = p.variant == "SCW-I";
    Covariance<T> sigma{p.covariance == "full", p.kernel.offset};

    // mu += alpha y Sigma x, and 1 / Sigma += by x x'.
    struct Move {
        double alpha, by, cost;
    };
    // Of an example with margin m and x' Sigma x = v.
    Move rule(double m, double v, double C) const {
        if (arow) return {(1.0 - m) / (v + 0.5 / C), 2.0 * C, 1.0 - m};
        const double cost = p.phi * std::sqrt(v) - m, phi2 = p.phi * p.phi;
        if (!(cost > 0.0 && v > 0.0)) return {0.0, 0.0, 0.0};
        double alpha = 0.0;
        if (first) {  // Proposition 1
            const double root = std::sqrt(m * m * phi2 * phi2 / 4.0 + v * phi2 * (1.0 + phi2));
            alpha = std::min(C, (root - m * (1.0 + phi2 / 2.0)) / (v * (1.0 + phi2)));
        } else {  // Proposition 2
            const double n = v + 0.5 / C,
                         gamma = std::sqrt(phi2 * m * m * v * v + 4.0 * n * v * (n + v * phi2));
            alpha = (p.phi * gamma - m * (2.0 * n + phi2 * v)) / (2.0 * n * (n + v * phi2));
        }
        const double spread = alpha * v * p.phi;  // sqrt(u), without cancelling
        const double root_u = 2.0 * v / (spread + std::sqrt(spread * spread + 4.0 * v));
        return {alpha, alpha * p.phi / root_u, cost};
    }
};

}  // namespace onlinesvm
