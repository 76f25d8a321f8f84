// Who may touch a model, and when: many readers or one writer, in order of arrival, so that nobody
// starves. Whoever waits has let go of the GIL, so that a user's Python kernel can always run, and
// hears Ctrl-C. A thread that is inside already is told so, since it would wait for itself. A forked
// child, which has the locks but not the threads that held them, can go on or is told why not.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "gil.hpp"
#include "onlinesvm/loops/interrupt.hpp"

namespace onlinesvm::bind {

class FairMutex {
  public:
    FairMutex();
    ~FairMutex();
    FairMutex(const FairMutex&) = delete;
    FairMutex& operator=(const FairMutex&) = delete;

    // To write: for std::unique_lock.
    bool try_lock() {
        check();
        std::uint32_t nobody = 0;
        if (!state_.compare_exchange_strong(nobody, kWriter, std::memory_order_acquire))
            return false;
        owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
        return true;
    }
    void lock() {
        if (try_lock()) return;
        queue([this] { return admit_writer(); });
        owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    }
    void unlock() noexcept {
        owner_.store({}, std::memory_order_relaxed);
        leave(kWriter);
    }
    bool is_mine() const {  // to write
        return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
    }

    // To read, for as long as this lives.
    class Reading {
      public:
        explicit Reading(FairMutex& mutex) : mutex_(mutex) {
            mutex_.check();
            std::uint32_t now = mutex_.state_.load(std::memory_order_relaxed);
            if ((now & (kWriter | kQueue)) || !mutex_.state_.compare_exchange_strong(
                                                  now, now + kReader, std::memory_order_acquire))
                mutex_.queue([this] { return mutex_.admit_reader(); });
            outer_ = std::exchange(innermost_, this);
        }
        ~Reading() {
            innermost_ = outer_;
            mutex_.leave(kReader);
        }
        Reading(const Reading&) = delete;
        Reading& operator=(const Reading&) = delete;

      private:
        friend class FairMutex;
        FairMutex& mutex_;
        const Reading* outer_;  // of this thread
        static inline thread_local constinit const Reading* innermost_ = nullptr;
    };

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
    static constexpr std::uint32_t kWriter = 1, kQueue = 2, kReader = 4;  // one more reader

    bool reads_it() const {
        for (const Reading* r = Reading::innermost_; r; r = r->outer_)
            if (&r->mutex_ == this) return true;
        return false;
    }
    void check() const {
        if (is_mine() || reads_it()) complain_of_itself();
        demand_whole();
    }
    void leave(std::uint32_t what) noexcept {
        if (!(state_.fetch_sub(what, std::memory_order_release) & kQueue)) return;
        const std::lock_guard lock(guard_);
        changed_.notify_all();
    }

    bool admit_writer() {
        std::uint32_t queue_only = kQueue;
        return state_.compare_exchange_strong(queue_only, kQueue | kWriter,
                                              std::memory_order_acquire);
    }
    bool admit_reader() {
        std::uint32_t now = state_.load(std::memory_order_relaxed);
        while (!(now & kWriter))
            if (state_.compare_exchange_weak(now, now + kReader, std::memory_order_acquire))
                return true;
        return false;
    }

    struct Waiting {
        Waiting* next = nullptr;
    };
    template <class Admit>
    void queue(Admit&& admit) {
        const Gil::Released nogil;
        Waiting me;
        std::unique_lock lock(guard_);
        append(me);
        try {
            while (first_ != &me || !admit()) {
                if (changed_.wait_for(lock, Interrupt::patient.every) == std::cv_status::no_timeout)
                    continue;
                lock.unlock();
                Interrupt::ask();
                lock.lock();
            }
        } catch (...) {
            if (!lock) lock.lock();
            remove(me);
            throw;
        }
        remove(me);
    }

    // ---- with the guard held ----

    void append(Waiting& w) {
        state_.fetch_or(kQueue, std::memory_order_relaxed);
        Waiting** end = &first_;
        while (*end) end = &(*end)->next;
        *end = &w;
    }
    void remove(Waiting& w) {
        Waiting** at = &first_;
        while (*at != &w) at = &(*at)->next;
        *at = w.next;
        if (!first_) state_.fetch_and(~kQueue, std::memory_order_relaxed);
        changed_.notify_all();  // whoever is next may fit beside who is inside
    }

    // In a child, where this thread is the only one: the others will never leave.
    void survive() {
        torn_ |= (state_ & kWriter) && !is_mine();
        if (!is_mine()) owner_ = std::thread::id();
        std::construct_at(&guard_);
        std::construct_at(&changed_);
        first_ = nullptr;
        state_ = is_mine() ? kWriter : reads_it() ? kReader : 0;
    }

    std::atomic<std::uint32_t> state_{0};   // kWriter, or readers; kQueue: somebody waits
    std::atomic<std::thread::id> owner_{};  // the writer
    std::mutex guard_;                      // of the queue
    std::condition_variable changed_;
    Waiting* first_ = nullptr;
    bool torn_ = false;
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
