// Online Passive-Aggressive Algorithms (Crammer, Dekel, Keshet, Shalev-Shwartz, Singer, JMLR 2006).
//
// The smallest change of w that makes the loss of the current example vanish (PA), or that trades
// the change against the loss: w <- argmin |w - w_t|^2 / 2 + C loss (PA-I) or + C loss^2 (PA-II).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "onlinesvm/base/hypothesis.hpp"
#include "onlinesvm/base/kernel.hpp"
#include "onlinesvm/base/row.hpp"
#include "onlinesvm/base/support.hpp"
#include "onlinesvm/base/verdict.hpp"

namespace onlinesvm {

// The step tau of each variant, from the loss, the squared norm of the move, and C.
inline double pa1(double loss, double norm2, double C) { return std::min(C, loss / norm2); }
inline double pa2(double loss, double norm2, double C) { return loss / (norm2 + 0.5 / C); }

using StepRule = double (*)(double loss, double norm2, double C);

inline StepRule step_rule(const std::string& variant) {
    if (variant == "PA-I") return pa1;
    if (variant == "PA-II") return pa2;
    throw std::invalid_argument("variant: '" + variant + "' is not 'PA-I' or 'PA-II'");
}

template <class T, class Task>
class PassiveAggressive {
  public:
    struct Params {
        std::string variant = "PA-I";
        double C = 1.0;  // infinity: plain PA
        bool average = false;
        Kernel kernel;
        Task task;

        template <class F>
        void fields(F&& f) {
            f("variant", variant);
            f("C", C);
            f("average", average);
            f("kernel", kernel);
            task.fields(f);
        }
    };

    explicit PassiveAggressive(const Params& params)
        : C(params.C),
          task(params.task),
          tau(step_rule(params.variant)),
          f(params.kernel, Keep::least, params.average ? Predictor::average : Predictor::newest) {
        if (!(C > 0.0)) throw std::invalid_argument("C: must be positive");
    }

    // The box of the paper, Figure 1.
    void learn(Row<T> x, double y, double weight, std::int64_t id) {
        if (!(weight > 0.0)) return;
        Verdict verdict = task.judge(f.read(x), y);
        f.serve();
        if (!(verdict.loss > 0.0)) return;  // passive
        suffered_ += weight * verdict.loss;
        const double V2 = static_cast<double>(verdict.count) * f.norm2(x);
        const double step = tau(verdict.loss, V2, C * weight);
        if (!(V2 > 0.0 && std::isfinite(step))) return;  // x = 0: no step helps
        f.add(x, id, verdict.scaled(step));              // aggressive
    }

    // What the examples cost when they came, before each was learned.
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
    std::size_t nbytes() const { return sizeof(*this) + f.nbytes(); }

    auto undoable() { return std::tie(f); }

    template <class A>
    void state(A& a) {
        a("f", f);
    }

  private:
    double C;
    Task task;
    StepRule tau;
    Hypothesis<T> f;
    double suffered_ = 0.0;
};

template <class T>
using PassiveAggressiveClassifier = PassiveAggressive<T, Classification>;
template <class T>
using PassiveAggressiveRegressor = PassiveAggressive<T, Regression>;

}  // namespace onlinesvm
