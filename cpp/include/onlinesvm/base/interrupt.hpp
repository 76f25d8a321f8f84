// A long computation looks up now and then: every loop that can run long polls, and whoever runs it
// may end it there by throwing. What is thrown is a failure like any other.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace onlinesvm {

class Interrupt {
    using Clock = std::chrono::steady_clock;
    using Ask = void (*)(void* whom);  // throws to end the computation

    struct Listener {
        std::int64_t left, work;  // until the clock is read, in multiply-adds or so
        std::chrono::milliseconds every;
        Ask ask;  // nullptr: nobody listens
        void* whom;
        Clock::time_point asked;  // last, or when counting began
    };
    static inline constinit thread_local Listener here{
        0, std::int64_t(1) << 40, {}, nullptr, nullptr, {}};

  public:
    // How often a poll becomes a question: once so much has been done and so much time has passed.
    struct Pace {
        std::int64_t work;
        std::chrono::milliseconds every;
    };
    static constexpr Pace patient{std::int64_t(1) << 17, std::chrono::milliseconds(100)};
    static constexpr Pace brisk{std::int64_t(1) << 17, std::chrono::milliseconds(0)};
    static constexpr Pace always{1, std::chrono::milliseconds(0)};

    // While it lives, polls of this thread reach `ask`.
    class Listening {
      public:
        Listening(Ask ask, void* whom, Pace pace) : before_(here) {
            here = {pace.work, pace.work, pace.every, ask, whom, {}};
        }
        ~Listening() { here = before_; }
        Listening(const Listening&) = delete;
        Listening& operator=(const Listening&) = delete;

      private:
        Listener before_;
    };

    static void poll(std::size_t work) {
        if ((here.left -= std::int64_t(work) + 1) < 0) look();
    }
    // Asks at once: for waits, in which nothing is done.
    static void ask() {
        if (here.ask) here.ask(here.whom);
    }

  private:
    static void look() {
        here.left = here.work;
        if (!here.ask) return;
        if (here.every.count() > 0) {
            const auto now = Clock::now();
            if (here.asked == Clock::time_point()) here.asked = now;
            if (now - here.asked < here.every) return;
            here.asked = now;
        }
        ask();
    }
};

inline void poll(std::size_t work) { Interrupt::poll(work); }

}  // namespace onlinesvm
