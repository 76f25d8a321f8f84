// The table of the gradient family.
#include "families.hpp"
#include "onlinesvm/gradient/pegasos.hpp"
#include "onlinesvm/gradient/sgd.hpp"

namespace onlinesvm::bind {

void bind_gradient(nb::module_& m) {
    bind<Pegasos>(m, "Pegasos");
    bind<Sgd>(m, "Sgd");
}

}  // namespace onlinesvm::bind
