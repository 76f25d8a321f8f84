// NORMA: Online Learning with Kernels (Kivinen, Smola, Williamson 2004).
//
// Stochastic gradient descent in the space of the kernel: f <- (1 - eta lambda) f - eta l'(f(x), y)
// k(x, .). What shrinks long enough is dropped, so that at most tau examples are ever held.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "onlinesvm/base/hypothesis.hpp"
#include "onlinesvm/base/verdict.hpp"
#include "onlinesvm/gradient/schedule.hpp"

namespace onlinesvm {

// A task judges an example at a level: the margin rho, or the width epsilon of the tube. With nu it
// moves the level until a share nu of the examples are errors.
struct NormaClassification : Classification {
    double level() const { return 1.0; }
    static double adapted(double rho, double eta, double nu, bool error) {
        return rho + eta * (nu - (error ? 1.0 : 0.0));
    }
    double decision(double f, double) const { return f; }
};

struct NormaNovelty {
    template <class F>
    void fields(F&&) {}
    Verdict judge(std::span<const double> f, double, double rho) const {
        return {rho - f[0], {{{0, 1.0}}}, 1};
    }
    double level() const { return 0.0; }
    static double adapted(double rho, double eta, double nu, bool error) {
        return NormaClassification::adapted(rho, eta, nu, error);
    }
    double decision(double f, double rho) const { return f - rho; }
};

struct NormaRegression {
    std::string loss = "epsilon_insensitive";
    double epsilon = 0.1;   // width of the tube, or where Huber's loss becomes linear
    double quantile = 0.5;  // of the pinball loss

    template <class F>
    void fields(F&& f) {
        f("loss", loss);
        f("epsilon", epsilon);
        f("quantile", quantile);
    }
    Verdict judge(std::span<const double> f, double y, double eps) const {
        const double r = y - f[0];
        if (loss == "epsilon_insensitive")
            return {std::abs(r) - eps, {{{0, r > 0.0 ? 1.0 : -1.0}}}, 1};
        if (loss == "squared") return {std::abs(r), {{{0, r}}}, 1};
        if (loss == "huber") return {std::abs(r), {{{0, std::clamp(r / eps, -1.0, 1.0)}}}, 1};
        if (loss == "pinball")
            return {std::abs(r), {{{0, r > 0.0 ? quantile : quantile - 1.0}}}, 1};
        throw std::invalid_argument("loss: unknown name '" + loss + "'");
    }
    double level() const { return epsilon; }
    static double adapted(double eps, double eta, double nu, bool error) {
        return std::max(0.0, eps + eta * ((error ? 1.0 : 0.0) - nu));
    }
    double decision(double f, double) const { return f; }
};

template <class T, class Task>
class Norma {
  public:
    struct Params {
        double alpha = 1e-2;  // lambda
        std::string learning_rate = "constant";
        double eta0 = 0.1;
        double nu = 0.0;              // 0: the level stays
        std::int64_t truncation = 0;  // tau; 0: none
        bool free_bias = false;
        Kernel kernel;
        Task task;

        template <class F>
        void fields(F&& f) {
            f("alpha", alpha);
            f("learning_rate", learning_rate);
            f("eta0", eta0);
            f("nu", nu);
            f("truncation", truncation);
            f("free_bias", free_bias);
            f("kernel", kernel);
            task.fields(f);
        }
    };

    explicit Norma(const Params& params)
        : lambda(params.alpha),
          eta(params.learning_rate, params.eta0, params.alpha),
          nu(params.nu),
          tau(params.truncation),
          learns_bias(params.free_bias),
          task(params.task),
          f(params.kernel, tau > 0 ? Keep::examples : Keep::least),
          level_(task.level()),
          bias(1) {
        if (tau < 0) throw std::invalid_argument("truncation: must not be negative");
    }

    // Predict with the old f; shrink it, drop what is too old, append; then the bias and the level.
    void learn(Row<T> x, double y, double weight, std::int64_t id) {
        if (!(weight > 0.0)) return;
        Verdict verdict = task.judge(biased(f.read(x)), y, level_);
        const bool error = verdict.loss > 0.0;
        const double step = eta(++t);
        f.shrink(1.0 - step * lambda);
        if (tau > 0) expire();
        if (error) {
            suffered_ += weight * verdict.loss;
            const auto c = verdict.scaled(step * weight);
            if (tau > 0) note_birth(id);
            f.add(x, id, c);
            for (const auto& [output, change] : c)
                if (learns_bias) bias[output] += change;
        }
        if (nu > 0.0) level_ = Task::adapted(level_, step * weight, nu, error);
    }

    // The losses of the examples as they came, before each was learned.
    double suffered() const { return suffered_; }

    void expect(std::span<const Row<T>> coming) { f.expect(coming); }
    void turn(std::size_t i) { f.turn(i); }
    bool steps_whole() const { return f.linear(); }

    bool holds(std::int64_t id) const { return f.find(id).has_value(); }

    // Drops the examples' own terms. Steps that later examples took because of them, the bias and
    // the level stay as they are: an approximation.
    void unlearn(std::span<const std::int64_t> ids) {
        for (std::int64_t id : ids)
            if (const auto slot = f.find(id)) drop(*slot);
    }

    void score(Row<T> x, double* out) const { score_many({&x, 1}, out); }

    void score_many(std::span<const Row<T>> xs, double* out) const {
        f.score_many(xs, out);
        for (std::size_t i = 0; i < xs.size() * outputs(); ++i)
            out[i] = task.decision(out[i] + bias[i % outputs()], level_);
    }

    std::size_t outputs() const { return f.outputs(); }

    void grow(std::size_t classes) {
        if (classes > 2 && outputs() == 1) bias = {-0.5 * bias[0], 0.5 * bias[0]};
        f.grow(classes);
        bias.resize(outputs());
    }

    double level() const { return level_; }  // rho or epsilon
    std::vector<double> free_bias() const { return bias; }

    Weights weights() const {
        Weights out = f.weights();
        for (std::size_t r = 0; r < bias.size(); ++r) out.intercept[r] += bias[r];
        return out;
    }
    Support<T> support() const { return f.support(); }

    auto undoable() { return std::tie(f, t, level_, bias, born); }

    template <class A>
    void state(A& a) {
        a("f", f);
        a("t", t);
        a("level", level_);
        a("bias", bias);
        a("born", born);
        if constexpr (A::loading)
            demand(bias.size() == outputs() && born.size() == (tau > 0 ? f.size() : 0) &&
                       std::all_of(born.begin(), born.end(), [&](auto b) { return b <= t; }),
                   "the rounds do not fit the examples");
    }

    std::size_t nbytes() const {
        return sizeof(*this) + f.nbytes() + born.capacity() * sizeof(born[0]);
    }

  private:
    double lambda;
    Schedule eta;
    double nu;
    std::int64_t tau;
    bool learns_bias;
    Task task;
    Hypothesis<T> f;
    std::int64_t t = 0;  // rounds
    double level_;
    std::vector<double> bias;        // b of each output; not shrunk
    PlainLedger<std::int64_t> born;  // with tau: the round of each stored example, by slot
    std::vector<double> scores;
    double suffered_ = 0.0;

    std::span<const double> biased(std::span<const double> values) {
        scores.assign(values.begin(), values.end());
        for (std::size_t r = 0; r < scores.size(); ++r) scores[r] += bias[r];
        return scores;
    }

    // At most one example is stored per round, so at most one has reached the age tau.
    void expire() {
        const auto oldest = std::find(born.begin(), born.end(), t - tau);
        if (oldest != born.end()) drop(std::size_t(oldest - born.begin()));
    }
    // An example that is stored already starts a new life.
    void note_birth(std::int64_t id) {
        if (const auto slot = f.find(id))
            born.edit(*slot) = t;
        else
            born.push_back(t);
    }
    void drop(std::size_t slot) {
        f.drop(slot);
        if (tau == 0) return;
        born.edit(slot) = born.back();
        born.pop_back();
    }
};

template <class T>
using NormaClassifier = Norma<T, NormaClassification>;
template <class T>
using NormaRegressor = Norma<T, NormaRegression>;
template <class T>
using NormaOneClass = Norma<T, NormaNovelty>;

}  // namespace onlinesvm
