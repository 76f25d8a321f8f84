// Compiled once per instruction set; ONLINESVM_ISA names the one this object file is for.
#include "onlinesvm/base/isa.hpp"

#ifndef ONLINESVM_ISA
#define ONLINESVM_ISA baseline
#endif

#include "loops.inl"

namespace onlinesvm::isa::ONLINESVM_ISA {

extern const Table<float> table32;
extern const Table<double> table64;
extern const DenseTable dense;

const Table<float> table32 = kTable<float>;
const Table<double> table64 = kTable<double>;
const DenseTable dense = kDense;

}  // namespace onlinesvm::isa::ONLINESVM_ISA
