// The perceptron without Python: a round by hand, and the promises every algorithm makes.
#include "check.hpp"
#include "onlinesvm/methods/margin/perceptron.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

namespace {

Perceptron<double> make(const char* variant) {
    Perceptron<double>::Params params;
    params.variant = variant;
    params.kernel.shape = Shape::linear;
    return Perceptron<double>(params);
}

// w = (1, 0), kept in round 2, then (0, -1); the average counts the zero function at the start too.
void three_rounds_by_hand() {
    const double rows[3][2] = {{1, 0}, {2, 1}, {1, 1}}, labels[3] = {1, 1, 0};
    const double probe[2] = {1, 0};
    const struct {
        const char* variant;
        double f;
    } cases[] = {{"plain", 0.0}, {"averaged", 2.0 / 4}, {"voted", 2.0 / 3}};
    for (const auto& [variant, f] : cases) {
        auto model = make(variant);
        for (int i = 0; i < 3; ++i) model.learn({rows[i], 2}, labels[i], 1.0, Id(i));
        double score = 0;
        model.score({probe, 2}, &score);
        CHECK(std::abs(score - f) < 1e-15);
    }
}

void odd_input_is_refused() {
    const double x = 1.0;
    for (const double y : {-1.0, 2.0, std::nan("")}) try {
            make("plain").learn({&x, 1}, y, 1.0, Id(0));
            CHECK(!"refused");
        } catch (const std::invalid_argument&) {
        }
    try {
        make("elected");
        CHECK(!"refused");
    } catch (const std::invalid_argument&) {
    }
}

template <class T>
void promises(const char* variant, Shape shape, bool sparse) {
    for (std::size_t classes : {2, 3}) {
        typename Perceptron<T>::Params params;
        params.variant = variant;
        params.kernel = kernel(shape, 1.0);
        keeps_promises<Perceptron<T>>(params, Stream<T>(90, 6, classes, sparse), classes);
    }
}

}  // namespace

int main() {
    three_rounds_by_hand();
    odd_input_is_refused();
    for (const char* variant : {"plain", "averaged", "voted"})
        for (const Shape shape : {Shape::linear, Shape::rbf})
            for (const bool sparse : {false, true}) {
                promises<float>(variant, shape, sparse);
                promises<double>(variant, shape, sparse);
            }
}
