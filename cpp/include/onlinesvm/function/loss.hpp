// The loss of one example: how large it is, and which outputs would have to move, and which way.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include "onlinesvm/function/linear_model.hpp"

namespace onlinesvm {

struct Loss {
    double value;
    std::array<Change, 2> directions;
    std::size_t count;  // of them

    std::span<const Change> moves(double step) {  // each `step` long; asked for once
        for (Change& move : directions) move.step *= step;
        return std::span<const Change>(directions).first(count);
    }
};

inline std::size_t class_number(double y, std::size_t outputs) {
    require(y >= 0.0 && y < static_cast<double>(std::max<std::size_t>(2, outputs)),
            "y: not a known class");
    return static_cast<std::size_t>(y);
}

// Two classes: hinge loss on one output. More: the true class against the best of the others.
struct Classification {
    void fields(auto&&) {}

    Loss loss(std::span<const double> f, double y, double margin = 1.0) const {
        const std::size_t label = class_number(y, f.size());
        if (f.size() == 1) {
            const double sign = 2.0 * static_cast<double>(label) - 1.0;  // nobody can guess labels
            return {margin - sign * f[0], {{{0, sign}}}, 1};
        }
        std::size_t rival = label == 0 ? 1 : 0;
        for (std::size_t r = rival + 1; r < f.size(); ++r)
            if (r != label && f[r] > f[rival]) rival = r;
        return {margin - f[label] + f[rival], {{{label, 1.0}, {rival, -1.0}}}, 2};
    }
};

// A mistake, a tie included, costs 1: the true class against all that are not below it.
class Mistakes {
  public:
    // How f moves, over as long as `weight`; not at all where there is no mistake.
    std::span<const Change> moves(std::span<const double> f, double y, double weight) {
        const std::size_t label = class_number(y, f.size());
        moves_.clear();
        moves_.reserve(f.size() + 1);
        if (f.size() == 1) {
            const double sign = label == 1 ? 1.0 : -1.0;
            if (sign * f[0] <= 0.0) moves_.push_back({0, sign * weight});
            return moves_;
        }
        for (std::size_t r = 0; r < f.size(); ++r)
            if (r != label && f[r] >= f[label]) moves_.push_back({r, -weight});
        if (moves_.empty()) return moves_;
        for (Change& rival : moves_) rival.step /= static_cast<double>(moves_.size());
        moves_.push_back({label, weight});
        return moves_;
    }

  private:
    std::vector<Change> moves_;
};

struct Regression {
    double epsilon = 0.1;

    void fields(auto&& f) { f("epsilon", epsilon); }
    Loss loss(std::span<const double> f, double y) const {
        return {std::abs(y - f[0]) - epsilon, {{{0, y > f[0] ? 1.0 : -1.0}}}, 1};
    }
};

}  // namespace onlinesvm
