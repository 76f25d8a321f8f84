// How one example is judged: what it costs, and which outputs would have to move, and which way.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>

#include "onlinesvm/base/linear.hpp"

namespace onlinesvm {

struct Verdict {
    double loss;
    std::array<Change, 2> moves;
    std::size_t count;

    // The moves, each `step` long.
    std::span<const Change> scaled(double step) {
        for (Change& move : moves) move.step *= step;
        return std::span<const Change>(moves).first(count);
    }
};

// Two classes: hinge loss on one output. More: the true class against the best of the others.
struct Classification {
    template <class F>
    void fields(F&&) {}

    Verdict judge(std::span<const double> f, double y, double margin = 1.0) const {
        if (!(y >= 0.0 && y < static_cast<double>(std::max<std::size_t>(2, f.size()))))
            throw std::invalid_argument("y: not a known class");
        const auto label = static_cast<std::size_t>(y);
        if (f.size() == 1) {
            const double sign = label == 1 ? 1.0 : -1.0;
            return {margin - sign * f[0], {{{0, sign}}}, 1};
        }
        std::size_t rival = label == 0 ? 1 : 0;
        for (std::size_t r = rival + 1; r < f.size(); ++r)
            if (r != label && f[r] > f[rival]) rival = r;
        return {margin - f[label] + f[rival], {{{label, 1.0}, {rival, -1.0}}}, 2};
    }
};

struct Regression {
    double epsilon = 0.1;

    template <class F>
    void fields(F&& f) {
        f("epsilon", epsilon);
    }

    Verdict judge(std::span<const double> f, double y) const {
        return {std::abs(y - f[0]) - epsilon, {{{0, y > f[0] ? 1.0 : -1.0}}}, 1};
    }
};

}  // namespace onlinesvm
