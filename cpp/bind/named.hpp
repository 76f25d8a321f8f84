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

using Names = std::vector<nb::object>;

template <class T>
class NamedRow {
  public:
    // Names that the vocabulary does not have are counted after it and handed to `fresh`, or passed
    // over where nobody asks for them. Reading runs Python, the __hash__ of a name and the __float__
    // of a value, which may do anything, even to x. Valid until the next call.
    Row<T> read(const Features& x, const Vocabulary& vocabulary, Names* fresh = nullptr) {
        entries.clear();
        const std::size_t size = x.size(), known = vocabulary.size();
        PyObject *key, *held;
        for (Py_ssize_t at = 0; PyDict_Next(x.ptr(), &at, &key, &held);) {
            const nb::object name = nb::borrow(key), value = nb::borrow(held);
            PyObject* number = PyDict_GetItemWithError(vocabulary.ptr(), name.ptr());
            if (!number) {
                if (PyErr_Occurred()) throw nb::python_error();
                if (!fresh) continue;
                fresh->push_back(name);
            }
            const std::size_t index = number ? PyLong_AsSize_t(number) : known + fresh->size() - 1;
            if (number && index >= vocabulary.size()) {
                PyErr_Clear();
                throw std::invalid_argument(
                    "vocabulary: numbers must run from 0 to its length - 1");
            }
            entries.emplace_back(static_cast<std::int32_t>(index), number_of(name, value));
            if (x.size() != size || (fresh && vocabulary.size() != known))
                throw std::runtime_error("x: it changed, or the model did, while it was read");
        }
        return sorted(vocabulary.size() + (fresh ? fresh->size() : 0));
    }

  private:
    std::vector<std::pair<std::int32_t, T>> entries;
    std::vector<T> values;
    std::vector<std::int32_t> indices;

    static T number_of(const nb::object& name, const nb::object& value) {
        const double number = PyFloat_AsDouble(value.ptr());
        if (number == -1.0 && PyErr_Occurred()) {
            const bool too_large = PyErr_ExceptionMatches(PyExc_OverflowError);
            if (!too_large && !PyErr_ExceptionMatches(PyExc_TypeError) &&
                !PyErr_ExceptionMatches(PyExc_ValueError))
                throw nb::python_error();
            PyErr_Clear();
            if (too_large) complain(name, "is too large for a number; scale or drop it");
            complain(name, "is not a number; encode it first");
        }
        if (!std::isfinite(static_cast<T>(number)))
            complain(name, "is NaN or infinite; impute or drop it");
        return static_cast<T>(number);
    }

    [[noreturn]] static void complain(const nb::object& name, const char* what) {
        throw std::invalid_argument("x: feature " + std::string(nb::repr(name).c_str()) + " " +
                                    what);
    }

    Row<T> sorted(std::size_t width) {
        const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
        if (!std::is_sorted(entries.begin(), entries.end(), less))
            std::sort(entries.begin(), entries.end(), less);
        const std::size_t n = entries.size();
        values.resize(n);
        indices.resize(n);
        for (std::size_t i = 0; i < n; ++i) std::tie(indices[i], values[i]) = entries[i];
        return {values.data(), indices.data(), n, width};
    }
};

// New names are part of the vocabulary from the moment their example is learned, or not at all.
class Taught {
  public:
    Taught(const Vocabulary& vocabulary, const Names& names)
        : vocabulary_(vocabulary), names_(names) {
        for (const nb::object& name : names_) vocabulary_[name] = nb::int_(vocabulary_.size());
    }
    ~Taught() {
        if (kept_) return;
        for (const nb::object& name : names_)
            if (PyDict_DelItem(vocabulary_.ptr(), name.ptr()) != 0) PyErr_Clear();
    }
    void keep() { kept_ = true; }
    Taught(const Taught&) = delete;
    Taught& operator=(const Taught&) = delete;

  private:
    Vocabulary vocabulary_;
    const Names& names_;
    bool kept_ = false;
};

}  // namespace onlinesvm::bind
