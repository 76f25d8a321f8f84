// The table of the enclosing-ball family.
#include "families.hpp"
#include "onlinesvm/ball/core_vector.hpp"
#include "onlinesvm/ball/stream.hpp"

namespace onlinesvm::bind {

void bind_ball(nb::module_& m) {
    bind<CoreVector>(m, "CoreVector");
    bind<StreamSVM>(m, "StreamSVM");
}

}  // namespace onlinesvm::bind
