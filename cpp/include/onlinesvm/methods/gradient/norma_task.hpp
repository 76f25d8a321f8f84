// What NORMA learns: the loss of an example at a level, the margin rho or the width epsilon of the
// tube. With nu, the level moves until a share nu of the examples are errors (sections III.B, III.C).
#pragma once

#include <string>

#include "onlinesvm/function/loss.hpp"

namespace onlinesvm {

template <class T, class Task>
class Norma;

struct NormaClassification : Classification {
    double level() const { return 1.0; }
    static double adapted(double rho, double eta, double nu, bool error) {
        return rho + eta * (nu - (error ? 1.0 : 0.0));
    }
    double decision(double f, double) const { return f; }
};
template <class T>
using NormaClassifier = Norma<T, NormaClassification>;

struct NormaNovelty {
    void fields(auto&&) {}
    Loss loss(std::span<const double> f, double, double rho) const {
        return {rho - f[0], {{{0, 1.0}}}, 1};
    }
    double level() const { return 0.0; }
    static double adapted(double rho, double eta, double nu, bool error) {
        return NormaClassification::adapted(rho, eta, nu, error);
    }
    double decision(double f, double rho) const { return f - rho; }
};
template <class T>
using NormaOneClass = Norma<T, NormaNovelty>;

struct NormaRegression {
    std::string name = "epsilon_insensitive";
    double epsilon = 0.1;   // width of the tube, or where Huber's loss becomes linear
    double quantile = 0.5;  // of the pinball loss

    void fields(auto&& f) { f("loss", name), f("epsilon", epsilon), f("quantile", quantile); }
    Loss loss(std::span<const double> f, double y, double eps) const {
        const double r = y - f[0], size = std::abs(r);
        if (name == "epsilon_insensitive") return {size - eps, {{{0, r > 0.0 ? 1.0 : -1.0}}}, 1};
        if (name == "squared") return {size, {{{0, r}}}, 1};
        if (name == "huber") return {size, {{{0, std::clamp(r / eps, -1.0, 1.0)}}}, 1};
        if (name == "pinball") return {size, {{{0, r > 0.0 ? quantile : quantile - 1.0}}}, 1};
        throw std::invalid_argument("loss: unknown name '" + name + "'");
    }
    double level() const { return epsilon; }
    static double adapted(double eps, double eta, double nu, bool error) {
        return std::max(0.0, eps + eta * ((error ? 1.0 : 0.0) - nu));
    }
    double decision(double f, double) const { return f; }
};
template <class T>
using NormaRegressor = Norma<T, NormaRegression>;

}  // namespace onlinesvm
