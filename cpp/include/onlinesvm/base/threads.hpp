// Work shared among threads where every share is independent, so that the results have the same bits
// for any number of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace onlinesvm {

// Calls work(begin, end) for shares of [0, n) that begin at multiples of `grain`; the caller takes
// the first. What one throws is thrown here, once all have ended.
template <class Work>
void share_out(std::size_t threads, std::size_t n, std::size_t grain, Work&& work) {
    const std::size_t grains = (n + grain - 1) / grain;
    threads = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(grains, 1));
    if (threads == 1) return work(std::size_t(0), n);
    std::exception_ptr failure;
    std::mutex guard;
    const auto share = [&](std::size_t t) {
        try {
            work(grains * t / threads * grain, std::min(n, grains * (t + 1) / threads * grain));
        } catch (...) {
            const std::lock_guard lock(guard);
            failure = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> others;
        for (std::size_t t = 1; t < threads; ++t) others.emplace_back(share, t);
        share(0);
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace onlinesvm
