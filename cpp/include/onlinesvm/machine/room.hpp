// How much a model may keep, and who of those it keeps may go.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "onlinesvm/function/function.hpp"
#include "onlinesvm/state/checked.hpp"

namespace onlinesvm {

// So many examples, or so many bytes; two examples at least.
struct Room {
    static constexpr std::size_t kAll = std::size_t(1) << 62;

    std::size_t examples;
    std::size_t bytes = 0;  // 0: whatever the examples need

    Room(std::size_t examples = kAll) : examples(examples) {}

    bool is_bounded() const { return examples < kAll || bytes > 0; }

    void fields(auto&& f) { f("budget", examples), f("budget_bytes", bytes); }

    // The most examples there is room for, where so many cost `bytes_of(n)`.
    template <class Cost>
    std::size_t most(Cost&& bytes_of) const {
        if (bytes == 0) return std::max<std::size_t>(2, examples);
        require(bytes_of(2) <= bytes, "budget: too few bytes for two examples; allow more");
        std::size_t fits = 2, beyond = bytes;
        while (beyond - fits > 1) {
            const std::size_t n = fits + (beyond - fits) / 2;
            (bytes_of(n) <= bytes ? fits : beyond) = n;
        }
        return fits;
    }

    // `more` bytes are needed besides f.
    template <class T>
    bool is_exceeded_by(const Function<T>& f, std::size_t more = 0) const {
        if (f.size() > std::max<std::size_t>(2, examples)) return true;
        if (bytes == 0 || f.linear() || f.footprint() + more <= bytes) return false;
        require(f.size() > 2, "budget: too few bytes for two examples; allow more");
        return true;
    }
};

// No class is to vanish: whoever is alone on its side stays.
struct Company {
    // Of the coefficients of the one chosen with those of the others; 0 with its own.
    std::vector<double> products;

    // Of those in company the one of the lowest rank; of those that are equal but for rounding the
    // last: where it is the newest, its kernel row is at hand. All alone: as if none were.
    template <class T>
    Slot lowest(const Function<T>& f, const std::vector<double>& rank) {
        left = rank;
        for (std::size_t tries = 0; tries < f.size(); ++tries) {
            const Slot p = choose(f);
            if (*std::max_element(products.begin(), products.end()) > 0.0) return p;
            left[p] = std::numeric_limits<double>::infinity();
        }
        left = rank;
        return choose(f);
    }

    // The one that was stored in the earliest round.
    template <class T>
    Slot oldest(const Function<T>& f) {
        const auto born = f.births();
        const std::int64_t first = *std::min_element(born.begin(), born.end());
        rank.resize(born.size());
        for (std::size_t i = 0; i < born.size(); ++i)
            rank[i] = static_cast<double>(born[i] - first);
        return lowest(f, rank);
    }

  private:
    std::vector<double> rank, left;

    template <class T>
    Slot choose(const Function<T>& f) {
        const double least = *std::min_element(left.begin(), left.end()) * (1.0 + 1e-9);
        Slot p(left.size() - 1);
        while (left[p] > least) p--;
        f.products(p, products);
        products[p] = 0.0;
        return p;
    }
};

}  // namespace onlinesvm
