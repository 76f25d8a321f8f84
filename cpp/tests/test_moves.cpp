// The loops over features and weights against the same in plain C++, for every length of their tails.
#include "check.hpp"
#include "onlinesvm/loops/moves.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

namespace {

constexpr double kNear = 1e-14;

// Features from -1 to 1, a third of them 0, the last 1; weights, and what goes with them.
template <class T>
struct Case {
    std::vector<T> x;
    std::vector<double> v, u, other, was, u_was, other_was;
    double b = 0.25;

    explicit Case(std::size_t n, bool positive = false) {
        std::mt19937 random(static_cast<unsigned>(n));
        std::uniform_real_distribution<double> from(-1.0, 1.0);
        for (std::size_t i = 0; i < n; ++i) {
            x.push_back(i % 3 == 1 ? T(0) : i + 1 == n ? T(1) : T(from(random)));
            v.push_back(positive ? 1.5 + from(random) : from(random));
            u.push_back(from(random));
            other.push_back(1.5 + from(random));
        }
        was = v, u_was = u, other_was = other;
    }
    isa::Lazy lazy() { return {v.data(), u.data(), b}; }
    void becomes(std::size_t i, double expected) const {
        CHECK(close(v[i], expected, kNear));
        CHECK(close(u[i], u_was[i] - b * (expected - was[i]), kNear));
    }
};

template <class T>
void of_features(std::size_t n) {
    const Case<T> c(n);
    double squares = 0, low = 0, high = 0, fourth = 0, odd = 0;
    for (const T value : c.x) {
        const double x = double(value), size = 0.5 * std::abs(x);
        squares += x * x, low = std::min(low, x), high = std::max(high, x);
        fourth += std::pow(size, 4.0), odd += std::pow(size, 7.3);
    }
    const isa::Moves<T>& loops = isa::moves<T>();
    CHECK(close(loops.squares(c.x.data(), n), squares, kNear));
    const isa::Range range = loops.range(c.x.data(), n);
    CHECK(range.low == low && range.high == high);
    CHECK(close(loops.powers(c.x.data(), n, 0.5, {4.0, 4}), fourth, kNear));
    CHECK(close(loops.powers(c.x.data(), n, 0.5, {7.3, 0}), odd, kNear));
}

// Weights in whole lines: what lies behind the last feature stays 0.
template <class T>
void pushed(std::size_t n) {
    Case<T> c(n);
    const isa::Moves<T>& loops = isa::moves<T>();
    const std::size_t lines = (n / isa::kWeightsInLine + 1) * isa::kWeightsInLine;
    c.v.resize(lines), c.u.resize(lines);
    double product = 0;
    for (std::size_t i = 0; i < n; ++i) product += double(c.x[i]) * c.v[i];
    CHECK(close(loops.product(c.x.data(), c.v.data(), n), product, kNear));
    loops.push(c.x.data(), n, 0.5, c.v.data(), 0.0, nullptr);
    for (std::size_t i = 0; i < n; ++i)
        CHECK(close(c.v[i], c.was[i] + 0.5 * double(c.x[i]), kNear) && c.u[i] == c.u_was[i]);
    loops.push(c.x.data(), n, 0.25, c.v.data(), -2.0, c.u.data());
    for (std::size_t i = 0; i < n; ++i) {
        CHECK(close(c.v[i], c.was[i] + 0.75 * double(c.x[i]), kNear));
        CHECK(close(c.u[i], c.u_was[i] - 2.0 * double(c.x[i]), kNear));
    }
    for (std::size_t i = n; i < lines; ++i) CHECK(c.v[i] == 0.0 && c.u[i] == 0.0);
}

template <class T>
void pushed_at_some(std::size_t n) {
    Case<T> c(n);
    const isa::Moves<T>& loops = isa::moves<T>();
    std::vector<std::int32_t> at;
    for (std::size_t i = 0; i < n; ++i) at.push_back(std::int32_t(3 * i + 1));
    std::vector<double> v(3 * n + 2, 0.5), u(3 * n + 2, 0.25);
    double sum = 0;
    for (const T x : c.x) sum += 0.5 * double(x);
    CHECK(close(loops.product_at(c.x.data(), at.data(), v.data(), n), sum, kNear));
    loops.push_at(c.x.data(), at.data(), n, 2.0, v.data(), -1.0, u.data());
    loops.push_at(c.x.data(), at.data(), n, 1.0, v.data(), 0.0, nullptr);
    for (std::size_t i = 0; i < v.size(); ++i) {
        const double x = i % 3 == 1 && i / 3 < n ? double(c.x[i / 3]) : 0.0;
        CHECK(close(v[i], 0.5 + 3.0 * x, kNear) && close(u[i], 0.25 - x, kNear));
    }
}

template <class T>
void stretched(std::size_t n) {
    Case<T> c(n, true);
    if (n > 3) c.v[3] = c.was[3] = 0.0;
    if (n > 2) c.v[2] = c.was[2] = 1e-300;
    const double growth =
        isa::moves<T>().stretch(c.lazy(), c.x.data(), n, {-0.69, 1.0, 0.5}, 0.69, 1e-300);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double by = c.x[i] == T(1) ? 0.5 : std::exp(-0.69 * double(c.x[i]));
        const double expected = c.was[i] > 0 ? std::max(by * c.was[i], 1e-300) : 0.0;
        c.becomes(i, expected);
        if (c.x[i] == T(1)) CHECK(c.v[i] == expected);
        if (i == 2) CHECK(c.v[i] >= 1e-300 && c.v[i] < 3e-300);
        sum += expected - c.was[i];
    }
    CHECK(close(growth, sum, kNear));
}

template <class T>
void turned(std::size_t n) {
    for (const double step : {0.7, -0.3, 0.12, 1e-9}) {
        Case<T> c(n);
        const double growth =
            isa::moves<T>().turn(c.lazy(), c.x.data(), n, step, std::abs(step), 0.1);
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double t = step * double(c.x[i]), both = std::hypot(c.was[i], 0.1);
            c.becomes(i, c.was[i] * std::cosh(t) + both * std::sinh(t));
            if (c.x[i] == T(0)) CHECK(c.v[i] == c.was[i] && c.u[i] == c.u_was[i]);
            sum += c.was[i] * std::sinh(t) + both * (std::cosh(t) - 1.0);
        }
        CHECK(close(growth, sum, kNear));
    }
}

template <class T>
void exchanged(std::size_t n) {
    Case<T> c(n);
    const isa::Growth up{std::log(1.5), 1.0, 1.5}, down{std::log(0.5), 1.0, 0.5};
    const isa::Range bounds{0.4, 3.0};
    isa::moves<T>().exchange(c.lazy(), c.other.data(), c.x.data(), n, -1.0, up, down, bounds);
    for (std::size_t i = 0; i < n; ++i) {
        const double s = std::abs(double(c.x[i])), m = c.other_was[i];
        const double by[] = {std::pow(1.5, s), std::pow(0.5, s)};
        const bool pro = c.x[i] < T(0);
        const double plus = (m + std::max(0.0, c.was[i])) * by[pro ? 0 : 1];
        const double minus = (m + std::max(0.0, -c.was[i])) * by[pro ? 1 : 0];
        const double a = std::clamp(plus, 0.4, 3.0), b = std::clamp(minus, 0.4, 3.0);
        c.becomes(i, s > 0 ? a - b : c.was[i]);
        CHECK(close(c.other[i], s > 0 ? std::min(a, b) : m, kNear));
    }
}

template <class T>
void mirrored(std::size_t n) {
    for (const double p : {3.0, 8.0, 7.98}) {
        Case<T> c(n);
        const isa::Exponent power{p - 1.0, p == 7.98 ? 0 : unsigned(p - 1.0)};
        double before = 0, after = 0;
        for (std::size_t i = 0; i < n; ++i) {
            c.other[i] = c.other_was[i] = c.was[i] * 0.5;
            const double size = std::abs(c.other[i] * 0.9);
            c.v[i] = c.was[i] = std::copysign(2.0 * std::pow(size, p - 1.0), c.other[i]);
            before += std::pow(size, p);
        }
        const double growth =
            isa::moves<T>().mirror(c.lazy(), c.other.data(), c.x.data(), n, {0.3, 0.9, 2.0, power});
        for (std::size_t i = 0; i < n; ++i) {
            const double theta = c.other_was[i] + 0.3 * double(c.x[i]),
                         size = std::abs(theta * 0.9);
            CHECK(close(c.other[i], theta, kNear));
            c.becomes(i, std::copysign(2.0 * std::pow(size, p - 1.0), theta));
            after += std::pow(size, p);
        }
        CHECK(close(growth, after - before, kNear));
    }
}

// Without a mean u is v, and must not bring back what it was.
void the_first_array_counts() {
    double v[3] = {1.0, 2.0, 3.0};
    const float x[3] = {1.0f, 1.0f, 1.0f};
    isa::moves<float>().stretch({v, v, 0.0}, x, 3, {std::log(1.5), 1.0, 1.5}, 0.41, 1e-300);
    CHECK(v[0] == 1.5 && v[1] == 3.0 && v[2] == 4.5);
}

template <class T>
void of(std::size_t n) {
    of_features<T>(n), pushed<T>(n), pushed_at_some<T>(n), stretched<T>(n), turned<T>(n);
    exchanged<T>(n), mirrored<T>(n);
}

}  // namespace

int main() {
    for (std::size_t n = 0; n < 70; ++n) of<float>(n), of<double>(n);
    the_first_array_counts();
}
