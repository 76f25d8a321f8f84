// The compiled module: everything Python sees of the core.
#include <nanobind/nanobind.h>

NB_MODULE(_core, m) { m.doc() = "The compiled core of onlinesvm."; }
