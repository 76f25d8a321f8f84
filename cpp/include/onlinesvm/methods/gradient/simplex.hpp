// Weights that are positive and sum to 1, moved by multiplication; or signed ones, each of which
// stands for two such weights, w = w+ - w-.
//
// What multiplies w+ divides w-, and what normalises them is the same for all, so that w+ w- = c^2 / 4
// for all features: w and c are enough, and w+ + w- = sqrt(w^2 + c^2). In both cases c is where a
// feature stands that was never seen. The sum is kept by what it changes, and taken anew where that
// has lost digits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "onlinesvm/function/function.hpp"

namespace onlinesvm {

// How long weights and steps are. By the data, U is in units of Y / X, the largest target and feature
// so far, and eta in units of 1 / (U X)^2: no unit of the data matters.
struct Units {
    double U0 = 1.0;
    bool by_data = true;
    double X = 0.0, Y = 0.0;

    double U() const { return by_data ? (X > 0.0 ? U0 * Y / X : 0.0) : U0; }
    double eta() const { return by_data ? 1.0 / (U() * X * X) : U(); }

    std::span<const double> of(std::span<const double> f) {  // U f
        const double by = U();
        scaled.resize(f.size());
        for (std::size_t r = 0; r < f.size(); ++r) scaled[r] = by * f[r];
        return scaled;
    }

    template <class A>
    void state(A& a) {
        a("X", X), a("Y", Y);
        if constexpr (A::loading) demand(X >= 0.0 && Y >= 0.0, "the largest value is negative");
    }

    std::vector<double> scaled;
};

inline std::vector<double> times(double factor, std::span<const double> values) {
    std::vector<double> out(values.begin(), values.end());
    for (double& value : out) value *= factor;
    return out;
}

inline Weights times(double factor, const Weights& w) {
    return {w.width, times(factor, w.coef), times(factor, w.intercept)};
}

// The largest feature of x, the constant one of its kernel included.
template <class T>
double largest(const Row<T>& x, double offset) {
    const isa::Range range = isa::moves<T>().range(x.values, x.size);
    return std::max({std::sqrt(offset), -range.low, range.high});
}

class Simplex {
  public:
    Simplex(bool is_signed, double offset) : is_signed(is_signed), offset(offset) {}

    // Features that x is the first to have share the sum with the others.
    template <class T>
    void meet(Function<T>& f, const Row<T>& x) {
        if (of.size() < f.outputs()) of.resize(f.outputs(), {fair_share(features), 1.0});
        const std::size_t wide = x.width + (offset > 0.0 ? 1 : 0);
        if (wide <= features) return;
        if (features == 0)
            for (Output& output : of) output.c = fair_share(wide);
        f.begin(x, is_signed ? 0.0 : of[0].c);
        for (std::size_t r = 0; r < of.size() && features > 0; ++r)
            normalise(f, r, 1.0 + of[r].c * static_cast<double>(wide - features));
        features = wide;
    }

    // w_i <- w_i exp(step x_i), and back to the sum 1; a long step in parts. No feature exceeds X.
    // Before they are back at the sum 1, weights of a long step are so large that a sum of past rounds
    // that is kept by its difference to them would lose its digits: it is taken in first.
    template <class T>
    void multiply(Function<T>& f, std::size_t r, const Row<T>& x, double step, double X) {
        const double top = std::abs(step) * X;
        if (top <= isa::kShort)
            return normalise(f, r,
                             is_signed ? turn(f, r, x, step, top) : stretch(f, r, x, step, top));
        const int parts = static_cast<int>(std::clamp(std::ceil(top / kLong), 1.0, kParts));
        step *= std::min(1.0, kParts * kLong / top) / parts;
        f.fold(r);
        for (int part = 0; part < parts; ++part)
            normalise(f, r, is_signed ? turn_far(f, r, x, step) : stretch_far(f, r, x, step));
    }

    // Two classes have become three.
    template <class T>
    void split(Function<T>& f) {
        require(is_signed, "variant: 'EG' tells two classes apart; take 'EG+-' for more");
        if (!of.empty()) of.assign(2, of[0]);
        for (std::size_t r : {0, 1}) f.shrink(r, 2.0);  // halved: back to the sum 1
    }

    template <class A>
    void state(A& a) {
        a("features", features), a("outputs", of);
    }
    void demand_fits(std::size_t outputs) const {
        demand(of.size() <= outputs && (is_signed || outputs == 1), "the weights are no simplex");
    }

  private:
    static constexpr double kLong = 30.0, kParts = 50.0;  // beyond, all but one are at their least
    static constexpr double kLeast = 1e-150;              // of c; its square is still a number

    struct Output {
        double c = 0.0, trust = 1.0;  // trust: what the sum kept has fallen to since it was taken

        template <class A>
        void state(A& a) {
            a("start", c), a("trust", trust);
            if constexpr (A::loading)
                demand(c > 0.0 && c <= 1.0 && trust > 0.0 && trust <= 1.0,
                       "the weights do not sum to 1");
        }
    };

    bool is_signed;
    double offset;
    std::size_t features = 0;  // the constant one included
    std::vector<Output> of;

    static double fair_share(std::size_t n) {
        return 1.0 / static_cast<double>(std::max<std::size_t>(1, n));
    }

    // The sum of the weights, all of them multiplied.
    template <class T>
    static double stretch(Function<T>& f, std::size_t r, const Row<T>& x, double step, double top) {
        const double a = f.scale(r);
        const isa::Growth by{step, 0.0, 1.0};
        return 1.0 + a * f.sweep(r, x, [&](const isa::Lazy& v, const T* x, std::size_t n) {
            return isa::moves<T>().stretch(v, x, n, by, top, kLeastWeight / a);
        });
    }
    template <class T>
    static double stretch_far(Function<T>& f, std::size_t r, const Row<T>& x, double step) {
        const double a = f.scale(r);
        return 1.0 + a * f.sweep(r, x, [&](const isa::Lazy& v, const T* x, std::size_t n) {
            double growth = 0.0;
            for (std::size_t i = 0; i < n; ++i) {
                const double was = v.v[i];
                put(v, i, std::max(was * std::exp(step * double(x[i])), kLeastWeight / a));
                growth += v.v[i] - was;
            }
            return growth;
        });
    }

    // w+ by e^t, w- by e^-t: w and w+ + w- turn into each other. The sum of the latter.
    template <class T>
    double turn(Function<T>& f, std::size_t r, const Row<T>& x, double step, double top) const {
        const double a = f.scale(r), c = of[r].c / a;
        return 1.0 + a * f.sweep(r, x, [&](const isa::Lazy& v, const T* x, std::size_t n) {
            return isa::moves<T>().turn(v, x, n, step, top, c);
        });
    }
    // The same by w+ and w- themselves, as the turn would cancel.
    template <class T>
    double turn_far(Function<T>& f, std::size_t r, const Row<T>& x, double step) const {
        const double a = f.scale(r), c = of[r].c / a;
        return 1.0 + a * f.sweep(r, x, [&](const isa::Lazy& v, const T* x, std::size_t n) {
            double growth = 0.0;
            for (std::size_t i = 0; i < n; ++i) {
                if (x[i] == T(0)) continue;
                const double w = v.v[i], t = step * double(x[i]), both = std::sqrt(w * w + c * c);
                const double more = 0.5 * (both + std::abs(w)), less = 0.25 * c * (c / more);
                const double plus = (w < 0.0 ? less : more) * std::exp(t);
                const double minus = (w < 0.0 ? more : less) * std::exp(-t);
                growth += plus + minus - both;
                put(v, i, plus - minus);
            }
            return growth;
        });
    }

    template <class T>
    void normalise(Function<T>& f, std::size_t r, double sum) {
        auto& [c, trust] = of[r];
        trust = std::min(1.0, trust * sum);
        if (!(trust > 1e-4)) {
            sum = f.sum(r, [&](double w) { return is_signed ? std::sqrt(w * w + c * c) : w; });
            trust = 1.0;
        }
        f.shrink(r, 1.0 / sum);
        c = std::clamp(c / sum, kLeast, 1.0);
    }
};

}  // namespace onlinesvm
