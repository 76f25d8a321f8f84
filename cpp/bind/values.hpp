// Values on their way from Python to the core and back: parameters, arguments, answers.
#pragma once

#include <nanobind/stl/string.h>

#include <memory>
#include <string>

#include "arrays.hpp"
#include "gil.hpp"
#include "onlinesvm/model/value.hpp"
#include "signals.hpp"

namespace onlinesvm::bind {

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
        if (!onlinesvm::all_finite(values.data(), n))
            throw std::invalid_argument("kernel: the callable returned NaN or infinity");
        std::copy_n(values.data(), n, out);
    }

    // For Python's garbage collector: a callable may well hold the model that holds it.
    nb::callable& callable() const { return *held; }

  private:
    std::shared_ptr<nb::callable> held;  // one Python reference, however often the kernel is copied
};

// What Python has, by its own type; a NumPy array of int64 or float64 is copied.
inline Value value_of(nb::handle object);

inline Record record_of(const nb::dict& dict) {
    Record record;
    for (auto [key, value] : dict) {
        const auto name = nb::cast<std::string>(nb::str(key));
        try {
            record.add(name, value_of(value));
        } catch (const nb::cast_error&) {
            throw std::invalid_argument("params: '" + name + "' has the wrong type, got " +
                                        nb::cast<std::string>(nb::repr(value)));
        }
    }
    return record;
}

inline Value value_of(nb::handle object) {
    PyObject* const o = object.ptr();
    if (o == Py_None) return {};
    if (PyBool_Check(o)) return o == Py_True;
    if (PyFloat_Check(o)) return PyFloat_AsDouble(o);
    if (PyUnicode_Check(o)) return nb::cast<std::string>(object);
    if (PyDict_Check(o)) return record_of(nb::borrow<nb::dict>(object));
    if (PyIndex_Check(o)) {
        int overflow = 0;
        const nb::object whole = nb::steal(PyNumber_Index(o));
        if (whole.is_valid()) {
            const long long number = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
            if (!overflow && !PyErr_Occurred()) return std::int64_t(number);
        }
        PyErr_Clear();  // an array, or too large
    }
    Vector<std::int64_t> integers;
    if (nb::try_cast(object, integers, false))
        return onlinesvm::value_of(std::vector(view(integers).begin(), view(integers).end()));
    Vector<double> numbers;
    if (nb::try_cast(object, numbers, false))
        return onlinesvm::value_of(std::vector(view(numbers).begin(), view(numbers).end()));
    if (PyCallable_Check(o)) return Kernel::Function(UserKernel(nb::borrow<nb::callable>(object)));
    const double number = PyFloat_AsDouble(o);
    if (number == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        throw nb::cast_error();
    }
    return number;
}

inline nb::object to_python(Value value);

struct ToPython {
    nb::object operator()(std::monostate) const { return nb::none(); }
    nb::object operator()(bool answer) const { return nb::bool_(answer); }
    nb::object operator()(std::int64_t number) const { return nb::int_(number); }
    nb::object operator()(double number) const { return nb::float_(number); }
    nb::object operator()(const std::string& text) const {
        return nb::str(text.data(), text.size());
    }
    nb::object operator()(Array array) const {
        return std::visit(
            [&]<class V>(std::vector<V>& values) {
                return nb::cast(to_numpy(std::move(values), array.shape));
            },
            array.values);
    }
    nb::object operator()(List list) const {
        nb::list out;
        for (Value& each : list) out.append(to_python(std::move(each)));
        return nb::tuple(out);
    }
    nb::object operator()(Record record) const {
        nb::dict out;
        for (std::size_t i = 0; i < record.names().size(); ++i)
            out[record.names()[i].c_str()] = to_python(std::move(record.values()[i]));
        return out;
    }
    nb::object operator()(const auto&) const { throw nb::type_error("no value for Python"); }
};
inline nb::object to_python(Value value) { return std::visit(ToPython(), std::move(value)); }

}  // namespace onlinesvm::bind
