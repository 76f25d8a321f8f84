// Nystroem features (Williams & Seeger, NIPS 2001) that learn their landmarks from a stream.
//
// With K = L L' the kernel matrix of the landmarks, phi(x) = L^-1 k(x, landmarks): inner products of
// features are the kernel between the projections onto the span of the landmarks, and exact where
// one of the two is a landmark. An example becomes one if its squared distance to that span,
// k(x, x) - |phi(x)|^2, is more than tol times k(x, x) and there is room. L^-1 is triangular, so
// another landmark adds a coordinate and changes none of those before.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "onlinesvm/function/loss.hpp"
#include "onlinesvm/machine/verbs.hpp"
#include "onlinesvm/memory/undo.hpp"
#include "onlinesvm/methods/prepare/triangle.hpp"
#include "onlinesvm/rows/stored_rows.hpp"
#include "onlinesvm/state/checked.hpp"

namespace onlinesvm {

template <class T>
class Nystroem {
  public:
    using Output = T;
    using Verbs = Offers<verb::support>;

    struct Params {
        std::size_t n_components = 100;
        double tol = 1e-2;
        Kernel kernel;

        void fields(auto&& f) {
            f("n_components", n_components), f("tol", tol), f("kernel", kernel);
        }
    };

    explicit Nystroem(const Params& p) : p(p), landmarks_(p.kernel) {
        require(p.n_components >= 1, "n_components: must be at least 1");
        require(p.tol > 0.0 && p.tol < 1.0, "tol: must lie between 0 and 1");
    }

    void learn(const Row<T>& x, double, double, Id id) {
        const std::size_t n = landmarks_.size();
        if (n == p.n_components) return;
        landmarks_.demand_own_value(x);
        poll(n * n);
        Aligned<T> k(landmarks_.padded_size());
        landmarks_.row(x, 0, n, k.data());
        const double self = landmarks_.self(x);
        double beyond = self;
        std::vector<double> phi(n), row(n + 1);
        for (std::size_t i = 0; i < n; ++i) {
            phi[i] = isa::table<T>().dot(k.data(), row_of(i), i + 1);
            beyond -= phi[i] * phi[i];
        }
        if (!(beyond > p.tol * self)) return;
        // L gains the row (phi, d), hence its inverse (-phi' L^-1, 1) / d.
        const double d = std::sqrt(beyond);
        for (std::size_t i = 0; i < n; ++i)
            isa::table<double>().axpy(-phi[i] / d, row_of(i), row.data(), i + 1);
        row[n] = 1.0 / d;
        landmarks_.push(x);
        ids_.push_back(id);
        inverse_.insert(inverse_.cend(), row.begin(), row.end());
        fast_.push(row.data());
    }

    void score(const Row<T>& x, T* out) const { score_many({&x, 1}, out); }
    void score_many(std::span<const Row<T>> xs, T* out) const {
        const std::size_t n = landmarks_.size(), room = Triangle<T>::padded(n);
        for (const Row<T>& x : xs) landmarks_.demand_own_value(x);
        Aligned<T> values(2 * xs.size() * room);
        std::vector<T*> k, phi;
        for (std::size_t q = 0; q < xs.size(); ++q) {
            k.push_back(values.data() + q * room);
            phi.push_back(values.data() + (xs.size() + q) * room);
        }
        if (n > 0) landmarks_.rows(xs, 0, n, k.data());
        const std::vector<const T*> vectors(k.begin(), k.end());
        fast_.times(vectors, phi.data());
        for (std::size_t q = 0; q < xs.size(); ++q, out += p.n_components)
            std::fill(std::copy_n(phi[q], n, out), out + p.n_components, T(0));
    }
    std::size_t outputs() const { return p.n_components; }
    void grow(std::size_t) {}

    // The landmarks; their coefficients are L^-1, and 0 where there is no landmark yet.
    Support<T> support() const {
        const std::size_t n = landmarks_.size();
        Support<T> out;
        out.ids.assign(ids_.begin(), ids_.end());
        out.coef.resize(p.n_components * n);
        for (std::size_t i = 0; i < n; ++i) std::copy_n(row_of(i), i + 1, &out.coef[i * n]);
        show_rows(landmarks_, out);
        return out;
    }

    auto undoable() { return std::tie(landmarks_, ids_, inverse_, fast_); }
    template <class A>
    void state(A& a) {
        a("landmarks", landmarks_), a("ids", ids_), a("inverse", inverse_);
        if constexpr (A::loading) {
            const std::size_t n = landmarks_.size();
            demand(a.outputs() == outputs() && n <= outputs() && ids_.size() == n &&
                       inverse_.size() == start(n) && landmarks_.width() <= a.features(),
                   "the landmarks do not fit together");
            fast_ = {};
            for (std::size_t i = 0; i < n; ++i) {
                demand(row_of(i)[i] > 0.0, "a landmark lies in the span of the others");
                fast_.push(row_of(i));
            }
        }
    }
    std::size_t nbytes() const {
        return sizeof(*this) + landmarks_.nbytes() + nbytes_of(ids_, inverse_) + fast_.nbytes();
    }

  private:
    Params p;
    Store<T> landmarks_;
    PlainLedger<Id> ids_;
    Ledger<double> inverse_;  // L^-1, row after row, each as long as it is not 0
    Triangle<T> fast_;        // the same, to transform with

    static std::size_t start(std::size_t i) { return i * (i + 1) / 2; }
    const double* row_of(std::size_t i) const { return inverse_.data() + start(i); }
};

}  // namespace onlinesvm
