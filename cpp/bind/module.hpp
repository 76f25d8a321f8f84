// What each source of the module binds.
#pragma once

#include <nanobind/nanobind.h>

namespace onlinesvm::bind {

namespace nb = nanobind;

void bind_models(nb::module_& m);
void bind_banks(nb::module_& m);
void bind_curves(nb::module_& m);
void bind_path(nb::module_& m);

}  // namespace onlinesvm::bind
