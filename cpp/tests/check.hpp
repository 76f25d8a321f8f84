// What the C++ tests share: a check that says where it failed, streams of examples, a memory archive.
//
// A test is a program that returns 0: one file, no framework. Each is compiled with
// AddressSanitizer and UndefinedBehaviorSanitizer and run once per instruction set.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "onlinesvm/rows/kernel.hpp"
#include "onlinesvm/rows/row.hpp"
#include "onlinesvm/state/archive.hpp"

#define CHECK(condition) \
    ((condition) ? void(0) : onlinesvm::test::fail(__FILE__, __LINE__, #condition))

namespace onlinesvm::test {

[[noreturn]] inline void fail(const char* file, int line, const char* what) {
    std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    std::exit(1);
}

inline bool close(double a, double b, double tolerance) {
    return std::abs(a - b) <= tolerance * (1 + std::max(std::abs(a), std::abs(b)));
}

inline Kernel kernel(Shape shape, double offset = 0.0) {
    Kernel k;
    k.shape = shape;
    k.gamma = 0.5;
    k.coef0 = 1.0;
    k.offset = offset;
    return k;
}

// For machines with a box: C = 5, the rest as it comes.
template <class Algo>
typename Algo::Params boxed(Shape shape, double offset = 0.0) {
    typename Algo::Params p;
    p.kernel = kernel(shape, offset);
    p.C = 5;
    return p;
}

// Rows of non-negative values, some of them zero, so that every kernel and both forms can hold them.
template <class T>
class Stream {
  public:
    Stream(std::size_t n, std::size_t width, std::size_t classes, bool sparse, unsigned seed = 1)
        : width(width), sparse(sparse), values(n * width), counts(n), indices(n * width), y(n) {
        std::mt19937 random(seed);
        const auto draw = [&] { return double(random() % 1000) / 1000; };
        for (std::size_t i = 0; i < n; ++i) {
            y[i] = double(random() % classes);
            for (std::size_t f = 0; f < width; ++f) {
                const double v = draw() + (f % classes == std::size_t(y[i]) ? 0.6 : 0.0);
                if (sparse && random() % 2 == 0) continue;
                values[i * width + counts[i]] = T(v);
                indices[i * width + counts[i]++] = std::int32_t(f);
            }
        }
    }

    // Dense rows that are there already.
    Stream(std::size_t width, std::vector<T> rows, std::vector<double> labels)
        : width(width), sparse(false), values(std::move(rows)), y(std::move(labels)) {}

    std::size_t size() const { return y.size(); }
    double label(std::size_t i) const { return y[i]; }
    Row<T> operator[](std::size_t i) const {
        const T* from = &values[i * width];
        if (!sparse) return {from, width};
        return {from, &indices[i * width], counts[i], width};
    }
    std::vector<Row<T>> block(std::size_t first, std::size_t n) const {
        std::vector<Row<T>> rows;
        for (std::size_t i = first; i < std::min(first + n, size()); ++i)
            rows.push_back((*this)[i]);
        return rows;
    }

  private:
    std::size_t width;
    bool sparse;
    std::vector<T> values;
    std::vector<std::size_t> counts;
    std::vector<std::int32_t> indices;
    std::vector<double> y;
};

// One value of a row, whichever form it has.
template <class T>
double at(Row<T> x, std::size_t feature) {
    if (!x.sparse()) return double(x.values[feature]);
    for (std::size_t i = 0; i < x.size; ++i)
        if (std::size_t(x.indices[i]) == feature) return double(x.values[i]);
    return 0.0;
}

// The kernels by their definition, in float64.
template <class T>
double value(const Kernel& k, Row<T> a, Row<T> b) {
    double dot = 0, squares = 0, sizes = 0, chi2 = 0;
    for (std::size_t f = 0; f < std::max(a.width, b.width); ++f) {
        const double u = at(a, f), v = at(b, f);
        dot += u * v;
        squares += (u - v) * (u - v);
        sizes += std::abs(u - v);
        if (u + v != 0) chi2 += (u - v) * (u - v) / (u + v);
    }
    switch (k.shape) {
        case Shape::linear:
            return dot + k.offset;
        case Shape::poly:
            return std::pow(k.gamma * dot + k.coef0, k.degree) + k.offset;
        case Shape::rbf:
            return std::exp(-k.gamma * squares) + k.offset;
        case Shape::laplacian:
            return std::exp(-k.gamma * sizes) + k.offset;
        case Shape::chi2:
            return std::exp(-k.gamma * chi2) + k.offset;
        case Shape::function:
        case Shape::precomputed:
            break;
    }
    fail(__FILE__, __LINE__, "a named kernel");
}

// The same examples as rows of kernel values, each behind its number (rows/gram_row.hpp).
template <class T>
Stream<T> gram(const Stream<T>& stream, const Kernel& k) {
    std::vector<T> values;
    std::vector<double> labels;
    for (std::size_t i = 0; i < stream.size(); ++i) {
        values.push_back(T(i));
        labels.push_back(stream.label(i));
        for (std::size_t j = 0; j < stream.size(); ++j)
            values.push_back(T(value(k, stream[i], stream[j])));
    }
    return {stream.size() + 1, std::move(values), std::move(labels)};
}

// A saved state in memory.
class Memory final : public Sink {
  public:
    void array(const std::string& name, Elements values) override {
        std::visit(
            [&]<class V>(std::span<const V> from) {
                entries[name] = std::vector<V>(from.begin(), from.end());
            },
            values);
    }
    void number(const std::string& name, Figure value) override {
        std::visit([&]<class V>(V number) { entries[name] = std::vector<V>{number}; }, value);
    }
    bool operator==(const Memory& other) const { return entries == other.entries; }
    // The first name under which another memory holds something else.
    std::string unlike(const Memory& other) const {
        for (const auto& [name, values] : entries)
            if (!other.entries.contains(name) || other.entries.at(name) != values) return name;
        return entries.size() == other.entries.size() ? "" : "a name that is not here";
    }

    template <class V>
    std::span<const V> read(const std::string& name) const {
        return std::get<std::vector<V>>(entries.at(name));
    }

  private:
    std::map<std::string,
             std::variant<std::vector<double>, std::vector<float>, std::vector<std::int64_t>,
                          std::vector<std::int32_t>, std::vector<std::uint8_t>, std::vector<Id>>>
        entries;
};

// What reads it.
class Reading final : public Source {
  public:
    explicit Reading(const Memory& memory) : memory(memory) {}
    Elements array(const std::string& name, Elements type) override {
        return std::visit(
            [&]<class V>(std::span<const V>) -> Elements { return memory.read<V>(name); }, type);
    }
    Figure number(const std::string& name, Figure type) override {
        return std::visit([&]<class V>(V) -> Figure { return memory.read<V>(name).front(); }, type);
    }

  private:
    const Memory& memory;
};

template <class Object>
Memory saved(Object& object) {
    Memory memory;
    Save save(memory);
    object.state(save);
    return memory;
}
template <class Object>
void restore(Object& object, const Memory& memory, std::size_t features, std::size_t outputs) {
    Reading source(memory);
    Load load(source, features, outputs);
    object.state(load);
}

// The ids 0, step, 2 step, ... below n.
inline std::vector<Id> every(std::size_t step, std::size_t n) {
    std::vector<Id> ids;
    for (std::size_t id = 0; id < n; id += step) ids.push_back(Id(id));
    return ids;
}

// Learns rows [first, last), announced in blocks of `ahead` where that is not 0.
template <class Algo, class T>
void learn(Algo& algo, const Stream<T>& stream, std::size_t first, std::size_t last,
           std::size_t ahead) {
    auto coming = stream.block(first, 0);  // rows live until others are announced
    const auto announce = [&](std::size_t i, std::size_t n) {
        auto next = stream.block(i, n);
        if constexpr (requires { algo.expect({}); }) algo.expect(next);
        coming = std::move(next);
    };
    for (std::size_t i = first; i < last; ++i) {
        if (ahead > 0 && (i - first) % ahead == 0) announce(i, std::min(ahead, last - i));
        if constexpr (requires { algo.turn(i); })
            if (ahead > 0) algo.turn((i - first) % ahead);
        algo.learn(stream[i], stream.label(i), 1.0, Id(i));
    }
    if (ahead > 0) announce(last, 0);
}

// The same in one call.
template <class Algo, class T>
void learn_chunk(Algo& algo, const Stream<T>& stream, std::size_t first, std::size_t last) {
    std::vector<double> y, w(last - first, 1.0);
    std::vector<Id> ids;
    for (std::size_t i = first; i < last; ++i) y.push_back(stream.label(i)), ids.push_back(Id(i));
    algo.learn_chunk(stream.block(first, last - first), y, w, ids);
}

template <class Algo, class T>
std::vector<double> scores(const Algo& algo, const Stream<T>& stream) {
    std::vector<double> out(stream.size() * algo.outputs());
    algo.score_many(stream.block(0, stream.size()), out.data());
    return out;
}

// The promises every algorithm makes: any chunking gives the same bits, and so does going on from a
// saved state; what it reports about itself fits together.
template <class Algo, class T>
void keeps_promises(const typename Algo::Params& params, const Stream<T>& stream,
                    std::size_t classes) {
    const std::size_t half = stream.size() / 2;
    Algo whole(params), pieces(params), stopped(params);
    for (Algo* algo : {&whole, &pieces, &stopped}) algo->grow(classes);
    learn(whole, stream, 0, stream.size(), 16);
    learn(pieces, stream, 0, stream.size(), 0);
    CHECK(saved(whole) == saved(pieces));

    learn(stopped, stream, 0, half, 7);
    Memory memory = saved(stopped);
    Algo resumed(params);
    resumed.grow(classes);
    restore(resumed, memory, stream[0].width, stopped.outputs());
    learn(resumed, stream, half, stream.size(), 16);
    CHECK(saved(whole) == saved(resumed));

    CHECK(whole.outputs() == (classes > 2 ? classes : 1));
    CHECK(whole.nbytes() > 0);
    const std::vector<double> many = scores(whole, stream);
    std::vector<double> one(whole.outputs());
    for (std::size_t i = 0; i < stream.size(); ++i) {
        whole.score(stream[i], one.data());
        for (std::size_t o = 0; o < one.size(); ++o)
            CHECK(close(one[o], many[i * one.size() + o], 1e-4));
    }
}

// No coefficient is larger than C, and with a free bias those of an output add up to nothing.
template <class Algo>
void stays_feasible(const Algo& model, double C, bool free_bias) {
    const auto support = model.support();
    const std::size_t n = support.ids.size();
    for (std::size_t o = 0; o < model.outputs(); ++o) {
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j) {
            const double s = support.coef[o * n + j];
            CHECK(std::abs(s) <= C);
            sum += s;
        }
        CHECK(!free_bias || std::abs(sum) < 1e-10);
    }
}

// Finishing twice is finishing once; unlearning finds the optimum over the rest; and a machine that
// has forgotten everything begins anew.
template <class Algo, class T>
void finishes_and_forgets(Algo& model, const Stream<T>& stream, double tol) {
    model.finish(tol);
    CHECK(!model.capped());
    CHECK(model.kkt_residual() <= tol);
    const Memory once = saved(model);
    model.finish(tol);
    CHECK(once == saved(model));

    model.unlearn(every(3, stream.size()));
    CHECK(model.kkt_residual() <= tol);
    for (Id id : model.support().ids) CHECK(std::int64_t(id) % 3 != 0);
    model.unlearn(every(1, stream.size()));
    CHECK(model.held() == 0);
    for (double f : scores(model, stream)) CHECK(f == 0);
    learn(model, stream, 0, stream.size(), 16);
    CHECK(model.n_support() > 0);
}

}  // namespace onlinesvm::test
