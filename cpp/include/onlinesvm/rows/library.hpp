// The rows of several models, each kept once: by class on a shelf of its own, so that a model of two
// classes finds its kernel values on two of them, and by number, which is what its store knows of it.
//
// A row stays while any model has it. On each shelf those that support something come first, as of the
// last tidy(): what predicts looks at these.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "onlinesvm/memory/undo.hpp"
#include "onlinesvm/rows/store.hpp"

namespace onlinesvm {

template <class T>
class Library final : public SharedRows<T> {
  public:
    using Number = typename SharedRows<T>::Number;
    static constexpr Number kNone = Number(-1);

    Library(const Kernel& kernel, std::size_t cache_bytes)
        : kernel_(kernel), look_ahead_(cache_bytes / 4) {}
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    // ---- who is there ----

    std::size_t classes() const { return shelves_.size(); }
    std::size_t size() const { return books_.size() - free_.size(); }
    std::size_t size(std::size_t shelf) const { return shelves_[shelf]->rows.size(); }
    const Store<T>& rows_of(std::size_t shelf) const { return shelves_[shelf]->rows; }
    std::size_t shelf(Number n) const { return books_[n].shelf; }
    Slot slot(Number n) const { return Slot(books_[n].slot); }
    Number number(std::size_t shelf, Slot j) const { return shelves_[shelf]->numbers[j]; }
    Id id(Number n) const { return books_[n].id; }
    double weight(Number n) const { return books_[n].weight; }
    void reweigh(Number n, double weight) { books_.edit(n).weight = weight; }
    std::vector<Number> by_age(std::size_t shelf) const;

    void grow(std::size_t classes);

    // ---- an example comes ----

    // Rows that are about to come: their kernel values with all rows, in one trip.
    void expect(std::span<const Row<T>> xs);
    void turn(std::size_t i) { turn_ = Number(i); }

    // The one that models learn just now. It is put on its shelf when the first of them claims it.
    class Guest {
      public:
        Guest(Library& library, Row<T> x, std::size_t shelf, double weight, Id id,
              Number number = kNone)
            : library_(library) {
            for (const auto& each : library.shelves_) each->rows.demand_same_form(x);
            library.welcome(x);
            library.guest_ = {x, shelf, weight, id, number};
        }
        ~Guest() { library_.guest_ = {}; }
        Guest(const Guest&) = delete;
        Guest& operator=(const Guest&) = delete;

      private:
        Library& library_;
    };

    // ---- SharedRows ----

    Number claim(Row<T> x) override;
    bool claim(Number n) override;
    void release(Number n) override;
    bool sparse() const override;
    std::size_t width() const override;
    std::size_t footprint() const override;
    double bytes_each() const override;
    void get(Number n, OwnedRow<T>& out) const override;
    void rows(std::span<const Row<T>> xs, std::span<const Number> which,
              T* const* out) const override;

    // ---- order on the shelves ----

    // Those that no model has any more go.
    void sweep();
    // supports(number): whether it counts for some model.
    template <class Supports>
    void tidy(Supports supports) {
        for (auto& s : shelves_) {
            Slot first{};
            for (Slot j{}; j < s->rows.size(); ++j)
                if (supports(s->numbers[j])) swap(*s, first, j), ++first;
        }
        coming_.clear();
    }

    void mark() noexcept;
    void commit() noexcept;
    void revert() noexcept;

    std::size_t nbytes() const;

    template <class A>
    void state(A& a);
    // After the models: what is here belongs to one of them.
    void demand_read() const;

  private:
    struct Shelf {
        explicit Shelf(const Kernel& kernel) : rows(kernel) {}
        Store<T> rows;
        PlainLedger<Number> numbers;  // by slot
    };
    struct Book {
        Number shelf = kNone, slot = 0;
        std::int32_t readers = 0;  // models that have it
        Id id = kNoId;
        double weight = 0;
        std::int64_t age = 0;  // how many came before it
    };
    struct Arriving {
        Row<T> x;
        std::size_t shelf = 0;
        double weight = 0;
        Id id = kNoId;
        Number number = kNone;
    };
    struct Values {
        Aligned<T> row;
        std::size_t known = 0;
    };
    struct Coming {
        Row<T> x;
        std::vector<Values> values;  // by shelf
    };

    Number put(const Arriving& guest);
    void remove(Number n);
    void swap(Shelf& s, Slot a, Slot b);

    // ---- kernel values ----

    // The values of the guest are computed once for all models, as far as they were not expected.
    void welcome(Row<T> x);
    bool is_guest(const Row<T>& x) const;
    T of_guest(Number n) const;
    // Where most of a shelf is wanted, all of it is cheaper than one by one.
    void compute(std::span<const Row<T>> xs, std::span<const Number> which,
                 std::span<T* const> out) const;

    void restore(const std::vector<Id>& ids, const std::vector<double>& weights,
                 const std::vector<std::int64_t>& ages, const std::vector<std::int64_t>& numbers,
                 const std::vector<std::int64_t>& free);
    template <class V>
    static bool all_different(std::vector<V> values) {
        std::sort(values.begin(), values.end());
        return std::adjacent_find(values.begin(), values.end()) == values.end();
    }

    static constexpr std::size_t kDear = 4;  // how much one value by itself costs, in a row of them

    Kernel kernel_;
    std::size_t look_ahead_;  // bytes
    std::vector<std::unique_ptr<Shelf>> shelves_;
    PlainLedger<Book> books_;   // by number
    PlainLedger<Number> free_;  // numbers of those that went
    std::int64_t arrived_ = 0, arrived_before_ = 0;
    std::size_t was_ = 0;       // shelves at the mark
    std::vector<Number> idle_;  // may have lost their last reader
    std::vector<Coming> coming_;
    Number turn_ = kNone;
    Arriving guest_;
    mutable std::vector<Values> values_;  // of the guest, by shelf; no reader asks for them
};

}  // namespace onlinesvm
