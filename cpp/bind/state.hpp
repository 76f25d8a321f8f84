// State as a dict of NumPy arrays: the Sink and the Source of base/archive.hpp for Python.
#pragma once

#include "arrays.hpp"
#include "onlinesvm/base/archive.hpp"

namespace onlinesvm::bind {

class ToDict {
  public:
    Dict dict;

    template <class V>
    void array(const std::string& name, std::span<const V> values) {
        dict[name.c_str()] = to_numpy(std::vector<V>(values.begin(), values.end()));
    }
    template <class V>
    void number(const std::string& name, V value) {
        // A copy, since the value lives no longer than this call.
        dict[name.c_str()] = nb::cast(nb::ndarray<nb::numpy, V, nb::ndim<0>>(&value, 0, nullptr),
                                      nb::rv_policy::copy);
    }
};

class FromDict {
  public:
    explicit FromDict(Dict dict) : dict(std::move(dict)) {}

    template <class V>
    std::span<const V> array(const std::string& name, std::type_identity<V>) {
        return fetch<V, nb::ndim<1>>(name);
    }
    template <class V>
    V number(const std::string& name, std::type_identity<V>) {
        return fetch<V, nb::ndim<0>>(name).front();
    }

    void demand_all_fetched() const {
        if (fetched != dict.size())
            throw std::invalid_argument("state: " + std::to_string(dict.size() - fetched) +
                                        " unknown entries; saved by another version?");
    }

  private:
    Dict dict;
    std::size_t fetched = 0;

    // No conversion: a state is taken as it was saved or not at all.
    template <class V, class Dim>
    std::span<const V> fetch(const std::string& name) {
        nb::ndarray<const V, Dim, nb::c_contig, nb::device::cpu> values;
        if (!dict.contains(name.c_str()) || !nb::try_cast(dict[name.c_str()], values, false))
            throw std::invalid_argument("state: '" + name + "' is missing or of another type");
        ++fetched;
        return {values.data(), values.size()};  // the dict keeps the memory alive
    }
};

}  // namespace onlinesvm::bind
