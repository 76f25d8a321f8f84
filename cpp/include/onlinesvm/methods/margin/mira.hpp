// MIRA, the Margin Infused Relaxed Algorithm (Crammer, Singer: JMLR 3, 2003).
//
// Of the weights that the example's step can reach the shortest: min sum_r |M_r + tau_r x|^2 subject
// to tau_r <= [r = y], sum_r tau_r = 0 (section 6). Rivals count as if they were `margin` higher; with
// the paper's 0, weights of zero would stay so for ever: they take a perceptron's step.
#pragma once

#include "onlinesvm/machine/step_learner.hpp"

namespace onlinesvm {

template <class T>
class Mira : public StepLearner<T, Mira<T>> {
  public:
    struct Params {
        double margin = 1.0;
        bool average = true;
        Kernel kernel;
        void fields(auto&& f) { f("margin", margin), f("average", average), f("kernel", kernel); }
    };
    explicit Mira(const Params& p)
        : Mira::StepLearner(p.kernel, {.mean = p.average, .norm = p.margin == 0.0}), p(p) {}

    double step(Function<T>& f, const Example<T>& e) {
        const auto B = f.read(e.x);
        Loss loss = Classification().loss(B, e.y, p.margin);
        const double A = f.k(e.x), cap = e.weight;
        std::span<const Change> moves;
        if (p.margin == 0.0 && f.norm2() <= 1e-14 * A)  // zero, but for rounding
            moves = perceptron.moves(B, e.y, cap);
        else if (A > 0.0 && loss.value > 0.0)
            moves = B.size() > 1 ? project(B, loss.directions[0].output, A, cap)
                                 : loss.moves(std::min(cap, loss.value / A));
        if (f.serve(); !moves.empty()) f.add(e, moves);
        return loss.value;
    }

  private:
    Params p;
    Mistakes perceptron;
    std::vector<Change> tau;  // first the rows with b_r = M_r.x / A, highest knot first

    // tau_r = min(theta - b_r, cap [r = y]) with sum 0: theta is below the knots b_r + cap [r = y] of
    // some rows, highest knots first, and balances them and, if y is none of them, the cap.
    std::span<const Change> project(auto B, std::size_t y, double A, double cap) {
        const auto knot = [&](const Change& b) { return b.step + (b.output == y ? cap : 0.0); };
        tau.clear();
        for (std::size_t r = 0; r < B.size(); ++r)
            tau.push_back({r, (B[r] + (r == y ? 0.0 : p.margin)) / A});
        std::ranges::sort(tau, std::greater(), knot);
        double sum = -cap, theta = 0.0, n = 0.0;
        for (auto row = tau.begin(); row != tau.end() && (n == 0.0 || theta < knot(*row)); ++row)
            sum += knot(*row), n += 1.0, theta = sum / n;
        for (Change& row : tau) row.step = std::min(theta, knot(row)) - row.step;
        std::erase_if(tau, [](const Change& row) { return row.step == 0.0; });
        return tau;
    }
};

}  // namespace onlinesvm
