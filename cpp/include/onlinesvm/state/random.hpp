// Random numbers that are the same on every machine and fit into a saved state (splitmix64).
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "onlinesvm/state/archive.hpp"

namespace onlinesvm {

class Random {
  public:
    explicit Random(std::int64_t seed = 0) : state_(std::bit_cast<std::uint64_t>(seed)) {}

    // Any of 0, ..., n - 1; the excess of the first few is below n / 2^64.
    std::size_t below(std::size_t n) { return std::size_t(next() % n); }

    // A stream of its own for every number, whatever was drawn here before or after.
    Random fork(std::size_t number) const {
        Random other = *this;
        other.state_ ^= Random(std::int64_t(number)).next();
        other.state_ = other.next();
        return other;
    }
    // Uniform in the open interval from 0 to 1.
    double unit() { return (double(next() >> 12) + 0.5) * 0x1p-52; }
    // Standard normal, by Box and Muller; the second of each pair is left where it is.
    double normal() {
        const double length = std::sqrt(-2.0 * std::log(unit()));
        return length * std::cos(2.0 * std::numbers::pi * unit());
    }

    template <class A>
    void state(A& a) {
        std::int64_t bits = std::bit_cast<std::int64_t>(state_);
        a("bits", any(bits));
        state_ = std::bit_cast<std::uint64_t>(bits);
    }

  private:
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    std::uint64_t state_;
};

}  // namespace onlinesvm
