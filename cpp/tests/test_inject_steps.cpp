// The step-based learners, the balls and the features under injected failures.
#include "inject.hpp"
#include "onlinesvm/methods/ball/ellipsoid.hpp"
#include "onlinesvm/methods/ball/stream_svm.hpp"
#include "onlinesvm/methods/budget/bsgd.hpp"
#include "onlinesvm/methods/budget/multi_kernel.hpp"
#include "onlinesvm/methods/gradient/descent.hpp"
#include "onlinesvm/methods/gradient/exponentiated.hpp"
#include "onlinesvm/methods/gradient/norma.hpp"
#include "onlinesvm/methods/gradient/pegasos.hpp"
#include "onlinesvm/methods/gradient/sgd.hpp"
#include "onlinesvm/methods/margin/alma.hpp"
#include "onlinesvm/methods/margin/confidence_weighted.hpp"
#include "onlinesvm/methods/margin/mira.hpp"
#include "onlinesvm/methods/margin/passive_aggressive.hpp"
#include "onlinesvm/methods/margin/passive_aggressive_one_class.hpp"
#include "onlinesvm/methods/margin/perceptron.hpp"
#include "onlinesvm/methods/margin/winnow.hpp"
#include "onlinesvm/methods/prepare/fourier.hpp"
#include "onlinesvm/methods/prepare/nystroem.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

template <class Algo, class T>
Victim<Algo> life(const Kernel& k, bool sparse, auto&& set) {
    const Stream<T> two(46, 4, 2, sparse), three(46, 4, 3, sparse);
    typename Algo::Params p;
    p.kernel = k;
    set(p);
    auto victim = grown<Algo>(p, two);
    if constexpr (requires(Algo& m) { m.unlearn(kSome); })
        victim.survives([](Algo& m) { m.unlearn(kSome); });
    if constexpr (requires(Algo& m) { m.flush(); })
        victim.survives([](Algo& m) { m.flush(); }).learns(two, 30, 33, 3);
    if constexpr (requires(Algo& m) { m.merge(m, 100); })
        victim.survives([](Algo& m) { m.merge(m, 100); });
    victim.survives([](Algo& m) { m.grow(3); });
    victim.learns(three, 33, 46, 13);
    return victim;
}

template <template <class> class Algo>
void with_weights(auto&& set) {
    life<Algo<double>, double>(kernel(Shape::linear, 1.0), false, set);
    life<Algo<float>, float>(kernel(Shape::linear, 1.0), true, set);
}

template <template <class> class Algo>
void everywhere(auto&& set) {
    life<Algo<float>, float>(user_kernel(), false, set);
    life<Algo<float>, float>(kernel(Shape::rbf, 1.0), true, set);
    with_weights<Algo>(set);
}

int main() {
    const auto plain = [](auto&) {};
    everywhere<PassiveAggressiveClassifier>(plain);
    everywhere<PassiveAggressiveRegressor>(plain);
    everywhere<Perceptron>(plain);
    everywhere<Perceptron>([](auto& p) { p.variant = "voted"; });
    everywhere<Sgd>([](auto& p) { p.average = true; });
    everywhere<Pegasos>(plain);
    everywhere<Pegasos>([](auto& p) { p.block = 3, p.average = true, p.t0 = -1.0; });
    everywhere<NormaClassifier>([](auto& p) { p.truncation = 6, p.nu = 0.2; });
    everywhere<NormaRegressor>([](auto& p) { p.bias = true; });
    everywhere<NormaOneClass>([](auto& p) { p.nu = 0.5; });
    everywhere<Alma>(plain);
    with_weights<Alma>([](auto& p) { p.p = 4.0; });
    everywhere<Mira>([](auto& p) { p.margin = 0.0; });
    with_weights<ConfidenceWeighted>(plain);
    with_weights<ConfidenceWeighted>([](auto& p) { p.covariance = "full"; });
    everywhere<PassiveAggressiveOneClass>(plain);
    everywhere<DescentClassifier>([](auto& p) { p.task.name = "logistic"; });
    everywhere<DescentRegressor>(plain);
    with_weights<ExponentiatedClassifier>(plain);
    with_weights<ExponentiatedRegressor>(plain);
    with_weights<Winnow>(plain);
    everywhere<BudgetedClassifier>([](auto& p) { p.budget = 5, p.maintenance = "project"; });
    for (const bool sparse : {false, true})
        life<BudgetedClassifier<float>, float>(kernel(Shape::rbf, 1.0), sparse,
                                               [](auto& p) { p.budget = 5, p.t0 = -1.0; });
    everywhere<StreamSVM>(plain);
    everywhere<StreamSVM>([](auto& p) { p.lookahead = 4; });
    everywhere<StreamSVM>([](auto& p) { p.balls = 3; });
    life<EllipsoidSVM<double>, double>(kernel(Shape::linear, 1.0), false, plain);
    life<EllipsoidSVM<double>, double>(kernel(Shape::linear, 1.0), false,
                                       [](auto& p) { p.lookahead = 3; });
    everywhere<Nystroem>([](auto& p) { p.n_components = 12; });
    for (const bool sparse : {false, true})
        life<Fourier<float>, float>(kernel(Shape::rbf), sparse, plain);
    for (const bool sparse : {false, true}) {
        const auto small = [](auto& p) { p.n_components = 6, p.n_bandwidths = 3; };
        life<MultiKernelClassification<float>, float>(kernel(Shape::rbf), sparse, small);
        life<MultiKernelClassification<double>, double>(kernel(Shape::rbf), sparse, small);
    }
    say_how_many("steps, balls and features");
}
