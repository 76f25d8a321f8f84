// What the machines that climb by pairs share: their dual, their bias, and how an example goes.
#pragma once

#include <cstdint>
#include <vector>

#include "onlinesvm/machine/one_vs_rest.hpp"
#include "onlinesvm/solver/pair.hpp"

namespace onlinesvm {

template <class T>
class PairModel : public OneVsRest<T, Pair<T>> {
    using Base = OneVsRest<T, Pair<T>>;

  public:
    using Base::Base;

    // The dual, which every step raises: sum y s - s'Ks/2.
    double objective() const {
        return this->sum_of_held([](const Pair<T>& m, Slot j, double f) {
            return m.coefficient(j) * (m.label(j) - 0.5 * (f - m.bias()));
        });
    }
    void grow(std::size_t classes) {
        this->grow_to(classes, [&](Pair<T>& m) {  // every example held is a negative
            for (Slot j{}; j < rows_->size(); ++j) m.learn(j, -1, this->cost(j), 0);
            m.look();
        });
    }

  protected:
    using Base::machines_, Base::rows_;

    // Its coefficients go to the members that gain most by them; then it is gone.
    void remove(Id id) {
        for (auto& m : machines_) m->clear(rows_->slot(id));
        rows_->remove(rows_->slot(id));
        for (auto& m : machines_) m->look();
    }
};

}  // namespace onlinesvm
