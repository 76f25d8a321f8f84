// The compiled module onlinesvm._core: a table of algorithms and two helpers.
#include "bind.hpp"
#include "onlinesvm/base/isa.hpp"
#include "onlinesvm/exact/offline_ramp.hpp"
#include "onlinesvm/exact/ramp.hpp"
#include "onlinesvm/margin/passive_aggressive.hpp"
#include "probes.hpp"

namespace nb = nanobind;
using namespace onlinesvm;

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of onlinesvm.";

    bind::bind<Ramp>(m, "Ramp");
    bind::bind<OfflineRamp>(m, "OfflineRamp");
    bind::bind<PassiveAggressiveClassifier>(m, "PassiveAggressiveClassifier");
    bind::bind<PassiveAggressiveRegressor>(m, "PassiveAggressiveRegressor");

    m.def(
        "all_finite",
        [](const nb::ndarray<nb::ro, nb::any_contig, nb::device::cpu>& array) {
            return bind::all_finite(array);
        },
        nb::arg("array"), "Whether no value is NaN or infinite.");
    bind::bind_probes(m);
    m.attr("isa") = isa::name();
}
