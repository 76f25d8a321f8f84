// What a LinearModel does besides its rounds, for either type of values.
#include "onlinesvm/function/linear_model.hpp"

#include "onlinesvm/bank/record.hpp"

namespace onlinesvm {

template <class T>
void LinearModel<T>::resize(std::size_t outputs) {
    bias.resize(outputs);
    w.resize(outputs * stride);
}
template <class T>
void LinearModel<T>::fill(std::size_t output, double weight) {
    std::fill_n(w.edit().data() + output * stride, columns, weight);
    bias.edit(output) = weight * std::sqrt(offset);
}
template <class T>
void LinearModel<T>::copy(std::size_t from, std::size_t to, double factor) {
    bias.edit(to) = factor * bias[from];
    double* weights = w.edit().data();
    for (std::size_t i = 0; i < columns; ++i)
        weights[to * stride + i] = factor * weights[from * stride + i];
}
template <class T>
void LinearModel<T>::blend(std::size_t from, std::size_t to, double factor) {
    bias.edit(to) += factor * bias[from];
    double* weights = w.edit().data();
    for (std::size_t i = 0; i < columns; ++i)
        weights[to * stride + i] += factor * weights[from * stride + i];
}
template <class T>
void LinearModel<T>::append(const LinearModel& other, std::int64_t) {
    widen(other.columns);
    const std::size_t first = outputs();
    resize(first + other.outputs());
    for (std::size_t r = 0; r < other.outputs(); ++r) {
        bias.edit(first + r) = other.bias[r];
        std::copy_n(other.w.begin() + r * other.stride, other.columns,
                    w.edit().begin() + (first + r) * stride);
    }
}
template <class T>
std::vector<double> LinearModel<T>::gram() const {
    const std::size_t n = outputs();
    std::vector<double> out(n * n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            out[i * n + j] =
                isa::table<double>().dot(w.data() + i * stride, w.data() + j * stride, columns) +
                (offset > 0.0 ? bias[i] * bias[j] / offset : 0.0);
    return out;
}
template <class T>
Weights LinearModel<T>::weights() const {
    Weights out{columns, {}, bias};
    for (std::size_t r = 0; r < outputs(); ++r)
        out.coef.insert(out.coef.end(), w.begin() + r * stride, w.begin() + r * stride + columns);
    return out;
}
template <class T>
template <class A>
void LinearModel<T>::state(A& a) {
    a("w", w);
    a("bias", bias);
    a("stride", stride);
    a("columns", columns);
    if constexpr (A::loading) {
        demand(!bias.empty() && columns <= stride && columns <= a.features() &&
                   w.size() == checked_mul(bias.size(), stride),
               "the weights do not fit their shape");
        if (stride % isa::kWeightsInLine != 0) lay_out(stride);  // as they were until 0.2.0
    }
}
template <class T>
void LinearModel<T>::lay_out(std::size_t room) {
    const std::size_t wider = round_up(room, isa::kWeightsInLine);
    OnHeap<double> moved(outputs() * wider);
    for (std::size_t r = 0; r < outputs(); ++r)
        std::copy_n(w.data() + r * stride, columns, moved.data() + r * wider);
    w = std::move(moved);
    stride = wider;
}
template class LinearModel<float>;
template void LinearModel<float>::state(Save&);
template void LinearModel<float>::state(Load&);
template void LinearModel<float>::state(CountWords&);
template void LinearModel<float>::state(WriteWords&);
template void LinearModel<float>::state(ReadWords<Trust::whole>&);
template void LinearModel<float>::state(ReadWords<Trust::none>&);
template void LinearModel<float>::state(Measure&);
template class LinearModel<double>;
template void LinearModel<double>::state(Save&);
template void LinearModel<double>::state(Load&);
template void LinearModel<double>::state(CountWords&);
template void LinearModel<double>::state(WriteWords&);
template void LinearModel<double>::state(ReadWords<Trust::whole>&);
template void LinearModel<double>::state(ReadWords<Trust::none>&);
template void LinearModel<double>::state(Measure&);

}  // namespace onlinesvm
