// The examples a learner holds, and kernel values against them.
//
// Dense examples lie in blocks of one cache line: 16 floats (8 doubles) of one feature, then of the
// next, so that a kernel row is a few streams of full-width loads with no horizontal sum. Sparse
// examples lie in an inverted index: one list of (slot, value) per feature, so that a kernel row
// costs the postings of the query's features and not a walk over every example; a feature that most
// examples have lies in a column by slot besides. Slots are 0 .. size()-1; swap and pop keep them
// dense.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "onlinesvm/loops/interrupt.hpp"
#include "onlinesvm/loops/isa.hpp"
#include "onlinesvm/memory/aligned.hpp"
#include "onlinesvm/memory/slot.hpp"
#include "onlinesvm/memory/undo.hpp"
#include "onlinesvm/rows/gram_row.hpp"
#include "onlinesvm/rows/kernel.hpp"
#include "onlinesvm/rows/places.hpp"
#include "onlinesvm/rows/row.hpp"
#include "onlinesvm/state/archive.hpp"
#include "onlinesvm/state/checked.hpp"

namespace onlinesvm {

inline isa::Form form_of(Shape shape) {
    switch (shape) {
        case Shape::linear:
            return isa::Form::linear;
        case Shape::rbf:
            return isa::Form::rbf;
        case Shape::poly:
            return isa::Form::poly;
        case Shape::laplacian:
            return isa::Form::laplacian;
        case Shape::chi2:
            return isa::Form::chi2;
        case Shape::function:
        case Shape::precomputed:
            break;
    }
    throw std::logic_error("kernel: its values are no sums over features");
}

template <class T>
isa::Shape<T> shape_for(const Kernel& k) {
    return {form_of(k.shape), static_cast<int>(k.degree), static_cast<T>(k.gamma),
            static_cast<T>(k.coef0), static_cast<T>(k.offset)};
}

// |x|^2 in eight partial sums.
template <class T>
T length2(Row<T> x) {
    T sum[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= x.size; i += 8)
        for (std::size_t j = 0; j < 8; ++j) sum[j] += x.values[i + j] * x.values[i + j];
    for (; i < x.size; ++i) sum[0] += x.values[i] * x.values[i];
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

template <class T>
class DenseStore {
  public:
    static constexpr std::size_t L = isa::lanes<T>;

    explicit DenseStore(std::size_t width = 0) : width_(width) {}

    std::size_t size() const { return size_; }
    std::size_t width() const { return width_; }

    // for so many in all, at once: growing holds two copies
    void make_room(std::size_t n);
    void push(Row<T> x);
    // nothing of it stays in memory
    void pop();
    void put(Slot slot, const T* x);
    void get(Slot slot, T* out) const;
    void swap(Slot a, Slot b);
    std::size_t nbytes() const { return (blocks_.capacity() + norms_.capacity()) * sizeof(T); }
    std::size_t footprint() const { return grown(round_up(size_, L) * (width_ + 1) * sizeof(T)); }
    double bytes_each() const { return double(grown((width_ + 1) * sizeof(T))); }

    // out[q][slot] for slots [first, last); whole blocks may be written: rows need padded_size()
    // room. With the squared norms of short queries, rbf comes from dot products where the stored
    // examples are short too.
    void rows(const Kernel& kernel, std::span<const T* const> queries, std::size_t first,
              std::size_t last, T* const* out, const T* query_norms = nullptr) const;

    // Below this squared norm, dot products give rbf values within about 3e-6 in floats; with few
    // features, differences cost no more.
    T longest(const Kernel& kernel) const;

  private:
    static constexpr std::size_t kRunBytes = std::size_t(1) << 20;

    T& at(Slot slot, std::size_t f) { return blocks_[(slot / L * width_ + f) * L + slot % L]; }
    const T& at(Slot slot, std::size_t f) const;

    // A user's own kernel sees plain row-major doubles.
    void call(const Kernel& kernel, std::span<const T* const> queries, std::size_t first,
              std::size_t last, T* const* out) const;

    // Of two examples the row of the later number is read, whichever is the query: the same bits both
    // ways where the caller's matrix is symmetric but for rounding, and no value with the future.
    void look_up(const Kernel& kernel, std::span<const T* const> queries, std::size_t first,
                 std::size_t last, T* const* out) const;

    std::size_t width_, size_ = 0;
    Aligned<T> blocks_;
    Aligned<T> norms_;
};

template <class T>
class SparseStore {
  public:
    std::size_t size() const { return rows_.size(); }
    std::size_t width() const { return width_; }

    struct Entry {
        std::uint32_t feature;  // its place in features_
        std::uint32_t place;    // in the feature's list
    };

    // `entries` is memory for as many: with it, and where as much was stored before, nothing fails.
    void push(Row<T> x, std::vector<Entry> entries = {});
    void pop();
    // Features that no example has any more go once they are the most: an endless stream brings ever
    // new ones. Without memory for that, they stay.
    void tidy() noexcept;
    void swap(Slot a, Slot b);
    void get(Slot slot, std::vector<T>& values, std::vector<std::int32_t>& indices) const;
    std::size_t nbytes() const;
    // Lists double, columns hold a value again, and half of the features may be unused.
    std::size_t footprint() const;
    double bytes_each() const;

    void row(const Kernel& kernel, Row<T> q, std::size_t first, std::size_t last, T* out) const;

    void set_width(std::size_t width) { width_ = width; }

  private:
    // out[slot] += term(q_f, x_f) for the features f that both have.
    template <class Term>
    void add_terms(Row<T> q, std::size_t first, std::size_t last, T* out, Term term) const {
        for (std::size_t i = 0; i < q.size; ++i) {
            const std::uint32_t at = places_.find(q.indices[i]);
            if (at == Places::kNone) continue;
            const T v = q.values[i];
            const Feature& feature = features_[at];
            const std::size_t end = std::min(last, feature.column.size());
            if (!feature.column.empty())  // a zero adds nothing: the bits are those of the list
                for (Slot j(first); j < end; ++j) out[j] += term(v, feature.column[j]);
            else
                for (const Posting& p : feature.list)
                    if (p.slot >= first && p.slot < last) out[p.slot] += term(v, p.value);
        }
    }

    struct Posting {
        std::uint32_t slot, entry;
        T value;
    };
    // The values of a feature: a list, and a column by slot while most examples have it. Behind its
    // end, and where an example does not have the feature, a column is 0. A column only saves time:
    // without memory for it, the list serves.
    struct Feature {
        std::int32_t number = 0;
        std::vector<Posting> list;
        std::vector<T> column;

        void push(Posting p) {
            list.push_back(p);
            if (column.empty() && list.size() >= 16 && list.size() > p.slot / 2 && reach(p.slot))
                for (const Posting& each : list) column[each.slot] = each.value;
            else if (list.size() < p.slot / 8)
                column = {};
            else
                put(p.slot, p.value);
        }
        void put(std::size_t slot, T value) noexcept {
            if (slot < column.size() || (!column.empty() && value != 0 && reach(slot)))
                column[slot] = value;
        }

      private:
        bool reach(std::size_t slot) noexcept {
            try {
                column.resize(slot + 1);
                return true;
            } catch (const std::bad_alloc&) {
                column = {};
                return false;
            }
        }
    };
    struct Sums {
        T squares = 0, sizes = 0;
        static Sums of(Row<T> x) {
            Sums s;
            for (std::size_t i = 0; i < x.size; ++i) {
                s.squares += x.values[i] * x.values[i];
                s.sizes += std::abs(x.values[i]);
            }
            return s;
        }
    };
    struct Example {
        std::vector<Entry> entries;
        Sums sums;
    };
    void forget_unused();
    template <class V>
    // for one more
    static void make_room(std::vector<V>& list) {
        if (list.size() == list.capacity()) list.reserve(std::max<std::size_t>(2, 2 * list.size()));
    }

    static constexpr std::size_t kFew = 64;

    std::size_t width_ = 0, terms_ = 0, used_ = 0;  // values stored; features that have any
    Places places_;                                 // of the features in features_
    std::vector<Feature> features_;
    std::vector<Example> rows_;
};

// Rows that several stores have in common (rows/library.hpp): each is kept once, under a number.
template <class T>
class SharedRows {
  public:
    using Number = std::uint32_t;

    virtual Number claim(Row<T> x) = 0;  // one more store has it
    virtual bool claim(Number row) = 0;  // false: there is no such row
    virtual void release(Number row) = 0;
    virtual bool sparse() const = 0;
    virtual std::size_t width() const = 0;
    virtual std::size_t footprint() const = 0;
    virtual double bytes_each() const = 0;
    virtual void get(Number row, OwnedRow<T>& out) const = 0;
    // out[q][i] = k(xs[q], row which[i])
    virtual void rows(std::span<const Row<T>> xs, std::span<const Number> which,
                      T* const* out) const = 0;

  protected:
    ~SharedRows() = default;
};

// Some of them, in slots of its own.
template <class T>
class SharedStore {
  public:
    using Number = typename SharedRows<T>::Number;
    explicit SharedStore(SharedRows<T>& all) : all_(&all) {}

    std::size_t size() const { return numbers_.size(); }
    bool sparse() const { return all_->sparse(); }
    std::size_t width() const { return all_->width(); }
    std::size_t nbytes() const { return numbers_.nbytes(); }
    std::size_t footprint() const { return 2 * size() * sizeof(Number) + all_->footprint(); }
    double bytes_each() const { return 2 * sizeof(Number) + all_->bytes_each(); }
    Number number(Slot slot) const { return numbers_[slot]; }

    void push(Row<T> x) { numbers_.push_back(all_->claim(x)); }
    void pop();
    void swap(Slot a, Slot b) { numbers_.swap(a, b); }
    void get(Slot slot, OwnedRow<T>& out) const { all_->get(numbers_[slot], out); }
    void rows(std::span<const Row<T>> xs, std::size_t first, std::size_t last, T* const* out) const;

    void mark() noexcept { numbers_.mark(); }
    void commit() noexcept { numbers_.commit(); }
    void revert() noexcept { numbers_.revert(); }

    template <class A>
    void state(A& a);

  private:
    SharedRows<T>* all_;
    PlainLedger<Number> numbers_;  // by slot
};

// One of the three: the first example settles which, unless the rows are shared.
template <class T>
class Store {
  public:
    explicit Store(Kernel kernel = {});
    Store(const Store&);
    Store(Store&&) noexcept;
    Store& operator=(const Store&);
    Store& operator=(Store&&) noexcept;
    ~Store();
    // While it is empty: its rows are to lie among these, which outlive it.
    void share(SharedRows<T>& all) { examples_ = SharedStore<T>(all); }

    const Kernel& kernel() const { return kernel_; }
    bool sparse() const {
        return shared() ? shared()->sparse() : std::holds_alternative<SparseStore<T>>(examples_);
    }
    const SharedStore<T>* shared() const { return std::get_if<SharedStore<T>>(&examples_); }
    std::size_t size() const {
        return std::visit([](const auto& e) { return e.size(); }, examples_);
    }
    std::size_t padded_size() const { return round_up(size(), isa::lanes<T>); }
    std::size_t width() const {
        return std::visit([](const auto& e) { return e.width(); }, examples_);
    }
    std::size_t nbytes() const;

    // What nbytes is at most for the examples held, however they came and went; and for one such.
    std::size_t footprint() const;
    double bytes_each() const;

    void push(Row<T> x);
    void pop();
    void swap(Slot a, Slot b);

    // ---- taking back: the first swaps; where each example was at the mark, once they are many or one
    // goes; and those that went ----

    void mark() noexcept;
    void commit() noexcept;
    void revert() noexcept;

    // A stored example as a row of its own; the scratch keeps it alive.
    using Scratch = OwnedRow<T>;
    Row<T> get(Slot slot, Scratch& scratch) const;

    // out[slot] = k(x, slot) for slots [first, last); out needs padded_size() room.
    void row(Row<T> x, std::size_t first, std::size_t last, T* out) const;

    // Several queries at once: the same bits, fewer trips to memory. Queries that are all short
    // may bring their squared norms, for the faster dot-product form of rbf: other last bits.
    void rows(std::span<const Row<T>> xs, std::size_t first, std::size_t last, T* const* out,
              const T* query_norms = nullptr) const;

    // With an example whose own kernel value is no number, no other value would be one either:
    // |k(x, z)|^2 <= k(x, x) k(z, z).
    void demand_own_value(Row<T> x) const;

    // k(x, x), with the bits that row() gives for equal examples.
    double self(Row<T> x) const;

    // The squared norms of queries, where they can be of use.
    std::vector<T> norms(std::span<const Row<T>> xs) const;
    bool is_short(T squared_norm) const;

    template <class A>
    void state(A& a);

    void demand_same_form(const Row<T>& x) const;

  private:
    bool precomputed() const { return kernel_.shape == Shape::precomputed; }
    SharedStore<T>* shared() { return std::get_if<SharedStore<T>>(&examples_); }
    void read(bool sparsely, std::size_t n, std::size_t d, std::span<const T> values,
              std::span<const std::int32_t> indices, std::span<const std::int64_t> starts);

    using Examples = std::variant<DenseStore<T>, SparseStore<T>, SharedStore<T>>;
    static constexpr std::uint32_t kNew = std::uint32_t(-1);
    struct Removed {
        std::uint32_t origin;
        Scratch x;
        std::vector<typename SparseStore<T>::Entry>
            entries;  // memory to put it back without asking
    };

    void take_the_form_of(Row<T> x);
    void drop();
    void exchange(Slot a, Slot b);
    // From now on the places of those that were there at the mark are followed.
    bool trace();
    bool listing() const { return marked_ && was_.size > 0 && !traced_; }
    Removed last() const;
    void put_back(Removed& gone) noexcept;

    Kernel kernel_;
    Examples examples_;
    struct {
        bool sparse = false;
        std::size_t size = 0, width = 0;
    } was_;
    static constexpr std::size_t kFew = 8;
    bool marked_ = false, traced_ = false;
    std::vector<std::pair<Slot, Slot>> swaps_;
    std::vector<std::uint32_t> origin_;  // by slot
    std::vector<Removed> removed_;
    std::optional<Examples> emptied_;  // all were removed, and the next example had another form
};

}  // namespace onlinesvm
