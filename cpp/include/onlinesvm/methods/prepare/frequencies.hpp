// Random frequencies whose waves make up the rbf or the laplacian kernel (Rahimi & Recht, NIPS 2007).
//
// A kernel of x - z is the mean of cos(w'(x - z)) over its spectral measure: normal for rbf, Cauchy
// in every coordinate for laplacian. Every feature of the input draws its own numbers, so that others
// may appear at any time; orthogonal frequencies (Yu et al., NIPS 2016) need to know them all from
// the start.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "onlinesvm/loops/interrupt.hpp"
#include "onlinesvm/loops/isa.hpp"
#include "onlinesvm/memory/aligned.hpp"
#include "onlinesvm/rows/kernel.hpp"
#include "onlinesvm/rows/row.hpp"
#include "onlinesvm/state/checked.hpp"
#include "onlinesvm/state/random.hpp"

namespace onlinesvm {

template <class T>
class Frequencies {
  public:
    struct Params {
        std::size_t count = 0;
        std::int64_t random_state = 0;
        bool orthogonal = false;
        Kernel kernel;
    };
    explicit Frequencies(const Params& p) : p(p) {
        require(
            p.kernel.shape == Shape::rbf || (p.kernel.shape == Shape::laplacian && !p.orthogonal),
            "kernel: must be rbf, or laplacian without orthogonal");
    }

    std::size_t size() const { return p.count; }
    std::size_t features() const { return width_; }
    std::size_t room() const { return round_up(p.count, L); }  // that the turns of a row need

    // So many features are there.
    void reach(std::size_t width, bool exactly) {
        if (width <= width_) return;
        if (width_ == 0) drawn_ = room_ = 0;  // from a call that was taken back
        if (p.orthogonal && drawn_ > 0)
            throw std::invalid_argument(
                "orthogonal: a feature appeared that was not there at the start; set it to False");
        if (width > room_) make_room(exactly ? width : std::max(width, 2 * room_));
        const Random seed(p.random_state);
        p.orthogonal ? draw_orthogonal(seed, width) : draw(seed, width);
        drawn_ = width_ = width;
    }

    // out[q][j] = w_j' x_q; whole lines are written.
    void turn(std::span<const Row<T>> xs, T* const* out) const {
        const std::size_t lines = room() / L;
        if (std::all_of(xs.begin(), xs.end(),
                        [&](const Row<T>& x) { return !x.sparse() && x.width == room_; })) {
            std::vector<const T*> queries;
            for (const Row<T>& x : xs) queries.push_back(x.values);
            const isa::Shape<T> plain{isa::Form::linear, 1, T(1), T(0), T(0)};
            poll(lines * L * width_ * xs.size());
            return isa::table<T>().rows(plain, lines_.data(), nullptr, room_, 0, lines,
                                        queries.data(), nullptr, queries.size(), out);
        }
        for (std::size_t q = 0; q < xs.size(); ++q) {
            poll(lines * L * xs[q].size);
            for (std::size_t b = 0; b < lines; ++b) add(xs[q], b, out[q] + b * L);
        }
    }

    auto undoable() { return std::tie(width_); }
    template <class A>
    void state(A& a) {
        std::vector<T> values(A::loading ? 0 : width_ * size());
        for (std::size_t f = 0, i = 0; i < values.size(); ++f)
            for (std::size_t j = 0; j < size(); ++j) values[i++] = at(j, f);
        a("features", width_), a("frequencies", values);
        if constexpr (A::loading) {
            demand(width_ == a.features() && values.size() == checked_mul(width_, size()),
                   "the frequencies do not fit the features");
            make_room(width_);
            for (std::size_t f = 0, i = 0; i < values.size(); ++f)
                for (std::size_t j = 0; j < size(); ++j) at(j, f) = values[i++];
            drawn_ = width_;
        }
    }
    std::size_t nbytes() const { return lines_.capacity() * sizeof(T); }

  private:
    static constexpr std::size_t L = isa::lanes<T>;

    Params p;
    std::size_t width_ = 0;
    // In turns, in blocks of one cache line as in the store. What was drawn depends on nothing but the
    // seed, so there is nothing to take back.
    Aligned<T> lines_;
    std::size_t room_ = 0, drawn_ = 0;  // features

    T& at(std::size_t j, std::size_t f) { return lines_[(j / L * room_ + f) * L + j % L]; }
    void make_room(std::size_t features) {
        Aligned<T> lines(checked_mul(room(), features));
        for (std::size_t b = 0; b * L < size() && drawn_ > 0; ++b)
            std::copy_n(&lines_[b * room_ * L], drawn_ * L, &lines[b * features * L]);
        lines_ = std::move(lines);
        room_ = features;
    }

    double in_turns() const {
        const bool normal = p.kernel.shape == Shape::rbf;
        return (normal ? std::sqrt(2.0 * p.kernel.gamma) : p.kernel.gamma) / (2 * std::numbers::pi);
    }
    void draw(const Random& seed, std::size_t width) {
        const bool normal = p.kernel.shape == Shape::rbf;
        for (std::size_t f = drawn_; f < width; ++f) {
            Random random = seed.fork(f);
            for (std::size_t j = 0; j < size(); ++j)
                at(j, f) = T(in_turns() * (normal ? random.normal() : cauchy(random)));
        }
    }
    static double cauchy(Random& random) {
        return std::tan(std::numbers::pi * (random.unit() - 0.5));
    }
    // As many frequencies as there are features are orthogonal, each as long as a normal vector.
    void draw_orthogonal(const Random& seed, std::size_t width) {
        std::vector<std::vector<double>> before;
        for (std::size_t j = 0; j < size(); ++j) {
            poll(2 * width * before.size());
            Random random = seed.fork(j);
            if (before.size() == width) before.clear();
            std::vector<double> w(width);
            double length2 = 0.0;
            for (double& v : w) v = random.normal();
            for (std::size_t f = 0; f < width; ++f) length2 += squared(random.normal());
            for (int twice = 0; twice < 2; ++twice)
                for (const std::vector<double>& other : before)
                    isa::table<double>().axpy(
                        -isa::table<double>().dot(w.data(), other.data(), width), other.data(),
                        w.data(), width);
            const double own = std::sqrt(isa::table<double>().dot(w.data(), w.data(), width));
            for (std::size_t f = 0; f < width; ++f) {
                w[f] /= own;
                at(j, f) = T(in_turns() * std::sqrt(length2) * w[f]);
            }
            before.push_back(std::move(w));
        }
    }
    static double squared(double v) { return v * v; }

    void add(const Row<T>& x, std::size_t b, T* out) const {
        T sum[L] = {};
        for (std::size_t i = 0; i < x.size; ++i) {
            const auto f = x.sparse() ? std::size_t(x.indices[i]) : i;
            if (f >= width_) break;  // a feature that was never learned
            const T* line = &lines_[(b * room_ + f) * L];
            for (std::size_t l = 0; l < L; ++l) sum[l] += x.values[i] * line[l];
        }
        std::copy_n(sum, L, out);
    }
};

}  // namespace onlinesvm
