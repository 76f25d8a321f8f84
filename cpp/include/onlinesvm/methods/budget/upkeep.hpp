// What a learner does that may keep B examples and has one more: how the function loses one and
// stays close to what it was.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "onlinesvm/function/function.hpp"
#include "onlinesvm/machine/room.hpp"
#include "onlinesvm/methods/budget/merger.hpp"
#include "onlinesvm/methods/budget/span.hpp"
#include "onlinesvm/state/checked.hpp"

namespace onlinesvm {

template <class T>
class Upkeep {
  public:
    Upkeep(const std::string& word, Room room, const Kernel& kernel)
        : rule(rule_of(word)), room(room), offset(kernel.offset) {
        require(
            rule != &Upkeep::merge || kernel.shape == Shape::rbf || kernel.shape == Shape::linear,
            "maintenance: merging needs kernel='rbf'; take 'project' or 'remove'");
    }

    // After x was stored.
    void operator()(Function<T>& f, const Row<T>& x) {
        if (rule == &Upkeep::project) span.take_up(f, kInside);
        // A merger of sparse rows has the features of both: it saves no bytes.
        const bool frees = rule != &Upkeep::merge || !x.sparse() || room.bytes == 0;
        while (is_exceeded_by(f)) {
            f.products({}, lengths2);
            const Slot p = company.lowest(f, lengths2);
            frees ? (this->*rule)(f, p) : remove(f, p);
        }
    }

    void demand_fits(Function<T>& f) {
        demand(!is_exceeded_by(f), "more is stored than the budget allows");
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
    Room room;
    double offset;
    Span<T> span;                  // where examples are projected
    Company company;               // who goes: the one with the smallest coefficients
    std::vector<double> lengths2;  // of the coefficients
    std::vector<float> bounds;     // on what a merger with p loses
    const LeastLoss& least_loss = LeastLoss::table();
    static constexpr double kNearly = 0.99;  // no worse than the best by more
    static constexpr float kNever = std::numeric_limits<float>::infinity();

    static Rule rule_of(const std::string& word) {
        if (word == "merge") return &Upkeep::merge;
        if (word == "project") return &Upkeep::project;
        require(word == "remove", "maintenance: must be 'merge', 'project' or 'remove'");
        return &Upkeep::remove;
    }

    bool is_exceeded_by(const Function<T>& f) const {
        return room.is_exceeded_by(f, rule == &Upkeep::project ? Span<T>::footprint(f.size()) : 0);
    }

    void remove(Function<T>& f, Slot p) { f.drop(p); }
    void project(Function<T>& f, Slot p) { span.project(f, p); }

    // With the one that costs least, of those on p's side.
    void merge(Function<T>& f, Slot p) {
        const auto k = f.kernel_row(p);
        const std::vector<double>& products = company.products;
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
