// Learning rates as words: how long the step of round t = 1, 2, ... is.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "onlinesvm/state/checked.hpp"

namespace onlinesvm {

class Schedule {
  public:
    Schedule(const std::string& name, double eta0, double lambda)
        : eta0(eta0), lambda(lambda), rule(rule_of(name)) {
        require(eta0 > 0.0, "eta0: must be positive");
        require(lambda >= 0.0 && eta0 * lambda < 1.0,
                "eta0: times the regularisation must be below 1");
    }

    double operator()(std::int64_t t) const { return rule(eta0, lambda, static_cast<double>(t)); }

  private:
    using Rule = double (*)(double eta0, double lambda, double t);
    double eta0, lambda;
    Rule rule;

    static double constant(double eta0, double, double) { return eta0; }
    static double invscaling(double eta0, double, double t) { return eta0 / std::sqrt(t); }
    static double optimal(double eta0, double lambda, double t) {
        return eta0 / (1.0 + eta0 * lambda * (t - 1.0));
    }

    static Rule rule_of(const std::string& name) {
        if (name == "constant") return constant;
        if (name == "invscaling") return invscaling;
        if (name == "optimal") return optimal;
        throw std::invalid_argument("learning_rate: '" + name +
                                    "' is not 'constant', 'invscaling' or 'optimal'");
    }
};

}  // namespace onlinesvm
