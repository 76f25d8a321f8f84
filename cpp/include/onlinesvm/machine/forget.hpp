// Who goes first when a model holds more support vectors than it may.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <string>

#include "onlinesvm/memory/slot.hpp"
#include "onlinesvm/state/checked.hpp"
#include "onlinesvm/state/random.hpp"

namespace onlinesvm {

struct ForgetParams {
    std::string forget = "oldest";
    std::int64_t seed = 0;    // of "random"
    std::int64_t tries = 20;  // of "random": refusals before one goes all the same
    double eta = 1e-2;  // of "linear_dependence": how far outside the span of the others is new

    template <class F>
    void fields(F&& field) {
        field("forget", forget);
        field("seed", seed);
        field("tries", tries);
        field("eta", eta);
    }
};

// A support vector: the largest of its coefficients, and of those times the loss where it is on the
// wrong side.
struct Candidate {
    Id id;
    std::int64_t age;
    double alpha = 0.0, loss = 0.0;

    // What it is for one output: its coefficient, and g = 1 - y f(x).
    void add(double s, double g) {
        alpha = std::max(alpha, std::abs(s));
        if (g > 1.0) loss = std::max(loss, std::abs(s) * g);
    }
};

class Forget {
  public:
    explicit Forget(const ForgetParams& p)
        : value_(value_of(p.forget)), folds_(p.forget == "linear_dependence"), random_(p.seed) {}

    // Whose turn it is to go: the smallest first, and of equals the oldest.
    struct Turn {
        double value;
        std::int64_t age;
        Id id;
        auto operator<=>(const Turn&) const = default;
    };
    Turn turn(const Candidate& c) { return {(this->*value_)(c), c.age, c.id}; }

    bool is_random() const { return value_ == &Forget::random; }
    bool folds() const { return folds_; }  // what goes leaves its share to what stays

    template <class A>
    void state(A& a) {
        if (is_random()) a("random", random_);
    }

  private:
    using Value = double (Forget::*)(const Candidate&);

    static Value value_of(const std::string& word) {
        if (word == "oldest") return &Forget::oldest;
        if (word == "random") return &Forget::random;
        if (word == "least_significant") return &Forget::least_significant;
        if (word == "outlier_first") return &Forget::outlier_first;
        require(word == "linear_dependence", "forget: no such policy");
        return &Forget::least_significant;  // of those that depend on each other
    }

    double oldest(const Candidate&) { return 0.0; }
    double random(const Candidate&) { return random_.unit(); }
    double least_significant(const Candidate& c) { return c.alpha; }
    double outlier_first(const Candidate& c) { return -c.loss; }

    Value value_;
    bool folds_;
    Random random_;
};

}  // namespace onlinesvm
