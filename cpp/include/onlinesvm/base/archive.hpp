// One visitor saves, loads and sizes an object: `template <class A> void state(A& a) { a("w", w);
// ... }`.
//
// A member is a std::vector of elements, a number, or an object with a `state` of its own, whose
// names then read "outer.inner". Where the values go is the business of a Sink, where they come
// from of a Source; neither needs to know the object, and nothing here knows Python.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace onlinesvm {

template <class V>
concept Element =
    std::same_as<V, double> || std::same_as<V, float> || std::same_as<V, std::int64_t> ||
    std::same_as<V, std::int32_t> || std::same_as<V, std::uint8_t>;

template <class M>
concept Number = std::is_arithmetic_v<M>;

// Numbers travel as float64 or int64, whatever their type at home.
template <Number M>
using Travelling = std::conditional_t<std::is_floating_point_v<M>, double, std::int64_t>;

// sink.array(name, std::span<const V>), sink.number(name, double | int64_t)
template <class Sink>
class Save {
  public:
    static constexpr bool loading = false;
    explicit Save(Sink& sink, std::string prefix = {}) : sink(sink), prefix(std::move(prefix)) {}

    template <Element V, class Allocator>
    void operator()(std::string_view name, const std::vector<V, Allocator>& values) {
        sink.array(prefix + std::string(name), std::span<const V>(values));
    }
    template <Number M>
    void operator()(std::string_view name, const M& value) {
        sink.number(prefix + std::string(name), static_cast<Travelling<M>>(value));
    }
    template <class M>
        requires requires(M& object, Save& a) { object.state(a); }
    void operator()(std::string_view name, M& object) {
        Save inner(sink, prefix + std::string(name) + ".");
        object.state(inner);
    }

  private:
    Sink& sink;
    std::string prefix;
};

// source.array(name, std::type_identity<V>) -> std::span<const V>, source.number(name, ...) ->
// value; both throw std::invalid_argument where the name is absent or of another type.
template <class Source>
class Load {
  public:
    static constexpr bool loading = true;
    explicit Load(Source& source, std::string prefix = {})
        : source(source), prefix(std::move(prefix)) {}

    template <Element V, class Allocator>
    void operator()(std::string_view name, std::vector<V, Allocator>& values) {
        const std::span<const V> from =
            source.array(prefix + std::string(name), std::type_identity<V>{});
        values.assign(from.begin(), from.end());
    }
    template <Number M>
    void operator()(std::string_view name, M& value) {
        value = static_cast<M>(
            source.number(prefix + std::string(name), std::type_identity<Travelling<M>>{}));
    }
    template <class M>
        requires requires(M& object, Load& a) { object.state(a); }
    void operator()(std::string_view name, M& object) {
        Load inner(source, prefix + std::string(name) + ".");
        object.state(inner);
    }

  private:
    Source& source;
    std::string prefix;
};

// Bytes of the state, counted as they would be saved.
class Measure {
  public:
    static constexpr bool loading = false;
    std::size_t bytes = 0;

    template <Element V, class Allocator>
    void operator()(std::string_view, const std::vector<V, Allocator>& values) {
        bytes += values.capacity() * sizeof(V);
    }
    template <Number M>
    void operator()(std::string_view, const M&) {
        bytes += sizeof(M);
    }
    template <class M>
        requires requires(M& object, Measure& a) { object.state(a); }
    void operator()(std::string_view, M& object) {
        object.state(*this);
    }
};

template <class Object>
std::size_t bytes_of(const Object& object) {
    Measure measure;
    const_cast<Object&>(object).state(measure);  // `state` only hands its members to the visitor
    return measure.bytes;
}

}  // namespace onlinesvm
