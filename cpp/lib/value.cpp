#include "onlinesvm/model/value.hpp"

#include <algorithm>
#include <sstream>

namespace onlinesvm {

Value::Value() = default;
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

Record::Record(std::initializer_list<std::pair<std::string, Value>> entries) {
    for (const auto& [name, value] : entries) add(name, value);
}
void Record::add(std::string name, Value value) {
    names_.push_back(std::move(name));
    values_.push_back(std::move(value));
}
const Value* Record::find(std::string_view name) const {
    const auto at = std::find(names_.begin(), names_.end(), name);
    return at == names_.end() ? nullptr : &values_[std::size_t(at - names_.begin())];
}

namespace {

struct Text {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool answer) const { return answer ? "True" : "False"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const {
        std::ostringstream out;
        out << number;
        return out.str();
    }
    std::string operator()(const std::string& text) const { return "'" + text + "'"; }
    std::string operator()(const Array&) const { return "an array"; }
    std::string operator()(const List&) const { return "a list"; }
    std::string operator()(const Record&) const { return "a dict"; }
    std::string operator()(const Kernel::Function&) const { return "a function"; }
    std::string operator()(const std::shared_ptr<const Model>&) const { return "a model"; }
};

template <class T>
void add_support(Record& out, Support<T> support, std::size_t outputs) {
    const std::size_t n = support.ids.size();
    if (n > 0) outputs = support.coef.size() / n;  // of pairs of classes: one less
    out.add("ids", value_of(std::move(support.ids)));
    out.add("coef", value_of(std::move(support.coef), outputs, n));
    if (support.indptr.empty()) {
        out.add("vectors", value_of(std::move(support.values), n, support.width));
    } else {
        out.add("data", value_of(std::move(support.values)));
        out.add("indices", value_of(std::move(support.indices)));
        out.add("indptr", value_of(std::move(support.indptr)));
        out.add("width", value_of(support.width));
    }
}
template <class T>
Record record_of(Support<T> support, std::size_t outputs) {
    Record out;
    add_support(out, std::move(support), outputs);
    return out;
}
template <class T>
Record record_of(Evidence<T> evidence) {
    const std::size_t n = evidence.rows.ids.size(), outputs = evidence.bias.size();
    const std::vector<std::size_t> cube{outputs, n, evidence.copies};
    Record out;
    add_support(out, std::move(evidence.rows), outputs);
    out.add("label", value_of(std::move(evidence.label)));
    out.add("cost", value_of(std::move(evidence.cost)));
    out.add("self", value_of(std::move(evidence.self)));
    out.add("f", value_of(std::move(evidence.f), n, outputs));
    out.add("base", Array{std::move(evidence.base), cube});
    out.add("lo", Array{std::move(evidence.lo), cube});
    out.add("hi", Array{std::move(evidence.hi), cube});
    out.add("s", Array{std::move(evidence.s), cube});
    out.add("bias", value_of(std::move(evidence.bias)));
    out.add("target", value_of(std::move(evidence.target)));
    out.add("free_bias", evidence.free_bias);
    return out;
}

}  // namespace

std::string text_of(const Value& value) { return std::visit(Text(), value); }

Value value_of(Support<float> support, std::size_t outputs) {
    return record_of(std::move(support), outputs);
}
Value value_of(Support<double> support, std::size_t outputs) {
    return record_of(std::move(support), outputs);
}
Value value_of(Evidence<float> evidence) { return record_of(std::move(evidence)); }
Value value_of(Evidence<double> evidence) { return record_of(std::move(evidence)); }
Value value_of(Weights weights) {
    const std::size_t outputs = weights.intercept.size();
    Record out;
    out.add("coef", value_of(std::move(weights.coef), outputs, weights.width));
    out.add("intercept", value_of(std::move(weights.intercept)));
    return out;
}
Value value_of(const std::vector<std::vector<Breakpoint>>& paths) {
    std::vector<double> u, dual;
    std::vector<std::int64_t> output, event, in_S, in_E, in_O;
    std::vector<Id> id;
    for (std::size_t o = 0; o < paths.size(); ++o)
        for (const Breakpoint& b : paths[o]) {
            u.push_back(b.u), dual.push_back(b.dual), output.push_back(std::int64_t(o));
            event.push_back(std::int64_t(b.event)), id.push_back(b.id);
            in_S.push_back(b.in_S), in_E.push_back(b.in_E), in_O.push_back(b.in_O);
        }
    Record out;
    out.add("output", value_of(std::move(output)));
    out.add("u", value_of(std::move(u)));
    out.add("event", value_of(std::move(event)));
    out.add("id", value_of(std::move(id)));
    out.add("S", value_of(std::move(in_S)));
    out.add("E", value_of(std::move(in_E)));
    out.add("O", value_of(std::move(in_O)));
    out.add("dual", value_of(std::move(dual)));
    return out;
}

// ---- parameters ---------------------------------------------------------------------------------

const Value& Entries::fetch(const char* name) {
    const Value* value = from_.find(name);
    if (!value) throw std::invalid_argument(owner_ + ": missing '" + name + "'");
    taken_.emplace_back(name);
    return *value;
}
void Entries::refuse(const char* name, const Value& value) const {
    throw std::invalid_argument(owner_ + ": '" + name + "' has the wrong type, got " +
                                text_of(value));
}
void Entries::take(const char* name, bool& field) {
    const Value& value = fetch(name);
    const bool* answer = std::get_if<bool>(&value);
    answer ? void(field = *answer) : refuse(name, value);
}
void Entries::take(const char* name, std::int64_t& field) {
    const Value& value = fetch(name);
    if (const bool* answer = std::get_if<bool>(&value)) return void(field = *answer);
    const auto* number = std::get_if<std::int64_t>(&value);
    number ? void(field = *number) : refuse(name, value);
}
void Entries::take(const char* name, double& field) {
    const Value& value = fetch(name);
    if (const bool* answer = std::get_if<bool>(&value)) return void(field = *answer);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return void(field = double(*whole));
    const double* number = std::get_if<double>(&value);
    number ? void(field = *number) : refuse(name, value);
}
void Entries::take(const char* name, std::string& field) {
    const Value& value = fetch(name);
    const std::string* text = std::get_if<std::string>(&value);
    text ? void(field = *text) : refuse(name, value);
}
void Entries::take(const char* name, Kernel& field) {
    const Value& value = fetch(name);
    const Record* record = std::get_if<Record>(&value);
    record ? void(field = kernel_of(*record)) : refuse(name, value);
}
void Entries::take(const char* name, Kernel::Function& field) {
    const Value& value = fetch(name);
    if (std::holds_alternative<std::monostate>(value)) return;
    const auto* function = std::get_if<Kernel::Function>(&value);
    if (!function)
        throw std::invalid_argument(owner_ + ": '" + name + "' must be callable as k(x, X)");
    field = *function;
}
void Entries::demand_all_taken() const {
    for (const std::string& name : from_.names())
        if (std::find(taken_.begin(), taken_.end(), name) == taken_.end())
            throw std::invalid_argument(owner_ + ": unknown name '" + name + "'");
}

Kernel kernel_of(const Record& record) {
    Entries entries(record, "kernel");
    Kernel kernel;
    std::string name;
    entries.take("name", name);
    kernel.shape = shape_of(name);
    const auto set = [&](const char* name, double& field) {
        if (entries.has(name)) entries.take(name, field);
    };
    set("gamma", kernel.gamma), set("degree", kernel.degree);
    set("coef0", kernel.coef0), set("offset", kernel.offset);
    if (entries.has("function")) entries.take("function", kernel.function);
    if (kernel.shape == Shape::function && !kernel.function)
        throw std::invalid_argument("kernel: name 'function' needs a callable under 'function'");
    entries.demand_all_taken();
    return kernel;
}

// ---- arguments ----------------------------------------------------------------------------------

void Arguments::demand(std::size_t count) const {
    if (values_.size() != count)
        throw std::invalid_argument(std::string(verb_) + ": takes " + std::to_string(count) +
                                    " arguments, got " + std::to_string(values_.size()));
}
void Arguments::refuse(std::size_t i) const {
    throw std::invalid_argument(std::string(verb_) + ": argument " + std::to_string(i + 1) +
                                " has the wrong type, got " + text_of(values_[i]));
}
double Arguments::number(std::size_t i) const {
    if (const auto* whole = std::get_if<std::int64_t>(&values_[i])) return double(*whole);
    const double* number = std::get_if<double>(&values_[i]);
    if (!number) refuse(i);
    return *number;
}
std::int64_t Arguments::integer(std::size_t i) const {
    const auto* number = std::get_if<std::int64_t>(&values_[i]);
    if (!number) refuse(i);
    return *number;
}
std::size_t Arguments::count(std::size_t i) const {
    const std::int64_t number = integer(i);
    if (number < 0) refuse(i);
    return std::size_t(number);
}
namespace {
template <class V>
const std::vector<V>* vector_in(const Value& value) {
    const Array* array = std::get_if<Array>(&value);
    return array && array->shape.size() == 1 ? std::get_if<std::vector<V>>(&array->values)
                                             : nullptr;
}
}  // namespace
std::span<const std::int64_t> Arguments::integers(std::size_t i) const {
    const auto* found = vector_in<std::int64_t>(values_[i]);
    if (!found) refuse(i);
    return *found;
}
std::vector<Id> Arguments::ids(std::size_t i) const {
    std::vector<Id> ids;
    for (const std::int64_t number : integers(i)) ids.push_back(Id(number));
    return ids;
}
std::span<const double> Arguments::numbers(std::size_t i) const {
    const auto* found = vector_in<double>(values_[i]);
    if (!found) refuse(i);
    return *found;
}
const Model& Arguments::model(std::size_t i) const {
    const auto* found = std::get_if<std::shared_ptr<const Model>>(&values_[i]);
    if (!found) refuse(i);
    return **found;
}

}  // namespace onlinesvm
