// Pegasos: Primal Estimated sub-GrAdient SOlver for SVM (Shalev-Shwartz, Singer, Srebro 2007).
//
// Steps along the subgradient of lambda/2 |w|^2 + (1/k) sum of the hinge losses of a block of k
// examples, as long as 1/(lambda (t + t0)), and back into the ball that holds the optimum. t0 = 0 is
// the paper's; by the scale of the rows, lambda t0 = mean |x|^2, the first step repairs its example
// and no more (Bottou's rule), where 1/lambda would leave weights that many rounds cannot shrink.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "onlinesvm/base/hypothesis.hpp"
#include "onlinesvm/base/verdict.hpp"
#include "onlinesvm/gradient/block.hpp"

namespace onlinesvm {

template <class T>
class Pegasos {
  public:
    struct Params {
        double alpha = 1e-4;  // lambda
        std::int64_t block = 1;
        double t0 = 0.0;  // steps taken before the first, as it were; below 0: by the rows' scale
        bool project = true;
        bool average = false;
        Kernel kernel;

        template <class F>
        void fields(F&& f) {
            f("alpha", alpha);
            f("block", block);
            f("t0", t0);
            f("project", project);
            f("average", average);
            f("kernel", kernel);
        }
    };

    explicit Pegasos(const Params& params)
        : lambda(params.alpha),
          k(params.block),
          t0(params.t0),
          project(params.project),
          f(params.kernel, Keep::least, params.average ? Predictor::average : Predictor::newest) {
        if (!(lambda > 0.0)) throw std::invalid_argument("alpha: must be positive");
        if (k < 1) throw std::invalid_argument("block: must be at least 1");
    }

    // The box of the paper, Figure 1: A+ are the examples of the block inside the margin.
    void learn(Row<T> x, double y, double weight, std::int64_t id) {
        if (!(weight > 0.0)) return;
        const std::span<const double> scores = f.read(x);
        Verdict verdict = task.judge(scores, y);
        const bool violates = verdict.loss > 0.0;
        if (violates) suffered_ += weight * verdict.loss;
        const auto moves = verdict.scaled(weight);
        if (t0 < 0.0) lengths += f.norm2(x);
        if (k == 1) {
            const double kept = begin_step();
            if (violates) add(x, id, moves, scores, kept);
            return end_step();
        }
        if (violates) A.push(x, id, moves);
        if (++seen < k) return;
        begin_step();
        for (std::size_t i = 0; i < A.size(); ++i)
            add(A.row(i), A.id(i), A.changes(i), f.read(A.row(i)), 1.0);
        A.clear();
        seen = 0;
        end_step();
    }

    // The hinge losses of the examples as they came, before each was learned.
    double suffered() const { return suffered_; }

    void expect(std::span<const Row<T>> coming) { f.expect(coming); }
    void turn(std::size_t i) { f.turn(i); }
    bool steps_whole() const { return f.linear() && k == 1; }
    void score(Row<T> x, double* out) const { f.score(x, out); }
    void score_many(std::span<const Row<T>> xs, double* out) const { f.score_many(xs, out); }
    std::size_t outputs() const { return f.outputs(); }

    void grow(std::size_t classes) {
        if (classes > 2 && outputs() == 1) {
            norm2 *= 0.5;  // |-f/2|^2 + |f/2|^2
            A.split();
        }
        f.grow(classes);
        steps.reserve(2);
    }

    Weights weights() const { return f.weights(); }
    Support<T> support() const { return f.support(); }

    auto undoable() { return std::tie(f, t, lengths, norm2, seen, A); }

    template <class Archive>
    void state(Archive& a) {
        a("f", f);
        a("t", t);
        a("lengths", lengths);
        a("norm2", norm2);
        a("seen", seen);
        a("block", A);
        if constexpr (Archive::loading)
            demand(lengths >= 0.0 && seen < k && std::int64_t(A.size()) <= seen && A.fits(f),
                   "the block does not fit its size or its function");
    }

    std::size_t nbytes() const { return sizeof(*this) + f.nbytes() + bytes_of(A); }

  private:
    double lambda;
    std::int64_t k;
    double t0;
    bool project;
    Classification task;
    Hypothesis<T> f;
    std::int64_t t = 0;     // steps taken
    double lengths = 0.0;   // sum of |x|^2 where they say t0
    double norm2 = 0.0;     // |w|^2; shrinking forgets its rounding errors with everything else
    std::int64_t seen = 0;  // examples of the current block
    Block<T> A;
    std::vector<Change> steps;
    double suffered_ = 0.0;

    // w <- (1 - eta lambda) w; at t = 1 there is nothing to shrink. Returns the factor.
    double begin_step() {
        f.serve();
        if (++t == 1) return 1.0;
        const double kept = 1.0 - eta() * lambda;
        shrink(kept);
        return kept;
    }

    double eta() const {
        const double steps = static_cast<double>(t);
        const double first = t0 < 0.0 ? lengths / (steps * static_cast<double>(k)) : lambda * t0;
        return 1.0 / (lambda * steps + first);
    }

    // w <- w + (eta / k) y x, where the scores of x are `kept` times those given.
    void add(Row<T> x, std::int64_t id, std::span<const Change> moves,
             std::span<const double> scores, double kept) {
        const double each = eta() / static_cast<double>(k);
        const double length2 = project ? f.norm2(x) : 0.0;
        steps.clear();
        for (const auto& [output, step] : moves) {
            const double c = each * step;
            norm2 += 2.0 * c * kept * scores[output] + c * c * length2;
            steps.push_back({output, c});
        }
        f.add(x, id, steps);
    }

    // w <- w min(1, 1 / (sqrt(lambda) |w|))
    void end_step() {
        if (project && lambda * norm2 > 1.0) shrink(1.0 / std::sqrt(lambda * norm2));
    }

    void shrink(double factor) {
        f.shrink(factor);
        norm2 *= factor * factor;
    }
};

}  // namespace onlinesvm
