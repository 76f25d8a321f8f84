// Linear functions f_r(x) = w_r.x + b_r learned by adding multiples of examples to them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "onlinesvm/loops/isa.hpp"
#include "onlinesvm/loops/moves.hpp"
#include "onlinesvm/memory/aligned.hpp"
#include "onlinesvm/memory/undo.hpp"
#include "onlinesvm/rows/row.hpp"
#include "onlinesvm/rows/support.hpp"
#include "onlinesvm/state/archive.hpp"
#include "onlinesvm/state/checked.hpp"

namespace onlinesvm {

// |x|^2, always from the first value on: the bits depend on the values alone, neither on their address
// nor on how the stream was cut.
template <class T>
double squared_norm(const T* x, std::size_t n) {
    return isa::moves<T>().squares(x, n);
}

// f_output += step k(x, .)
struct Change {
    std::size_t output;
    double step;

    template <class A>
    void state(A& a) {
        a("output", output);
        a("step", step);
    }
};

// One weight vector per output, in float64 whatever the rows are. The bias, if any, is the weight
// of a constant feature of value sqrt(offset), as in the kernel x.x' + offset.
template <class T>
class LinearModel {
  public:
    explicit LinearModel(double offset) : offset(offset) {}

    std::size_t outputs() const { return bias.size(); }
    std::size_t width() const { return columns; }

    // New outputs start at zero.
    void resize(std::size_t outputs);

    void score_many(std::span<const Row<T>> xs, double* out) const {
        for (const Row<T>& x : xs) score(x, out), out += outputs();
    }

    void score(const Row<T>& x, double* out) const {
        const std::size_t n = known(x);
        for (std::size_t r = 0; r < outputs(); ++r)
            out[r] = bias[r] + product(x, n, w.data() + r * stride);
    }

    // Examples to come. The weights that sparse ones need lie anywhere: they are asked for two examples
    // ahead.
    void expect(std::span<const Row<T>> examples) { coming = examples; }
    void turn(std::size_t i) const {
        constexpr std::size_t kAhead = 2, kOutputs = 2;
        if (i + kAhead >= coming.size() || !coming[i + kAhead].sparse()) return;
        const Row<T>& x = coming[i + kAhead];
        const std::size_t n = known(x);
        for (std::size_t r = 0; r < std::min(outputs(), kOutputs); ++r)
            for (std::size_t k = 0; k < n; ++k)
                prefetch(w.data() + r * stride + x.indices[k], sizeof(double));
    }

    // The scores of the example about to be learned, of every `every`-th output: put(number, score).
    template <class Put>
    void read(const Row<T>& x, std::size_t every, Put&& put) {
        widen(x.width);
        const std::size_t n = known(x);
        for (std::size_t i = 0, r = 0; r < outputs(); ++i, r += every)
            put(i, bias[r] + product(x, n, w.data() + r * stride));
    }

    double norm2(const Row<T>& x) const {
        const double own = squared_norm(x.values, x.size) + offset;
        if (!std::isfinite(own))
            throw std::invalid_argument(
                "X: a row's kernel value with itself is too large for a number; scale the "
                "features");
        return own;
    }

    // For an example that was read before. Two outputs that move along it move at once.
    void push(const Row<T>& x, const Change& change) { push(x, change, nullptr); }
    void push(const Row<T>& x, const Change& change, const Change& other) {
        push(x, change, &other);
    }

    // The weights of one output.
    struct Part {
        LinearModel& model;
        std::size_t output;
    };
    // The sum of loop(at, x, n) over the features of an example that was read before, as far as they
    // lie side by side, the constant one last: at[k] are their weights in the k-th part. Parts may be
    // the same; then the first counts.
    template <std::size_t K, class Loop>
    static double sweep(const std::array<Part, K>& parts, const Row<T>& x, Loop&& loop) {
        std::array<double*, K> weights;
        for (std::size_t k = 0; k < K; ++k)
            weights[k] = parts[k].model.w.edit().data() + parts[k].output * parts[k].model.stride;
        double sum = x.sparse() ? 0.0 : loop(weights, x.values, x.size);
        for (std::size_t i = 0; x.sparse() && i < x.size; i += kPiece)
            sum += gathered(weights, x, i, std::min(i + kPiece, x.size), loop);
        const double offset = parts[0].model.offset, constant = std::sqrt(offset);
        if (!(offset > 0.0)) return sum;
        std::array<double, K> own;
        std::array<double*, K> at;
        for (std::size_t k = 0; k < K; ++k) {
            own[k] = parts[k].model.bias[parts[k].output] / constant;
            at[k] = &own[k];
        }
        const T value = static_cast<T>(constant);
        sum += loop(at, &value, 1);
        for (std::size_t k = K; k-- > 0;)
            parts[k].model.bias.edit(parts[k].output) = own[k] * constant;
        return sum;
    }

    // Weights of features that x is the first to have, in every `every`-th output: start(output). The
    // constant feature comes with the first of them.
    template <class Start>
    void begin(const Row<T>& x, std::size_t every, Start&& start) {
        const std::size_t known = columns;
        if (x.width <= known) return;
        widen(x.width);
        double* const weights = w.edit().data();
        for (std::size_t r = 0; r < outputs(); r += every) {
            std::fill(weights + r * stride + known, weights + r * stride + columns, start(r));
            if (known == 0) bias.edit(r) = start(r) * std::sqrt(offset);
        }
    }
    void fill(std::size_t output, double weight);
    double& constant(std::size_t output) { return bias.edit(output); }

    // Sum of rule(weight) over all features, the constant one included.
    template <class Rule>
    double sum(std::size_t output, Rule&& rule) const {
        double total = offset > 0.0 ? rule(bias[output] / std::sqrt(offset)) : 0.0;
        for (std::size_t i = 0; i < columns; ++i) total += rule(w[output * stride + i]);
        return total;
    }

    // f_to = factor f_from
    void copy(std::size_t from, std::size_t to, double factor);

    // f_to += factor f_from
    void blend(std::size_t from, std::size_t to, double factor);

    // The outputs of another model follow those of this one.
    void append(const LinearModel& other, std::int64_t);

    // Inner products of the outputs as functions, row-major.
    std::vector<double> gram() const;

    std::size_t nbytes() const { return bytes_of(*this); }

    Weights weights() const;

    auto undoable() { return std::tie(w, bias, stride, columns); }

    template <class A>
    void state(A& a);

  private:
    double offset = 0.0;
    const isa::Moves<T>* loops = &isa::moves<T>();
    LedgerOf<OnHeap<double>> w;  // outputs x stride, in whole lines, zero beyond `columns`
    PlainLedger<double> bias;    // outputs
    std::size_t stride = 0, columns = 0;
    std::span<const Row<T>> coming;

    static constexpr std::size_t kPiece = 64;  // features of a sparse row brought together

    template <std::size_t K, class Loop>
    static double gathered(const std::array<double*, K>& weights, const Row<T>& x,
                           std::size_t first, std::size_t last, Loop& loop) {
        double piece[K][kPiece];
        std::array<double*, K> at;
        for (std::size_t k = 0; k < K; ++k) {
            at[k] = piece[k];
            for (std::size_t i = first; i < last; ++i)
                piece[k][i - first] = weights[k][x.indices[i]];
        }
        const double sum = loop(at, x.values + first, last - first);
        for (std::size_t k = K; k-- > 0;)
            for (std::size_t i = first; i < last; ++i)
                weights[k][x.indices[i]] = piece[k][i - first];
        return sum;
    }

    void push(const Row<T>& x, const Change& change, const Change* other) {
        double* const at = edit(change, x);
        double* const with = other ? edit(*other, x) : nullptr;
        const double by = other ? other->step : 0.0;
        if (x.sparse())
            loops->push_at(x.values, x.indices, x.size, change.step, at, by, with);
        else
            loops->push(x.values, x.size, change.step, at, by, with);
    }
    // The weights of the output that moves along x, once its bias has.
    double* edit(const Change& change, const Row<T>& x) {
        const std::size_t begin = change.output * stride;
        bias.edit(change.output) += change.step * offset;
        return (x.sparse() ? w.edit(begin, {x.indices, x.size}) : w.edit()).data() + begin;
    }

    double product(const Row<T>& x, std::size_t n, const double* weights) const {
        if (x.sparse()) return loops->product_at(x.values, x.indices, weights, n);
        return loops->product(x.values, weights, n);
    }

    // Stored values of x that have a weight; the others meet an implicit zero.
    std::size_t known(const Row<T>& x) const {
        if (x.width <= columns) return x.size;
        if (!x.sparse()) return columns;
        return std::lower_bound(x.indices, x.indices + x.size, static_cast<std::int32_t>(columns)) -
               x.indices;
    }

    // Features may appear mid-stream; doubling keeps that cheap.
    void widen(std::size_t width) {
        if (width <= columns) return;
        if (width > stride) lay_out(columns == 0 ? width : std::max(width, 2 * stride));
        columns = width;
    }
    void lay_out(std::size_t room);
};

}  // namespace onlinesvm
