// Functions f_r(x) = sum_i s_ri k(x_i, x), moved by adding examples with their coefficients.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "onlinesvm/base/linear_model.hpp"
#include "onlinesvm/base/score.hpp"
#include "onlinesvm/base/store.hpp"
#include "onlinesvm/base/support.hpp"

namespace onlinesvm {

// The same verbs as LinearModel, for any kernel. All outputs share the stored examples and each
// kernel row; an example once stored stays until it is dropped.
template <class T>
class KernelModel {
  public:
    explicit KernelModel(const Kernel& kernel) : store(kernel) {}

    std::size_t outputs() const { return s.size(); }
    std::size_t size() const { return store.size(); }

    // New outputs start at zero.
    void resize(std::size_t outputs) { s.resize(outputs, PlainLedger<double>(store.size())); }

    // Kernel rows of the next examples, all in one trip through the store.
    void expect(std::span<const Row<T>> xs) {
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
    // The next to be read is the i-th of those expected. Each is the next one once.
    void turn(std::size_t i) { turn_ = i; }

    // The scores of the example about to be learned, of every `every`-th output: put(number, score).
    template <class Put>
    void read(const Row<T>& x, std::size_t every, Put&& put) {
        store.demand_own_value(x);
        const Row<T> query = as_stored(x, scratch);
        const std::size_t turn = std::exchange(turn_, kNobody);
        row = turn < coming ? complete(query, expected[turn]) : fresh(query);
        newest = store.size();
        for (std::size_t i = 0, r = 0; r < outputs(); ++i, r += every)
            put(i, isa::table<T>().dot(row, s[r].data(), store.size()));
    }
    // k(x_i, x_slot) of every stored i; of the example read last, if it was stored, it is at hand.
    std::span<const T> kernel_row(Slot slot) {
        const Row<T> x = store.get(slot, scratch);
        if (std::exchange(newest, kNobody) != slot)
            row = fresh(x);
        else
            row[slot] = static_cast<T>(store.self(x));
        return {row, store.size()};
    }

    void score(const Row<T>& x, double* out) const { score_many({&x, 1}, out); }

    void score_many(std::span<const Row<T>> xs, double* out) const {
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

    double norm2(const Row<T>& x) const {
        store.demand_own_value(x);
        return store.self(x);
    }

    // Of an example that is stored already, as in a later pass, there is more.
    void add(const Row<T>& x, Id id, std::span<const Change> changes) {
        const Slot slot = find(id);
        slot < size() ? amend(slot, changes) : push(x, id, changes);
    }
    void push(const Row<T>& x, Id id, std::span<const Change> changes) {
        store.push(as_stored(x, scratch));
        ids.push_back(id);
        largest = std::max(largest, id);
        for (auto& row : s) row.push_back(0.0);
        for (const Change& change : changes) s[change.output].edit(store.size() - 1) = change.step;
    }

    const std::vector<Id>& stored() const { return ids; }

    // The slot of the example with this id; size() if it is not stored. Streams number upwards.
    Slot find(Id id) const {
        if (id > largest) return Slot(size());
        return Slot(std::find(ids.begin(), ids.end(), id) - ids.begin());
    }

    // Forgets the example in this slot; the last one takes its place.
    void drop(Slot slot) {
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
    // x_q <- h x_p + (1 - h) x_q, with the coefficients a s_p + b s_q.
    void merge(Slot p, Slot q, double h, double a, double b) {
        store.push(mix(p, q, h));
        store.swap(q, Slot(store.size() - 1));
        store.pop();
        ids.edit(q) = kNoId;  // no example of the stream
        for (auto& row : s) row.edit(q) = a * row[p] + b * row[q];
        note_change(q);
    }
    // s_i += d_i s_p
    void project(Slot p, std::span<const double> d) {
        for (auto& row : s) {
            const double share = row[p];
            const std::span<double> all = row.edit();
            for (std::size_t i = 0; i < all.size(); ++i) all[i] += share * d[i];
        }
    }
    const double* coefficients(std::size_t output) const { return s[output].data(); }

    // The scores of x as they grew: visit(i, f) after each stored example, in slot order.
    template <class Visit>
    void replay(const Row<T>& x, Visit&& visit) const {
        typename Store<T>::Scratch form;
        Aligned<T> values(store.padded_size());
        if (store.size() > 0) store.row(as_stored(x, form), 0, store.size(), values.data());
        std::vector<double> f(outputs());
        for (std::size_t i = 0; i < store.size(); ++i) {
            for (std::size_t r = 0; r < outputs(); ++r)
                f[r] += s[r][i] * static_cast<double>(values[i]);
            visit(i, std::span<const double>(f));
        }
    }

    // More of an example that is stored already.
    void amend(Slot slot, std::span<const Change> changes) {
        for (const Change& change : changes) s[change.output].edit(slot) += change.step;
    }

    // f_to = factor f_from
    void copy(std::size_t from, std::size_t to, double factor) {
        for (std::size_t i = 0; i < store.size(); ++i) s[to].edit(i) = factor * s[from][i];
    }

    // f_to += factor f_from
    void blend(std::size_t from, std::size_t to, double factor) {
        for (std::size_t i = 0; i < store.size(); ++i) s[to].edit(i) += factor * s[from][i];
    }

    // The outputs of another model follow those of this one; its ids go up by `shift`.
    void append(const KernelModel& other, std::int64_t shift) {
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

    // Inner products of the outputs as functions, row-major; one kernel row per example.
    std::vector<double> gram() const {
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

    Support<T> support() const {
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

    std::size_t nbytes() const {
        std::size_t bytes = store.nbytes() + ids.capacity() * sizeof(ids[0]);
        for (const auto& row : s) bytes += row.capacity() * sizeof(double);
        for (const auto& row : expected) bytes += row.capacity() * sizeof(T);
        return bytes;
    }

    // What nbytes is at most for the examples stored, whatever came and went, and in which blocks.
    std::size_t footprint() const {
        const std::size_t n = size(), ahead = n + learn_block + 2 * isa::lanes<T>;
        return store.footprint() + 2 * n * (sizeof(Id) + outputs() * sizeof(double)) +
               learn_block * grown(ahead) * sizeof(T);
    }

    auto undoable() { return std::tie(store, ids, s); }
    void mark() noexcept {}
    void commit() noexcept {}
    void revert() noexcept { coming = 0, newest = kNobody; }

    template <class A>
    void state(A& a) {
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

  private:
    static constexpr std::size_t kNobody = std::size_t(-1);

    Store<T> store;
    PlainLedger<Id> ids;
    Id largest = kNoId;                  // of the ids ever stored
    std::vector<PlainLedger<double>> s;  // outputs x examples
    // Look-ahead: the kernel rows of the examples announced over the first `known` slots.
    std::vector<Aligned<T>> expected;
    std::size_t coming = 0, turn_ = kNobody, known = 0;
    std::vector<std::size_t> stale;  // blocks of the store where one is another since
    T* row = nullptr;                // of the example read last
    std::size_t newest = kNobody;
    Aligned<T> own;
    typename Store<T>::Scratch scratch, mixed;

    bool alike(std::span<const Row<T>> xs) const {
        return std::all_of(xs.begin(), xs.end(),
                           [&](const Row<T>& x) { return x.sparse() == store.sparse(); });
    }

    // A dense example for a sparse store and the other way round; the scratch keeps it alive.
    Row<T> as_stored(const Row<T>& x, typename Store<T>::Scratch& form) const {
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

    void note_change(Slot slot) {
        known = std::min(known, store.size());
        newest = kNobody;
        if (store.sparse()) coming = 0;  // to find one of its examples costs as much as all
        const std::size_t block = slot / isa::lanes<T> * isa::lanes<T>;
        if (coming > 0 && std::find(stale.begin(), stale.end(), block) == stale.end())
            stale.push_back(block);
    }
    Row<T> mix(Slot p, Slot q, double h) {
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
            const bool left =
                j == old.indices.size() || (i < x.size && x.indices[i] <= old.indices[j]);
            const bool right =
                i == x.size || (j < old.indices.size() && old.indices[j] <= x.indices[i]);
            z.indices.push_back(left ? x.indices[i] : old.indices[j]);
            z.values.push_back(at(left ? x.values[i] : T(0), right ? old.values[j] : T(0)));
            i += left, j += right;
        }
        return z.row();
    }

    // The slots that an announced row does not know come in whole blocks.
    T* complete(const Row<T>& x, Aligned<T>& row) const {
        if (row.size() < store.padded_size() + 1) row.resize(store.padded_size() + isa::lanes<T>);
        for (std::size_t block : stale)
            if (block < known)
                store.row(x, block, std::min(block + isa::lanes<T>, known), row.data());
        store.row(x, known, store.size(), row.data());
        return row.data();
    }
    T* fresh(const Row<T>& x) {
        if (own.size() < store.padded_size() + 1)
            own.resize(2 * store.padded_size() + isa::lanes<T>);
        store.row(x, 0, store.size(), own.data());
        return own.data();
    }
};

}  // namespace onlinesvm
