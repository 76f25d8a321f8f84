// Chooses the widest instruction set this processor has, once.
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "onlinesvm/loops/chances.hpp"
#include "onlinesvm/loops/isa.hpp"
#include "onlinesvm/loops/ladder.hpp"
#include "onlinesvm/loops/moves.hpp"

#ifdef ONLINESVM_X86  // by CMake, which compiles the loops for it
#include <cpuid.h>
#endif

namespace onlinesvm::isa {

#define ONLINESVM_DECLARE(NAME)           \
    namespace NAME {                      \
    extern const Table<float> table32;    \
    extern const Table<double> table64;   \
    extern const DenseTable dense;        \
    extern const Moves<float> moves32;    \
    extern const Moves<double> moves64;   \
    extern const Chances chances;         \
    extern const Ladder<float> ladder32;  \
    extern const Ladder<double> ladder64; \
    }
ONLINESVM_DECLARE(baseline)
#ifdef ONLINESVM_X86
ONLINESVM_DECLARE(avx2)
ONLINESVM_DECLARE(avx512)
#endif
#undef ONLINESVM_DECLARE

namespace {

#ifdef ONLINESVM_X86
// What the processor has and the system saves. __builtin_cpu_supports would know, too, but not
// without a library that clang-cl does not link.
class Processor {
  public:
    Processor() {
        unsigned a = 0, b = 0, c = 0, d = 0;
        if (!__get_cpuid(1, &a, &b, &c, &d) || (c & bit_OSXSAVE) == 0) return;
        basic_ = c;
        asm("xgetbv" : "=a"(saved_), "=d"(d) : "c"(0));
        if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) extended_ = b;
    }
    bool has_avx2() const {
        return all(saved_, kHalves) && all(basic_, bit_FMA) && all(extended_, bit_AVX2);
    }
    bool has_avx512() const {
        return has_avx2() && all(saved_, kWhole) &&
               all(extended_, bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL);
    }

  private:
    static constexpr unsigned kHalves = 0x06, kWhole = 0xe6;  // registers, in what the system saves
    static bool all(unsigned bits, unsigned wanted) { return (bits & wanted) == wanted; }

    unsigned basic_ = 0, extended_ = 0, saved_ = 0;
};
#endif

struct Variant {
    const char* name;
    bool usable;
    const Table<float>* table32;
    const Table<double>* table64;
    const DenseTable* dense;
    const Moves<float>* moves32;
    const Moves<double>* moves64;
    const Chances* chances;
    const Ladder<float>* ladder32;
    const Ladder<double>* ladder64;
};

const Variant& chosen() {
    static const Variant& variant = []() -> const Variant& {
#ifdef ONLINESVM_X86
        const Processor processor;
#endif
        static const Variant variants[] = {
#ifdef ONLINESVM_X86
            {"avx512", processor.has_avx512(), &avx512::table32, &avx512::table64, &avx512::dense,
             &avx512::moves32, &avx512::moves64, &avx512::chances, &avx512::ladder32,
             &avx512::ladder64},
            {"avx2", processor.has_avx2(), &avx2::table32, &avx2::table64, &avx2::dense,
             &avx2::moves32, &avx2::moves64, &avx2::chances, &avx2::ladder32, &avx2::ladder64},
#endif
            {"baseline", true, &baseline::table32, &baseline::table64, &baseline::dense,
             &baseline::moves32, &baseline::moves64, &baseline::chances, &baseline::ladder32,
             &baseline::ladder64},
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
const Chances& chances() {
    static const Chances& c = *chosen().chances;
    return c;
}
template <>
const Ladder<float>& ladder<float>() {
    static const Ladder<float>& l = *chosen().ladder32;
    return l;
}
template <>
const Ladder<double>& ladder<double>() {
    static const Ladder<double>& l = *chosen().ladder64;
    return l;
}
const DenseTable& dense() {
    static const DenseTable& t = *chosen().dense;
    return t;
}

}  // namespace onlinesvm::isa
