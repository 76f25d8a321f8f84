// Who may touch a model, and when: many readers or one writer, in order of arrival, so that nobody
// starves. Whoever waits has let go of the GIL, so that a user's Python kernel can always run, and
// hears Ctrl-C. A thread that is inside already is told so, since it would wait for itself. A forked
// child, which has the locks but not the threads that held them, can go on or is told why not.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "onlinesvm/base/interrupt.hpp"

namespace onlinesvm::bind {

namespace nb = nanobind;

class FairMutex {
  public:
    FairMutex();
    ~FairMutex();
    FairMutex(const FairMutex&) = delete;
    FairMutex& operator=(const FairMutex&) = delete;

    void lock() { enter(For::writing); }
    bool try_lock() { return try_enter(For::writing); }
    void unlock() { leave(For::writing); }
    void lock_shared() { enter(For::reading); }
    bool try_lock_shared() { return try_enter(For::reading); }
    void unlock_shared() { leave(For::reading); }

    // A writer was inside when this process was forked: what it left is no model.
    bool torn() const { return torn_; }
    void demand_whole() const {
        if (torn_)
            throw std::runtime_error(
                "another thread was changing this model when the process was forked; "
                "load or copy it before the fork, or start processes by spawn");
    }
    [[noreturn]] static void complain_of_itself() {
        throw std::runtime_error(
            "the model is at work in this very call; what runs inside it, a kernel for one, may "
            "use other models but not this one");
    }

  private:
    friend class Locks;
    enum class For { reading, writing };

    struct Held {
        const FairMutex* mutex;
        For what;
    };
    static std::vector<Held>& mine() {
        static thread_local std::vector<Held> held;
        return held;
    }
    bool is_mine() const {
        return std::any_of(mine().begin(), mine().end(),
                           [&](const Held& held) { return held.mutex == this; });
    }
    void check() const {
        if (is_mine()) complain_of_itself();
        demand_whole();
    }

    bool try_enter(For what) {
        check();
        const std::lock_guard lock(guard_);
        if (first_ || !open(what)) return false;
        admit(what);
        return true;
    }
    void enter(For what) {
        if (try_enter(what)) return;
        if (!PyGILState_Check()) return queue(what);
        const nb::gil_scoped_release nogil;
        queue(what);
    }
    void leave(For what) noexcept {
        std::erase_if(mine(), [&](const Held& held) { return held.mutex == this; });
        const std::lock_guard lock(guard_);
        if (what == For::writing)
            writing_ = false;
        else
            --readers_;
        changed_.notify_all();
    }

    // ---- with the guard held ----

    struct Waiting {
        Waiting* next = nullptr;
    };
    bool open(For what) const { return !writing_ && (what == For::reading || readers_ == 0); }
    void admit(For what) {
        mine().push_back({this, what});
        if (what == For::writing)
            writing_ = true;
        else
            ++readers_;
    }
    void append(Waiting& w) {
        Waiting** end = &first_;
        while (*end) end = &(*end)->next;
        *end = &w;
    }
    void remove(Waiting& w) {
        Waiting** at = &first_;
        while (*at != &w) at = &(*at)->next;
        *at = w.next;
        changed_.notify_all();  // whoever is next may fit beside who is inside
    }

    void queue(For what) {
        Waiting me;
        std::unique_lock lock(guard_);
        append(me);
        try {
            while (first_ != &me || !open(what)) {
                if (changed_.wait_for(lock, Interrupt::patient.every) == std::cv_status::no_timeout)
                    continue;
                lock.unlock();
                Interrupt::ask();
                lock.lock();
            }
            admit(what);
        } catch (...) {
            if (!lock) lock.lock();
            remove(me);
            throw;
        }
        remove(me);
    }

    // In a child, where this thread is the only one: the others will never leave.
    void survive() {
        const auto held = [&](For what) {
            return std::any_of(mine().begin(), mine().end(), [&](const Held& held) {
                return held.mutex == this && held.what == what;
            });
        };
        torn_ |= writing_ && !held(For::writing);
        std::construct_at(&guard_);
        std::construct_at(&changed_);
        first_ = nullptr;
        readers_ = held(For::reading);
        writing_ = held(For::writing);
    }

    std::mutex guard_;
    std::condition_variable changed_;
    Waiting* first_ = nullptr;
    std::size_t readers_ = 0;
    bool writing_ = false, torn_ = false;
    FairMutex *before_ = nullptr, *after_ = nullptr;  // among all
};

// All of them, for the sake of forks.
class Locks {
  public:
    static void add(FairMutex* mutex) {
        const std::lock_guard lock(guard);
        mutex->after_ = first;
        if (first) first->before_ = mutex;
        first = mutex;
    }
    static void remove(FairMutex* mutex) {
        const std::lock_guard lock(guard);
        (mutex->before_ ? mutex->before_->after_ : first) = mutex->after_;
        if (mutex->after_) mutex->after_->before_ = mutex->before_;
    }

    // For pthread_atfork.
    static void before_fork() { guard.lock(); }
    static void in_parent() { guard.unlock(); }
    static void in_child() {
        for (FairMutex* mutex = first; mutex; mutex = mutex->after_) mutex->survive();
        guard.unlock();
    }

  private:
    static inline std::mutex guard;
    static inline FairMutex* first = nullptr;
};

inline FairMutex::FairMutex() { Locks::add(this); }
inline FairMutex::~FairMutex() { Locks::remove(this); }

}  // namespace onlinesvm::bind
