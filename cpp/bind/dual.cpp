// The table of the dual solvers.
#include "families.hpp"
#include "onlinesvm/dual/huller.hpp"
#include "onlinesvm/dual/lasvm.hpp"
#include "onlinesvm/dual/smo.hpp"

namespace onlinesvm::bind {

void bind_dual(nb::module_& m) {
    bind<Huller>(m, "Huller");
    bind<Lasvm>(m, "Lasvm");
    bind<Smo>(m, "Smo");
}

}  // namespace onlinesvm::bind
