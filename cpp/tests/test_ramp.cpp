// The ramp machines on small streams: dense and sparse, two classes and three, every query, with a
// cache so small that rows come and go, forgetting, and unlearning.
#include "check.hpp"
#include "onlinesvm/methods/exact/offline_ramp.hpp"
#include "onlinesvm/methods/exact/ramp.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

// Machines follow their rows: a model assigned over would free these first.
static_assert(!std::is_move_assignable_v<Ramp<float>> && !std::is_copy_assignable_v<Ramp<float>>);

template <class T>
void stays_stationary(const Ramp<T>& model) {
    CHECK(!model.capped());
    CHECK(model.kkt_residual() <= typename Ramp<T>::Params().tol);
    CHECK(std::isfinite(model.objective()));
    const Support<T> support = model.support();
    CHECK(support.coef.size() == support.ids.size() * model.outputs());
}

template <class T>
void learns(bool sparse, std::size_t classes) {
    const Stream<T> stream(90, 6, classes, sparse);
    for (Shape shape : {Shape::linear, Shape::rbf, Shape::laplacian})
        keeps_promises<Ramp<T>>(boxed<Ramp<T>>(shape, 1.0), stream, classes);

    auto p = boxed<Ramp<T>>(Shape::rbf, 1.0);
    for (const char* query : {"margin", "greedy"}) {
        p.query = query;
        keeps_promises<Ramp<T>>(p, stream, classes);
    }
    p.query = "all";
    p.cache_bytes = 4096;
    p.keep_non_support = 5;
    keeps_promises<Ramp<T>>(p, stream, classes);
    p.max_support = 12;
    keeps_promises<Ramp<T>>(p, stream, classes);
}

// Settled by the call, it is stationary when asked to be, and never holds more than the budget.
void settles_by_call(std::size_t budget) {
    const Stream<double> stream(90, 2, 2, false);
    auto p = boxed<Ramp<double>>(Shape::rbf, 1.0);
    p.settle = "call";
    p.budget = budget;
    Ramp<double> model(p);
    for (std::size_t i = 0; i < stream.size(); ++i) {
        model.learn(stream[i], double(i % 3 == 0), 1.0, Id(i));
        CHECK(model.held() <= budget);
        if (i % 30 == 29) model.solve(), stays_stationary(model);
    }
}

// The vector loop that looks for the worst violator agrees with the definition; the first of equals.
template <class T>
void finds_the_worst() {
    std::mt19937 random(3);
    const auto draw = [&] { return double(int(random() % 9) - 4) / 4; };  // many ties and zeros
    for (std::size_t n = 0; n < 70; ++n) {
        std::vector<double> h(n), fall(n), rise(n), k(n, 1.0);
        isa::Worst truth;
        for (std::size_t i = 0; i < n; ++i) {
            h[i] = draw(), fall[i] = std::min(0.0, draw()), rise[i] = std::max(0.0, draw());
            const double by = h[i] > 0 ? (rise[i] > 0) * h[i] : (fall[i] < 0) * -h[i];
            if (by > truth.by) truth = {i, by};
        }
        const isa::Worst found = isa::table<T>().violation(
            {h.data(), fall.data(), rise.data(), k.data(), k.data(), true}, n);
        CHECK(found.by == truth.by && found.index == truth.index);
    }
}

// Noise pushes examples out of the ramp; one round is not enough to look who is inside now.
void running_out_of_rounds_is_told() {
    const Stream<double> stream(90, 2, 2, false);
    auto p = boxed<Ramp<double>>(Shape::rbf, 1.0);
    bool told[2] = {};
    for (std::int64_t rounds : {1, 50}) {
        p.max_rounds = rounds;
        Ramp<double> model(p);
        for (std::size_t i = 0; i < stream.size(); ++i) {
            model.learn(stream[i], double(i % 3 == 0), 1.0, Id(i));
            if (model.capped()) told[rounds == 50] = true;
            if (rounds == 50) stays_stationary(model);
        }
    }
    CHECK(told[0] && !told[1]);
}

template <class T>
void unlearns(bool sparse, std::size_t classes) {
    const Stream<T> stream(90, 6, classes, sparse);
    Ramp<T> model(boxed<Ramp<T>>(Shape::rbf, 1.0));
    model.grow(classes);
    learn(model, stream, 0, stream.size(), 16);
    stays_stationary(model);
    model.unlearn(every(3, 90));
    stays_stationary(model);
    CHECK(model.held() == 60);
    for (Id id : model.support().ids) CHECK(std::int64_t(id) % 3 != 0);
    model.unlearn(model.ids());
    for (double f : scores(model, stream)) CHECK(f == 0);
}

template <class T>
void a_third_class_may_come_late() {
    const Stream<T> stream(90, 6, 3, false);
    Ramp<T> model(boxed<Ramp<T>>(Shape::rbf, 1.0));
    std::size_t known = 2;
    for (std::size_t i = 0; i < stream.size(); ++i) {
        if (stream.label(i) == 2 && i < 45) continue;
        known = std::max(known, std::size_t(stream.label(i)) + 1);
        model.grow(known);
        model.learn(stream[i], stream.label(i), 1.0, Id(i));
    }
    CHECK(model.outputs() == 3);
    stays_stationary(model);
}

template <class T>
void learns_offline(bool sparse) {
    const Stream<T> stream(120, 6, 3, sparse);
    typename OfflineRamp<T>::Params p;
    p.kernel = kernel(Shape::rbf, 1.0);
    OfflineRamp<T> model(p);
    model.grow(3);
    learn(model, stream, 0, stream.size(), 0);
    model.solve();
    CHECK(model.kkt_residual() < 0.1);
    CHECK(model.outer_rounds() > 0);
}

int main() {
    finds_the_worst<float>();
    finds_the_worst<double>();
    running_out_of_rounds_is_told();
    for (std::size_t budget : {Room::kAll, std::size_t(20)}) settles_by_call(budget);
    for (bool sparse : {false, true}) {
        for (std::size_t classes : {2, 3}) {
            learns<float>(sparse, classes);
            unlearns<float>(sparse, classes);
            unlearns<double>(sparse, classes);
        }
        learns<double>(sparse, 3);
        learns_offline<float>(sparse);
        learns_offline<double>(sparse);
    }
    a_third_class_may_come_late<float>();
    a_third_class_may_come_late<double>();
}
