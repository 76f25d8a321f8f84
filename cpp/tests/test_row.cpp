// A C++ test is a program that returns 0: one file, no framework, run under ASan + UBSan.
// Every cpp/tests/*.cpp becomes one; the compiled loops of every instruction set are linked in.
#undef NDEBUG
#include <cassert>

#include "onlinesvm/base/row.hpp"

int main() {
    const float values[] = {1.0f, 2.0f};
    const std::int32_t indices[] = {0, 7};
    assert(!(onlinesvm::Row<float>{values, nullptr, 2, 2}.sparse()));
    assert((onlinesvm::Row<float>{values, indices, 2, 10}.sparse()));
}
