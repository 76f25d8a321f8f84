// How each verb that an algorithm offers is called from outside, by name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "onlinesvm/machine/verbs.hpp"
#include "onlinesvm/model/model.hpp"
#include "onlinesvm/state/checked.hpp"

namespace onlinesvm {

// Of(model) is the algorithm behind a model.
template <class Algo, class Of>
class VerbTable {
  public:
    VerbTable() { (*this)(typename Algo::Verbs{}); }
    std::vector<Verb> all;

  private:
    template <class... V>
    void operator()(Offers<V...>) {
        ((*this)(V{}), ...);
    }

    // ---- examples that it holds ----

    void operator()(verb::support) {
        add("support", Way::answer, [](const Algo& algo, const Arguments&) {
            return value_of(algo.support(), algo.outputs());
        });
    }
    void operator()(verb::weights) { answer<&Algo::weights>("weights"); }
    void operator()(verb::holds) {  // whether any of these ids belongs to an example in the model
        add("holds", Way::answer, [](const Algo& algo, const Arguments& given) {
            given.demand(1);
            const std::vector<Id> ids = given.ids(0);
            return value_of(
                std::any_of(ids.begin(), ids.end(), [&](Id id) { return algo.holds(id); }));
        });
    }
    void operator()(verb::held) { fact<&Algo::held>("held"); }
    void operator()(verb::labels) {  // the ids held and the class number of each
        add("labels", Way::answer, [](const Algo& algo, const Arguments&) -> Value {
            return List{value_of(algo.ids()), value_of(algo.labels())};
        });
    }
    void operator()(verb::labels_used) { fact<&Algo::labels_used>("labels_used"); }
    void operator()(verb::evicted) { fact<&Algo::evicted>("evicted"); }
    void operator()(verb::n_support) { fact<&Algo::n_support>("n_support"); }

    // ---- going on by other means than learning ----

    void operator()(verb::unlearn) {
        act<1>("unlearn", [](Algo& algo, const Arguments& given) { algo.unlearn(given.ids(0)); });
    }
    void operator()(verb::set_C) {
        act<1>("set_C", [](Algo& algo, const Arguments& given) { algo.set_C(given.number(0)); });
    }
    void operator()(verb::reweight) {
        act<2>("reweight", [](Algo& algo, const Arguments& given) {
            const auto ids = given.ids(0);
            const auto weights = given.numbers(1);
            same_length("weights", weights.size(), ids.size());
            algo.reweight(ids, weights);
        });
    }
    void operator()(verb::leave_one_out) {
        add("leave_one_out", Way::act, [](Algo& algo, const Arguments&) -> Value {
            auto left = algo.leave_one_out();
            const std::size_t n = left.ids.size();
            Record out;
            out.add("ids", value_of(std::move(left.ids)));
            out.add("labels", value_of(std::move(left.labels)));
            out.add("scores", value_of(std::move(left.f), n, algo.outputs()));
            return out;
        });
    }
    void operator()(verb::solve) { act<&Algo::solve>("solve"); }
    void operator()(verb::improve) {
        add("improve", Way::round,
            [](Algo& algo, const Arguments&) { return value_of(algo.improve()); });
        answer<&Algo::steps>("steps");
        fact<&Algo::gap>("gap");
    }
    void operator()(verb::finish) {
        act<1>("finish", [](Algo& algo, const Arguments& given) { algo.finish(given.number(0)); });
    }
    void operator()(verb::polish) {
        act<1>("polish", [](Algo& algo, const Arguments& given) { algo.polish(given.number(0)); });
    }
    void operator()(verb::flush) {
        act<0>("flush", [](Algo& algo, const Arguments&) { algo.flush(); });
    }
    void operator()(verb::revisit) {
        act<2>("revisit", [](Algo& algo, const Arguments& given) {
            algo.revisit(given.count(0), given.number(1));
        });
        act<&Algo::measure>("measure");
        act<&Algo::settle>("settle");
    }
    void operator()(verb::merge) {
        all.push_back({"merge", Way::act, [](Model& model, const Arguments& given) {
                           given.demand(3);
                           Of::merge(model, given.model(0), given.integer(1), given.integers(2));
                           return Value();
                       }});
    }

    // ---- how good the solution is ----

    void operator()(verb::capped) { fact<&Algo::capped>("capped"); }
    void operator()(verb::kkt_residual) {
        answer<&Algo::kkt_residual>("kkt_residual");
        answer<&Algo::spot_check>("spot_check");
    }
    void operator()(verb::objective) { answer<&Algo::objective>("objective"); }
    void operator()(verb::duality_gap) { answer<&Algo::duality_gap>("duality_gap"); }
    void operator()(verb::violation) { fact<&Algo::violation>("violation"); }
    void operator()(verb::suffered) { fact<&Algo::suffered>("suffered"); }
    void operator()(verb::mistakes) { fact<&Algo::mistakes>("mistakes"); }
    void operator()(verb::touching) { fact<&Algo::touching>("touching"); }
    void operator()(verb::evidence) { answer<&Algo::evidence>("evidence"); }
    void operator()(verb::decisions) {  // of the examples held, by id
        add("decisions", Way::act, [](Algo& algo, const Arguments&) -> Value {
            std::vector<double> f = algo.decisions();
            const std::size_t n = f.size() / algo.outputs();
            return value_of(std::move(f), n, algo.outputs());
        });
    }

    // ---- what the method alone knows ----

    void operator()(verb::bias) { answer<&Algo::bias>("bias"); }
    void operator()(verb::level) { fact<&Algo::level>("level"); }
    void operator()(verb::radius) { answer<&Algo::radius>("radius"); }
    void operator()(verb::radius_bound) { answer<&Algo::radius_bound>("radius_bound"); }
    void operator()(verb::path) {
        answer<&Algo::path>("path");
        fact<&Algo::breakpoints>("breakpoints");
    }
    void operator()(verb::passes) { fact<&Algo::passes>("passes"); }

    // A function without a closure, so that a pointer will do.
    template <class Do>
    void add(const char* name, Way way, Do) {
        all.push_back({name, way, [](Model& model, const Arguments& given) -> Value {
                           return Do()(Of::algo(model), given);
                       }});
    }
    template <auto Get>
    void fact(const char* name) {
        add(name, Way::fact, Asked<Get>());
    }
    template <auto Get>
    void answer(const char* name) {
        add(name, Way::answer, Asked<Get>());
    }
    template <auto Act>
    void act(const char* name) {
        add(name, Way::act,
            [](Algo& algo, const Arguments&) { return std::invoke(Act, algo), Value(); });
    }
    template <std::size_t arguments, class Do>
    void act(const char* name, Do) {
        add(name, Way::act, [](Algo& algo, const Arguments& given) {
            given.demand(arguments);
            return Do()(algo, given), Value();
        });
    }
    template <auto Get>
    struct Asked {
        Value operator()(const Algo& algo, const Arguments&) const {
            return value_of(std::invoke(Get, algo));
        }
    };
};

}  // namespace onlinesvm
