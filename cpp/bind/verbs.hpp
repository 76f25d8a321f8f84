// How each verb that an algorithm offers is called from Python.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>

#include "arrays.hpp"
#include "onlinesvm/base/path.hpp"
#include "onlinesvm/base/support.hpp"
#include "onlinesvm/base/verbs.hpp"

namespace onlinesvm::bind {

template <class T>
Dict to_dict(Support<T> support, std::size_t outputs) {
    const std::size_t n = support.ids.size();
    if (n > 0) outputs = support.coef.size() / n;  // of pairs of classes: one less
    Dict out;
    out["ids"] = to_numpy(std::move(support.ids));
    out["coef"] = to_numpy(std::move(support.coef), {outputs, n});
    if (support.indptr.empty()) {
        out["vectors"] = to_numpy(std::move(support.values), {n, support.width});
    } else {
        out["data"] = to_numpy(std::move(support.values));
        out["indices"] = to_numpy(std::move(support.indices));
        out["indptr"] = to_numpy(std::move(support.indptr));
        out["width"] = support.width;
    }
    return out;
}

template <class T>
Dict to_dict(Evidence<T> evidence) {
    const std::size_t n = evidence.rows.ids.size(), outputs = evidence.bias.size(),
                      copies = evidence.copies;
    Dict out = to_dict(std::move(evidence.rows), outputs);
    out["label"] = to_numpy(std::move(evidence.label));
    out["cost"] = to_numpy(std::move(evidence.cost));
    out["self"] = to_numpy(std::move(evidence.self));
    out["f"] = to_numpy(std::move(evidence.f), {n, outputs});
    out["base"] = to_numpy(std::move(evidence.base), {outputs, n, copies});
    out["lo"] = to_numpy(std::move(evidence.lo), {outputs, n, copies});
    out["hi"] = to_numpy(std::move(evidence.hi), {outputs, n, copies});
    out["s"] = to_numpy(std::move(evidence.s), {outputs, n, copies});
    out["bias"] = to_numpy(std::move(evidence.bias));
    out["target"] = to_numpy(std::move(evidence.target));
    out["free_bias"] = evidence.free_bias;
    return out;
}

inline Dict to_dict(Weights weights) {
    const std::size_t outputs = weights.intercept.size();
    Dict out;
    out["coef"] = to_numpy(std::move(weights.coef), {outputs, weights.width});
    out["intercept"] = to_numpy(std::move(weights.intercept));
    return out;
}

// Breakpoints by column, output by output.
inline Dict to_dict(const std::vector<std::vector<Breakpoint>>& paths) {
    std::vector<double> u, dual;
    std::vector<std::int64_t> output, event, in_S, in_E, in_O;
    std::vector<Id> id;
    for (std::size_t o = 0; o < paths.size(); ++o)
        for (const Breakpoint& b : paths[o]) {
            u.push_back(b.u), dual.push_back(b.dual), output.push_back(std::int64_t(o));
            event.push_back(std::int64_t(b.event)), id.push_back(b.id);
            in_S.push_back(b.in_S), in_E.push_back(b.in_E), in_O.push_back(b.in_O);
        }
    Dict out;
    out["output"] = to_numpy(std::move(output));
    out["u"] = to_numpy(std::move(u));
    out["event"] = to_numpy(std::move(event));
    out["id"] = to_numpy(std::move(id));
    out["S"] = to_numpy(std::move(in_S));
    out["E"] = to_numpy(std::move(in_E));
    out["O"] = to_numpy(std::move(in_O));
    out["dual"] = to_numpy(std::move(dual));
    return out;
}

// Model is the class as Python sees it: model.read(verb) and model.write(verb) run a verb of the
// algorithm while no other thread changes it.
template <class Algo, class Model>
class VerbBinder {
  public:
    explicit VerbBinder(nb::class_<Model>& model) : model(model) {}

    template <class... V>
    void operator()(Offers<V...>) {
        ((*this)(V{}), ...);
    }

    // ---- examples that it holds ----

    void operator()(verb::support) {
        model.def("support", [](const Model& self) {
            auto [support, outputs] = self.read(
                [](const Algo& algo) { return std::pair(algo.support(), algo.outputs()); });
            return to_dict(std::move(support), outputs);
        });
    }
    void operator()(verb::weights) { dict("weights", &Algo::weights); }
    void operator()(verb::holds) {
        model.def(
            "holds",
            [](const Model& self, const Vector<Id>& ids) {
                return self.read([ids = view(ids)](const Algo& algo) {
                    return std::any_of(ids.begin(), ids.end(),
                                       [&](Id id) { return algo.holds(id); });
                });
            },
            nb::arg("ids"), "Whether any of these ids belongs to an example in the model.");
    }
    void operator()(verb::held) { number("held", &Algo::held); }
    void operator()(verb::labels) {
        model.def(
            "labels",
            [](const Model& self) {
                auto [ids, labels] = self.read(
                    [](const Algo& algo) { return std::pair(algo.ids(), algo.labels()); });
                return nb::make_tuple(to_numpy(std::move(ids)), to_numpy(std::move(labels)));
            },
            "The ids held and the class number of each.");
    }
    void operator()(verb::labels_used) { number("labels_used", &Algo::labels_used); }
    void operator()(verb::evicted) { number("evicted", &Algo::evicted); }
    void operator()(verb::n_support) { number("n_support", &Algo::n_support); }

    // ---- going on by other means than learning ----

    void operator()(verb::unlearn) {
        model.def(
            "unlearn",
            [](Model& self, const Vector<Id>& ids) {
                self.write([gone = view(ids)](Algo& algo) { algo.unlearn(gone); });
            },
            nb::arg("ids"));
    }
    void operator()(verb::set_C) {
        model.def(
            "set_C", [](Model& self, double C) { self.write([&](Algo& algo) { algo.set_C(C); }); },
            nb::arg("C"));
    }
    void operator()(verb::reweight) {
        model.def(
            "reweight",
            [](Model& self, const Vector<Id>& ids, const Vector<double>& w) {
                same_length("weights", w.shape(0), ids.shape(0));
                self.write([ids = view(ids), w = view(w)](Algo& algo) { algo.reweight(ids, w); });
            },
            nb::arg("ids"), nb::arg("w"));
    }
    void operator()(verb::leave_one_out) {
        model.def("leave_one_out", [](Model& self) {
            auto [left, outputs] = self.write(
                [](Algo& algo) { return std::pair(algo.leave_one_out(), algo.outputs()); });
            const std::size_t n = left.ids.size();
            Dict out;
            out["ids"] = to_numpy(std::move(left.ids));
            out["labels"] = to_numpy(std::move(left.labels));
            out["scores"] = to_numpy(std::move(left.f), {n, outputs});
            return out;
        });
    }
    void operator()(verb::solve) { action("solve", &Algo::solve); }
    void operator()(verb::improve) {
        model.def("improve", &Model::improve_for_a_while,
                  "Rounds of steps for a tenth of a second; False once there is no more to gain.");
        array("steps", &Algo::steps);
        number("gap", &Algo::gap);
    }
    void operator()(verb::finish) {
        model.def(
            "finish",
            [](Model& self, double tol) { self.write([&](Algo& algo) { algo.finish(tol); }); },
            nb::arg("tol"));
    }
    void operator()(verb::polish) {
        model.def(
            "polish",
            [](Model& self, double tol) { self.write([&](Algo& algo) { algo.polish(tol); }); },
            nb::arg("tol"));
    }
    void operator()(verb::flush) {
        model.def("flush", [](Model& self) { self.write([](Algo& algo) { algo.flush(); }); });
    }
    void operator()(verb::revisit) {
        model.def(
            "revisit",
            [](Model& self, std::size_t n, double tol) {
                self.write([&](Algo& algo) { algo.revisit(n, tol); });
            },
            nb::arg("n"), nb::arg("tol"));
        action("measure", &Algo::measure);
        action("settle", &Algo::settle);
    }
    void operator()(verb::merge) {
        model.def("merge", &Model::merge, nb::arg("other"), nb::arg("shift"), nb::arg("numbers"));
    }

    // ---- how good the solution is ----

    void operator()(verb::capped) { number("capped", &Algo::capped); }
    void operator()(verb::kkt_residual) {
        answer("kkt_residual", &Algo::kkt_residual);
        answer("spot_check", &Algo::spot_check);
    }
    void operator()(verb::objective) { answer("objective", &Algo::objective); }
    void operator()(verb::duality_gap) { answer("duality_gap", &Algo::duality_gap); }
    void operator()(verb::violation) { number("violation", &Algo::violation); }
    void operator()(verb::suffered) { number("suffered", &Algo::suffered); }
    void operator()(verb::mistakes) { number("mistakes", &Algo::mistakes); }
    void operator()(verb::touching) { number("touching", &Algo::touching); }
    void operator()(verb::evidence) { dict("evidence", &Algo::evidence); }

    // ---- what the method alone knows ----

    void operator()(verb::bias) { array("bias", &Algo::bias); }
    void operator()(verb::level) { number("level", &Algo::level); }
    void operator()(verb::radius) { array("radius", &Algo::radius); }
    void operator()(verb::radius_bound) { array("radius_bound", &Algo::radius_bound); }
    void operator()(verb::path) {
        dict("path", &Algo::path);
        number("breakpoints", &Algo::breakpoints);
    }
    void operator()(verb::passes) { number("passes", &Algo::passes); }

  private:
    nb::class_<Model>& model;

    template <class Get>
    static auto ask(const Model& self, Get get) {
        return self.read([get](const Algo& algo) { return std::invoke(get, algo); });
    }
    template <class Get>
    void number(const char* name, Get get) {  // a property
        model.def_prop_ro(name, [get](const Model& self) { return ask(self, get); });
    }
    template <class Get>
    void answer(const char* name, Get get) {  // a number that takes work
        model.def(name, [get](const Model& self) { return ask(self, get); });
    }
    template <class Get>
    void array(const char* name, Get get) {
        model.def(name, [get](const Model& self) { return to_numpy(ask(self, get)); });
    }
    template <class Get>
    void dict(const char* name, Get get) {
        model.def(name, [get](const Model& self) { return to_dict(ask(self, get)); });
    }
    template <class Do>
    void action(const char* name, Do verb) {
        model.def(name, [verb](Model& self) {
            self.write([verb](Algo& algo) { std::invoke(verb, algo); });
        });
    }
};

template <class Algo, class Model>
void bind_verbs(nb::class_<Model>& model) {
    VerbBinder<Algo, Model>{model}(typename Algo::Verbs{});
}

}  // namespace onlinesvm::bind
