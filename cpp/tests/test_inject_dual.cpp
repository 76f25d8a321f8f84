// The dual and semi-online solvers, the core vector machine and OISVM under injected failures.
#include "inject.hpp"
#include "onlinesvm/methods/ball/core_vector.hpp"
#include "onlinesvm/methods/budget/independent.hpp"
#include "onlinesvm/methods/dual/huller.hpp"
#include "onlinesvm/methods/dual/lasvm.hpp"
#include "onlinesvm/methods/dual/smo.hpp"
#include "onlinesvm/methods/semionline/retrain.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

template <class Algo, class T>
Victim<Algo> victim(bool sparse, auto&& set) {
    typename Algo::Params p;
    p.kernel = sparse ? kernel(Shape::rbf, 1.0) : user_kernel();
    set(p);
    return grown<Algo>(p, Stream<T>(46, 4, 3, sparse));
}

template <class T>
void lasvm(bool sparse, const char* query) {
    const Stream<T> stream(46, 4, 3, sparse);
    auto v = victim<Lasvm<T>, T>(sparse, [&](auto& p) { p.query = query, p.pool = 3; });
    v.survives([](auto& m) { m.unlearn(kSome); })
        .survives([](auto& m) { m.grow(3); })
        .learns(stream, 30, 46, 16)
        .survives([](auto& m) { m.finish(1e-4); });
    CHECK(v.model().kkt_residual() < 1e-3);
}

template <class T>
void huller(bool sparse) {
    const Stream<T> stream(46, 4, 3, sparse);
    auto v = victim<Huller<T>, T>(sparse, [](auto&) {});
    v.survives([](auto& m) { m.unlearn(kSome); })
        .survives([](auto& m) { m.grow(3); })
        .learns(stream, 30, 46, 16)
        .survives([](auto& m) { m.finish(1e-4); });
    CHECK(v.model().kkt_residual() < 1e-2);
}

template <class T>
void smo(bool sparse) {
    const Stream<T> stream(46, 4, 3, sparse);
    const auto solve = [](Smo<T>& m) {
        while (m.improve()) continue;
    };
    auto v = victim<Smo<T>, T>(sparse, [](auto&) {});
    v.survives(solve)
        .survives([](auto& m) { m.unlearn(kSome); })
        .survives([](auto& m) { m.improve(); })
        .survives([](auto& m) { m.grow(3); })
        .learns(stream, 30, 46, 16)
        .survives(solve);
    CHECK(v.model().kkt_residual() < 1e-2);
}

template <class T>
void retrain(bool sparse, const char* forget) {
    const Stream<T> stream(46, 4, 3, sparse);
    auto v = victim<Retrain<T>, T>(
        sparse, [&](auto& p) { p.chunk = 6, p.budget = 5, p.forget = forget, p.tries = 2; });
    v.survives([](auto& m) { m.unlearn(kSome); })
        .survives([](auto& m) { m.grow(3); })
        .learns(stream, 30, 46, 16)
        .survives([](auto& m) { m.finish(1e-4); });
    CHECK(v.model().kkt_residual() < 1e-3);
    CHECK(v.model().held() <= 5);
    CHECK(v.model().evicted() > 0);
}

template <class T>
void core_vector(bool sparse) {
    const Stream<T> stream(46, 4, 3, sparse);
    auto v = victim<CoreVector<T>, T>(sparse, [](auto& p) { p.sample = 7; });
    v.survives([](auto& m) { m.solve(); })
        .survives([](auto& m) { m.unlearn(kSome); })
        .survives([](auto& m) { m.grow(3); })
        .survives([&](auto& m) { m.learn(stream[40], 2, 1, Id(40)); })
        .survives([](auto& m) { m.solve(); });
    CHECK(v.model().kkt_residual() < 1e-2);
}

template <class T>
void independent(bool sparse) {
    const Stream<T> two(46, 4, 2, sparse), three(46, 4, 3, sparse);
    typename IndependentClassifier<T>::Params p;
    p.kernel = sparse ? kernel(Shape::rbf, 1.0) : user_kernel();
    p.window = 25;
    Victim<IndependentClassifier<T>> v(p);  // does not move
    grow_up(v, two);
    v.survives([](auto& m) { m.unlearn(kSome); })
        .survives([](auto& m) { m.grow(3); })
        .learns(three, 30, 46, 16);
    CHECK(v.model().kkt_residual() < 1e-8);
}

int main() {
    for (bool sparse : {false, true}) {
        independent<double>(sparse);
        lasvm<float>(sparse, sparse ? "greedy" : "all");
        huller<double>(sparse);
        smo<float>(sparse);
        retrain<float>(sparse, sparse ? "random" : "oldest");
        retrain<double>(sparse, "linear_dependence");
        core_vector<float>(sparse);
    }
    say_how_many("lasvm, huller, smo, retraining, core vectors and independent ones");
}
