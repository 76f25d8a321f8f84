// Failures on demand: every allocation, every call of a user's kernel and every poll for an interrupt,
// made to fail at a chosen place.
//
// A verb is tried with the failure at its first place, at its second, ... until it comes through. Each
// time the model must be what it was, bit for bit; in the end it must be what it would be had nothing
// ever failed. ONLINESVM_INJECT=1 tries every place, else a slice of them.
#pragma once

// Both sides of every pair are replaced at the end of this file; GCC 12 sees one when it inlines.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <stdexcept>

#include "check.hpp"
#include "onlinesvm/loops/interrupt.hpp"
#include "onlinesvm/memory/undo.hpp"

namespace onlinesvm::test {

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Counts down to the place where it fails, and goes on failing until it is disarmed: taking a change
// back must need nothing.
class Fuse {
  public:
    void arm(std::int64_t place) { left_ = place; }
    void disarm() { left_ = kNever; }
    bool burns() {
        if (left_ == kNever) return false;
        left_ = std::max<std::int64_t>(left_ - 1, 0);
        return left_ == 0;
    }

    std::int64_t struck = 0;

  private:
    static constexpr std::int64_t kNever = -1;
    std::int64_t left_ = kNever;
};
inline Fuse allocations, kernel_calls, polls;

// exp(-|x - x'|^2 / 2), as a user would write it.
inline Kernel user_kernel() {
    Kernel k;
    k.shape = Shape::function;
    k.function = [](const double* x, const double* rows, std::size_t n, std::size_t d,
                    double* out) {
        if (kernel_calls.burns()) throw Failure("kernel");
        for (std::size_t i = 0; i < n; ++i) {
            double square = 0;
            for (std::size_t f = 0; f < d; ++f) {
                const double way = x[f] - rows[i * d + f];
                square += way * way;
            }
            out[i] = std::exp(-0.5 * square);
        }
    };
    return k;
}

inline void interrupt(void*) {
    if (polls.burns()) throw Failure("interrupt");
}

// A model that goes through a life of verbs, each with failures at many places.
template <class Algo>
class Victim {
  public:
    using Verb = std::function<void(Algo&)>;

    explicit Victim(const typename Algo::Params& params) : model_(params), twin_(params) {}

    Victim& survives(const Verb& verb) {
        verb(twin_);
        fails(allocations, verb);
        fails(kernel_calls, verb);
        const Interrupt::Listening listening(interrupt, nullptr, Interrupt::always);
        fails(polls, verb);
        attempt(model_, before_, [&] { verb(model_); });
        demand_same(saved(twin_), 0);
        return *this;
    }
    template <class T>
    Victim& learns(const Stream<T>& stream, std::size_t first, std::size_t last,
                   std::size_t ahead) {
        const std::size_t step = ahead > 0 ? last - first : 1;
        for (std::size_t i = first; i < last; i += step)
            survives([&](Algo& m) { learn(m, stream, i, i + step, ahead); });
        return *this;
    }
    const Algo& model() const { return model_; }

  private:
    struct Through {};

    void fails(Fuse& fuse, const Verb& verb) {
        static const std::int64_t stride = std::getenv("ONLINESVM_INJECT") ? 1 : 13;
        const Memory was = saved(model_);
        for (std::int64_t place = 1, failed = 1; failed; place += stride) {
            failed = 0;
            fuse.arm(place);
            try {
                attempt(model_, before_, [&] {
                    verb(model_);
                    throw Through();  // the last time of all it is taken back, too
                });
            } catch (const Through&) {
            } catch (const std::bad_alloc&) {
                failed = 1;
            } catch (const Failure&) {
                failed = 1;
            }
            fuse.disarm();
            fuse.struck += failed;
            demand_same(was, place);
        }
    }
    void demand_same(const Memory& was, std::int64_t place) {
        const Memory is = saved(model_);
        if (is == was) return;
        std::fprintf(stderr, "after a failure at place %lld: %s has changed\n",
                     static_cast<long long>(place), was.unlike(is).c_str());
        std::exit(1);
    }

    Algo model_, twin_;
    Before<Algo> before_;
};

// A life that every classifier can lead: dense rows or sparse ones, one by one and in blocks, and a
// third class that comes late.
template <class Algo, class T>
void grow_up(Victim<Algo>& victim, const Stream<T>& stream) {
    victim.survives([](Algo& m) { m.grow(2); });
    victim.learns(stream, 0, 16, 16).learns(stream, 16, 22, 0).learns(stream, 22, 30, 8);
}
template <class Algo, class T>
Victim<Algo> grown(const typename Algo::Params& params, const Stream<T>& stream) {
    Victim<Algo> victim(params);
    grow_up(victim, stream);
    return victim;
}

inline void say_how_many(const char* who) {
    const auto count = [](const Fuse& fuse) { return static_cast<long long>(fuse.struck); };
    std::printf(
        "%s: failed %lld allocations, %lld kernel calls, %lld polls; every model as before\n", who,
        count(allocations), count(kernel_calls), count(polls));
}

inline const std::vector<Id> kSome = {Id(1), Id(2), Id(5), Id(9), Id(14), Id(20)};

}  // namespace onlinesvm::test

inline void* operator_new(std::size_t n, std::size_t alignment) noexcept {
    if (onlinesvm::test::allocations.burns()) return nullptr;
    return std::aligned_alloc(alignment, (n + alignment) / alignment * alignment);
}
// Replacements of these must not be inline, and each program includes this file once.
// NOLINTBEGIN(misc-definitions-in-headers)
void* operator new(std::size_t n) {
    if (void* p = operator_new(n, alignof(std::max_align_t))) return p;
    throw std::bad_alloc();
}
void* operator new(std::size_t n, std::align_val_t alignment) {
    if (void* p = operator_new(n, std::size_t(alignment))) return p;
    throw std::bad_alloc();
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
    return operator_new(n, alignof(std::max_align_t));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
// NOLINTEND(misc-definitions-in-headers)
