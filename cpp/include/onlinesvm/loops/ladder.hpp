// Loops over waves whose frequencies are doubled from rung to rung, and over the weights of linear
// functions of them, in the rows' own type. Compiled once per instruction set, as those of isa.hpp.
#pragma once

#include <cstddef>

namespace onlinesvm::isa {

// All lengths n are whole lines of the store: lanes<T> values, or a multiple of that.
template <class T>
struct Ladder {
    // The cosines and sines of twice the angle.
    void (*octave)(const T* cosines, const T* sines, T* twice_cosines, T* twice_sines,
                   std::size_t n);
    // out[r] = z.w_r of `outputs` functions whose weights lie `stride` apart.
    void (*read)(const T* z, const T* w, std::size_t stride, std::size_t outputs, std::size_t n,
                 double* out);
    // w += step (rate z), component by component.
    void (*push)(const T* z, const T* rate, T step, T* w, std::size_t n);
};

template <class T>
const Ladder<T>& ladder();

}  // namespace onlinesvm::isa
