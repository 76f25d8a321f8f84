// A learner that takes one step per example is its step; the rest is here.
//
// A method derives from StepLearner<T, Method> and has Params, a constructor that says what of f to
// keep, and `double step(Function<T>& f, const Example<T>& e)`: it reads f, moves it, and returns the
// loss that e had before. What it remembers besides f, `members` lists once, for saving, taking back
// and measuring; where two classes becoming three concerns that, `split` adapts it. What else it does
// otherwise than here, it defines itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include "onlinesvm/function/function.hpp"
#include "onlinesvm/function/loss.hpp"
#include "onlinesvm/machine/verbs.hpp"

namespace onlinesvm {

// A member and the name under which it is saved.
template <class M>
struct Named {
    const char* name;
    M& member;
};

template <class T, class Method>
class StepLearner {
  public:
    using Verbs = StepVerbs;

    void learn(const Row<T>& x, double y, double weight, Id id) {
        if (!(weight > 0.0)) return;
        const double loss = method().step(f, {x, y, weight, id, t + 1});
        ++t;
        mistakes_ += f.mistook(y);
        if (loss > 0.0) suffered_ += weight * loss;
    }
    void expect(std::span<const Row<T>> coming) { f.expect(coming); }
    void turn(std::size_t i) { f.turn(i); }
    // Whether a step fails before it changes anything, or not at all: it reads and judges first, and
    // to move weights takes no memory. Rows too long for k(x, x) do not come this way.
    bool steps_whole() const { return f.linear(); }
    // Whether all models that have learned, of one width and as many classes, have one size: then a
    // bank can hold them (bank/bank.hpp). What needs no memory to take a step has.
    bool flat() const { return method().steps_whole(); }

    // What the examples cost when they came, before each was learned.
    double suffered() const { return suffered_; }
    // How often the newest f did not put the class of an example first, before it was learned.
    std::int64_t mistakes() const { return mistakes_; }

    // Drops the examples' own terms. Steps that later examples took because of them stay.
    void unlearn(std::span<const Id> ids) {
        for (Id id : ids)
            if (const auto slot = f.find(id)) f.drop(*slot);
    }
    bool holds(Id id) const { return f.find(id).has_value(); }

    void score(const Row<T>& x, double* out) const { method().score_many({&x, 1}, out); }
    void score_many(std::span<const Row<T>> xs, double* out) const { f.score_many(xs, out); }
    std::size_t outputs() const { return f.outputs(); }
    Weights weights() const { return f.weights(); }
    std::vector<double> bias() const { return f.bias(); }
    Support<T> support() const { return f.support(); }

    void grow(std::size_t classes) {
        const bool splits = classes > 2 && outputs() == 1;
        f.grow(classes);
        if (splits) method().split();
    }
    std::size_t nbytes() const {
        Measure own;
        const_cast<StepLearner*>(this)->visit(own);  // it only hands the members to the visitor
        return sizeof(Method) + f.nbytes() + own.bytes;
    }
    auto undoable() {
        return std::apply([&](auto... named) { return std::tie(f, t, mistakes_, named.member...); },
                          method().members());
    }
    template <class A>
    void state(A& a) {
        if constexpr (A::loading) f.grow(a.outputs());
        a("f", f);
        a("t", t);
        a("mistakes", mistakes_);
        visit(a);
        if constexpr (A::loading) {
            demand(mistakes_ <= t, "there are more mistakes than rounds");
            demand(outputs() == a.outputs(), "the function does not have one output per class");
            for (std::int64_t born : f.births())
                demand(born > 0 && born <= t, "the rounds do not fit the examples");
        }
    }

    std::tuple<> members() { return {}; }
    void split() {}

  protected:
    StepLearner(const Kernel& kernel, Keeps keeps) : f(kernel, keeps) {}

    Function<T> f;
    std::int64_t t = 0;  // rounds so far

  private:
    double suffered_ = 0.0;
    std::int64_t mistakes_ = 0;

    template <class A>
    void visit(A& a) {
        std::apply([&](auto... named) { (a(named.name, named.member), ...); }, method().members());
    }
    Method& method() { return static_cast<Method&>(*this); }
    const Method& method() const { return static_cast<const Method&>(*this); }
};

}  // namespace onlinesvm
