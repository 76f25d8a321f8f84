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
#include <typeinfo>
#include <utility>
#include <vector>

#include "onlinesvm/bank/keys.hpp"
#include "onlinesvm/bank/record.hpp"
#include "onlinesvm/loops/interrupt.hpp"
#include "onlinesvm/loops/threads.hpp"
#include "onlinesvm/memory/aligned.hpp"
#include "onlinesvm/rows/rows.hpp"
#include "onlinesvm/state/archive.hpp"
#include "onlinesvm/state/checked.hpp"

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

// An ordinary model in which a record comes to life, to learn or to answer.
class Seat {
  public:
    virtual ~Seat() = default;
    // The model of a record learns these of the rows, which may be refused by throwing.
    virtual void teach(double* record, std::span<const std::uint32_t> which, const Rows& rows,
                       std::span<const double> y, std::span<const double> weight) = 0;
    // outputs() values of each, where they belong in `out`: 0 where there is no record.
    virtual void score(const double* record, std::span<const std::uint32_t> which, const Rows& rows,
                       double* out) = 0;
    // The model of a record, as its own core takes it.
    virtual void save(const double* record, Sink& sink) = 0;
    // Of a record from outside: whether it is a model that a file of its own could hold.
    virtual void check(const double* record) = 0;
};

// What the models of a bank have in common.
class Breed {
  public:
    virtual ~Breed() = default;
    virtual std::unique_ptr<Seat> seat() const = 0;
    virtual std::size_t nbytes() const = 0;

    std::size_t width = 0, outputs = 0;
    std::size_t words = 0;  // of a record
};

class Bank {
  public:
    explicit Bank(std::shared_ptr<const Breed> breed) : breed_(std::move(breed)) {}

    std::size_t size() const { return keys_.size(); }
    std::size_t width() const { return breed_->width; }
    std::size_t outputs() const { return breed_->outputs; }
    std::size_t words() const { return breed_->words; }
    std::int64_t seen() const { return seen_; }
    std::int64_t seen(std::size_t slot) const { return head::seen(at(slot)); }
    const Keys& keys() const { return keys_; }
    std::span<const double> records() const { return {block_.data(), size() * words()}; }

    // Rows in order, each by the model of its key; a new key brings a new model. All or nothing.
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
                    const auto seat = breed_->seat();
                    for (std::size_t g = first; g < last; ++g) {
                        if (g + 1 < last) approach(slots[groups[g + 1].front()]);
                        const std::size_t slot = slots[groups[g].front()];
                        if (slot < known) images.take(g, slot);
                        seat->teach(at(slot), groups[g], rows, y, weight);
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
    void score(const Rows& rows, std::span<const Key> keys, double* out, std::size_t hands) const {
        std::vector<std::uint32_t> slots(keys.size());
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const std::size_t slot = keys_.find(keys[i]);
            slots[i] = slot == Keys::kNone ? BySlot::kNone : std::uint32_t(slot);
        }
        const BySlot groups(slots, size());
        share_out(hands, groups.size(), kGrain, [&](std::size_t first, std::size_t last) {
            const auto seat = breed_->seat();
            for (std::size_t g = first; g < last; ++g) {
                const std::uint32_t slot = slots[groups[g].front()];
                if (g + 1 < last) approach(slots[groups[g + 1].front()]);
                seat->score(slot == BySlot::kNone ? nullptr : at(slot), groups[g], rows, out);
            }
        });
    }

    // The model of a slot, as its own core takes it.
    void save(std::size_t slot, Sink& sink) const { breed_->seat()->save(at(slot), sink); }

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
        require(typeid(*other.breed_) == typeid(*breed_) && other.words() == words() &&
                    other.width() == width(),
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
            const std::int64_t own = head::seen(records.data() + slot * words());
            demand(own >= 1 && own < kMost - seen, "a model has seen nothing, or too much");
            seen += own;
        }
        share_out(hands, keys.size(), kGrain, [&](std::size_t first, std::size_t last) {
            const auto seat = breed_->seat();
            for (std::size_t slot = first; slot < last; ++slot) {
                poll(words());
                seat->check(records.data() + slot * words());
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
               breed_->nbytes();
    }

  private:
    static constexpr std::size_t kGrain = 256;  // models that a thread takes at a time
    static constexpr std::int64_t kMost = std::int64_t(1) << 62;

    std::shared_ptr<const Breed> breed_;
    Keys keys_;
    Aligned<double> block_;  // size() records
    std::int64_t seen_ = 0;

    double* at(std::size_t slot) { return block_.data() + slot * words(); }
    const double* at(std::size_t slot) const { return block_.data() + slot * words(); }

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

    // A record that is needed soon; what lies behind its first lines follows by itself.
    void approach(std::uint32_t slot) const {
        constexpr std::size_t kFirst = 512;  // bytes
        if (slot != BySlot::kNone)
            prefetch(at(slot), std::min(words() * sizeof(*at(slot)), kFirst));
    }
};

}  // namespace onlinesvm
