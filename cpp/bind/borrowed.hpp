// Working memory of one call, taken from what this thread has idle: a call within a call, from a
// kernel or a __float__, gets other memory.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace onlinesvm::bind {

template <class Scratch>
class Borrowed {
  public:
    Borrowed() {
        if (idle.empty()) {
            mine_ = std::make_unique<Scratch>();
        } else {
            mine_ = std::move(idle.back());
            idle.pop_back();
        }
    }
    ~Borrowed() {
        if (idle.size() < idle.capacity()) idle.push_back(std::move(mine_));
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;

    Scratch& operator*() { return *mine_; }
    Scratch* operator->() { return mine_.get(); }

  private:
    struct Idle : std::vector<std::unique_ptr<Scratch>> {
        Idle() { this->reserve(4); }
    };
    static inline thread_local Idle idle;
    std::unique_ptr<Scratch> mine_;
};

}  // namespace onlinesvm::bind
