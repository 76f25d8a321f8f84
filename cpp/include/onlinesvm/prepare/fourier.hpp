// Random Fourier features (Rahimi & Recht, NIPS 2007) of the rbf and the laplacian kernel.
//
// A kernel of x - z is the mean of cos(w'(x - z)) over its spectral measure: normal for rbf, Cauchy
// in every coordinate for laplacian. Frequencies w_1 to w_m drawn from it give the features cos(w_j'x)
// and sin(w_j'x), over sqrt(m). With both, a feature vector has length one and k(x, x) is exact; one
// cosine with a random phase, as often seen, has a larger variance (Sutherland & Schneider, UAI
// 2015). Every feature of the input draws its own numbers, so that others may appear at any time;
// orthogonal frequencies (Yu et al., NIPS 2016) need to know them all from the start.
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

#include "onlinesvm/base/checked.hpp"
#include "onlinesvm/base/loss.hpp"
#include "onlinesvm/base/random.hpp"
#include "onlinesvm/base/store.hpp"
#include "onlinesvm/base/verbs.hpp"

namespace onlinesvm {

template <class T>
class Fourier {
  public:
    using Output = T;
    using Verbs = Offers<>;

    struct Params {
        std::size_t n_components = 100;
        std::int64_t random_state = 0;
        bool orthogonal = false;
        Kernel kernel;

        void fields(auto&& f) {
            f("n_components", n_components), f("random_state", random_state);
            f("orthogonal", orthogonal), f("kernel", kernel);
        }
    };

    explicit Fourier(const Params& p) : p(p), judge_(p.kernel) {
        require(p.n_components >= 1, "n_components: must be at least 1");
        require(
            p.kernel.shape == Shape::rbf || (p.kernel.shape == Shape::laplacian && !p.orthogonal),
            "kernel: must be rbf, or laplacian without orthogonal");
    }

    // All there is to learn is which features there are.
    void learn(const Row<T>& x, double, double, Id) {
        judge_.demand_own_value(x);
        reach(x.width, !x.sparse());
        begun_ = true;
    }

    void score(const Row<T>& x, T* out) const { score_many({&x, 1}, out); }
    void score_many(std::span<const Row<T>> xs, T* out) const {
        if (!begun_) {
            std::fill(out, out + xs.size() * p.n_components, T(0));
            return;
        }
        const std::size_t room = round_up(pairs(), L);
        const T scale = T(1.0 / std::sqrt(double(std::max<std::size_t>(pairs(), 1))));
        Aligned<T> turns(xs.size() * room);
        std::vector<T*> at;
        for (std::size_t q = 0; q < xs.size(); ++q) {
            judge_.demand_own_value(xs[q]);
            at.push_back(turns.data() + q * room);
        }
        turn(xs, at.data());
        for (std::size_t q = 0; q < xs.size(); ++q, out += p.n_components) {
            isa::table<T>().waves(at[q], scale, out, out + pairs(), pairs());
            std::fill(out + 2 * pairs(), out + p.n_components, T(0));
        }
    }
    std::size_t outputs() const { return p.n_components; }
    void grow(std::size_t) {}

    auto undoable() { return std::tie(width_, begun_); }
    template <class A>
    void state(A& a) {
        std::vector<T> values(A::loading ? 0 : width_ * pairs());
        for (std::size_t f = 0, i = 0; i < values.size(); ++f)
            for (std::size_t j = 0; j < pairs(); ++j) values[i++] = at(j, f);
        a("begun", begun_), a("features", width_), a("frequencies", values);
        if constexpr (A::loading) {
            demand(a.outputs() == outputs() && width_ == a.features() &&
                       values.size() == checked_mul(width_, pairs()) && (begun_ || width_ == 0),
                   "the frequencies do not fit the features");
            make_room(width_);
            for (std::size_t f = 0, i = 0; i < values.size(); ++f)
                for (std::size_t j = 0; j < pairs(); ++j) at(j, f) = values[i++];
            drawn_ = width_;
        }
    }
    std::size_t nbytes() const { return sizeof(*this) + lines_.capacity() * sizeof(T); }

  private:
    static constexpr std::size_t L = isa::lanes<T>;

    Params p;
    Store<T> judge_;  // of rows too long for the kernel; it stays empty
    std::size_t width_ = 0;
    bool begun_ = false;
    // Frequencies in turns, in blocks of one cache line as in the store. What was drawn depends on
    // nothing but the seed, so there is nothing to take back.
    Aligned<T> lines_;
    std::size_t room_ = 0, drawn_ = 0;  // features

    std::size_t pairs() const { return p.n_components / 2; }  // of an odd number, the last is 0
    T& at(std::size_t j, std::size_t f) { return lines_[(j / L * room_ + f) * L + j % L]; }
    void make_room(std::size_t features) {
        Aligned<T> lines(checked_mul(round_up(pairs(), L), features));
        for (std::size_t b = 0; b * L < pairs() && drawn_ > 0; ++b)
            std::copy_n(&lines_[b * room_ * L], drawn_ * L, &lines[b * features * L]);
        lines_ = std::move(lines);
        room_ = features;
    }

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

    double in_turns() const {
        const bool normal = p.kernel.shape == Shape::rbf;
        return (normal ? std::sqrt(2.0 * p.kernel.gamma) : p.kernel.gamma) / (2 * std::numbers::pi);
    }
    void draw(const Random& seed, std::size_t width) {
        const bool normal = p.kernel.shape == Shape::rbf;
        for (std::size_t f = drawn_; f < width; ++f) {
            Random random = seed.fork(f);
            for (std::size_t j = 0; j < pairs(); ++j)
                at(j, f) = T(in_turns() * (normal ? random.normal() : cauchy(random)));
        }
    }
    static double cauchy(Random& random) {
        return std::tan(std::numbers::pi * (random.unit() - 0.5));
    }
    // As many frequencies as there are features are orthogonal, each as long as a normal vector.
    void draw_orthogonal(const Random& seed, std::size_t width) {
        std::vector<std::vector<double>> before;
        for (std::size_t j = 0; j < pairs(); ++j) {
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

    // out[q][j] = w_j' x_q; whole lines are written.
    void turn(std::span<const Row<T>> xs, T* const* out) const {
        const std::size_t lines = round_up(pairs(), L) / L;
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
