// Thousands to millions of small models, one for each key, in one block of memory.
//
// A model of a bank is a record (record.hpp): what it would save, as words in a row. To learn, a record
// is read into a seat, an ordinary model, which takes the very steps that it would take alone, and is
// written back. So a bank has nothing of any method in it, and its models are those of a loop over
// single ones, bit for bit, because saving, loading and going on is. A call brings the rows of each
// key together, so that a record is read and written once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "onlinesvm/bank/keys.hpp"
#include "onlinesvm/bank/record.hpp"
#include "onlinesvm/base/aligned.hpp"
#include "onlinesvm/base/checked.hpp"
#include "onlinesvm/base/interrupt.hpp"
#include "onlinesvm/base/row.hpp"
#include "onlinesvm/base/threads.hpp"

namespace onlinesvm {

// Rows by slot: those of one slot side by side, in their order.
class BySlot {
  public:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    BySlot(std::span<const std::uint32_t> slots, std::size_t n_slots) : rows_(slots.size()) {
        require(slots.size() < kNone, "X: too many rows for one call; cut it");
        if (n_slots / 16 > slots.size())
            sort(slots);
        else
            count(slots, n_slots);
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (i == 0 || slots[rows_[i]] != slots[rows_[i - 1]]) starts_.push_back(i);
        starts_.push_back(rows_.size());
    }

    std::size_t size() const { return starts_.size() - 1; }
    std::span<const std::uint32_t> operator[](std::size_t group) const {
        return std::span(rows_).subspan(starts_[group], starts_[group + 1] - starts_[group]);
    }

  private:
    std::vector<std::uint32_t> rows_;
    std::vector<std::size_t> starts_;

    void count(std::span<const std::uint32_t> slots, std::size_t n_slots) {
        std::vector<std::uint32_t> next(n_slots + 2);  // the last place is for those without a slot
        const auto place = [&](std::uint32_t slot) { return std::min<std::size_t>(slot, n_slots); };
        for (const std::uint32_t slot : slots) ++next[place(slot) + 1];
        for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
        for (std::size_t i = 0; i < slots.size(); ++i)
            rows_[next[place(slots[i])]++] = std::uint32_t(i);
    }
    void sort(std::span<const std::uint32_t> slots) {  // few rows for many slots
        std::vector<std::uint64_t> pairs;
        pairs.reserve(slots.size());
        for (std::size_t i = 0; i < slots.size(); ++i)
            pairs.push_back(std::uint64_t(slots[i]) << 32 | i);
        std::sort(pairs.begin(), pairs.end());
        std::transform(pairs.begin(), pairs.end(), rows_.begin(),
                       [](std::uint64_t pair) { return std::uint32_t(pair); });
    }
};

template <Bankable Algo, class T>
class Bank {
  public:
    using Params = typename Algo::Params;

    static bool can_hold(const Params& params) { return Algo(params).flat(); }

    Bank(const Params& params, std::size_t width, std::size_t classes)
        : width_(width), newborn_(params), shape_(params) {
        require(can_hold(params), "params: models of changing size, which a bank cannot hold");
        newborn_.grow(classes);
        shape_.grow(classes);
        const std::vector<T> ones(width, T(1));
        shape_.learn(Row<T>(ones.data(), width), 0.0, 1.0, Id(0));  // any example will do
        body_ = words_of_state(shape_);
        unborn_ = words_of_state(newborn_);
    }

    std::size_t size() const { return keys_.size(); }
    std::size_t width() const { return width_; }
    std::size_t outputs() const { return newborn_.outputs(); }
    std::size_t words() const { return kHead + body_; }
    std::int64_t seen() const { return seen_; }
    std::int64_t seen(std::size_t slot) const { return seen_of(at(slot)); }
    const Keys& keys() const { return keys_; }
    std::span<const double> records() const { return {block_.data(), size() * words()}; }

    // Rows in order, each by the model of its key; a new key brings a new model. All or nothing.
    // `rows(i, buffer)` is a row, in the buffer if need be; it may refuse it by throwing.
    template <class Rows>
    void learn(const Rows& rows, std::span<const double> y, std::span<const double> weight,
               std::span<const Key> keys, std::size_t hands) {
        const std::size_t known = size();
        try {
            std::vector<std::uint32_t> slots(keys.size());
            for (std::size_t i = 0; i < keys.size(); ++i)
                slots[i] = std::uint32_t(keys_.add(keys[i]));
            grow(block_, checked_mul(size(), words()));
            const BySlot groups(slots, size());
            Images images(*this, groups.size());
            try {
                share_out(hands, groups.size(), kGrain, [&](std::size_t first, std::size_t last) {
                    Seat seat(*this);
                    for (std::size_t g = first; g < last; ++g) {
                        if (g + 1 < last) approach(slots[groups[g + 1].front()]);
                        const std::size_t slot = slots[groups[g].front()];
                        if (slot < known) images.take(g, slot);
                        teach(seat, slot, groups[g], rows, y, weight);
                    }
                });
            } catch (...) {
                images.put_back();
                throw;
            }
        } catch (...) {
            block_.resize(known * words());
            keys_.shorten(known);
            throw;
        }
        seen_ += std::int64_t(keys.size());
    }

    // Of every row, by the model of its key; 0 where there is none.
    template <class Rows>
    void score(const Rows& rows, std::span<const Key> keys, double* out, std::size_t hands) const {
        std::vector<std::uint32_t> slots(keys.size());
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const std::size_t slot = keys_.find(keys[i]);
            slots[i] = slot == Keys::kNone ? BySlot::kNone : std::uint32_t(slot);
        }
        const BySlot groups(slots, size());
        share_out(hands, groups.size(), kGrain, [&](std::size_t first, std::size_t last) {
            Seat seat(*this);
            for (std::size_t g = first; g < last; ++g) {
                const std::uint32_t slot = slots[groups[g].front()];
                if (g + 1 < last) approach(slots[groups[g + 1].front()]);
                if (slot != BySlot::kNone) seat.take(at(slot));
                for (const std::uint32_t i : groups[g]) {
                    const Row<T> x = rows(i, seat.buffer);
                    poll(x.size * outputs());
                    double* const scores = out + std::size_t(i) * outputs();
                    if (slot == BySlot::kNone)
                        std::fill_n(scores, outputs(), 0.0);
                    else
                        seat.model.score(x, scores);
                }
            }
        });
    }

    // The model of a slot: visit(model).
    template <class Visit>
    void visit(std::size_t slot, Visit&& visit) const {
        Seat seat(*this);
        seat.take(at(slot));
        visit(seat.model, seat.lives);
    }

    // The keys go, with all that was learned for them, and the bank is what it would be had they never
    // come: one pass over it, however many they are. All or nothing.
    void forget(std::span<const Key> keys) {
        std::vector<bool> gone(size());
        for (const Key& key : keys) {
            const std::size_t slot = keys_.find(key);
            require(slot != Keys::kNone, "keys: one has no model");
            gone[slot] = true;
        }
        keys_.erase(gone);  // from here on nothing fails
        std::size_t to = 0;
        for (std::size_t from = 0; from < gone.size(); ++from) {
            if (gone[from])
                seen_ -= seen(from);
            else if (to++ < from)
                std::copy_n(at(from), words(), at(to - 1));
        }
        std::fill(at(to), at(gone.size()), 0.0);
        block_.resize(to * words());
    }

    // The models of another bank come after those of this one; they share no key. All or nothing.
    void merge(const Bank& other) {
        require(other.words() == words() && other.width() == width(),
                "other: its models have another shape");
        const std::size_t known = size();
        try {
            for (std::size_t slot = 0; slot < other.size(); ++slot)
                require(keys_.add(other.keys_[slot]) >= known, "other: both banks have a key");
            grow(block_, checked_mul(size(), words()));
        } catch (...) {
            block_.resize(known * words());
            keys_.shorten(known);
            throw;
        }
        std::copy_n(other.block_.data(), other.size() * words(), at(known));
        seen_ += other.seen_;
    }

    // From a file, which is not to be trusted: every record must be a model that a file of its own
    // could hold. All or nothing.
    void load(Keys keys, std::span<const double> records, std::size_t hands) {
        demand(records.size() == checked_mul(keys.size(), words()),
               "there are not as many records as keys, or of another size");
        std::int64_t seen = 0;
        for (std::size_t slot = 0; slot < keys.size(); ++slot) {
            const std::int64_t own = seen_of(records.data() + slot * words());
            demand(own >= 1 && own < kMost - seen, "a model has seen nothing, or too much");
            seen += own;
        }
        share_out(hands, keys.size(), kGrain, [&](std::size_t first, std::size_t last) {
            Seat seat(*this);
            for (std::size_t slot = first; slot < last; ++slot) {
                poll(words());
                seat.check(records.data() + slot * words());
            }
        });
        Aligned<double> block(records.begin(), records.end());
        block_.swap(block);
        keys_ = std::move(keys);
        seen_ = seen;
    }
    // The first slot whose model holds a number that is none, which no file takes; size() if none does.
    std::size_t first_not_finite() const {
        for (std::size_t slot = 0; slot < size(); ++slot)
            if (!isa::table<double>().all_finite(at(slot), words())) return slot;
        return size();
    }

    std::size_t nbytes() const {
        return sizeof(*this) + block_.capacity() * sizeof(double) + keys_.nbytes() +
               newborn_.nbytes() + shape_.nbytes();
    }

  private:
    static constexpr std::size_t kHead = 2;     // words before the state: rows seen, and whether
                                                // the model has a shape yet
    static constexpr std::size_t kGrain = 256;  // models that a thread takes at a time
    static constexpr std::int64_t kMost = std::int64_t(1) << 62;

    std::size_t width_, body_ = 0, unborn_ = 0;  // words of a state, and of one before any example
    Algo newborn_, shape_;
    Keys keys_;
    Aligned<double> block_;  // size() records
    std::int64_t seen_ = 0;

    double* at(std::size_t slot) { return block_.data() + slot * words(); }
    const double* at(std::size_t slot) const { return block_.data() + slot * words(); }

    static std::int64_t seen_of(const double* record) { return number(record[0]); }
    static std::int64_t number(const double& word) {
        std::int64_t out;
        std::memcpy(&out, &word, sizeof(out));
        return out;
    }
    static void set(double& word, std::int64_t value) { std::memcpy(&word, &value, sizeof(value)); }

    // An ordinary model in which a record comes to life.
    struct Seat {
        const Bank& bank;
        Algo model;
        bool lives;  // it has the shape of a model that has learned
        std::vector<T> buffer;

        explicit Seat(const Bank& bank) : bank(bank), model(bank.shape_), lives(true) {}

        void take(const double* record) { take<Trust::whole>(record); }
        template <Trust trust>
        void take(const double* record) {
            const bool was_alive = number(record[1]) != 0;
            if (lives != was_alive)
                model = was_alive ? bank.shape_ : bank.newborn_;
            else if (!lives)
                model = bank.newborn_;
            lives = was_alive;
            if (!lives) return;
            ReadWords<trust> words(record + kHead, bank.width_, bank.outputs());
            model.state(words);
        }
        // A record from outside.
        void check(const double* record) {
            const std::int64_t alive = number(record[1]);
            demand(alive == 0 || alive == 1, "a model neither has learned nor has not");
            take<Trust::none>(record);
            if constexpr (requires { model.loaded(); })
                if (lives) model.loaded();
            if (!lives)
                for (std::size_t i = kHead; i < bank.words(); ++i)
                    demand(number(record[i]) == 0, "a model that has not learned knows something");
        }
        void leave(double* record, std::int64_t seen) {
            set(record[0], seen);
            if (!lives) {
                const std::size_t words = words_of_state(model);
                if (words == bank.unborn_) return;  // it passed over all of its examples
                if (words != bank.body_)
                    throw std::logic_error("a model is not as large as others");
                lives = true;
            }
            set(record[1], 1);
            WriteWords to(record + kHead);
            model.state(to);
        }
    };

    // Records as they were, so that a call that fails leaves nothing behind.
    class Images {
      public:
        Images(Bank& bank, std::size_t groups)
            : bank_(bank),
              images_(std::make_unique_for_overwrite<double[]>(groups * bank.words())),
              slots_(groups, BySlot::kNone) {}

        void take(std::size_t group, std::size_t slot) {
            std::copy_n(bank_.at(slot), bank_.words(), &images_[group * bank_.words()]);
            slots_[group] = std::uint32_t(slot);
        }
        void put_back() noexcept {
            for (std::size_t g = 0; g < slots_.size(); ++g)
                if (slots_[g] != BySlot::kNone)
                    std::copy_n(&images_[g * bank_.words()], bank_.words(), bank_.at(slots_[g]));
        }

      private:
        Bank& bank_;
        std::unique_ptr<double[]> images_;
        std::vector<std::uint32_t> slots_;
    };

    template <class Rows>
    void teach(Seat& seat, std::size_t slot, std::span<const std::uint32_t> group, const Rows& rows,
               std::span<const double> y, std::span<const double> weight) {
        double* const record = at(slot);
        seat.take(record);
        std::int64_t seen = seen_of(record);
        for (const std::uint32_t i : group) {
            const Row<T> x = rows(i, seat.buffer);
            poll(x.size * outputs());
            if (weight[i] > 0.0) seat.model.learn(x, y[i], weight[i], Id(seen));
            ++seen;
        }
        seat.leave(record, seen);
    }

    // A record that is needed soon; what lies behind its first lines follows by itself.
    void approach(std::uint32_t slot) const {
        constexpr std::size_t kFirst = 512;  // bytes
        if (slot != BySlot::kNone)
            prefetch(at(slot), std::min(words() * sizeof(*at(slot)), kFirst));
    }
};

}  // namespace onlinesvm
