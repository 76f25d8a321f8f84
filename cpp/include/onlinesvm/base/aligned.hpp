// Memory on cache-line borders.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace onlinesvm {

template <class T>
struct LineAllocator {
    using value_type = T;
    LineAllocator() = default;
    template <class U>
    LineAllocator(const LineAllocator<U>&) {}
    T* allocate(std::size_t n) {
        return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(64)));
    }
    void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t(64)); }
    bool operator==(const LineAllocator&) const { return true; }
};

template <class T>
using Aligned = std::vector<T, LineAllocator<T>>;

inline constexpr std::size_t round_up(std::size_t n, std::size_t step) {
    return (n + step - 1) / step * step;
}

}  // namespace onlinesvm
