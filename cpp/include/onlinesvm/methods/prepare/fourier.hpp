// Random Fourier features (Rahimi & Recht, NIPS 2007) of the rbf and the laplacian kernel.
//
// Frequencies w_1 to w_m give the features cos(w_j'x) and sin(w_j'x), over sqrt(m). With both, a
// feature vector has length one and k(x, x) is exact; one cosine with a random phase, as often seen,
// has a larger variance (Sutherland & Schneider, UAI 2015).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "onlinesvm/function/loss.hpp"
#include "onlinesvm/machine/verbs.hpp"
#include "onlinesvm/methods/prepare/frequencies.hpp"
#include "onlinesvm/rows/store.hpp"

namespace onlinesvm {

template <class T>
class Fourier {
  public:
    using Output = T;
    using Verbs = Offers<>;

    struct Params {
        std::size_t n_components = 100;
        std::int64_t random_state = 0;
        bool orthogonal = false;
        Kernel kernel;

        void fields(auto&& f) {
            f("n_components", n_components), f("random_state", random_state);
            f("orthogonal", orthogonal), f("kernel", kernel);
        }
    };

    explicit Fourier(const Params& p)
        : p(p),
          judge_(p.kernel),
          // Of an odd number of components, the last is 0.
          waves_({p.n_components / 2, p.random_state, p.orthogonal, p.kernel}) {
        require(p.n_components >= 1, "n_components: must be at least 1");
    }

    // All there is to learn is which features there are.
    void learn(const Row<T>& x, double, double, Id) {
        judge_.demand_own_value(x);
        waves_.reach(x.width, !x.sparse());
        begun_ = true;
    }

    void score(const Row<T>& x, T* out) const { score_many({&x, 1}, out); }
    void score_many(std::span<const Row<T>> xs, T* out) const {
        if (!begun_) {
            std::fill(out, out + xs.size() * p.n_components, T(0));
            return;
        }
        const std::size_t pairs = waves_.size(), room = waves_.room();
        const T scale = T(1.0 / std::sqrt(double(std::max<std::size_t>(pairs, 1))));
        Aligned<T> turns(xs.size() * room);
        std::vector<T*> at;
        for (std::size_t q = 0; q < xs.size(); ++q) {
            judge_.demand_own_value(xs[q]);
            at.push_back(turns.data() + q * room);
        }
        waves_.turn(xs, at.data());
        for (std::size_t q = 0; q < xs.size(); ++q, out += p.n_components) {
            isa::table<T>().waves(at[q], scale, out, out + pairs, pairs);
            std::fill(out + 2 * pairs, out + p.n_components, T(0));
        }
    }
    std::size_t outputs() const { return p.n_components; }
    void grow(std::size_t) {}

    auto undoable() { return std::tie(waves_, begun_); }
    template <class A>
    void state(A& a) {
        a("begun", begun_);
        waves_.state(a);
        if constexpr (A::loading)
            demand(a.outputs() == outputs() && (begun_ || waves_.features() == 0),
                   "the frequencies do not fit the features");
    }
    std::size_t nbytes() const { return sizeof(*this) + waves_.nbytes(); }

  private:
    Params p;
    Store<T> judge_;  // of rows too long for the kernel; it stays empty
    Frequencies<T> waves_;
    bool begun_ = false;
};

}  // namespace onlinesvm
