// Compiled once per instruction set; ONLINESVM_ISA names the one this object file is for.
#include "onlinesvm/loops/isa.hpp"

#include "onlinesvm/loops/chances.hpp"
#include "onlinesvm/loops/ladder.hpp"
#include "onlinesvm/loops/moves.hpp"

#if defined(__FMA__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#ifndef ONLINESVM_ISA
#define ONLINESVM_ISA baseline
#endif

#include "loops.inl"
// After the registers and functions that it uses.
#include "chances.inl"
#include "ladder.inl"
#include "weights.inl"

namespace onlinesvm::isa::ONLINESVM_ISA {

extern const Table<float> table32;
extern const Table<double> table64;
extern const DenseTable dense;
extern const Moves<float> moves32;
extern const Moves<double> moves64;
extern const Chances chances;
extern const Ladder<float> ladder32;
extern const Ladder<double> ladder64;

const Table<float> table32 = kTable<float>;
const Table<double> table64 = kTable<double>;
const DenseTable dense = kDense;
const Moves<float> moves32 = kMoves<float>;
const Moves<double> moves64 = kMoves<double>;
const Chances chances = kChances;
const Ladder<float> ladder32 = kLadder<float>;
const Ladder<double> ladder64 = kLadder<double>;

}  // namespace onlinesvm::isa::ONLINESVM_ISA
