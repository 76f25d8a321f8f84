// How unsure a learner is of its weights: their covariance Sigma, or its diagonal, for each output.
//
// Sigma starts as the unit matrix and only shrinks: an example x adds a multiple of x x' to its
// inverse. It is kept row by row as a lower triangle, the constant feature first, so that features
// that appear late come at the end.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <tuple>
#include <vector>

#include "onlinesvm/function/function.hpp"

namespace onlinesvm {

template <class T>
class Covariance {
  public:
    Covariance(bool full, double offset) : full(full), constant(std::sqrt(offset)) {}

    // Features that x is the first to have start with variance 1. From here on nothing fails.
    void meet(const Row<T>& x) {
        const std::size_t wide = std::max(features, x.width), n = wide + first();
        const std::size_t room = full ? n : x.size + 1;
        for (auto& s : along) s.resize(std::max(s.size(), round_up(room, isa::kWeightsInLine)));
        if (full) z.resize(n), values.resize(wide);
        if (wide > features || of.empty()) {
            if (of.empty()) of.resize(1);
            for (Output& output : of) output.S.reserve(entries(n));
            const std::size_t known = features == 0 ? 0 : features + first();
            for (Output& output : of) extend(output, known, n);
            features = wide;
        }
        if (full) spread(x);
    }

    // x' Sigma_r x; Sigma_r x is kept as the k-th of the two that an example moves.
    double read(std::size_t k, std::size_t r, const Row<T>& x) {
        double* const s = along[k].data();
        const double* const S = of[r].S.data();
        if (full) {
            times(S, s);
            return std::max(0.0, isa::table<double>().dot(s, z.data(), z.size()));
        }
        const double* const own = S + first();
        for (std::size_t i = 0; i < x.size; ++i)
            s[i] = own[x.sparse() ? std::size_t(x.indices[i]) : i] * double(x.values[i]);
        const double v = isa::moves<T>().product(x.values, s, x.size);
        if (first() == 0) return v;
        s[x.size] = S[0] * constant;  // here the constant feature is last
        return v + s[x.size] * constant;
    }

    // w_r += step Sigma_r x
    void move(std::size_t k, Function<T>& f, std::size_t r, const Row<T>& x, double step) const {
        const Row<T> all(values.data(), values.size());
        const double* const s = along[k].data();
        const double by = step / f.scale(r);
        std::size_t at = full ? first() : 0;
        const std::size_t last = full ? 0 : x.size;  // where the constant feature is
        f.sweep(r, full ? all : x, [&](const isa::Lazy& v, const T*, std::size_t n) {
            const bool is_constant = at == (full ? z.size() : x.size);
            const double* const from = s + (is_constant ? last : at);
            for (std::size_t i = 0; i < n; ++i) put(v, i, v.v[i] + by * from[i]);
            at += n;
            return 0.0;
        });
    }

    // 1 / Sigma_r += by x x'; of the diagonal, what that adds to it. v is x' Sigma_r x.
    void learn(std::size_t k, std::size_t r, const Row<T>& x, double by, double v) {
        const double* const s = along[k].data();
        if (full) return subtract(of[r].S.edit().data(), s, by / (1.0 + by * v));
        double* const S =
            (x.sparse() ? of[r].S.edit(first(), {x.indices, x.size}) : of[r].S.edit()).data();
        double* const own = S + first();
        if (x.sparse())
            for (std::size_t i = 0; i < x.size; ++i)
                own[x.indices[i]] /= 1.0 + by * s[i] * double(x.values[i]);
        else
            for (std::size_t i = 0; i < x.size; ++i)
                own[i] /= 1.0 + by * s[i] * double(x.values[i]);
        if (first() > 0) of[r].S.edit(0) = S[0] / (1.0 + by * s[x.size] * constant);
    }

    void resize(std::size_t outputs) {
        const std::size_t had = of.size();
        if (outputs <= had) return;
        of.resize(outputs);
        for (std::size_t r = had; r < outputs; ++r)
            extend(of[r], 0, features == 0 ? 0 : features + first());
    }
    // Two classes have become three: f is the difference of two independent halves.
    void split() {
        resize(2);
        for (double& value : of[0].S.edit()) value *= 0.5;
        of[1].S = of[0].S;
    }

    auto undoable() { return std::tie(of, features); }
    template <class A>
    void state(A& a) {
        a("outputs", of), a("features", features);
    }
    void demand_fits(const Function<T>& f) const {
        const std::size_t n = features == 0 ? 0 : features + first();
        demand(features == f.width() && (of.size() == f.outputs() || (of.empty() && n == 0)),
               "the covariance does not fit the weights");
        for (const Output& output : of) {
            demand(output.S.size() == entries(n), "the covariance does not fit the weights");
            for (std::size_t i = 0; i < n; ++i)
                demand(output.S[full ? entries(i + 1) - 1 : i] >= 0.0, "a variance is negative");
        }
    }

  private:
    struct Output {
        PlainLedger<double> S;

        auto undoable() { return std::tie(S); }
        template <class A>
        void state(A& a) {
            a("values", S);
        }
    };

    bool full;
    double constant;           // the constant feature, 0 for none
    std::size_t features = 0;  // without it
    std::vector<Output> of;
    std::array<Aligned<double>, 2> along;  // Sigma x of the example at hand
    std::vector<double> z;                 // it, with all features, the constant one first
    std::vector<T> values;                 // the same without the constant one

    std::size_t first() const { return constant > 0.0 ? 1 : 0; }
    std::size_t entries(std::size_t n) const { return full ? checked_mul(n, n + 1) / 2 : n; }
    void extend(Output& output, std::size_t from, std::size_t to) {
        output.S.resize(entries(to), full ? 0.0 : 1.0);
        for (std::size_t i = from; full && i < to; ++i) output.S.edit(entries(i + 1) - 1) = 1.0;
    }

    void spread(const Row<T>& x) {
        std::fill(values.begin(), values.end(), T(0));
        for (std::size_t i = 0; i < x.size; ++i)
            values[x.sparse() ? std::size_t(x.indices[i]) : i] = x.values[i];
        if (first() > 0) z[0] = constant;
        std::copy(values.begin(), values.end(), z.begin() + std::ptrdiff_t(first()));
    }
    // s = S z
    void times(const double* S, double* s) const {
        std::fill_n(s, z.size(), 0.0);
        for (std::size_t i = 0; i < z.size(); S += ++i) {
            const double zi = z[i];
            for (std::size_t j = 0; j < i; ++j) s[j] += S[j] * zi;
            s[i] = isa::table<double>().dot(S, z.data(), i + 1);
        }
    }
    // S -= c s s'
    void subtract(double* S, const double* s, double c) const {
        for (std::size_t i = 0; i < z.size(); S += ++i) {
            const double by = c * s[i];
            for (std::size_t j = 0; j <= i; ++j) S[j] -= by * s[j];
        }
    }
};

}  // namespace onlinesvm
