// What gradient descent learns: a loss of the margin z = y f, or of the distance r = y - f.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "onlinesvm/function/loss.hpp"
#include "onlinesvm/methods/gradient/norma_task.hpp"

namespace onlinesvm {

template <class T, class Task>
class Descent;
template <class T, class Task>
class Exponentiated;

// A loss of the margin z by what it is short of 1, gap = 1 - z; and how steeply it falls in z.
struct MarginLoss {
    double value, slope;

    static MarginLoss hinge(double gap) { return {gap, gap > 0.0 ? 1.0 : 0.0}; }
    static MarginLoss squared_hinge(double gap) {
        return {0.5 * gap * std::abs(gap), std::max(0.0, gap)};
    }
    static MarginLoss squared(double gap) { return {0.5 * gap * gap, gap}; }
    static MarginLoss logistic(double gap) {  // log(1 + e^-z), half the time of log1p
        const double z = 1.0 - gap, e = std::exp(-std::abs(z));
        const double flat = e > 1e-8 ? std::log(1.0 + e) : e;
        return {flat + std::max(0.0, -z), (z > 0.0 ? e : 1.0) / (1.0 + e)};
    }
    static MarginLoss perceptron(double gap) {  // a tie costs nothing, and is a mistake
        const double z = 1.0 - gap;
        if (z > 0.0) return {0.0, 0.0};
        return {std::max(-z, std::numeric_limits<double>::min()), 1.0};
    }

    using Rule = MarginLoss (*)(double gap);
    static Rule of(const std::string& name) {
        if (name == "hinge") return hinge;
        if (name == "squared_hinge") return squared_hinge;
        if (name == "squared") return squared;
        if (name == "logistic") return logistic;
        if (name == "perceptron") return perceptron;
        throw std::invalid_argument("loss: unknown name '" + name + "'");
    }
};

// More than two classes: z = f_y - f_r for the best rival r.
struct DescentClassification {
    std::string name = "hinge";
    MarginLoss::Rule rule = MarginLoss::hinge;

    void fields(auto&& f) { f("loss", name); }
    void settle() { rule = MarginLoss::of(name); }
    static double size(double) { return 1.0; }  // of a target
    bool curved() const { return name == "squared" || name == "squared_hinge"; }
    // The directions become as long as the loss is steep.
    Loss loss(std::span<const double> f, double y) const {
        Loss out = Classification().loss(f, y);
        const auto [value, slope] = rule(out.value);
        out.value = value;
        for (Change& direction : out.directions) direction.step *= slope;
        return out;
    }
};
template <class T>
using DescentClassifier = Descent<T, DescentClassification>;
template <class T>
using ExponentiatedClassifier = Exponentiated<T, DescentClassification>;

struct DescentRegression : NormaRegression {
    void settle() const {}
    static double size(double y) { return std::abs(y); }
    bool curved() const { return name == "squared"; }
    Loss loss(std::span<const double> f, double y) const {
        return NormaRegression::loss(f, y, epsilon);
    }
};
template <class T>
using DescentRegressor = Descent<T, DescentRegression>;
template <class T>
using ExponentiatedRegressor = Exponentiated<T, DescentRegression>;

}  // namespace onlinesvm
