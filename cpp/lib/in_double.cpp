#include "onlinesvm/function/in_double.hpp"

#include <algorithm>

namespace onlinesvm {

template <class T>
Row<double> Widened<T>::get(const Store<T>& store, Slot j) {
    const Row<T> x = store.get(j, scratch_);
    values_.assign(x.values, x.values + x.size);
    return x.with(values_.data());
}

template <class T>
double self_in_double(const Store<T>& store, Slot j) {
    Widened<T> wide;
    return Store<double>(store.kernel()).self(wide.get(store, j));
}

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

template class Widened<float>;
template class Widened<double>;
template double self_in_double(const Store<float>&, Slot);
template std::vector<double> scores_in_double(const Store<float>&, std::size_t,
                                              std::span<const double* const>,
                                              std::span<const Slot>);
template double self_in_double(const Store<double>&, Slot);
template std::vector<double> scores_in_double(const Store<double>&, std::size_t,
                                              std::span<const double* const>,
                                              std::span<const Slot>);

}  // namespace onlinesvm
