// bind_bank<Algo>(module, "Stem"): banks of a method whose models are flat, Stem32Bank and Stem64Bank.
// Keys come as an array of int64 or as a list of int, str and bytes, exact types all: what else
// may be a key, the face writes as bytes.
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "fair_mutex.hpp"
#include "gil.hpp"
#include "onlinesvm/bank/bank.hpp"
#include "params.hpp"
#include "signals.hpp"
#include "state.hpp"

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

inline nb::object to_python(const Key& key) {
    const auto size = Py_ssize_t(key.bytes.size());
    if (key.kind == Key::number) {
        std::int64_t number;
        std::memcpy(&number, key.bytes.data(), sizeof(number));
        return nb::steal(PyLong_FromLongLong(number));
    }
    const char* const bytes = key.bytes.data();
    PyObject* const made = key.kind == Key::text ? PyUnicode_FromStringAndSize(bytes, size)
                                                 : PyBytes_FromStringAndSize(bytes, size);
    if (!made) throw nb::python_error();
    return nb::steal(made);
}

// One row of many, converted into a buffer where the types differ, and refused unless it is finite.
template <class T, class S>
class DenseRow {
  public:
    DenseRow(const S* values, std::size_t width) : values(values), width(width) {}
    Row<T> operator()(std::size_t i, std::vector<T>& buffer) const {
        return {finite(as(values + i * width, width, buffer), width), width};
    }

  private:
    const S* values;
    std::size_t width;
};
template <class T, class S>
class SparseRow {
  public:
    SparseRow(std::span<const S> data, std::span<const std::int32_t> indices,
              std::span<const std::int64_t> indptr, std::size_t width)
        : data(data), indices(indices), indptr(indptr), width(width) {
        SparseRows<T, S>(data, indices, indptr, width);  // looks whether they fit
    }
    Row<T> operator()(std::size_t i, std::vector<T>& buffer) const {
        const std::size_t at = indptr[i], n = indptr[i + 1] - at;
        return {finite(as(data.data() + at, n, buffer), n), indices.data() + at, n, width};
    }

  private:
    std::span<const S> data;
    std::span<const std::int32_t> indices;
    std::span<const std::int64_t> indptr;
    std::size_t width;
};

// A bank shared by threads: one writer, many readers.
template <class Algo, class T>
class SharedBank {
  public:
    using Held = Bank<Algo, T>;
    using Params = typename Held::Params;

    SharedBank(const Dict& params, std::size_t width, std::size_t classes)
        : bank(params_of<Params>(params), width, classes) {}

    // ---- learning ----

    void learn_dense(const Values2& X, const Vector<double>& y, const Vector<double>& w,
                     const nb::object& keys) {
        typed(X, [&]<class S>(const S* values) {
            demand_width(X.shape(1));
            learn(DenseRow<T, S>(values, X.shape(1)), X.shape(0), y, w, KeyList(keys));
        });
    }
    void learn_sparse(const Values1& data, const Vector<std::int32_t>& indices,
                      const Vector<std::int64_t>& indptr, std::size_t width,
                      const Vector<double>& y, const Vector<double>& w, const nb::object& keys) {
        typed(data, [&]<class S>(const S* values) {
            demand_width(width);
            learn(SparseRow<T, S>({values, data.shape(0)}, view(indices), view(indptr), width),
                  indptr.shape(0) - 1, y, w, KeyList(keys));
        });
    }
    // One row as it is. False, and nothing has happened: it must go the long way, which converts it
    // or says what is wrong.
    bool learn_next(nb::handle x, double y, const nb::object& keys) {
        return PlainArray(x).visit([&]<class S>(const S* values, std::size_t n) {
            if (n != bank.width() || !all_finite(values, n)) return false;
            const KeyList key(keys);
            const double weight = 1.0;
            const Signals signals;
            const std::unique_lock lock(mutex);
            bank.learn(DenseRow<T, S>(values, n), {&y, 1}, {&weight, 1}, key, 1);
            return true;
        });
    }

    // ---- scoring ----

    Array<double, 2> score_dense(const Values2& X, const nb::object& keys) const {
        return typed(X, [&]<class S>(const S* values) {
            demand_width(X.shape(1));
            return score(DenseRow<T, S>(values, X.shape(1)), X.shape(0), KeyList(keys));
        });
    }
    Array<double, 2> score_sparse(const Values1& data, const Vector<std::int32_t>& indices,
                                  const Vector<std::int64_t>& indptr, std::size_t width,
                                  const nb::object& keys) const {
        return typed(data, [&]<class S>(const S* values) {
            demand_width(width);
            return score(
                SparseRow<T, S>({values, data.shape(0)}, view(indices), view(indptr), width),
                indptr.shape(0) - 1, KeyList(keys));
        });
    }

    // ---- keys and models ----

    void forget(const nb::object& keys) {
        const KeyList wanted(keys);
        write([&] { bank.forget(wanted); });
    }
    void merge(const SharedBank& other) {
        const auto theirs = other.read([&] { return std::make_unique<Held>(other.bank); });
        write([&] { bank.merge(*theirs); });
    }
    nb::list keys() const {
        const FairMutex::Reading lock(mutex);
        nb::list out;
        for (std::size_t slot = 0; slot < bank.size(); ++slot)
            out.append(to_python(bank.keys()[slot]));
        return out;
    }
    // Whether each of these has a model.
    nb::list has(const nb::object& keys) const {
        const KeyList wanted(keys);
        const FairMutex::Reading lock(mutex);
        nb::list out;
        for (const Key& key : std::span<const Key>(wanted))
            out.append(nb::bool_(bank.keys().find(key) != Keys::kNone));
        return out;
    }
    // How many rows the model of a key has seen, and its state as its own core takes it; None where
    // there is no such model.
    nb::object model(const nb::object& keys) const {
        const KeyList wanted(keys);
        ToDict sink;
        Save<ToDict> save(sink);
        const FairMutex::Reading lock(mutex);
        const std::size_t slot = bank.keys().find(std::span<const Key>(wanted)[0]);
        if (slot == Keys::kNone) return nb::none();
        bank.visit(slot, [&](Algo& algo, bool lives) {
            save("width", lives ? bank.width() : std::size_t(0));
            save("outputs", algo.outputs());
            algo.state(save);
        });
        return nb::make_tuple(bank.seen(slot), sink.dict);
    }

    // ---- persistence ----

    Dict state() const {
        const FairMutex::Reading lock(mutex);
        if (const std::size_t bad = bank.first_not_finite(); bad < bank.size())
            throw std::invalid_argument(
                "the model of " + nb::cast<std::string>(nb::repr(to_python(bank.keys()[bad]))) +
                " has a number that is not finite; forget that key and scale its features");
        Dict out;
        out["kinds"] = copied(bank.keys().kinds());
        out["ends"] = copied(bank.keys().ends());
        out["bytes"] = copied(bank.keys().bytes());
        out["records"] = copied(bank.records());
        return out;
    }
    void load(const Vector<std::uint8_t>& kinds, const Vector<std::int64_t>& ends,
              const Vector<std::uint8_t>& bytes, const Vector<double>& records) {
        write([&] {
            bank.load(Keys::of(view(kinds), view(ends), view(bytes)), view(records), threads);
        });
    }

    template <class Verb>
    auto read(Verb&& verb) const {
        const Gil::Released nogil;
        const Signals signals;
        const FairMutex::Reading lock(mutex);
        return verb();
    }
    const Held& held() const { return bank; }

    std::atomic<std::size_t> threads{1};  // that a call may use; the results are the same bits

  private:
    Held bank;
    mutable FairMutex mutex;

    template <class Verb>
    void write(Verb&& verb) {
        const Gil::Released nogil;
        const Signals signals;
        const std::unique_lock lock(mutex);
        verb();
    }
    void demand_width(std::size_t width) const {
        if (width != bank.width())
            throw std::invalid_argument("X has " + std::to_string(width) +
                                        " features, but the bank was started with " +
                                        std::to_string(bank.width()));
    }
    template <class Rows>
    void learn(const Rows& rows, std::size_t n, const Vector<double>& y, const Vector<double>& w,
               const KeyList& keys) {
        same_length("y", y.shape(0), n);
        same_length("sample_weight", w.shape(0), n);
        same_length("keys", keys.size(), n);
        write([&, y = view(y), w = view(w)] { bank.learn(rows, y, w, keys, threads); });
    }
    template <class Rows>
    Array<double, 2> score(const Rows& rows, std::size_t n, const KeyList& keys) const {
        same_length("keys", keys.size(), n);
        std::vector<double> out(checked_mul(n, bank.outputs()));
        read([&] { bank.score(rows, keys, out.data(), threads); });
        if (!all_finite(out.data(), out.size()))
            throw std::invalid_argument("X: a score is too large for a number; scale the features");
        return to_numpy(std::move(out), {n, bank.outputs()});
    }
    template <class V>
    static auto copied(std::span<const V> values) {
        return to_numpy(std::vector<V>(values.begin(), values.end()));
    }
};

template <class Algo, class T>
void bind_bank_as(nb::module_& m, const std::string& name) {
    using Model = SharedBank<Algo, T>;
    using namespace nb::literals;
    nb::class_<Model>(m, name.c_str())
        .def(nb::init<const Dict&, std::size_t, std::size_t>(), "params"_a, "width"_a, "classes"_a)
        .def_static(
            "can_hold",
            [](const Dict& params) {
                return Bank<Algo, T>::can_hold(params_of<typename Algo::Params>(params));
            },
            "params"_a, "Whether models with these parameters all have one size.")
        .def("learn_dense", &Model::learn_dense, "X"_a, "y"_a, "w"_a, "keys"_a)
        .def("learn_sparse", &Model::learn_sparse, "data"_a, "indices"_a, "indptr"_a, "width"_a,
             "y"_a, "w"_a, "keys"_a)
        .def("learn_next", &Model::learn_next, "x"_a, "y"_a, "keys"_a)
        .def("score_dense", &Model::score_dense, "X"_a, "keys"_a)
        .def("score_sparse", &Model::score_sparse, "data"_a, "indices"_a, "indptr"_a, "width"_a,
             "keys"_a)
        .def("forget", &Model::forget, "keys"_a)
        .def("merge", &Model::merge, "other"_a)
        .def("keys", &Model::keys)
        .def("has", &Model::has, "keys"_a)
        .def("model", &Model::model, "keys"_a)
        .def("state", &Model::state)
        .def("load", &Model::load, "kinds"_a, "ends"_a, "bytes"_a, "records"_a)
        .def_prop_rw(
            "threads", [](const Model& self) { return self.threads.load(); },
            [](Model& self, std::size_t n) { self.threads = n; })
        .def_prop_ro(
            "size", [](const Model& self) { return self.read([&] { return self.held().size(); }); })
        .def_prop_ro(
            "seen", [](const Model& self) { return self.read([&] { return self.held().seen(); }); })
        .def_prop_ro("words", [](const Model& self) { return self.held().words(); })
        .def_prop_ro("nbytes", [](const Model& self) {
            return self.read([&] { return self.held().nbytes(); });
        });
}

template <template <class> class Algo>
void bind_bank(nb::module_& m, const std::string& stem) {
    bind_bank_as<Algo<float>, float>(m, stem + "32Bank");
    bind_bank_as<Algo<double>, double>(m, stem + "64Bank");
}

}  // namespace onlinesvm::bind
