// Decision values of many rows against the stored examples, a tile at a time.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "onlinesvm/function/kernel_cache.hpp"
#include "onlinesvm/rows/support.hpp"

namespace onlinesvm {

// out[i * outputs + o] = sum over slots < n of coefficients[o][slot] k(x_i, slot)
template <class T>
void score(const Store<T>& store, std::size_t n, std::span<const double* const> coefficients,
           std::span<const Row<T>> xs, double* out);

// Examples with their coefficients.
template <class T>
Support<T> examples_of(const KernelCache<T>& rows, std::span<const Slot> slots,
                       std::span<const double* const> coefficients);

template <class T>
void sort_by_id(const KernelCache<T>& rows, std::vector<Slot>& slots);

// The examples with any coefficient, by id.
template <class T>
Support<T> support_of(const KernelCache<T>& rows, std::span<const double* const> coefficients);

}  // namespace onlinesvm
