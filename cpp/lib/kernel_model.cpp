// What a KernelModel does, for either type of values.
#include "onlinesvm/function/kernel_model.hpp"

#include "onlinesvm/bank/record.hpp"

namespace onlinesvm {

template <class T>
void KernelModel<T>::expect(std::span<const Row<T>> xs) {
    coming = 0;
    turn_ = kNobody;
    stale.clear();
    if (xs.empty() || store.size() == 0 || !alike(xs)) return;
    expected.resize(std::max(expected.size(), xs.size()));
    std::vector<T*> out;
    for (std::size_t i = 0; i < xs.size(); ++i) {
        grow(expected[i], round_up(store.size() + xs.size(), isa::lanes<T>));
        out.push_back(expected[i].data());
    }
    known = store.size();
    store.rows(xs, 0, known, out.data());
    coming = xs.size();
}
template <class T>
std::span<const T> KernelModel<T>::kernel_row(Slot slot) {
    const Row<T> x = store.get(slot, scratch);
    if (std::exchange(newest, kNobody) != slot)
        row = fresh(x);
    else
        row[slot] = static_cast<T>(store.self(x));
    return {row, store.size()};
}
template <class T>
void KernelModel<T>::score_many(std::span<const Row<T>> xs, double* out) const {
    std::vector<const double*> coefficients;
    for (const auto& row : s) coefficients.push_back(row.data());
    if (store.size() == 0 || alike(xs))
        return onlinesvm::score<T>(store, store.size(), coefficients, xs, out);
    typename Store<T>::Scratch form;
    for (std::size_t i = 0; i < xs.size(); ++i) {
        const Row<T> x = as_stored(xs[i], form);
        onlinesvm::score<T>(store, store.size(), coefficients, {&x, 1}, out + i * outputs());
    }
}
template <class T>
double KernelModel<T>::norm2(const Row<T>& x) const {
    store.demand_own_value(x);
    return store.self(x);
}
template <class T>
void KernelModel<T>::add(const Row<T>& x, Id id, std::span<const Change> changes) {
    const Slot slot = find(id);
    slot < size() ? amend(slot, changes) : push(x, id, changes);
}
template <class T>
void KernelModel<T>::push(const Row<T>& x, Id id, std::span<const Change> changes) {
    store.push(as_stored(x, scratch));
    ids.push_back(id);
    largest = std::max(largest, id);
    for (auto& row : s) row.push_back(0.0);
    for (const Change& change : changes) s[change.output].edit(store.size() - 1) = change.step;
}
template <class T>
Slot KernelModel<T>::find(Id id) const {
    if (id > largest) return Slot(size());
    return Slot(std::find(ids.begin(), ids.end(), id) - ids.begin());
}
template <class T>
void KernelModel<T>::drop(Slot slot) {
    const Slot last(store.size() - 1);
    store.swap(slot, last);
    store.pop();
    ids.edit(slot) = ids[last];
    ids.pop_back();
    for (auto& row : s) {
        row.edit(slot) = row[last];
        row.pop_back();
    }
    note_change(slot);
}
template <class T>
void KernelModel<T>::merge(Slot p, Slot q, double h, double a, double b) {
    store.push(mix(p, q, h));
    store.swap(q, Slot(store.size() - 1));
    store.pop();
    ids.edit(q) = kNoId;  // no example of the stream
    for (auto& row : s) row.edit(q) = a * row[p] + b * row[q];
    note_change(q);
}
template <class T>
void KernelModel<T>::project(Slot p, std::span<const double> d) {
    for (auto& row : s) {
        const double share = row[p];
        const std::span<double> all = row.edit();
        for (std::size_t i = 0; i < all.size(); ++i) all[i] += share * d[i];
    }
}
template <class T>
void KernelModel<T>::amend(Slot slot, std::span<const Change> changes) {
    for (const Change& change : changes) s[change.output].edit(slot) += change.step;
}
template <class T>
void KernelModel<T>::copy(std::size_t from, std::size_t to, double factor) {
    for (std::size_t i = 0; i < store.size(); ++i) s[to].edit(i) = factor * s[from][i];
}
template <class T>
void KernelModel<T>::blend(std::size_t from, std::size_t to, double factor) {
    for (std::size_t i = 0; i < store.size(); ++i) s[to].edit(i) += factor * s[from][i];
}
template <class T>
void KernelModel<T>::append(const KernelModel& other, std::int64_t shift) {
    const std::size_t mine = store.size();
    typename Store<T>::Scratch form;
    for (Slot j{}; j < other.store.size(); ++j) {
        store.push(as_stored(other.store.get(j, form), scratch));
        ids.push_back(Id(std::int64_t(other.ids[j]) + shift));
        largest = std::max(largest, ids.back());
    }
    for (auto& row : s) row.resize(store.size());
    for (const auto& row : other.s) {
        s.emplace_back(mine);
        s.back().insert(s.back().end(), row.begin(), row.end());
    }
}
template <class T>
std::vector<double> KernelModel<T>::gram() const {
    const std::size_t n = outputs();
    std::vector<double> out(n * n), f(n);
    typename Store<T>::Scratch form;
    for (Slot a{}; a < store.size(); ++a) {
        score(store.get(a, form), f.data());
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) out[i * n + j] += s[i][a] * f[j];
    }
    return out;
}
template <class T>
Support<T> KernelModel<T>::support() const {
    Support<T> out;
    out.ids = ids;
    out.width = store.width();
    for (const auto& row : s) out.coef.insert(out.coef.end(), row.begin(), row.end());
    if (store.sparse()) out.indptr.push_back(0);
    typename Store<T>::Scratch form;
    for (Slot j{}; j < store.size(); ++j) {
        const Row<T> x = store.get(j, form);
        out.values.insert(out.values.end(), x.values, x.values + x.size);
        if (!x.sparse()) continue;
        out.indices.insert(out.indices.end(), x.indices, x.indices + x.size);
        out.indptr.push_back(static_cast<std::int64_t>(out.values.size()));
    }
    return out;
}
template <class T>
std::size_t KernelModel<T>::nbytes() const {
    std::size_t bytes = store.nbytes() + ids.capacity() * sizeof(ids[0]);
    for (const auto& row : s) bytes += row.capacity() * sizeof(double);
    for (const auto& row : expected) bytes += row.capacity() * sizeof(T);
    return bytes;
}
template <class T>
std::size_t KernelModel<T>::footprint() const {
    const std::size_t n = size(), ahead = n + learn_block + 2 * isa::lanes<T>;
    return store.footprint() + 2 * n * (sizeof(Id) + outputs() * sizeof(double)) +
           learn_block * grown(ahead) * sizeof(T);
}
template <class T>
template <class A>
void KernelModel<T>::state(A& a) {
    std::size_t rows = outputs();
    std::vector<double> coef;
    for (const auto& row : s) coef.insert(coef.end(), row.begin(), row.end());
    a("examples", store);
    a("ids", any(ids));  // merged examples have none
    a("outputs", rows);
    a("coef", coef);
    if constexpr (A::loading) {
        const std::size_t n = store.size();
        demand(ids.size() == n && rows == outputs() && coef.size() == checked_mul(rows, n),
               "the coefficients do not fit the examples");
        demand(std::all_of(ids.begin(), ids.end(), [](Id id) { return id >= kNoId; }),
               "an id is negative");
        largest = ids.empty() ? kNoId : *std::max_element(ids.begin(), ids.end());
        s.clear();
        for (std::size_t r = 0; r < rows; ++r)
            s.emplace_back(coef.begin() + r * n, coef.begin() + (r + 1) * n);
    }
}
template <class T>
bool KernelModel<T>::alike(std::span<const Row<T>> xs) const {
    return std::all_of(xs.begin(), xs.end(),
                       [&](const Row<T>& x) { return x.sparse() == store.sparse(); });
}
template <class T>
Row<T> KernelModel<T>::as_stored(const Row<T>& x, typename Store<T>::Scratch& form) const {
    if (store.size() == 0 || x.sparse() == store.sparse()) return x;
    form = {};
    form.sparse = store.sparse();
    form.width = form.sparse ? x.width : store.width();
    if (!form.sparse) form.values.assign(form.width, T(0));
    for (std::size_t i = 0; i < x.size; ++i) {
        if (form.sparse && x.values[i] != T(0)) {
            form.values.push_back(x.values[i]);
            form.indices.push_back(static_cast<std::int32_t>(i));
        } else if (!form.sparse && static_cast<std::size_t>(x.indices[i]) < form.width) {
            form.values[x.indices[i]] = x.values[i];
        }
    }
    return form.row();
}
template <class T>
void KernelModel<T>::note_change(Slot slot) {
    known = std::min(known, store.size());
    newest = kNobody;
    if (store.sparse()) coming = 0;  // to find one of its examples costs as much as all
    const std::size_t block = slot / isa::lanes<T> * isa::lanes<T>;
    if (coming > 0 && std::find(stale.begin(), stale.end(), block) == stale.end())
        stale.push_back(block);
}
template <class T>
Row<T> KernelModel<T>::mix(Slot p, Slot q, double h) {
    const Row<T> x = store.get(p, scratch);
    typename Store<T>::Scratch& z = mixed;
    store.get(q, z);
    const auto at = [&](T x, T z) { return static_cast<T>(h * x + (1.0 - h) * z); };
    if (!z.sparse) {
        for (std::size_t i = 0; i < x.size; ++i) z.values[i] = at(x.values[i], z.values[i]);
        return z.row();
    }
    const typename Store<T>::Scratch old = std::exchange(z, {});
    z.sparse = true, z.width = old.width;
    for (std::size_t i = 0, j = 0; i < x.size || j < old.indices.size();) {
        const bool left = j == old.indices.size() || (i < x.size && x.indices[i] <= old.indices[j]);
        const bool right =
            i == x.size || (j < old.indices.size() && old.indices[j] <= x.indices[i]);
        z.indices.push_back(left ? x.indices[i] : old.indices[j]);
        z.values.push_back(at(left ? x.values[i] : T(0), right ? old.values[j] : T(0)));
        i += left, j += right;
    }
    return z.row();
}
template <class T>
T* KernelModel<T>::complete(const Row<T>& x, Aligned<T>& row) const {
    if (row.size() < store.padded_size() + 1) row.resize(store.padded_size() + isa::lanes<T>);
    for (std::size_t block : stale)
        if (block < known) store.row(x, block, std::min(block + isa::lanes<T>, known), row.data());
    store.row(x, known, store.size(), row.data());
    return row.data();
}
template <class T>
T* KernelModel<T>::fresh(const Row<T>& x) {
    if (own.size() < store.padded_size() + 1) own.resize(2 * store.padded_size() + isa::lanes<T>);
    store.row(x, 0, store.size(), own.data());
    return own.data();
}

template <class T>
KernelModel<T>::KernelModel(const KernelModel&) = default;
template <class T>
KernelModel<T>::KernelModel(KernelModel&&) noexcept = default;
template <class T>
KernelModel<T>& KernelModel<T>::operator=(const KernelModel&) = default;
template <class T>
KernelModel<T>& KernelModel<T>::operator=(KernelModel&&) noexcept = default;
template <class T>
KernelModel<T>::~KernelModel() = default;

template class KernelModel<float>;
template void KernelModel<float>::state(Save&);
template void KernelModel<float>::state(Load&);
template void KernelModel<float>::state(Measure&);
template void KernelModel<float>::state(CountWords&);
template void KernelModel<float>::state(WriteWords&);
template void KernelModel<float>::state(ReadWords<Trust::whole>&);
template void KernelModel<float>::state(ReadWords<Trust::none>&);
template class KernelModel<double>;
template void KernelModel<double>::state(Save&);
template void KernelModel<double>::state(Load&);
template void KernelModel<double>::state(Measure&);
template void KernelModel<double>::state(CountWords&);
template void KernelModel<double>::state(WriteWords&);
template void KernelModel<double>::state(ReadWords<Trust::whole>&);
template void KernelModel<double>::state(ReadWords<Trust::none>&);

}  // namespace onlinesvm
