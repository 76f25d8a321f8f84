#include "onlinesvm/model/methods.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "families.hpp"

namespace onlinesvm {

Type type_of(std::string_view name) {
    if (name == "float32") return Type::float32;
    if (name == "float64") return Type::float64;
    throw std::invalid_argument("dtype: '" + std::string(name) +
                                "' is neither 'float32' nor 'float64'");
}

std::span<const Method> methods() {
    static const std::vector<Method> all = list_methods();
    return all;
}
const Method* find_method(std::string_view name) {
    for (const Method& method : methods())
        if (method.name == name) return &method;
    return nullptr;
}
const Method& method(std::string_view name) {
    if (const Method* found = find_method(name)) return *found;
    throw std::invalid_argument("there is no method '" + std::string(name) + "'");
}

}  // namespace onlinesvm
