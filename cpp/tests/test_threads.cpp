// A crew does every share once, hands on what one throws, and can be dismissed at any time. Models
// large enough for their work to be divided learn the same bits with any number of threads, however
// the stream is cut, over a save in the middle, and after a call that was interrupted.
#include <atomic>
#include <numeric>

#include "check.hpp"
#include "onlinesvm/methods/dual/lasvm.hpp"
#include "onlinesvm/methods/exact/incremental.hpp"
#include "onlinesvm/methods/exact/ramp.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

namespace {

void every_share_is_done_once() {
    for (std::size_t hands : {1u, 2u, 3u, 8u}) {
        Crew crew(hands);
        for (std::size_t shares : {0u, 1u, 2u, 7u, 100u}) {
            std::vector<std::atomic<int>> done(shares);
            crew.work(shares, [&](std::size_t i) { ++done[i]; });
            for (const auto& times : done) CHECK(times == 1);
        }
        for (std::size_t n : {0u, 1u, 63u, 64u, 65u, 1000u}) {
            std::vector<std::atomic<int>> done(n);
            const auto share = [&](std::size_t first, std::size_t last) {
                CHECK(first % 64 == 0);
                for (std::size_t i = first; i < last; ++i) ++done[i];
            };
            crew.divide(n, 64, share);
            for (const auto& times : done) CHECK(times == 1);
            share_out(hands, n, 64, share);
            for (const auto& times : done) CHECK(times == 2);
            crew.dismiss();
        }
    }
}

void many_short_jobs_follow_each_other() {
    Crew crew(3);
    std::int64_t total = 0;
    std::vector<std::int64_t> parts(5);
    for (int job = 0; job < 20'000; ++job) {  // what a share writes, the leader reads
        crew.work(parts.size(), [&](std::size_t i) { parts[i] = std::int64_t(i) + total % 7; });
        total = std::accumulate(parts.begin(), parts.end(), total);
        if (job % 5000 == 0) crew.resize(job % 2 == 0 ? 2 : 4);
    }
    std::int64_t expected = 0;
    for (int job = 0; job < 20'000; ++job) expected += 10 + 5 * (expected % 7);
    CHECK(total == expected);
}

void a_share_works_alone() {
    Crew crew(4);
    std::atomic<int> done = 0;
    crew.work(4, [&](std::size_t) {
        CHECK(crew.busy());
        crew.work(10, [&](std::size_t) { ++done; });
    });
    CHECK(done == 40 && !crew.busy());
}

void a_failure_ends_the_job() {
    Crew crew(3);
    for (std::size_t who = 0; who < 6; ++who) {
        bool failed = false;
        try {
            crew.work(6, [&](std::size_t i) {
                if (i == who) throw std::runtime_error("share");
            });
        } catch (const std::runtime_error&) {
            failed = true;
        }
        CHECK(failed);
        std::atomic<int> done = 0;  // and the next is as any other
        crew.work(6, [&](std::size_t) { ++done; });
        CHECK(done == 6);
    }
}

// The leader is interrupted while a helper is at work: the helper hears of it at its next poll.
void an_interrupt_reaches_all() {
    struct Told {};
    const auto tell = [](void*) { throw Told(); };
    Crew crew(2);
    std::atomic<int> arrived = 0;
    bool told = false;
    try {
        const Interrupt::Listening listening(tell, nullptr, Interrupt::always);
        crew.work(2, [&](std::size_t) {
            for (++arrived; arrived < 2;) std::this_thread::yield();  // both have one
            for (;;) poll(1);
        });
    } catch (const Told&) {
        told = true;
    }
    CHECK(told);
}

// ---- models ----

struct Interrupted {};
std::int64_t polls_left = 0;
void interrupt(void*) {
    if (--polls_left < 0) throw Interrupted();
}

template <class Algo, class T>
Memory learned(const typename Algo::Params& params, const Stream<T>& stream, std::size_t classes,
               std::size_t hands, std::size_t ahead) {
    Algo model(params);
    model.grow(classes);
    model.use_threads(hands);
    learn(model, stream, 0, stream.size(), ahead);
    return saved(model);
}

template <class Algo, class T>
void same_bits(const typename Algo::Params& params, const Stream<T>& stream, std::size_t classes) {
    const Memory alone = learned<Algo>(params, stream, classes, 1, 36);
    for (std::size_t hands : {2u, 3u, 8u})
        CHECK(learned<Algo>(params, stream, classes, hands, hands == 3 ? 0 : 36) == alone);

    const std::size_t near_the_end = stream.size() - 40;
    Algo first(params);
    first.grow(classes);
    first.use_threads(3);
    learn(first, stream, 0, near_the_end, 20);
    Memory before = saved(first);

    Before<Algo> mark;  // interrupted now and then: nothing has happened
    for (std::int64_t many : {0, 50, 400}) {
        const Interrupt::Listening listening(interrupt, nullptr, Interrupt::always);
        polls_left = many;
        try {
            attempt(first, mark, [&] {
                learn(first, stream, near_the_end, stream.size(), 36);
                throw Interrupted();  // it has ended before
            });
        } catch (const Interrupted&) {
        }
        CHECK(saved(first) == before);
    }

    Algo resumed(params);
    resumed.grow(classes);
    restore(resumed, before, stream[0].width, first.outputs());
    resumed.use_threads(2);
    for (Algo* model : {&first, &resumed}) {
        learn(*model, stream, near_the_end, stream.size(), 36);
        CHECK(saved(*model) == alone);
    }
}

}  // namespace

int main() {
    every_share_is_done_once();
    many_short_jobs_follow_each_other();
    a_share_works_alone();
    a_failure_ends_the_job();
    an_interrupt_reaches_all();

    const Stream<float> three(1500, 12, 3, false);
    auto las = boxed<Lasvm<float>>(Shape::rbf);
    las.kernel.gamma = 20;  // nearly every example is a support vector
    same_bits<Lasvm<float>>(las, three, 3);
    las.reprocess = -1;
    same_bits<Lasvm<float>>(las, three, 3);
    las.cache_bytes = 1 << 16;  // the rows of all machines do not fit at once
    same_bits<Lasvm<float>>(las, Stream<float>(1200, 12, 3, false), 3);
    same_bits<Lasvm<float>>(boxed<Lasvm<float>>(Shape::rbf), Stream<float>(300, 12, 3, true), 3);

    const Stream<double> wide(900, 600, 2, false);
    same_bits<Ramp<double>>(boxed<Ramp<double>>(Shape::linear), wide, 2);
    auto exact = boxed<Incremental<float>>(Shape::rbf);
    exact.kernel.gamma = 20;
    exact.tol = 1e-4;
    same_bits<Incremental<float>>(exact, Stream<float>(500, 12, 2, false), 2);
}
