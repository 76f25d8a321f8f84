// What OISVM keeps of the examples whose errors count: y, C_i, when each came, and its row z, which is
// 1 for the bias, where there is one, and k(x_i, b) for every b of the basis.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

#include "onlinesvm/function/slotted.hpp"

namespace onlinesvm {

// Rows of one width in slot order, with room to become wider.
template <class T>
class Table {
  public:
    std::size_t width() const { return width_; }
    std::size_t nbytes() const { return values_.nbytes(); }
    const T* row(Slot j) const { return values_.data() + j * stride_; }

    void put(Slot j, std::span<const T> row) {
        if (width_ < row.size()) widen(row.size());
        for (std::size_t i = 0; i < row.size(); ++i) values_.edit(j * stride_ + i) = row[i];
    }
    void add_column(const T* column) {
        const std::size_t at = width_;
        widen(at + 1);
        for (std::size_t j = 0; j < rows_; ++j) values_.edit(j * stride_ + at) = column[j];
    }

    void slot_pushed() { values_.resize(++rows_ * stride_); }
    void slots_swapped(Slot a, Slot b) {
        for (std::size_t i = 0; i < width_; ++i) values_.swap(a * stride_ + i, b * stride_ + i);
    }
    void slot_popped() {
        --rows_;
        for (std::size_t i = 0; i < stride_; ++i) values_.pop_back();
    }
    void loaded(std::size_t slots, bool) {
        rows_ = slots, width_ = stride_ = 0;
        values_.clear();
    }
    auto undoable() { return std::tie(values_, rows_, width_, stride_); }

  private:
    void widen(std::size_t width) {
        if (width > stride_) {
            const std::size_t wider = round_up(width + width / 4, 8);
            Aligned<T> grown(checked_mul(rows_, wider));
            for (Slot j{}; j < rows_; ++j) std::copy_n(row(j), width_, grown.data() + j * wider);
            values_ = std::move(grown);
            stride_ = wider;
        }
        width_ = width;
    }

    Ledger<T> values_;
    std::size_t rows_ = 0, width_ = 0, stride_ = 0;
};

template <class T>
struct IndependentExamples final : Slotted<IndependentExamples<T>, T> {
    explicit IndependentExamples(KernelCache<T>& rows) : IndependentExamples::Slotted(rows) {
        this->follow_slots();
    }
    auto parts() {
        return std::tuple(saved("y", y), saved("C", C), saved("arrival", arrival), unsaved(z));
    }

    Column<double> y, C;  // a class number or a target; C_i
    Column<std::int64_t> arrival;
    Table<T> z;
};

}  // namespace onlinesvm
