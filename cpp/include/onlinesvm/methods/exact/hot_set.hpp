// Keeps the hot members few: those firmly at a bound leave, once there are many more than may move.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "onlinesvm/function/kernel_cache.hpp"
#include "onlinesvm/solver/signed_dual.hpp"

namespace onlinesvm {

class HotSet {
  public:
    // `supports` says of a slot whether it counts in f.
    template <class T, class Machine, class Supports>
    void relax(KernelCache<T>& rows, std::vector<std::unique_ptr<Machine>>& machines,
               Supports&& supports) {
        if (std::int64_t(rows.hot()) <= limit_) return;
        for (auto& machine : machines) machine->sync(Moves::all);
        const auto firm = [&](Slot j) {
            return std::all_of(machines.begin(), machines.end(),
                               [&](auto& machine) { return machine->firm(j); });
        };
        rows.together([&] {
            for (Slot j(rows.resting()); j < rows.active(); ++j)
                if (supports(j) && firm(j)) rows.rest(j);
            for (Slot j(rows.active()); j-- > rows.resting();)
                if (!supports(j) && firm(j)) rows.demote(j);
        });
        limit_ = std::max(kFew, std::int64_t(kGrowth * double(rows.hot())));
    }

    auto undoable() { return std::tie(limit_); }
    template <class A>
    void state(A& a, const char* name) {
        a(name, limit_);
    }

  private:
    static constexpr double kGrowth = 1.5;  // before the firm ones leave
    static constexpr std::int64_t kFew = 64;

    std::int64_t limit_ = kFew;
};

}  // namespace onlinesvm
