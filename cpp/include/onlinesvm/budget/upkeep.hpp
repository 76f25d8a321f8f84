// What a learner does that may keep B examples and has one more: how the function loses one and
// stays close to what it was.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "onlinesvm/base/checked.hpp"
#include "onlinesvm/base/function.hpp"
#include "onlinesvm/budget/merger.hpp"
#include "onlinesvm/budget/span.hpp"

namespace onlinesvm {

template <class T>
class Upkeep {
  public:
    Upkeep(const std::string& word, std::size_t budget, const Kernel& kernel)
        : rule(rule_of(word)), budget(budget), offset(kernel.offset) {
        require(budget >= 2, "budget: must be at least 2");
        require(
            rule != &Upkeep::merge || kernel.shape == Shape::rbf || kernel.shape == Shape::linear,
            "maintenance: merging needs kernel='rbf'; take 'project' or 'remove'");
    }

    void operator()(Function<T>& f) {
        if (rule == &Upkeep::project) span.take_up(f, kInside);
        while (f.size() > budget) (this->*rule)(f, choose(f));
    }

    void demand_fits(Function<T>& f) {
        demand(f.size() <= budget, "more examples are stored than the budget allows");
        if (rule == &Upkeep::project) span.demand_fits(f);
    }
    auto undoable() { return std::tie(span); }
    template <class A>
    void state(A& a) {
        a("span", span);
    }

  private:
    using Rule = void (Upkeep::*)(Function<T>&, Slot);
    static constexpr double kInside = 1e-5;  // of a squared length: outside the span is less

    Rule rule;
    std::size_t budget;
    double offset;
    Span<T> span;                            // where examples are projected
    std::vector<double> lengths2, products;  // of the coefficients; with those of p
    std::vector<float> bounds;               // on what a merger with p loses
    const LeastLoss& least_loss = LeastLoss::table();
    static constexpr double kNearly = 0.99;  // no worse than the best by more
    static constexpr float kNever = std::numeric_limits<float>::infinity();

    static Rule rule_of(const std::string& word) {
        if (word == "merge") return &Upkeep::merge;
        if (word == "project") return &Upkeep::project;
        require(word == "remove", "maintenance: must be 'merge', 'project' or 'remove'");
        return &Upkeep::remove;
    }

    // Who goes: the one with the smallest coefficients, unless nobody else is on its side, for no class
    // is to vanish. Leaves its products with the others, and 0 with itself.
    Slot choose(const Function<T>& f) {
        f.products({}, lengths2);
        for (std::size_t tries = 0; tries < f.size(); ++tries) {
            const Slot p = shortest();
            f.products(p, products);
            products[p] = 0.0;
            if (*std::max_element(products.begin(), products.end()) > 0.0) return p;
            lengths2[p] = std::numeric_limits<double>::infinity();
        }
        f.products({}, lengths2);
        return shortest();
    }
    // Of those that are equal but for rounding the last: where it is the newest, its kernel row is at
    // hand.
    Slot shortest() const {
        const double least = *std::min_element(lengths2.begin(), lengths2.end()) * (1.0 + 1e-9);
        Slot p(lengths2.size() - 1);
        while (lengths2[p] > least) p--;
        return p;
    }

    void remove(Function<T>& f, Slot p) { f.drop(p); }
    void project(Function<T>& f, Slot p) { span.project(f, p); }

    // With the one that costs least, of those on p's side.
    void merge(Function<T>& f, Slot p) {
        const auto k = f.kernel_row(p);
        const double A = lengths2[p];
        const auto with = [&](Slot q) {
            return merger(A, lengths2[q], products[q], std::clamp(k[q] - offset, 1e-30, 1.0),
                          offset);
        };
        bounds.resize(k.size());
        bounds[p] = kNever;
        Slot best = p;
        for (Slot q{}; q < k.size(); ++q) {
            const float ratio = static_cast<float>(products[q] / A);
            const float near = static_cast<float>(k[q]) - static_cast<float>(offset);
            bounds[q] = ratio > 0.0f ? least_loss(ratio * ratio, near) : kNever;
            if (bounds[q] < bounds[best]) best = q;
        }
        if (bounds[best] == kNever) return f.drop(p);  // nobody is on its side
        Merger least = with(best);
        const Slot first = best;
        for (Slot q{}; q < k.size(); ++q) {
            if (!(bounds[q] * A < kNearly * least.loss) || q == first) continue;
            const Merger m = with(q);
            if (m.loss < least.loss) least = m, best = q;
        }
        f.merge(p, best, least.h, least.a, least.b);
    }
};

}  // namespace onlinesvm
