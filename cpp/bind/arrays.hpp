// NumPy arrays in, rows for the core out; vectors of the core in, NumPy arrays out.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "onlinesvm/base/aligned.hpp"
#include "onlinesvm/base/gram_row.hpp"
#include "onlinesvm/base/isa.hpp"
#include "onlinesvm/base/row.hpp"
#include "onlinesvm/base/slot.hpp"

// In arrays and files an id is a number; in the core it is none.
template <>
struct nanobind::detail::dtype_traits<onlinesvm::Id> : dtype_traits<std::int64_t> {};

namespace onlinesvm::bind {

namespace nb = nanobind;

// Values of either floating type; which one is asked once per call, not once per value.
using Values1 = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Values2 = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Dict = nb::typed<nb::dict, nb::str, nb::any>;
template <class V>
using Vector = nb::ndarray<const V, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Array, class Visit>
decltype(auto) typed(const Array& array, Visit&& visit) {
    const auto* data = array.data();
    if (array.dtype() == nb::dtype<double>()) return visit(static_cast<const double*>(data));
    if (array.dtype() == nb::dtype<float>()) return visit(static_cast<const float*>(data));
    throw std::invalid_argument("X: values must be float32 or float64; convert with X.astype");
}

template <class V>
std::span<const V> view(const Vector<V>& array) {
    return {array.data(), array.shape(0)};
}

inline void same_length(const char* name, std::size_t length, std::size_t rows) {
    if (length != rows)
        throw std::invalid_argument(std::string(name) + ": " + std::to_string(length) +
                                    " entries for " + std::to_string(rows) + " rows of X");
}

// ---- finiteness ---------------------------------------------------------------------------------

template <class S>
bool all_finite(const S* values, std::size_t n) {
    return isa::table<S>().all_finite(values, n);
}

inline bool all_finite(const nb::ndarray<nb::ro, nb::any_contig, nb::device::cpu>& array) {
    return typed(array, [&](const auto* values) { return all_finite(values, array.size()); });
}

// The same values, checked after any conversion: what fits float64 may overflow float32.
template <class T>
const T* finite(const T* values, std::size_t n) {
    if (!all_finite(values, n))
        throw std::invalid_argument(
            "Input X contains NaN or infinity (or a value too large for dtype); "
            "drop or impute those values first");
    return values;
}

// One row of either floating type, seen through the buffer protocol: a third of what an ndarray costs.
class PlainArray {
  public:
    explicit PlainArray(nb::handle x) {
        if (PyObject_GetBuffer(x.ptr(), &view, PyBUF_ND | PyBUF_FORMAT) != 0) {
            PyErr_Clear();
            view.obj = nullptr;
        }
    }
    ~PlainArray() {
        if (view.obj) PyBuffer_Release(&view);
    }
    PlainArray(const PlainArray&) = delete;
    PlainArray& operator=(const PlainArray&) = delete;

    // act(values, n); false where it is no such row.
    template <class Act>
    bool visit(Act&& act) const {
        if (!view.obj || view.ndim != 1 || !view.format || view.format[0] == '\0' ||
            view.format[1] != '\0')
            return false;
        const auto n = static_cast<std::size_t>(view.shape[0]);
        if (view.format[0] == 'd') return act(static_cast<const double*>(view.buf), n);
        if (view.format[0] == 'f') return act(static_cast<const float*>(view.buf), n);
        return false;
    }

  private:
    Py_buffer view{};
};

// ---- rows ---------------------------------------------------------------------------------------

// Rows handed together to a block prediction: a multiple of learn_block.
inline constexpr std::size_t score_block = 252;

// Borrows n values of type S as values of type T, copying into `buffer` only where the types
// differ.
template <class T, class S>
const T* as(const S* values, std::size_t n, std::vector<T>& buffer) {
    if constexpr (std::is_same_v<S, T>) {
        return values;
    } else {
        if (buffer.size() < n) buffer.resize(n);
        for (std::size_t i = 0; i < n; ++i) buffer[i] = static_cast<T>(values[i]);
        return buffer.data();
    }
}

// Kernel values of one example, or of nobody that will be stored, behind its number.
template <class T, class S>
Row<T> numbered(const S* values, std::size_t n, Id number, T* to) {
    to[0] = number == kNoId ? GramRow<T>::nobody : T(std::int64_t(number));
    for (std::size_t i = 0; i < n; ++i) to[GramRow<T>::head + i] = static_cast<T>(values[i]);
    return {to, GramRow<T>::head + n};
}

// What the values of dense rows are: features, or kernel values with the examples by number. Rows that
// are only scored have no ids.
struct Meaning {
    bool precomputed = false;
    const Id* ids = nullptr;

    Id id(std::size_t i) const { return ids ? ids[i] : kNoId; }
};

template <class T, class S>
class DenseRows {
  public:
    DenseRows(const S* values, std::size_t rows, std::size_t width, Meaning meaning)
        : values(values), rows(rows), width(width), meaning(meaning) {}

    std::size_t size() const { return rows; }

    // Valid until the next call.
    std::span<const Row<T>> block(std::size_t begin, std::size_t count) {
        out.resize(count);
        if (meaning.precomputed) {
            const std::size_t each = GramRow<T>::head + width;
            buffer.resize(std::max(buffer.size(), count * each));
            for (std::size_t i = 0; i < count; ++i)
                out[i] = numbered(values + (begin + i) * width, width, meaning.id(begin + i),
                                  buffer.data() + i * each);
            return out;
        }
        const T* from = as(values + begin * width, count * width, buffer);
        for (std::size_t i = 0; i < count; ++i) out[i] = {from + i * width, width};
        return out;
    }
    // A row that comes soon is on its way from memory while others are learned. A block of long ones
    // would drive those at hand out of the near cache.
    void approach(std::size_t i) const {
        constexpr std::size_t kLong = 4096;  // bytes
        if (i < rows && width * sizeof(S) <= kLong) prefetch(values + i * width, width * sizeof(S));
    }

  private:
    const S* values;
    std::size_t rows, width;
    Meaning meaning;
    std::vector<T> buffer;
    std::vector<Row<T>> out;
};

inline void demand_ascending(std::span<const std::int32_t> indices, std::size_t width) {
    std::int64_t last = -1;
    for (const std::int32_t index : indices) {
        if (index <= last || static_cast<std::size_t>(index) >= width)
            throw std::invalid_argument(
                "X: indices of a sparse row must ascend and stay below the width; "
                "call X.sum_duplicates() first");
        last = index;
    }
}

template <class T, class S>
class SparseRows {
  public:
    SparseRows(std::span<const S> data, std::span<const std::int32_t> indices,
               std::span<const std::int64_t> indptr, std::size_t width)
        : data(data), indices(indices), indptr(indptr), width(width) {
        if (indptr.empty() || indptr.front() != 0 ||
            indptr.back() != static_cast<std::int64_t>(data.size()) ||
            indices.size() != data.size() || !std::is_sorted(indptr.begin(), indptr.end()))
            throw std::invalid_argument("X: indptr, indices and data of the sparse rows disagree");
        for (std::size_t i = 0; i < size(); ++i)
            demand_ascending(indices.subspan(indptr[i], indptr[i + 1] - indptr[i]), width);
    }

    std::size_t size() const { return indptr.size() - 1; }

    std::span<const Row<T>> block(std::size_t begin, std::size_t count) {
        const std::size_t first = indptr[begin], last = indptr[begin + count];
        const T* from = as(data.data() + first, last - first, buffer);
        out.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t at = indptr[begin + i], end = indptr[begin + i + 1];
            out[i] = {from + (at - first), indices.data() + at, end - at, width};
        }
        return out;
    }

  private:
    std::span<const S> data;
    std::span<const std::int32_t> indices;
    std::span<const std::int64_t> indptr;
    std::size_t width;
    std::vector<T> buffer;
    std::vector<Row<T>> out;
};

// ---- arrays for Python --------------------------------------------------------------------------

template <class V, std::size_t N>
using Array = nb::ndarray<nb::numpy, V, nb::ndim<N>>;

// A NumPy array that owns the vector's memory.
template <class V, std::size_t N>
Array<V, N> to_numpy(std::vector<V> values, const std::size_t (&shape)[N]) {
    auto* kept = new std::vector<V>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<V>*>(p); });
    return Array<V, N>(kept->data(), N, shape, owner);
}

template <class V>
Array<V, 1> to_numpy(std::vector<V> values) {
    const std::size_t shape[] = {values.size()};
    return to_numpy(std::move(values), shape);
}

}  // namespace onlinesvm::bind
