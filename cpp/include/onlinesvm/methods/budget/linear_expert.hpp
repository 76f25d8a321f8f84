// A linear learner of a mixture: weights of the features themselves, each stepped in units of its own
// spread, so that scales do not matter.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "onlinesvm/memory/undo.hpp"
#include "onlinesvm/rows/row.hpp"
#include "onlinesvm/state/archive.hpp"
#include "onlinesvm/state/checked.hpp"

namespace onlinesvm {

template <class T>
class LinearExpert {
  public:
    // f_r(x) = w_r.x, of the features that it knows; a sparse row gives the bits of a dense one.
    void read(const Row<T>& x, std::size_t outputs, double* f) const {
        double sum[4] = {};
        if (outputs > 1) std::fill(f, f + outputs, 0.0);
        for (std::size_t i = 0; i < x.size; ++i) {
            const std::size_t feature = at(x, i);
            if (feature >= squares_.size()) break;
            const double value = double(x.values[i]), *const w = w_.data() + feature * outputs;
            if (outputs == 1)
                sum[feature % 4] += value * w[0];
            else
                for (std::size_t r = 0; r < outputs; ++r) f[r] += value * w[r];
        }
        if (outputs == 1) f[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
    // An example that is about to be pushed: the spread of its features, and how far it moves f when
    // steps are 1.
    void meet(const Row<T>& x, std::size_t outputs) {
        if (x.width > squares_.size()) {
            squares_.resize(x.width);
            w_.resize(x.width * outputs);
        }
        const double root = std::sqrt(double(++met_));
        along_.resize(x.size);
        double* const whole = x.sparse() ? nullptr : squares_.edit().data();
        for (std::size_t i = 0; whole && i < x.size; ++i) {
            const double value = double(x.values[i]);
            whole[i] += value * value;
            along_[i] = value * root / std::sqrt(std::max(whole[i], kLeast));
        }
        for (std::size_t i = 0; !whole && i < x.size; ++i) {
            const double value = double(x.values[i]);
            double& squares = squares_.edit(at(x, i));
            squares += value * value;
            along_[i] = value * root / std::sqrt(std::max(squares, kLeast));
        }
        double moved[4] = {1.0};  // by the bias
        for (std::size_t i = 0; i < x.size; ++i)
            moved[at(x, i) % 4] += double(x.values[i]) * along_[i];
        moved_ += ((moved[0] + moved[1]) + (moved[2] + moved[3]) - moved_) / double(met_);
    }
    double moved() const { return moved_; }  // on average
    // w_r += step[r] x in those units.
    void push(const Row<T>& x, std::span<const T> step) {
        double* const whole = x.sparse() ? nullptr : w_.edit().data();
        for (std::size_t i = 0; i < x.size; ++i) {
            if (along_[i] == 0.0) continue;
            const std::size_t first = at(x, i) * step.size();
            for (std::size_t r = 0; r < step.size(); ++r)
                (whole ? whole[first + r] : w_.edit(first + r)) += along_[i] * double(step[r]);
        }
    }

    // Two classes share one output, +1 for the second; with a third each has its own.
    void grow(std::size_t before, std::size_t outputs) {
        const std::vector<double> w(w_.begin(), w_.end());
        w_.assign(squares_.size() * outputs, 0.0);
        std::span<double> to = w_.edit();
        for (std::size_t f = 0; f < squares_.size(); ++f)
            for (std::size_t r = 0; r < std::max<std::size_t>(before, 2); ++r)
                to[f * outputs + r] = before > 1 ? w[f * before + r] : (r == 0 ? -0.5 : 0.5) * w[f];
    }
    void demand_fits(std::size_t outputs, std::size_t features) const {
        demand(squares_.size() == features && w_.size() == checked_mul(features, outputs) &&
                   met_ >= 0 && moved_ >= 0.0 &&
                   std::all_of(squares_.begin(), squares_.end(), [](double s) { return s >= 0; }),
               "the linear learner does not fit");
    }

    auto undoable() { return std::tie(w_, squares_, moved_, met_); }
    template <class A>
    void state(A& a) {
        a("weights", w_), a("squares", squares_), a("moved", moved_), a("met", met_);
    }
    std::size_t nbytes() const { return nbytes_of(w_, squares_) + along_.capacity() * 8; }

  private:
    static constexpr double kLeast = 1e-300;  // of squares: no feature was there

    PlainLedger<double> w_, squares_;  // feature by feature, output by output
    double moved_ = 0.0;
    std::int64_t met_ = 0;
    std::vector<double> along_;

    static std::size_t at(const Row<T>& x, std::size_t i) {
        return x.sparse() ? std::size_t(x.indices[i]) : i;
    }
};

}  // namespace onlinesvm
