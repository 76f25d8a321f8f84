// A lower triangular matrix that grows row by row, and its products with many vectors at once.
//
// The rows lie in panels as examples lie in the store, so the loops of the linear kernel multiply
// them: a product has the same bits alone as among many. A panel is only as wide as its last row is
// long, which saves half the work of a square matrix.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "onlinesvm/loops/interrupt.hpp"
#include "onlinesvm/loops/isa.hpp"
#include "onlinesvm/memory/aligned.hpp"

namespace onlinesvm {

template <class T>
class Triangle {
  public:
    static constexpr std::size_t kPanel = 64;  // rows

    std::size_t size() const { return size_; }
    // The room that a vector and a product need.
    static std::size_t padded(std::size_t n) { return round_up(n, kPanel); }

    // size() + 1 values.
    void push(const double* row) {
        const std::size_t i = size_ % kPanel;
        if (size_ / kPanel == panels_.size())
            panels_.emplace_back(kPanel * (panels_.size() + 1) * kPanel);
        Aligned<T>& panel = panels_[size_ / kPanel];
        const std::size_t width = panel.size() / kPanel;
        for (std::size_t j = 0; j <= size_; ++j)
            panel[(i / L * width + j) * L + i % L] = static_cast<T>(row[j]);
        ++size_;
    }

    // out[q] = R vectors[q]. What a vector has beyond size() does not count, but must be finite.
    void times(std::span<const T* const> vectors, T* const* out) const {
        const isa::Shape<T> plain{isa::Form::linear, 1, T(1), T(0), T(0)};
        std::vector<T*> target(vectors.size());
        for (std::size_t first = 0; first < size_; first += kPanel) {
            const Aligned<T>& panel = panels_[first / kPanel];
            const std::size_t lines = (std::min(kPanel, size_ - first) + L - 1) / L;
            for (std::size_t q = 0; q < target.size(); ++q) target[q] = out[q] + first;
            poll(panel.size() * vectors.size());
            isa::table<T>().rows(plain, panel.data(), nullptr, panel.size() / kPanel, 0, lines,
                                 vectors.data(), nullptr, vectors.size(), target.data());
        }
    }

    std::size_t nbytes() const {
        std::size_t n = panels_.capacity() * sizeof(Aligned<T>);
        for (const Aligned<T>& panel : panels_) n += panel.capacity() * sizeof(T);
        return n;
    }

    // A row that is taken back stays where it is until another is written over it.
    void mark() noexcept { was_ = size_; }
    void commit() noexcept {}
    void revert() noexcept { size_ = was_; }

  private:
    static constexpr std::size_t L = isa::lanes<T>;

    std::size_t size_ = 0, was_ = 0;
    std::vector<Aligned<T>> panels_;
};

}  // namespace onlinesvm
