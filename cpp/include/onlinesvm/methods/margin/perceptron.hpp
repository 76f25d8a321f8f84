// The perceptron (Rosenblatt 1958) with kernels, and with the averaged and voted predictors of
// Freund and Schapire (Large Margin Classification Using the Perceptron Algorithm, 1999).
#pragma once

#include <string>

#include "onlinesvm/machine/step_learner.hpp"

namespace onlinesvm {

template <class T>
class Perceptron : public StepLearner<T, Perceptron<T>> {
  public:
    struct Params {
        std::string variant = "averaged";
        Kernel kernel;
        void fields(auto&& f) { f("variant", variant), f("kernel", kernel); }
    };

    explicit Perceptron(const Params& p)
        : Perceptron::StepLearner(
              p.kernel, {.births = p.variant == "voted", .mean = p.variant == "averaged"}),
          voted(p.variant == "voted") {
        require(voted || p.variant == "plain" || p.variant == "averaged",
                "variant: must be 'plain', 'averaged' or 'voted'");
    }

    double step(Function<T>& f, const Example<T>& e) {
        const auto moves = judge.moves(f.read(e.x), e.y, e.weight);
        f.serve();
        if (moves.empty()) return 0.0;
        voted ? f.push(e, moves) : f.add(e, moves);  // voted: a function of its own
        return 1.0;
    }

    void score_many(std::span<const Row<T>> xs, double* out) const {
        if (!voted) return this->f.score_many(xs, out);
        for (const Row<T>& x : xs) vote(x, out), out += this->outputs();
    }

  private:
    bool voted;
    Mistakes judge;

    // Each function that ever served votes for its class, as often as it served.
    void vote(Row<T> x, double* out) const {
        const auto born = this->f.births();
        std::fill_n(out, this->outputs(), 0.0);
        this->f.replay(x, [&](std::size_t i, std::span<const double> f) {
            const std::int64_t end = i + 1 < born.size() ? born[i + 1] : this->t + 1;
            const double share = static_cast<double>(end - born[i]) / static_cast<double>(this->t);
            const auto best = std::max_element(f.begin(), f.end());
            out[best - f.begin()] += f.size() > 1 ? share : share * ((*best > 0) - (*best < 0));
        });
    }
};

}  // namespace onlinesvm
