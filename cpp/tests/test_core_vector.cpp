// The core vector machine on small streams: dense and sparse, two classes and three, going on,
// unlearning, a cache so small that rows come and go, and points so long that pair steps crawl.
#include "check.hpp"
#include "onlinesvm/methods/ball/core_vector.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

template <class T>
typename CoreVector<T>::Params params(Shape shape) {
    typename CoreVector<T>::Params p;
    p.kernel = kernel(shape);
    p.tol = 1e-4;
    return p;
}

template <class T>
CoreVector<T> solved(const typename CoreVector<T>::Params& p, const Stream<T>& stream,
                     std::size_t classes, std::size_t chunk) {
    CoreVector<T> model(p);
    model.grow(classes);
    for (std::size_t i = 0; i < stream.size(); ++i) {
        model.learn(stream[i], stream.label(i), 1.0, Id(i));
        if ((i + 1) % chunk == 0 || i + 1 == stream.size()) model.solve();
    }
    return model;
}

template <class T>
void finds_the_optimum(bool sparse, std::size_t classes) {
    const Stream<T> stream(80, 6, classes, sparse);
    for (Shape shape : {Shape::linear, Shape::rbf, Shape::laplacian})
        for (std::int64_t sample : {0, 1, 59}) {
            auto p = params<T>(shape);
            p.sample = sample;
            const CoreVector<T> whole = solved(p, stream, classes, stream.size());
            CHECK(whole.kkt_residual() < 3e-4);
            CHECK(whole.passes() >= 1);
            p.cache_bytes = 1000;
            const CoreVector<T> pieces = solved(p, stream, classes, 7);
            CHECK(pieces.kkt_residual() < 3e-4);
            for (std::size_t o = 0; o < whole.outputs(); ++o)
                CHECK(close(whole.radius()[o], pieces.radius()[o], 1e-3));
        }
}

template <class T>
void unlearns(bool sparse, std::size_t classes) {
    const Stream<T> stream(60, 6, classes, sparse);
    CoreVector<T> model = solved(params<T>(Shape::rbf), stream, classes, 60);
    model.unlearn(every(3, 60));
    CHECK(model.held() == 40);
    CHECK(model.kkt_residual() < 3e-4);
    model.unlearn(model.support().ids);  // the whole core
    CHECK(model.kkt_residual() < 3e-4);
    model.unlearn(every(1, 60));
    CHECK(model.held() == 0);
    std::vector<double> f(model.outputs());
    model.score(stream[0], f.data());
    CHECK(f[0] == 0);
    model.learn(stream[0], stream.label(0), 1.0, Id(100));
    model.solve();
    CHECK(model.kkt_residual() < 3e-4);
}

// Saved, loaded and going on is never having stopped.
template <class T>
void goes_on(bool sparse, std::size_t classes) {
    const Stream<T> stream(60, 6, classes, sparse), later(20, 6, classes, sparse, 7);
    const auto p = params<T>(Shape::rbf);
    CoreVector<T> model = solved(p, stream, classes, 60), again(p);
    Memory memory = saved(model);
    again.grow(classes);
    restore(again, memory, stream[0].width, model.outputs());
    for (CoreVector<T>* m : {&model, &again}) {
        for (std::size_t i = 0; i < later.size(); ++i)
            m->learn(later[i], later.label(i), 1.0, Id(100 + i));
        m->solve();
    }
    CHECK(saved(model) == saved(again));
}

// Lengths of 1e8 against a slack of 1: only the exact step on the members gets there.
void leaps() {
    Stream<double> stream(40, 3, 2, false);
    std::vector<double> x(3);
    auto p = params<double>(Shape::linear);
    CoreVector<double> model(p);
    model.grow(2);
    for (std::size_t i = 0; i < stream.size(); ++i) {
        for (std::size_t f = 0; f < 3; ++f) x[f] = 1e4 * stream[i].values[f];
        model.learn({x.data(), 3}, stream.label(i), 1.0, Id(i));
    }
    model.solve();
    CHECK(!model.capped());
    CHECK(model.kkt_residual() < 3e-4);
}

int main() {
    for (bool sparse : {false, true})
        for (std::size_t classes : {2, 3}) {
            finds_the_optimum<float>(sparse, classes);
            finds_the_optimum<double>(sparse, classes);
            unlearns<double>(sparse, classes);
            goes_on<float>(sparse, classes);
        }
    leaps();
}
