// Chooses the widest instruction set this processor has, once.
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "onlinesvm/base/isa.hpp"
#include "onlinesvm/base/moves.hpp"

namespace onlinesvm::isa {

#define ONLINESVM_DECLARE(NAME)         \
    namespace NAME {                    \
    extern const Table<float> table32;  \
    extern const Table<double> table64; \
    extern const DenseTable dense;      \
    extern const Moves<float> moves32;  \
    extern const Moves<double> moves64; \
    }
ONLINESVM_DECLARE(baseline)
#ifdef __x86_64__
ONLINESVM_DECLARE(avx2)
ONLINESVM_DECLARE(avx512)
#endif
#undef ONLINESVM_DECLARE

namespace {

struct Variant {
    const char* name;
    bool usable;
    const Table<float>* table32;
    const Table<double>* table64;
    const DenseTable* dense;
    const Moves<float>* moves32;
    const Moves<double>* moves64;
};

const Variant& chosen() {
    static const Variant& variant = []() -> const Variant& {
        static const Variant variants[] = {
#ifdef __x86_64__
            {"avx512",
             __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"),
             &avx512::table32, &avx512::table64, &avx512::dense, &avx512::moves32,
             &avx512::moves64},
            {"avx2", __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
             &avx2::table32, &avx2::table64, &avx2::dense, &avx2::moves32, &avx2::moves64},
#endif
            {"baseline", true, &baseline::table32, &baseline::table64, &baseline::dense,
             &baseline::moves32, &baseline::moves64},
        };
        const char* wanted = std::getenv("ONLINESVM_ISA");
        const bool forced = wanted != nullptr && *wanted != '\0';
        for (const Variant& v : variants)
            if (v.usable && (!forced || std::strcmp(v.name, wanted) == 0)) return v;
        throw std::runtime_error("ONLINESVM_ISA=" + std::string(wanted) +
                                 ": use baseline, avx2 or avx512, as this processor allows");
    }();
    return variant;
}

}  // namespace

const char* name() { return chosen().name; }
template <>
const Table<float>& table<float>() {
    static const Table<float>& t = *chosen().table32;
    return t;
}
template <>
const Table<double>& table<double>() {
    static const Table<double>& t = *chosen().table64;
    return t;
}
template <>
const Moves<float>& moves<float>() {
    static const Moves<float>& m = *chosen().moves32;
    return m;
}
template <>
const Moves<double>& moves<double>() {
    static const Moves<double>& m = *chosen().moves64;
    return m;
}
const DenseTable& dense() {
    static const DenseTable& t = *chosen().dense;
    return t;
}

}  // namespace onlinesvm::isa
