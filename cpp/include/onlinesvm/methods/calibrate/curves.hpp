// Curves from a score to a probability: adding many of them up, and what Venn-Abers ones are made of.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <variant>
#include <vector>

#include "onlinesvm/loops/chances.hpp"

namespace onlinesvm::calibrate {

using Numbers = std::span<const double>;

// 1 / (1 + exp(-(slope * score + offset))).
struct Sigmoid {
    double slope, offset;

    void add(double weight, Numbers scores, double* sums) const {
        isa::chances().add_sigmoid(slope, offset, weight, scores.data(), sums, scores.size());
    }
};

// Between which breaks a score lies: equal cells over them, of which few hold two, say so without a
// branch that a processor could not foresee.
class Breaks {
  public:
    explicit Breaks(Numbers given)
        : breaks(given.begin(), given.end()),
          last(double(std::clamp(kEach * given.size(), kLeast, kMost))) {
        if (!given.empty()) {
            const double low = given.front(), high = given.back();
            const double most = std::max(std::abs(low), std::abs(high));
            // A cell is a rising function of the score also where this rounds: breaks are put in by it.
            scale = std::min(high > low ? last / (high - low) : 1.0, most > 0 ? 1e15 / most : 1.0);
            shift = -low * scale;
        }
        std::uint32_t passed = 0;
        before.reserve(std::size_t(last) + 2);
        for (std::size_t c = 0; c < std::size_t(last) + 2; ++c) {
            while (passed < given.size() && cell(given[passed]) < c) ++passed;
            before.push_back(passed);
        }
        breaks.push_back(std::numeric_limits<double>::quiet_NaN());  // nobody reaches it
    }

    // How many of them a score has reached.
    std::size_t reached(double score) const {
        const std::size_t c = cell(score), from = before[c], to = before[c + 1];
        if (to - from > 1) [[unlikely]]
            return std::upper_bound(&breaks[from], &breaks[to], score) - breaks.data();
        // Nor is one in a later cell, which this may be, reached.
        return from + std::size_t(breaks[from] <= score);
    }

  private:
    static constexpr std::size_t kEach = 8, kLeast = 2048, kMost = 16384;

    std::size_t cell(double score) const {
        // In this order, no number is 0, and processors have it as two instructions.
        return std::size_t(int(std::min(std::max(0.0, score * scale + shift), last)));
    }

    std::vector<double> breaks;
    double last, scale = 0, shift = 0;  // of the cells
    std::vector<std::uint32_t> before;  // breaks in the cells on the left
};

// Level from break to break: after i breaks, values_i.
struct Levels {
    Breaks breaks;
    std::vector<double> values;

    void add(double weight, Numbers scores, double* sums) const {
        for (std::size_t i = 0; i < scores.size(); ++i)
            sums[i] += weight * values[breaks.reached(scores[i])];
    }
};

struct Curve {
    std::variant<Sigmoid, Levels> form;

    void add(double weight, Numbers scores, double* sums) const {
        std::visit([&](const auto& f) { f.add(weight, scores, sums); }, form);
    }
};

struct Share {
    double weight;
    const Curve* curve;
};

// The weighted sum of the curves at each score; `put` takes some of them, and the number of the first.
template <class Put>
void mix(std::span<const Share> shares, Numbers scores, Put put) {
    constexpr std::size_t kSome = 512;  // so that sums stay in the cache
    std::array<double, kSome> sums;
    for (std::size_t first = 0; first < scores.size(); first += kSome) {
        const Numbers some = scores.subspan(first, std::min(kSome, scores.size() - first));
        sums.fill(0.0);
        for (const Share& share : shares) share.curve->add(share.weight, some, sums.data());
        put(first, Numbers(sums.data(), some.size()));
    }
}

// The isotonic value at each score if one more hit came there; `count` examples share a score, and
// `hits` of them are hits. It is the slope of the greatest convex minorant of the path of sums at the
// extra step (1, 1), which moves along the path (Vovk, Petej & Fedorova, NIPS 2015).
inline std::vector<double> with_a_hit(Numbers count, Numbers hits) {
    struct Point {
        double x, y;
    };
    std::vector<Point> corners;  // of the minorant, the leftmost last
    const auto push = [&](Point p) {
        while (corners.size() > 1) {
            const Point a = corners.back(), b = corners[corners.size() - 2];
            if ((a.y - p.y) * (b.x - p.x) < (b.y - p.y) * (a.x - p.x)) break;  // still a corner
            corners.pop_back();
        }
        corners.push_back(p);
    };
    std::vector<Point> path{{-1.0, -1.0}, {0.0, 0.0}};
    for (std::size_t i = 0; i < count.size(); ++i)
        path.push_back({path.back().x + count[i], path.back().y + hits[i]});
    for (auto p = path.rbegin(); p != path.rend(); ++p) push(*p);

    std::vector<double> values;
    values.reserve(count.size());
    Point extra{-1.0, -1.0};
    for (std::size_t i = 0; i < count.size(); ++i) {
        const Point a = corners.back(), b = corners[corners.size() - 2];
        values.push_back((b.y - a.y) / (b.x - a.x));
        extra = {extra.x + count[i], extra.y + hits[i]};  // this score now lies before the step
        if ((extra.y - a.y) * (b.x - a.x) < (b.y - a.y) * (extra.x - a.x)) {
            corners.pop_back();
            push(extra);
        }
    }
    return values;
}

}  // namespace onlinesvm::calibrate
