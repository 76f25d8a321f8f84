// StreamSVM without Python: balls by hand, odd rows, merging, and the promises every algorithm
// makes.
#include "check.hpp"
#include "onlinesvm/methods/ball/stream_svm.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

namespace {

struct Form {
    std::size_t lookahead, balls;
};
constexpr Form forms[] = {{1, 1}, {2, 1}, {7, 1}, {1, 2}, {1, 5}};

template <class T>
typename StreamSVM<T>::Params params_of(Form form, Shape shape, bool normalize = true) {
    typename StreamSVM<T>::Params params;
    params.lookahead = form.lookahead;
    params.balls = form.balls;
    params.normalize = normalize;
    params.kernel = kernel(shape, normalize ? 1.0 : 0.0);
    return params;
}

void three_points_by_hand() {
    StreamSVM<double> model(params_of<double>({1, 1}, Shape::linear, false));
    const double points[] = {1.0, -1.0, -2.0}, labels[] = {1, 0, 1};
    const double w[] = {1.0, 1.0, -.17267}, R[] = {0.0, .70711, 1.97374};
    for (int i = 0; i < 3; ++i) {
        model.learn({&points[i], 1}, labels[i], 1.0, Id(i));
        CHECK(close(model.weights().coef[0], w[i], 5e-6));
        CHECK(close(model.radius()[0], R[i], 5e-6));
    }
}

// Again and again the same examples: the exact ball around them, and a stream that goes on.
void passes_end_at_the_exact_ball() {
    for (const Shape shape : {Shape::linear, Shape::rbf}) {
        auto params = params_of<double>({1, 1}, shape, false);
        params.C = 5.0;
        StreamSVM<double> model(params);
        const double points[] = {1.0, -1.0, -2.0, 0.5, 3.0}, labels[] = {1, 0, 1, 0, 1};
        const auto pass = [&] {
            for (int i = 0; i < 5; ++i) model.learn({&points[i], 1}, labels[i], 1.0, Id(i));
        };
        model.revisit(5, 1e-9);
        double before = -1.0;
        for (int n = 0; n < 2000 && model.suffered() != before; ++n) {
            before = model.suffered();
            pass();
        }
        model.measure();
        pass();
        model.settle();

        std::vector<double> G(25), r(5), lift2(5);
        for (int i = 0; i < 5; ++i)
            for (int j = 0; j < 5; ++j) {
                const double dot = points[i] * points[j], d = points[i] - points[j];
                const double k =
                    shape == Shape::linear ? dot : std::exp(-params.kernel.gamma * d * d);
                G[i * 5 + j] = (labels[i] == labels[j] ? k : -k) + (i == j ? 0.2 : 0.0);
            }
        const auto [R, l] = enclosing_ball(G, r, lift2);
        CHECK(close(model.radius()[0], R, 1e-6));
        CHECK(model.radius_bound()[0] < 1.001);
        const double far[] = {-30.0};
        model.learn({far, 1}, 1, 1.0, Id(5));
        CHECK(model.radius()[0] >= R);
    }
}

void exact_ball_by_hand() {
    const double G[] = {0, 0, 0, 0, 9, 0, 0, 0, 9}, r[] = {1, 0, 0}, lift2[] = {0, 0, 0};
    const auto [R, l] = enclosing_ball(G, r, lift2);
    CHECK(close(R, 2.28151, 5e-6) && close(l[0], .39589, 5e-6) && close(l[1], .302055, 5e-6));
}

// Every ball lies inside, and those that have a share touch the rim. A slack coordinate of its own
// keeps each centre independent of the others, as in the algorithm.
void exact_ball_encloses() {
    std::mt19937 random(3);
    const auto draw = [&] { return double(random() % 2001) / 1000 - 1; };
    for (int trial = 0; trial < 200; ++trial) {
        const std::size_t n = 1 + random() % 12, d = 1 + random() % 4;
        std::vector<double> c(n * d), G(n * n), r(n), lift2(n);
        for (double& v : c) v = draw();
        for (double& v : r) v = random() % 2 ? 0.0 : std::abs(draw());
        for (double& v : lift2) v = random() % 2 ? 0.0 : std::abs(draw());
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j)
                for (std::size_t f = 0; f < d; ++f) G[i * n + j] += c[i * d + f] * c[j * d + f];
            G[i * n + i] += 0.01;
        }
        const auto [R, l] = enclosing_ball(G, r, lift2);
        double total = 0.0, centre2 = 0.0;
        std::vector<double> inner(n);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) inner[i] += l[j] * G[i * n + j];
            centre2 += l[i] * inner[i];
            total += l[i];
        }
        CHECK(close(total, 1.0, 1e-12));
        for (std::size_t i = 0; i < n; ++i) {
            const double d2 = std::max(0.0, centre2 - 2 * inner[i] + G[i * n + i]);
            const double reach = std::hypot(std::sqrt(d2) + r[i], std::sqrt(lift2[i]));
            CHECK(l[i] >= 0.0);
            CHECK(reach <= R + 1e-9);
            CHECK(l[i] < 1e-6 || reach >= R - 1e-9);
        }
    }
}

template <class T>
void merges(Form form, Shape shape, bool sparse) {
    const Stream<T> stream(80, 5, 3, sparse);
    StreamSVM<T> one(params_of<T>(form, shape)), two(params_of<T>(form, shape));
    one.grow(3);
    two.grow(3);
    learn(one, stream, 0, 30, 8);
    learn(two, stream, 30, 80, 8);
    one.flush();
    two.flush();
    const std::vector<double> before = one.radius(), theirs = two.radius();
    one.merge(two, 100, std::vector<std::int64_t>{0, 1, 2});
    for (std::size_t o = 0; o < 3; ++o)
        CHECK(one.radius()[o] >= std::max(before[o], theirs[o]) - 1e-5);
    for (double f : scores(one, stream)) CHECK(std::isfinite(f));
    learn(one, stream, 0, 80, 16);
    CHECK(one.nbytes() > 0);
}

template <class T>
void everything(Form form, Shape shape) {
    for (bool sparse : {false, true}) {
        for (std::size_t classes : {2, 3})
            keeps_promises<StreamSVM<T>>(params_of<T>(form, shape),
                                         Stream<T>(90, 6, classes, sparse), classes);
        merges<T>(form, shape, sparse);
    }
}

}  // namespace

int main() {
    three_points_by_hand();
    passes_end_at_the_exact_ball();
    exact_ball_by_hand();
    exact_ball_encloses();
    for (const Form form : forms)
        for (const Shape shape : {Shape::linear, Shape::rbf, Shape::poly}) {
            everything<float>(form, shape);
            everything<double>(form, shape);
        }
}
