// NumPy arrays in, rows for the core out; vectors of the core in, NumPy arrays out.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "onlinesvm/memory/slot.hpp"
#include "onlinesvm/rows/rows.hpp"
#include "onlinesvm/state/checked.hpp"

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

// ---- finiteness ---------------------------------------------------------------------------------

inline bool all_finite(const nb::ndarray<nb::ro, nb::any_contig, nb::device::cpu>& array) {
    return typed(array,
                 [&](const auto* values) { return onlinesvm::all_finite(values, array.size()); });
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

inline Rows dense_rows(const Values2& X) {
    return typed(X,
                 [&](const auto* values) { return Rows::dense(values, X.shape(0), X.shape(1)); });
}
inline Rows sparse_rows(const Values1& data, const Vector<std::int32_t>& indices,
                        const Vector<std::int64_t>& indptr, std::size_t width) {
    return typed(data, [&](const auto* values) {
        return Rows::sparse(values, data.shape(0), view(indices), view(indptr), width);
    });
}

// ---- arrays for Python --------------------------------------------------------------------------

template <class V, std::size_t N>
using Vectors = nb::ndarray<nb::numpy, V, nb::ndim<N>>;

// NumPy arrays that own the vector's memory.
template <class V>
nb::capsule owner_of(std::vector<V>* kept) {
    return {kept, [](void* p) noexcept { delete static_cast<std::vector<V>*>(p); }};
}
template <class V, std::size_t N>
Vectors<V, N> to_numpy(std::vector<V> values, const std::size_t (&shape)[N]) {
    auto* kept = new std::vector<V>(std::move(values));
    return Vectors<V, N>(kept->data(), N, shape, owner_of(kept));
}
template <class V>
nb::ndarray<nb::numpy, V> to_numpy(std::vector<V> values, std::span<const std::size_t> shape) {
    auto* kept = new std::vector<V>(std::move(values));
    return {kept->data(), shape.size(), shape.data(), owner_of(kept)};
}
template <class V>
Vectors<V, 1> to_numpy(std::vector<V> values) {
    const std::size_t shape[] = {values.size()};
    return to_numpy(std::move(values), shape);
}

}  // namespace onlinesvm::bind
