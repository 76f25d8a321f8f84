// A lock for one writer and many readers in which nobody starves: whoever comes after a waiting writer
// waits behind it. std::shared_mutex may let readers overtake a writer for ever.
#pragma once

#include <mutex>
#include <shared_mutex>

namespace onlinesvm::bind {

class FairMutex {
  public:
    void lock() {
        turnstile.lock();  // held while writing, so that no newcomer overtakes
        inside.lock();
    }
    bool try_lock() {
        if (!turnstile.try_lock()) return false;
        if (inside.try_lock()) return true;
        turnstile.unlock();
        return false;
    }
    void unlock() {
        inside.unlock();
        turnstile.unlock();
    }

    void lock_shared() {
        const std::lock_guard passing(turnstile);
        inside.lock_shared();
    }
    bool try_lock_shared() {
        const std::unique_lock passing(turnstile, std::try_to_lock);
        return passing && inside.try_lock_shared();
    }
    void unlock_shared() { inside.unlock_shared(); }

  private:
    std::mutex turnstile;
    std::shared_mutex inside;
};

}  // namespace onlinesvm::bind
