// A dict of named features as a sparse row, through the vocabulary {name: feature number} of a
// model.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "arrays.hpp"

namespace onlinesvm::bind {

using Features = nb::typed<nb::dict, nb::any, nb::any>;
using Vocabulary = nb::typed<nb::dict, nb::any, int>;

enum class Unknown { add, ignore };  // what to do with a name the vocabulary does not have

template <class T>
class NamedRow {
  public:
    // Throws before anything is changed. Valid until the next call.
    Row<T> read(const Features& x, const Vocabulary& vocabulary, Unknown unknown) {
        entries.clear();
        fresh.clear();
        const std::size_t known = vocabulary.size();
        PyObject *name, *value;
        for (Py_ssize_t at = 0; PyDict_Next(x.ptr(), &at, &name, &value);) {
            PyObject* number = PyDict_GetItemWithError(vocabulary.ptr(), name);
            if (!number) {
                if (PyErr_Occurred()) throw nb::python_error();
                if (unknown == Unknown::ignore) continue;
                fresh.push_back(name);
            }
            const std::size_t index = number ? PyLong_AsSize_t(number) : known + fresh.size() - 1;
            if (number && index >= known) {
                PyErr_Clear();
                throw std::invalid_argument(
                    "vocabulary: numbers must run from 0 to its length - 1");
            }
            entries.emplace_back(static_cast<std::int32_t>(index), number_of(name, value));
        }
        for (std::size_t i = 0; i < fresh.size(); ++i)
            vocabulary[nb::handle(fresh[i])] = nb::int_(known + i);
        return sorted(vocabulary.size());
    }

  private:
    std::vector<std::pair<std::int32_t, T>> entries;
    std::vector<PyObject*> fresh;  // borrowed from x
    std::vector<T> values;
    std::vector<std::int32_t> indices;

    static T number_of(PyObject* name, PyObject* value) {
        const double number = PyFloat_AsDouble(value);
        if (number == -1.0 && PyErr_Occurred()) {
            PyErr_Clear();
            complain(name, "is not a number; encode it first");
        }
        if (!std::isfinite(static_cast<T>(number)))
            complain(name, "is NaN or infinite; impute or drop it");
        return static_cast<T>(number);
    }

    [[noreturn]] static void complain(PyObject* name, const char* what) {
        throw std::invalid_argument("x: feature " +
                                    std::string(nb::repr(nb::handle(name)).c_str()) + " " + what);
    }

    Row<T> sorted(std::size_t width) {
        const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
        if (!std::is_sorted(entries.begin(), entries.end(), less))
            std::sort(entries.begin(), entries.end(), less);
        const std::size_t n = entries.size();
        values.resize(n + 1);  // an empty row is still a sparse row: its pointers are not null
        indices.resize(n + 1);
        for (std::size_t i = 0; i < n; ++i) std::tie(indices[i], values[i]) = entries[i];
        return {values.data(), indices.data(), n, width};
    }
};

}  // namespace onlinesvm::bind
