// A long computation looks up now and then: every loop that can run long polls, and whoever runs it
// may end it there by throwing. What is thrown is a failure like any other.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace onlinesvm {

class Interrupt {
    using Clock = std::chrono::steady_clock;
    using Ask = void (*)(void* whom);  // throws to end the computation

    struct Listener {
        std::int64_t left, work;  // until the clock is read, in multiply-adds or so
        std::chrono::milliseconds every;
        Ask ask;
        void* whom;
        Clock::time_point asked;  // last, or when counting began
    };
    static inline constinit thread_local Listener* here = nullptr;  // nobody listens

  public:
    // How often a poll becomes a question: once so much has been done and so much time has passed.
    struct Pace {
        std::int64_t work;
        std::chrono::milliseconds every;
    };
    static constexpr Pace patient{std::int64_t(1) << 17, std::chrono::milliseconds(100)};
    static constexpr Pace brisk{std::int64_t(1) << 17, std::chrono::milliseconds(0)};
    static constexpr Pace always{1, std::chrono::milliseconds(0)};

    // While it lives, polls of this thread reach `ask`; nobody, if that is nullptr.
    class Listening {
      public:
        Listening(Ask ask, void* whom, Pace pace)
            : mine_{pace.work, pace.work, pace.every, ask, whom, {}},
              before_(std::exchange(here, ask ? &mine_ : nullptr)) {}
        ~Listening() { here = before_; }
        Listening(const Listening&) = delete;
        Listening& operator=(const Listening&) = delete;

      private:
        Listener mine_;
        Listener* before_;
    };

    static void poll(std::size_t work) {
        if (Listener* listener = here; listener && (listener->left -= std::int64_t(work) + 1) < 0)
            look(*listener);
    }
    // Asks at once: for waits, in which nothing is done.
    static void ask() {
        if (here) here->ask(here->whom);
    }

  private:
    static void look(Listener& listener) {
        listener.left = listener.work;
        if (listener.every.count() > 0) {
            const auto now = Clock::now();
            if (listener.asked == Clock::time_point()) listener.asked = now;
            if (now - listener.asked < listener.every) return;
            listener.asked = now;
        }
        listener.ask(listener.whom);
    }
};

inline void poll(std::size_t work) { Interrupt::poll(work); }

}  // namespace onlinesvm
