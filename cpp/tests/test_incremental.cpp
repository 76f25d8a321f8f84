// The incremental SVM on small streams: dense and sparse, two classes and three, with a cache so
// small that rows come and go, optimal after every example, and all the ways back.
#include "check.hpp"
#include "onlinesvm/methods/exact/incremental.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

template <class T>
constexpr double kTol = sizeof(T) == 4 ? 1e-4 : 1e-6;

template <class T>
typename Incremental<T>::Params params(Shape shape) {
    typename Incremental<T>::Params p;
    p.kernel = kernel(shape);
    p.C = 5;
    p.tol = sizeof(T) == 4 ? 1e-5 : 1e-8;
    return p;
}

template <class T>
void optimal(const Incremental<T>& model) {
    CHECK(!model.capped());
    CHECK(model.kkt_residual() < kTol<T>);
    const Evidence<T> shown = model.evidence();
    CHECK(shown.rows.ids.size() == model.held() && shown.s.size() == shown.f.size());
    for (std::size_t i = 0; i < shown.s.size(); ++i)
        CHECK(shown.lo[i] <= shown.s[i] && shown.s[i] <= shown.hi[i]);
    CHECK(model.spot_check() <= model.kkt_residual());
}

template <class T>
bool same(const Incremental<T>& a, const Incremental<T>& b, const Stream<T>& stream) {
    const std::vector<double> f = scores(a, stream), g = scores(b, stream);
    for (std::size_t i = 0; i < f.size(); ++i)
        if (!close(f[i], g[i], 10 * kTol<T>)) return false;
    return true;
}

template <class T>
void learns(Shape shape, bool sparse, std::size_t classes) {
    const Stream<T> stream(60, 4, classes, sparse);
    auto p = params<T>(shape);
    keeps_promises<Incremental<T>>(p, stream, classes);
    p.cache_bytes = 4096;
    keeps_promises<Incremental<T>>(p, stream, classes);

    Incremental<T> model(p);
    model.grow(classes);
    for (std::size_t i = 0; i < stream.size(); ++i) {
        model.learn(stream[i], stream.label(i), 1.0, Id(i));
        optimal(model);
    }
}

template <class T>
void goes_back(Shape shape, bool sparse, std::size_t classes) {
    const Stream<T> stream(60, 4, classes, sparse);
    Incremental<T> model(params<T>(shape)), rest(params<T>(shape));
    for (Incremental<T>* m : {&model, &rest}) m->grow(classes);
    learn(model, stream, 0, 60, 16);
    for (std::size_t i = 0; i < 60; ++i)
        if (i % 3 != 0) rest.learn(stream[i], stream.label(i), 1.0, Id(i));
    const std::vector<Id> gone = every(3, 60), all = every(1, 60);
    model.unlearn(gone);
    optimal(model);
    CHECK(same(model, rest, stream));
    const Memory once = saved(model);
    model.unlearn(gone);
    CHECK(saved(model) == once);

    const auto left = model.leave_one_out();
    CHECK(left.ids.size() == 40 && left.labels.size() == 40);
    CHECK(left.f.size() == 40 * model.outputs());
    CHECK(same(model, rest, stream));

    const std::vector<Id> ids = model.ids();
    model.reweight(ids, std::vector<double>(ids.size(), 0.25));
    optimal(model);
    rest.set_C(1.25);
    optimal(rest);
    CHECK(same(model, rest, stream));
    model.reweight(ids, std::vector<double>(ids.size(), 0.0));
    CHECK(model.n_support() == 0);

    rest.unlearn(all);
    CHECK(rest.held() == 0);
    for (double f : scores(rest, stream)) CHECK(f == 0);
    CHECK(rest.kkt_residual() == 0 && rest.evidence().s.empty());
}

// Duplicates of both labels, one class first, rows of zeros: the kernel is as singular as can be.
template <class T>
void bears_degenerate_rows() {
    const T values[] = {0, 0, 1, 0, 0, 1, 1, 1};
    for (Shape shape : {Shape::linear, Shape::poly, Shape::rbf}) {
        Incremental<T> model(params<T>(shape));
        for (std::int64_t i = 0; i < 40; ++i) {
            const Row<T> x{values + 2 * (i % 4), 2};
            model.learn(x, i < 15 ? 0 : double(i * 7 % 3 > 0), 1.0, Id(i));
            optimal(model);
        }
        for (const Id id : every(1, 40)) {
            model.unlearn(std::span(&id, 1));
            optimal(model);
        }
        CHECK(model.held() == 0);
    }
}

// Settled by the call, it is optimal when asked to be, and can be marked and taken back before that.
void settles_by_call() {
    const Stream<double> stream(90, 2, 2, false);
    auto p = params<double>(Shape::rbf);
    p.settle = "call";
    Incremental<double> whole(p), pieces(p), resumed(p), model(p);
    learn(whole, stream, 0, stream.size(), 16);  // one alone would be learned by itself
    learn(pieces, stream, 0, 42, 7);
    restore(resumed, saved(pieces), stream[0].width, pieces.outputs());
    for (Incremental<double>* rest : {&pieces, &resumed}) {
        learn(*rest, stream, 42, stream.size(), 16);
        CHECK(saved(whole) == saved(*rest));
    }
    for (std::size_t i = 0; i < stream.size(); ++i) {
        model.learn(stream[i], double(i % 3 == 0), 1.0, Id(i));
        if (i % 30 == 29) model.solve(), optimal(model);
    }
}

// Many members far from the margin, who hear of the largest moves only.
template <class T>
void hears_of_the_largest(Shape shape) {
    const Stream<T> stream(400, 2, 2, false);
    Incremental<T> model(params<T>(shape));
    for (std::size_t i = 0; i < stream.size(); ++i) {
        model.learn(stream[i], stream.label(i), 1.0, Id(i));
        if (i % 10 == 9) optimal(model);
    }
    const std::vector<Id> gone = every(9, 400);
    for (Id id : gone) {
        model.unlearn(std::span(&id, 1));
        optimal(model);
    }
}

// With a single round the model may stop short, says so, and stays within its bounds.
void stops_at_its_limit() {
    const Stream<double> stream(60, 4, 2, false);
    auto p = params<double>(Shape::rbf);
    p.max_rounds = 1;
    Incremental<double> model(p);
    bool capped = false;
    for (std::size_t i = 0; i < stream.size(); ++i) {
        model.learn(stream[i], stream.label(i), 1.0, Id(i));
        capped |= model.capped();
        for (double s : model.support().coef) CHECK(std::abs(s) <= 5);
    }
    CHECK(capped);
    for (double f : scores(model, stream)) CHECK(std::isfinite(f));
}

int main() {
    for (bool sparse : {false, true})
        for (std::size_t classes : {2u, 3u})
            for (Shape shape : {Shape::linear, Shape::rbf}) {
                learns<double>(shape, sparse, classes);
                goes_back<double>(shape, sparse, classes);
            }
    learns<float>(Shape::rbf, false, 2);
    goes_back<float>(Shape::rbf, false, 2);
    bears_degenerate_rows<double>();
    settles_by_call();
    hears_of_the_largest<double>(Shape::linear);
    hears_of_the_largest<double>(Shape::rbf);
    hears_of_the_largest<float>(Shape::rbf);
    stops_at_its_limit();
}
