// Positive definite kernels as plain values: what is computed, not how.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace onlinesvm {

// precomputed: rows are of kernel values already (rows/gram_row.hpp).
enum class Shape { linear, rbf, poly, laplacian, chi2, function, precomputed };

inline Shape shape_of(std::string_view name) {
    if (name == "linear") return Shape::linear;
    if (name == "rbf") return Shape::rbf;
    if (name == "poly") return Shape::poly;
    if (name == "laplacian") return Shape::laplacian;
    if (name == "chi2") return Shape::chi2;
    if (name == "function") return Shape::function;
    if (name == "precomputed") return Shape::precomputed;
    throw std::invalid_argument("kernel: unknown name '" + std::string(name) + "'");
}

struct Kernel {
    // k(x, row_j) for the n row-major rows of width d; how a user's own kernel reaches the core.
    using Function = std::function<void(const double* x, const double* rows, std::size_t n,
                                        std::size_t d, double* out)>;

    Shape shape = Shape::rbf;
    double gamma = 1.0;
    double degree = 3.0;
    double coef0 = 0.0;
    double offset = 0.0;  // kappa_0 of the regularised bias: k + offset
    Function function;
};

}  // namespace onlinesvm
