// SMO on small streams: dense and sparse, two classes and three, with and without a bias, with a
// cache so small that rows come and go, in batches, and back.
#include "check.hpp"
#include "onlinesvm/methods/dual/smo.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

template <class T>
typename Smo<T>::Params params(Shape shape, const char* bias, const char* order) {
    auto p = boxed<Smo<T>>(shape);
    p.bias = bias;
    p.order = order;
    return p;
}

template <class T>
void solve(Smo<T>& model) {
    double dual = model.objective();
    while (model.improve()) {
        CHECK(model.objective() >= dual - 1e-9);
        CHECK(model.gap() >= 0);
        dual = model.objective();
    }
    CHECK(model.gap() == 0);
    CHECK(!model.capped());
    CHECK(model.kkt_residual() < 1e-3);
}

template <class T>
void learns(const typename Smo<T>::Params& p, bool sparse, std::size_t classes) {
    const Stream<T> stream(120, 6, classes, sparse);
    const bool balanced = p.bias == "free";
    Smo<T> whole(p), pieces(p);
    for (Smo<T>* model : {&whole, &pieces}) model->grow(classes);
    learn(whole, stream, 0, 120, 16);
    solve(whole);
    stays_feasible(whole, 5, balanced);
    for (std::size_t first = 0; first < 120; first += 40) {
        learn(pieces, stream, first, first + 40, 7);
        solve(pieces);
    }
    CHECK(close(whole.objective(), pieces.objective(), 1e-3));

    Memory memory = saved(pieces);
    Smo<T> resumed(p);
    resumed.grow(classes);
    restore(resumed, memory, stream[0].width, pieces.outputs());
    CHECK(saved(resumed) == memory);
    for (Smo<T>* model : {&pieces, &resumed}) {
        model->unlearn(every(3, 120));
        stays_feasible(*model, 5, balanced);
        solve(*model);
    }
    CHECK(saved(resumed) == saved(pieces));
    for (Id id : pieces.support().ids) CHECK(std::int64_t(id) % 3 != 0);

    pieces.unlearn(every(1, 120));
    solve(pieces);
    CHECK(pieces.held() == 0);
    for (double f : scores(pieces, stream)) CHECK(f == 0);
    learn(pieces, stream, 0, 120, 16);
    solve(pieces);
    CHECK(pieces.n_support() > 0);
}

template <class T>
void learns_under(const char* bias, const char* order) {
    for (bool sparse : {false, true})
        for (std::size_t classes : {2u, 3u}) {
            for (Shape shape : {Shape::linear, Shape::rbf})
                learns<T>(params<T>(shape, bias, order), sparse, classes);
            auto p = params<T>(Shape::rbf, bias, order);
            p.cache_bytes = 4096;
            learns<T>(p, sparse, classes);
        }
}

// A limit on the steps leaves a feasible model that says so, and goes on when it is asked again.
void stops_at_its_limit() {
    const Stream<double> stream(120, 6, 2, false);
    auto p = params<double>(Shape::rbf, "free", "second");
    p.max_iter = 5;
    Smo<double> model(p);
    learn(model, stream, 0, 120, 16);
    while (model.improve()) {
    }
    CHECK(model.capped());
    CHECK(model.steps() == std::vector<std::int64_t>{5});
    stays_feasible(model, 5, true);
    const double dual = model.objective();
    while (model.improve()) {
    }
    CHECK(model.objective() > dual);
}

int main() {
    for (const char* bias : {"free", "none"})
        for (const char* order : {"second", "first"}) {
            learns_under<float>(bias, order);
            learns_under<double>(bias, order);
        }
    stops_at_its_limit();
}
