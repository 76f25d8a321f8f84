// The numbers of a model's examples, and whose turn it is to change the model: one verb at a time,
// from its first check to its last note, whichever thread it comes from.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "fair_mutex.hpp"
#include "signals.hpp"

namespace onlinesvm::bind {

class Register {
  public:
    std::atomic<std::uint64_t> next{0};  // number of the next example
    // Numbers passed over, where callers brought ids of their own; those borne twice count against it.
    std::atomic<std::int64_t> gap{0};

    bool full() const { return next > std::uint64_t(std::numeric_limits<std::int64_t>::max()); }

    // A verb may use others, but what it runs of the user's may not use the model.
    void enter() {
        if (mutex_.is_mine()) {
            if (Callback::depth != callbacks_) FairMutex::complain_of_itself();
            ++depth_;
            return;
        }
        if (!mutex_.try_lock()) {
            const Signals signals;
            mutex_.lock();
        }
        callbacks_ = Callback::depth;
        depth_ = 1;
    }
    void leave() {
        if (--depth_ == 0) mutex_.unlock();
    }

    class Turn {
      public:
        explicit Turn(Register& numbers) : register_(numbers) { register_.enter(); }
        ~Turn() { register_.leave(); }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

      private:
        Register& register_;
    };

  private:
    FairMutex mutex_;
    int depth_ = 0, callbacks_ = 0;
};

inline void bind_register(nb::module_& m) {
    nb::class_<Register>(m, "Register",
                         "The numbers of a model's examples, and a lock for its verbs.")
        .def(nb::init<>())
        .def("__enter__", &Register::enter)
        .def(
            "__exit__", [](Register& self, const nb::args&) { self.leave(); },
            nb::sig("def __exit__(self, *args: object) -> None"))
        .def_prop_rw(
            "next", [](const Register& self) { return self.next.load(); },
            [](Register& self, std::uint64_t n) { self.next = n; })
        .def_prop_rw(
            "gap", [](const Register& self) { return self.gap.load(); },
            [](Register& self, std::int64_t n) { self.gap = n; });
}

}  // namespace onlinesvm::bind
