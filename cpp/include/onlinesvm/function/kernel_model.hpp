// Functions f_r(x) = sum_i s_ri k(x_i, x), moved by adding examples with their coefficients.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "onlinesvm/function/linear_model.hpp"
#include "onlinesvm/function/score.hpp"
#include "onlinesvm/rows/store.hpp"
#include "onlinesvm/rows/support.hpp"

namespace onlinesvm {

// The same verbs as LinearModel, for any kernel. All outputs share the stored examples and each
// kernel row; an example once stored stays until it is dropped.
template <class T>
class KernelModel {
  public:
    explicit KernelModel(const Kernel& kernel) : store(kernel) {}
    KernelModel(const KernelModel&);
    KernelModel(KernelModel&&) noexcept;
    KernelModel& operator=(const KernelModel&);
    KernelModel& operator=(KernelModel&&) noexcept;
    ~KernelModel();

    std::size_t outputs() const { return s.size(); }
    std::size_t size() const { return store.size(); }

    // New outputs start at zero.
    void resize(std::size_t outputs) { s.resize(outputs, PlainLedger<double>(store.size())); }

    // Kernel rows of the next examples, all in one trip through the store.
    void expect(std::span<const Row<T>> xs);
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
    std::span<const T> kernel_row(Slot slot);

    void score(const Row<T>& x, double* out) const { score_many({&x, 1}, out); }

    void score_many(std::span<const Row<T>> xs, double* out) const;

    double norm2(const Row<T>& x) const;

    // Of an example that is stored already, as in a later pass, there is more.
    void add(const Row<T>& x, Id id, std::span<const Change> changes);
    void push(const Row<T>& x, Id id, std::span<const Change> changes);

    const std::vector<Id>& stored() const { return ids; }

    // The slot of the example with this id; size() if it is not stored. Streams number upwards.
    Slot find(Id id) const;

    // Forgets the example in this slot; the last one takes its place.
    void drop(Slot slot);
    // x_q <- h x_p + (1 - h) x_q, with the coefficients a s_p + b s_q.
    void merge(Slot p, Slot q, double h, double a, double b);
    // s_i += d_i s_p
    void project(Slot p, std::span<const double> d);
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
    void amend(Slot slot, std::span<const Change> changes);

    // f_to = factor f_from
    void copy(std::size_t from, std::size_t to, double factor);

    // f_to += factor f_from
    void blend(std::size_t from, std::size_t to, double factor);

    // The outputs of another model follow those of this one; its ids go up by `shift`.
    void append(const KernelModel& other, std::int64_t shift);

    // Inner products of the outputs as functions, row-major; one kernel row per example.
    std::vector<double> gram() const;

    Support<T> support() const;

    std::size_t nbytes() const;

    // What nbytes is at most for the examples stored, whatever came and went, and in which blocks.
    std::size_t footprint() const;

    auto undoable() { return std::tie(store, ids, s); }
    void mark() noexcept {}
    void commit() noexcept {}
    void revert() noexcept { coming = 0, newest = kNobody; }

    template <class A>
    void state(A& a);

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

    bool alike(std::span<const Row<T>> xs) const;

    // A dense example for a sparse store and the other way round; the scratch keeps it alive.
    Row<T> as_stored(const Row<T>& x, typename Store<T>::Scratch& form) const;

    void note_change(Slot slot);
    Row<T> mix(Slot p, Slot q, double h);

    // The slots that an announced row does not know come in whole blocks.
    T* complete(const Row<T>& x, Aligned<T>& row) const;
    T* fresh(const Row<T>& x);
};

}  // namespace onlinesvm
