// One example as the core sees it: contiguous typed values, dense or sparse, borrowed or owned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "onlinesvm/state/archive.hpp"

namespace onlinesvm {

// Rows that are learned in one go, and announced to each other: a multiple of the six queries that a
// tile of kernel values takes.
inline constexpr std::size_t learn_block = 36;

// A view of values that lie elsewhere.
template <class T>
struct Row {
    const T* values = nullptr;
    const std::int32_t* indices = nullptr;  // sparse: ascending feature numbers, one per value
    std::size_t size = 0;                   // stored values
    std::size_t width = 0;                  // features
    bool is_sparse = false;

    Row() = default;
    Row(const T* values, std::size_t width) : values(values), size(width), width(width) {}
    Row(const T* values, const std::int32_t* indices, std::size_t size, std::size_t width)
        : values(values), indices(indices), size(size), width(width), is_sparse(true) {}
    Row(const T*, std::nullptr_t, std::size_t, std::size_t) = delete;

    bool sparse() const { return is_sparse; }

    // The same features with other values.
    template <class S>
    Row<S> with(const S* others) const {
        return is_sparse ? Row<S>(others, indices, size, width) : Row<S>(others, width);
    }
};

// Whether a row from outside can be used by a model that knows so many features: a dense one has
// them all, the indices of a sparse one ascend and stay below its width.
template <class T>
bool is_sound(const Row<T>& x, std::size_t features) {
    if (!x.sparse()) return x.size == x.width && x.width == features;
    for (std::size_t i = 0; i < x.size; ++i)
        if (x.indices[i] < (i > 0 ? x.indices[i - 1] + std::int64_t(1) : 0) ||
            std::size_t(x.indices[i]) >= x.width)
            return false;
    return x.width <= features;
}

// A row with memory of its own: for an example that is put aside, or spread out for a moment.
template <class T>
struct OwnedRow {
    std::vector<T> values;
    std::vector<std::int32_t> indices;
    std::size_t width = 0;
    bool sparse = false;

    OwnedRow() = default;
    explicit OwnedRow(Row<T> x)
        : values(x.values, x.values + x.size),
          indices(x.indices, x.indices + (x.sparse() ? x.size : 0)),
          width(x.width),
          sparse(x.sparse()) {}

    Row<T> row() const {
        if (!sparse) return {values.data(), width};
        return {values.data(), indices.data(), values.size(), width};
    }
    std::size_t nbytes() const {
        return values.capacity() * sizeof(T) + indices.capacity() * sizeof(std::int32_t);
    }

    template <class A>
    void state(A& a) {
        a("values", values);
        a("indices", indices);
        a("width", width);
        a("sparse", sparse);
        if constexpr (A::loading)
            demand(
                values.size() == (sparse ? indices.size() : width) && (sparse || indices.empty()),
                "an example that was put aside is malformed");
    }
};

}  // namespace onlinesvm
