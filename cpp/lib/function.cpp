// What a Function does besides its rounds, for either type of values.
#include "onlinesvm/function/function.hpp"

#include "onlinesvm/bank/record.hpp"

namespace onlinesvm {

template <class T>
Function<T>::Function(const Kernel& kernel, Keeps keeps)
    : keeps(keeps), parts(keeps.mean ? 2 : 1), model(LinearModel<T>(kernel.offset)) {
    if (kernel.shape != Shape::linear || keeps.births) model = KernelModel<T>(kernel);
    resize(1);
}
template <class T>
void Function<T>::resize(std::size_t outputs) {
    of.resize(outputs);
    raw.resize(std::max(raw.size(), outputs));
    now.resize(raw.size());
    std::visit([&](auto& m) { m.resize(outputs * parts); }, model);
}
template <class T>
void Function<T>::grow(std::size_t classes) {
    if (classes < 3 || classes <= outputs()) return;
    const bool was_binary = outputs() == 1;
    resize(classes);
    if (!was_binary) return;
    copy(0, 1, 0.5);
    copy(0, 0, -0.5);
    for (std::size_t r : {0, 1}) {
        of.edit(r).bias *= r ? 0.5 : -0.5;
        of.edit(r).norm2 *= 0.25;
    }
}
template <class T>
void Function<T>::expect(std::span<const Row<T>> coming) {
    std::visit([&](auto& m) { m.expect(coming); }, model);
}
template <class T>
void Function<T>::turn(std::size_t i) {
    std::visit([&](auto& m) { m.turn(i); }, model);
}
template <class T>
void Function<T>::push(const Example<T>& e, std::span<const Change> changes) {
    if (keeps.norm) lengthen(e, changes, 0.0);
    rescale(changes);
    if (keeps.births) born.push_back(e.t);
    std::get<KernelModel<T>>(model).push(e.x, e.id, steps);
}
template <class T>
std::optional<Slot> Function<T>::born_in(std::int64_t t) const {
    const auto at = std::find(born.begin(), born.end(), t);
    if (at == born.end()) return std::nullopt;
    return Slot(at - born.begin());
}
template <class T>
std::vector<Id> Function<T>::ids() const {
    const auto* m = std::get_if<KernelModel<T>>(&model);
    return m ? m->stored() : std::vector<Id>();
}
template <class T>
std::vector<double> Function<T>::bias() const {
    std::vector<double> out;
    for (const Output& output : of) out.push_back(output.bias);
    return out;
}
template <class T>
void Function<T>::drop(Slot slot) {
    std::get<KernelModel<T>>(model).drop(slot);
    if (!keeps.births) return;
    born.edit(slot) = born.back();
    born.pop_back();
}
template <class T>
void Function<T>::merge(Slot p, Slot q, double h, double a, double b) {
    std::get<KernelModel<T>>(model).merge(p, q, h, a, b);
    drop(p);
}
template <class T>
void Function<T>::project(Slot p, std::span<const double> d) {
    std::get<KernelModel<T>>(model).project(p, d);
    drop(p);
}
template <class T>
std::span<const T> Function<T>::kernel_row(Slot slot) {
    return std::get<KernelModel<T>>(model).kernel_row(slot);
}
template <class T>
void Function<T>::products(std::optional<Slot> j, std::vector<double>& out) const {
    out.assign(size(), 0.0);
    for (std::size_t r = 0; r < outputs(); ++r) {
        const double* v = std::get<KernelModel<T>>(model).coefficients(r * parts);
        const double a2 = of[r].a * of[r].a, fixed = j ? v[*j] : 0.0;
        for (std::size_t i = 0; i < out.size(); ++i) out[i] += a2 * v[i] * (j ? fixed : v[i]);
    }
}
template <class T>
void Function<T>::copy(std::size_t from, std::size_t to, double factor) {
    for (std::size_t part = 0; part < parts; ++part)
        copy_part(from * parts + part, to * parts + part, factor);
    of.edit(to) = of[from];
}
template <class T>
void Function<T>::blend(std::size_t to, double keep, std::size_t from, double share) {
    copy_part(to, to, keep * of[to].a);
    of.edit(to).a = 1.0;
    std::visit([&](auto& m) { m.blend(from, to, share * of[from].a); }, model);
}
template <class T>
void Function<T>::append(const Function& other, std::int64_t shift) {
    std::visit(
        [&](auto& m) {
            m.append(std::get<std::remove_reference_t<decltype(m)>>(other.model), shift);
        },
        model);
    of.insert(of.end(), other.of.begin(), other.of.end());
    resize(of.size());
}
template <class T>
std::vector<double> Function<T>::gram() const {
    std::vector<double> G = std::visit([](const auto& m) { return m.gram(); }, model);
    for (std::size_t i = 0; i < G.size(); ++i) G[i] *= of[i / outputs()].a * of[i % outputs()].a;
    return G;
}
template <class T>
void Function<T>::score_many(std::span<const Row<T>> xs, double* out) const {
    if (!keeps.mean) {
        std::visit([&](const auto& m) { m.score_many(xs, out); }, model);
        for (std::size_t i = 0; i < xs.size(); ++i)
            for (const Output& o : of) *out = o.a * *out + o.bias, ++out;
        return;
    }
    std::vector<double> values(xs.size() * outputs() * parts);
    std::visit([&](const auto& m) { m.score_many(xs, values.data()); }, model);
    for (std::size_t i = 0; i < xs.size() * outputs(); ++i)
        out[i] = predicted(i % outputs(), &values[i * parts], 1);
}
template <class T>
Weights Function<T>::weights() const {
    const auto* m = std::get_if<LinearModel<T>>(&model);
    if (!m) throw std::logic_error("this model has no weights");
    Weights all = m->weights(), out{all.width, {}, {}};
    for (std::size_t r = 0; r < outputs(); ++r) {
        out.intercept.push_back(predicted(r, &all.intercept[r * parts], 1) + of[r].bias);
        for (std::size_t i = 0; i < all.width; ++i)
            out.coef.push_back(predicted(r, &all.coef[r * parts * all.width + i], all.width));
    }
    return out;
}
template <class T>
Support<T> Function<T>::support() const {
    const auto* m = std::get_if<KernelModel<T>>(&model);
    if (!m) throw std::logic_error("this model has no support vectors");
    Support<T> out = m->support();
    const std::size_t n = out.ids.size();
    const std::vector<double> all = std::exchange(out.coef, {});
    for (std::size_t r = 0; r < outputs(); ++r)
        for (std::size_t i = 0; i < n; ++i)
            out.coef.push_back(predicted(r, &all[r * parts * n + i], n));
    return out;
}
template <class T>
std::size_t Function<T>::nbytes() const {
    return std::visit([](const auto& m) { return m.nbytes(); }, model) +
           of.capacity() * sizeof(Output) + born.nbytes();
}
template <class T>
std::size_t Function<T>::footprint() const {
    const auto* m = std::get_if<KernelModel<T>>(&model);
    return (m ? m->footprint() : nbytes()) + 4 * (born.size() + kFew) * sizeof(born[0]) +
           2 * outputs() * sizeof(Output);
}
template <class T>
template <class A>
void Function<T>::state(A& archive) {
    std::visit([&](auto& m) { archive("model", m); }, model);
    archive("outputs", of);
    archive("rounds", rounds);
    archive("born", born);
    if constexpr (A::loading) {
        const std::size_t held = std::visit([](const auto& m) { return m.outputs(); }, model);
        demand(held == outputs() * parts && born.size() == (keeps.births ? size() : 0),
               "the function does not fit its outputs or its rounds");
        resize(outputs());
    }
}
template <class T>
void Function<T>::fold(std::size_t r) {
    Output& o = of.edit(r);
    if (keeps.mean) std::visit([&](auto& m) { m.blend(2 * r, 2 * r + 1, o.b); }, model);
    copy_part(r * parts, r * parts, o.a);
    o.a = 1.0;
    o.b = 0.0;
}
template <class T>
void Function<T>::copy_part(std::size_t from, std::size_t to, double factor) {
    std::visit([&](auto& m) { m.copy(from, to, factor); }, model);
}
template <class T>
Function<T>::Function(const Function&) = default;
template <class T>
Function<T>::Function(Function&&) noexcept = default;
template <class T>
Function<T>& Function<T>::operator=(const Function&) = default;
template <class T>
Function<T>& Function<T>::operator=(Function&&) noexcept = default;
template <class T>
Function<T>::~Function() = default;

template class Function<float>;
template void Function<float>::state(Save&);
template void Function<float>::state(Load&);
template void Function<float>::state(Measure&);
template void Function<float>::state(CountWords&);
template void Function<float>::state(WriteWords&);
template void Function<float>::state(ReadWords<Trust::whole>&);
template void Function<float>::state(ReadWords<Trust::none>&);
template class Function<double>;
template void Function<double>::state(Save&);
template void Function<double>::state(Load&);
template void Function<double>::state(Measure&);
template void Function<double>::state(CountWords&);
template void Function<double>::state(WriteWords&);
template void Function<double>::state(ReadWords<Trust::whole>&);
template void Function<double>::state(ReadWords<Trust::none>&);
template class Before<Function<float>>;
template class Before<Function<double>>;

}  // namespace onlinesvm
