// The share of each of n examples in the centre of each output, all of an output shrunk at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "onlinesvm/memory/slot.hpp"
#include "onlinesvm/memory/undo.hpp"

namespace onlinesvm {

class Shares {
  public:
    Shares() = default;
    Shares(std::size_t n, std::size_t outputs) : share_(n * outputs), unit_(outputs, 1.0) {}

    double of(Id id, std::size_t o) const { return std::min(1.0, share_[place(id, o)] * unit_[o]); }
    void set(Id id, std::size_t o, double share) { share_.edit(place(id, o)) = share / unit_[o]; }
    void shrink(std::size_t o, double factor) {
        unit_.edit(o) *= factor;
        if (unit_[o] > 1e-100 && unit_[o] < 1e100) return;
        for (std::size_t i = o; i < share_.size(); i += unit_.size()) share_.edit(i) *= unit_[o];
        unit_.edit(o) = 1.0;
    }
    // Examples with a share in an output; whether one has none in any.
    std::int64_t count(std::size_t o) const {
        std::int64_t n = 0;
        for (std::size_t i = o; i < share_.size(); i += unit_.size()) n += share_[i] > 0.0;
        return n;
    }
    bool none(Id id) const {
        const auto first = share_.begin() + std::ptrdiff_t(place(id, 0));
        return std::all_of(first, first + std::ptrdiff_t(unit_.size()),
                           [](double share) { return share == 0.0; });
    }

    std::size_t nbytes() const { return nbytes_of(share_, unit_); }
    auto undoable() { return std::tie(share_, unit_); }

  private:
    PlainLedger<double> share_;  // in units of unit_; examples x outputs
    PlainLedger<double> unit_;

    std::size_t place(Id id, std::size_t o) const {
        const std::size_t at = static_cast<std::size_t>(id) * unit_.size() + o;
        if (at >= share_.size()) throw std::invalid_argument("id: not among those announced");
        return at;
    }
};

}  // namespace onlinesvm
