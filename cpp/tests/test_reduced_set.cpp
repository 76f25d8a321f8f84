// What is left of a compressed model: sums by their definition, alone and among many, and states that
// do not fit.
#include "check.hpp"
#include "onlinesvm/methods/reduced/reduced_set.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

namespace {

// A state as a file would hold it: n vectors of the stream, two outputs.
template <class T>
Memory state_of(const Kernel& kernel, const Stream<T>& stream, std::size_t n) {
    Store<T> vectors(kernel);
    std::vector<Id> ids;
    std::vector<double> coef;
    for (std::size_t j = 0; j < n; ++j) vectors.push(stream[j]), ids.push_back(Id(j));
    for (std::size_t i = 0; i < 2 * n; ++i) coef.push_back(std::sin(double(i)));
    const std::vector<double> bias{0.25, -1.5};
    Memory memory;
    Save save(memory);
    save("vectors", vectors), save("ids", ids), save("coef", coef), save("bias", bias);
    return memory;
}

template <class T>
void computes_its_sums(const Kernel& kernel, bool sparse) {
    const std::size_t n = 37, width = 40;
    const Stream<T> stream(60, width, 2, sparse);
    Memory memory = state_of<T>(kernel, stream, n);
    ReducedSet<T> f({kernel});
    restore(f, memory, width, 2);
    CHECK(saved(f) == memory);
    CHECK(f.outputs() == 2 && f.support().ids.size() == n);
    CHECK(f.level() == -0.25);

    const std::vector<double> all = scores(f, stream);
    for (std::size_t i = 0; i < stream.size(); ++i) {
        double one[2];
        f.score(stream[i], one);
        for (std::size_t o = 0; o < 2; ++o) {
            double sum = f.bias()[o];
            for (std::size_t j = 0; j < n; ++j)
                sum += std::sin(double(o * n + j)) * value(kernel, stream[i], stream[j]);
            CHECK(one[o] == all[2 * i + o]);
            CHECK(close(one[o], sum, sizeof(T) == 4 ? 1e-4 : 1e-12));
        }
    }
}

template <class T>
void refuses_what_does_not_fit() {
    const Kernel k = kernel(Shape::rbf);
    const Stream<T> stream(10, 3, 2, false);
    const auto refused = [&](auto change, std::size_t features, std::size_t outputs) {
        Memory memory = state_of<T>(k, stream, 5);
        change(memory);
        ReducedSet<T> f({k});
        try {
            restore(f, memory, features, outputs);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    const auto as_it_is = [](Memory&) {};
    CHECK(!refused(as_it_is, 3, 2));
    CHECK(refused(as_it_is, 2, 2));
    CHECK(refused(as_it_is, 3, 3));
    const std::vector<double> few(9), odd(10, std::nan(""));
    const std::vector<Id> ids(4);
    CHECK(refused([&](Memory& m) { m.array("coef", std::span<const double>(few)); }, 3, 2));
    CHECK(refused([&](Memory& m) { m.array("coef", std::span<const double>(odd)); }, 3, 2));
    CHECK(refused([&](Memory& m) { m.array("ids", std::span<const Id>(ids)); }, 3, 2));
}

}  // namespace

int main() {
    for (bool sparse : {false, true})
        for (Shape shape :
             {Shape::linear, Shape::rbf, Shape::poly, Shape::laplacian, Shape::chi2}) {
            computes_its_sums<float>(kernel(shape), sparse);
            computes_its_sums<double>(kernel(shape, 1.0), sparse);
        }
    refuses_what_does_not_fit<float>();
    refuses_what_does_not_fit<double>();
}
