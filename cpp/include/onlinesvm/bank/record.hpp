// The state of a model as words in a row: the same list of members that saves it in a file
// (state/archive.hpp), without names and lengths.
//
// A record has no lengths because models of one width and as many classes that have learned anything
// are all of one shape, if they are flat: whoever reads a record has that shape already. So a forged
// record can claim none, and reading one takes no memory.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "onlinesvm/state/archive.hpp"

namespace onlinesvm {

// What stands in a record before the state: how many rows the model has seen, and whether it has a shape
// yet.
namespace head {
inline constexpr std::size_t words = 2;

inline std::int64_t number(const double& word) {
    std::int64_t out;
    std::memcpy(&out, &word, sizeof(out));
    return out;
}
inline void set(double& word, std::int64_t value) { std::memcpy(&word, &value, sizeof(value)); }
inline std::int64_t seen(const double* record) { return number(record[0]); }
}  // namespace head

// A model that a bank can hold: one that says whether it is flat.
template <class Algo>
concept Bankable = std::copyable<Algo> && requires(const Algo& algo) {
    { algo.flat() } -> std::same_as<bool>;
};

// What the visitors below share: how the members of an object become numbers and arrays.
template <class Visitor>
class InWords {
  public:
    template <Element V, class Allocator>
    void operator()(std::string_view name, std::vector<V, Allocator>& values) {
        self().array(name, values.data(), values.size());
    }
    template <Number M>
    void operator()(std::string_view name, M& value) {
        self().number(name, value);
    }
    template <Stateful<Visitor> M>
    void operator()(std::string_view, M& object) {
        object.state(self());
    }
    template <Stateful<Visitor> M, class Allocator>
    void operator()(std::string_view, std::vector<M, Allocator>& objects) {
        for (M& object : objects) object.state(self());
    }
    template <class Objects>
    void operator()(std::string_view, Each<Objects> each) {
        for (auto& object : each.objects) part_of(object).state(self());
    }
    template <class M>
    void operator()(std::string_view name, Any<M> any) {
        (*this)(name, any.member);
    }

  protected:
    template <class V>
    static std::size_t words_of(std::size_t n) {
        return (n * sizeof(V) + sizeof(double) - 1) / sizeof(double);
    }

  private:
    Visitor& self() { return static_cast<Visitor&>(*this); }
};

// How many words a state takes.
class CountWords : public InWords<CountWords> {
  public:
    static constexpr bool loading = false;
    std::size_t words = 0;

    template <class V>
    void array(std::string_view, const V*, std::size_t n) {
        words += words_of<V>(n);
    }
    template <Number M>
    void number(std::string_view, const M&) {
        ++words;
    }
};

class WriteWords : public InWords<WriteWords> {
  public:
    static constexpr bool loading = false;
    explicit WriteWords(double* to) : to(to) {}

    template <class V>
    void array(std::string_view, const V* values, std::size_t n) {
        const std::size_t words = words_of<V>(n);
        if (words * sizeof(double) > n * sizeof(V)) to[words - 1] = 0.0;  // what pads it
        if (n > 0) std::memcpy(to, values, n * sizeof(V));
        to += words;
    }
    template <Number M>
    void number(std::string_view, const M& value) {
        const auto travelling = static_cast<Travelling<M>>(value);
        std::memcpy(to++, &travelling, sizeof(double));
    }

  private:
    double* to;
};

enum class Trust { whole, none };

// Into an object of the shape that was written. Without trust, every number must be one that a file
// may hold.
template <Trust trust>
class ReadWords : public InWords<ReadWords<trust>> {
  public:
    static constexpr bool loading = true;
    ReadWords(const double* from, std::size_t features, std::size_t outputs)
        : from(from), features_(features), outputs_(outputs) {}

    std::size_t features() const { return features_; }
    std::size_t outputs() const { return outputs_; }
    template <Element V>
    std::span<const V> array(std::string_view) {
        throw std::logic_error("a record holds no examples");
    }

    template <class V>
    void array(std::string_view name, V* values, std::size_t n) {
        if (n > 0) std::memcpy(values, from, n * sizeof(V));
        from += this->template words_of<V>(n);
        if constexpr (trust == Trust::none)
            if (!std::all_of(values, values + n, is_ordinary<V>)) refuse(std::string(name));
    }
    template <Number M>
    void number(std::string_view name, M& value) {
        Travelling<M> travelling;
        std::memcpy(&travelling, from++, sizeof(double));
        if constexpr (trust == Trust::none)
            if (!is_ordinary_count(travelling)) refuse(std::string(name));
        value = static_cast<M>(travelling);
    }

  private:
    const double* from;
    std::size_t features_, outputs_;
};

template <class Object>
std::size_t words_of_state(Object& object) {
    CountWords count;
    object.state(count);
    return count.words;
}

}  // namespace onlinesvm
