// The Huller on small streams: dense and sparse, two classes and three, soft and hard margin, with
// a cache so small that rows come and go, finishing, and unlearning.
#include "check.hpp"
#include "onlinesvm/methods/dual/huller.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

template <class T>
void learns(bool sparse, std::size_t classes) {
    const Stream<T> stream(90, 6, classes, sparse);
    for (Shape shape : {Shape::linear, Shape::rbf, Shape::laplacian})
        keeps_promises<Huller<T>>(boxed<Huller<T>>(shape), stream, classes);

    auto p = boxed<Huller<T>>(Shape::rbf);
    p.init = 3;
    p.reprocess = 4;
    p.cache_bytes = 4096;
    keeps_promises<Huller<T>>(p, stream, classes);
    p.C = std::numeric_limits<double>::infinity();
    keeps_promises<Huller<T>>(p, stream, classes);
}

// alpha sums to the same on both sides.
template <class T>
void stays_balanced(const Huller<T>& model) {
    const Support<T> support = model.support();
    const std::size_t n = support.ids.size();
    for (std::size_t o = 0; o < model.outputs(); ++o) {
        double sum = 0, size = 0;
        for (std::size_t j = 0; j < n; ++j) {
            sum += support.coef[o * n + j];
            size += std::abs(support.coef[o * n + j]);
        }
        CHECK(std::abs(sum) <= 1e-9 * (1 + size));
    }
}

// Later epochs and finish find the optimum; unlearning finds it over the rest.
template <class T>
void finishes_and_unlearns(bool sparse, std::size_t classes) {
    const Stream<T> stream(90, 6, classes, sparse);
    Huller<T> model(boxed<Huller<T>>(Shape::rbf));
    model.grow(classes);
    double distance = std::numeric_limits<double>::infinity();
    for (int epoch = 0; epoch < 5; ++epoch)
        for (std::size_t i = 0; i < stream.size(); ++i) {
            model.learn(stream[i], stream.label(i), 1.0, Id(i));
            stays_balanced(model);
            CHECK(model.duality_gap() >= 0);
            CHECK(model.held() >= model.n_support());
            if (epoch == 0) continue;  // by now all hulls are founded
            CHECK(model.objective() <= distance + 1e-9);
            distance = model.objective();
        }
    finishes_and_forgets(model, stream, 1e-3);
}

int main() {
    for (bool sparse : {false, true})
        for (std::size_t classes : {2u, 3u}) {
            learns<float>(sparse, classes);
            finishes_and_unlearns<float>(sparse, classes);
            finishes_and_unlearns<double>(sparse, classes);
        }
    learns<double>(false, 2);
}
