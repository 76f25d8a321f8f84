// What saves and loads, whatever the object: compiled once.
#include "onlinesvm/state/archive.hpp"

#include <map>

namespace onlinesvm {
namespace {

template <class V>
bool all_ordinary(std::span<const V> values) {
    return std::all_of(values.begin(), values.end(), is_ordinary<V>);
}
bool all_ordinary(const Elements& values) {
    return std::visit([](auto span) { return all_ordinary(span); }, values);
}
bool is_count(Figure value) {
    return std::visit([](auto number) { return is_ordinary_count(number); }, value);
}

// The lengths of "outer.inner" in each of the objects of "outer".
std::string lengths_of(const std::string& outer, const std::string& name) {
    return outer + ".lengths" + name.substr(outer.size());
}

// A Sink for several objects, one after the other: numbers of a name become an array, arrays of a
// name lie end to end.
class Columns final : public Sink {
  public:
    explicit Columns(std::string outer) : outer(std::move(outer)) {}

    void array(const std::string& name, Elements values) override {
        std::visit(
            [&]<class V>(std::span<const V> from) {
                of<std::int64_t>(lengths_of(outer, name)).push_back(std::int64_t(from.size()));
                std::vector<V>& column = of<V>(name);
                column.insert(column.end(), from.begin(), from.end());
            },
            values);
    }
    void number(const std::string& name, Figure value) override {
        std::visit([&]<class V>(V number) { of<V>(name).push_back(number); }, value);
    }
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

// A Source for what Columns took: each object takes what comes next.
class Rewound final : public Source {
  public:
    Rewound(Source& source, std::string outer) : source(source), outer(std::move(outer)) {}

    Elements array(const std::string& name, Elements type) override {
        const auto n = std::get<std::int64_t>(number(lengths_of(outer, name), std::int64_t()));
        return std::visit([&]<class V>(std::span<const V>) -> Elements { return next<V>(name, n); },
                          type);
    }
    Figure number(const std::string& name, Figure type) override {
        return std::visit([&]<class V>(V) -> Figure { return next<V>(name, 1).front(); }, type);
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
            const auto all = std::get<std::span<const V>>(source.array(name, std::span<const V>()));
            column = {all.data(), all.size(), 0};
        }
        demand(n >= 0 && std::size_t(n) <= column.size - column.at,
               "there are more objects than there is of them");
        const V* from = static_cast<const V*>(column.values) + column.at;
        column.at += std::size_t(n);
        return {from, std::size_t(n)};
    }
};

}  // namespace

std::string Save::full(std::string_view name) const { return prefix + std::string(name); }
void Save::array(std::string_view name, Elements values) {
    if (!all_ordinary(values)) refuse(full(name));
    sink.array(full(name), values);
}
void Save::number(std::string_view name, Figure value) {
    if (!is_count(value)) refuse(full(name));
    sink.number(full(name), value);
}
void Save::by_column(std::string_view name, const std::function<void(Save&)>& save_each) {
    Columns columns(full(name));
    Save inner(columns, full(name) + ".");
    save_each(inner);
    columns.pour(sink);
}

std::string Load::full(std::string_view name) const { return prefix + std::string(name); }
Elements Load::ordinary(std::string_view name, Elements type) {
    const Elements from = source.array(full(name), type);
    if (!all_ordinary(from)) refuse(full(name));
    return from;
}
Figure Load::ordinary(std::string_view name, Figure type) {
    const Figure from = source.number(full(name), type);
    if (!is_count(from)) refuse(full(name));
    return from;
}
void Load::by_column(std::string_view name, std::size_t outputs,
                     const std::function<void(Load&)>& load_each) {
    Rewound columns(source, full(name));
    Load inner(columns, features_, outputs, full(name) + ".");
    load_each(inner);
    columns.demand_spent();
}

}  // namespace onlinesvm
