// Memory on cache-line borders.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#endif

namespace onlinesvm {

// Memory on a line that goes back to the system when it goes, if it is large: a heap would keep what
// an array leaves behind when it grows.
inline void* take_lines(std::size_t bytes, std::size_t large) {
#ifdef MAP_ANONYMOUS
    if (bytes >= large) {
        void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) throw std::bad_alloc();
        return p;
    }
#endif
    return ::operator new(bytes, std::align_val_t(64));
}
inline void give_lines(void* p, std::size_t bytes, std::size_t large) {
#ifdef MAP_ANONYMOUS
    if (bytes >= large) {
        munmap(p, bytes);
        return;
    }
#endif
    ::operator delete(p, std::align_val_t(64));
}

// Each page costs a fault when it is first written: of arrays that are counted in full, few large ones.
inline constexpr std::size_t kHuge = std::size_t(1) << 22;
inline void prefer_huge_pages([[maybe_unused]] void* p, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
    constexpr std::size_t kWhole = std::size_t(1) << 16;  // of any size that pages have
    std::size_t room = bytes;
    if (std::align(kWhole, bytes - kWhole, p, room))
        madvise(p, room / kWhole * kWhole, MADV_HUGEPAGE);  // advice that fails does no harm
#endif
}

// Asks for the lines of what is needed soon: nobody waits for memory then.
inline void prefetch([[maybe_unused]] const void* from, [[maybe_unused]] std::size_t bytes) {
#if defined(__GNUC__)
    for (std::size_t i = 0; i < bytes; i += 64)
        __builtin_prefetch(static_cast<const char*>(from) + i);
    asm volatile("");  // GCC leaves out calls of functions that do nothing else
#endif
}

template <class T, std::size_t kLarge = std::size_t(1) << 20>
struct LineAllocator {
    using value_type = T;
    template <class U>
    struct rebind {
        using other = LineAllocator<U, kLarge>;
    };
    LineAllocator() = default;
    template <class U>
    LineAllocator(const LineAllocator<U, kLarge>&) {}
    T* allocate(std::size_t n) {
        void* const p = take_lines(n * sizeof(T), kLarge);
        if (n * sizeof(T) >= kHuge) prefer_huge_pages(p, n * sizeof(T));
        return static_cast<T*>(p);
    }
    void deallocate(T* p, std::size_t n) { give_lines(p, n * sizeof(T), kLarge); }
    bool operator==(const LineAllocator&) const { return true; }
};

template <class T>
using Aligned = std::vector<T, LineAllocator<T>>;
// Of a size that stays: the heap has its pages at hand when it is copied, the system would clear them.
template <class T>
using OnHeap = std::vector<T, LineAllocator<T, std::numeric_limits<std::size_t>::max()>>;

// Large arrays grow by an eighth: of memory that is counted, half must not lie idle.
inline constexpr std::size_t grown(std::size_t n) { return n + n / 8; }
template <class Array>
void grow(Array& array, std::size_t n) {
    if (n > array.capacity()) array.reserve(grown(n));
    array.resize(n);
}

inline constexpr std::size_t round_up(std::size_t n, std::size_t step) {
    return (n + step - 1) / step * step;
}

}  // namespace onlinesvm
