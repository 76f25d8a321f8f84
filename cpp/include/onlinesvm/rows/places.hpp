// Feature numbers to places 0, 1, 2, ... in order of first use, so that memory is taken by the
// features that occur and not by the largest number among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace onlinesvm {

class Places {
  public:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    std::size_t size() const { return size_; }
    std::size_t nbytes() const { return cells_.capacity() * sizeof(Cell); }

    std::uint32_t find(std::int32_t feature) const {
        return cells_.empty() ? kNone : cells_[cell_of(feature)].place;
    }
    // For one more; all that can fail, does so here.
    void make_room() {
        if (2 * size_ >= cells_.size()) grow();
    }
    // A new feature takes the next place.
    std::uint32_t put(std::int32_t feature) noexcept {
        cells_[cell_of(feature)] = {feature, std::uint32_t(size_)};
        return std::uint32_t(size_++);
    }

  private:
    struct Cell {
        std::int32_t feature = 0;
        std::uint32_t place = kNone;
    };

    // Where the feature is, or would be: neighbours of a taken cell follow it.
    std::size_t cell_of(std::int32_t feature) const {
        const std::size_t mask = cells_.size() - 1;
        std::size_t i = (std::uint64_t(std::uint32_t(feature)) * 0x9e3779b97f4a7c15u) >> 32 & mask;
        while (cells_[i].place != kNone && cells_[i].feature != feature) i = (i + 1) & mask;
        return i;
    }
    void grow() {
        std::vector<Cell> old(cells_.empty() ? 64 : 2 * cells_.size());
        old.swap(cells_);
        for (const Cell& cell : old)
            if (cell.place != kNone) cells_[cell_of(cell.feature)] = cell;
    }

    std::vector<Cell> cells_;  // a power of two, at most half of them taken
    std::size_t size_ = 0;
};

}  // namespace onlinesvm
