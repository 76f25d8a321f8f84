// The keys of a bank, from Python: an array of int64 or a list of int, str and bytes, exact types all.
// What else may be a key, the face writes as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "arrays.hpp"
#include "onlinesvm/bank/keys.hpp"

namespace onlinesvm::bind {

// Keys as the core sees them, borrowed: the object given must outlive it and stay as it is.
class KeyList {
  public:
    explicit KeyList(const nb::object& keys) {
        Vector<std::int64_t> numbers;
        if (nb::try_cast(keys, numbers, false)) {
            for (std::size_t i = 0; i < numbers.shape(0); ++i) add(numbers.data() + i);
            return;
        }
        if (!PyList_CheckExact(keys.ptr())) refuse();
        const auto n = std::size_t(PyList_Size(keys.ptr()));
        small_.reserve(n);  // their addresses are taken
        keys_.reserve(n);
        for (std::size_t i = 0; i < n; ++i) read(PyList_GetItem(keys.ptr(), Py_ssize_t(i)));
    }
    operator std::span<const Key>() const { return keys_; }
    std::size_t size() const { return keys_.size(); }

  private:
    std::vector<Key> keys_;
    std::vector<std::int64_t> small_;

    void add(const std::int64_t* number) {
        keys_.push_back({Key::number, {reinterpret_cast<const char*>(number), sizeof(*number)}});
    }
    void read(PyObject* key) {
        if (PyLong_CheckExact(key)) {
            small_.push_back(PyLong_AsLongLong(key));
            if (small_.back() == -1 && PyErr_Occurred()) PyErr_Clear(), refuse();
            return add(&small_.back());
        }
        Py_ssize_t size = 0;
        if (PyUnicode_CheckExact(key)) {
            const char* text = PyUnicode_AsUTF8AndSize(key, &size);
            if (!text) PyErr_Clear(), refuse();
            return keys_.push_back({Key::text, {text, std::size_t(size)}});
        }
        char* bytes = nullptr;
        if (!PyBytes_CheckExact(key) || PyBytes_AsStringAndSize(key, &bytes, &size) != 0) refuse();
        keys_.push_back({Key::other, {bytes, std::size_t(size)}});
    }
    [[noreturn]] static void refuse() {
        throw nb::type_error("keys: write this one as bytes");  // what the face then does
    }
};

}  // namespace onlinesvm::bind
