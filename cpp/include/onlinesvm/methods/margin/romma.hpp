// ROMMA, the Relaxed Online Maximum Margin Algorithm (Li, Long: Machine Learning 46, 2002).
//
// w <- argmin |w|^2 subject to y w.x >= 1 and w.w_t >= |w_t|^2, the half-space that stands in for all
// past examples; one output against the rest. Every example has a coordinate of its own, of squared
// length 1/C. Where the paper is silent: if y w.x >= |x|^2 |w|^2, the example alone binds.
//
// |w|^2 is kept by its changes. Without slack an example nearly along w makes a long w of the difference
// of longer ones, and each such step would multiply the error of what is kept: it is taken anew from the
// weights when a digit is lost. Of stored examples it is a sum that cancels as much: nothing is gained.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "onlinesvm/machine/step_learner.hpp"

namespace onlinesvm {

template <class T>
class Romma : public StepLearner<T, Romma<T>> {
  public:
    struct Params {
        std::string variant = "aggressive";  // steps inside the margin too; "plain": on mistakes
        double C = 0.1;                      // infinity: the paper's hard margin
        bool average = true;
        Kernel kernel;
        void fields(auto&& f) {
            f("variant", variant), f("C", C), f("average", average), f("kernel", kernel);
        }
    };

    explicit Romma(const Params& p)
        : Romma::StepLearner(p.kernel, {.mean = p.average, .norm = true}), p(p) {
        require(p.C > 0.0, "C: must be positive");
        require(p.variant == "plain" || p.variant == "aggressive",
                "variant: must be 'plain' or 'aggressive'");
    }

    double step(Function<T>& f, const Example<T>& e) {
        const std::size_t label = class_number(e.y, f.outputs());
        const auto scores = f.read(e.x);
        const double slack = 1.0 / (p.C * e.weight), X = f.k(e.x) + slack;
        double loss = 0.0;
        trust.resize(scores.size(), 1.0);
        moves.clear(), moves.reserve(scores.size()), f.serve();  // from here on nothing may fail
        for (std::size_t r = 0; r < scores.size() && X > 0.0 && std::isfinite(X); ++r) {
            const double y = label == (scores.size() == 1 ? 1 : r) ? 1.0 : -1.0;
            const double m = y * scores[r], N = f.norm2(r), D = X * N - m * m;
            loss += std::max(0.0, 1.0 - m);
            if (m >= 1.0 || (m > 0.0 && p.variant == "plain")) continue;
            const bool alone = m >= X * N || D <= 1e-12 * X * N;  // N = 0, and x parallel to w
            if (alone && m < 0.0) continue;                       // no w satisfies both
            const double c = alone ? 0.0 : (X * N - m) / D;  // |w|^2 becomes N (X N - 2 m + 1) / D
            trust[r] =
                alone ? 1.0 : std::min(1.0, trust[r] * (X * N - 2.0 * m + 1.0) / D / (c * c));
            f.shrink(r, c);
            moves.push_back({r, y * (alone ? 1.0 / X : N * (1.0 - m) / D)});
        }
        if (!moves.empty()) f.add(e, moves, slack);
        for (const auto& [r, step] : moves)
            if (slack == 0.0 && f.linear() && !(trust[r] > kTrust))
                f.take_norm_anew(r), trust[r] = 1.0;
        return loss;
    }

    auto members() { return std::tuple(Named{"trust", trust}); }
    void split() { trust.assign(trust.empty() ? 0 : 2, trust.empty() ? 1.0 : trust[0]); }
    void loaded() const {
        demand(trust.size() <= this->outputs() &&
                   std::ranges::all_of(trust, [](double t) { return t <= 1.0; }),
               "the trust in a norm is malformed");
    }

  private:
    static constexpr double kTrust = 0.1;

    Params p;
    std::vector<double> trust;  // by output: the digits of |w|^2 that steps have left, as a share
    std::vector<Change> moves;  // of the example at hand
};

}  // namespace onlinesvm
