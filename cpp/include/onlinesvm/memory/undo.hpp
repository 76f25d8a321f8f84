// What was there when a call began, so that a call that fails leaves nothing behind.
//
// An object lists what it is made of, `auto undoable() { return std::tie(s_, bias_, ...); }`, and its
// Before marks it, then commits or reverts. A part with mark, commit and revert of its own remembers
// what changes; parts made of parts are asked in turn; the others are small, and copied. Reverting
// cannot fail: what it needs was there at the mark or was taken before the first change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "onlinesvm/memory/aligned.hpp"
#include "onlinesvm/memory/slot.hpp"

namespace onlinesvm {

template <class P>
concept Revertible = requires(P& part) { part.mark(), part.commit(), part.revert(); };
template <class P>
concept Listed = requires(P& object) { object.undoable(); };

// A vector that can be taken back. Reading it is reading a vector; who writes says so, by edit: then
// the first values that change are written down and, when they become many, all are saved once. A
// change of little costs little, a long call no more than one copy.
template <class Array>
class LedgerOf : public Array {
  public:
    using V = typename Array::value_type;
    using Array::Array;
    LedgerOf() = default;
    LedgerOf(LedgerOf&&) = default;
    LedgerOf(const LedgerOf& other) : Array(other) {}
    LedgerOf& operator=(const LedgerOf& other) { return *this = static_cast<const Array&>(other); }
    LedgerOf& operator=(LedgerOf&& other) { return *this = static_cast<Array&&>(other); }
    LedgerOf& operator=(const Array& other) {
        save();
        Array::operator=(other);
        return *this;
    }
    LedgerOf& operator=(Array&& other) {
        save();
        Array::operator=(std::move(other));
        return *this;
    }

    const V& operator[](std::size_t i) const { return Array::operator[](i); }
    const V* data() const { return Array::data(); }
    auto begin() const { return Array::begin(); }
    auto end() const { return Array::end(); }
    const V& front() const { return Array::front(); }
    const V& back() const { return Array::back(); }

    V& edit(std::size_t i) {
        if (i < whole_) note(i);
        return Array::operator[](i);
    }
    std::span<V> edit() {
        save();
        return {Array::data(), this->size()};
    }
    // The same where only the values at first + at[i] change.
    std::span<V> edit(std::size_t first, std::span<const std::int32_t> at) {
        if (whole_ > 0) note(first, at);
        return {Array::data(), this->size()};
    }
    // From where and to where, if all that counts is about to be written anew: where nothing has
    // changed yet, the old values become the image as they lie.
    std::pair<const V*, V*> renew() {
        if (whole_ == 0 || whole_ != this->size() || !log_.empty()) {
            V* const here = edit().data();
            return {here, here};
        }
        image_.resize(whole_);
        Array::swap(image_);
        whole_ = 0;
        saved_ = true;
        return {image_.data(), Array::data()};
    }
    void swap(std::size_t i, std::size_t j) { std::swap(edit(i), edit(j)); }
    void pop_back() {
        if (this->size() <= whole_) note(this->size() - 1);
        Array::pop_back();
    }
    void resize(std::size_t n, V value = V()) {
        if (n < std::min(this->size(), whole_)) save();
        Array::resize(n, value);
    }
    void clear() { save(), Array::clear(); }
    template <class... Values>
    void assign(Values&&... values) {
        save();
        Array::assign(std::forward<Values>(values)...);
    }

    void mark() noexcept {
        forget();
        was_ = whole_ = this->size();
    }
    // A large image keeps its memory while calls need one again and again.
    void commit() noexcept;
    void revert() noexcept;
    std::size_t nbytes() const {
        return (this->capacity() + image_.capacity()) * sizeof(V) +
               log_.capacity() * sizeof(log_[0]);
    }

  private:
    static constexpr std::size_t kFew = 8;
    static constexpr std::size_t kSpare = std::size_t(1) << 20;  // bytes kept in any case
    static constexpr int kOften = 8;                             // once in so many calls

    void forget() noexcept {
        whole_ = 0;
        saved_ = false;
        log_.clear();
        // Numbers stay: the next image is then copied over them in one move.
        if constexpr (!std::is_trivially_copyable_v<V>) image_.clear();
    }

    void note(std::size_t i);
    void note(std::size_t first, std::span<const std::int32_t> at);
    void save() {
        if (whole_ > 0) take_image();
    }
    void take_image();
    void undo(Array& values) const;

    std::size_t was_ = 0, whole_ = 0;  // size at the mark; as long as changes are written down
    bool saved_ = false;
    int needed_ = 0;  // how often an image is
    std::vector<std::pair<std::size_t, V>> log_;
    Array image_;
};

template <class Array>
void LedgerOf<Array>::commit() noexcept {
    needed_ = saved_ ? std::min(needed_ + kOften, 4 * kOften) : std::max(needed_ - 1, 0);
    forget();
    const bool large = image_.capacity() * sizeof(V) > kSpare;
    if (this->empty() || (large && needed_ <= kOften)) Array().swap(image_);
    if (this->empty()) decltype(log_)().swap(log_);
}
template <class Array>
void LedgerOf<Array>::revert() noexcept {
    if (saved_) {
        Array::swap(image_);
    } else if (whole_ > 0 || was_ == 0) {
        Array::resize(was_);  // within its capacity
        undo(*this);
    }
    forget();
}
template <class Array>
void LedgerOf<Array>::note(std::size_t i) {
    if (log_.size() >= kFew + was_ / 16) return save();
    log_.push_back({i, Array::operator[](i)});
}
template <class Array>
void LedgerOf<Array>::note(std::size_t first, std::span<const std::int32_t> at) {
    if (log_.size() + at.size() > kFew + was_ / 16) return save();
    for (const std::int32_t i : at)
        if (first + std::size_t(i) < whole_)
            log_.push_back({first + std::size_t(i), Array::operator[](first + std::size_t(i))});
}
template <class Array>
void LedgerOf<Array>::take_image() {
    const Array& now = *this;
    if (image_.capacity() < was_) {  // it grows with the array, not by one each call
        Array().swap(image_);
        image_.reserve(now.capacity());
    }
    image_.assign(now.begin(), now.begin() + std::ptrdiff_t(std::min(now.size(), was_)));
    image_.resize(was_);
    undo(image_);
    log_.clear();
    whole_ = 0;
    saved_ = true;
}
template <class Array>
void LedgerOf<Array>::undo(Array& values) const {
    for (auto entry = log_.rbegin(); entry != log_.rend(); ++entry)
        values[entry->first] = entry->second;
}

// Compiled once: lib/undo.cpp.
extern template class LedgerOf<Aligned<double>>;
extern template class LedgerOf<Aligned<std::int32_t>>;
extern template class LedgerOf<Aligned<std::int64_t>>;
extern template class LedgerOf<OnHeap<double>>;
extern template class LedgerOf<std::vector<double>>;
extern template class LedgerOf<std::vector<std::int64_t>>;
extern template class LedgerOf<std::vector<std::uint32_t>>;
extern template class LedgerOf<std::vector<Id>>;
extern template class LedgerOf<std::vector<Slot>>;

template <class V>
using Ledger = LedgerOf<Aligned<V>>;
template <class V>
using PlainLedger = LedgerOf<std::vector<V>>;

// Bytes held by some of them.
template <class... Ledgers>
std::size_t nbytes_of(const Ledgers&... all) {
    return (all.nbytes() + ...);
}

// How one part was.
template <class P>
class Before {
  public:
    void mark(const P& part) { was_ = part; }
    void commit(P&) noexcept {}
    void revert(P& part) noexcept { part = std::move(*was_); }

  private:
    std::optional<P> was_;
};

template <class P>
    requires(Revertible<P> || Listed<P>)
class Before<P> {
    static auto copies_of(auto& part) {
        if constexpr (Listed<P>)
            return []<class... Q>(std::tuple<Q&...>) {
                return std::tuple<Before<Q>...>();
            }(part.undoable());
        else
            return std::tuple<>();
    }
    // For every part listed, with how it was.
    template <class Do>
    void each(P& object, Do&& act) {
        if constexpr (Listed<P>)
            std::apply(
                [&](auto&... part) {
                    std::apply([&](auto&... was) { (act(was, part), ...); }, copies_);
                },
                object.undoable());
    }

  public:
    void mark(P& object);
    void commit(P& object) noexcept;
    void revert(P& object) noexcept;

  private:
    decltype(copies_of(std::declval<P&>())) copies_;
};

template <class P>
    requires(Revertible<P> || Listed<P>)
void Before<P>::mark(P& object) {
    each(object, [](auto& was, auto& part) { was.mark(part); });
    if constexpr (Revertible<P>) object.mark();
}
template <class P>
    requires(Revertible<P> || Listed<P>)
void Before<P>::commit(P& object) noexcept {
    each(object, [](auto& was, auto& part) { was.commit(part); });
    if constexpr (Revertible<P>) object.commit();
}
template <class P>
    requires(Revertible<P> || Listed<P>)
void Before<P>::revert(P& object) noexcept {
    each(object, [](auto& was, auto& part) { was.revert(part); });
    if constexpr (Revertible<P>) object.revert();
}

// Some of a kind: those that came later go.
template <class P>
    requires(Revertible<P> || Listed<P>)
class Before<std::vector<P>> {
  public:
    void mark(std::vector<P>& all) {
        was_.resize(all.size());
        for (std::size_t i = 0; i < all.size(); ++i) was_[i].mark(all[i]);
    }
    void commit(std::vector<P>& all) noexcept {
        for (std::size_t i = 0; i < was_.size(); ++i) was_[i].commit(all[i]);
    }
    void revert(std::vector<P>& all) noexcept {
        all.erase(all.begin() + std::ptrdiff_t(was_.size()), all.end());
        for (std::size_t i = 0; i < was_.size(); ++i) was_[i].revert(all[i]);
    }

  private:
    std::vector<Before<P>> was_;
};

// One of a few kinds, settled for good.
template <class... P>
class Before<std::variant<P...>> {
  public:
    void mark(std::variant<P...>& one) {
        visit(one, [](auto& was, auto& part) { was.mark(part); });
    }
    void commit(std::variant<P...>& one) noexcept {
        visit(one, [](auto& was, auto& part) { was.commit(part); });
    }
    void revert(std::variant<P...>& one) noexcept {
        visit(one, [](auto& was, auto& part) { was.revert(part); });
    }

  private:
    template <class Do>
    void visit(std::variant<P...>& one, Do&& act) {
        std::visit([&]<class Q>(Q& part) { act(std::get<Before<Q>>(was_), part); }, one);
    }
    std::tuple<Before<P>...> was_;
};

// A verb of an object, all or nothing.
template <class P, class Verb>
void attempt(P& object, Before<P>& before, Verb&& verb) {
    before.mark(object);
    try {
        verb();
    } catch (...) {
        before.revert(object);
        throw;
    }
    before.commit(object);
}

}  // namespace onlinesvm
