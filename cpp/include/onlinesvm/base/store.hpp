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

#include "onlinesvm/base/aligned.hpp"
#include "onlinesvm/base/archive.hpp"
#include "onlinesvm/base/checked.hpp"
#include "onlinesvm/base/gram_row.hpp"
#include "onlinesvm/base/interrupt.hpp"
#include "onlinesvm/base/isa.hpp"
#include "onlinesvm/base/kernel.hpp"
#include "onlinesvm/base/places.hpp"
#include "onlinesvm/base/row.hpp"
#include "onlinesvm/base/slot.hpp"
#include "onlinesvm/base/undo.hpp"

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

    void make_room(std::size_t n) {  // for so many in all, at once: growing holds two copies
        blocks_.reserve(round_up(n, L) * width_);
        norms_.reserve(round_up(n, L));
    }
    void push(Row<T> x) {
        if (size_ % L == 0) {
            grow(blocks_, (size_ / L + 1) * width_ * L);
            grow(norms_, (size_ / L + 1) * L);
        }
        ++size_;
        put(Slot(size_ - 1), x.values);
    }
    void pop() {  // nothing of it stays in memory
        --size_;
        for (std::size_t f = 0; f < width_; ++f) at(Slot(size_), f) = 0;
        norms_[size_] = 0;
    }
    void put(Slot slot, const T* x) {
        for (std::size_t f = 0; f < width_; ++f) at(slot, f) = x[f];
        isa::table<T>().norms(&x, 1, width_, &norms_[slot]);
    }
    void get(Slot slot, T* out) const {
        for (std::size_t f = 0; f < width_; ++f) out[f] = at(slot, f);
    }
    void swap(Slot a, Slot b) {
        for (std::size_t f = 0; f < width_; ++f) std::swap(at(a, f), at(b, f));
        std::swap(norms_[a], norms_[b]);
    }
    std::size_t nbytes() const { return (blocks_.capacity() + norms_.capacity()) * sizeof(T); }
    std::size_t footprint() const { return grown(round_up(size_, L) * (width_ + 1) * sizeof(T)); }
    double bytes_each() const { return double(grown((width_ + 1) * sizeof(T))); }

    // out[q][slot] for slots [first, last); whole blocks may be written: rows need padded_size()
    // room. With the squared norms of short queries, rbf comes from dot products where the stored
    // examples are short too.
    void rows(const Kernel& kernel, std::span<const T* const> queries, std::size_t first,
              std::size_t last, T* const* out, const T* query_norms = nullptr) const {
        if (first >= last) return;
        if (kernel.shape == Shape::function) return call(kernel, queries, first, last, out);
        if (kernel.shape == Shape::precomputed) return look_up(kernel, queries, first, last, out);
        auto shape = shape_for<T>(kernel);
        const auto from_dots = [&](std::size_t b) {
            const T* block = norms_.data() + b * L;
            return query_norms && *std::max_element(block, block + L) < longest(kernel);
        };
        // A run of blocks stays in the L2 cache while every query passes it.
        const std::size_t run =
            std::max<std::size_t>(kRunBytes / (sizeof(T) * L * (width_ + 1)) / 4, 1) * 4;
        const std::size_t end = (last + L - 1) / L;
        for (std::size_t b = first / L, next; b < end; b = next) {
            const bool dots = from_dots(b);
            for (next = b + 1; next < std::min(b + run, end) && from_dots(next) == dots;) ++next;
            poll((next - b) * L * queries.size() * (width_ + 1));
            shape.form = dots ? isa::Form::rbf_dot : form_of(kernel.shape);
            isa::table<T>().rows(shape, blocks_.data(), norms_.data(), width_, b, next,
                                 queries.data(), query_norms, queries.size(), out);
        }
    }

    // Below this squared norm, dot products give rbf values within about 3e-6 in floats; with few
    // features, differences cost no more.
    T longest(const Kernel& kernel) const {
        return kernel.shape == Shape::rbf && width_ >= 32 ? T(8.0 / kernel.gamma) : T(0);
    }

  private:
    static constexpr std::size_t kRunBytes = std::size_t(1) << 20;

    T& at(Slot slot, std::size_t f) { return blocks_[(slot / L * width_ + f) * L + slot % L]; }
    const T& at(Slot slot, std::size_t f) const {
        return blocks_[(slot / L * width_ + f) * L + slot % L];
    }

    // A user's own kernel sees plain row-major doubles.
    void call(const Kernel& kernel, std::span<const T* const> queries, std::size_t first,
              std::size_t last, T* const* out) const {
        const std::size_t n = last - first;
        std::vector<double> rows(n * width_), query(width_), values(n);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t f = 0; f < width_; ++f) rows[i * width_ + f] = at(Slot(first + i), f);
        for (std::size_t q = 0; q < queries.size(); ++q) {
            std::copy_n(queries[q], width_, query.begin());
            kernel.function(query.data(), rows.data(), n, width_, values.data());
            for (std::size_t i = 0; i < n; ++i) {
                out[q][first + i] = T(values[i] + kernel.offset);
                if (!std::isfinite(out[q][first + i]))
                    throw std::invalid_argument(
                        "kernel: a value of the callable is too large for dtype; scale it down");
            }
        }
    }

    // Of two examples the row of the later number is read, whichever is the query: the same bits both
    // ways where the caller's matrix is symmetric but for rounding, and no value with the future.
    void look_up(const Kernel& kernel, std::span<const T* const> queries, std::size_t first,
                 std::size_t last, T* const* out) const {
        const T offset = T(kernel.offset);
        for (std::size_t q = 0; q < queries.size(); ++q) {
            const GramRow<T> x(queries[q]);
            poll(last - first);
            for (std::size_t b = first / L; b * L < last; ++b) {
                const T* const numbers = blocks_.data() + b * width_ * L;
                const T* const theirs =
                    x.is_of_an_example()
                        ? numbers + (GramRow<T>::head + std::size_t(x.number())) * L
                        : numbers;
                for (std::size_t j = std::max(first, b * L); j < std::min(last, (b + 1) * L); ++j) {
                    const T number = numbers[j - b * L];
                    const bool later = x.is_of_an_example() && number > x.number();
                    out[q][j] = (later ? theirs[j - b * L] : x.with(number)) + offset;
                }
            }
        }
    }

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
    void push(Row<T> x, std::vector<Entry> entries = {}) {
        entries.clear();
        entries.reserve(x.size);
        make_room(rows_);
        for (std::size_t i = 0; i < x.size; ++i) {
            std::uint32_t at = places_.find(x.indices[i]);
            if (at == Places::kNone) {
                places_.make_room();
                features_.emplace_back().number = x.indices[i];
                at = places_.put(x.indices[i]);
            }
            make_room(features_[at].list);
            entries.push_back({at, 0});
        }
        terms_ += x.size;
        for (std::size_t i = 0; i < x.size; ++i) {
            Feature& feature = features_[entries[i].feature];
            used_ += feature.list.empty();
            entries[i].place = std::uint32_t(feature.list.size());
            feature.push({std::uint32_t(rows_.size()), std::uint32_t(i), x.values[i]});
        }
        rows_.push_back({std::move(entries), Sums::of(x)});
        width_ = std::max(width_, x.width);
    }
    void pop() {
        for (const Entry& e : rows_.back().entries) {
            Feature& feature = features_[e.feature];
            feature.put(rows_.size() - 1, 0);
            auto& list = feature.list;
            list[e.place] = list.back();  // swap-remove; tell the moved posting's owner
            rows_[list[e.place].slot].entries[list[e.place].entry].place = e.place;
            list.pop_back();
            used_ -= list.empty();
        }
        terms_ -= rows_.back().entries.size();
        rows_.pop_back();
    }
    // Features that no example has any more go once they are the most: an endless stream brings ever
    // new ones. Without memory for that, they stay.
    void tidy() noexcept {
        if (features_.size() <= 2 * used_ + kFew) return;
        try {
            forget_unused();
        } catch (const std::bad_alloc&) {
        }
    }
    void swap(Slot a, Slot b) {
        for (Slot slot : {a, b})
            for (const Entry& e : rows_[slot].entries) features_[e.feature].put(slot, 0);
        std::swap(rows_[a], rows_[b]);
        for (Slot slot : {a, b})
            for (const Entry& e : rows_[slot].entries) {
                Posting& posting = features_[e.feature].list[e.place];
                posting.slot = std::uint32_t(slot);
                features_[e.feature].put(slot, posting.value);
            }
    }
    void get(Slot slot, std::vector<T>& values, std::vector<std::int32_t>& indices) const {
        values.clear();
        indices.clear();
        for (const Entry& e : rows_[slot].entries) {
            values.push_back(features_[e.feature].list[e.place].value);
            indices.push_back(features_[e.feature].number);
        }
    }
    std::size_t nbytes() const {
        std::size_t n = features_.capacity() * sizeof(Feature) + rows_.capacity() * sizeof(Example);
        for (const Feature& f : features_)
            n += f.list.capacity() * sizeof(Posting) + f.column.capacity() * sizeof(T);
        for (const auto& row : rows_) n += row.entries.capacity() * sizeof(Entry);
        return n + places_.nbytes();
    }
    // Lists double, columns hold a value again, and half of the features may be unused.
    std::size_t footprint() const {
        return 2 * rows_.size() * sizeof(Example) +
               terms_ * 2 * (sizeof(Posting) + sizeof(Entry) + sizeof(T)) +
               4 * (used_ + kFew) * (sizeof(Feature) + 2 * sizeof(Posting));
    }
    double bytes_each() const {
        return double(footprint()) / double(std::max<std::size_t>(kFew, size()));
    }

    void row(const Kernel& kernel, Row<T> q, std::size_t first, std::size_t last, T* out) const {
        if (first >= last) return;
        poll((last - first) * (q.size + 1));
        const Sums mine = Sums::of(q);
        const auto each = [&](auto term) { add_terms(q, first, last, out, term); };
        std::fill(out + first, out + last, T(0));
        auto shape = shape_for<T>(kernel);
        switch (kernel.shape) {
            case Shape::linear:
            case Shape::poly:
                each([](T q, T x) { return q * x; });
                break;
            case Shape::rbf:  // |q - x|^2 = |q|^2 + |x|^2 - 2 q.x
                each([](T q, T x) { return q * x; });
                for (Slot j(first); j < last; ++j)
                    out[j] = (mine.squares + rows_[j].sums.squares) - (out[j] + out[j]);
                break;
            case Shape::laplacian:  // common features correct |q|_1 + |x|_1
                each([](T q, T x) { return std::abs(q - x) - (std::abs(q) + std::abs(x)); });
                for (Slot j(first); j < last; ++j) out[j] += mine.sizes + rows_[j].sums.sizes;
                break;
            case Shape::chi2:  // (q-x)^2/(q+x) = q + x - 4qx/(q+x)
                each([](T q, T x) { return q + x == 0 ? T(0) : T(-4) * q * x / (q + x); });
                for (Slot j(first); j < last; ++j) out[j] += mine.sizes + rows_[j].sums.sizes;
                break;
            case Shape::function:
            case Shape::precomputed:
                throw std::invalid_argument(
                    "kernel: a callable or 'precomputed' needs dense rows; densify X");
        }
        isa::table<T>().finish(shape, out + first, last - first);
    }

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
    void forget_unused() {
        Places places;
        std::vector<std::uint32_t> now(features_.size(), Places::kNone);
        for (std::size_t i = 0; i < features_.size(); ++i)
            if (!features_[i].list.empty())
                places.make_room(), now[i] = places.put(features_[i].number);
        std::vector<Feature> kept;
        kept.reserve(2 * used_);
        for (Feature& feature : features_)  // from here on nothing fails
            if (!feature.list.empty()) kept.push_back(std::move(feature));
        for (Example& row : rows_)
            for (Entry& e : row.entries) e.feature = now[e.feature];
        features_.swap(kept);
        places_ = std::move(places);
    }
    template <class V>
    static void make_room(std::vector<V>& list) {  // for one more
        if (list.size() == list.capacity()) list.reserve(std::max<std::size_t>(2, 2 * list.size()));
    }

    static constexpr std::size_t kFew = 64;

    std::size_t width_ = 0, terms_ = 0, used_ = 0;  // values stored; features that have any
    Places places_;                                 // of the features in features_
    std::vector<Feature> features_;
    std::vector<Example> rows_;
};

// Rows that several stores have in common (base/library.hpp): each is kept once, under a number.
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
    void pop() {
        all_->release(numbers_.back());
        numbers_.pop_back();
    }
    void swap(Slot a, Slot b) { numbers_.swap(a, b); }
    void get(Slot slot, OwnedRow<T>& out) const { all_->get(numbers_[slot], out); }
    void rows(std::span<const Row<T>> xs, std::size_t first, std::size_t last,
              T* const* out) const {
        std::vector<T*> from(xs.size());
        for (std::size_t q = 0; q < xs.size(); ++q) from[q] = out[q] + first;
        if (first < last) all_->rows(xs, {numbers_.data() + first, last - first}, from.data());
    }

    void mark() noexcept { numbers_.mark(); }
    void commit() noexcept { numbers_.commit(); }
    void revert() noexcept { numbers_.revert(); }

    template <class A>
    void state(A& a) {
        std::vector<std::int64_t> numbers(numbers_.begin(), numbers_.end());
        a("numbers", numbers);
        if constexpr (A::loading)
            for (std::int64_t number : numbers) {
                demand(std::in_range<Number>(number) && all_->claim(Number(number)),
                       "an example is not among those that are shared");
                numbers_.push_back(Number(number));
            }
    }

  private:
    SharedRows<T>* all_;
    PlainLedger<Number> numbers_;  // by slot
};

// One of the three: the first example settles which, unless the rows are shared.
template <class T>
class Store {
  public:
    explicit Store(Kernel kernel = {}) : kernel_(std::move(kernel)) {
        if (!std::isfinite(T(kernel_.gamma)) || !std::isfinite(T(kernel_.coef0)))
            throw std::invalid_argument("gamma, coef0: too large for dtype; scale the features");
    }
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
    std::size_t nbytes() const {
        return std::visit([](const auto& e) { return e.nbytes(); }, examples_);
    }

    // What nbytes is at most for the examples held, however they came and went; and for one such.
    std::size_t footprint() const {
        return std::visit([](const auto& e) { return e.footprint(); }, examples_);
    }
    double bytes_each() const {
        return std::visit([](const auto& e) { return e.bytes_each(); }, examples_);
    }

    void push(Row<T> x) {
        demand_same_form(x);
        require(!precomputed() || GramRow<T>(x.values).is_of_an_example(),
                "ids: a row of kernel values needs a number to be stored");
        if (auto* e = shared()) return e->push(x);
        if (traced_) origin_.reserve(std::max(size() + 1, 2 * origin_.size()));
        if (size() == 0) take_the_form_of(x);
        std::visit([&](auto& e) { e.push(x); }, examples_);
        if (traced_) origin_.push_back(kNew);
    }
    void pop() {
        if (auto* e = shared()) return e->pop();
        if (trace() && origin_.back() != kNew) removed_.push_back(last());
        drop();
        if (traced_) origin_.pop_back();
    }
    void swap(Slot a, Slot b) {
        if (a == b) return;
        if (auto* e = shared()) return e->swap(a, b);
        if (listing() && swaps_.size() < kFew + was_.size / 16)
            swaps_.push_back({a, b});
        else if (trace())
            std::swap(origin_[a], origin_[b]);
        exchange(a, b);
    }

    // ---- taking back: the first swaps; where each example was at the mark, once they are many or one
    // goes; and those that went ----

    void mark() noexcept {
        commit();
        if (auto* e = shared()) return e->mark();
        marked_ = true;
        was_ = {sparse(), size(), width()};
    }
    void commit() noexcept {
        if (auto* e = shared()) return e->commit();
        marked_ = traced_ = false;
        swaps_.clear();
        origin_.clear();
        removed_.clear();
        emptied_.reset();
        if (auto* e = std::get_if<SparseStore<T>>(&examples_)) e->tidy();
    }
    void revert() noexcept {
        if (auto* e = shared()) return e->revert();
        if (was_.size == 0)
            examples_ = DenseStore<T>(was_.width);
        else if (emptied_)
            examples_ = std::move(*emptied_), origin_.clear();
        if (was_.size == 0 && was_.sparse) examples_ = SparseStore<T>();
        for (; !swaps_.empty(); swaps_.pop_back())
            exchange(swaps_.back().first, swaps_.back().second);
        for (Slot j(size()); j-- > 0;) {
            if (traced_ ? origin_[j] != kNew : j < was_.size) continue;
            exchange(j, Slot(size() - 1));
            drop();
            if (!traced_) continue;
            origin_[j] = origin_.back();
            origin_.pop_back();
        }
        for (Removed& gone : removed_) put_back(gone);
        for (Slot j{}; j < origin_.size() && was_.size > 0; ++j)
            while (origin_[j] != j) {
                const Slot home(origin_[j]);
                exchange(j, home);
                std::swap(origin_[j], origin_[home]);
            }
        if (auto* e = std::get_if<SparseStore<T>>(&examples_)) e->set_width(was_.width);
        commit();
    }

    // A stored example as a row of its own; the scratch keeps it alive.
    using Scratch = OwnedRow<T>;
    Row<T> get(Slot slot, Scratch& scratch) const {
        if (const auto* e = shared()) {
            e->get(slot, scratch);
            return scratch.row();
        }
        scratch.sparse = sparse();
        scratch.width = width();
        if (const auto* e = std::get_if<SparseStore<T>>(&examples_)) {
            e->get(slot, scratch.values, scratch.indices);
        } else {
            scratch.values.resize(scratch.width);
            std::get<DenseStore<T>>(examples_).get(slot, scratch.values.data());
        }
        return scratch.row();
    }

    // out[slot] = k(x, slot) for slots [first, last); out needs padded_size() room.
    void row(Row<T> x, std::size_t first, std::size_t last, T* out) const {
        rows(std::span(&x, 1), first, last, &out);
    }

    // Several queries at once: the same bits, fewer trips to memory. Queries that are all short
    // may bring their squared norms, for the faster dot-product form of rbf: other last bits.
    void rows(std::span<const Row<T>> xs, std::size_t first, std::size_t last, T* const* out,
              const T* query_norms = nullptr) const {
        for (const Row<T>& x : xs) demand_same_form(x);
        if (const auto* e = shared()) return e->rows(xs, first, last, out);
        if (const auto* e = std::get_if<SparseStore<T>>(&examples_)) {
            for (std::size_t q = 0; q < xs.size(); ++q) e->row(kernel_, xs[q], first, last, out[q]);
            return;
        }
        std::vector<const T*> queries(xs.size());
        for (std::size_t q = 0; q < xs.size(); ++q) queries[q] = xs[q].values;
        std::get<DenseStore<T>>(examples_).rows(kernel_, queries, first, last, out, query_norms);
    }

    // With an example whose own kernel value is no number, no other value would be one either:
    // |k(x, z)|^2 <= k(x, x) k(z, z).
    void demand_own_value(Row<T> x) const {
        constexpr T most = std::numeric_limits<T>::max() / 4;  // room for |x - z|^2
        if (precomputed()) GramRow<T>::demand_sound(x);
        T own = precomputed() ? T(0) : length2(x);
        if (precomputed() && GramRow<T>(x.values).is_of_an_example()) own = std::abs(T(self(x)));
        if (kernel_.shape == Shape::poly && own <= most)
            own = std::pow(T(kernel_.gamma) * own + T(kernel_.coef0), T(kernel_.degree));
        if (kernel_.shape != Shape::function && !(own <= most))
            throw std::invalid_argument(
                "X: a row's kernel value with itself is too large for dtype; scale the features");
    }

    // k(x, x), with the bits that row() gives for equal examples.
    double self(Row<T> x) const {
        if (kernel_.shape == Shape::rbf || kernel_.shape == Shape::laplacian ||
            kernel_.shape == Shape::chi2)
            return double(T(1) + T(kernel_.offset));
        if (precomputed()) {
            const GramRow<T> own(x.values);
            if (!own.is_of_an_example())
                throw std::logic_error("kernel: k(x, x) of a row to score is not known");
            return double(own.with(own.number()) + T(kernel_.offset));
        }
        if (x.sparse()) {
            SparseStore<T> one;
            one.push(x);
            T value;
            one.row(kernel_, x, 0, 1, &value);
            return value;
        }
        DenseStore<T> one(x.width);
        one.push(x);
        T value[isa::lanes<T>];
        T* out = value;
        one.rows(kernel_, std::span(&x.values, 1), 0, 1, &out);
        return value[0];
    }

    // The squared norms of queries, where they can be of use.
    std::vector<T> norms(std::span<const Row<T>> xs) const {
        std::vector<T> out(xs.size());
        if (sparse() || !is_short(0)) return out;
        std::vector<const T*> queries;
        for (const Row<T>& x : xs) queries.push_back(x.values);
        isa::table<T>().norms(queries.data(), queries.size(), width(), out.data());
        return out;
    }
    bool is_short(T squared_norm) const {
        const auto* e = std::get_if<DenseStore<T>>(&examples_);
        return e && squared_norm < e->longest(kernel_);
    }

    template <class A>
    void state(A& a);

    void demand_same_form(const Row<T>& x) const {
        if (size() > 0 && x.sparse() != sparse())
            throw std::invalid_argument(sparse()
                                            ? "X: this model holds sparse rows; pass X as CSR"
                                            : "X: this model holds dense rows; pass X as an array");
        if (!precomputed()) return;
        GramRow<T>::demand_sound(x);
        require(size() == 0 || x.width == width(),
                "X: another number of kernel values than before");
    }

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

    void take_the_form_of(Row<T> x) {
        if (x.sparse() == sparse() && (x.sparse() || x.width == width())) {
            if (auto* e = std::get_if<SparseStore<T>>(&examples_)) e->set_width(0);
            return;
        }
        if (marked_ && was_.size > 0 && !emptied_) emptied_ = std::move(examples_);
        if (x.sparse())
            examples_ = SparseStore<T>();
        else
            examples_ = DenseStore<T>(x.width);
    }
    void drop() {
        std::visit([](auto& e) { e.pop(); }, examples_);
    }
    void exchange(Slot a, Slot b) {
        if (a != b) std::visit([&](auto& e) { e.swap(a, b); }, examples_);
    }
    // From now on the places of those that were there at the mark are followed.
    bool trace() {
        if (!listing()) return traced_;
        origin_.assign(size(), kNew);
        std::iota(origin_.begin(), origin_.begin() + std::ptrdiff_t(was_.size), std::uint32_t(0));
        for (const auto& [a, b] : swaps_) std::swap(origin_[a], origin_[b]);
        swaps_.clear();
        return traced_ = true;
    }
    bool listing() const { return marked_ && was_.size > 0 && !traced_; }
    Removed last() const {
        Removed gone{origin_.back(), {}, {}};
        const Row<T> x = get(Slot(size() - 1), gone.x);
        if (x.sparse()) gone.entries.reserve(x.size);
        return gone;
    }
    void put_back(Removed& gone) noexcept {
        if (auto* e = std::get_if<SparseStore<T>>(&examples_))
            e->push(gone.x.row(), std::move(gone.entries));
        else
            std::get<DenseStore<T>>(examples_).push(gone.x.row());
        origin_.push_back(gone.origin);
    }

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

// Saved as row-major values (dense) or CSR (sparse), in slot order.
template <class T>
template <class A>
void Store<T>::state(A& a) {
    if (auto* e = shared()) return e->state(a);
    std::int64_t kind = sparse();
    std::size_t n = size(), d = width();
    if constexpr (A::loading) {
        a("kind", kind), a("size", n), a("width", d);
        demand(d <= a.features(), "the stored examples are wider than the model");
        read(kind != 0, n, d, a.template array<T>("values"),
             a.template array<std::int32_t>("indices"), a.template array<std::int64_t>("starts"));
    } else {
        std::vector<T> values;
        std::vector<std::int32_t> indices;
        std::vector<std::int64_t> starts{0};
        Scratch scratch;
        for (Slot j{}; j < n; ++j) {
            const Row<T> x = get(j, scratch);
            values.insert(values.end(), x.values, x.values + x.size);
            if (!kind) continue;
            indices.insert(indices.end(), x.indices, x.indices + x.size);
            starts.push_back(std::int64_t(values.size()));
        }
        a("kind", kind), a("size", n), a("width", d);
        a("values", values), a("indices", indices), a("starts", starts);
    }
}

template <class T>
void Store<T>::read(bool sparsely, std::size_t n, std::size_t d, std::span<const T> values,
                    std::span<const std::int32_t> indices, std::span<const std::int64_t> starts) {
    if (!sparsely) {
        demand((d > 0 || n == 0) && indices.empty() && values.size() == checked_mul(n, d),
               "the stored examples do not fit their size");
        examples_ = DenseStore<T>(d);
        std::get<DenseStore<T>>(examples_).make_room(n);  // the values are there: no false count
        for (Slot j{}; j < n; ++j) {
            const Row<T> x(values.data() + j * d, d);
            demand_own_value(x);
            push(x);
        }
        return;
    }
    demand(starts.size() == checked_add(n, 1) && indices.size() == values.size() &&
               starts.front() == 0 && std::size_t(starts.back()) == values.size() &&
               std::is_sorted(starts.begin(), starts.end()),
           "the stored examples do not fit their size");
    examples_ = SparseStore<T>();
    for (Slot j{}; j < n; ++j) {
        const std::size_t from = std::size_t(starts[j]), size = std::size_t(starts[j + 1]) - from;
        const Row<T> x(values.data() + from, indices.data() + from, size, d);
        demand(is_sound(x, d), "feature numbers are out of order or range");
        demand_own_value(x);
        push(x);
    }
}

}  // namespace onlinesvm
