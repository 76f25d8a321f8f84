// POKER under injected failures.
#include "inject.hpp"
#include "onlinesvm/methods/exact/poker.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

template <class Algo, class T>
void poker(bool sparse, std::size_t classes, auto&& set) {
    const Stream<T> stream(46, 4, classes, sparse);
    typename Algo::Params p;
    p.kernel = sparse ? kernel(Shape::rbf, 1.0) : user_kernel();
    p.tol = 1e-4;
    set(p);
    Victim<Algo> victim(p);
    victim.survives([](auto& m) { m.grow(2); })
        .survives([&](auto& m) { learn_chunk(m, stream, 0, 16); })
        .survives([&](auto& m) { learn_chunk(m, stream, 16, 17); })
        .survives([&](auto& m) { learn_chunk(m, stream, 17, 30); })
        .survives([](auto& m) { m.unlearn(kSome); });
    if (classes > 2) victim.survives([](auto& m) { m.grow(3); });
    victim.survives([&](auto& m) { learn_chunk(m, stream, 30, 46); });
    CHECK(victim.model().kkt_residual() < 1e-3);
}

int main() {
    const auto plain = [](auto&) {};
    poker<PokerClassifier<float>, float>(false, 3, plain);
    poker<PokerClassifier<float>, float>(true, 2, [](auto& p) { p.task.select = "cls2w+dobj"; });
    poker<PokerRegressor<double>, double>(false, 2, plain);
    poker<PokerOneClass<double>, double>(true, 2, plain);
    say_how_many("poker");
}
