// The exact family under injected failures.
#include "inject.hpp"
#include "onlinesvm/methods/exact/incremental.hpp"
#include "onlinesvm/methods/exact/offline_ramp.hpp"
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

template <class T>
void ramp(bool sparse, std::int64_t keep_non_support, const char* query) {
    const Stream<T> stream(46, 4, 3, sparse);
    auto p = params<typename Ramp<T>::Params>(sparse);
    p.keep_non_support = keep_non_support;
    p.query = query;
    auto victim = grown<Ramp<T>>(p, stream);
    victim.survives([](auto& m) { m.unlearn(kSome); })
        .survives([](auto& m) { m.grow(3); })
        .learns(stream, 30, 46, 16);
    CHECK(victim.model().kkt_residual() < 0.1);
}

template <class T>
void offline_ramp(bool sparse) {
    const Stream<T> stream(30, 4, 2, sparse);
    auto victim = grown<OfflineRamp<T>>(params<typename OfflineRamp<T>::Params>(sparse), stream);
    victim.survives([](auto& m) { m.solve(); });
    CHECK(victim.model().kkt_residual() < 0.1);
}

template <class T>
void incremental(bool sparse) {
    const Stream<T> stream(46, 4, 3, sparse);
    auto p = params<typename Incremental<T>::Params>(sparse);
    p.tol = 1e-4;
    auto victim = grown<Incremental<T>>(p, stream);
    const std::vector<double> halves(3, 0.5);
    victim.survives([](auto& m) { m.unlearn(kSome); })
        .survives([](auto& m) { m.set_C(2); })
        .survives([&](auto& m) { m.reweight(std::vector{Id(3), Id(4), Id(6)}, halves); })
        .survives([](auto& m) { m.leave_one_out(); })
        .survives([](auto& m) { m.grow(3); })
        .learns(stream, 30, 46, 16);
    CHECK(victim.model().kkt_residual() < 1e-3);
}

int main() {
    ramp<float>(false, -1, "all");
    ramp<float>(true, 3, "greedy");
    ramp<double>(true, -1, "margin");
    offline_ramp<float>(false);
    offline_ramp<float>(true);
    incremental<float>(false);
    incremental<double>(true);
    say_how_many("ramp and incremental");
}
