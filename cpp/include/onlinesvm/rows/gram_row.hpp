// A row of kernel values in place of features: k(x, z) of one example x with the examples 0, 1, 2, ...
//
// As in LIBSVM's files, the number of x itself stands before them, so that whatever keeps, moves, saves
// or widens rows keeps it too. It is also the column where the rows of others have their value with x.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>

#include "onlinesvm/rows/row.hpp"

namespace onlinesvm {

template <class T>
class GramRow {
  public:
    static constexpr std::size_t head = 1;  // values before those of the kernel
    static constexpr T nobody = -1;         // the number of a row that is scored and never stored

    explicit GramRow(const T* values) : values_(values) {}

    T number() const { return values_[0]; }
    bool is_of_an_example() const { return number() >= 0; }
    T with(T number) const { return values_[head + std::size_t(number)]; }

    // Whether a row from anywhere can be read as this: the number is a column of it.
    static bool is_sound(const Row<T>& x) {
        if (x.sparse() || x.width <= head || x.width > kMostColumns) return false;
        const T number = x.values[0];
        return number == nobody ||
               (number >= 0 && number < T(x.width - head) && number == std::floor(number));
    }
    static void demand_sound(const Row<T>& x) {
        if (!is_sound(x))
            throw std::invalid_argument(
                "ids: kernel='precomputed' takes dense rows, and every id names a column of them");
    }

  private:
    static constexpr std::size_t kMostColumns = std::size_t(1) << std::numeric_limits<T>::digits;
    const T* values_;
};

}  // namespace onlinesvm
