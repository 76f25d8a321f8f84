// The gradient family without Python: steps by hand, and the promises every algorithm makes.
#include "check.hpp"
#include "onlinesvm/methods/gradient/norma.hpp"
#include "onlinesvm/methods/gradient/pegasos.hpp"
#include "onlinesvm/methods/gradient/sgd.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

namespace {

// lambda = 1/2, x = (3, 4): w = 2 x, then back into the ball of radius sqrt(2).
void pegasos_by_hand() {
    Pegasos<double>::Params params;
    params.alpha = 0.5;
    params.kernel.shape = Shape::linear;
    const double x[2] = {3, 4};
    for (const bool project : {false, true}) {
        params.project = project;
        Pegasos<double> model(params);
        model.learn({x, 2}, 1.0, 1.0, Id(0));
        const Weights w = model.weights();
        const double factor = project ? std::sqrt(2.0) / 5 : 2.0;
        CHECK(close(w.coef[0], 3 * factor, 1e-15) && close(w.coef[1], 4 * factor, 1e-15));
    }
}

template <class T>
void promises(Shape shape, bool sparse, bool average) {
    for (const std::size_t classes : {2, 3}) {
        const Stream<T> stream(90, 6, classes, sparse);
        for (const std::int64_t block : {1, 4}) {
            typename Pegasos<T>::Params params;
            params.alpha = 0.01;
            params.block = block;
            params.average = average;
            params.kernel = kernel(shape, 1.0);
            keeps_promises<Pegasos<T>>(params, stream, classes);
        }
        for (const char* rate : {"constant", "invscaling", "optimal"}) {
            typename Sgd<T>::Params params;
            params.alpha = 0.5;
            params.learning_rate = rate;
            params.average = average;
            params.kernel = kernel(shape, 1.0);
            keeps_promises<Sgd<T>>(params, stream, classes);
        }
    }
}

// With and without truncation; nothing is ever older than tau rounds.
template <class T, class Algo>
void norma_promises(Shape shape, bool sparse, std::size_t classes) {
    for (const std::int64_t tau : {0, 7}) {
        typename Algo::Params params;
        params.alpha = 0.1;
        params.nu = 0.3;
        params.truncation = tau;
        params.bias = true;
        params.kernel = kernel(shape, 0.0);
        const Stream<T> stream(90, 6, classes, sparse);
        keeps_promises<Algo>(params, stream, classes);
        if (tau == 0) continue;
        Algo model(params);
        model.grow(classes);
        for (std::size_t i = 0; i < stream.size(); ++i) {
            model.learn(stream[i], stream.label(i), 1.0, Id(i));
            for (Id id : model.support().ids) CHECK(std::int64_t(id) > std::int64_t(i) - tau);
        }
    }
}

void odd_settings_are_refused() {
    for (const double eta0 : {0.0, 2.0, std::nan("")}) try {
            Sgd<double>::Params params;
            params.alpha = 0.5;
            params.eta0 = eta0;
            Sgd<double>{params};
            CHECK(!"refused");
        } catch (const std::invalid_argument&) {
        }
}

}  // namespace

int main() {
    pegasos_by_hand();
    odd_settings_are_refused();
    for (const Shape shape : {Shape::linear, Shape::rbf})
        for (const bool sparse : {false, true}) {
            for (const bool average : {false, true}) {
                promises<float>(shape, sparse, average);
                promises<double>(shape, sparse, average);
            }
            norma_promises<float, NormaClassifier<float>>(shape, sparse, 2);
            norma_promises<double, NormaClassifier<double>>(shape, sparse, 3);
            norma_promises<float, NormaRegressor<float>>(shape, sparse, 2);
            norma_promises<double, NormaOneClass<double>>(shape, sparse, 2);
        }
}
