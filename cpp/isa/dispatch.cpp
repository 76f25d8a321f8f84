// Chooses the widest instruction set this processor has, once.
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "onlinesvm/base/isa.hpp"

namespace onlinesvm::isa {

#define ONLINESVM_DECLARE(NAME)         \
    namespace NAME {                    \
    extern const Table<float> table32;  \
    extern const Table<double> table64; \
    extern const DenseTable dense;      \
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
};

const Variant& chosen() {
    static const Variant& variant = []() -> const Variant& {
        static const Variant variants[] = {
#ifdef __x86_64__
            {"avx512",
             __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"),
             &avx512::table32, &avx512::table64, &avx512::dense},
            {"avx2", __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
             &avx2::table32, &avx2::table64, &avx2::dense},
#endif
            {"baseline", true, &baseline::table32, &baseline::table64, &baseline::dense},
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
const DenseTable& dense() {
    static const DenseTable& t = *chosen().dense;
    return t;
}

}  // namespace onlinesvm::isa
