// What a mixture of kernels learns: how experts' outputs become a loss, a slope and a common answer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "onlinesvm/function/loss.hpp"
#include "onlinesvm/state/archive.hpp"

namespace onlinesvm {

// What an example says of all experts: the loss of each, the slope of its outputs (expert by expert),
// and, for the mixture, its loss and whether it was mistaken.
struct Verdict {
    std::vector<double> losses, slopes;
    double loss = 0.0;
    bool mistaken = false;
    std::vector<double> own, mixed;  // room to work in
};

// Log loss of probabilities. The mixture is that of the probabilities, so its loss is at most that of
// the best expert plus the logarithm of one over its weight: the loss is mixable.
class MixedClassification {
  public:
    static constexpr double kStep = 8.0;   // by which a first example moves its output
    static constexpr double kFlat = 1e-3;  // slopes below it count as 0

    void fields(auto&&) {}
    double unit() const { return 1.0; }  // of outputs
    double rate() const { return 1.0; }  // eta of the weights
    void meet(double, double) {}

    void judge(std::span<const double> f, std::span<const double> v, double y, Verdict& out) const {
        const std::size_t experts = v.size(), outputs = f.size() / experts;
        const std::size_t label = class_number(y, outputs);
        std::vector<double>&p = out.own, &mixed = out.mixed;
        p.resize(std::max<std::size_t>(outputs, 2));
        mixed.assign(p.size(), 0.0);
        out.losses.resize(experts), out.slopes.resize(f.size());
        for (std::size_t k = 0; k < experts; ++k) {
            const auto own = f.subspan(k * outputs, outputs);
            out.losses[k] = probabilities(own, p, label);
            for (std::size_t r = 0; r < outputs; ++r)
                out.slopes[k * outputs + r] =
                    outputs == 1 ? p[1] - double(label) : p[r] - double(r == label);
            for (std::size_t r = 0; r < p.size(); ++r) mixed[r] += v[k] * p[r];
        }
        out.loss = -std::log(std::max(mixed[label], kLeast));
        out.mistaken = false;  // a tie is a mistake
        for (std::size_t r = 0; r < p.size(); ++r)
            out.mistaken |= r != label && mixed[r] >= mixed[label];
    }
    // In outputs of the mixture: log odds of the second class, or log p_r + log(outputs).
    void mix(std::span<const double> f, std::span<const double> v, double* out) const {
        const std::size_t experts = v.size(), outputs = f.size() / experts;
        std::vector<double> p(std::max<std::size_t>(outputs, 2)), mixed(p.size());
        for (std::size_t k = 0; k < experts; ++k) {
            probabilities(f.subspan(k * outputs, outputs), p, 0);
            for (std::size_t r = 0; r < p.size(); ++r) mixed[r] += v[k] * p[r];
        }
        for (double& m : mixed) m = std::log(std::max(m, kLeast));
        if (outputs == 1)
            out[0] = mixed[1] - mixed[0];
        else
            for (std::size_t r = 0; r < outputs; ++r) out[r] = mixed[r] + std::log(double(outputs));
    }
    double limit(double) const { return std::numeric_limits<double>::infinity(); }

    template <class A>
    void state(A&) {}

  private:
    static constexpr double kLeast = 1e-300;

    // Their probabilities, and the log loss for a label.
    static double probabilities(std::span<const double> f, std::vector<double>& p,
                                std::size_t label) {
        if (f.size() == 1) {
            const double e = std::exp(-std::abs(f[0])), larger = 1.0 / (1.0 + e);
            p[f[0] >= 0.0] = larger, p[f[0] < 0.0] = e * larger;
            const double against = label == 1 ? -f[0] : f[0];
            return std::max(0.0, against) + std::log1p(e);
        }
        const double top = *std::max_element(f.begin(), f.end());
        double sum = 0.0;
        for (std::size_t r = 0; r < f.size(); ++r) sum += p[r] = std::exp(f[r] - top);
        for (double& each : p) each /= sum;
        return std::log(sum) - (f[label] - top);
    }
};

// Squared loss of predictions within the range of the targets so far, in which it is exp-concave with
// eta = 1 / (2 range^2). Outputs are measured from the mean of the targets, in units of their spread.
class MixedRegression {
  public:
    static constexpr double kStep = 2.0, kFlat = 0.0;
    static constexpr double kFar = 1e100;  // targets beyond have squares that overflow

    void fields(auto&&) {}
    double unit() const { return count_ > 0.0 ? std::sqrt(squares_ / count_) : 0.0; }
    double rate() const {
        const double wide = high_ - low_;
        return wide > 0.0 ? 0.5 / std::max(wide * wide, 1e-300) : 1.0;
    }
    // A target, before a step is taken towards it.
    void meet(double y, double weight) {
        if (!(std::abs(y) <= kFar))
            throw std::invalid_argument("y: a target is beyond 1e100; scale the targets");
        low_ = count_ > 0.0 ? std::min(low_, y) : y;
        high_ = count_ > 0.0 ? std::max(high_, y) : y;
        count_ += weight;
        const double apart = y - mean_;
        mean_ += apart * weight / count_;
        squares_ += weight * apart * (y - mean_);
    }

    void judge(std::span<const double> f, std::span<const double> v, double y, Verdict& out) const {
        out.losses.resize(v.size()), out.slopes.resize(v.size());
        double mixed = 0.0;
        for (std::size_t k = 0; k < v.size(); ++k) {
            const double apart = within(f[k]) - y;
            mixed += v[k] * within(f[k]);
            out.losses[k] = apart * apart;
            out.slopes[k] = count_ > 0.0 ? mean_ + f[k] - y : 0.0;  // the first one is the mean
        }
        out.loss = (mixed - y) * (mixed - y);
        out.mistaken = false;
    }
    void mix(std::span<const double> f, std::span<const double> v, double* out) const {
        out[0] = 0.0;
        for (std::size_t k = 0; k < v.size(); ++k) out[0] += v[k] * within(f[k]);
    }
    // No step leads beyond its own target.
    double limit(double slope) const { return std::abs(slope); }

    template <class A>
    void state(A& a) {
        a("count", count_), a("mean", mean_), a("squares", squares_);
        a("low", low_), a("high", high_);
        if constexpr (A::loading)
            demand(count_ >= 0.0 && squares_ >= 0.0 && low_ <= high_,
                   "the targets' spread is wrong");
    }

  private:
    double count_ = 0.0, mean_ = 0.0, squares_ = 0.0, low_ = 0.0, high_ = 0.0;

    double within(double f) const { return std::clamp(mean_ + f, low_, high_); }
};

}  // namespace onlinesvm
