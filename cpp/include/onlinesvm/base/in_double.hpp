// What a model really says of the examples it holds: kernel values and sums in double, from the
// stored values and coefficients alone. No cached row, no maintained gradient, nothing in float.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "onlinesvm/base/store.hpp"

namespace onlinesvm {

// A stored example with its values widened.
template <class T>
class Widened {
  public:
    Row<double> get(const Store<T>& store, Slot j) {
        const Row<T> x = store.get(j, scratch_);
        values_.assign(x.values, x.values + x.size);
        return x.with(values_.data());
    }

  private:
    typename Store<T>::Scratch scratch_;
    std::vector<double> values_;
};

// k(x, x) of a stored example.
template <class T>
double self_in_double(const Store<T>& store, Slot j) {
    Widened<T> wide;
    return Store<double>(store.kernel()).self(wide.get(store, j));
}

// out[i * outputs + o] = sum over slots < n of coefficients[o][slot] k(at[i], slot). The examples
// that count are widened a few at a time, so that memory stays small.
template <class T>
std::vector<double> scores_in_double(const Store<T>& store, std::size_t n,
                                     std::span<const double* const> coefficients,
                                     std::span<const Slot> at) {
    constexpr std::size_t kRun = 512, kQueries = 48;
    const std::size_t outputs = coefficients.size();
    std::vector<double> out(at.size() * outputs);
    std::vector<Slot> counting;
    for (Slot j{}; j < n; ++j)
        if (std::any_of(coefficients.begin(), coefficients.end(),
                        [&](const double* s) { return s[j] != 0; }))
            counting.push_back(j);
    std::vector<Widened<T>> wide(kQueries);
    std::vector<Row<double>> xs;
    std::vector<double*> target;
    for (std::size_t first = 0; first < counting.size(); first += kRun) {
        const std::size_t size = std::min(kRun, counting.size() - first);
        Store<double> run(store.kernel());
        Aligned<double> s(outputs * size);
        for (std::size_t i = 0; i < size; ++i) {
            run.push(wide[0].get(store, counting[first + i]));
            for (std::size_t o = 0; o < outputs; ++o)
                s[o * size + i] = coefficients[o][counting[first + i]];
        }
        Aligned<double> values(kQueries * run.padded_size());
        for (std::size_t begin = 0; begin < at.size(); begin += kQueries) {
            const std::size_t queries = std::min(kQueries, at.size() - begin);
            xs.clear(), target.clear();
            for (std::size_t q = 0; q < queries; ++q) {
                xs.push_back(wide[q].get(store, at[begin + q]));
                target.push_back(values.data() + q * run.padded_size());
            }
            run.rows(xs, 0, size, target.data());
            for (std::size_t q = 0; q < queries; ++q)
                for (std::size_t o = 0; o < outputs; ++o)
                    out[(begin + q) * outputs + o] +=
                        isa::table<double>().dot(target[q], s.data() + o * size, size);
        }
    }
    return out;
}

}  // namespace onlinesvm
