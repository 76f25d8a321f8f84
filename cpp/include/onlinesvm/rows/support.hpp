// What a trained model shows of itself: its support vectors, or its weights where it is linear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "onlinesvm/memory/slot.hpp"

namespace onlinesvm {

template <class T>
struct Support {
    std::vector<Id> ids;
    std::vector<double> coef;  // outputs x ids, row-major
    std::size_t width = 0;
    std::vector<T> values;              // dense: ids x width, row-major; sparse: the stored values
    std::vector<std::int32_t> indices;  // sparse only
    std::vector<std::int64_t> indptr;   // sparse only, one more than ids; empty means dense
};

// All that a statement about a solution rests on: the examples held, by id, and their variables with
// the problem that these solve. f is computed from them in double; nothing is a solver's own word.
template <class T>
struct Evidence {
    Support<T> rows;
    std::vector<std::int64_t> label;   // class numbers; 0 where there are none
    std::vector<double> cost;          // C_i
    std::vector<double> self;          // k(x, x)
    std::vector<double> f;             // ids x outputs, without the bias
    std::size_t copies = 1;            // variables of an example and output
    std::vector<double> base, lo, hi;  // outputs x ids x copies
    std::vector<double> s;
    std::vector<double> bias, target;  // outputs; the sum that s is held to
    bool free_bias = false;            // else there is no such sum
};

struct Weights {
    std::size_t width = 0;
    std::vector<double> coef;       // outputs x width, row-major
    std::vector<double> intercept;  // outputs
};

}  // namespace onlinesvm
