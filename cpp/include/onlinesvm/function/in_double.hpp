// What a model really says of the examples it holds: kernel values and sums in double, from the
// stored values and coefficients alone. No cached row, no maintained gradient, nothing in float.
#pragma once

#include <span>
#include <vector>

#include "onlinesvm/rows/store.hpp"

namespace onlinesvm {

// A stored example with its values widened.
template <class T>
class Widened {
  public:
    Row<double> get(const Store<T>& store, Slot j);

  private:
    typename Store<T>::Scratch scratch_;
    std::vector<double> values_;
};

// k(x, x) of a stored example.
template <class T>
double self_in_double(const Store<T>& store, Slot j);

// out[i * outputs + o] = sum over slots < n of coefficients[o][slot] k(at[i], slot). The examples
// that count are widened a few at a time, so that memory stays small.
template <class T>
std::vector<double> scores_in_double(const Store<T>& store, std::size_t n,
                                     std::span<const double* const> coefficients,
                                     std::span<const Slot> at);

}  // namespace onlinesvm
