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
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "onlinesvm/memory/slot.hpp"

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

// Values of any element type that lie elsewhere, and a number on its way: of which type is asked at run
// time, so that what saves and loads is compiled once.
using Elements =
    std::variant<std::span<const double>, std::span<const float>, std::span<const std::int64_t>,
                 std::span<const std::int32_t>, std::span<const std::uint8_t>, std::span<const Id>>;
using Figure = std::variant<double, std::int64_t>;

// Where a state goes.
class Sink {
  public:
    virtual ~Sink() = default;
    virtual void array(const std::string& name, Elements values) = 0;
    virtual void number(const std::string& name, Figure value) = 0;
};

// Where it comes from. Both answer with the type they are asked for, and throw std::invalid_argument
// where the name is absent or of another type.
class Source {
  public:
    virtual ~Source() = default;
    virtual Elements array(const std::string& name, Elements type) = 0;
    virtual Figure number(const std::string& name, Figure type) = 0;
};

class Save {
  public:
    static constexpr bool loading = false;
    explicit Save(Sink& sink, std::string prefix = {}) : sink(sink), prefix(std::move(prefix)) {}

    template <Element V, class Allocator>
    void operator()(std::string_view name, const std::vector<V, Allocator>& values) {
        array(name, std::span<const V>(values));
    }
    template <Element V, class Allocator>
    void operator()(std::string_view name, Any<const std::vector<V, Allocator>> values) {
        sink.array(full(name), std::span<const V>(values.member));
    }
    template <Number M>
    void operator()(std::string_view name, const M& value) {
        number(name, static_cast<Travelling<M>>(value));
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
    template <Stateful<Save> M, class Allocator>
    void operator()(std::string_view name, std::vector<M, Allocator>& objects) {
        sink.number(full(name) + ".count", static_cast<std::int64_t>(objects.size()));
        (*this)(name, each(objects, 0));
    }
    template <class Objects>
    void operator()(std::string_view name, Each<Objects> each) {
        by_column(name, [&](Save& inner) {
            for (auto& object : each.objects) part_of(object).state(inner);
        });
    }
    template <class M>
        requires(!std::is_const_v<M>)
    void operator()(std::string_view name, Any<M> value) {
        (*this)(name, any(std::as_const(value.member)));
    }

  private:
    Sink& sink;
    std::string prefix;

    std::string full(std::string_view name) const;
    void array(std::string_view name, Elements values);
    void number(std::string_view name, Figure value);
    void by_column(std::string_view name, const std::function<void(Save&)>& save_each);
};

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
        return std::get<std::span<const V>>(ordinary(name, std::span<const V>()));
    }

    template <Element V, class Allocator>
    void operator()(std::string_view name, std::vector<V, Allocator>& values) {
        const std::span<const V> from = array<V>(name);
        values.assign(from.begin(), from.end());
    }
    template <Element V, class Allocator>
    void operator()(std::string_view name, Any<std::vector<V, Allocator>> values) {
        const auto from =
            std::get<std::span<const V>>(source.array(full(name), std::span<const V>()));
        values.member.assign(from.begin(), from.end());
    }
    template <Number M>
    void operator()(std::string_view name, M& value) {
        value = static_cast<M>(std::get<Travelling<M>>(ordinary(name, Travelling<M>())));
    }
    template <Number M>
    void operator()(std::string_view name, Any<M> value) {
        value.member =
            static_cast<M>(std::get<Travelling<M>>(source.number(full(name), Travelling<M>())));
    }
    template <Stateful<Load> M>
    void operator()(std::string_view name, M& object) {
        Load inner(source, features_, outputs_, full(name) + ".");
        object.state(inner);
    }
    template <Stateful<Load> M, class Allocator>
    void operator()(std::string_view name, std::vector<M, Allocator>& objects) {
        objects.clear();
        std::int64_t left = 0;
        (*this)(std::string(name) + ".count", any(left));
        by_column(name, outputs_, [&](Load& inner) {
            for (; left > 0; --left) {
                M object;
                object.state(inner);
                objects.push_back(std::move(object));
            }
        });
    }
    template <class Objects>
    void operator()(std::string_view name, Each<Objects> each) {
        by_column(name, each.outputs, [&](Load& inner) {
            for (auto& object : each.objects) part_of(object).state(inner);
        });
    }

  private:
    Source& source;
    std::size_t features_, outputs_;
    std::string prefix;

    std::string full(std::string_view name) const;
    Elements ordinary(std::string_view name, Elements type);
    Figure ordinary(std::string_view name, Figure type);
    void by_column(std::string_view name, std::size_t outputs,
                   const std::function<void(Load&)>& load_each);
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
