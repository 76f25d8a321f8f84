// Stored examples and their kernel values, against the definitions, at every size around a block.
#include "check.hpp"
#include "onlinesvm/function/score.hpp"
#include "onlinesvm/rows/store.hpp"
#include "onlinesvm/solver/inverse.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

constexpr Shape kShapes[] = {Shape::linear, Shape::rbf, Shape::poly, Shape::laplacian, Shape::chi2};

// A slot, an id and a plain number do not stand in for each other.
template <class A, class B>
concept Mix = requires(A a, B b) { a == b; } || requires(A a, B b) { a + b; } ||
              requires(B b) { A(b); } || requires(A a) { B(a); };
static_assert(!Mix<Slot, Id> && !std::is_convertible_v<Slot, Id>);
static_assert(!std::is_convertible_v<std::size_t, Slot> && !std::is_convertible_v<int, Slot>);
static_assert(!std::is_convertible_v<std::int64_t, Id> && !std::is_convertible_v<int, Id>);
static_assert(!std::is_convertible_v<Id, std::int64_t> && !std::is_convertible_v<Id, std::size_t>);
static_assert(sizeof(Id) == sizeof(std::int64_t) && std::is_trivially_copyable_v<Id>);

template <class T>
constexpr double kTolerance = sizeof(T) == 4 ? 2e-5 : 1e-12;

template <class T>
void kernel_rows_follow_the_definition(bool sparse) {
    for (Shape shape : kShapes)
        for (std::size_t width : {1, 2, 5, 17})
            for (std::size_t n : {1, 7, 8, 16, 33, 65, 130}) {
                const Kernel k = kernel(shape, 0.25);
                const Stream<T> stream(n, width, 2, sparse);
                Store<T> store(k);
                for (std::size_t i = 0; i < n; ++i) store.push(stream[i]);
                const auto queries = stream.block(0, 5);
                std::vector<Aligned<T>> values(queries.size(), Aligned<T>(store.padded_size()));
                std::vector<T*> out;
                for (auto& row : values) out.push_back(row.data());
                store.rows(queries, 0, n, out.data());
                for (std::size_t q = 0; q < queries.size(); ++q)
                    for (Slot j{}; j < n; ++j) {
                        CHECK(close(values[q][j], value(k, queries[q], stream[j]), kTolerance<T>));
                        Aligned<T> alone(store.padded_size());
                        if (j % 16 == 0) store.row(queries[q], j, n, alone.data());
                        CHECK(j % 16 != 0 || alone[j] == values[q][j]);  // the same bits
                    }
                CHECK(close(store.self(stream[0]), value(k, stream[0], stream[0]), kTolerance<T>));
            }
}

// Decision values come from dot products where both sides are short: near the definition for short
// and long rows in any mixture, the same bits alone as in a batch, and no distance from x to itself.
template <class T>
void decision_values_follow_the_definition() {
    constexpr std::size_t kWidth = 41, kStored = 300, kAsked = 700;  // several runs and batches
    Kernel k = kernel(Shape::rbf);
    k.gamma = 1.0 / kWidth;
    const Stream<T> stream(kStored + kAsked, kWidth, 2, false);
    std::vector<std::vector<T>> values;
    std::vector<Row<T>> rows;
    for (std::size_t i = 0; i < stream.size(); ++i) {
        const T scale = i % 23 == 0 ? T(30) : T(1);
        auto& x = values.emplace_back(stream[i].values, stream[i].values + kWidth);
        for (T& v : x) v *= scale;
        rows.push_back({x.data(), kWidth});
    }
    Store<T> store(k);
    for (std::size_t j = 0; j < kStored; ++j) store.push(rows[j]);
    std::mt19937 random(5);
    std::vector<double> first(kStored), second(kStored);
    for (double& s : first) s = std::normal_distribution<>()(random);
    for (double& s : second) s = std::normal_distribution<>()(random);
    const double* coefficients[] = {first.data(), second.data()};
    std::vector<double> out(2 * kAsked);
    const auto asked = std::span<const Row<T>>(rows).subspan(kStored);
    score<T>(store, kStored, coefficients, asked, out.data());
    std::size_t n_short = 0;
    const auto norms = store.norms(asked);
    for (std::size_t i = 0; i < kAsked; ++i) {
        n_short += store.is_short(norms[i]);
        double alone[2];
        score<T>(store, kStored, coefficients, asked.subspan(i, 1), alone);
        for (std::size_t o = 0; o < 2; ++o) {
            double f = 0;
            for (std::size_t j = 0; j < kStored; ++j)
                f += coefficients[o][j] * value(k, asked[i], rows[j]);
            CHECK(close(out[2 * i + o], f, kTolerance<T>));
            CHECK(alone[o] == out[2 * i + o]);
        }
    }
    CHECK(n_short > kAsked / 2 && n_short < kAsked);
    for (std::size_t j = 0; j < kStored; ++j) {
        std::vector<double> one(kStored);
        one[j] = 1;
        const double* only[] = {one.data()};
        double f = 0;
        score<T>(store, kStored, only, std::span(&rows[j], 1), &f);
        CHECK(f == 1.0);
    }
}

// The bits of a kernel row hang neither on what a store went through nor on who else is in it.
template <class T>
void same_rows_as_alone(const Store<T>& store, const Stream<T>& stream,
                        const std::vector<std::size_t>& held, Row<T> x) {
    Aligned<T> row(store.padded_size() + isa::lanes<T>), one(isa::lanes<T>);
    const std::size_t middle = held.size() / 2;
    store.row(x, 0, middle, row.data());
    store.row(x, middle, held.size(), row.data());
    for (Slot j{}; j < held.size(); ++j) {
        Store<T> alone(store.kernel());
        alone.push(stream[held[j]]);
        alone.row(x, 0, 1, one.data());
        CHECK(row[j] == one[0]);
    }
}

// A store that examples enter and leave holds what a plain list would hold.
template <class T>
void examples_come_and_go(bool sparse) {
    const Stream<T> stream(200, 6, 2, sparse);
    Store<T> store(kernel(Shape::rbf));
    std::vector<std::size_t> held;
    std::mt19937 random(3);
    for (std::size_t i = 0; i < stream.size(); ++i) {
        store.push(stream[i]);
        held.push_back(i);
        if (random() % 3 != 0) continue;
        const std::size_t gone = random() % held.size();
        store.swap(Slot(gone), Slot(held.size() - 1));
        std::swap(held[gone], held.back());
        store.pop();
        held.pop_back();
        same_rows_as_alone(store, stream, held, stream[i]);
    }
    CHECK(store.size() == held.size());
    typename Store<T>::Scratch scratch;
    for (Slot j{}; j < held.size(); ++j)
        for (std::size_t f = 0; f < 6; ++f)
            CHECK(at(store.get(j, scratch), f) == at(stream[held[j]], f));
    Memory memory = saved(store);
    Store<T> again(kernel(Shape::rbf));
    restore(again, memory, stream[0].width, 1);
    CHECK(saved(again) == memory);
}

// The room for all of a file is made at once: no moment holds two copies, nor any idle eighth.
template <class T>
void loading_makes_room_once() {
    const Stream<T> stream(1000, 7, 2, false);
    Store<T> store(kernel(Shape::rbf)), again(kernel(Shape::rbf));
    for (std::size_t i = 0; i < stream.size(); ++i) store.push(stream[i]);
    Memory memory = saved(store);
    restore(again, memory, stream[0].width, 1);
    CHECK(again.nbytes() == again.padded_size() * 8 * sizeof(T));
    again.push(stream[0]);
    CHECK(again.nbytes() <= again.footprint());
}

// P K = 1 whatever was added and removed.
void an_inverse_stays_an_inverse() {
    const Stream<double> stream(60, 4, 2, false);
    const Kernel k = kernel(Shape::rbf);
    Inverse inverse;
    std::vector<std::size_t> members;
    std::vector<double> work, column, product;
    std::mt19937 random(4);
    for (std::size_t i = 0; i < stream.size(); ++i) {
        column.clear();
        for (std::size_t m : members) column.push_back(value(k, stream[i], stream[m]));
        if (inverse.add(column.data(), 1.0, 1e-10, work)) members.push_back(i);
        if (random() % 3 != 0 || members.empty()) continue;
        const std::size_t gone = random() % members.size();
        inverse.remove(gone, work);
        members[gone] = members.back();
        members.pop_back();
    }
    CHECK(inverse.size() == members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
        column.clear();
        for (std::size_t m : members) column.push_back(value(k, stream[members[i]], stream[m]));
        product.resize(members.size());
        inverse.apply(column.data(), product.data());
        for (std::size_t j = 0; j < members.size(); ++j)
            CHECK(std::abs(product[j] - (i == j)) < 1e-6);
    }
}

int main() {
    for (bool sparse : {false, true}) {
        kernel_rows_follow_the_definition<float>(sparse);
        kernel_rows_follow_the_definition<double>(sparse);
        examples_come_and_go<float>(sparse);
        examples_come_and_go<double>(sparse);
    }
    decision_values_follow_the_definition<float>();
    decision_values_follow_the_definition<double>();
    loading_makes_room_once<float>();
    loading_makes_room_once<double>();
    an_inverse_stays_an_inverse();
}
