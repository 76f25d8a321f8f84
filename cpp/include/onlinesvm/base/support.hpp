// What a trained model shows of itself: its support vectors, or its weights where it is linear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace onlinesvm {

template <class T>
struct Support {
    std::vector<std::int64_t> ids;
    std::vector<double> coef;  // outputs x ids, row-major
    std::size_t width = 0;
    std::vector<T> values;              // dense: ids x width, row-major; sparse: the stored values
    std::vector<std::int32_t> indices;  // sparse only
    std::vector<std::int64_t> indptr;   // sparse only, one more than ids; empty means dense
};

struct Weights {
    std::size_t width = 0;
    std::vector<double> coef;       // outputs x width, row-major
    std::vector<double> intercept;  // outputs
};

}  // namespace onlinesvm
