// Rows from outside, dense or CSR, of either floating type, and how a model of one type gets them: as
// they lie where the types agree, else converted once, on the way in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <variant>
#include <vector>

#include "onlinesvm/loops/isa.hpp"
#include "onlinesvm/memory/aligned.hpp"
#include "onlinesvm/memory/slot.hpp"
#include "onlinesvm/rows/gram_row.hpp"
#include "onlinesvm/rows/row.hpp"

namespace onlinesvm {

// Rows handed together to a block prediction: a multiple of learn_block.
inline constexpr std::size_t score_block = 252;

template <class S>
bool all_finite(const S* values, std::size_t n) {
    return isa::table<S>().all_finite(values, n);
}
// Checked after any conversion: what fits float64 may overflow float32.
template <class T>
void demand_finite(const T* values, std::size_t n) {
    if (!all_finite(values, n))
        throw std::invalid_argument(
            "Input X contains NaN or infinity (or a value too large for dtype); "
            "drop or impute those values first");
}
// Rows that lie side by side.
template <class T>
void demand_finite(std::span<const Row<T>> rows) {
    const T* const from = rows.front().values;
    demand_finite(from, std::size_t(rows.back().values + rows.back().size - from));
}

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

// They lie elsewhere, and stay there while anybody reads them.
class Rows {
  public:
    using Values = std::variant<const float*, const double*>;

    static Rows dense(Values values, std::size_t n, std::size_t width) {
        Rows rows;
        rows.values_ = values, rows.n_ = n, rows.width_ = width;
        return rows;
    }
    // Refuses what does not fit together.
    static Rows sparse(Values values, std::size_t n_values, std::span<const std::int32_t> indices,
                       std::span<const std::int64_t> indptr, std::size_t width);

    std::size_t size() const { return n_; }
    std::size_t width() const { return width_; }
    bool are_sparse() const { return !indptr_.empty(); }

    // One of them, finite; in the buffer where it is of another type.
    template <class T>
    Row<T> row(std::size_t i, std::vector<T>& buffer) const {
        const std::size_t at = begin(i), n = begin(i + 1) - at;
        const T* const from = values(at, n, buffer);
        demand_finite(from, n);
        if (are_sparse()) return {from, indices_.data() + at, n, width_};
        return {from, width_};
    }

  private:
    template <class T>
    friend class Blocks;

    Values values_;
    std::size_t n_ = 0, width_ = 0;
    std::span<const std::int32_t> indices_;
    std::span<const std::int64_t> indptr_;

    Rows() = default;
    std::size_t begin(std::size_t i) const {
        return are_sparse() ? std::size_t(indptr_[i]) : i * width_;
    }
    template <class T>
    const T* values(std::size_t first, std::size_t n, std::vector<T>& buffer) const {
        if (const auto* floats = std::get_if<const float*>(&values_))
            return as<T>(*floats + first, n, buffer);
        return as<T>(std::get<const double*>(values_) + first, n, buffer);
    }
};

// What the values of dense rows are: features, or kernel values with the examples by number. Rows that
// are only scored have no ids.
struct Meaning {
    bool precomputed = false;
    const Id* ids = nullptr;

    Id id(std::size_t i) const { return ids ? ids[i] : kNoId; }
};

// Rows as a model of type T takes them, some at a time.
template <class T>
class Blocks {
  public:
    explicit Blocks(const Rows& rows, Meaning meaning = {}) : rows(rows), meaning(meaning) {}

    std::size_t size() const { return rows.size(); }

    // Valid until the next call.
    std::span<const Row<T>> block(std::size_t begin, std::size_t count);

    // A row that comes soon is on its way from memory while others are learned. A block of long ones
    // would drive those at hand out of the near cache.
    void approach(std::size_t i) const {
        constexpr std::size_t kLong = 4096;  // bytes
        if (i >= rows.size() || rows.are_sparse()) return;
        std::visit(
            [&]<class S>(const S* values) {
                const std::size_t bytes = rows.width() * sizeof(S);
                if (bytes <= kLong) prefetch(values + i * rows.width(), bytes);
            },
            rows.values_);
    }

  private:
    Rows rows;
    Meaning meaning;
    std::vector<T> buffer;
    std::vector<Row<T>> out;
};

extern template class Blocks<float>;
extern template class Blocks<double>;

}  // namespace onlinesvm
