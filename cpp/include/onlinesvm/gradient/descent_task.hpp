// What gradient descent learns: a loss of the margin z = y f, or of the distance r = y - f.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "onlinesvm/base/loss.hpp"
#include "onlinesvm/gradient/norma_task.hpp"

namespace onlinesvm {

template <class T, class Task>
class Descent;
template <class T, class Task>
class Exponentiated;

// More than two classes: z = f_y - f_r for the best rival r.
struct DescentClassification {
    std::string name = "hinge";

    void fields(auto&& f) { f("loss", name); }
    static double size(double) { return 1.0; }  // of a target
    bool curved() const { return name == "squared" || name == "squared_hinge"; }
    // The directions become as long as the loss is steep.
    Loss loss(std::span<const double> f, double y) const {
        Loss out = Classification().loss(f, y);
        const double gap = out.value, z = 1.0 - gap;
        double slope = 0.0;
        if (name == "hinge")
            slope = gap > 0.0 ? 1.0 : 0.0;
        else if (name == "squared_hinge")
            out.value = 0.5 * gap * std::abs(gap), slope = std::max(0.0, gap);
        else if (name == "squared")
            out.value = 0.5 * gap * gap, slope = gap;
        else if (name == "logistic")
            slope = z > 0.0 ? std::exp(-z) / (1.0 + std::exp(-z)) : 1.0 / (1.0 + std::exp(z)),
            out.value = z > 0.0 ? std::log1p(std::exp(-z)) : std::log1p(std::exp(z)) - z;
        else if (name == "perceptron")  // a tie costs nothing, and is a mistake
            out.value = z > 0.0 ? 0.0 : std::max(-z, std::numeric_limits<double>::min()),
            slope = z > 0.0 ? 0.0 : 1.0;
        else
            throw std::invalid_argument("loss: unknown name '" + name + "'");
        for (Change& direction : out.directions) direction.step *= slope;
        return out;
    }
};
template <class T>
using DescentClassifier = Descent<T, DescentClassification>;
template <class T>
using ExponentiatedClassifier = Exponentiated<T, DescentClassification>;

struct DescentRegression : NormaRegression {
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
