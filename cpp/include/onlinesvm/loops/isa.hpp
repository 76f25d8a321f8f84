// The hot loops behind one function table: the same source compiled for three instruction sets,
// the widest one the processor has chosen once, at load (ONLINESVM_ISA=baseline|avx2|avx512 forces
// one).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace onlinesvm::isa {

inline constexpr std::size_t kLine = 64;  // bytes in a block row of the store, on every machine

template <class T>
inline constexpr std::size_t lanes = kLine / sizeof(T);

// How a kernel value is made from a sum over features. rbf_dot is rbf from dot products and norms:
// faster for many queries of many features, but blind to small distances far from the origin.
enum class Form : int { linear, rbf, poly, laplacian, chi2, rbf_dot };

template <class T>
struct Shape {
    Form form;
    int degree;
    T gamma, coef0, offset;
};

// Members whose one-variable steps gain most: the best first, then the best of other lanes, which
// come for free. The gain h d - K d^2 / 2 is taken times max(1, K), so that it means the same residual
// for every kernel: examples of length 300 under a linear kernel gain little, but matter.
inline constexpr std::size_t kPicks = 4;
struct Picks {
    std::size_t n = 0;
    std::size_t index[kPicks] = {};
    double gain[kPicks] = {};
};

// A box-constrained dual as its steps see it, in signed form: h = y g = y - f, and how far each
// coefficient may fall and rise.
struct BoxView {
    double* h;
    const double *fall, *rise;  // lo - s <= 0, hi - s >= 0
    const double *k, *k_inv;    // kernel diagonal and its inverse
    bool uniform;               // the diagonal is k[0] everywhere
};

// The pair of coefficients to move where their sum is fixed: who has the largest h of those that may
// rise, and who the smallest of those that may fall; ties go to the first.
struct Ends {
    std::size_t up = 0, down = 0;
    double high = -std::numeric_limits<double>::infinity();  // nobody may rise
    double low = std::numeric_limits<double>::infinity();    // nobody may fall
};

// Who violates its condition most, and by how much; ties go to the first.
struct Worst {
    std::size_t index = 0;
    double by = 0;  // nobody does
};

// Who gains most by falling while another rises; gain 0: nobody.
struct Partner {
    std::size_t index = 0;
    double gain = 0;
};
inline constexpr double kFlat = 1e-12;  // least curvature of a pair: duplicates run to a bound

template <class T>
struct Table {
    // out[q][slot] = k(query q, slot) for whole blocks [first, last) of a blocked store of width d.
    void (*rows)(const Shape<T>&, const T* blocks, const T* norms, std::size_t d, std::size_t first,
                 std::size_t last, const T* const* queries, const T* query_norms,
                 std::size_t n_queries, T* const* out);
    // The squared norms that rbf_dot needs.
    void (*norms)(const T* const* xs, std::size_t n, std::size_t d, T* out);
    // Turns sums kept elsewhere (sparse rows) into kernel values, in place.
    void (*finish)(const Shape<T>&, T* sums, std::size_t n);
    double (*dot)(const T* x, const double* w, std::size_t n);
    void (*axpy)(double a, const T* x, double* w, std::size_t n);
    // h -= sum_j delta[j] rows[j] over [first, last), any number of rows.
    void (*subtract)(double* h, const T* const* rows, const double* delta, std::size_t n_rows,
                     std::size_t first, std::size_t last);
    // h -= sum_j delta[j] rows[j] over [0, n), at most kPicks rows, then the best next steps.
    Picks (*step)(const BoxView&, const T* const* rows, const double* delta, std::size_t n_rows,
                  std::size_t n);
    // h -= sum_j delta[j] rows[j] over [0, n), at most two rows, then the ends.
    Ends (*pair)(const BoxView&, const T* const* rows, const double* delta, std::size_t n_rows,
                 std::size_t n);
    // For a member with gradient h, kernel row and diagonal k that rises: the j below h that may
    // fall and makes (h - h_j)^2 / (k + k_j - 2 row_j) largest.
    Partner (*partner)(const BoxView&, const T* row, double h, double k, std::size_t n);
    // The largest |h| among those whose step is not zero.
    Worst (*violation)(const BoxView&, std::size_t n);
    bool (*all_finite)(const T* x, std::size_t n);
    // scale cos(2 pi t) and scale sin(2 pi t). Beyond 2^22 turns (double: 2^51), where a number has no
    // room left for a part of one, it counts as whole.
    void (*waves)(const T* turns, T scale, T* cosines, T* sines, std::size_t n);
};

inline constexpr std::size_t kRanks = 32;
struct DenseTable {
    void (*symv)(const double* a, std::size_t stride, std::size_t n, const double* x, double* y);
    // to = a + c u u', in place or elsewhere.
    void (*rank_one)(const double* a, double* to, std::size_t stride, std::size_t n, double c,
                     const double* u);
    // The same two of a symmetric matrix of which the lower triangle is there. Of the u, rows of
    // `us`, there are at most kRanks: to = a + sum_k c[k] u_k u_k'.
    void (*symv_lower)(const double* a, std::size_t stride, std::size_t n, const double* x,
                       double* y);
    void (*add_ranks)(const double* a, double* to, std::size_t stride, std::size_t n,
                      const double* c, const double* us, std::size_t us_stride,
                      std::size_t n_ranks);
    // Reads a buffer once: the floor under any kernel row.
    double (*read)(const char* bytes, std::size_t n);
};

const char* name();
template <class T>
const Table<T>& table();
const DenseTable& dense();

}  // namespace onlinesvm::isa
