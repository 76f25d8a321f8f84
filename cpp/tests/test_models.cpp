// Every method by its name, without Python: a Model learns, goes on from what it saved, takes a call
// back, and says what it does not offer.
#include <stdexcept>

#include "check.hpp"
#include "onlinesvm/model/methods.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

namespace {

Record params(std::string_view name, const std::string& kernel) {
    Record params;
    params.add("kernel", Record{{"name", kernel}, {"offset", 1.0}});
    params.add("variant", std::string("plain"));
    if (name == "Romma") params.add("C", 0.5), params.add("average", true);
    return params;
}

Memory saved(const Model& model) {
    Memory memory;
    model.save(memory);
    return memory;
}

template <class T>
void learn(Model& model, const Stream<T>& stream, std::size_t first, std::size_t last) {
    std::vector<double> y, w(last - first, 1.0);
    std::vector<Id> ids;
    std::vector<T> values;
    for (std::size_t i = first; i < last; ++i) {
        y.push_back(stream.label(i)), ids.push_back(Id(i));
        values.insert(values.end(), stream[i].values, stream[i].values + stream[i].size);
    }
    Blocks<T> blocks(Rows::dense(values.data(), last - first, stream[0].width));
    static_cast<ModelIn<T>&>(model).learn_block(blocks.block(0, last - first), y.data(), w.data(),
                                                ids.data(), blocks, last - first);
}

template <class Act>
bool refuses(Act act, const std::string& what) {
    try {
        act();
    } catch (const std::invalid_argument& error) {
        return std::string(error.what()).find(what) != std::string::npos;
    }
    return false;
}

template <class T>
void lives(std::string_view name, const std::string& kernel) {
    const Stream<T> stream(60, 4, 2, false);
    const Type type = sizeof(T) == 4 ? Type::float32 : Type::float64;
    const Method& method = onlinesvm::method(name);
    const auto whole = method.make(type, params(name, kernel));
    const auto half = method.make(type, params(name, kernel));
    const auto again = method.make(type, params(name, kernel));
    CHECK(whole->kind().floats == (sizeof(T) == 4));
    learn<T>(*whole, stream, 0, 60);
    learn<T>(*half, stream, 0, 30);
    const Memory kept = saved(*half);
    Reading from(kept);
    again->load(from);
    again->mark();
    learn<T>(*again, stream, 30, 45);
    again->revert();
    CHECK(saved(*again) == kept);
    again->mark();
    learn<T>(*again, stream, 30, 60);
    again->commit();
    CHECK(saved(*again) == saved(*whole));

    const Value one[] = {0.5};
    CHECK(refuses([&] { whole->call("finish", one); }, "does not offer 'finish'"));
    CHECK(refuses([&] { whole->call("holds", {}); }, "holds: takes 1 arguments, got 0"));
    CHECK(refuses([&] { whole->call("holds", one); }, "argument 1 has the wrong type"));
    const Value ids[] = {value_of(std::vector<std::int64_t>{3, 999})};
    CHECK(!std::get<bool>(whole->call("holds", ids)) || kernel == "rbf");
    CHECK(std::get<std::int64_t>(whole->call("mistakes", {})) > 0);
    CHECK(std::holds_alternative<Record>(whole->call(kernel == "rbf" ? "support" : "weights", {})));
    Record strange = params(name, kernel);
    strange.add("stranger", 1.0);
    CHECK(refuses([&] { method.make(type, strange); }, "unknown name 'stranger'"));
    CHECK(refuses([&] { method.make(type, {}); }, "missing 'variant'"));
}

}  // namespace

int main() {
    for (const std::string kernel : {"linear", "rbf"}) {
        lives<float>("Romma", kernel);
        lives<double>("Perceptron", kernel);
    }
    CHECK(refuses([] { onlinesvm::method("Nonsense"); }, "no method 'Nonsense'"));
    CHECK(refuses([] { type_of("float16"); }, "neither 'float32' nor 'float64'"));
    return 0;
}
