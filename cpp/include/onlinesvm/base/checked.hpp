// What comes from outside: parameters that must be in range, sizes that must not wrap.
#pragma once

#include <cstddef>
#include <limits>
#include <stdexcept>

namespace onlinesvm {

inline void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

inline std::size_t checked_mul(std::size_t a, std::size_t b) {
    if (a != 0 && b > std::numeric_limits<std::size_t>::max() / a)
        throw std::invalid_argument("state: a size is too large");
    return a * b;
}

inline std::size_t checked_add(std::size_t a, std::size_t b) {
    if (b > std::numeric_limits<std::size_t>::max() - a)
        throw std::invalid_argument("state: a size is too large");
    return a + b;
}

}  // namespace onlinesvm
