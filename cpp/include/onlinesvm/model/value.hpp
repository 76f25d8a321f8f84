// A value of which type only run time knows: parameters by name on their way in, answers to rare
// questions on their way out.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "onlinesvm/memory/slot.hpp"
#include "onlinesvm/rows/kernel.hpp"
#include "onlinesvm/rows/support.hpp"
#include "onlinesvm/solver/path.hpp"

namespace onlinesvm {

class Model;
struct Value;
using List = std::vector<Value>;

// Numbers in row-major order.
struct Array {
    std::variant<std::vector<double>, std::vector<float>, std::vector<std::int64_t>,
                 std::vector<std::int32_t>, std::vector<Id>>
        values;
    std::vector<std::size_t> shape;
};

// Values by name, in the order in which they came.
class Record {
  public:
    Record() = default;
    Record(std::initializer_list<std::pair<std::string, Value>> entries);

    void add(std::string name, Value value);
    const Value* find(std::string_view name) const;  // nullptr: there is none
    const std::vector<std::string>& names() const { return names_; }
    List& values() { return values_; }

  private:
    std::vector<std::string> names_;
    List values_;
};

struct Value : std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, List,
                            Record, Kernel::Function, std::shared_ptr<const Model>> {
    using variant::variant;
    Value();
    Value(const Value&);
    Value(Value&&) noexcept;
    Value& operator=(const Value&);
    Value& operator=(Value&&) noexcept;
    ~Value();
};

// As a message shows it.
std::string text_of(const Value& value);

inline Value value_of(bool answer) { return answer; }
inline Value value_of(double number) { return number; }
template <std::integral N>
Value value_of(N number) {
    return std::int64_t(number);
}
template <class V>
Value value_of(std::vector<V> values) {
    const std::size_t n = values.size();
    return Array{std::move(values), {n}};
}
template <class V>
Value value_of(std::vector<V> values, std::size_t rows, std::size_t columns) {
    return Array{std::move(values), {rows, columns}};
}
Value value_of(Support<float> support, std::size_t outputs);
Value value_of(Support<double> support, std::size_t outputs);
Value value_of(Evidence<float> evidence);
Value value_of(Evidence<double> evidence);
Value value_of(Weights weights);
Value value_of(const std::vector<std::vector<Breakpoint>>& paths);  // by column, output by output

// ---- parameters ---------------------------------------------------------------------------------

// Takes the named entries of a record, each once, and complains about what is missing or left over.
class Entries {
  public:
    Entries(const Record& from, std::string owner) : from_(from), owner_(std::move(owner)) {}

    bool has(std::string_view name) const { return from_.find(name) != nullptr; }
    void take(const char* name, bool& field);
    void take(const char* name, std::int64_t& field);
    void take(const char* name, double& field);
    void take(const char* name, std::string& field);
    void take(const char* name, Kernel& field);
    void take(const char* name, Kernel::Function& field);
    void demand_all_taken() const;

  private:
    const Record& from_;
    std::string owner_;
    std::vector<std::string_view> taken_;

    const Value& fetch(const char* name);
    [[noreturn]] void refuse(const char* name, const Value& value) const;
};

Kernel kernel_of(const Record& record);

// By the names that Params::fields tells.
template <class Params>
Params params_of(const Record& record) {
    Entries entries(record, "params");
    Params params;
    params.fields([&]<class V>(const char* name, V& field) {
        if constexpr (std::integral<V> && !std::same_as<V, bool>) {
            std::int64_t number = 0;
            entries.take(name, number);
            field = static_cast<V>(number);
        } else {
            entries.take(name, field);
        }
    });
    entries.demand_all_taken();
    return params;
}

// What a verb is called with.
class Arguments {
  public:
    Arguments(std::string_view verb, std::span<const Value> values)
        : verb_(verb), values_(values) {}

    void demand(std::size_t count) const;
    double number(std::size_t i) const;
    std::int64_t integer(std::size_t i) const;
    std::size_t count(std::size_t i) const;  // an integer that is not negative
    std::vector<Id> ids(std::size_t i) const;
    std::span<const std::int64_t> integers(std::size_t i) const;
    std::span<const double> numbers(std::size_t i) const;
    const Model& model(std::size_t i) const;

  private:
    std::string_view verb_;
    std::span<const Value> values_;

    [[noreturn]] void refuse(std::size_t i) const;
};

}  // namespace onlinesvm
