// One table of algorithms per family, each in a file of its own so that they compile side by side.
#pragma once

#include "bind.hpp"

namespace onlinesvm::bind {

void bind_ball(nb::module_& m);
void bind_exact(nb::module_& m);
void bind_dual(nb::module_& m);
void bind_gradient(nb::module_& m);
void bind_margin(nb::module_& m);

}  // namespace onlinesvm::bind
