// LASVM on small streams: dense and sparse, two classes and three, every query, with a cache so
// small that rows come and go, finishing, and unlearning.
#include "check.hpp"
#include "onlinesvm/methods/dual/lasvm.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

template <class T>
void learns(bool sparse, std::size_t classes) {
    const Stream<T> stream(90, 6, classes, sparse);
    for (Shape shape : {Shape::linear, Shape::rbf, Shape::laplacian})
        keeps_promises<Lasvm<T>>(boxed<Lasvm<T>>(shape), stream, classes);

    auto p = boxed<Lasvm<T>>(Shape::rbf);
    p.pool = 4;
    for (const char* query : {"gradient", "greedy", "margin"}) {
        p.query = query;
        keeps_promises<Lasvm<T>>(p, stream, classes);
    }
    p.query = "all";
    p.cache_bytes = 4096;
    p.reprocess = -1;
    keeps_promises<Lasvm<T>>(p, stream, classes);
}

// Later epochs find the optimum over the whole stream; unlearning finds it over the rest.
template <class T>
void finishes_and_unlearns(bool sparse, std::size_t classes) {
    const Stream<T> stream(90, 6, classes, sparse);
    Lasvm<T> model(boxed<Lasvm<T>>(Shape::rbf));
    model.grow(classes);
    double dual = 0;
    for (int epoch = 0; epoch < 5; ++epoch)
        for (std::size_t i = 0; i < stream.size(); ++i) {
            model.learn(stream[i], stream.label(i), 1.0, Id(i));
            CHECK(model.objective() >= dual - 1e-9);
            dual = model.objective();
            stays_feasible(model, 5, true);
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
