// State as a dict of NumPy arrays: the Sink and the Source of state/archive.hpp for Python.
#pragma once

#include "arrays.hpp"
#include "onlinesvm/state/archive.hpp"

namespace onlinesvm::bind {

class ToDict final : public Sink {
  public:
    Dict dict;

    void array(const std::string& name, Elements values) override {
        std::visit(
            [&]<class V>(std::span<const V> from) {
                dict[name.c_str()] = to_numpy(std::vector<V>(from.begin(), from.end()));
            },
            values);
    }
    void number(const std::string& name, Figure value) override {
        std::visit(
            [&]<class V>(V number) {
                // A copy, since the number lives no longer than this call.
                dict[name.c_str()] =
                    nb::cast(nb::ndarray<nb::numpy, V, nb::ndim<0>>(&number, 0, nullptr),
                             nb::rv_policy::copy);
            },
            value);
    }
};

class FromDict final : public Source {
  public:
    explicit FromDict(Dict dict) : dict(std::move(dict)) {}

    Elements array(const std::string& name, Elements type) override {
        return std::visit(
            [&]<class V>(std::span<const V>) -> Elements { return fetch<V, nb::ndim<1>>(name); },
            type);
    }
    Figure number(const std::string& name, Figure type) override {
        return std::visit([&]<class V>(V) -> Figure { return fetch<V, nb::ndim<0>>(name).front(); },
                          type);
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
