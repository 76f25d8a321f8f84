// The loops of moves.hpp; included after loops.inl, under the same rules.

namespace {

using onlinesvm::isa::Exponent;
using onlinesvm::isa::Growth;
using onlinesvm::isa::Lazy;
using onlinesvm::isa::Link;
using onlinesvm::isa::Range;

inline Vec64 absolute(Vec64 v) { return v < 0 ? -v : v; }
inline Vec64 larger(Vec64 v, Vec64 w) { return v > w ? v : w; }
inline Vec64 smaller(Vec64 v, Vec64 w) { return v < w ? v : w; }
inline Vec64 root(Vec64 v) {
    for (size_t j = 0; j < M; ++j) v[j] = __builtin_sqrt(v[j]);
    return v;
}

// The sum of K lanes, in log2(K) additions that wait for each other where sum_lanes has K.
template <size_t K = M, class V>
inline double sum_pairs(V v) {
    if constexpr (K == 8)
        return sum_pairs<4>(__builtin_shufflevector(v, v, 0, 1, 2, 3) +
                            __builtin_shufflevector(v, v, 4, 5, 6, 7));
    else if constexpr (K == 4)
        return sum_pairs<2>(__builtin_shufflevector(v, v, 0, 1) +
                            __builtin_shufflevector(v, v, 2, 3));
    else
        return v[0] + v[1];
}

// The last values of a row, n of them, in a register; before them, those that were there already count
// as 0, which the loops below take for nothing.
template <class T>
inline Vec64 last_ones(const T* end, size_t n) {
    Vec64 lane;
    for (size_t j = 0; j < M; ++j) lane[j] = double(j);
    return lane < double(M - n) ? Vec64{} : widen(end - M);
}

// The first values from x on, n of them, less than a register, and zeros.
template <class T>
inline Vec64 first_ones(const T* x, size_t n) {
#if defined(__AVX512F__)
    const auto some = static_cast<__mmask8>((1U << n) - 1);
    if constexpr (sizeof(T) == 8)
        return (Vec64)_mm512_maskz_loadu_pd(some, x);
    else
        return __builtin_convertvector((Half)_mm256_maskz_loadu_ps(some, x), Vec64);
#else
    Vec64 v = Vec64{};
    for (size_t j = 0; j < n; ++j) v[j] = double(x[j]);
    return v;
#endif
}

// act(i, x) over all values, the last ones with zeros after them.
template <class T, class Act>
inline void each_line(const T* x, size_t n, Act act) {
    size_t i = 0;
    for (; i + M <= n; i += M) act(i, widen(x + i));
    if (i < n) act(i, first_ones(x + i, n - i));
}

// act(x) over all values.
template <class T, class Act>
inline void each(const T* x, size_t n, Act act) {
    size_t i = 0;
    for (; i + M <= n; i += M) act(widen(x + i));
    if (i == n) return;
    if (i > 0) return act(last_ones(x + n, n - i));
    for (; i < n; ++i) act(Vec64{double(x[i])});
}

// act(w, x) over all features, w being their values in K arrays, which it changes. The first array is
// written last: another one may be the same.
template <size_t K, class T, class Act>
inline void each(double* const (&at)[K], const T* x, size_t n, Act act) {
    Vec64 w[K];
    const auto whole = [&](size_t i, Vec64 x) {
        for (size_t k = 0; k < K; ++k) w[k] = load(at[k] + i);
        act(w, x);
        for (size_t k = K; k-- > 0;) store(at[k] + i, w[k]);
    };
    size_t i = 0;
    for (; i + M <= n; i += M) whole(i, widen(x + i));
    if (i == n) return;
    if (i > 0) return whole(n - M, last_ones(x + n, n - i));
    for (; i < n; ++i) {
        for (size_t k = 0; k < K; ++k) w[k] = Vec64{} + at[k][i];
        act(w, Vec64{double(x[i])});
        for (size_t k = K; k-- > 0;) at[k][i] = w[k][0];
    }
}

template <class T>
double squares(const T* x, size_t n) {
    Vec64 acc[4] = {};
    size_t i = 0;
    for (; i + 4 * M <= n; i += 4 * M)
        for (size_t j = 0; j < 4; ++j) acc[j] += widen(x + i + M * j) * widen(x + i + M * j);
    each_line(x + i, n - i, [&](size_t, Vec64 v) { acc[0] += v * v; });
    return sum_pairs((acc[0] + acc[1]) + (acc[2] + acc[3]));
}

template <class T>
double product(const T* x, const double* w, size_t n) {
    Vec64 acc[4] = {};  // a sum waits for the last
    size_t i = 0;
    for (; i + 4 * M <= n; i += 4 * M)
        for (size_t j = 0; j < 4; ++j) acc[j] += widen(x + i + M * j) * load(w + i + M * j);
    for (size_t j = 0; j < 3 && i + M <= n; ++j, i += M) acc[j] += widen(x + i) * load(w + i);
    if (i < n) acc[3] += first_ones(x + i, n - i) * load(w + i);
    return sum_pairs((acc[0] + acc[1]) + (acc[2] + acc[3]));
}

template <class T>
void push(const T* x, size_t n, double a, double* w, double b, double* other) {
    if (other == nullptr)
        return each_line(x, n, [&](size_t i, Vec64 v) { store(w + i, load(w + i) + v * a); });
    each_line(x, n, [&](size_t i, Vec64 v) {
        store(w + i, load(w + i) + v * a);
        store(other + i, load(other + i) + v * b);
    });
}

template <class T>
double product_at(const T* x, const int* at, const double* w, size_t n) {
    double acc[4] = {};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t j = 0; j < 4; ++j) acc[j] += double(x[i + j]) * w[at[i + j]];
    for (; i < n; ++i) acc[0] += double(x[i]) * w[at[i]];
    return (acc[0] + acc[1]) + (acc[2] + acc[3]);
}

template <class T>
void push_at(const T* x, const int* at, size_t n, double a, double* w, double b, double* other) {
    for (size_t i = 0; i < n; ++i) w[at[i]] += double(x[i]) * a;
    for (size_t i = 0; other != nullptr && i < n; ++i) other[at[i]] += double(x[i]) * b;
}

template <class T>
Range range(const T* x, size_t n) {
    Vec64 low = Vec64{}, high = Vec64{};
    each(x, n, [&](Vec64 v) { low = smaller(v, low), high = larger(v, high); });
    Range all{0, 0};
    for (size_t j = 0; j < M; ++j) {
        all.low = low[j] < all.low ? low[j] : all.low;
        all.high = high[j] > all.high ? high[j] : all.high;
    }
    return all;
}

// How long the longest step is: below kTiny, a few terms of the series are enough.
enum class Reach { tiny, within_short };
inline constexpr double kTiny = 0.125;

// cosh t - 1 and sinh t by their series; where t is not tiny, those of its half, then doubled.
template <Reach R>
inline void hyperbolic(Vec64 t, Vec64& cosh_1, Vec64& sinh) {
    constexpr bool tiny = R == Reach::tiny;
    const Vec64 h = tiny ? t : t * 0.5, s = h * h;
    Vec64 c = Vec64{} + 1.0 / 3628800, o = Vec64{} + 1.0 / 362880;
    if constexpr (!tiny) {
        c = s * (1.0 / 479001600) + c;
        o = (s * (1.0 / 6227020800.0) + 1.0 / 39916800) * s + o;
    }
    c = c * s + 1.0 / 40320;
    o = o * s + 1.0 / 5040;
    c = c * s + 1.0 / 720;
    o = o * s + 1.0 / 120;
    c = c * s + 1.0 / 24;
    o = o * s + 1.0 / 6;
    c = c * s + 0.5;
    o = o * (s * h) + h;
    if constexpr (tiny) {
        cosh_1 = c * s, sinh = o;
    } else {
        const Vec64 twice = o + o;
        cosh_1 = twice * o, sinh = twice * (c * s) + twice;
    }
}

// e^(step x) - 1
template <Reach R>
inline Vec64 growth(const Growth& by, Vec64 x) {
    Vec64 cosh_1, sinh;
    hyperbolic<R>(x * by.step, cosh_1, sinh);
    return x == by.at ? Vec64{} + (by.known - 1) : cosh_1 + sinh;
}

template <Reach R, class T>
inline double stretch_as(const Lazy& w, const T* x, size_t n, const Growth& by, double least) {
    Vec64 sum = Vec64{};
    each<2>({w.v, w.u}, x, n, [&](Vec64(&at)[2], Vec64 x) {
        const Vec64 was = at[0], floor = was > 0 ? Vec64{} + least : Vec64{};
        at[0] = larger(was + was * growth<R>(by, x), floor);
        const Vec64 grown = at[0] - was;
        at[1] -= grown * w.b;
        sum += grown;
    });
    return sum_lanes(sum);
}
template <class T>
double stretch(const Lazy& w, const T* x, size_t n, const Growth& by, double top, double least) {
    return top <= kTiny ? stretch_as<Reach::tiny>(w, x, n, by, least)
                        : stretch_as<Reach::within_short>(w, x, n, by, least);
}

template <Reach R, class T>
inline double turn_as(const Lazy& w, const T* x, size_t n, double step, double c) {
    Vec64 sum = Vec64{};
    const double c2 = c * c;
    each<2>({w.v, w.u}, x, n, [&](Vec64(&at)[2], Vec64 x) {
        Vec64 cosh_1, sinh;
        hyperbolic<R>(x * step, cosh_1, sinh);
        const Vec64 v = at[0], both = root(v * v + c2), grown = v * cosh_1 + both * sinh;
        at[0] = v + grown;
        at[1] -= grown * w.b;
        sum += both * cosh_1 + v * sinh;
    });
    return sum_lanes(sum);
}
template <class T>
double turn(const Lazy& w, const T* x, size_t n, double step, double top, double c) {
    return top <= kTiny ? turn_as<Reach::tiny>(w, x, n, step, c)
                        : turn_as<Reach::within_short>(w, x, n, step, c);
}

template <class T>
void exchange(const Lazy& w, double* least, const T* x, size_t n, double step, const Growth& up,
              const Growth& down, const Range& bounds) {
    const Vec64 zero = Vec64{}, low = zero + bounds.low, high = zero + bounds.high;
    each<3>({w.v, w.u, least}, x, n, [&](Vec64(&at)[3], Vec64 x) {
        const Vec64 v = at[0], m = at[2], t = x * step, s = absolute(t);
        const Vec64 more = growth<Reach::within_short>(up, s) + 1.0;
        const Vec64 less = growth<Reach::within_short>(down, s) + 1.0;
        Vec64 plus = (m + larger(v, zero)) * (t > 0 ? more : less);
        Vec64 minus = (m + larger(-v, zero)) * (t > 0 ? less : more);
        plus = smaller(larger(plus, low), high), minus = smaller(larger(minus, low), high);
        at[0] = t == 0 ? v : plus - minus;
        at[1] -= (at[0] - v) * w.b;
        at[2] = t == 0 ? m : smaller(plus, minus);
    });
}

// log b of b > 0: b = 2^k m with m between sqrt(1/2) and sqrt(2), and log m = 2 artanh((m-1) / (m+1)).
inline Vec64 log_vec(Vec64 b) {
    using I = VectorOf<unsigned long long, kRegister>::type;
    constexpr unsigned long long kRootHalf = 0x3fe6a09e667f3bcdULL, kBias = 1024ULL << 52;
    const I bits = (I)b - kRootHalf + kBias, k = bits >> 52;
    const Vec64 m = (Vec64)((bits & 0x000fffffffffffffULL) + kRootHalf);
    // 2^52 + k has k in its lowest bits: no conversion of 64-bit integers needed.
    const Vec64 exponent = (Vec64)(k | 0x4330000000000000ULL) - (4503599627370496.0 + 1024.0);
    const Vec64 a = (m - 1.0) / (m + 1.0), s = a * a;
    Vec64 p = Vec64{} + 1.0 / 21;
    p = p * s + 1.0 / 19;
    p = p * s + 1.0 / 17;
    p = p * s + 1.0 / 15;
    p = p * s + 1.0 / 13;
    p = p * s + 1.0 / 11;
    p = p * s + 1.0 / 9;
    p = p * s + 1.0 / 7;
    p = p * s + 1.0 / 5;
    p = p * s + 1.0 / 3;
    const Vec64 twice = a + a;
    return exponent * 0.693147180559945309417 + (p * s * twice + twice);
}

// Of some registers at once.
template <size_t W>
inline void raise(Vec64 (&b)[W], const Exponent& e) {
    if (e.whole == 0) {
        for (size_t j = 0; j < W; ++j) {
            const Vec64 by = exp_vec(log_vec(b[j]) * e.value);
            b[j] = b[j] > 1e-300 ? by : Vec64{};
        }
        return;
    }
    Vec64 out[W];
    for (size_t j = 0; j < W; ++j) out[j] = e.whole % 2 ? b[j] : Vec64{} + 1;
    for (unsigned n = e.whole / 2; n > 0; n /= 2)
        for (size_t j = 0; j < W; ++j) {
            b[j] = b[j] * b[j];
            if (n % 2) out[j] = out[j] * b[j];
        }
    for (size_t j = 0; j < W; ++j) b[j] = out[j];
}

template <class T>
double powers(const T* x, size_t n, double unit, const Exponent& p) {
    Vec64 sum = Vec64{};
    size_t i = 0;
    for (; i + 4 * M <= n; i += 4 * M) {
        Vec64 b[4];
        for (size_t j = 0; j < 4; ++j) b[j] = absolute(widen(x + i + M * j)) * unit;
        raise(b, p);
        sum += (b[0] + b[1]) + (b[2] + b[3]);
    }
    each(x + i, n - i, [&](Vec64 v) {
        Vec64 b[1] = {absolute(v) * unit};
        raise(b, p);
        sum += b[0];
    });
    return sum_lanes(sum);
}

template <class T>
double mirror(const Lazy& w, double* theta, const T* x, size_t n, const Link& link) {
    Vec64 sum = Vec64{};
    const double unscale = 1 / link.scale;
    each<3>({w.v, w.u, theta}, x, n, [&](Vec64(&at)[3], Vec64 x) {
        const Vec64 v = at[0], was = at[2], is = was + x * link.step;
        const Vec64 size = absolute(is) * link.per;
        Vec64 raised[1] = {size};
        raise(raised, link.power);
        at[0] = (is < 0 ? -raised[0] : raised[0]) * link.scale;
        at[1] -= (at[0] - v) * w.b;
        at[2] = is;
        sum += size * raised[0] - absolute(was) * link.per * (absolute(v) * unscale);
    });
    return sum_lanes(sum);
}

template <class T>
constexpr onlinesvm::isa::Moves<T> kMoves = {squares<T>, product<T>,  push<T>,   product_at<T>,
                                             push_at<T>, range<T>,    powers<T>, stretch<T>,
                                             turn<T>,    exchange<T>, mirror<T>};

}  // namespace
