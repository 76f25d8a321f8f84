// Memory for arrays that grow: blocks of a few sizes, up to sixteen of one size to a slab.
//
// Rows of every length, each growing at its own time, tear a heap to pieces: what one leaves is too
// short for the next. Here a block that is left serves the next row of its size, a slab that nobody
// uses goes back, and rows may move out of slabs that are mostly empty. So what is held is known.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes)
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes)
#endif

#include "onlinesvm/base/aligned.hpp"
#include "onlinesvm/base/isa.hpp"

namespace onlinesvm {

// Memory that goes back to the system when it goes: a heap would keep what lies between others.
class Pages {
  public:
    explicit Pages(std::size_t bytes) : p_(take_lines(bytes, kLarge)), bytes_(bytes) {}
    ~Pages() {
        ASAN_UNPOISON_MEMORY_REGION(p_, bytes_);
        give_lines(p_, bytes_, kLarge);
    }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    void* data() const { return p_; }

  private:
    static constexpr std::size_t kLarge = std::size_t(1) << 16;  // small ones fit a heap well

    void* p_;
    std::size_t bytes_;
};

template <class T>
class Slabs {
    struct Slab;

  public:
    // A piece of a slab, given back when it goes. Its Slabs must outlive it.
    class Block {
      public:
        Block() = default;
        Block(Block&& other) noexcept
            : data_(std::exchange(other.data_, nullptr)),
              slab_(std::exchange(other.slab_, nullptr)) {}
        Block& operator=(Block&& other) noexcept {
            std::swap(data_, other.data_);
            std::swap(slab_, other.slab_);
            return *this;
        }
        ~Block() {
            if (slab_) slab_->owner->take_back(*slab_, data_);
        }

        bool empty() const { return data_ == nullptr; }
        std::size_t size() const { return slab_ ? slab_->length : 0; }  // in values
        T* data() { return data_; }
        const T* data() const { return data_; }

      private:
        friend Slabs;
        T* data_ = nullptr;
        Slab* slab_ = nullptr;
    };

    Slabs() = default;
    Slabs(const Slabs&) = delete;
    Slabs& operator=(const Slabs&) = delete;

    std::size_t nbytes() const { return held_; }
    std::size_t taken() const { return taken_; }  // of it, in blocks that somebody has

    // Room for `length` values or more; next to the most others, so that slabs are full or free.
    Block take(std::size_t length) {
        Shelf& shelf = shelf_of(length);
        Slab* slab = fullest(shelf);
        return hand_out(shelf, slab ? *slab : add_slab(shelf));
    }
    // Moves a block, with its first `used` values, out of a slab that is mostly empty into a fuller
    // one. False if there is none.
    bool pour(Block& block, std::size_t used) {
        if (block.empty() || 4 * block.slab_->taken() > 3 * block.slab_->blocks) return false;
        Shelf& shelf = shelves_[block.slab_->shelf];
        Slab* slab = fullest(shelf);
        if (!slab || slab == block.slab_ || slab->taken() < block.slab_->taken()) return false;
        Block there = hand_out(shelf, *slab);
        std::copy_n(block.data(), used, there.data());
        block = std::move(there);
        return true;
    }

  private:
    static constexpr unsigned kBlocks = 16;
    static constexpr std::size_t kSlabBytes = std::size_t(4) << 20;  // long blocks share less
    static constexpr std::size_t kShortest = 64;                     // values

    struct Slab {
        Slab(Slabs& slabs, std::size_t shelf_number, std::size_t block_length, unsigned n)
            : owner(&slabs),
              shelf(shelf_number),
              length(block_length),
              blocks(n),
              vacant((std::uint32_t(1) << n) - 1),
              pages(n * block_bytes()) {
            ASAN_POISON_MEMORY_REGION(pages.data(), n * block_bytes());
        }
        Slabs* owner;
        std::size_t shelf, length;  // of a block, in values
        unsigned blocks;
        std::uint32_t vacant;  // one bit per block
        unsigned touched = 0;  // blocks ever handed out: the rest is not in memory yet
        Pages pages;

        T* values() const { return static_cast<T*>(pages.data()); }
        unsigned taken() const { return blocks - unsigned(std::popcount(vacant)); }
        std::size_t block_bytes() const { return length * sizeof(T); }
    };
    struct Shelf {  // the slabs of one size
        std::size_t length;
        std::vector<std::unique_ptr<Slab>> slabs;
        std::vector<Slab*> open;  // with vacancies
    };

    // Sizes grow by a quarter: a block that grew holds a fifth in reserve at most, and moves seldom.
    Shelf& shelf_of(std::size_t length) {
        while (shelves_.empty() || shelves_.back().length < length) {
            const std::size_t last = shelves_.empty() ? 0 : shelves_.back().length;
            shelves_.push_back({round_up(last + last / 4 + kShortest, isa::lanes<T>), {}, {}});
        }
        return *std::lower_bound(
            shelves_.begin(), shelves_.end(), length,
            [](const Shelf& shelf, std::size_t wanted) { return shelf.length < wanted; });
    }
    Slab* fullest(Shelf& shelf) const {
        const auto best =
            std::max_element(shelf.open.begin(), shelf.open.end(),
                             [](Slab* a, Slab* b) { return a->taken() < b->taken(); });
        return best == shelf.open.end() ? nullptr : *best;
    }
    Slab& add_slab(Shelf& shelf) {
        const std::size_t bytes = shelf.length * sizeof(T);
        const auto blocks = unsigned(std::clamp<std::size_t>(kSlabBytes / bytes, 1, kBlocks));
        auto slab = std::make_unique<Slab>(*this, std::size_t(&shelf - shelves_.data()),
                                           shelf.length, blocks);
        shelf.open.reserve(shelf.slabs.size() + 1);  // giving back must not need memory
        shelf.slabs.push_back(std::move(slab));
        shelf.open.push_back(shelf.slabs.back().get());
        return *shelf.open.back();
    }
    Block hand_out(Shelf& shelf, Slab& slab) {
        const auto place = unsigned(std::countr_zero(slab.vacant));
        slab.vacant &= slab.vacant - 1;
        if (slab.vacant == 0) std::erase(shelf.open, &slab);
        if (place == slab.touched) {
            ++slab.touched;
            held_ += slab.block_bytes();
        }
        taken_ += slab.block_bytes();
        if (idle_ == &slab) idle_ = nullptr;
        Block block;
        block.data_ = slab.values() + place * slab.length;
        block.slab_ = &slab;
        ASAN_UNPOISON_MEMORY_REGION(block.data_, slab.block_bytes());
        return block;
    }
    void take_back(Slab& slab, T* data) {
        ASAN_POISON_MEMORY_REGION(data, slab.block_bytes());
        if (slab.vacant == 0) shelves_[slab.shelf].open.push_back(&slab);
        slab.vacant |= std::uint32_t(1) << (std::size_t(data - slab.values()) / slab.length);
        taken_ -= slab.block_bytes();
        if (slab.taken() > 0) return;
        if (idle_) drop(*idle_);  // one empty slab is kept: the next row may want it
        idle_ = &slab;
    }
    void drop(Slab& slab) {
        Shelf& shelf = shelves_[slab.shelf];
        held_ -= slab.touched * slab.block_bytes();
        std::erase(shelf.open, &slab);
        std::erase_if(shelf.slabs, [&](const auto& held) { return held.get() == &slab; });
    }

    std::vector<Shelf> shelves_;  // shortest blocks first
    Slab* idle_ = nullptr;
    std::size_t held_ = 0, taken_ = 0;  // bytes
};

}  // namespace onlinesvm
