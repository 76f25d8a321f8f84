// Online Passive-Aggressive Algorithms (Crammer, Dekel, Keshet, Shalev-Shwartz, Singer, JMLR 2006).
//
// The smallest change of w that makes the loss of the current example vanish (PA), or that trades
// the change against the loss: w <- argmin |w - w_t|^2 / 2 + C loss (PA-I) or + C loss^2 (PA-II).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "onlinesvm/base/archive.hpp"
#include "onlinesvm/base/kernel.hpp"
#include "onlinesvm/base/linear.hpp"
#include "onlinesvm/base/row.hpp"

namespace onlinesvm {

// How one example is judged: its loss, and which outputs would have to move, which way, to lower
// it.
struct Verdict {
    struct Move {
        std::size_t output;
        double sign;
    };
    double loss;
    std::array<Move, 2> moves;
    std::size_t count;
};

// Two classes: hinge loss on one output. More: the true class against the best of the others.
struct Classification {
    template <class F>
    void fields(F&&) {}

    Verdict judge(std::span<const double> f, double y) const {
        if (!(y >= 0.0 && y < static_cast<double>(std::max<std::size_t>(2, f.size()))))
            throw std::invalid_argument("y: not a known class");
        const auto label = static_cast<std::size_t>(y);
        if (f.size() == 1) {
            const double sign = label == 1 ? 1.0 : -1.0;
            return {1.0 - sign * f[0], {{{0, sign}}}, 1};
        }
        std::size_t rival = label == 0 ? 1 : 0;
        for (std::size_t r = rival + 1; r < f.size(); ++r)
            if (r != label && f[r] > f[rival]) rival = r;
        return {1.0 - f[label] + f[rival], {{{label, 1.0}, {rival, -1.0}}}, 2};
    }
};

struct Regression {
    double epsilon = 0.1;

    template <class F>
    void fields(F&& f) {
        f("epsilon", epsilon);
    }

    Verdict judge(std::span<const double> f, double y) const {
        return {std::abs(y - f[0]) - epsilon, {{{0, y > f[0] ? 1.0 : -1.0}}}, 1};
    }
};

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
          model(params.kernel.offset) {
        if (!(C > 0.0)) throw std::invalid_argument("C: must be positive");
        model.grow(1);
        f.resize(1);
    }

    void learn(Row<T> x, double y, double weight, std::int64_t) {
        if (!(weight > 0.0)) return;
        model.widen(x.width);
        score(x, f.data());
        const Verdict verdict = task.judge(f, y);
        if (!(verdict.loss > 0.0)) return;  // passive
        const double V2 = static_cast<double>(verdict.count) * model.norm2(x);
        const double step = tau(verdict.loss, V2, C * weight);
        if (!(V2 > 0.0 && std::isfinite(step))) return;  // x = 0: no step helps
        for (std::size_t i = 0; i < verdict.count; ++i)  // aggressive
            model.add(x, verdict.moves[i].output, step * verdict.moves[i].sign);
    }

    void score(Row<T> x, double* out) const {
        for (std::size_t r = 0; r < outputs(); ++r) out[r] = model.score(x, r);
    }

    std::size_t outputs() const { return model.outputs(); }

    // Two classes share one output f; with a third they become f/2 and -f/2, the same classifier.
    void grow(std::size_t classes) {
        if (classes < 3 || classes <= outputs()) return;
        const bool was_binary = outputs() == 1;
        model.grow(classes);
        f.resize(classes);
        if (was_binary) {
            model.copy(0, 1, 0.5);
            model.copy(0, 0, -0.5);
        }
    }

    Weights weights() const { return model.weights(); }

    template <class A>
    void state(A& a) {
        a("model", model);
    }

    void loaded() {
        model.demand_consistent();
        f.resize(outputs());
    }

    std::size_t nbytes() const { return sizeof(*this) + bytes_of(*this); }

  private:
    double C;
    Task task;
    StepRule tau;
    LinearModel<T> model;
    std::vector<double> f;  // scores of the example at hand
};

template <class T>
using PassiveAggressiveClassifier = PassiveAggressive<T, Classification>;
template <class T>
using PassiveAggressiveRegressor = PassiveAggressive<T, Regression>;

}  // namespace onlinesvm
