// The module onlinesvm._probes: windows into the engine for tests and benchmarks, which a development
// build has and a wheel has not. Kernel matrices, and a kernel row against the plain reading of the
// same bytes.
#include <nanobind/stl/tuple.h>

#include <chrono>
#include <limits>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "onlinesvm/rows/store.hpp"
#include "values.hpp"

namespace onlinesvm::bind {
namespace {

template <class T>
nb::object kernel_matrix(const nb::dict& kernel, const Rows& left, const Rows& right) {
    Blocks<T> lefts(left), rights(right);
    const auto a = lefts.block(0, left.size()), b = rights.block(0, right.size());
    Store<T> store(kernel_of(record_of(kernel)));
    for (const Row<T>& x : b) store.push(x);
    std::vector<T> out(a.size() * b.size());
    Aligned<T> padded(a.size() * store.padded_size());
    std::vector<T*> rows;
    for (std::size_t i = 0; i < a.size(); ++i)
        rows.push_back(padded.data() + i * store.padded_size());
    store.rows(a, 0, b.size(), rows.data());
    for (std::size_t i = 0; i < a.size(); ++i)
        std::copy_n(rows[i], b.size(), out.data() + i * b.size());
    return nb::cast(to_numpy(std::move(out), {a.size(), b.size()}));
}

using Csr = std::tuple<Values1, Vector<std::int32_t>, Vector<std::int64_t>>;

template <class T>
nb::dict time_row(std::size_t n, std::size_t d, int repeats) {
    Kernel kernel;
    kernel.gamma = 1.0 / double(d);
    Store<T> store(kernel);
    std::vector<T> x(d);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t f = 0; f < d; ++f) x[f] = T((i * 31 + f * 17) % 97) / T(97);
        store.push({x.data(), d});
    }
    Aligned<T> out(store.padded_size());
    Aligned<char> bytes(store.padded_size() * d * sizeof(T), 1);
    const auto seconds = [](auto&& work) {
        const auto start = std::chrono::steady_clock::now();
        work();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    double row = std::numeric_limits<double>::infinity(), read = row;
    volatile double sink = 0;
    for (int i = 0; i < repeats; ++i) {
        row = std::min(row, seconds([&] { store.row({x.data(), d}, 0, n, out.data()); }));
        read =
            std::min(read, seconds([&] { sink = isa::dense().read(bytes.data(), bytes.size()); }));
    }
    (void)sink;
    nb::dict times;
    times["row_seconds"] = row;
    times["read_seconds"] = read;
    return times;
}

}  // namespace
}  // namespace onlinesvm::bind

NB_MODULE(_probes, m) {
    using namespace onlinesvm::bind;
    using namespace nb::literals;
    m.doc() = "Windows into the engine, for tests and benchmarks.";
    m.def(
        "kernel_matrix",
        [](const nb::dict& kernel, const Values2& a, const Values2& b) {
            return typed(a, [&]<class S>(const S*) {
                if (b.dtype() != a.dtype() || a.shape(1) != b.shape(1))
                    throw std::invalid_argument("b: needs the dtype and the width of a");
                return kernel_matrix<S>(kernel, dense_rows(a), dense_rows(b));
            });
        },
        "kernel"_a, "a"_a, "b"_a, "Kernel values of the rows of a against the rows of b.");
    m.def(
        "kernel_matrix_sparse",
        [](const nb::dict& kernel, const Csr& a, const Csr& b, std::size_t width) {
            return typed(std::get<0>(a), [&]<class S>(const S*) {
                const auto& other = std::get<0>(b);
                if (other.dtype() != std::get<0>(a).dtype())
                    throw std::invalid_argument("b: needs the dtype of a");
                return kernel_matrix<S>(
                    kernel, sparse_rows(std::get<0>(a), std::get<1>(a), std::get<2>(a), width),
                    sparse_rows(std::get<0>(b), std::get<1>(b), std::get<2>(b), width));
            });
        },
        "kernel"_a, "a"_a, "b"_a, "width"_a, "The same for (data, indices, indptr) of CSR rows.");
    m.def(
        "time_row",
        [](std::size_t n, std::size_t d, int bits, int repeats) {
            return bits == 32 ? time_row<float>(n, d, repeats) : time_row<double>(n, d, repeats);
        },
        "n"_a, "d"_a, "bits"_a, "repeats"_a,
        "Least seconds for one rbf row against n stored examples, and for reading their bytes.");
}
