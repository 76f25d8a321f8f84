#include "onlinesvm/rows/rows.hpp"

#include <algorithm>

namespace onlinesvm {
namespace {

void demand_ascending(std::span<const std::int32_t> indices, std::size_t width) {
    std::int64_t last = -1;
    for (const std::int32_t index : indices) {
        if (index <= last || static_cast<std::size_t>(index) >= width)
            throw std::invalid_argument(
                "X: indices of a sparse row must ascend and stay below the width; "
                "call X.sum_duplicates() first");
        last = index;
    }
}

}  // namespace

Rows Rows::sparse(Values values, std::size_t n_values, std::span<const std::int32_t> indices,
                  std::span<const std::int64_t> indptr, std::size_t width) {
    if (indptr.empty() || indptr.front() != 0 ||
        indptr.back() != static_cast<std::int64_t>(n_values) || indices.size() != n_values ||
        !std::is_sorted(indptr.begin(), indptr.end()))
        throw std::invalid_argument("X: indptr, indices and data of the sparse rows disagree");
    Rows rows = dense(values, indptr.size() - 1, width);
    rows.indices_ = indices, rows.indptr_ = indptr;
    for (std::size_t i = 0; i < rows.size(); ++i)
        demand_ascending(indices.subspan(rows.begin(i), rows.begin(i + 1) - rows.begin(i)), width);
    return rows;
}

template <class T>
std::span<const Row<T>> Blocks<T>::block(std::size_t begin, std::size_t count) {
    out.resize(count);
    const std::size_t width = rows.width();
    if (meaning.precomputed && !rows.are_sparse()) {
        const std::size_t each = GramRow<T>::head + width;
        buffer.resize(std::max(buffer.size(), count * each));
        std::visit(
            [&](const auto* values) {
                for (std::size_t i = 0; i < count; ++i)
                    out[i] = numbered(values + (begin + i) * width, width, meaning.id(begin + i),
                                      buffer.data() + i * each);
            },
            rows.values_);
        return out;
    }
    const std::size_t first = rows.begin(begin);
    const T* from = rows.values(first, rows.begin(begin + count) - first, buffer);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = rows.begin(begin + i), end = rows.begin(begin + i + 1);
        if (rows.are_sparse())
            out[i] = {from + (at - first), rows.indices_.data() + at, end - at, width};
        else
            out[i] = {from + (at - first), width};
    }
    return out;
}

template class Blocks<float>;
template class Blocks<double>;

}  // namespace onlinesvm
