// A function that only predicts: f_o(x) = sum_j c_oj k(x_j, x) + b_o, of any number of outputs.
//
// What remains of a model that was compressed. It comes as a state and learns no more, since
// the examples that were left out would have to be there.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "onlinesvm/function/score.hpp"
#include "onlinesvm/machine/verbs.hpp"
#include "onlinesvm/machine/votes.hpp"
#include "onlinesvm/rows/stored_rows.hpp"
#include "onlinesvm/state/checked.hpp"

namespace onlinesvm {

template <class T>
class ReducedSet {
  public:
    using Verbs = Offers<verb::support, verb::bias, verb::level>;

    struct Params {
        Kernel kernel;
        void fields(auto&& f) { f("kernel", kernel); }
    };

    explicit ReducedSet(const Params& p) : vectors_(p.kernel), bias_(1) {}

    [[noreturn]] void learn(const Row<T>&, double, double, Id) {
        throw std::logic_error("a compressed model learns no more");
    }
    void grow(std::size_t) {}

    void score(const Row<T>& x, double* out) const { score_many({&x, 1}, out); }
    void score_many(std::span<const Row<T>> xs, double* out) const {
        const std::size_t n = vectors_.size();
        std::vector<const double*> coefficients(outputs());
        for (std::size_t o = 0; o < outputs(); ++o) coefficients[o] = coef_.data() + o * n;
        onlinesvm::score<T>(vectors_, n, coefficients, xs, out);
        for (std::size_t i = 0; i < xs.size() * outputs(); ++i) out[i] += bias_[i % outputs()];
    }
    std::size_t outputs() const { return bias_.size(); }

    std::vector<double> bias() const { return bias_; }
    double level() const { return 0.0 - bias_[0]; }
    Support<T> support() const {
        Support<T> out;
        out.ids = ids_;
        out.coef = coef_;
        show_rows(vectors_, out);
        return out;
    }

    auto undoable() { return std::tie(); }  // nothing changes
    template <class A>
    void state(A& a) {
        std::size_t functions = 0;
        if constexpr (A::loading) functions = a.outputs();
        fields(a, functions);
    }
    std::size_t nbytes() const {
        return sizeof(*this) + vectors_.nbytes() + ids_.capacity() * sizeof(Id) +
               (coef_.capacity() + bias_.capacity()) * sizeof(double);
    }

  protected:
    // How many functions a state has to be of, where it is read.
    template <class A>
    void fields(A& a, std::size_t functions) {
        a("vectors", vectors_), a("ids", ids_), a("coef", coef_), a("bias", bias_);
        if constexpr (A::loading)
            demand(bias_.size() == functions && ids_.size() == vectors_.size() &&
                       coef_.size() == checked_mul(bias_.size(), ids_.size()) &&
                       vectors_.width() <= a.features(),
                   "the vectors and their coefficients do not fit together");
    }

  private:
    Store<T> vectors_;
    std::vector<Id> ids_;
    std::vector<double> coef_, bias_;  // outputs x vectors, row-major; outputs
};

// The same of pairs of classes, which vote.
template <class T>
class ReducedPairs : public ReducedSet<T> {
    using Base = ReducedSet<T>;

  public:
    using Verbs = Offers<verb::support, verb::bias>;
    using Base::Base;

    void score(const Row<T>& x, double* out) const { score_many({&x, 1}, out); }
    void score_many(std::span<const Row<T>> xs, double* out) const {
        std::vector<double> f(xs.size() * pairs());
        score_pairs(xs, f.data());
        for (std::size_t i = 0; i < xs.size(); ++i)
            count_votes(&f[i * pairs()], classes_, out + i * classes_);
    }
    void score_pairs(std::span<const Row<T>> xs, double* out) const { Base::score_many(xs, out); }
    std::size_t outputs() const { return classes_; }
    std::size_t pairs() const { return Base::outputs(); }

    template <class A>
    void state(A& a) {
        if constexpr (A::loading) classes_ = a.outputs();
        this->fields(a, Duel::count(classes_));
    }

  private:
    std::size_t classes_ = 2;
};

}  // namespace onlinesvm
