// The methods by name: what the lines of cpp/methods.txt become, compiled once for either type of rows.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "onlinesvm/bank/bank.hpp"
#include "onlinesvm/model/model.hpp"

namespace onlinesvm {

enum class Type { float32, float64 };
Type type_of(std::string_view name);

struct Method {
    std::string_view name;
    std::span<const Verb> (*verbs)();
    std::unique_ptr<Model> (*make)(Type type, const Record& params);
    // Where its models are flat (bank/record.hpp), else nullptr: whether those with these parameters
    // have one size, and what they then have in common.
    bool (*fills_banks)(Type type, const Record& params) = nullptr;
    std::shared_ptr<const Breed> (*breed)(Type type, const Record& params, std::size_t width,
                                          std::size_t classes) = nullptr;
};

std::span<const Method> methods();
const Method* find_method(std::string_view name);  // nullptr: there is none
const Method& method(std::string_view name);

}  // namespace onlinesvm
