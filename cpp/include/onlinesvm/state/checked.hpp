// What comes from outside: parameters that must be in range, sizes that must not wrap.
#pragma once

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>

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

inline void same_length(const char* name, std::size_t length, std::size_t rows) {
    if (length != rows)
        throw std::invalid_argument(std::string(name) + ": " + std::to_string(length) +
                                    " entries for " + std::to_string(rows) + " rows of X");
}

}  // namespace onlinesvm
