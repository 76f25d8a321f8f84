// POKER on small streams: dense and sparse, two classes and three, regression and one class; chunks,
// a cache so small that rows come and go, selection, degenerate kernels, saving, and unlearning.
#include "check.hpp"
#include "onlinesvm/methods/exact/poker.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

template <class Algo>
typename Algo::Params params(Shape shape) {
    typename Algo::Params p;
    p.kernel = kernel(shape);
    p.C = 5;
    return p;
}

template <class Algo, class T>
void learn_chunks(Algo& algo, const Stream<T>& stream, std::size_t first, std::size_t last,
                  std::size_t chunk) {
    for (std::size_t i = first; i < last; i += chunk) {
        learn_chunk(algo, stream, i, std::min(i + chunk, last));
        CHECK(!algo.capped());
    }
}

// Whatever the chunks: the same decisions, optimal; after removals, after loading, and from nothing.
template <class Algo, class T>
void is_exact(const typename Algo::Params& p, const Stream<T>& stream, std::size_t classes) {
    const double exact = sizeof(T) == 4 ? 1e-3 : 1e-7;
    std::vector<double> f;
    for (std::size_t chunk : {1u, 7u, 45u, 90u}) {
        Algo model(p), resumed(p);
        model.grow(classes);
        learn_chunks(model, stream, 0, stream.size(), chunk);
        CHECK(model.kkt_residual() < exact);
        if (f.empty()) f = scores(model, stream);
        const std::vector<double> g = scores(model, stream);
        for (std::size_t i = 0; i < f.size(); ++i) CHECK(close(f[i], g[i], exact));

        Memory memory = saved(model);
        resumed.grow(classes);
        restore(resumed, memory, stream[0].width, model.outputs());
        for (Algo* m : {&model, &resumed}) {
            m->unlearn(every(3, 90));
            CHECK(m->kkt_residual() < exact);
            for (Id id : m->support().ids) CHECK(std::int64_t(id) % 3 != 0);
        }
        CHECK(saved(model) == saved(resumed));
        model.unlearn(every(1, 90));
        CHECK(model.held() == 0);
        for (double v : scores(model, stream)) CHECK(v == 0);
        learn_chunks(model, stream, 0, stream.size(), 30);
        const std::vector<double> again = scores(model, stream);
        for (std::size_t i = 0; i < f.size(); ++i) CHECK(close(f[i], again[i], exact));
    }
}

template <class T>
void classifies(bool sparse, std::size_t classes) {
    using Algo = PokerClassifier<T>;
    const Stream<T> stream(90, 6, classes, sparse);
    for (Shape shape : {Shape::linear, Shape::rbf})
        for (const char* bias : {"free", "none"}) {
            auto p = params<Algo>(shape);
            p.bias = bias;
            is_exact<Algo>(p, stream, classes);
        }
    auto p = params<Algo>(Shape::rbf);
    p.cache_bytes = 4096;
    is_exact<Algo>(p, stream, classes);
    p.task.select = "maxslk+dobj";
    is_exact<Algo>(p, stream, classes);
}

// Few distinct points, both labels on each: ties and dependence at every breakpoint.
void survives_degeneracy() {
    using Algo = PokerClassifier<double>;
    for (double C : {0.1, 1.0, 50.0})
        for (Shape shape : {Shape::linear, Shape::rbf, Shape::poly}) {
            auto p = params<Algo>(shape);
            p.C = C;
            const std::vector<double> points = {0, 0, 1, 0, 0, 1, -1, 2, 1, 0};
            for (const char* bias : {"free", "none"}) {
                p.bias = bias;
                Algo model(p);
                for (std::int64_t id = 0; id < 40; ++id) {
                    const double* x = points.data() + 2 * (id * 7 % 5);
                    model.learn({x, 2}, double(id % 3 == 0), 1.0, Id(id));
                    CHECK(!model.capped());
                    CHECK(model.kkt_residual() < 1e-7);
                }
                for (const Id id : every(2, 40)) {
                    model.unlearn(std::span(&id, 1));
                    CHECK(model.kkt_residual() < 1e-7);
                }
            }
        }
}

int main() {
    for (bool sparse : {false, true}) {
        classifies<double>(sparse, 2);
        classifies<float>(sparse, 3);
        const Stream<double> stream(90, 6, 3, sparse);
        auto regression = params<PokerRegressor<double>>(Shape::rbf);
        is_exact<PokerRegressor<double>>(regression, stream, 2);
        regression.task.epsilon = 0;
        regression.kernel = kernel(Shape::linear);
        is_exact<PokerRegressor<double>>(regression, stream, 2);
        auto novelty = params<PokerOneClass<double>>(Shape::rbf);
        novelty.C = 1;
        novelty.task.nu = 0.2;
        is_exact<PokerOneClass<double>>(novelty, stream, 2);
    }
    survives_degeneracy();
}
