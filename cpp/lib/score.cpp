#include "onlinesvm/function/score.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace onlinesvm {

// The numbers of rows, those that rbf_dot can take first; how many these are.
template <class T>
std::pair<std::vector<std::size_t>, std::size_t> short_first(const Store<T>& store,
                                                             std::span<const T> norms) {
    std::vector<std::size_t> order(norms.size());
    std::iota(order.begin(), order.end(), 0);
    const auto middle = std::stable_partition(
        order.begin(), order.end(), [&](std::size_t i) { return store.is_short(norms[i]); });
    return {order, std::size_t(middle - order.begin())};
}

template <class T>
void score(const Store<T>& store, std::size_t n, std::span<const double* const> coefficients,
           std::span<const Row<T>> xs, double* out) {
    // A run of dense examples stays in the cache while all queries pass, longer where these are few; of
    // sparse ones, every run would walk the lists anew, so there is but one. Sums are of pieces, which
    // are the same for any number of queries.
    const std::size_t piece = store.sparse() ? n : 128;
    const std::size_t run = !store.sparse() && xs.size() <= 6 ? 8 * piece : piece;
    const std::size_t stride = run + isa::lanes<T>;
    const std::size_t queries = store.sparse() ? 8 : 252, outputs = coefficients.size();
    std::fill(out, out + xs.size() * outputs, 0.0);
    if (n == 0) return;
    for (const Row<T>& x : xs) store.demand_own_value(x);
    const std::vector<T> norms = store.norms(xs);
    const auto [order, shorts] = short_first<T>(store, norms);
    Aligned<T> values(std::min(queries, xs.size()) * stride);
    std::vector<Row<T>> rows;
    std::vector<T> squares;
    std::vector<T*> target;
    for (std::size_t at = 0, next; at < order.size(); at = next) {
        next = std::min(at + queries, at < shorts ? shorts : order.size());
        rows.clear(), squares.clear();
        for (std::size_t q = at; q < next; ++q)
            rows.push_back(xs[order[q]]), squares.push_back(norms[order[q]]);
        for (std::size_t first = 0; first < n; first += run) {
            const std::size_t last = std::min(n, first + run);
            target.clear();
            for (std::size_t q = 0; q < rows.size(); ++q)
                target.push_back(values.data() + q * stride - first);
            store.rows(rows, first, last, target.data(), at < shorts ? squares.data() : nullptr);
            for (std::size_t q = 0; q < rows.size(); ++q)
                for (std::size_t o = 0; o < outputs; ++o)
                    for (std::size_t j = first; j < last; j += piece)
                        out[order[at + q] * outputs + o] += isa::table<T>().dot(
                            target[q] + j, coefficients[o] + j, std::min(piece, last - j));
        }
    }
}

template <class T>
Support<T> examples_of(const KernelCache<T>& rows, std::span<const Slot> slots,
                       std::span<const double* const> coefficients) {
    Support<T> out;
    out.width = rows.store().width();
    for (Slot j : slots) out.ids.push_back(rows.id(j));
    for (const double* s : coefficients)
        for (Slot j : slots) out.coef.push_back(s[j]);
    if (rows.store().sparse()) out.indptr.push_back(0);
    typename Store<T>::Scratch scratch;
    for (Slot j : slots) {
        const Row<T> x = rows.store().get(j, scratch);
        out.values.insert(out.values.end(), x.values, x.values + x.size);
        if (!x.sparse()) continue;
        out.indices.insert(out.indices.end(), x.indices, x.indices + x.size);
        out.indptr.push_back(std::int64_t(out.values.size()));
    }
    return out;
}

template <class T>
void sort_by_id(const KernelCache<T>& rows, std::vector<Slot>& slots) {
    std::sort(slots.begin(), slots.end(), [&](Slot a, Slot b) { return rows.id(a) < rows.id(b); });
}

template <class T>
Support<T> support_of(const KernelCache<T>& rows, std::span<const double* const> coefficients) {
    std::vector<Slot> slots;
    for (Slot j{}; j < rows.active(); ++j)
        if (std::any_of(coefficients.begin(), coefficients.end(),
                        [&](const double* s) { return s[j] != 0; }))
            slots.push_back(j);
    sort_by_id(rows, slots);
    return examples_of(rows, slots, coefficients);
}

template void score(const Store<float>&, std::size_t, std::span<const double* const>,
                    std::span<const Row<float>>, double*);
template Support<float> examples_of(const KernelCache<float>&, std::span<const Slot>,
                                    std::span<const double* const>);
template void sort_by_id(const KernelCache<float>&, std::vector<Slot>&);
template Support<float> support_of(const KernelCache<float>&, std::span<const double* const>);
template void score(const Store<double>&, std::size_t, std::span<const double* const>,
                    std::span<const Row<double>>, double*);
template Support<double> examples_of(const KernelCache<double>&, std::span<const Slot>,
                                     std::span<const double* const>);
template void sort_by_id(const KernelCache<double>&, std::vector<Slot>&);
template Support<double> support_of(const KernelCache<double>&, std::span<const double* const>);

}  // namespace onlinesvm
