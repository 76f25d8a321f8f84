// Work shared among threads where every share is independent, so that the results have the same bits
// for any number of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "onlinesvm/base/interrupt.hpp"

namespace onlinesvm {

// What several threads do together: one failure ends the work of all.
class Team {
  public:
    explicit Team(std::size_t helpers) : helpers_(helpers) {}

    // A share of the caller's own.
    template <class Share>
    void lead(Share&& share) {
        attempt(share);
        attempt([&] { wait(); });
    }
    // A share of another thread.
    template <class Share>
    void help(Share&& share) {
        const Interrupt::Listening listening(stop, &failed_, Interrupt::brisk);
        attempt(share);
        const std::lock_guard lock(guard_);
        if (--helpers_ == 0) ended_.notify_all();
    }
    // Once all have ended: what the first to fail threw.
    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    struct Stopped {};
    static void stop(void* failed) {
        if (*static_cast<std::atomic<bool>*>(failed)) throw Stopped();
    }

    template <class Share>
    void attempt(Share&& share) {
        try {
            share();
        } catch (const Stopped&) {  // the one who failed has said why
        } catch (...) {
            const std::lock_guard lock(guard_);
            if (!failed_.exchange(true)) failure_ = std::current_exception();
        }
    }
    void wait() {
        std::unique_lock lock(guard_);
        while (!ended_.wait_for(lock, Interrupt::patient.every, [&] { return helpers_ == 0; })) {
            lock.unlock();
            Interrupt::ask();
            lock.lock();
        }
    }

    std::size_t helpers_;
    std::atomic<bool> failed_ = false;
    std::exception_ptr failure_;
    std::mutex guard_;
    std::condition_variable ended_;
};

// Calls work(begin, end) for shares of [0, n) that begin at multiples of `grain`; the caller takes
// the first. What one throws is thrown here, once all have ended.
template <class Work>
void share_out(std::size_t threads, std::size_t n, std::size_t grain, Work&& work) {
    const std::size_t grains = (n + grain - 1) / grain;
    threads = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(grains, 1));
    if (threads == 1) return work(std::size_t(0), n);
    const auto share = [&](std::size_t t) {
        work(grains * t / threads * grain, std::min(n, grains * (t + 1) / threads * grain));
    };
    Team team(threads - 1);
    {
        std::vector<std::jthread> others;
        others.reserve(threads - 1);
        for (std::size_t t = 1; t < threads; ++t)
            others.emplace_back([&, t] { team.help([&] { share(t); }); });
        team.lead([&] { share(0); });
    }
    team.rethrow();
}

}  // namespace onlinesvm
