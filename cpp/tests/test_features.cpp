// Features without Python: known answers, exactness at the landmarks, columns that never change.
#include <numbers>

#include "check.hpp"
#include "onlinesvm/methods/prepare/fourier.hpp"
#include "onlinesvm/methods/prepare/nystroem.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

namespace {

void waves_are_sine_and_cosine() {
    for (const double t : {0.0, 0.1, 0.25, -0.375, 0.5, 7.8, -1e6 - 0.3, 3e15}) {
        double c = 0, s = 0;
        isa::table<double>().waves(&t, 2.0, &c, &s, 1);
        const double angle = 2 * std::numbers::pi * (t - std::nearbyint(t));
        CHECK(std::abs(c - 2 * std::cos(angle)) < 1e-14 &&
              std::abs(s - 2 * std::sin(angle)) < 1e-14);
    }
    std::vector<float> t, c(1000), s(1000);
    for (int i = 0; i < 1000; ++i) t.push_back(float(i) * 0.01f - 5.0f);
    isa::table<float>().waves(t.data(), 1.0f, c.data(), s.data(), t.size());
    for (int i = 0; i < 1000; ++i) {
        const double angle = 2 * std::numbers::pi * double(t[i]);
        CHECK(std::abs(c[i] - std::cos(angle)) < 3e-7 && std::abs(s[i] - std::sin(angle)) < 3e-7);
        float alone_c = 0, alone_s = 0;
        isa::table<float>().waves(&t[i], 1.0f, &alone_c, &alone_s, 1);
        CHECK(alone_c == c[i] && alone_s == s[i]);
    }
    const float odd[] = {1e30f, std::numeric_limits<float>::infinity(), std::nanf("")};
    isa::table<float>().waves(odd, 1.0f, c.data(), s.data(), 3);
    for (int i = 0; i < 3; ++i) CHECK(c[i] == 1.0f && s[i] == 0.0f);
}

template <class T>
void exact_at_the_landmarks(bool sparse) {
    const Stream<T> stream(200, 5, 2, sparse);
    typename Nystroem<T>::Params params;
    params.n_components = 90;
    params.kernel = kernel(Shape::rbf);
    params.kernel.gamma = 2.0;
    Nystroem<T> model(params);
    std::vector<T> before(90), now(90);
    for (std::size_t i = 0; i < 200; ++i) {
        model.learn(stream[i], 0, 1, Id(i));
        model.score(stream[0], now.data());
        for (std::size_t j = 0; j < 90 && before[j] != 0; ++j) CHECK(now[j] == before[j]);
        before = now;
    }
    const auto ids = model.support().ids;
    CHECK(ids.size() > 64);
    std::vector<T> mine(90);
    for (const Id a : ids) {
        model.score(stream[std::size_t(a)], mine.data());
        double length = 0;
        for (const T v : mine) length += double(v) * double(v);
        CHECK(std::abs(length - 1.0) < (sizeof(T) == 4 ? 1e-3 : 1e-9));
    }
}

}  // namespace

int main() {
    waves_are_sine_and_cosine();
    exact_at_the_landmarks<double>(false);
    exact_at_the_landmarks<double>(true);
    exact_at_the_landmarks<float>(false);
}
