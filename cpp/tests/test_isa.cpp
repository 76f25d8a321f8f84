// The instruction set that is chosen is the widest that compiler and system say is there.
#include <cstdlib>
#include <string>

#include "check.hpp"
#include "onlinesvm/loops/isa.hpp"

using namespace onlinesvm;

namespace {

std::string widest() {
#if defined(__x86_64__) && !defined(_MSC_VER)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return "avx512";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "avx2";
#endif
    return "baseline";
}

}  // namespace

int main() {
    const char* forced = std::getenv("ONLINESVM_ISA");
    CHECK(isa::name() == (forced && *forced ? std::string(forced) : widest()));
}
