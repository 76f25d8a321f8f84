// Passive-aggressive without Python: the steps by hand, odd rows, and the promises every algorithm
// makes.
#include <limits>

#include "check.hpp"
#include "onlinesvm/methods/margin/passive_aggressive.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

template <class Algo>
Algo make(const std::string& variant, double C, Shape shape = Shape::linear) {
    typename Algo::Params params;
    params.variant = variant;
    params.C = C;
    params.kernel.shape = shape;
    params.kernel.gamma = 0.5;
    return Algo(params);
}

template <class T>
Row<T> dense(const std::vector<T>& values) {
    return {values.data(), values.size()};
}

void steps_by_hand() {
    const std::vector<double> x = {3.0, 4.0};
    const struct {
        const char* variant;
        double C, w0, w1;
    } cases[] = {
        {"PA-I", inf, .12, .16}, {"PA-I", .01, .03, .04}, {"PA-II", 1., 3 / 25.5, 4 / 25.5}};
    for (const auto& [variant, C, w0, w1] : cases) {
        auto model = make<PassiveAggressiveClassifier<double>>(variant, C);
        model.learn(dense(x), 1.0, 1.0, Id(0));
        const Weights weights = model.weights();
        CHECK(std::abs(weights.coef[0] - w0) < 1e-15 && std::abs(weights.coef[1] - w1) < 1e-15);
    }
}

// Rows of every form, widths that grow, empty rows, zero weights: no crash, and dense equals
// sparse.
template <class T>
void odd_rows(Shape shape) {
    auto wide = make<PassiveAggressiveClassifier<T>>("PA-I", 0.5, shape);
    auto thin = make<PassiveAggressiveClassifier<T>>("PA-I", 0.5, shape);
    wide.grow(4);
    thin.grow(4);
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int i = 0; i < 100; ++i) {
        std::vector<T> values(9), stored;
        std::vector<std::int32_t> indices;
        for (int f = 0; f < 9; ++f)
            if (uniform(random) > 0.3) {
                values[f] = T(uniform(random));
                stored.push_back(values[f]);
                indices.push_back(f);
            }
        stored.push_back(0);
        indices.push_back(0);
        const Row<T> sparse{stored.data(), indices.data(), stored.size() - 1, 9};
        const double y = i % 4, weight = i % 7 ? 1.0 : 0.0;
        std::vector<Row<T>> coming{dense(values)};
        wide.expect(coming);
        wide.learn(dense(values), y, weight, Id(i));
        thin.learn(sparse, y, weight, Id(i));
        double a[4], b[4], c[4];
        wide.score(sparse, a);
        thin.score(dense(values), b);
        thin.score(sparse, c);
        for (int r = 0; r < 4; ++r)
            CHECK(std::abs(a[r] - b[r]) < 1e-4 && std::abs(b[r] - c[r]) < 1e-4);
    }
}

template <class T>
void classifies(bool sparse, Shape shape) {
    for (std::size_t classes : {2, 3})
        for (const char* variant : {"PA-I", "PA-II"}) {
            typename PassiveAggressiveClassifier<T>::Params params;
            params.kernel = kernel(shape, 1.0);
            params.variant = variant;
            keeps_promises<PassiveAggressiveClassifier<T>>(
                params, Stream<T>(90, 6, classes, sparse), classes);
        }
}

// Plain PA leaves no loss on the example it has just seen.
template <class T>
void is_aggressive(bool sparse, Shape shape) {
    const Stream<T> stream(90, 6, 2, sparse);
    auto model = make<PassiveAggressiveRegressor<T>>("PA-I", inf, shape);
    for (std::size_t i = 0; i < stream.size(); ++i) {
        double f = 0;
        if (stream[i].size == 0) continue;
        model.learn(stream[i], stream.label(i), 1.0, Id(i));
        model.score(stream[i], &f);
        CHECK(std::abs(f - stream.label(i)) < 0.1 + 1e-4);
    }
}

// Sparse rows may bring new features; earlier weights stay.
template <class T>
void features_may_come_late() {
    auto model = make<PassiveAggressiveClassifier<T>>("PA-I", 1.0);
    for (std::size_t width : {1, 3, 40, 200}) {
        const Stream<T> stream(20, width, 2, true);
        learn(model, stream, 0, stream.size(), 4);
        CHECK(model.weights().width == width);
    }
    for (double f : scores(model, Stream<T>(5, 500, 2, true))) CHECK(std::isfinite(f));
}

void unknown_class_is_refused() {
    auto model = make<PassiveAggressiveClassifier<double>>("PA-I", 1.0);
    for (const double y : {-1.0, 2.0, std::nan("")}) try {
            model.learn(dense(std::vector<double>{1.0}), y, 1.0, Id(0));
            CHECK(!"refused");
        } catch (const std::invalid_argument&) {
        }
}

}  // namespace

int main() {
    steps_by_hand();
    unknown_class_is_refused();
    for (const Shape shape : {Shape::linear, Shape::rbf, Shape::laplacian}) {
        odd_rows<float>(shape);
        odd_rows<double>(shape);
        for (bool sparse : {false, true}) {
            classifies<float>(sparse, shape);
            classifies<double>(sparse, shape);
            is_aggressive<float>(sparse, shape);
            is_aggressive<double>(sparse, shape);
        }
    }
    features_may_come_late<float>();
    features_may_come_late<double>();
}
