// Loops over the features of an example and the weights of a linear function that do more than add a
// multiple of it. Compiled once per instruction set, as those of isa.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace onlinesvm::isa {

// Weights that dense loops read and write come in whole lines, zero beyond the last feature: what a
// step has stored the next one loads as it was stored, without waiting for the cache.
inline constexpr std::size_t kWeightsInLine = 8;

// The lowest and the highest of some values and 0.
struct Range {
    double low, high;
};

// Weights v side by side, of a function whose mean is lazy: where v grows by d, u falls by b d. Where
// there is no mean, b is 0 and u is v.
struct Lazy {
    double *v, *u;
    double b;
};

// The longest step t whose e^t - 1 comes from a short series.
inline constexpr double kShort = 0.7;

// e^(step x); for x = at, the number `known`.
struct Growth {
    double step, at, known;
};

// A power of positive numbers; by multiplication where it is whole, which is then not 0.
struct Exponent {
    double value;
    unsigned whole;
};

// theta += step x, and then v = scale (per |theta|)^power, with the sign of theta.
struct Link {
    double step, per, scale;
    Exponent power;
};

template <class T>
struct Moves {
    // |x|^2
    double (*squares)(const T* x, std::size_t n);
    // w.x, w in whole lines.
    double (*product)(const T* x, const double* w, std::size_t n);
    // w += a x, w in whole lines; with `other`, at the same time other += b x.
    void (*push)(const T* x, std::size_t n, double a, double* w, double b, double* other);
    // The same two for the features `at` of a sparse row, which are different ones.
    double (*product_at)(const T* x, const std::int32_t* at, const double* w, std::size_t n);
    void (*push_at)(const T* x, const std::int32_t* at, std::size_t n, double a, double* w,
                    double b, double* other);
    Range (*range)(const T* x, std::size_t n);
    // Sum of |unit x|^p.
    double (*powers)(const T* x, std::size_t n, double unit, const Exponent& p);
    // v <- v e^(step x), not below `least` unless it is 0; by how much their sum grows. No |step x| is
    // above `top`, which is short.
    double (*stretch)(const Lazy& w, const T* x, std::size_t n, const Growth& by, double top,
                      double least);
    // v and sqrt(v^2 + c^2) turned into each other by the hyperbolic angle step x; by how much the sum
    // of the latter grows. `top` as above.
    double (*turn)(const Lazy& w, const T* x, std::size_t n, double step, double top, double c);
    // v = u+ - u-, the smaller of which is `least`: the one times up^s, the other times down^s, with
    // s = |step x|, and the other way round where step x < 0; both stay between low and high. `up` and
    // `down` are of s, and short.
    void (*exchange)(const Lazy& w, double* least, const T* x, std::size_t n, double step,
                     const Growth& up, const Growth& down, const Range& bounds);
    // By how much the sum of |per theta|^(power + 1) grows.
    double (*mirror)(const Lazy& w, double* theta, const T* x, std::size_t n, const Link& link);
};

template <class T>
const Moves<T>& moves();

}  // namespace onlinesvm::isa
