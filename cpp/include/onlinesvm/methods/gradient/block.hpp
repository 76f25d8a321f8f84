// Examples of a block that is not full yet, each with the way it wants to move the outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "onlinesvm/function/function.hpp"
#include "onlinesvm/memory/undo.hpp"
#include "onlinesvm/rows/row.hpp"

namespace onlinesvm {

template <class T>
class Block {
  public:
    struct Member {
        OwnedRow<T> x;
        Id id{};
        std::vector<Change> moves;

        template <class A>
        void state(A& a) {
            a("x", x);
            a("id", id);
            a("moves", moves);
            if constexpr (A::loading)
                demand(is_sound(x.row(), a.features()), "an example of the block does not fit");
        }
    };

    void push(const Example<T>& e, std::span<const Change> moves) {
        waiting.push_back({OwnedRow<T>(e.x), e.id, {moves.begin(), moves.end()}});
    }
    // f takes all the moves, each `factor` as long.
    void empty_into(Function<T>& f, double factor) {
        if (waiting.empty()) return;
        for (const Member& member : waiting) {
            std::vector<Change> moves = member.moves;
            for (Change& move : moves) move.step *= factor;
            const Row<T> x = member.x.row();
            f.revisit(x);
            f.add({.x = x, .id = member.id}, moves);
        }
        waiting.clear();
    }

    // Two classes share one output, +1 for the second; with a third each has its own.
    void split() {
        for (Member& member : waiting.edit())
            for (const Change& c : std::exchange(member.moves, {})) {
                member.moves.push_back({0, -0.5 * c.step});
                member.moves.push_back({1, 0.5 * c.step});
            }
    }

    // A state that was loaded: of so many examples, all read by f, moving outputs that it has.
    void demand_fits(const Function<T>& f, std::int64_t seen) const {
        demand(std::int64_t(waiting.size()) <= seen, "the block holds more than it has seen");
        for (const Member& member : waiting) {
            demand(f.has_room_for(member.x.row()), "an example of the block is too wide");
            for (const Change& move : member.moves)
                demand(move.output < f.outputs(), "an example of the block moves no output");
        }
    }

    auto undoable() { return std::tie(waiting); }

    template <class A>
    void state(A& a) {
        a("waiting", waiting);
    }

  private:
    PlainLedger<Member> waiting;
};

}  // namespace onlinesvm
