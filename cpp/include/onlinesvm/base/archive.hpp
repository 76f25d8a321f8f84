// One visitor saves, loads and sizes an object: `template <class A> void state(A& a) { a("w", w);
// ... }`.
//
// A member is a std::vector of elements, a number, an object with a `state` of its own, whose names
// then read "outer.inner", or a std::vector of such objects, saved by column: "outer.inner" holds
// that member of all of them, end to end. Where the values go is the business of a Sink, where they
// come from of a Source; neither needs to know the object, and nothing here knows Python.
//
// Loading trusts nobody: floats must be finite, integers must not be negative, and a count must
// leave room to go on counting. A member for which that is too strict says so in its own line:
// a("best", any(best)). Saving is as strict, since what it takes must come back.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "onlinesvm/base/slot.hpp"

namespace onlinesvm {

template <class V>
concept Element =
    std::same_as<V, double> || std::same_as<V, float> || std::same_as<V, std::int64_t> ||
    std::same_as<V, std::int32_t> || std::same_as<V, std::uint8_t> || std::same_as<V, Id>;

template <class M>
concept Number = std::is_arithmetic_v<M> || std::same_as<M, Id>;

// Numbers travel as float64 or int64, whatever their type at home.
template <Number M>
using Travelling = std::conditional_t<std::is_floating_point_v<M>, double, std::int64_t>;

// A member that may hold whatever its type can: infinities, NaN, negative numbers.
template <class M>
struct Any {
    M& member;
};
template <class M>
    requires Number<std::remove_const_t<M>>
Any<M> any(M& member) {
    return {member};
}
template <Element V, class Allocator>
Any<std::vector<V, Allocator>> any(std::vector<V, Allocator>& member) {
    return {member};
}
template <Element V, class Allocator>
Any<const std::vector<V, Allocator>> any(const std::vector<V, Allocator>& member) {
    return {member};
}

// Objects, or pointers to them, that are there already and know how many they are: saved by column,
// too. Each has so many outputs of its own.
template <class Objects>
struct Each {
    Objects& objects;
    std::size_t outputs;
};
template <class Objects>
Each<Objects> each(Objects& objects, std::size_t outputs) {
    return {objects, outputs};
}
template <class Object>
auto& part_of(Object& object) {
    if constexpr (requires { *object; })
        return *object;
    else
        return object;
}

// What a state is refused with: one line that says what does not fit.
inline void demand(bool fits, const char* what) {
    if (!fits) throw std::invalid_argument(std::string("state: ") + what);
}

// What a member must be unless it is declared any().
template <class V>
bool is_ordinary(V value) {
    if constexpr (std::is_floating_point_v<V>)
        return std::isfinite(value);
    else
        return value >= V{};
}
template <Number M>
bool is_ordinary_count(M value) {
    constexpr auto kMost = std::int64_t(1) << 62;
    if constexpr (std::is_integral_v<M>) return is_ordinary(value) && std::cmp_less(value, kMost);
    return is_ordinary(value);
}
[[noreturn]] inline void refuse(const std::string& name) {
    throw std::invalid_argument("state: '" + name +
                                "' holds a number that is not finite, negative or too large");
}

template <class M, class A>
concept Stateful = requires(M& object, A& a) { object.state(a); };

// The lengths of "outer.inner" in each of the objects of "outer".
inline std::string lengths_of(const std::string& outer, const std::string& name) {
    return outer + ".lengths" + name.substr(outer.size());
}

// A Sink for several objects, one after the other: numbers of a name become an array, arrays of a
// name lie end to end.
class Columns {
  public:
    explicit Columns(std::string outer) : outer(std::move(outer)) {}

    template <class V>
    void array(const std::string& name, std::span<const V> values) {
        number(lengths_of(outer, name), static_cast<std::int64_t>(values.size()));
        std::vector<V>& column = of<V>(name);
        column.insert(column.end(), values.begin(), values.end());
    }
    template <class V>
    void number(const std::string& name, V value) {
        of<V>(name).push_back(value);
    }
    template <class Sink>
    void pour(Sink& sink) const {
        for (const auto& [name, column] : columns)
            std::visit(
                [&]<class V>(const std::vector<V>& values) {
                    sink.array(name, std::span<const V>(values));
                },
                column);
    }

  private:
    using Column =
        std::variant<std::vector<double>, std::vector<float>, std::vector<std::int64_t>,
                     std::vector<std::int32_t>, std::vector<std::uint8_t>, std::vector<Id>>;
    std::string outer;
    std::map<std::string, Column> columns;

    template <class V>
    std::vector<V>& of(const std::string& name) {
        return std::get<std::vector<V>>(columns.try_emplace(name, std::vector<V>()).first->second);
    }
};

// sink.array(name, std::span<const V>), sink.number(name, double | int64_t)
template <class Sink>
class Save {
  public:
    static constexpr bool loading = false;
    explicit Save(Sink& sink, std::string prefix = {}) : sink(sink), prefix(std::move(prefix)) {}

    template <Element V, class Allocator>
    void operator()(std::string_view name, const std::vector<V, Allocator>& values) {
        if (!std::all_of(values.begin(), values.end(), is_ordinary<V>)) refuse(full(name));
        (*this)(name, any(values));
    }
    template <Element V, class Allocator>
    void operator()(std::string_view name, Any<const std::vector<V, Allocator>> values) {
        sink.array(full(name), std::span<const V>(values.member));
    }
    template <Number M>
    void operator()(std::string_view name, const M& value) {
        if (!is_ordinary_count(static_cast<Travelling<M>>(value))) refuse(full(name));
        (*this)(name, any(value));
    }
    template <Number M>
    void operator()(std::string_view name, Any<const M> value) {
        sink.number(full(name), static_cast<Travelling<M>>(value.member));
    }
    template <Stateful<Save> M>
    void operator()(std::string_view name, M& object) {
        Save inner(sink, full(name) + ".");
        object.state(inner);
    }
    template <Stateful<Save<Columns>> M, class Allocator>
    void operator()(std::string_view name, std::vector<M, Allocator>& objects) {
        sink.number(full(name) + ".count", static_cast<std::int64_t>(objects.size()));
        (*this)(name, each(objects, 0));
    }
    template <class Objects>
    void operator()(std::string_view name, Each<Objects> each) {
        Columns columns(full(name));
        Save<Columns> inner(columns, full(name) + ".");
        for (auto& object : each.objects) part_of(object).state(inner);
        columns.pour(sink);
    }
    template <class M>
        requires(!std::is_const_v<M>)
    void operator()(std::string_view name, Any<M> value) {
        (*this)(name, any(std::as_const(value.member)));
    }

  private:
    Sink& sink;
    std::string prefix;

    std::string full(std::string_view name) const { return prefix + std::string(name); }
};

// A Source for what Columns took: each object takes what comes next.
template <class Source>
class Rewound {
  public:
    Rewound(Source& source, std::string outer) : source(source), outer(std::move(outer)) {}

    template <class V>
    std::span<const V> array(const std::string& name, std::type_identity<V>) {
        return next<V>(name, number(lengths_of(outer, name), std::type_identity<std::int64_t>{}));
    }
    template <class V>
    V number(const std::string& name, std::type_identity<V>) {
        return next<V>(name, 1).front();
    }
    void demand_spent() const {
        for (const auto& [name, column] : columns)
            demand(column.at == column.size,
                   "there is more of some objects than there are objects");
    }

  private:
    struct Column {
        const void* values = nullptr;
        std::size_t size = 0, at = 0;
    };
    Source& source;
    std::string outer;
    std::map<std::string, Column> columns;

    template <class V>
    std::span<const V> next(const std::string& name, std::int64_t n) {
        const auto [place, is_new] = columns.try_emplace(name);
        Column& column = place->second;
        if (is_new) {
            const std::span<const V> all = source.array(name, std::type_identity<V>{});
            column = {all.data(), all.size(), 0};
        }
        demand(n >= 0 && std::size_t(n) <= column.size - column.at,
               "there are more objects than there is of them");
        const V* from = static_cast<const V*>(column.values) + column.at;
        column.at += std::size_t(n);
        return {from, std::size_t(n)};
    }
};

// source.array(name, std::type_identity<V>) -> std::span<const V>, source.number(name, ...) ->
// value; both throw std::invalid_argument where the name is absent or of another type.
template <class Source>
class Load {
  public:
    static constexpr bool loading = true;
    // How many features the model knows: no row of its state is wider. How many outputs it has: what
    // the state says of them must agree.
    Load(Source& source, std::size_t features, std::size_t outputs, std::string prefix = {})
        : source(source), features_(features), outputs_(outputs), prefix(std::move(prefix)) {}

    std::size_t features() const { return features_; }
    std::size_t outputs() const { return outputs_; }
    // The array itself, for a member that is no copy of it.
    template <Element V>
    std::span<const V> array(std::string_view name) {
        const std::span<const V> from = unchecked<V>(name);
        if (!std::all_of(from.begin(), from.end(), is_ordinary<V>)) refuse(full(name));
        return from;
    }

    template <Element V, class Allocator>
    void operator()(std::string_view name, std::vector<V, Allocator>& values) {
        const std::span<const V> from = array<V>(name);
        values.assign(from.begin(), from.end());
    }
    template <Element V, class Allocator>
    void operator()(std::string_view name, Any<std::vector<V, Allocator>> values) {
        const std::span<const V> from = unchecked<V>(name);
        values.member.assign(from.begin(), from.end());
    }
    template <Number M>
    void operator()(std::string_view name, M& value) {
        const auto from = number<M>(name);
        if (!is_ordinary_count(from)) refuse(full(name));
        value = static_cast<M>(from);
    }
    template <Number M>
    void operator()(std::string_view name, Any<M> value) {
        value.member = static_cast<M>(number<M>(name));
    }
    template <Stateful<Load> M>
    void operator()(std::string_view name, M& object) {
        Load inner(source, features_, outputs_, full(name) + ".");
        object.state(inner);
    }
    template <Stateful<Load<Rewound<Source>>> M, class Allocator>
    void operator()(std::string_view name, std::vector<M, Allocator>& objects) {
        Rewound<Source> columns(source, full(name));
        Load<Rewound<Source>> inner(columns, features_, outputs_, full(name) + ".");
        objects.clear();
        for (auto left = number<std::int64_t>(std::string(name) + ".count"); left > 0; --left) {
            M object;
            object.state(inner);
            objects.push_back(std::move(object));
        }
        columns.demand_spent();
    }
    template <class Objects>
    void operator()(std::string_view name, Each<Objects> each) {
        Rewound<Source> columns(source, full(name));
        Load<Rewound<Source>> inner(columns, features_, each.outputs, full(name) + ".");
        for (auto& object : each.objects) part_of(object).state(inner);
        columns.demand_spent();
    }

  private:
    Source& source;
    std::size_t features_, outputs_;
    std::string prefix;

    template <class V>
    std::span<const V> unchecked(std::string_view name) {
        return source.array(full(name), std::type_identity<V>{});
    }
    template <class M>
    Travelling<M> number(std::string_view name) {
        return source.number(full(name), std::type_identity<Travelling<M>>{});
    }
    std::string full(std::string_view name) const { return prefix + std::string(name); }
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
    template <Stateful<Measure> M>
    void operator()(std::string_view, M& object) {
        object.state(*this);
    }
    template <Stateful<Measure> M, class Allocator>
    void operator()(std::string_view, std::vector<M, Allocator>& objects) {
        bytes += (objects.capacity() - objects.size()) * sizeof(M);
        for (M& object : objects) object.state(*this);
    }
    template <class M>
    void operator()(std::string_view name, Any<M> any) {
        (*this)(name, any.member);
    }
};

template <class Object>
std::size_t bytes_of(const Object& object) {
    Measure measure;
    const_cast<Object&>(object).state(measure);  // `state` only hands its members to the visitor
    return measure.bytes;
}

}  // namespace onlinesvm
