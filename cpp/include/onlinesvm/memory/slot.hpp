// The two names of a stored example, of two types: what takes one does not compile with the other, nor
// with any other number.
#pragma once

#include <cstddef>
#include <cstdint>

namespace onlinesvm {

// Where it stands now, to index what is kept by slot. Good until the next push, swap or pop, which
// may move it: across those keep its Id. Counts, and the ends of a run of slots, are plain numbers.
class Slot {
  public:
    Slot() = default;
    explicit constexpr Slot(std::size_t place) : place_(place) {}
    constexpr operator std::size_t() const { return place_; }

    Slot& operator++() { return ++place_, *this; }
    Slot operator--(int) { return Slot(place_--); }

  private:
    std::size_t place_;
};

// What it is called for ever. A number inside, and in files: std::int64_t(id).
enum class Id : std::int64_t {};
inline constexpr Id kNoId{-1};

}  // namespace onlinesvm
