// A Python dict becomes an algorithm's Params, by the names that Params::fields tells.
#pragma once

#include <nanobind/stl/string.h>

#include <cmath>
#include <concepts>
#include <memory>
#include <set>
#include <string>

#include "arrays.hpp"
#include "gil.hpp"
#include "onlinesvm/base/kernel.hpp"
#include "signals.hpp"

namespace onlinesvm::bind {

// Takes the named entries of a dict, each once, and complains about what is missing or left over.
class Entries {
  public:
    Entries(nb::dict from, std::string owner) : from(std::move(from)), owner(std::move(owner)) {}

    bool has(const char* name) const { return from.contains(name); }

    template <class V>
    V take(const char* name) {
        if (!has(name)) throw std::invalid_argument(owner + ": missing '" + name + "'");
        taken.insert(name);
        V value;
        if (!nb::try_cast<V>(from[name], value))
            throw std::invalid_argument(owner + ": '" + name + "' has the wrong type, got " +
                                        nb::cast<std::string>(nb::repr(from[name])));
        return value;
    }

    void demand_all_taken() const {
        for (auto [key, value] : from) {
            const auto name = nb::cast<std::string>(nb::str(key));
            if (!taken.contains(name))
                throw std::invalid_argument(owner + ": unknown name '" + name + "'");
        }
    }

  private:
    nb::dict from;
    std::string owner;
    std::set<std::string> taken;
};

// The user's k(x, X): called with fresh float64 arrays it may keep, from threads without the GIL.
class UserKernel {
  public:
    explicit UserKernel(nb::callable user)
        : held(new nb::callable(std::move(user)), [](nb::callable* callable) {
              const Gil::Taken gil;  // the last copy may go without it
              delete callable;
          }) {}

    void operator()(const double* x, const double* rows, std::size_t n, std::size_t d,
                    double* out) const {
        const Gil::Taken gil;
        const Callback kernel;
        if (!held->is_valid()) throw std::runtime_error("kernel: the callable is gone");
        const nb::object result =
            (*held)(to_numpy(std::vector<double>(x, x + d)),
                    to_numpy(std::vector<double>(rows, rows + n * d), {n, d}));
        Vector<double> values;
        if (!nb::try_cast(result, values) || values.shape(0) != n)
            throw std::invalid_argument("kernel: the callable must return one number per row of X");
        if (!all_finite(values.data(), n))
            throw std::invalid_argument("kernel: the callable returned NaN or infinity");
        std::copy_n(values.data(), n, out);
    }

    // For Python's garbage collector: a callable may well hold the model that holds it.
    nb::callable& callable() const { return *held; }

  private:
    std::shared_ptr<nb::callable> held;  // one Python reference, however often the kernel is copied
};

inline Kernel kernel_of(const nb::dict& dict) {
    Entries entries(dict, "kernel");
    Kernel kernel;
    kernel.shape = shape_of(entries.take<std::string>("name"));
    if (entries.has("gamma")) kernel.gamma = entries.take<double>("gamma");
    if (entries.has("degree")) kernel.degree = entries.take<double>("degree");
    if (entries.has("coef0")) kernel.coef0 = entries.take<double>("coef0");
    if (entries.has("offset")) kernel.offset = entries.take<double>("offset");
    if (entries.has("function")) {
        const auto function = entries.take<nb::object>("function");
        if (!function.is_none()) {
            if (!PyCallable_Check(function.ptr()))
                throw std::invalid_argument("kernel: 'function' must be callable as k(x, X)");
            kernel.function = UserKernel(nb::borrow<nb::callable>(function));
        }
    }
    if (kernel.shape == Shape::function && !kernel.function)
        throw std::invalid_argument("kernel: name 'function' needs a callable under 'function'");
    entries.demand_all_taken();
    return kernel;
}

template <class Params>
Params params_of(const nb::dict& dict) {
    Entries entries(dict, "params");
    Params params;
    params.fields([&]<class V>(const char* name, V& field) {
        if constexpr (std::same_as<V, Kernel>)
            field = kernel_of(entries.take<nb::dict>(name));
        else if constexpr (std::integral<V> && !std::same_as<V, bool>)
            field = static_cast<V>(entries.take<std::int64_t>(name));
        else
            field = entries.take<V>(name);
    });
    entries.demand_all_taken();
    return params;
}

}  // namespace onlinesvm::bind
