// The GIL, let go and taken back. Python can be asked who holds it, but not through its stable ABI: so
// every thread remembers it itself, and nobody here lets go or takes by another way.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

namespace onlinesvm::bind {

class Gil {
    // What a call from Python begins with; threads of our own never let go.
    static inline constinit thread_local bool mine = true;

  public:
    // While it lives, this thread does without; where it does already, nothing changes.
    class Released {
      public:
        Released() : state_(std::exchange(mine, false) ? PyEval_SaveThread() : nullptr) {}
        ~Released() {
            if (!state_) return;
            PyEval_RestoreThread(state_);
            mine = true;
        }
        Released(const Released&) = delete;
        Released& operator=(const Released&) = delete;

      private:
        PyThreadState* state_;
    };

    // While it lives, this thread may run Python.
    class Taken {
      public:
        Taken() : before_(std::exchange(mine, true)) {}
        ~Taken() { mine = before_; }
        Taken(const Taken&) = delete;
        Taken& operator=(const Taken&) = delete;

      private:
        nanobind::gil_scoped_acquire gil_;
        bool before_;
    };
};

}  // namespace onlinesvm::bind
