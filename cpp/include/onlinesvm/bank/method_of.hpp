// bankable_method_of<Algo>("Stem"): a line of the table whose models can also fill a bank.
#pragma once

#include "onlinesvm/bank/breed_of.hpp"
#include "onlinesvm/model/method_of.hpp"

namespace onlinesvm {

template <template <class> class Algo>
Method bankable_method_of(std::string_view name) {
    Method method = method_of<Algo>(name);
    method.fills_banks = [](Type type, const Record& record) {
        if (type == Type::float32)
            return BreedOf<Algo<float>, float>::can_hold(
                params_of<typename Algo<float>::Params>(record));
        return BreedOf<Algo<double>, double>::can_hold(
            params_of<typename Algo<double>::Params>(record));
    };
    method.breed = [](Type type, const Record& record, std::size_t width,
                      std::size_t classes) -> std::shared_ptr<const Breed> {
        if (type == Type::float32)
            return std::make_shared<BreedOf<Algo<float>, float>>(
                params_of<typename Algo<float>::Params>(record), width, classes);
        return std::make_shared<BreedOf<Algo<double>, double>>(
            params_of<typename Algo<double>::Params>(record), width, classes);
    };
    return method;
}

}  // namespace onlinesvm
