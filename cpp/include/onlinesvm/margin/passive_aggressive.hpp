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
#include <utility>
#include <variant>
#include <vector>

#include "onlinesvm/base/expansion.hpp"
#include "onlinesvm/base/kernel.hpp"
#include "onlinesvm/base/linear.hpp"
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
        Kernel kernel;
        Task task;

        template <class F>
        void fields(F&& f) {
            f("variant", variant);
            f("C", C);
            f("kernel", kernel);
            task.fields(f);
        }
    };

    explicit PassiveAggressive(const Params& params)
        : C(params.C),
          task(params.task),
          tau(step_rule(params.variant)),
          model(hypothesis(params)) {
        if (!(C > 0.0)) throw std::invalid_argument("C: must be positive");
    }

    void learn(Row<T> x, double y, double weight, std::int64_t id) {
        std::visit([&](auto& f) { learn(f, x, y, weight, id); }, model);
    }

    void expect(std::span<const Row<T>> coming) {
        if (auto* f = std::get_if<KernelModel<T>>(&model)) f->expect(coming);
    }

    void score(Row<T> x, double* out) const {
        std::visit([&](const auto& f) { f.score(x, out); }, model);
    }

    void score_many(std::span<const Row<T>> xs, double* out) const {
        if (const auto* f = std::get_if<KernelModel<T>>(&model)) return f->score_many(xs, out);
        for (std::size_t i = 0; i < xs.size(); ++i) score(xs[i], out + i * outputs());
    }

    std::size_t outputs() const {
        return std::visit([](const auto& f) { return f.outputs(); }, model);
    }

    // Two classes share one output f; with a third they become -f/2 and f/2, the same classifier.
    void grow(std::size_t classes) {
        if (classes < 3 || classes <= outputs()) return;
        const bool was_binary = outputs() == 1;
        std::visit([&](auto& f) { f.grow(classes); }, model);
        if (!was_binary) return;
        std::visit([](auto& f) { f.copy(0, 1, 0.5), f.copy(0, 0, -0.5); }, model);
    }

    Weights weights() const { return demand<LinearModel<T>>("weights").weights(); }
    Support<T> support() const { return demand<KernelModel<T>>("support vectors").support(); }

    template <class A>
    void state(A& a) {
        std::visit([&](auto& f) { a("model", f); }, model);
    }

    std::size_t nbytes() const {
        return sizeof(*this) + std::visit([](const auto& f) { return f.nbytes(); }, model);
    }

  private:
    using Hypothesis = std::variant<LinearModel<T>, KernelModel<T>>;

    double C;
    Task task;
    StepRule tau;
    Hypothesis model;
    std::vector<double> scores;  // of the example at hand

    static Hypothesis hypothesis(const Params& params) {
        Hypothesis f = LinearModel<T>(params.kernel.offset);
        if (params.kernel.shape != Shape::linear) f = KernelModel<T>(params.kernel);
        std::visit([](auto& model) { model.grow(1); }, f);
        return f;
    }

    // The box of the paper, Figure 1.
    template <class Model>
    void learn(Model& f, Row<T> x, double y, double weight, std::int64_t id) {
        scores.resize(f.outputs());
        f.read(x, scores.data());
        auto [loss, moves, count] = task.judge(scores, y);
        if (!(loss > 0.0 && weight > 0.0)) return;  // passive
        const double V2 = static_cast<double>(count) * f.norm2(x);
        const double step = tau(loss, V2, C * weight);
        if (!(V2 > 0.0 && std::isfinite(step))) return;  // x = 0: no step helps
        for (Change& move : moves) move.step *= step;
        f.add(x, id, std::span(moves).first(count));  // aggressive
    }

    template <class Model>
    const Model& demand(const char* what) const {
        if (const auto* f = std::get_if<Model>(&model)) return *f;
        throw std::logic_error("this model has no " + std::string(what));
    }
};

template <class T>
using PassiveAggressiveClassifier = PassiveAggressive<T, Classification>;
template <class T>
using PassiveAggressiveRegressor = PassiveAggressive<T, Regression>;

}  // namespace onlinesvm
