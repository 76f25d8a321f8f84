// Kernel values in place of features: which of two rows is read, what is refused, and that methods of
// every kind learn from them what they learn from the features.
#include <array>

#include "check.hpp"
#include "onlinesvm/methods/ball/stream_svm.hpp"
#include "onlinesvm/methods/exact/incremental.hpp"
#include "onlinesvm/methods/margin/perceptron.hpp"
#include "onlinesvm/rows/gram_row.hpp"
#include "onlinesvm/rows/store.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

namespace {

constexpr std::size_t kRows = 90;

template <class Refused>
void refuses(Refused&& refused) {
    try {
        refused();
        CHECK(!"refused");
    } catch (const std::invalid_argument&) {
    }
}

// A matrix that is not symmetric shows which of two values is read: that in the row of the later one,
// whoever asks, and for a row that is only scored its own.
template <class T>
void the_row_of_the_later_one_is_read() {
    constexpr std::size_t n = 40, width = n + 1;
    const T offset = 2;
    const auto k = [](std::size_t i, std::size_t j) { return T(100 * i + j); };
    std::vector<std::vector<T>> rows(n, std::vector<T>(width));
    Store<T> store(kernel(Shape::precomputed, offset));
    std::vector<std::size_t> held;
    for (std::size_t i = 0; i < n; ++i) {
        rows[i][0] = T(i);
        for (std::size_t j = 0; j < n; ++j) rows[i][1 + j] = k(i, j);
    }
    for (std::size_t i = 0; i < n; i += 3) store.push({rows[i].data(), width}), held.push_back(i);
    store.swap(Slot(1), Slot(9)), std::swap(held[1], held[9]);
    store.pop(), held.pop_back();

    std::vector<T> out(store.padded_size()), query = rows[7];
    typename Store<T>::Scratch scratch;
    for (std::size_t i : {0u, 7u, 9u, 39u}) {
        store.row({rows[i].data(), width}, 0, store.size(), out.data());
        for (std::size_t j = 0; j < held.size(); ++j)
            CHECK(out[j] == k(std::max(i, held[j]), std::min(i, held[j])) + offset);
        CHECK(store.self({rows[i].data(), width}) == k(i, i) + offset);
    }
    for (Slot a{}; a < store.size(); ++a) {
        store.row(store.get(a, scratch), 3, store.size(), out.data());
        for (std::size_t j = 3; j < held.size(); ++j)
            CHECK(out[j] == k(std::max(held[a], held[j]), std::min(held[a], held[j])) + offset);
    }
    query[0] = GramRow<T>::nobody;
    store.row({query.data(), width}, 0, store.size(), out.data());
    for (std::size_t j = 0; j < held.size(); ++j) CHECK(out[j] == k(7, held[j]) + offset);
    store.demand_own_value({query.data(), width});
    refuses([&] { store.push({query.data(), width}); });  // nobody's
}

template <class T>
void odd_rows_are_refused() {
    const std::array<T, 4> good{1, 1, 1, 1};
    const std::int32_t indices[] = {0, 1, 2, 3};
    Store<T> store(kernel(Shape::precomputed)), empty(kernel(Shape::precomputed));
    store.push({good.data(), 4});
    for (T number : {T(-2), T(0.5), T(3), T(1e9), std::numeric_limits<T>::quiet_NaN()}) {
        auto bad = good;
        bad[0] = number;
        T out[isa::lanes<T>];
        refuses([&] { empty.push({bad.data(), 4}); });
        refuses([&] { store.row({bad.data(), 4}, 0, 1, out); });
        refuses([&] { store.demand_own_value({bad.data(), 4}); });
    }
    refuses([&] { empty.push({good.data(), 1}); });
    refuses([&] { empty.push({good.data(), indices, 4, 4}); });
    refuses([&] { store.push({good.data(), 3}); });  // narrower

    // A file may say anything.
    Memory memory = saved(store);
    Store<T> loaded(kernel(Shape::precomputed));
    restore(loaded, memory, 4, 1);
    CHECK(saved(loaded) == memory);
    memory.array("values", std::span<const T>(std::array<T, 4>{7, 1, 1, 1}));
    refuses([&] { restore(loaded, memory, 4, 1); });
}

// What is learned from kernel values is what is learned from features, but for the rounding of the
// values; and all promises hold.
template <class Algo>
void learns_the_same(typename Algo::Params params, std::size_t classes, double tolerance) {
    const Stream<double> features(kRows, 6, classes, false);
    Kernel bare = params.kernel;
    bare.offset = 0;
    const Stream<double> values = gram(features, bare);
    Algo by_features(params);
    params.kernel.shape = Shape::precomputed;
    keeps_promises<Algo>(params, values, classes);
    Algo by_values(params);
    for (Algo* algo : {&by_features, &by_values}) algo->grow(classes);
    learn(by_features, features, 0, kRows, 16);
    learn(by_values, values, 0, kRows, 16);
    const auto agree = [&] {
        const auto f = scores(by_features, features), g = scores(by_values, values);
        for (std::size_t i = 0; i < f.size(); ++i) {
            if (!close(f[i], g[i], tolerance)) std::fprintf(stderr, "%g %g\n", f[i], g[i]);
            CHECK(close(f[i], g[i], tolerance));
        }
    };
    agree();
    if constexpr (requires { by_values.unlearn(every(3, kRows)); }) {
        for (Algo* algo : {&by_features, &by_values}) algo->unlearn(every(3, kRows));
        agree();
    }
}

}  // namespace

int main() {
    the_row_of_the_later_one_is_read<float>();
    the_row_of_the_later_one_is_read<double>();
    odd_rows_are_refused<float>();
    odd_rows_are_refused<double>();
    for (std::size_t classes : {2u, 3u})
        for (Shape shape : {Shape::rbf, Shape::poly}) {
            Perceptron<double>::Params step;
            step.kernel = kernel(shape, 1.0);
            learns_the_same<Perceptron<double>>(step, classes, 1e-9);
            StreamSVM<double>::Params waiting;  // rows that wait keep their numbers
            waiting.kernel = kernel(shape, 1.0);
            waiting.lookahead = 5;
            learns_the_same<StreamSVM<double>>(waiting, classes, 1e-9);
            auto exact = boxed<Incremental<double>>(shape);
            exact.cache_bytes = 8192;  // rows come and go
            learns_the_same<Incremental<double>>(exact, classes, 1e-4);
        }
}
