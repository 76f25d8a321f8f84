// The table of the gradient family.
#include "families.hpp"
#include "onlinesvm/gradient/norma.hpp"
#include "onlinesvm/gradient/pegasos.hpp"
#include "onlinesvm/gradient/sgd.hpp"

namespace onlinesvm::bind {

void bind_gradient(nb::module_& m) {
    bind<Pegasos>(m, "Pegasos");
    bind<Sgd>(m, "Sgd");
    bind<NormaClassifier>(m, "NormaClassifier");
    bind<NormaRegressor>(m, "NormaRegressor");
    bind<NormaOneClass>(m, "NormaOneClass");
}

}  // namespace onlinesvm::bind
