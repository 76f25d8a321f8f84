// A bank without Python: it is a loop over single models, to the bit, whatever happens in between.
#include <map>
#include <memory>
#include <stdexcept>

#include "check.hpp"
#include "onlinesvm/bank/breed_of.hpp"
#include "onlinesvm/methods/ball/stream_svm.hpp"
#include "onlinesvm/methods/gradient/exponentiated.hpp"
#include "onlinesvm/methods/gradient/pegasos.hpp"
#include "onlinesvm/methods/margin/alma.hpp"
#include "onlinesvm/methods/margin/passive_aggressive.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

namespace {

constexpr std::size_t kRows = 300, kWidth = 5, kKeys = 23;

std::vector<std::string> names(unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::string> out;
    for (std::size_t i = 0; i < kRows; ++i) {
        const std::size_t key = random() % kKeys;
        out.push_back(std::string(key % 11, 'k') + std::to_string(key));  // of many lengths
    }
    return out;
}
std::vector<Key> keys_of(const std::vector<std::string>& names, std::size_t first,
                         std::size_t last) {
    std::vector<Key> keys;
    for (std::size_t i = first; i < last; ++i) keys.push_back({Key::text, names[i]});
    return keys;
}

template <class Algo>
typename Algo::Params linear() {
    typename Algo::Params params;
    params.kernel = kernel(Shape::linear, 1.0);
    return params;
}

template <class Algo, class T>
Bank bank_of(const typename Algo::Params& params, std::size_t classes) {
    return Bank(std::make_shared<BreedOf<Algo, T>>(params, kWidth, classes));
}

// Rows of a stream as they come from outside.
template <class T>
class Given {
  public:
    Given(const Stream<T>& stream, std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const Row<T> x = stream[i];
            sparse = x.sparse();
            values.insert(values.end(), x.values, x.values + x.size);
            if (sparse) indices.insert(indices.end(), x.indices, x.indices + x.size);
            starts.push_back(std::int64_t(values.size()));
        }
    }
    Rows rows() const {
        if (!sparse) return Rows::dense(values.data(), starts.size() - 1, kWidth);
        return Rows::sparse(values.data(), values.size(), indices, starts, kWidth);
    }

    std::vector<T> values;

  private:
    bool sparse = false;
    std::vector<std::int32_t> indices;
    std::vector<std::int64_t> starts{0};
};

template <class T>
void learn(Bank& bank, const Stream<T>& stream, const std::vector<std::string>& names,
           std::size_t first, std::size_t last, std::size_t hands = 1) {
    std::vector<double> y, w(last - first, 1.0);
    for (std::size_t i = first; i < last; ++i) y.push_back(stream.label(i));
    const Given<T> given(stream, first, last);
    bank.learn(given.rows(), y, w, keys_of(names, first, last), hands);
}

Memory saved_model(const Bank& bank, const std::string& name) {
    const std::size_t slot = bank.keys().find({Key::text, name});
    CHECK(slot != Keys::kNone);
    Memory memory;
    bank.save(slot, memory);
    return memory;
}
// A single model that has learned, as a bank shows its own.
template <class Algo>
Memory saved_alone(Algo& model) {
    Memory memory;
    Save save(memory);
    save("width", kWidth), save("outputs", model.outputs());
    model.state(save);
    return memory;
}

bool same(const Bank& a, const Bank& b) {
    const auto equal = [](auto x, auto y) {
        return x.size_bytes() == y.size_bytes() &&
               (x.empty() || std::memcmp(x.data(), y.data(), x.size_bytes()) == 0);
    };
    return equal(a.records(), b.records()) && equal(a.keys().kinds(), b.keys().kinds()) &&
           equal(a.keys().ends(), b.keys().ends()) && equal(a.keys().bytes(), b.keys().bytes()) &&
           a.seen() == b.seen();
}

template <class Algo, class T>
void is_a_loop_over_single_models(const typename Algo::Params& params, std::size_t classes,
                                  bool sparse) {
    const Stream<T> stream(kRows, kWidth, classes, sparse, 3);
    const auto key = names(4);
    std::map<std::string, Algo> single;
    std::map<std::string, std::int64_t> seen;
    for (std::size_t i = 0; i < kRows; ++i) {
        auto [at, is_new] = single.try_emplace(key[i], params);
        if (is_new) at->second.grow(classes);
        at->second.learn(stream[i], stream.label(i), 1.0, Id(seen[key[i]]++));
    }

    Bank whole = bank_of<Algo, T>(params, classes), pieces = whole, shared = whole;
    learn(whole, stream, key, 0, kRows);
    for (std::size_t i = 0; i < kRows; i += 7)
        learn(pieces, stream, key, i, std::min(i + 7, kRows));
    learn(shared, stream, key, 0, kRows, 3);
    CHECK(same(whole, pieces) && same(whole, shared));
    CHECK(whole.size() == single.size() && whole.seen() == std::int64_t(kRows));
    for (auto& [name, model] : single) {
        CHECK(saved_model(whole, name) == saved_alone(model));
        CHECK(whole.seen(whole.keys().find({Key::text, name})) == seen[name]);
    }

    std::vector<double> out(kRows * whole.outputs()), one(whole.outputs());
    const Given<T> given(stream, 0, kRows);
    const Rows rows = given.rows();
    whole.score(rows, keys_of(key, 0, kRows), out.data(), 2);
    for (std::size_t i = 0; i < kRows; ++i) {
        single.at(key[i]).score(stream[i], one.data());
        CHECK(std::memcmp(one.data(), &out[i * one.size()], one.size() * sizeof(double)) == 0);
    }
    const std::vector<Key> strangers(kRows, Key{Key::text, "nobody"});
    whole.score(rows, strangers, out.data(), 1);
    for (const double score : out) CHECK(score == 0.0);

    // Saved in the midst, loaded, gone on.
    Bank half = bank_of<Algo, T>(params, classes), again = half;
    learn(half, stream, key, 0, kRows / 2);
    again.load(Keys::of(half.keys().kinds(), half.keys().ends(), half.keys().bytes()),
               half.records(), 2);
    CHECK(same(half, again));
    learn(again, stream, key, kRows / 2, kRows);
    CHECK(same(whole, again));
}

using Aggressive = PassiveAggressiveClassifier<double>;
Bank aggressive() { return bank_of<Aggressive, double>(linear<Aggressive>(), 2); }

void forgetting_is_never_having_met() {
    const Stream<double> stream(kRows, kWidth, 2, false, 3);
    const auto key = names(4);
    Bank bank = aggressive(), other = bank, left = bank, right = bank;
    learn(bank, stream, key, 0, kRows);
    const std::vector<std::string> gone{key[0], key[17], key[5]};
    for (std::size_t i = 0; i < kRows; ++i)
        if (std::find(gone.begin(), gone.end(), key[i]) == gone.end())
            learn(other, stream, key, i, i + 1);
    bank.forget(keys_of(gone, 0, gone.size()));
    CHECK(same(bank, other));
    const std::vector<std::string> strange{key[1], "nobody"};
    try {
        bank.forget(keys_of(strange, 0, 2));
        CHECK(!"refused");
    } catch (const std::invalid_argument&) {
        CHECK(same(bank, other));
    }

    // Two parts of the keys, merged, are the whole, but for its order.
    for (std::size_t i = 0; i < kRows; ++i)
        learn(key[i].size() % 2 ? left : right, stream, key, i, i + 1);
    left.merge(right);
    Bank all = aggressive();
    learn(all, stream, key, 0, kRows);
    CHECK(left.size() == all.size() && left.seen() == all.seen());
    for (const std::string& name : key) CHECK(saved_model(left, name) == saved_model(all, name));
    const Bank before = left;
    try {
        left.merge(right);
        CHECK(!"refused");
    } catch (const std::invalid_argument&) {
        CHECK(same(left, before));
    }
}

// A row that is refused, wherever in the call it comes, and by whichever thread.
void a_call_is_all_or_nothing() {
    const Stream<double> stream(kRows, kWidth, 2, false, 3);
    const auto key = names(4);
    Bank bank = aggressive();
    learn(bank, stream, key, 0, 60);
    const Bank before = bank;
    const std::vector<double> y(kRows, 1.0), w(kRows, 1.0);
    for (const std::size_t hands : {1, 3})
        for (std::size_t bad = 0; bad < kRows; bad += 13) {
            Given<double> given(stream, 0, kRows);
            given.values[bad * kWidth] = std::nan("");
            try {
                bank.learn(given.rows(), y, w, keys_of(key, 0, kRows), hands);
                CHECK(!"refused");
            } catch (const std::invalid_argument&) {
                CHECK(same(bank, before));
            }
        }
    learn(bank, stream, key, 60, kRows);
    Bank whole = aggressive();
    learn(whole, stream, key, 0, kRows);
    CHECK(same(bank, whole));
}

// Every word of every record, and every byte about the keys, changed in many ways: refused, or a bank
// that still learns and scores.
void forged_states_are_refused_or_harmless() {
    const Stream<double> stream(kRows, kWidth, 2, false, 3);
    const auto key = names(4);
    Bank bank = aggressive();
    learn(bank, stream, key, 0, 40);
    const double nan = std::nan(""), huge = 1e300, tiny = -1e-300, one = 1.0;
    std::size_t refused = 0;
    const auto attempt = [&](auto& kinds, auto& ends, auto& bytes, auto& records) {
        Bank fresh = aggressive();
        try {
            fresh.load(Keys::of(kinds, ends, bytes), records, 1);
            learn(fresh, stream, key, 0, kRows);
        } catch (const std::invalid_argument&) {
            ++refused;
        }
    };
    const auto copy = [&] {
        const auto of = [](auto span) {
            return std::vector<std::remove_cv_t<typename decltype(span)::element_type>>(
                span.begin(), span.end());
        };
        return std::tuple(of(bank.keys().kinds()), of(bank.keys().ends()), of(bank.keys().bytes()),
                          of(bank.records()));
    };
    for (std::size_t i = 0; i < bank.words() * 2; ++i)
        for (const double word : {nan, huge, tiny, one, 5e-324, -0.0}) {
            auto [kinds, ends, bytes, records] = copy();
            records[i] = word;
            attempt(kinds, ends, bytes, records);
        }
    for (std::size_t i = 0; i < bank.size(); ++i)
        for (const std::int64_t end : {std::int64_t(-1), std::int64_t(0), std::int64_t(1) << 60}) {
            auto [kinds, ends, bytes, records] = copy();
            ends[i] = end;
            attempt(kinds, ends, bytes, records);
            kinds[i] = std::uint8_t(end & 3);
            attempt(kinds, ends, bytes, records);
        }
    auto [kinds, ends, bytes, records] = copy();
    records.pop_back();
    attempt(kinds, ends, bytes, records);
    CHECK(refused > bank.words());
}

// Keys that come and go, against a map.
void keys_are_found() {
    Keys keys;
    std::map<std::string, std::size_t> slot;
    std::mt19937 random(5);
    for (std::size_t i = 0; i < 5000; ++i) {
        const std::string name(random() % 20, char('a' + random() % 3));
        const std::string text = name + std::to_string(random() % 700);
        const auto [at, is_new] = slot.try_emplace(text, keys.size());
        CHECK(keys.find({Key::text, text}) == (is_new ? Keys::kNone : at->second));
        CHECK(keys.add({Key::text, text}) == at->second);
        CHECK(keys.find({Key::other, text}) == Keys::kNone);
    }
    const std::size_t most = keys.size();
    for (int i = 0; i < 100; ++i) keys.add({Key::other, std::to_string(i)});
    keys.shorten(most);
    CHECK(keys.size() == most);
    for (const auto& [text, at] : slot) CHECK(keys.find({Key::text, text}) == at);
    std::vector<bool> gone(most);
    for (std::size_t i = 0; i < most; i += 3) gone[i] = true;
    keys.erase(gone);
    for (const auto& [text, at] : slot)
        CHECK(keys.find({Key::text, text}) == (at % 3 == 0 ? Keys::kNone : at - at / 3 - 1));
}

}  // namespace

int main() {
    for (const std::size_t classes : {2, 3})
        for (const bool sparse : {false, true}) {
            auto averaged = linear<Aggressive>();
            averaged.average = true;
            is_a_loop_over_single_models<Aggressive, double>(averaged, classes, sparse);
            using Ball = StreamSVM<float>;
            is_a_loop_over_single_models<Ball, float>(linear<Ball>(), classes, sparse);
            using Sub = Pegasos<double>;
            is_a_loop_over_single_models<Sub, double>(linear<Sub>(), classes, sparse);
            using Norm = Alma<double>;
            auto norm = linear<Norm>();
            norm.p = 5.0;
            is_a_loop_over_single_models<Norm, double>(norm, classes, sparse);
            using Multiplied = ExponentiatedClassifier<double>;
            is_a_loop_over_single_models<Multiplied, double>(linear<Multiplied>(), classes, sparse);
        }
    auto block = linear<Pegasos<double>>();
    block.block = 4;
    CHECK((!BreedOf<Pegasos<double>, double>::can_hold(block)));
    auto rbf = linear<Aggressive>();
    rbf.kernel = kernel(Shape::rbf);
    CHECK((!BreedOf<Aggressive, double>::can_hold(rbf)));
    forgetting_is_never_having_met();
    a_call_is_all_or_nothing();
    forged_states_are_refused_or_harmless();
    keys_are_found();
    return 0;
}
