// The class Bank of Python: models of one method by key, shared by threads.
#include "onlinesvm/bank/bank.hpp"

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
#include "key_list.hpp"
#include "module.hpp"
#include "onlinesvm/model/methods.hpp"
#include "signals.hpp"
#include "state.hpp"
#include "values.hpp"

namespace onlinesvm::bind {
namespace {

nb::object to_python(const Key& key) {
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

const Method& bankable(const std::string& name) {
    const Method& found = method(name);
    if (!found.breed) throw std::invalid_argument("banks cannot hold models of '" + name + "'");
    return found;
}

// A bank shared by threads: one writer, many readers.
class SharedBank {
  public:
    SharedBank(const std::string& name, const std::string& dtype, const Dict& params,
               std::size_t width, std::size_t classes)
        : type(type_of(dtype)),
          bank(bankable(name).breed(type, record_of(params), width, classes)) {}
    static bool can_hold(const std::string& name, const std::string& dtype, const Dict& params) {
        const Method* const found = find_method(name);
        return found && found->breed && found->fills_banks(type_of(dtype), record_of(params));
    }

    // ---- learning ----

    void learn_dense(const Values2& X, const Vector<double>& y, const Vector<double>& w,
                     const nb::object& keys) {
        learn(dense_rows(X), y, w, KeyList(keys));
    }
    void learn_sparse(const Values1& data, const Vector<std::int32_t>& indices,
                      const Vector<std::int64_t>& indptr, std::size_t width,
                      const Vector<double>& y, const Vector<double>& w, const nb::object& keys) {
        learn(sparse_rows(data, indices, indptr, width), y, w, KeyList(keys));
    }
    // One row as it is. False, and nothing has happened: it must go the long way, which converts it
    // or says what is wrong.
    bool learn_next(nb::handle x, double y, const nb::object& keys) {
        return PlainArray(x).visit([&](const auto* values, std::size_t n) {
            if (n != bank.width() || !onlinesvm::all_finite(values, n)) return false;
            const KeyList key(keys);
            const double weight = 1.0;
            const Signals signals;
            const std::unique_lock lock(mutex);
            bank.learn(Rows::dense(values, 1, n), {&y, 1}, {&weight, 1}, key, 1);
            return true;
        });
    }

    // ---- scoring ----

    Vectors<double, 2> score_dense(const Values2& X, const nb::object& keys) const {
        return score(dense_rows(X), KeyList(keys));
    }
    Vectors<double, 2> score_sparse(const Values1& data, const Vector<std::int32_t>& indices,
                                    const Vector<std::int64_t>& indptr, std::size_t width,
                                    const nb::object& keys) const {
        return score(sparse_rows(data, indices, indptr, width), KeyList(keys));
    }

    // ---- keys and models ----

    void forget(const nb::object& keys) {
        const KeyList wanted(keys);
        write([&] { bank.forget(wanted); });
    }
    void merge(const SharedBank& other) {
        const auto theirs = other.read([&] { return std::make_unique<Bank>(other.bank); });
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
        const FairMutex::Reading lock(mutex);
        const std::size_t slot = bank.keys().find(std::span<const Key>(wanted)[0]);
        if (slot == Keys::kNone) return nb::none();
        bank.save(slot, sink);
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
    auto read(Verb&& verb) const -> decltype(verb()) {
        const Gil::Released nogil;
        const Signals signals;
        const FairMutex::Reading lock(mutex);
        return verb();
    }
    const Bank& held() const { return bank; }

    std::atomic<std::size_t> threads{1};  // that a call may use; the results are the same bits

  private:
    Type type;
    Bank bank;
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
    void learn(const Rows& rows, const Vector<double>& y, const Vector<double>& w,
               const KeyList& keys) {
        demand_width(rows.width());
        same_length("y", y.shape(0), rows.size());
        same_length("sample_weight", w.shape(0), rows.size());
        same_length("keys", keys.size(), rows.size());
        write([&, y = view(y), w = view(w)] { bank.learn(rows, y, w, keys, threads); });
    }
    Vectors<double, 2> score(const Rows& rows, const KeyList& keys) const {
        demand_width(rows.width());
        same_length("keys", keys.size(), rows.size());
        std::vector<double> out(checked_mul(rows.size(), bank.outputs()));
        read([&] { bank.score(rows, keys, out.data(), threads); });
        if (!onlinesvm::all_finite(out.data(), out.size()))
            throw std::invalid_argument("X: a score is too large for a number; scale the features");
        return to_numpy(std::move(out), {rows.size(), bank.outputs()});
    }
    template <class V>
    static Vectors<V, 1> copied(std::span<const V> values) {
        return to_numpy(std::vector<V>(values.begin(), values.end()));
    }
};

}  // namespace

void bind_banks(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<SharedBank>(m, "Bank")
        .def(nb::init<const std::string&, const std::string&, const Dict&, std::size_t,
                      std::size_t>(),
             "method"_a, "dtype"_a, "params"_a, "width"_a, "classes"_a)
        .def_static("can_hold", &SharedBank::can_hold, "method"_a, "dtype"_a, "params"_a,
                    "Whether models with these parameters all have one size.")
        .def("learn_dense", &SharedBank::learn_dense, "X"_a, "y"_a, "w"_a, "keys"_a)
        .def("learn_sparse", &SharedBank::learn_sparse, "data"_a, "indices"_a, "indptr"_a,
             "width"_a, "y"_a, "w"_a, "keys"_a)
        .def("learn_next", &SharedBank::learn_next, "x"_a, "y"_a, "keys"_a)
        .def("score_dense", &SharedBank::score_dense, "X"_a, "keys"_a)
        .def("score_sparse", &SharedBank::score_sparse, "data"_a, "indices"_a, "indptr"_a,
             "width"_a, "keys"_a)
        .def("forget", &SharedBank::forget, "keys"_a)
        .def("merge", &SharedBank::merge, "other"_a)
        .def("keys", &SharedBank::keys)
        .def("has", &SharedBank::has, "keys"_a)
        .def("model", &SharedBank::model, "keys"_a)
        .def("state", &SharedBank::state)
        .def("load", &SharedBank::load, "kinds"_a, "ends"_a, "bytes"_a, "records"_a)
        .def_prop_rw(
            "threads", [](const SharedBank& self) { return self.threads.load(); },
            [](SharedBank& self, std::size_t n) { self.threads = n; })
        .def_prop_ro(
            "size",
            [](const SharedBank& self) { return self.read([&] { return self.held().size(); }); })
        .def_prop_ro(
            "seen",
            [](const SharedBank& self) { return self.read([&] { return self.held().seen(); }); })
        .def_prop_ro("words", [](const SharedBank& self) { return self.held().words(); })
        .def_prop_ro("nbytes", [](const SharedBank& self) {
            return self.read([&] { return self.held().nbytes(); });
        });
}

}  // namespace onlinesvm::bind
