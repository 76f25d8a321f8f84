// The way a parametric solver went: what a breakpoint is.
#pragma once

#include <cstdint>

#include "onlinesvm/memory/slot.hpp"

namespace onlinesvm {

// What happens at a breakpoint, by the sets a variable leaves and joins.
enum class Event : std::int8_t { O_to_S, E_to_S, S_to_O, S_to_E, O_to_E, E_to_O, end };

struct Breakpoint {
    double u;  // the parameter; with the bias moving, t itself
    Event event;
    Id id;                          // of the example; kNoId at the end of a run
    std::int64_t in_S, in_E, in_O;  // sizes, afterwards
    double dual;                    // at the true q, with the present t
};

}  // namespace onlinesvm
