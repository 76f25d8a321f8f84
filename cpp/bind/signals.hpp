// Ctrl-C during a long call: Python's signal handlers run where the computation polls.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <csignal>
#include <cstdint>

#include "gil.hpp"
#include "onlinesvm/loops/interrupt.hpp"

namespace onlinesvm::bind {

namespace nb = nanobind;

// The user's Python code, running inside a call of ours.
struct Callback {
    static inline constinit thread_local int depth = 0;
    Callback() { ++depth; }
    ~Callback() { --depth; }
};

class Signals {
  public:
    // While it lives, a computation of this thread hears signals. Only the main thread gets any, so
    // the others need not ask.
    Signals() : listening_(on_main_thread() ? ask : nullptr, nullptr, pace()) {}

    // Of this process: the one that imported Python's threading first, or forked.
    static void main_thread_is(unsigned long ident) { main_thread = ident; }

    // For tests: the signal comes at the n-th poll from now; 0: never. How many were left before.
    static std::int64_t interrupt_after(std::int64_t polls) { return until_ctrl_c.exchange(polls); }

  private:
    static bool on_main_thread() { return PyThread_get_thread_ident() == main_thread; }
    static Interrupt::Pace pace() {
        return until_ctrl_c > 0 ? Interrupt::always : Interrupt::patient;
    }
    static void ask(void*) {
        if (until_ctrl_c > 0)
            if (--until_ctrl_c == 0) std::raise(SIGINT);
        const Gil::Taken gil;
        const Callback handler;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }

    static inline std::atomic<unsigned long> main_thread = 0;
    static inline std::atomic<std::int64_t> until_ctrl_c = 0;

    Interrupt::Listening listening_;
};

}  // namespace onlinesvm::bind
