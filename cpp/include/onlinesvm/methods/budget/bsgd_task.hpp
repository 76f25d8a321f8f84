// What BSGD learns: the loss of an example, and how far one step may go.
#pragma once

#include <algorithm>
#include <span>

#include "onlinesvm/function/loss.hpp"

namespace onlinesvm {

template <class T, class Task>
class Bsgd;

// A step of full length, whatever the loss.
struct BudgetedClassification : Classification {
    static double capped(double eta, double, double) { return eta; }
};

// A step past the target would only be taken back.
struct BudgetedRegression : Regression {
    static double capped(double eta, double loss, double k) { return std::min(eta, loss / k); }
};

// The ramp loss: on the wrong side by more than -s, an example is an outlier and pulls by `leak` only.
// Without a leak, a region once learned wrongly would be left alone for good.
struct RampClassification : BudgetedClassification {
    double s = -1.0, leak = 0.1;

    void fields(auto&& f) { f("s", s), f("leak", leak); }
    Loss loss(std::span<const double> f, double y) const {
        Loss loss = Classification::loss(f, y);
        if (loss.value <= 1.0 - s) return loss;
        if (leak == 0.0) return {0.0, loss.directions, loss.count};
        for (Change& move : loss.directions) move.step *= leak;
        return loss;
    }
};

template <class T>
using BudgetedClassifier = Bsgd<T, BudgetedClassification>;
template <class T>
using BudgetedRampClassifier = Bsgd<T, RampClassification>;
template <class T>
using BudgetedRegressor = Bsgd<T, BudgetedRegression>;

}  // namespace onlinesvm
