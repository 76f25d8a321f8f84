// The space that the stored examples span, by the inverse of their kernel matrix, in slot order: how
// much of an example lies outside it, and which combination of the others comes closest to one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "onlinesvm/function/function.hpp"
#include "onlinesvm/solver/inverse.hpp"

namespace onlinesvm {

template <class T>
class Span {
  public:
    // The examples that f has stored since join. One that lies within the others' span, but for a share
    // `least` of its squared length, goes, and f keeps its projection.
    void take_up(Function<T>& f, double least) {
        while (inverse.size() < f.size())
            if (outside(f) > least)
                join();
            else
                fold(f, 1.0);
    }

    // Of the first example that f has stored since: which share of its squared length lies outside the
    // span. It may then join, or f takes `factor` times its projection instead of it.
    double outside(Function<T>& f) {
        const Slot slot(inverse.size());
        const auto k = f.kernel_row(slot);
        column.assign(k.begin(), k.begin() + std::ptrdiff_t(inverse.size()));
        left = inverse.explain(column.data(), k[slot], d);
        return std::max(0.0, left / k[slot]);
    }
    void join() { inverse.append(left, d); }
    void fold(Function<T>& f, double factor) {
        d.resize(inverse.size());
        for (double& share : d) share *= factor;
        d.resize(f.size());
        f.project(Slot(inverse.size()), d);
    }

    // f loses the example but keeps its projection onto the others.
    void project(Function<T>& f, Slot p) {
        inverse.remove(p, d);  // d becomes its row of the inverse
        const double own = d[p];
        for (double& x : d) x /= -own;
        d[p] = 0.0;
        f.project(p, d);
        if (++removals % kOften == 0) inverse.clear();  // updates drift: begin anew
    }

    // A state that was loaded.
    void demand_fits(Function<T>& f) {
        const auto times = [&](const double* x, double* y) {
            for (std::size_t i = 0; i < f.size(); ++i)
                y[i] = isa::table<T>().dot(f.kernel_row(Slot(i)).data(), x, f.size());
        };
        demand(inverse.size() == f.size() && inverse.inverts(times),
               "the inverse is not that of the examples");
    }

    auto undoable() { return std::tie(inverse, removals); }
    std::size_t nbytes() const { return inverse.nbytes(); }
    static std::size_t footprint(std::size_t n) { return Inverse::footprint(n); }
    template <class A>
    void state(A& a) {
        a("inverse", inverse);
        a("removals", removals);
    }

  private:
    static constexpr std::int64_t kOften = 10'000;

    Inverse inverse;
    std::int64_t removals = 0;
    std::vector<double> column, d;
    double left = 0.0;  // of the one last looked at
};

}  // namespace onlinesvm
