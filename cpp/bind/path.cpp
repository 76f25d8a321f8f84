// The path of the SVM over a matrix of kernel values, along C.
#include <nanobind/nanobind.h>

#include <stdexcept>

#include "arrays.hpp"
#include "gil.hpp"
#include "module.hpp"
#include "onlinesvm/solver/gram_path.hpp"

namespace onlinesvm::bind {

void bind_path(nb::module_& m) {
    m.def(
        "gram_path",
        [](const nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>& K,
           const Vector<double>& y, const Vector<double>& weight, const Vector<double>& Cs,
           double tol) {
            const std::size_t n = y.shape(0), steps = Cs.shape(0);
            same_length("K", K.shape(0), n);
            same_length("K", K.shape(1), n);
            same_length("weight", weight.shape(0), n);
            std::vector<double> f, s, bias;
            bool reached = true;
            {
                const Gil::Released nogil;
                GramPath path(K.data(), view(y), view(weight));
                for (const double C : view(Cs)) {
                    reached &= path.solve(C, tol);
                    for (std::size_t j = 0; j < n; ++j) f.push_back(path.decision(j));
                    s.insert(s.end(), path.coefficients().begin(), path.coefficients().end());
                    bias.push_back(path.bias());
                }
            }
            return nb::make_tuple(to_numpy(std::move(f), {steps, n}),
                                  to_numpy(std::move(s), {steps, n}), to_numpy(std::move(bias)),
                                  reached);
        },
        nb::arg("K"), nb::arg("y"), nb::arg("weight"), nb::arg("C"), nb::arg("tol"),
        "Decision values and coefficients of all examples, a line for each C; biases; and whether "
        "each solution is within tol.");
}

}  // namespace onlinesvm::bind
