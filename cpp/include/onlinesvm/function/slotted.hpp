// Arrays with one value per slot of a KernelCache, and all that ever happens to them, said once.
//
// A class lists what it is made of:
//     auto parts() { return std::tuple(saved("s", s_), saved("free", free_), unsaved(capped_)); }
// From this list come what follows the slots as examples arrive, move and leave; what a file holds,
// by name; what a call that fails takes back (memory/undo.hpp); what the mirror image of a machine
// starts with; and the bytes of it all. Another array is another member and another line in the
// list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "onlinesvm/function/kernel_cache.hpp"
#include "onlinesvm/memory/undo.hpp"
#include "onlinesvm/state/archive.hpp"

namespace onlinesvm {

// PerSlot values for each slot: those of slot j begin at j * PerSlot.
template <class V, std::size_t PerSlot = 1>
class Column : public Ledger<V> {
  public:
    using Ledger<V>::operator=;
    void slot_pushed() {
        for (std::size_t k = 0; k < PerSlot; ++k) this->push_back(V());
    }
    void slots_swapped(Slot a, Slot b) {
        for (std::size_t k = 0; k < PerSlot; ++k) this->swap(a * PerSlot + k, b * PerSlot + k);
    }
    void slot_popped() {
        for (std::size_t k = 0; k < PerSlot; ++k) this->pop_back();
    }
    void loaded(std::size_t slots, bool from_file) {
        if (!from_file) this->assign(slots * PerSlot, V());
        demand(this->size() == slots * PerSlot, "an array does not fit the examples");
    }
};

// Values that change their sign with the labels.
template <std::size_t PerSlot = 1>
class SignedColumn : public Column<double, PerSlot> {
  public:
    using Column<double, PerSlot>::operator=;
    void negate() {
        for (double& x : this->edit()) x = 0.0 - x;  // 0 stays +0
    }
};

// Values computed from others, by derive() of their class: neither saved nor taken back.
class DerivedColumn : public Aligned<double> {
  public:
    std::size_t nbytes() const { return capacity() * sizeof(double); }
    void slot_pushed() { push_back(0); }
    void slots_swapped(Slot a, Slot b) { std::swap((*this)[a], (*this)[b]); }
    void slot_popped() { pop_back(); }
    void loaded(std::size_t slots, bool) { resize(slots); }
};

// Some of the members (slots, or values of slots) in an order of their own, with the place of each.
template <class Member = Slot, std::size_t PerSlot = 1>
class IndexSet {
  public:
    std::size_t size() const { return members_.size(); }
    bool empty() const { return members_.empty(); }
    Member operator[](std::size_t place) const { return members_[place]; }
    auto begin() const { return members_.begin(); }
    auto end() const { return members_.end(); }
    const std::vector<Member>& members() const { return members_; }
    bool contains(Member member) const { return place_[member] != 0; }
    std::size_t place(Member member) const { return std::size_t(place_[member] - 1); }

    void add(Member member) {
        members_.push_back(member);
        put(size() - 1);
    }
    // The last one takes the place.
    void remove_at(std::size_t place) {
        place_.edit(members_[place]) = 0;
        if (place + 1 != size()) {
            members_.edit(place) = members_.back();
            put(place);
        }
        members_.pop_back();
    }
    void clear() {
        for (Member member : members_) place_.edit(member) = 0;
        members_.clear();
    }

    void slot_pushed() { place_.slot_pushed(); }
    void slots_swapped(Slot a, Slot b) {
        place_.slots_swapped(a, b);
        for (std::size_t k = 0; k < PerSlot; ++k)
            for (Member member : {Member(a * PerSlot + k), Member(b * PerSlot + k)})
                if (contains(member)) members_.edit(place(member)) = member;
    }
    void slot_popped() { place_.slot_popped(); }  // of a slot without members

    auto undoable() { return std::tie(members_, place_); }
    std::size_t nbytes() const { return nbytes_of(members_, place_); }
    template <class A>
    void state(A& a, const char* name) {
        std::vector<std::int64_t> members(members_.begin(), members_.end());
        a(name, members);
        if constexpr (A::loading) members_ = std::vector<Member>(members.begin(), members.end());
    }
    void loaded(std::size_t slots, bool) {
        place_.loaded(slots, false);
        for (std::size_t i = 0; i < size(); ++i) {
            demand(members_[i] < place_.size() && !contains(members_[i]),
                   "a set of members is out of range");
            put(i);
        }
    }

  private:
    void put(std::size_t place) { place_.edit(members_[place]) = std::int32_t(place + 1); }

    PlainLedger<Member> members_;
    Column<std::int32_t, PerSlot> place_;  // from 1 on; 0: not a member
};

// ---- the list ----

enum class Keeping { saved, unsaved, derived };
template <class P, Keeping how>
struct Part {
    P& value;
    const char* name;  // nullptr: in no file
};
// In files under this name, and taken back with a call that fails.
template <class P>
Part<P, Keeping::saved> saved(const char* name, P& part) {
    return {part, name};
}
// Taken back, but in no file: loading makes it anew.
template <class P>
Part<P, Keeping::unsaved> unsaved(P& part) {
    return {part, nullptr};
}
template <class P>
Part<P, Keeping::derived> derived(P& part) {
    return {part, nullptr};
}

template <class P>
concept FollowsSlots = requires(P& part, Slot j) {
    part.slot_pushed();
    part.slots_swapped(j, j);
    part.slot_popped();
};

// What a class with parts() gets from them.
template <class Self>
class Parts {
  public:
    void slot_pushed() {
        each_column([](auto& column) { column.slot_pushed(); });
    }
    void slots_swapped(Slot a, Slot b) {
        each_column([=](auto& column) { column.slots_swapped(a, b); });
    }
    void slot_popped() {
        each_column([](auto& column) { column.slot_popped(); });
    }

    auto undoable() {
        const auto one = []<class P, Keeping how>(Part<P, how> part) {
            if constexpr (how == Keeping::derived)
                return std::tuple<>();
            else
                return std::tuple<P&>(part.value);
        };
        return std::apply([&](auto... part) { return std::tuple_cat(one(part)...); },
                          self().parts());
    }

    template <class A>
    void state(A& a) {
        each([&]<class P, Keeping how>(Part<P, how> part) {
            if constexpr (how == Keeping::saved) {
                if (!part.name) return;
                if constexpr (requires { part.value.state(a, part.name); })
                    part.value.state(a, part.name);
                else
                    a(part.name, part.value);
            }
        });
    }
    std::size_t nbytes() const {
        std::size_t bytes = 0;
        const_cast<Parts*>(this)->each([&](auto part) {  // only looks
            if constexpr (requires { part.value.nbytes(); }) bytes += part.value.nbytes();
        });
        return bytes;
    }

  protected:
    Self& self() { return static_cast<Self&>(*this); }
    const Self& self() const { return static_cast<const Self&>(*this); }

    template <class Do>
    void each(Do act) {
        std::apply([&](auto... part) { (act(part), ...); }, self().parts());
    }
    template <class Do>
    void each_column(Do act) {
        each([&]<class P, Keeping how>(Part<P, how> part) {
            if constexpr (FollowsSlots<P>) act(part.value);
        });
    }
};

// A binary machine over the examples of a KernelCache, whose slots its columns follow from
// follow_slots() on. Self may say what to do besides: check() refuses a state that does not fit
// together, turn_round() changes what depends on the labels but is no SignedColumn, and derive()
// computes the DerivedColumns.
template <class Self, class T>
class Slotted : public Parts<Self>, public Follower {
  public:
    Slotted(const Slotted&) = delete;
    Slotted& operator=(const Slotted&) = delete;

    void slot_pushed() override { Parts<Self>::slot_pushed(); }
    void slots_swapped(Slot a, Slot b) override { Parts<Self>::slots_swapped(a, b); }
    void slot_popped() override { Parts<Self>::slot_popped(); }

    // Becomes the machine of the same examples with the opposite labels.
    void mirror(Self& other) {
        this->undoable() = other.undoable();
        this->each_column([](auto& column) {
            if constexpr (requires { column.negate(); }) column.negate();
        });
        self().turn_round();
        self().derive();
    }

    template <class A>
    void state(A& a) {
        Parts<Self>::state(a);
        if constexpr (A::loading) {
            this->each([&]<class P, Keeping how>(Part<P, how> part) {
                if constexpr (FollowsSlots<P>)
                    part.value.loaded(rows_.size(), part.name != nullptr);
            });
            self().check();
            self().derive();
        }
    }

    void mark() noexcept {}
    void commit() noexcept {}
    void revert() noexcept { self().derive(); }

    ~Slotted() override { rows_.unfollow(this); }

    void check() {}
    void turn_round() {}
    void derive() {}

  protected:
    using Parts<Self>::self;
    explicit Slotted(KernelCache<T>& rows) : rows_(rows) {}

    // The last thing a constructor does: a machine that could not be made follows nothing.
    void follow_slots() {
        for (Slot j{}; j < rows_.size(); ++j) slot_pushed();
        rows_.follow(this);
    }

    KernelCache<T>& rows_;
};

}  // namespace onlinesvm
