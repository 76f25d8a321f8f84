// One model for each pair of classes, under injected failures.
#include "inject.hpp"
#include "onlinesvm/methods/dual/lasvm.hpp"
#include "onlinesvm/methods/dual/smo.hpp"
#include "onlinesvm/methods/exact/incremental.hpp"
#include "onlinesvm/methods/exact/ramp.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

template <class Params>
Params params(bool sparse) {
    Params p;
    p.kernel = sparse ? kernel(Shape::rbf, 1.0) : user_kernel();
    p.C = 5;
    return p;
}

// Two classes first; the third and the fourth come late.
template <class Algo, class T>
Victim<Algo> of_two(bool sparse) {
    return grown<Algo>(params<typename Algo::Params>(sparse), Stream<T>(30, 4, 2, sparse));
}

template <class T>
void ramp(bool sparse) {
    auto victim = of_two<RampPairs<T>, T>(sparse);
    victim.survives([](auto& m) { m.unlearn(kSome); })
        .survives([](auto& m) { m.grow(4); })
        .learns(Stream<T>(46, 4, 4, sparse), 30, 46, 16);
    CHECK(victim.model().kkt_residual() < 0.1);
}

template <class T>
void incremental(bool sparse) {
    auto victim = of_two<IncrementalPairs<T>, T>(sparse);
    const std::vector<double> halves(3, 0.5);
    victim.survives([](auto& m) { m.grow(3); })
        .learns(Stream<T>(40, 4, 3, sparse), 30, 40, 5)
        .survives([](auto& m) { m.set_C(2); })
        .survives([&](auto& m) { m.reweight(std::vector{Id(3), Id(4), Id(6)}, halves); })
        .survives([](auto& m) { m.unlearn(kSome); });
    CHECK(victim.model().kkt_residual() < 1e-3);
}

template <class T>
void dual(bool sparse) {
    auto batch = of_two<SmoPairs<T>, T>(sparse);
    batch.survives([](auto& m) { m.grow(3); })
        .learns(Stream<T>(40, 4, 3, sparse), 30, 40, 5)
        .survives([](auto& m) {
            while (m.improve()) {
            }
        });
    CHECK(batch.model().kkt_residual() < 0.1);

    auto online = of_two<LasvmPairs<T>, T>(sparse);  // whose rows go when nobody needs them
    online.survives([](auto& m) { m.grow(3); })
        .learns(Stream<T>(40, 4, 3, sparse), 30, 40, 5)
        .survives([](auto& m) { m.finish(1e-3); })
        .survives([](auto& m) { m.unlearn(kSome); });
    CHECK(online.model().kkt_residual() < 0.1);
}

int main() {
    ramp<float>(false);
    ramp<double>(true);
    incremental<double>(false);
    dual<float>(true);
    say_how_many("pairs of classes");
}
