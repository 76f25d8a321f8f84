// Decision values of many rows against the stored examples, a tile at a time.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "onlinesvm/base/rows.hpp"
#include "onlinesvm/base/support.hpp"

namespace onlinesvm {

// out[i * outputs + o] = sum over slots < n of coefficients[o][slot] k(x_i, slot)
template <class T>
void score(const Store<T>& store, std::size_t n, std::span<const double* const> coefficients,
           std::span<const Row<T>> xs, double* out) {
    // A run of slots that stays in the L2 cache while every query passes it.
    constexpr std::size_t kQueries = 16, kBytes = std::size_t(1) << 20;
    const std::size_t run_length =
        std::clamp<std::size_t>(kBytes / (sizeof(T) * (store.width() + 1)) / 64 * 64, 64, 1024);
    const std::size_t outputs = coefficients.size();
    std::fill(out, out + xs.size() * outputs, 0.0);
    if (n == 0 || xs.empty()) return;
    // The faster dot form only where both sides are short enough for it: a choice per row, not per
    // batch.
    const bool tame = store.tame(store.largest_norm());
    std::vector<std::size_t> order(xs.size());
    std::iota(order.begin(), order.end(), 0);
    std::vector<T> norms(xs.size());
    if (tame)
        for (std::size_t i = 0; i < xs.size(); ++i)
            norms[i] = DenseStore<T>::squared_norm(xs[i].values, xs[i].size);
    const auto wild = std::stable_partition(
        order.begin(), order.end(), [&](std::size_t i) { return tame && store.tame(norms[i]); });
    Aligned<T> values(kQueries * (run_length + 64));
    std::vector<Row<T>> rows;
    std::vector<T*> target;
    std::vector<T> squares;
    const auto run = [&](auto begin, auto end, bool from_dots) {
        for (Slot first = 0; first < n; first += run_length) {
            const Slot last = std::min(n, first + run_length);
            for (auto at = begin; at < end; at += std::min<std::ptrdiff_t>(kQueries, end - at)) {
                const std::size_t q = std::size_t(std::min<std::ptrdiff_t>(kQueries, end - at));
                rows.clear();
                target.clear();
                squares.clear();
                for (std::size_t i = 0; i < q; ++i) {
                    rows.push_back(xs[at[std::ptrdiff_t(i)]]);
                    squares.push_back(norms[at[std::ptrdiff_t(i)]]);
                    target.push_back(values.data() + i * (run_length + 64) - first);
                }
                store.rows(rows, first, last, target.data(), from_dots ? squares.data() : nullptr);
                for (std::size_t i = 0; i < q; ++i)
                    for (std::size_t o = 0; o < outputs; ++o)
                        out[std::size_t(at[std::ptrdiff_t(i)]) * outputs + o] +=
                            isa::table<T>().dot(target[i] + first, coefficients[o] + first,
                                                last - first);
            }
        }
    };
    run(order.begin(), wild, true);
    run(wild, order.end(), false);
}

// The examples with any coefficient, by id.
template <class T>
Support<T> support_of(const Rows<T>& rows, std::span<const double* const> coefficients) {
    std::vector<Slot> slots;
    for (Slot j = 0; j < rows.active(); ++j)
        if (std::any_of(coefficients.begin(), coefficients.end(),
                        [&](const double* s) { return s[j] != 0; }))
            slots.push_back(j);
    std::sort(slots.begin(), slots.end(), [&](Slot a, Slot b) { return rows.id(a) < rows.id(b); });
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

}  // namespace onlinesvm
