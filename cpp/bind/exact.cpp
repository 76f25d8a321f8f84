// The table of the exact family.
#include "families.hpp"
#include "onlinesvm/exact/incremental.hpp"
#include "onlinesvm/exact/offline_ramp.hpp"
#include "onlinesvm/exact/poker.hpp"
#include "onlinesvm/exact/ramp.hpp"

namespace onlinesvm::bind {

void bind_exact(nb::module_& m) {
    bind<Incremental>(m, "Incremental");
    bind<PokerClassifier>(m, "PokerClassifier");
    bind<PokerRegressor>(m, "PokerRegressor");
    bind<PokerOneClass>(m, "PokerOneClass");
    bind<Ramp>(m, "Ramp");
    bind<OfflineRamp>(m, "OfflineRamp");
}

}  // namespace onlinesvm::bind
