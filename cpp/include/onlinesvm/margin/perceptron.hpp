// The perceptron (Rosenblatt 1958) with kernels, and with the averaged and voted predictors of
// Freund and Schapire (Large Margin Classification Using the Perceptron Algorithm, 1999).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "onlinesvm/base/hypothesis.hpp"

namespace onlinesvm {

template <class T>
class Perceptron {
  public:
    struct Params {
        std::string variant = "averaged";
        Kernel kernel;

        template <class F>
        void fields(F&& f) {
            f("variant", variant);
            f("kernel", kernel);
        }
    };

    explicit Perceptron(const Params& params)
        : voted(params.variant == "voted"),
          f(params.kernel, voted ? Keep::examples : Keep::least,
            params.variant == "averaged" ? Predictor::average : Predictor::newest) {
        if (params.variant != "plain" && params.variant != "averaged" && !voted)
            throw std::invalid_argument("variant: '" + params.variant +
                                        "' is not 'plain', 'averaged' or 'voted'");
    }

    // Only a mistake changes f; a tie is one.
    void learn(Row<T> x, double y, double weight, std::int64_t id) {
        if (!(weight > 0.0)) return;
        repair(f.read(x), y);
        f.serve();
        ++t;
        if (moves.empty()) return;
        suffered_ += weight;
        for (Change& move : moves) move.step *= weight;
        if (!voted) return f.add(x, id, moves);
        f.push(x, id, moves);  // a hypothesis of its own
        born.push_back(t);
    }

    // The mistakes so far.
    double suffered() const { return suffered_; }

    void expect(std::span<const Row<T>> coming) { f.expect(coming); }
    void turn(std::size_t i) { f.turn(i); }
    bool steps_whole() const { return f.linear(); }

    void score(Row<T> x, double* out) const { score_many({&x, 1}, out); }

    void score_many(std::span<const Row<T>> xs, double* out) const {
        if (!voted) return f.score_many(xs, out);
        for (std::size_t i = 0; i < xs.size(); ++i) vote(xs[i], out + i * outputs());
    }

    std::size_t outputs() const { return f.outputs(); }
    void grow(std::size_t classes) {
        f.grow(classes);
        moves.reserve(outputs() + 1);
    }

    Weights weights() const { return f.weights(); }
    Support<T> support() const { return f.support(); }

    auto undoable() { return std::tie(f, t, born); }

    template <class A>
    void state(A& a) {
        a("f", f);
        a("t", t);
        a("born", born);
        if constexpr (A::loading)
            demand(born.size() == (voted ? f.size() : 0) &&
                       std::is_sorted(born.begin(), born.end()) &&
                       (born.empty() || (born.front() > 0 && born.back() <= t)),
                   "the rounds do not fit the examples");
    }

    std::size_t nbytes() const { return sizeof(*this) + f.nbytes() + born.capacity() * 8; }

  private:
    bool voted;
    Hypothesis<T> f;
    std::int64_t t = 0;              // rounds
    PlainLedger<std::int64_t> born;  // voted: the round in which each example was stored
    std::vector<Change> moves;       // of the example at hand
    double suffered_ = 0.0;

    // Two classes: a step along y. More: the true class against all that are not below it.
    void repair(std::span<const double> scores, double y) {
        moves.clear();
        if (!(y >= 0.0 && y < static_cast<double>(std::max<std::size_t>(2, scores.size()))))
            throw std::invalid_argument("y: not a known class");
        const auto label = static_cast<std::size_t>(y);
        if (scores.size() == 1) {
            const double sign = label == 1 ? 1.0 : -1.0;
            if (sign * scores[0] <= 0.0) moves.push_back({0, sign});
            return;
        }
        for (std::size_t r = 0; r < scores.size(); ++r)
            if (r != label && scores[r] >= scores[label]) moves.push_back({r, -1.0});
        if (moves.empty()) return;
        for (Change& rival : moves) rival.step /= static_cast<double>(moves.size());
        moves.push_back({label, 1.0});
    }

    // Each function that ever served votes for its class, as often as it served.
    void vote(Row<T> x, double* out) const {
        std::fill_n(out, outputs(), 0.0);
        f.replay(x, [&](std::size_t i, std::span<const double> scores) {
            const std::int64_t end = i + 1 < born.size() ? born[i + 1] : t + 1;
            const double share = static_cast<double>(end - born[i]) / static_cast<double>(t);
            if (scores.size() == 1)
                out[0] += share * ((scores[0] > 0.0) - (scores[0] < 0.0));
            else
                out[std::max_element(scores.begin(), scores.end()) - scores.begin()] += share;
        });
    }
};

}  // namespace onlinesvm
