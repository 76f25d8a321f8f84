// Passive-aggressive without Python: the steps by hand, odd rows, and a state that goes through
// memory.
#undef NDEBUG
#include <cassert>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "onlinesvm/margin/passive_aggressive.hpp"

using namespace onlinesvm;

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
    return {values.data(), nullptr, values.size(), values.size()};
}

// A Sink and a Source in one: named values of any type.
struct Memory {
    using Value = std::variant<std::vector<double>, std::vector<float>, std::vector<std::int64_t>,
                               std::vector<std::int32_t>, std::vector<std::uint8_t>>;
    std::map<std::string, Value> values;

    template <class V>
    void array(const std::string& name, std::span<const V> from) {
        values[name] = std::vector<V>(from.begin(), from.end());
    }
    template <class V>
    void number(const std::string& name, V value) {
        values[name] = std::vector<V>{value};
    }
    template <class V>
    std::span<const V> array(const std::string& name, std::type_identity<V>) {
        return std::get<std::vector<V>>(values.at(name));
    }
    template <class V>
    V number(const std::string& name, std::type_identity<V>) {
        return std::get<std::vector<V>>(values.at(name)).front();
    }
};

void steps_by_hand() {
    const std::vector<double> x = {3.0, 4.0};
    const struct {
        const char* variant;
        double C, w0, w1;
    } cases[] = {
        {"PA-I", inf, .12, .16}, {"PA-I", .01, .03, .04}, {"PA-II", 1., 3 / 25.5, 4 / 25.5}};
    for (const auto& [variant, C, w0, w1] : cases) {
        auto model = make<PassiveAggressiveClassifier<double>>(variant, C);
        model.learn(dense(x), 1.0, 1.0, 0);
        const Weights weights = model.weights();
        assert(std::abs(weights.coef[0] - w0) < 1e-15 && std::abs(weights.coef[1] - w1) < 1e-15);
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
        wide.learn(dense(values), y, weight, i);
        thin.learn(sparse, y, weight, i);
        double a[4], b[4], c[4];
        wide.score(sparse, a);
        thin.score(dense(values), b);
        thin.score(sparse, c);
        for (int r = 0; r < 4; ++r)
            assert(std::abs(a[r] - b[r]) < 1e-4 && std::abs(b[r] - c[r]) < 1e-4);
    }
}

template <class T>
void state_survives(Shape shape) {
    auto model = make<PassiveAggressiveRegressor<T>>("PA-II", 1.0, shape);
    std::vector<T> x(5);
    for (int i = 0; i < 40; ++i) {
        for (int f = 0; f < 5; ++f) x[f] = T(std::sin(i * 7 + f));
        model.learn(dense(x), std::cos(i), 1.0, i);
    }
    Memory memory;
    Save<Memory> save(memory);
    model.state(save);
    auto again = make<PassiveAggressiveRegressor<T>>("PA-II", 1.0, shape);
    Load<Memory> load(memory);
    again.state(load);
    for (auto* either : {&model, &again}) either->learn(dense(x), 3.0, 1.0, 40);
    double a, b;
    model.score(dense(x), &a);
    again.score(dense(x), &b);
    assert(a == b);
}

void unknown_class_is_refused() {
    auto model = make<PassiveAggressiveClassifier<double>>("PA-I", 1.0);
    for (const double y : {-1.0, 2.0, std::nan("")}) try {
            model.learn(dense(std::vector<double>{1.0}), y, 1.0, 0);
            assert(false);
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
        state_survives<float>(shape);
        state_survives<double>(shape);
    }
}
