// The keys of a bank, one for each of its models, in order of arrival, and where each is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "onlinesvm/state/archive.hpp"
#include "onlinesvm/state/checked.hpp"

namespace onlinesvm {

// A key is bytes of a kind; equal bytes of two kinds are two keys.
struct Key {
    enum Kind : std::uint8_t {
        number,
        text,
        other
    };  // eight bytes, UTF-8, whatever the caller says
    Kind kind = other;
    std::string_view bytes;

    bool operator==(const Key&) const = default;
};

class Keys {
  public:
    static constexpr std::size_t kNone = std::size_t(-1);

    std::size_t size() const { return kinds_.size(); }
    Key operator[](std::size_t slot) const {
        const std::size_t begin = slot > 0 ? std::size_t(ends_[slot - 1]) : 0;
        const char* from = reinterpret_cast<const char*>(bytes_.data()) + begin;
        return {Key::Kind(kinds_[slot]), {from, std::size_t(ends_[slot]) - begin}};
    }

    // The slot of a key, kNone where there is none.
    std::size_t find(const Key& key) const {
        if (places_.empty()) return kNone;
        const std::uint64_t h = hash(key);
        for (std::size_t at = h & mask();; at = (at + 1) & mask()) {
            const Place& place = places_[at];
            if (place.slot == kFree) return kNone;
            if (place.tag == tag(h) && (*this)[place.slot] == key) return place.slot;
        }
    }
    // The slot of a key that may be new: then it is the last. All or nothing.
    std::size_t add(const Key& key) {
        if (const std::size_t known = find(key); known != kNone) return known;
        make_room(key.bytes.size());
        const auto* from = reinterpret_cast<const std::uint8_t*>(key.bytes.data());
        bytes_.insert(bytes_.end(), from, from + key.bytes.size());
        ends_.push_back(std::int64_t(bytes_.size()));
        kinds_.push_back(key.kind);
        note(size() - 1);
        return size() - 1;
    }
    // Takes back the newest. Cleared in reverse order, places need no tombstones: nobody who is
    // left looked past them.
    void shorten(std::size_t n) noexcept {
        while (size() > n) {
            std::size_t at = hash((*this)[size() - 1]) & mask();
            while (places_[at].slot != size() - 1) at = (at + 1) & mask();
            places_[at] = {};
            kinds_.pop_back(), ends_.pop_back();
            bytes_.resize(ends_.empty() ? 0 : std::size_t(ends_.back()));
        }
    }
    // Those whose flag is set go; the others stay in order. All or nothing.
    void erase(const std::vector<bool>& gone) {
        Keys left(seed_);
        for (std::size_t slot = 0; slot < size(); ++slot)
            if (!gone[slot]) left.add((*this)[slot]);
        *this = std::move(left);
    }

    std::size_t nbytes() const {
        return kinds_.capacity() + ends_.capacity() * sizeof(std::int64_t) + bytes_.capacity() +
               places_.capacity() * sizeof(Place);
    }

    std::span<const std::uint8_t> kinds() const { return kinds_; }
    std::span<const std::int64_t> ends() const { return ends_; }
    std::span<const std::uint8_t> bytes() const { return bytes_; }

    // From a file, which is not to be trusted.
    static Keys of(std::span<const std::uint8_t> kinds, std::span<const std::int64_t> ends,
                   std::span<const std::uint8_t> bytes) {
        demand(kinds.size() == ends.size(), "there are not as many keys as kinds of them");
        Keys keys;
        std::int64_t begin = 0;
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            demand(kinds[i] <= Key::other, "a key is of no known kind");
            demand(ends[i] >= begin && std::size_t(ends[i]) <= bytes.size(),
                   "the keys overlap or reach beyond their bytes");
            demand(kinds[i] != Key::number || ends[i] - begin == 8, "a number has eight bytes");
            const char* from = reinterpret_cast<const char*>(bytes.data()) + begin;
            const Key key{Key::Kind(kinds[i]), {from, std::size_t(ends[i] - begin)}};
            demand(keys.add(key) == i, "a key is there twice");
            begin = ends[i];
        }
        demand(std::size_t(begin) == bytes.size(), "there are bytes of no key");
        return keys;
    }

    Keys() : Keys(std::random_device{}()) {}

  private:
    static constexpr std::uint32_t kFree = std::uint32_t(-1);
    struct Place {
        std::uint32_t tag = 0, slot = kFree;
    };

    // By slot, end to end.
    std::vector<std::uint8_t> kinds_;
    std::vector<std::int64_t> ends_;
    std::vector<std::uint8_t> bytes_;
    std::vector<Place> places_;  // a power of two, at most half of them taken
    std::uint64_t seed_;         // so that nobody can choose keys that all fall on one place

    explicit Keys(std::uint64_t seed) : seed_(seed) {}

    std::size_t mask() const { return places_.size() - 1; }
    static std::uint32_t tag(std::uint64_t h) { return std::uint32_t(h >> 32); }

    static std::uint64_t mixed(std::uint64_t h) {
        h ^= h >> 32, h *= 0xd6e8feb86659fd93U;
        h ^= h >> 32, h *= 0xd6e8feb86659fd93U;
        return h ^ (h >> 32);
    }
    std::uint64_t hash(const Key& key) const {
        std::uint64_t h = mixed(seed_ + key.kind + (std::uint64_t(key.bytes.size()) << 8));
        const char* from = key.bytes.data();
        for (std::size_t left = key.bytes.size(); left > 0;) {
            std::uint64_t word = 0;
            const std::size_t n = std::min<std::size_t>(left, 8);
            std::memcpy(&word, from, n);
            h = mixed(h ^ word) + seed_;
            from += n, left -= n;
        }
        return h;
    }

    void note(std::size_t slot) noexcept {
        const std::uint64_t h = hash((*this)[slot]);
        std::size_t at = h & mask();
        while (places_[at].slot != kFree) at = (at + 1) & mask();
        places_[at] = {tag(h), std::uint32_t(slot)};
    }
    // For one more, so that nothing after it can fail.
    void make_room(std::size_t bytes) {
        require(size() < kFree, "keys: a bank holds at most 4,294,967,294 of them");
        const auto room = [](auto& array, std::size_t n) {
            if (n > array.capacity()) array.reserve(std::max<std::size_t>(64, n + n / 4));
        };
        room(bytes_, bytes_.size() + bytes), room(ends_, size() + 1), room(kinds_, size() + 1);
        if (2 * (size() + 1) <= places_.size()) return;
        std::vector<Place> wider(std::max<std::size_t>(16, 2 * places_.size()));
        places_.swap(wider);
        for (std::size_t slot = 0; slot < size(); ++slot) note(slot);
    }
};

}  // namespace onlinesvm
