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

}  // namespace onlinesvm
