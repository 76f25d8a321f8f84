// Memory for arrays that grow: blocks of a few sizes, up to sixteen of one size to a slab.
//
// Kernel rows of every length, each growing at its own time, fragment a heap: a freed row is too
// short for the next. Here a freed block serves the next row of its size, an unused slab goes back,
// and rows can move out of slabs that are mostly empty. So the bytes held are known.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes)
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes)
#endif

#include "onlinesvm/loops/isa.hpp"
#include "onlinesvm/memory/aligned.hpp"

namespace onlinesvm {

// Pages kept for the next owner: every page that is mapped anew costs a fault. A fork may leave the
// lock closed for ever, so nothing waits for it.
class Reserve {
  public:
    // nullptr: there is none of that size. Then as much goes back to the system as comes from it.
    void* take(std::size_t bytes) {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock) return nullptr;
        for (std::size_t i = count_; i-- > 0;)
            if (idle_[i].bytes == bytes) return remove(i);
        shrink_to(held_ - std::min(held_, bytes));
        return nullptr;
    }
    // Whether the pages are kept; else they have to go back to the system. Those of a model that
    // lives on are kept while there are few, since its nbytes does not count them; those of a
    // destroyed one displace the oldest, since the next model may want them.
    bool keep(void* p, std::size_t bytes, bool owner_destroyed) {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock || bytes > kMost || (!owner_destroyed && held_ + bytes > kLittle)) return false;
        if (owner_destroyed) shrink_to(kMost - bytes);
        if (count_ == idle_.size()) drop_oldest();
        idle_[count_++] = {p, bytes};
        held_ += bytes;
        return true;
    }

    static constexpr std::size_t kLarge = std::size_t(1) << 16;  // small ones fit a heap well

  private:
    static constexpr std::size_t kLittle = std::size_t(8) << 20, kMost = std::size_t(64) << 20;

    struct Piece {
        void* p;
        std::size_t bytes;
    };
    void* remove(std::size_t i) {
        const Piece piece = idle_[i];
        std::copy(idle_.begin() + i + 1, idle_.begin() + count_--, idle_.begin() + i);
        held_ -= piece.bytes;
        return piece.p;
    }
    void drop_oldest() {
        const std::size_t bytes = idle_[0].bytes;
        give_lines(remove(0), bytes, kLarge);
    }
    void shrink_to(std::size_t bytes) {
        while (held_ > bytes) drop_oldest();
    }

    std::mutex mutex_;
    std::array<Piece, 256> idle_{};  // the longest idle first
    std::size_t count_ = 0, held_ = 0;
};

// Memory that goes to the reserve or back to the system when released: a heap would keep what lies
// between others.
class Pages {
  public:
    explicit Pages(std::size_t bytes) : bytes_(bytes) {
        if (large()) p_ = reserve.take(bytes_);
        used_ = p_;
        if (!p_) p_ = take_lines(bytes_, Reserve::kLarge);
    }
    ~Pages() { release(true); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    void* data() const { return p_; }
    bool in_memory() const { return used_; }  // all of it, since another owner used it

    void release(bool owner_destroyed) {
        if (!p_) return;
        ASAN_UNPOISON_MEMORY_REGION(p_, bytes_);
        if (!large() || !reserve.keep(p_, bytes_, owner_destroyed))
            give_lines(p_, bytes_, Reserve::kLarge);
        p_ = nullptr;
    }

  private:
    bool large() const { return bytes_ >= Reserve::kLarge; }
    static inline constinit Reserve reserve;

    std::size_t bytes_;
    void* p_ = nullptr;
    bool used_;
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

    // The owner of all blocks is being destroyed: their pages may serve another model.
    void owner_is_destroyed() { owner_destroyed_ = true; }

    std::size_t nbytes() const { return held_; }
    std::size_t taken() const { return taken_; }  // of it, in blocks handed out

    // Room for `length` values or more; next to the most others, so that slabs are full or free.
    Block take(std::size_t length);
    // Moves a block, with its first `used` values, out of a slab that is mostly empty into a fuller
    // one. False if there is none.
    bool pour(Block& block, std::size_t used);

  private:
    static constexpr std::size_t kBlocks = 16;                       // or more
    static constexpr std::size_t kSlabBytes = std::size_t(4) << 20;  // at most, for many blocks
    static constexpr std::size_t kShortest = 64;                     // values

    // Few sizes, so that slabs can pass on their pages, whatever the length of their blocks.
    static std::size_t slab_bytes(std::size_t block);

    struct Slab {
        Slab(Slabs& slabs, std::size_t shelf_number, std::size_t block_length)
            : owner(&slabs),
              shelf(shelf_number),
              length(block_length),
              bytes(slab_bytes(block_bytes())),
              blocks(unsigned(std::min<std::size_t>(bytes / block_bytes(), 64))),
              vacant(~std::uint64_t(0) >> (64 - blocks)),
              pages(bytes),
              held(pages.in_memory() ? bytes : 0) {
            ASAN_POISON_MEMORY_REGION(pages.data(), bytes);
        }
        Slabs* owner;
        std::size_t shelf, length;  // of a block, in values
        std::size_t bytes;
        unsigned blocks;
        std::uint64_t vacant;  // one bit per block
        unsigned touched = 0;  // blocks ever handed out: of new pages the rest is not in memory yet
        Pages pages;
        std::size_t held;  // bytes in memory

        T* values() const { return static_cast<T*>(pages.data()); }
        unsigned taken() const { return blocks - unsigned(std::popcount(vacant)); }
        std::size_t block_bytes() const { return length * sizeof(T); }
    };
    // the slabs of one size
    struct Shelf {
        std::size_t length;
        std::vector<std::unique_ptr<Slab>> slabs;
        std::vector<Slab*> open;  // with vacancies
    };

    // Sizes grow by a quarter: a block that grew holds a fifth in reserve at most, and moves
    // seldom.
    Shelf& shelf_of(std::size_t length);
    Slab* fullest(Shelf& shelf) const;
    Slab& add_slab(Shelf& shelf);
    Block hand_out(Shelf& shelf, Slab& slab);
    void take_back(Slab& slab, T* data);
    void drop(Slab& slab);

    std::vector<Shelf> shelves_;  // shortest blocks first
    Slab* idle_ = nullptr;
    std::size_t held_ = 0, taken_ = 0;  // bytes
    bool owner_destroyed_ = false;
};

}  // namespace onlinesvm
