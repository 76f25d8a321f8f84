// The loops themselves. Included by one translation unit per instruction set; everything is in an
// anonymous namespace and nothing of the standard library is instantiated, so that no code compiled
// for a wide instruction set can leak into a narrow machine through the linker.

namespace {

using onlinesvm::isa::BoxView;
using onlinesvm::isa::Ends;
using onlinesvm::isa::Form;
using onlinesvm::isa::kFlat;
using onlinesvm::isa::kPicks;
using onlinesvm::isa::kRanks;
using onlinesvm::isa::Partner;
using onlinesvm::isa::Picks;
using onlinesvm::isa::Shape;
using onlinesvm::isa::Worst;
using std::size_t;

template <class T, size_t Bytes>
struct VectorOf {
    typedef T type __attribute__((vector_size(Bytes), aligned(sizeof(T)), may_alias));
};
// One register. A line of the store is one, two or four of them: asking the compiler for wider
// vectors than the machine has makes it spill every accumulator. The tiles leave the fewest loads per
// multiplication that the registers allow: another thread on the same core loads too.
inline constexpr size_t kTileQueries = 6;
#if defined(__AVX512F__)
inline constexpr size_t kRegister = 64, kTileParts = 4, kRowParts = 4;
#elif defined(__AVX2__)
inline constexpr size_t kRegister = 32, kTileParts = 2, kRowParts = 8;
#else
inline constexpr size_t kRegister = 16, kTileParts = 2, kRowParts = 8;
#endif
template <class T>
using Vec = typename VectorOf<T, kRegister>::type;
using Vec64 = Vec<double>;
using Half = VectorOf<float, kRegister / 2>::type;  // floats that widen to one Vec64

template <class T>
inline constexpr size_t N = kRegister / sizeof(T);  // values in a register
template <class T>
inline constexpr size_t L = 64 / sizeof(T);  // values in a line of the store
inline constexpr size_t M = N<double>;

template <class T>
inline Vec<T> load(const T* p) {
    return *reinterpret_cast<const Vec<T>*>(p);
}
template <class T>
inline void store(T* p, Vec<T> v) {
    *reinterpret_cast<Vec<T>*>(p) = v;
}
inline Vec64 widen(const float* p) {
    return __builtin_convertvector(*reinterpret_cast<const Half*>(p), Vec64);
}
inline Vec64 widen(const double* p) { return load(p); }

// exp for arguments <= 0 (and moderately above): Cody-Waite reduction and a Taylor polynomial.
inline Vec<float> exp_vec(Vec<float> x) {
    using I = VectorOf<int, kRegister>::type;
    x = x < -87.3f ? Vec<float>{} - 87.3f : x;
    x = x > 88.0f ? Vec<float>{} + 88.0f : x;
    const Vec<float> shift = Vec<float>{} + 12582912.0f;  // 1.5 * 2^23: rounds to an integer
    const Vec<float> n = (x * 1.44269504088896341f + shift) - shift;
    Vec<float> r = x - n * 0.693359375f;
    r = r - n * -2.12194440e-4f;
    Vec<float> p = Vec<float>{} + 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    const I e = (__builtin_convertvector(n, I) + 127) << 23;
    return p * (Vec<float>)e;
}
inline Vec64 exp_vec(Vec64 x) {
    using I = VectorOf<long long, kRegister>::type;
    x = x < -708.0 ? Vec64{} - 708.0 : x;
    x = x > 709.0 ? Vec64{} + 709.0 : x;
    const Vec64 shift = Vec64{} + 6755399441055744.0;  // 1.5 * 2^52
    const Vec64 shifted = x * 1.4426950408889634 + shift;
    const Vec64 n = shifted - shift;
    Vec64 r = x - n * 0.693147180369123816490;
    r = r - n * 1.90821492927058770002e-10;
    Vec64 p = Vec64{} + 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    // The integer sits in the low bits of the shifted number: no 64-bit conversion instruction
    // needed.
    const I e = ((I)shifted + 1023) << 52;
    return p * (Vec64)e;
}

// x y + s, rounded once where the machine can. By hand: whether a compiler fuses hangs on its level of
// optimisation and on the loop around, and a kernel value has the same bits alone and in a block.
#if defined(__AVX512F__)
inline Vec<float> fused(Vec<float> x, Vec<float> y, Vec<float> s) {
    return (Vec<float>)_mm512_fmadd_ps((__m512)x, (__m512)y, (__m512)s);
}
inline Vec64 fused(Vec64 x, Vec64 y, Vec64 s) {
    return (Vec64)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)s);
}
#elif defined(__FMA__)
inline Vec<float> fused(Vec<float> x, Vec<float> y, Vec<float> s) {
    return (Vec<float>)_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)s);
}
inline Vec64 fused(Vec64 x, Vec64 y, Vec64 s) {
    return (Vec64)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)s);
}
#elif defined(__aarch64__)
inline Vec<float> fused(Vec<float> x, Vec<float> y, Vec<float> s) {
    return (Vec<float>)vfmaq_f32((float32x4_t)s, (float32x4_t)x, (float32x4_t)y);
}
inline Vec64 fused(Vec64 x, Vec64 y, Vec64 s) {
    return (Vec64)vfmaq_f64((float64x2_t)s, (float64x2_t)x, (float64x2_t)y);
}
#else
inline Vec<float> fused(Vec<float> x, Vec<float> y, Vec<float> s) { return x * y + s; }
inline Vec64 fused(Vec64 x, Vec64 y, Vec64 s) { return x * y + s; }
#endif
#if defined(__FMA__) || defined(__aarch64__)
inline float fused(float x, float y, float s) { return __builtin_fmaf(x, y, s); }
inline double fused(double x, double y, double s) { return __builtin_fma(x, y, s); }
#else
inline float fused(float x, float y, float s) { return x * y + s; }
inline double fused(double x, double y, double s) { return x * y + s; }
#endif

template <Form F, class T>
inline Vec<T> add_feature(Vec<T> acc, Vec<T> x, T q) {
    if constexpr (F == Form::rbf) {
        const Vec<T> t = x - q;
        return fused(t, t, acc);
    } else if constexpr (F == Form::laplacian) {
        const Vec<T> t = x - q;
        return acc + (t < 0 ? -t : t);
    } else if constexpr (F == Form::chi2) {
        const Vec<T> t = x - q;
        const Vec<T> sum = x + q;
        return acc + t * t / (sum == 0 ? Vec<T>{} + 1 : sum);
    } else {
        return fused(x, q - Vec<T>{}, acc);  // less 0: -0 stays
    }
}

template <Form F, class T>
inline Vec<T> finish_vec(const Shape<T>& k, Vec<T> sum) {
    if constexpr (F == Form::linear) {
        return sum + k.offset;
    } else if constexpr (F == Form::poly) {
        const Vec<T> base = sum * k.gamma + k.coef0;
        Vec<T> power = Vec<T>{} + 1;
        for (int i = 0; i < k.degree; ++i) power = power * base;
        return power + k.offset;
    } else {
        sum = sum < 0 ? Vec<T>{} : sum;  // keeps NaN, unlike max(sum, 0)
        return exp_vec(sum * -k.gamma) + k.offset;
    }
}

// Q queries against P neighbouring registers of the store, from part `at` on. Every pair is one lane
// that adds its features in order, so its bits do not depend on the tile.
template <Form F, class T, size_t Q, size_t P>
inline void tile(const Shape<T>& k, const T* blocks, const T* norms, size_t d, size_t at,
                 const T* const* queries, const T* query_norms, T* const* out) {
    constexpr size_t kParts = 64 / kRegister;  // registers in a line
    Vec<T> acc[Q][P] = {};
    const T *x[P], *q[Q];
    for (size_t p = 0; p < P; ++p)
        x[p] = blocks + (at + p) / kParts * d * L<T> + (at + p) % kParts * N<T>;
    for (size_t i = 0; i < Q; ++i) q[i] = queries[i];
    for (size_t f = 0; f < d; ++f) {
        Vec<T> column[P];
        for (size_t p = 0; p < P; ++p) column[p] = load(x[p] + f * L<T>);
        for (size_t i = 0; i < Q; ++i) {
            const T value = q[i][f];
            for (size_t p = 0; p < P; ++p) acc[i][p] = add_feature<F>(acc[i][p], column[p], value);
        }
    }
    for (size_t i = 0; i < Q; ++i)
        for (size_t p = 0; p < P; ++p) {
            Vec<T> sum = acc[i][p];
            if constexpr (F == Form::rbf_dot)
                sum = (load(norms + (at + p) * N<T>) + query_norms[i]) - (sum + sum);
            store(out[i] + (at + p) * N<T>, finish_vec<F>(k, sum));
        }
}

template <Form F, class T>
void rows_of(const Shape<T>& k, const T* blocks, const T* norms, size_t d, size_t first,
             size_t last, const T* const* queries, const T* query_norms, size_t n_queries,
             T* const* out) {
    constexpr size_t Q = kTileQueries, P = kTileParts, R = kRowParts;
    first *= 64 / kRegister;
    last *= 64 / kRegister;
    const T nothing[Q] = {};
    size_t q = 0;
    for (; q + Q <= n_queries; q += Q) {
        const T* qn = query_norms ? query_norms + q : nothing;
        size_t p = first;
        for (; p + P <= last; p += P)
            tile<F, T, Q, P>(k, blocks, norms, d, p, queries + q, qn, out + q);
        for (; p < last; ++p) tile<F, T, Q, 1>(k, blocks, norms, d, p, queries + q, qn, out + q);
    }
    for (; q + 2 <= n_queries; q += 2) {
        const T* qn = query_norms ? query_norms + q : nothing;
        size_t p = first;
        for (; p + P <= last; p += P)
            tile<F, T, 2, P>(k, blocks, norms, d, p, queries + q, qn, out + q);
        for (; p < last; ++p) tile<F, T, 2, 1>(k, blocks, norms, d, p, queries + q, qn, out + q);
    }
    for (; q < n_queries;
         ++q) {  // one query: several blocks are several streams, which the memory likes
        const T* qn = query_norms ? query_norms + q : nothing;
        size_t p = first;
        for (; p + R <= last; p += R)
            tile<F, T, 1, R>(k, blocks, norms, d, p, queries + q, qn, out + q);
        for (; p < last; ++p) tile<F, T, 1, 1>(k, blocks, norms, d, p, queries + q, qn, out + q);
    }
}

template <class T>
void rows(const Shape<T>& k, const T* blocks, const T* norms, size_t d, size_t first, size_t last,
          const T* const* queries, const T* query_norms, size_t n_queries, T* const* out) {
    switch (k.form) {
        case Form::linear:
            return rows_of<Form::linear>(k, blocks, norms, d, first, last, queries, query_norms,
                                         n_queries, out);
        case Form::rbf:
            return rows_of<Form::rbf>(k, blocks, norms, d, first, last, queries, query_norms,
                                      n_queries, out);
        case Form::poly:
            return rows_of<Form::poly>(k, blocks, norms, d, first, last, queries, query_norms,
                                       n_queries, out);
        case Form::laplacian:
            return rows_of<Form::laplacian>(k, blocks, norms, d, first, last, queries, query_norms,
                                            n_queries, out);
        case Form::chi2:
            return rows_of<Form::chi2>(k, blocks, norms, d, first, last, queries, query_norms,
                                       n_queries, out);
        case Form::rbf_dot:
            return rows_of<Form::rbf_dot>(k, blocks, norms, d, first, last, queries, query_norms,
                                          n_queries, out);
    }
}

// |x|^2 of several examples. Each sum takes its features in the order of a tile's lane, so that dot
// products give an example exactly no distance to itself.
template <class T>
void norms(const T* const* xs, size_t n, size_t d, T* out) {
    const auto chains = [&]<size_t Q>(size_t q) {  // side by side: an addition waits for the last
        T sum[Q] = {};
        for (size_t f = 0; f < d; ++f)
            for (size_t i = 0; i < Q; ++i) sum[i] = fused(xs[q + i][f], xs[q + i][f], sum[i]);
        for (size_t i = 0; i < Q; ++i) out[q + i] = sum[i];
    };
    size_t q = 0;
    for (; q + 8 <= n; q += 8) chains.template operator()<8>(q);
    for (; q < n; ++q) chains.template operator()<1>(q);
}

template <class T>
void finish(const Shape<T>& k, T* sums, size_t n) {
    const auto all = [&]<Form F>() {
        size_t i = 0;
        for (; i + N<T> <= n; i += N<T>) store(sums + i, finish_vec<F>(k, load(sums + i)));
        if (i < n) {
            T tail[N<T>] = {};
            for (size_t j = i; j < n; ++j) tail[j - i] = sums[j];
            store(tail, finish_vec<F>(k, load(tail)));
            for (size_t j = i; j < n; ++j) sums[j] = tail[j - i];
        }
    };
    switch (k.form) {
        case Form::linear:
            return all.template operator()<Form::linear>();
        case Form::poly:
            return all.template operator()<Form::poly>();
        default:
            return all.template operator()<Form::rbf>();
    }
}

inline double sum_lanes(Vec64 v) {
    double total = 0;
    for (size_t i = 0; i < M; ++i) total += v[i];
    return total;
}

template <class T>
double dot(const T* x, const double* w, size_t n) {
    Vec64 acc[4] = {};
    size_t i = 0;
    for (; i + 4 * M <= n; i += 4 * M)
        for (size_t j = 0; j < 4; ++j) acc[j] += widen(x + i + M * j) * load(w + i + M * j);
    for (; i + M <= n; i += M) acc[0] += widen(x + i) * load(w + i);
    double total = sum_lanes((acc[0] + acc[1]) + (acc[2] + acc[3]));
    for (; i < n; ++i) total += double(x[i]) * w[i];
    return total;
}

template <class T>
void axpy(double a, const T* x, double* w, size_t n) {
    size_t i = 0;
    for (; i + M <= n; i += M) store(w + i, load(w + i) + widen(x + i) * a);
    for (; i < n; ++i) w[i] += double(x[i]) * a;
}

template <class T, size_t R>
inline void subtract_few(double* h, const T* const* rows, const double* delta, size_t first,
                         size_t last) {
    size_t i = first;
    for (; i + M <= last; i += M) {
        Vec64 v = load(h + i);
        for (size_t r = 0; r < R; ++r) v -= widen(rows[r] + i) * delta[r];
        store(h + i, v);
    }
    for (; i < last; ++i) {
        double v = h[i];
        for (size_t r = 0; r < R; ++r) v -= double(rows[r][i]) * delta[r];
        h[i] = v;
    }
}

template <class T>
void subtract(double* h, const T* const* rows, const double* delta, size_t n_rows, size_t first,
              size_t last) {
    size_t r = 0;
    for (; r + 8 <= n_rows; r += 8) subtract_few<T, 8>(h, rows + r, delta + r, first, last);
    for (; r < n_rows; ++r) subtract_few<T, 1>(h, rows + r, delta + r, first, last);
}

inline void offer(Picks& picks, size_t index, double gain) {
    if (!(gain > 0)) return;
    size_t at = picks.n < kPicks ? picks.n++ : kPicks;  // insertion, best first, ties by index
    for (; at > 0; --at) {
        const double above = picks.gain[at - 1];
        if (above > gain || (above == gain && picks.index[at - 1] < index)) break;
        if (at < kPicks) {
            picks.gain[at] = above;
            picks.index[at] = picks.index[at - 1];
        }
    }
    if (at < kPicks) {
        picks.gain[at] = gain;
        picks.index[at] = index;
    }
}

template <class T, size_t R, bool Uniform>
inline Picks step_as(const BoxView& box, const T* const* rows, const double* delta, size_t n) {
    Vec64 best = Vec64{}, where = Vec64{}, index;
    for (size_t j = 0; j < M; ++j) index[j] = double(j);
    const double scale = n && box.k[0] > 1 ? box.k[0] : 1.0;  // where the diagonal is uniform
    const Vec64 k0 = Vec64{} + (n ? box.k[0] * 0.5 : 0.0),
                k0_inv = Vec64{} + (n ? box.k_inv[0] : 0.0);
    size_t i = 0;
    for (; i + M <= n; i += M, index += double(M)) {
        Vec64 h = load(box.h + i);
        for (size_t r = 0; r < R; ++r) h -= widen(rows[r] + i) * delta[r];
        if constexpr (R > 0) store(box.h + i, h);
        const Vec64 fall = load(box.fall + i), rise = load(box.rise + i);
        Vec64 d = h * (Uniform ? k0_inv : load(box.k_inv + i));
        d = d < fall ? fall : d;
        d = d > rise ? rise : d;
        Vec64 gain = d * (h - d * (Uniform ? k0 : load(box.k + i) * 0.5));
        if constexpr (!Uniform) {
            const Vec64 k = load(box.k + i);
            gain = gain * (k > 1 ? k : Vec64{} + 1);
        }
        const auto better = gain > best;
        best = better ? gain : best;
        where = better ? index : where;
    }
    Picks picks;
    for (size_t j = 0; j < M; ++j)
        offer(picks, size_t(where[j]), Uniform ? best[j] * scale : best[j]);
    for (; i < n; ++i) {
        double h = box.h[i];
        for (size_t r = 0; r < R; ++r) h -= double(rows[r][i]) * delta[r];
        box.h[i] = h;
        double d = h * box.k_inv[i];
        d = d < box.fall[i] ? box.fall[i] : d;
        d = d > box.rise[i] ? box.rise[i] : d;
        offer(picks, i, d * (h - d * (box.k[i] * 0.5)) * (box.k[i] > 1 ? box.k[i] : 1.0));
    }
    return picks;
}

template <class T, bool Uniform>
inline Picks step_of(const BoxView& box, const T* const* rows, const double* delta, size_t n_rows,
                     size_t n) {
    switch (n_rows) {
        case 0:
            return step_as<T, 0, Uniform>(box, rows, delta, n);
        case 1:
            return step_as<T, 1, Uniform>(box, rows, delta, n);
        case 2:
            return step_as<T, 2, Uniform>(box, rows, delta, n);
        case 3:
            return step_as<T, 3, Uniform>(box, rows, delta, n);
        default:
            return step_as<T, 4, Uniform>(box, rows, delta, n);
    }
}

template <class T>
Picks step(const BoxView& box, const T* const* rows, const double* delta, size_t n_rows, size_t n) {
    return box.uniform ? step_of<T, true>(box, rows, delta, n_rows, n)
                       : step_of<T, false>(box, rows, delta, n_rows, n);
}

template <class T, size_t R>
inline Ends pair_as(const BoxView& box, const T* const* rows, const double* delta, size_t n) {
    const double inf = __builtin_inf();
    Vec64 high = Vec64{} - inf, low = Vec64{} + inf, up = Vec64{}, down = Vec64{}, index;
    for (size_t j = 0; j < M; ++j) index[j] = double(j);
    size_t i = 0;
    for (; i + M <= n; i += M, index += double(M)) {
        Vec64 h = load(box.h + i);
        for (size_t r = 0; r < R; ++r) h -= widen(rows[r] + i) * delta[r];
        if constexpr (R > 0) store(box.h + i, h);
        const Vec64 rising = load(box.rise + i) > 0 ? h : Vec64{} - inf;
        const Vec64 falling = load(box.fall + i) < 0 ? h : Vec64{} + inf;
        const auto higher = rising > high;
        high = higher ? rising : high;
        up = higher ? index : up;
        const auto lower = falling < low;
        low = lower ? falling : low;
        down = lower ? index : down;
    }
    Ends ends;
    const auto offer_ends = [&](double rising, size_t above, double falling, size_t below) {
        if (rising > ends.high || (rising == ends.high && above < ends.up))
            ends.high = rising, ends.up = above;
        if (falling < ends.low || (falling == ends.low && below < ends.down))
            ends.low = falling, ends.down = below;
    };
    for (size_t j = 0; j < M; ++j) offer_ends(high[j], size_t(up[j]), low[j], size_t(down[j]));
    for (; i < n; ++i) {
        double h = box.h[i];
        for (size_t r = 0; r < R; ++r) h -= double(rows[r][i]) * delta[r];
        box.h[i] = h;
        offer_ends(box.rise[i] > 0 ? h : -inf, i, box.fall[i] < 0 ? h : inf, i);
    }
    return ends;
}

template <class T>
Ends pair(const BoxView& box, const T* const* rows, const double* delta, size_t n_rows, size_t n) {
    switch (n_rows) {
        case 0:
            return pair_as<T, 0>(box, rows, delta, n);
        case 1:
            return pair_as<T, 1>(box, rows, delta, n);
        default:
            return pair_as<T, 2>(box, rows, delta, n);
    }
}

// Gains d^2 / eta are compared crosswise, d^2 eta' against d'^2 eta: division is slow.
template <class T, bool Uniform>
inline Partner partner_of(const BoxView& box, const T* row, double h, double k, size_t n) {
    Vec64 best = Vec64{}, best_eta = Vec64{} + 1, where = Vec64{}, index;
    for (size_t j = 0; j < M; ++j) index[j] = double(j);
    const Vec64 sum = Vec64{} + (n ? k + box.k[0] : 0.0);
    size_t i = 0;
    for (; i + M <= n; i += M, index += double(M)) {
        const Vec64 d = h - load(box.h + i), k_ij = widen(row + i);
        Vec64 eta = (Uniform ? sum : k + load(box.k + i)) - (k_ij + k_ij);
        eta = eta > kFlat ? eta : Vec64{} + kFlat;
        Vec64 gain = load(box.fall + i) < 0 ? d * d : Vec64{};
        gain = d > 0 ? gain : Vec64{};
        const auto better = gain * best_eta > best * eta;
        best = better ? gain : best;
        best_eta = better ? eta : best_eta;
        where = better ? index : where;
    }
    Partner found;
    const auto offer_partner = [&](size_t j, double gain) {
        if (gain > found.gain || (gain == found.gain && j < found.index)) found = {j, gain};
    };
    for (size_t j = 0; j < M; ++j)
        if (best[j] > 0) offer_partner(size_t(where[j]), best[j] / best_eta[j]);
    for (; i < n; ++i) {
        const double d = h - box.h[i];
        if (!(d > 0 && box.fall[i] < 0)) continue;
        const double eta = (k + box.k[i]) - 2 * double(row[i]);
        offer_partner(i, d * d / (eta > kFlat ? eta : kFlat));
    }
    return found;
}

template <class T>
Partner partner(const BoxView& box, const T* row, double h, double k, size_t n) {
    return box.uniform ? partner_of<T, true>(box, row, h, k, n)
                       : partner_of<T, false>(box, row, h, k, n);
}

Worst violation(const BoxView& box, size_t n) {
    Vec64 most = Vec64{}, where = Vec64{}, index;
    for (size_t j = 0; j < M; ++j) index[j] = double(j);
    size_t i = 0;
    for (; i + M <= n; i += M, index += double(M)) {
        const Vec64 h = load(box.h + i);
        const Vec64 up = load(box.rise + i) > 0 ? h : Vec64{};
        const Vec64 down = load(box.fall + i) < 0 ? -h : Vec64{};
        const Vec64 by = up > down ? up : down;
        const auto worse = by > most;
        most = worse ? by : most;
        where = worse ? index : where;
    }
    Worst worst;
    const auto offer_worst = [&](size_t j, double by) {
        if (by > worst.by || (by == worst.by && j < worst.index)) worst = {j, by};
    };
    for (size_t j = 0; j < M; ++j) offer_worst(size_t(where[j]), most[j]);
    for (; i < n; ++i) {
        const double h = box.h[i];
        offer_worst(i, h < 0 ? (box.fall[i] < 0 ? -h : 0.0) : (box.rise[i] > 0 ? h : 0.0));
    }
    return worst;
}

template <class T>
bool all_finite(const T* x, size_t n) {
    Vec<T> acc[4] = {};  // x * 0 is NaN exactly where x is not finite
    size_t i = 0;
    for (; i + 4 * N<T> <= n; i += 4 * N<T>)
        for (size_t j = 0; j < 4; ++j) acc[j] += load(x + i + j * N<T>) * T(0);
    const Vec<T> sum = (acc[0] + acc[1]) + (acc[2] + acc[3]);
    T total = 0;
    for (size_t j = 0; j < N<T>; ++j) total += sum[j];
    for (; i < n; ++i) total += x[i] * T(0);
    return total == 0;
}

// Adding it to a number of at most a quarter of its size rounds that to an integer, which then lies in
// the lowest bits.
template <class T>
inline constexpr T kShift = sizeof(T) == 4 ? T(12582912.0) : T(6755399441055744.0);

template <class T>
struct IntegerLike {
    using type = int;
};
template <>
struct IntegerLike<double> {
    using type = long long;
};

// t in turns: whole ones go first, then the nearest quarters, and what is left is at most an eighth.
template <class T>
inline void wave(Vec<T> t, Vec<T>& cosine, Vec<T>& sine) {
    using Integers = typename VectorOf<typename IntegerLike<T>::type, kRegister>::type;
    const Vec<T> shift = Vec<T>{} + kShift<T>, most = Vec<T>{} + kShift<T> / 3;
    t = ((t < most) & (t > -most)) ? t : Vec<T>{};
    t -= (t + shift) - shift;
    const Vec<T> shifted = t * T(4) + shift;
    const Integers quarter = (Integers)shifted;
    const Vec<T> a = (t - (shifted - shift) * T(0.25)) * T(6.283185307179586477), a2 = a * a;
    Vec<T> s = Vec<T>{}, c = Vec<T>{};
    if constexpr (sizeof(T) == 8) {
        s = s + 1.0 / 355687428096000.0;
        s = s * a2 - 1.0 / 1307674368000.0;
        s = s * a2 + 1.0 / 6227020800.0;
        s = s * a2 - 1.0 / 39916800.0;
        c = c + 1.0 / 20922789888000.0;
        c = c * a2 - 1.0 / 87178291200.0;
        c = c * a2 + 1.0 / 479001600.0;
        c = c * a2 - 1.0 / 3628800.0;
    }
    s = s * a2 + T(1.0 / 362880);
    s = s * a2 - T(1.0 / 5040);
    s = s * a2 + T(1.0 / 120);
    s = s * a2 - T(1.0 / 6);
    s = s * a2 * a + a;
    c = c * a2 + T(1.0 / 40320);
    c = c * a2 - T(1.0 / 720);
    c = c * a2 + T(1.0 / 24);
    c = c * a2 - T(0.5);
    c = c * a2 + T(1);
    const auto odd = (quarter & 1) != 0;
    const Vec<T> x = odd ? s : c, y = odd ? c : s;
    cosine = ((quarter + 1) & 2) != 0 ? -x : x;
    sine = (quarter & 2) != 0 ? -y : y;
}

template <class T>
void waves(const T* turns, T scale, T* cosines, T* sines, size_t n) {
    Vec<T> c, s;
    size_t i = 0;
    for (; i + N<T> <= n; i += N<T>) {
        wave<T>(load(turns + i), c, s);
        store(cosines + i, c * scale);
        store(sines + i, s * scale);
    }
    if (i == n) return;
    T tail[N<T>] = {};
    for (size_t j = i; j < n; ++j) tail[j - i] = turns[j];
    wave<T>(load(tail), c, s);
    for (size_t j = i; j < n; ++j) cosines[j] = c[j - i] * scale, sines[j] = s[j - i] * scale;
}

void symv(const double* a, size_t stride, size_t n, const double* x, double* y) {
    for (size_t r = 0; r < n; ++r) y[r] = dot(a + r * stride, x, n);
}

void rank_one(const double* a, double* to, size_t stride, size_t n, double c, const double* u) {
    for (size_t r = 0; r < n; ++r, a += stride, to += stride) {
        const double step = c * u[r];
        size_t i = 0;
        for (; i + M <= n; i += M) store(to + i, load(a + i) + widen(u + i) * step);
        for (; i < n; ++i) to[i] = a[i] + u[i] * step;
    }
}

// R neighbouring rows from `row` on, each up to the diagonal: as rows and as columns in one trip.
template <size_t R>
inline void symv_rows(const double* a, size_t stride, size_t row, const double* x, double* y) {
    Vec64 sum[R] = {};
    size_t i = 0;
    for (; i + M <= row; i += M) {
        const Vec64 x_i = load(x + i);
        Vec64 y_i = load(y + i);
        for (size_t r = 0; r < R; ++r) {
            const Vec64 a_i = load(a + r * stride + i);
            sum[r] += a_i * x_i;
            y_i += a_i * x[row + r];
        }
        store(y + i, y_i);
    }
    for (size_t r = 0; r < R; ++r) {
        double total = sum_lanes(sum[r]);
        for (size_t j = i; j < row + r; ++j) {
            total += a[r * stride + j] * x[j];
            y[j] += a[r * stride + j] * x[row + r];
        }
        y[row + r] = total + a[r * stride + row + r] * x[row + r];
    }
}

void symv_lower(const double* a, size_t stride, size_t n, const double* x, double* y) {
    size_t r = 0;
    for (; r + 4 <= n; r += 4) symv_rows<4>(a + r * stride, stride, r, x, y);
    for (; r < n; ++r) symv_rows<1>(a + r * stride, stride, r, x, y);
}

// R neighbouring rows from `row` on: what is read of the u serves them all.
template <size_t R>
inline void add_ranks_to(const double* a, double* to, size_t stride, size_t row, const double* c,
                         const double* us, size_t us_stride, size_t n_ranks) {
    double by[kRanks][R];
    for (size_t k = 0; k < n_ranks; ++k)
        for (size_t r = 0; r < R; ++r) by[k][r] = c[k] * us[k * us_stride + row + r];
    size_t i = 0;
    for (; i + M <= row; i += M) {
        Vec64 sum[R];
        for (size_t r = 0; r < R; ++r) sum[r] = load(a + r * stride + i);
        for (size_t k = 0; k < n_ranks; ++k) {
            const Vec64 u = load(us + k * us_stride + i);
            for (size_t r = 0; r < R; ++r) sum[r] += u * by[k][r];
        }
        for (size_t r = 0; r < R; ++r) store(to + r * stride + i, sum[r]);
    }
    for (size_t r = 0; r < R; ++r)
        for (size_t j = i; j <= row + r; ++j) {
            double sum = a[r * stride + j];
            for (size_t k = 0; k < n_ranks; ++k) sum += us[k * us_stride + j] * by[k][r];
            to[r * stride + j] = sum;
        }
}

void add_ranks(const double* a, double* to, size_t stride, size_t n, const double* c,
               const double* us, size_t us_stride, size_t n_ranks) {
    size_t r = 0;
    for (; r + 4 <= n; r += 4)
        add_ranks_to<4>(a + r * stride, to + r * stride, stride, r, c, us, us_stride, n_ranks);
    for (; r < n; ++r)
        add_ranks_to<1>(a + r * stride, to + r * stride, stride, r, c, us, us_stride, n_ranks);
}

double read(const char* bytes, size_t n) {
    using I = VectorOf<long long, kRegister>::type;
    I acc[4] = {};
    const size_t quarter = n / 4 / 64 * 64;  // four streams, as the kernel rows read theirs
    for (size_t i = 0; i < quarter; i += kRegister)
        for (size_t j = 0; j < 4; ++j)
            acc[j] += *reinterpret_cast<const I*>(bytes + j * quarter + i);
    const I sum = (acc[0] + acc[1]) + (acc[2] + acc[3]);
    return double(sum[0] ^ sum[1]);
}

template <class T>
constexpr onlinesvm::isa::Table<T> kTable = {rows<T>,    norms<T>,    finish<T>,     dot<T>,
                                             axpy<T>,    subtract<T>, step<T>,       pair<T>,
                                             partner<T>, violation,   all_finite<T>, waves<T>};
constexpr onlinesvm::isa::DenseTable kDense = {symv, rank_one, symv_lower, add_ranks, read};

}  // namespace
