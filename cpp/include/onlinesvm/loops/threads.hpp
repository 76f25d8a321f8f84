// Work shared among threads where every share is independent, so that the results have the same bits
// for any number of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

#include "onlinesvm/loops/interrupt.hpp"

namespace onlinesvm {

// Threads that do one job after another with whoever leads them. A job is a number of shares, and who
// is free takes the next one: a thread that the machine has no time for is not waited for. They start
// with the first job; between two they stay awake for a moment, then they sleep.
class Crew {
  public:
    explicit Crew(std::size_t hands = 1) : hands_(hands) {}
    ~Crew() { dismiss(); }
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    // How many work, the leader among them.
    std::size_t hands() const { return hands_; }
    void resize(std::size_t hands) {
        if (hands != hands_) dismiss();
        hands_ = hands;
    }

    bool busy() const { return busy_; }  // with a job: then it is asked by a share of it

    // Calls share(i) for every i below `shares`. What one throws is thrown here, once all have ended:
    // one failure ends the work of all. A share that calls this does all of it itself.
    template <class Share>
    void work(std::size_t shares, Share&& share) {
        if (shares <= 1 || shares > kMost || hands_ == 1 || busy_) {
            for (std::size_t i = 0; i < shares; ++i) share(i);
            return;
        }
        gather();
        job_ = {[](void* what, std::size_t i) {
                    (*static_cast<std::remove_reference_t<Share>*>(what))(i);
                },
                const_cast<void*>(static_cast<const void*>(&share))};
        lead(shares);
    }
    // Calls share(begin, end) for parts of [0, n) that begin at multiples of `grain`: so many for each hand,
    // where there are several.
    template <class Share>
    void divide(std::size_t n, std::size_t grain, Share&& share, std::size_t each = 1) {
        const std::size_t grains = (n + grain - 1) / grain, parts = std::min(each * hands_, grains);
        if (parts <= 1 || hands_ == 1 || busy_) return share(std::size_t(0), n);
        work(parts, [&](std::size_t i) {
            share(grains * i / parts * grain, std::min(n, grains * (i + 1) / parts * grain));
        });
    }

    // No thread is left until the next job.
    void dismiss() noexcept {
        if (threads_.empty()) return;
        ticket_.store(kDismissed);
        ticket_.notify_all();
        const bool gone = home_ != process();  // a fork has copied the list, not the threads
        for (std::thread& thread : threads_) gone ? thread.detach() : thread.join();
        threads_.clear();
        ticket_.store(0);
    }

  private:
    // How many jobs there have been, how many shares the last one has, and how many of them are taken:
    // who takes one by a single exchange has one of the job that is at hand.
    using Ticket = std::uint64_t;
    static constexpr std::size_t kMost = 0xffff;  // shares
    static constexpr Ticket kDismissed = ~Ticket(0);
    static Ticket ticket(std::uint64_t job, std::size_t shares) { return job << 32 | shares << 16; }
    static std::size_t shares(Ticket t) { return t >> 16 & kMost; }
    static std::size_t taken(Ticket t) { return t & kMost; }

    static constexpr int kAwake = 2000;  // looks at the ticket before a thread sleeps
    static constexpr std::chrono::microseconds kNap{50};

    struct Job {
        void (*share)(void* what, std::size_t i) = nullptr;
        void* what = nullptr;
    };
    struct Stopped {};

    void gather() {
        threads_.reserve(hands_ - 1);
        if (!threads_.empty()) return;
        home_ = process();
        awake_ = hands_ <= std::max(1U, std::thread::hardware_concurrency()) ? kAwake : 0;
        try {
            while (threads_.size() + 1 < hands_) threads_.emplace_back([this] { serve(); });
        } catch (const std::system_error&) {  // those there are do it all
        }
    }
    void lead(std::size_t shares) {
        shares_left_.store(shares, std::memory_order_relaxed);
        failed_ = false;
        failing_.clear();
        busy_ = true;
        ticket_.store(ticket(++jobs_ & 0x7fffffff, shares), std::memory_order_release);
        ticket_.notify_all();
        while (take_share(ticket_.load(std::memory_order_acquire))) {
        }
        wait();
        busy_ = false;
        if (failed_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }
    void serve() {
        const Interrupt::Listening listening(stop, &failed_, Interrupt::brisk);
        for (;;) {
            const Ticket now = ticket_.load(std::memory_order_acquire);
            if (now == kDismissed) return;
            if (!take_share(now)) stand_by(now);
        }
    }
    bool take_share(Ticket now) {
        while (taken(now) < shares(now)) {
            if (!ticket_.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel)) continue;
            attempt([&] { job_.share(job_.what, taken(now)); });
            shares_left_.fetch_sub(1, std::memory_order_acq_rel);
            return true;
        }
        return false;
    }
    void stand_by(Ticket now) {
        for (int i = 0; i < awake_; ++i) {
            if (ticket_.load(std::memory_order_relaxed) != now) return;
            breathe();
        }
        ticket_.wait(now, std::memory_order_acquire);
    }
    // For the shares that others have taken. Long ones must not keep an interrupt waiting.
    void wait() {
        for (int i = 0; i < kAwake; ++i) {
            if (finished()) return;
            breathe();
        }
        auto asked = std::chrono::steady_clock::now();
        while (!finished()) {
            std::this_thread::sleep_for(kNap);
            const auto now = std::chrono::steady_clock::now();
            if (now - asked < Interrupt::patient.every) continue;
            asked = now;
            attempt([] { Interrupt::ask(); });
        }
    }
    bool finished() const { return shares_left_.load(std::memory_order_acquire) == 0; }

    template <class Share>
    void attempt(Share&& share) {
        if (failed_) return;
        try {
            share();
        } catch (const Stopped&) {  // the one who failed has said why
        } catch (...) {
            if (failing_.test_and_set()) return;
            failure_ = std::current_exception();
            failed_ = true;
        }
    }
    static void stop(void* failed) {
        if (*static_cast<std::atomic<bool>*>(failed)) throw Stopped();
    }
    static void breathe() {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__) && !defined(_MSC_VER)
        asm volatile("yield");
#else
        std::this_thread::yield();
#endif
    }
    static long process() {
#if __has_include(<unistd.h>)
        return getpid();
#else
        return 0;
#endif
    }

    std::size_t hands_;
    std::vector<std::thread> threads_;
    long home_ = 0;  // the process that the threads belong to
    int awake_ = 0;
    Job job_;
    bool busy_ = false;
    std::uint64_t jobs_ = 0;
    std::exception_ptr failure_;
    std::atomic<bool> failed_ = false;
    std::atomic_flag failing_;
    alignas(64) std::atomic<Ticket> ticket_ = 0;
    alignas(64) std::atomic<std::size_t> shares_left_ = 0;
};

// One job for as many threads, in several parts for each, since processors that others use as well get
// less done.
template <class Share>
void share_out(std::size_t hands, std::size_t n, std::size_t grain, Share&& share) {
    Crew(hands).divide(n, grain, share, 16);
}

}  // namespace onlinesvm
