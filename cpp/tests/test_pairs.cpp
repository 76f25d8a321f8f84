// One model for each pair of classes, over shared rows: each is the binary model by itself, bit for bit,
// whenever its classes came, whatever was unlearned, and through a file.
#include "check.hpp"
#include "onlinesvm/methods/dual/lasvm.hpp"
#include "onlinesvm/methods/dual/smo.hpp"
#include "onlinesvm/methods/exact/incremental.hpp"
#include "onlinesvm/methods/exact/ramp.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

static_assert(Duel::number(0, 1) == 0 && Duel::number(2, 0) == 1 && Duel::number(1, 2) == 2 &&
              Duel::number(3, 2) == Duel::count(4) - 1);

constexpr std::size_t kClasses = 4;

template <class Model>
void solve(Model& model) {
    if constexpr (requires { model.improve(); })
        while (model.improve()) {
        }
}

// The binary model of two classes, which has never heard of the others.
template <class Binary, class T>
Binary alone(const typename Binary::Params& p, const Stream<T>& stream, Duel duel,
             std::size_t last) {
    Binary model(p);
    model.grow(2);
    for (std::size_t i = 0; i < last; ++i) {
        const auto c = std::size_t(stream.label(i));
        if (c == duel.a || c == duel.b) model.learn(stream[i], duel.target(c), 1.0, Id(i));
    }
    return model;
}

// Coefficients are the same bits; f is, but for the order of a sum.
template <class Pairs, class Binary, class T>
void are_the_binary_ones(const Pairs& pairs, const typename Binary::Params& p,
                         const Stream<T>& stream, std::span<const Id> unlearned) {
    const std::size_t n = stream.size(), width = pairs.pairs();
    std::vector<double> f(n * width), one(n);
    pairs.score_pairs(stream.block(0, n), f.data());
    const Support<T> all = pairs.support();
    Duel duel;
    for (std::size_t at = 0; at < width; ++at, duel = duel.next()) {
        Binary binary = alone<Binary>(p, stream, duel, n);
        solve(binary);
        if (!unlearned.empty()) binary.unlearn(unlearned), solve(binary);
        binary.score_many(stream.block(0, n), one.data());
        for (std::size_t i = 0; i < n; ++i)
            CHECK(close(f[i * width + at], one[i], std::is_same_v<T, float> ? 1e-5 : 1e-12));
        const Support<T> theirs = binary.support();
        for (std::size_t i = 0, j = 0; i < all.ids.size(); ++i) {
            const auto c = std::size_t(stream.label(std::size_t(all.ids[i])));
            if (c != duel.a && c != duel.b) continue;
            const std::size_t other = c == duel.a ? duel.b : duel.a;
            const double s = all.coef[(other - (other > c)) * all.ids.size() + i];
            while (j < theirs.ids.size() && theirs.ids[j] < all.ids[i]) ++j;
            const bool has = j < theirs.ids.size() && theirs.ids[j] == all.ids[i];
            CHECK(s == (has ? theirs.coef[j] : 0.0));
        }
    }
}

template <class Pairs, class Binary, class T>
void learns(bool sparse, Shape shape) {
    const Stream<T> stream(120, 6, kClasses, sparse, 5);
    const auto p = boxed<Binary>(shape, 1.0);
    keeps_promises<Pairs>(p, stream, kClasses);
    keeps_promises<Pairs>(p, Stream<T>(60, 6, 2, sparse), 2);
    auto tight = p;
    tight.cache_bytes = 4096;
    keeps_promises<Pairs>(tight, stream, kClasses);

    Pairs model(p);
    model.grow(kClasses);
    learn(model, stream, 0, stream.size(), 16);
    solve(model);
    are_the_binary_ones<Pairs, Binary>(model, p, stream, {});
    constexpr bool keeps_all = !std::is_same_v<Binary, Lasvm<T>>;
    CHECK(model.held() == stream.size() || !keeps_all);

    const std::vector<Id> gone = every(3, stream.size());
    model.unlearn(gone);
    solve(model);
    CHECK(!model.holds(Id(3)) && model.ids().size() == model.held());
    if (keeps_all)  // the other has dropped some before
        are_the_binary_ones<Pairs, Binary>(model, p, stream, gone);
    model.unlearn(every(1, stream.size()));
    CHECK(model.held() == 0 && model.n_support() == 0);
    learn(model, stream, 0, stream.size(), 16);
    solve(model);
    CHECK(model.n_support() > 0);
}

// A class that comes late finds the rows of the others: the model is as if it had been known.
template <class Pairs, class Binary, class T>
void grows(bool sparse) {
    const Stream<T> few(60, 6, 2, sparse, 7), more(60, 6, kClasses, sparse, 8);
    const auto p = boxed<Binary>(Shape::rbf, 1.0);
    Pairs early(p), late(p);
    early.grow(kClasses);
    for (Pairs* model : {&early, &late}) learn(*model, few, 0, few.size(), 16);
    late.grow(3);
    late.grow(kClasses);
    for (Pairs* model : {&early, &late}) {
        for (std::size_t i = 0; i < more.size(); ++i)
            model->learn(more[i], more.label(i), 1.0, Id(few.size() + i));
        solve(*model);
    }
    const Support<T> one = early.support(), other = late.support();
    CHECK(one.ids == other.ids && one.coef == other.coef);
}

// The vote of those that know, and below a third of one for how sure they are.
void votes() {
    const Stream<double> stream(90, 6, kClasses, false);
    RampPairs<double> model(boxed<Ramp<double>>(Shape::rbf, 1.0));
    model.grow(kClasses + 1);  // one class never comes
    learn(model, stream, 0, stream.size(), 0);
    std::vector<double> f(stream.size() * model.pairs());
    model.score_pairs(stream.block(0, stream.size()), f.data());
    const std::vector<double> out = scores(model, stream);
    for (std::size_t i = 0; i < stream.size(); ++i) {
        double total = 0;
        std::vector<double> sum(kClasses + 1);
        Duel duel;
        for (std::size_t at = 0; at < model.pairs(); ++at, duel = duel.next()) {
            sum[duel.b] += f[i * model.pairs() + at];
            sum[duel.a] -= f[i * model.pairs() + at];
        }
        for (std::size_t c = 0; c <= kClasses; ++c) {
            const double votes = out[i * (kClasses + 1) + c] - sum[c] / (3 * std::abs(sum[c]) + 3);
            CHECK(close(votes, std::round(votes), 1e-12));
            total += votes;
        }
        CHECK(close(total, double(model.pairs()), 1e-12));
    }
}

template <class T>
void all_of_them(bool sparse) {
    learns<RampPairs<T>, Ramp<T>, T>(sparse, Shape::rbf);
    learns<IncrementalPairs<T>, Incremental<T>, T>(sparse, Shape::rbf);
    learns<SmoPairs<T>, Smo<T>, T>(sparse, Shape::linear);
    learns<LasvmPairs<T>, Lasvm<T>, T>(sparse, Shape::laplacian);
    grows<RampPairs<T>, Ramp<T>, T>(sparse);
    grows<IncrementalPairs<T>, Incremental<T>, T>(sparse);
}

int main() {
    votes();
    all_of_them<float>(false);
    all_of_them<double>(true);
    all_of_them<double>(false);
}
