// The GIL, let go and taken back. Python can be asked who holds it, but not through its stable ABI: so
// every thread remembers it itself, and nobody here lets go or takes by another way.
#pragma once

#include <Python.h>

#include <chrono>
#include <thread>
#include <utility>

namespace onlinesvm::bind {

class Gil {
    // What this thread let go with; none while it holds the GIL, as a call from Python begins, and in
    // threads of our own, which never had it.
    static inline constinit thread_local PyThreadState* without = nullptr;

    // Until 3.14, Python ends a daemon thread that asks for the GIL while the interpreter shuts down, and
    // its way out through C++ would abort the process or touch objects without the GIL. As later
    // versions have it, such a thread waits for the end of the process where it is.
    template <class Take>
    static auto take(Take&& how) {
        struct Ending {
            bool ended = true;
            ~Ending() {
                while (ended) std::this_thread::sleep_for(std::chrono::hours(1));
            }
        } ending;
        auto result = how();
        ending.ended = false;
        return result;
    }
    static bool restore(PyThreadState* state) {
        return take([state] { return PyEval_RestoreThread(state), true; });
    }

  public:
    // While it lives, this thread does without; where it does already, nothing changes.
    class Released {
      public:
        Released() : state_(without ? nullptr : PyEval_SaveThread()) {
            if (state_) without = state_;
        }
        ~Released() {
            if (!state_) return;
            restore(state_);
            without = nullptr;
        }
        Released(const Released&) = delete;
        Released& operator=(const Released&) = delete;

      private:
        PyThreadState* state_;
    };

    // While it lives, this thread may run Python.
    class Taken {
      public:
        Taken() : before_(std::exchange(without, nullptr)) {
            if (before_)
                restore(before_);
            else  // it has it already, or is a thread of our own
                kind_ = take([] { return PyGILState_Ensure(); });
        }
        ~Taken() {
            if (before_)
                without = PyEval_SaveThread();
            else
                PyGILState_Release(kind_);
        }
        Taken(const Taken&) = delete;
        Taken& operator=(const Taken&) = delete;

      private:
        PyThreadState* before_;
        PyGILState_STATE kind_{};
    };
};

}  // namespace onlinesvm::bind
