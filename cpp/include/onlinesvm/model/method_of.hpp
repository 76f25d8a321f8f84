// method_of<Algo>("Stem"): a line of the table, for either type of rows.
#pragma once

#include "onlinesvm/model/methods.hpp"
#include "onlinesvm/model/model_of.hpp"

namespace onlinesvm {

template <template <class> class Algo>
Method method_of(std::string_view name) {
    return {.name = name,
            .verbs = ModelOf<Algo<double>, double>::offered,
            .make = [](Type type, const Record& record) -> std::unique_ptr<Model> {
                if (type == Type::float32)
                    return std::make_unique<ModelOf<Algo<float>, float>>(
                        params_of<typename Algo<float>::Params>(record));
                return std::make_unique<ModelOf<Algo<double>, double>>(
                    params_of<typename Algo<double>::Params>(record));
            }};
}

}  // namespace onlinesvm
