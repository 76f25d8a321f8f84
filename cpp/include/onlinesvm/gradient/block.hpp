// Examples of a block that is not full yet, each with the way it wants to move the outputs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "onlinesvm/base/linear.hpp"
#include "onlinesvm/base/row.hpp"

namespace onlinesvm {

template <class T>
class Block {
  public:
    std::size_t size() const { return ids.size(); }

    void push(Row<T> x, std::int64_t id, std::span<const Change> changes) {
        values.insert(values.end(), x.values, x.values + x.size);
        if (x.sparse()) indices.insert(indices.end(), x.indices, x.indices + x.size);
        indices.resize(values.size());
        sparse.push_back(x.sparse());
        ends.push_back(std::int64_t(values.size()));
        widths.push_back(std::int64_t(x.width));
        ids.push_back(id);
        for (const auto& [output, step] : changes) {
            outputs.push_back(std::int64_t(output));
            steps.push_back(step);
        }
        move_ends.push_back(std::int64_t(steps.size()));
    }

    Row<T> row(std::size_t i) const {
        const auto from = std::size_t(i == 0 ? 0 : ends[i - 1]);
        static constexpr std::int32_t kNone = 0;  // an empty sparse row is still sparse
        const std::int32_t* features = from < indices.size() ? &indices[from] : &kNone;
        return {values.data() + from, sparse[i] ? features : nullptr, std::size_t(ends[i]) - from,
                std::size_t(widths[i])};
    }
    std::int64_t id(std::size_t i) const { return ids[i]; }

    std::vector<Change> changes(std::size_t i) const {
        std::vector<Change> out;
        for (auto m = i == 0 ? 0 : move_ends[i - 1]; m < move_ends[i]; ++m)
            out.push_back({std::size_t(outputs[std::size_t(m)]), steps[std::size_t(m)]});
        return out;
    }

    void clear() { *this = Block(); }

    // Two classes share one output, +1 for the second; with a third each has its own.
    void split() {
        Block wider;
        for (std::size_t i = 0; i < size(); ++i) {
            std::vector<Change> both;
            for (const Change& c : changes(i)) {
                both.push_back({0, -0.5 * c.step});
                both.push_back({1, 0.5 * c.step});
            }
            wider.push(row(i), ids[i], both);
        }
        *this = std::move(wider);
    }

    auto undoable() {
        return std::tie(values, indices, sparse, ends, widths, ids, outputs, move_ends, steps);
    }

    template <class A>
    void state(A& a) {
        a("values", values);
        a("indices", indices);
        a("sparse", sparse);
        a("ends", ends);
        a("widths", widths);
        a("ids", ids);
        a("outputs", outputs);
        a("steps", steps);
        a("move_ends", move_ends);
        if constexpr (A::loading) {
            bool fits = whole();
            for (std::size_t i = 0; fits && i < size(); ++i) fits = is_sound(row(i), a.features());
            demand(fits, "the examples of the block do not fit");
        }
    }
    // Whether every example was read by this function, and moves outputs that it has.
    template <class Function>
    bool fits(const Function& f) const {
        for (std::size_t i = 0; i < size(); ++i)
            if (!f.has_room_for(row(i))) return false;
        return std::all_of(outputs.begin(), outputs.end(),
                           [&](std::int64_t o) { return std::size_t(o) < f.outputs(); });
    }

  private:
    PlainLedger<T> values;
    PlainLedger<std::int32_t> indices;
    PlainLedger<std::uint8_t> sparse;
    PlainLedger<std::int64_t> ends, widths, ids;  // one per example
    PlainLedger<std::int64_t> outputs, move_ends;
    PlainLedger<double> steps;

    bool whole() const {
        const std::size_t n = ids.size();
        const auto last = [](const auto& to) { return to.empty() ? 0 : std::size_t(to.back()); };
        const auto ascending = [](const auto& to) {
            return std::is_sorted(to.begin(), to.end()) && (to.empty() || to.front() >= 0);
        };
        return sparse.size() == n && ends.size() == n && widths.size() == n &&
               move_ends.size() == n && ascending(ends) && ascending(move_ends) &&
               last(ends) == values.size() && indices.size() == values.size() &&
               last(move_ends) == steps.size() && outputs.size() == steps.size();
    }
};

}  // namespace onlinesvm
