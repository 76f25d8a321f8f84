// Stored examples and their kernel values, against the definitions, at every size around a block.
#include "check.hpp"
#include "onlinesvm/base/store.hpp"
#include "onlinesvm/solver/inverse.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

constexpr Shape kShapes[] = {Shape::linear, Shape::rbf, Shape::poly, Shape::laplacian, Shape::chi2};

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
                    for (Slot j = 0; j < n; ++j) {
                        CHECK(close(values[q][j], value(k, queries[q], stream[j]), kTolerance<T>));
                        Aligned<T> alone(store.padded_size());
                        if (j % 16 == 0) store.row(queries[q], j, n, alone.data());
                        CHECK(j % 16 != 0 || alone[j] == values[q][j]);  // the same bits
                    }
                CHECK(close(store.self(stream[0]), value(k, stream[0], stream[0]), kTolerance<T>));
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
        store.swap(gone, held.size() - 1);
        std::swap(held[gone], held.back());
        store.pop();
        held.pop_back();
    }
    CHECK(store.size() == held.size());
    typename Store<T>::Scratch scratch;
    for (Slot j = 0; j < held.size(); ++j)
        for (std::size_t f = 0; f < 6; ++f)
            CHECK(at(store.get(j, scratch), f) == at(stream[held[j]], f));
    Memory memory = saved(store);
    Store<T> again(kernel(Shape::rbf));
    restore(again, memory);
    CHECK(saved(again) == memory);
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
    an_inverse_stays_an_inverse();
}
