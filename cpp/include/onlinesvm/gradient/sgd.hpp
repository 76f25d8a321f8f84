// Stochastic gradient descent for the SVM (Bottou): w <- (1 - eta_t lambda) w + eta_t y x [z < 1].
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "onlinesvm/base/hypothesis.hpp"
#include "onlinesvm/base/verdict.hpp"
#include "onlinesvm/gradient/schedule.hpp"

namespace onlinesvm {

template <class T>
class Sgd {
  public:
    struct Params {
        double alpha = 1e-4;  // lambda
        std::string learning_rate = "optimal";
        double eta0 = 1.0;
        bool average = false;
        Kernel kernel;

        template <class F>
        void fields(F&& f) {
            f("alpha", alpha);
            f("learning_rate", learning_rate);
            f("eta0", eta0);
            f("average", average);
            f("kernel", kernel);
        }
    };

    explicit Sgd(const Params& params)
        : lambda(params.alpha),
          eta(params.learning_rate, params.eta0, params.alpha),
          f(params.kernel, Keep::least, params.average ? Predictor::average : Predictor::newest) {}

    void learn(Row<T> x, double y, double weight, std::int64_t id) {
        if (!(weight > 0.0)) return;
        Verdict verdict = task.judge(f.read(x), y);
        const double step = eta(++t);
        f.serve();
        f.shrink(1.0 - step * lambda);
        if (!(verdict.loss > 0.0)) return;
        suffered_ += weight * verdict.loss;
        f.add(x, id, verdict.scaled(step * weight));
    }

    // The hinge losses of the examples as they came, before each was learned.
    double suffered() const { return suffered_; }

    void expect(std::span<const Row<T>> coming) { f.expect(coming); }
    void turn(std::size_t i) { f.turn(i); }
    bool steps_whole() const { return f.linear(); }
    void score(Row<T> x, double* out) const { f.score(x, out); }
    void score_many(std::span<const Row<T>> xs, double* out) const { f.score_many(xs, out); }
    std::size_t outputs() const { return f.outputs(); }
    void grow(std::size_t classes) { f.grow(classes); }
    Weights weights() const { return f.weights(); }
    Support<T> support() const { return f.support(); }

    auto undoable() { return std::tie(f, t); }

    template <class A>
    void state(A& a) {
        a("f", f);
        a("t", t);
    }

    std::size_t nbytes() const { return sizeof(*this) + f.nbytes(); }

  private:
    double lambda;
    Schedule eta;
    Classification task;
    Hypothesis<T> f;
    std::int64_t t = 0;  // rounds
    double suffered_ = 0.0;
};

}  // namespace onlinesvm
