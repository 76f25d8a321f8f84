// The table of the large-margin family.
#include "families.hpp"
#include "onlinesvm/margin/passive_aggressive.hpp"
#include "onlinesvm/margin/perceptron.hpp"

namespace onlinesvm::bind {

void bind_margin(nb::module_& m) {
    bind<PassiveAggressiveClassifier>(m, "PassiveAggressiveClassifier");
    bind<PassiveAggressiveRegressor>(m, "PassiveAggressiveRegressor");
    bind<Perceptron>(m, "Perceptron");
}

}  // namespace onlinesvm::bind
