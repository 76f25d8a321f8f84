// One example as the core sees it: a borrowed view of contiguous typed values, dense or sparse.
#pragma once

#include <cstddef>
#include <cstdint>

namespace onlinesvm {

template <class T>
struct Row {
    const T* values = nullptr;
    const std::int32_t* indices = nullptr;  // ascending feature numbers; nullptr: dense
    std::size_t size = 0;                   // stored values
    std::size_t width = 0;                  // features

    bool sparse() const { return indices != nullptr; }
};

// Whether a row from outside can be used by a model that knows so many features: a dense one has
// them all, the indices of a sparse one ascend and stay below its width.
template <class T>
bool is_sound(const Row<T>& x, std::size_t features) {
    if (!x.sparse()) return x.size == x.width && x.width == features;
    for (std::size_t i = 0; i < x.size; ++i)
        if (x.indices[i] < (i > 0 ? x.indices[i - 1] + std::int64_t(1) : 0) ||
            std::size_t(x.indices[i]) >= x.width)
            return false;
    return x.width <= features;
}

}  // namespace onlinesvm
