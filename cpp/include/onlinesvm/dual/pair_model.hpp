// What the machines that climb by pairs share: their dual, their bias, and how an example goes.
#pragma once

#include <cstdint>
#include <vector>

#include "onlinesvm/base/one_vs_rest.hpp"
#include "onlinesvm/solver/pair.hpp"

namespace onlinesvm {

template <class T>
class PairModel : public OneVsRest<T, Pair<T>> {
    using Base = OneVsRest<T, Pair<T>>;

  public:
    using Base::Base;

    // The dual, which every step raises: sum y s - s'Ks/2.
    double objective() const {
        double total = 0;
        const std::vector<double> f = this->scores_of_held();
        for (std::size_t c = 0; c < machines_.size(); ++c)
            for (Slot j = 0; j < rows_->size(); ++j) {
                const Pair<T>& m = *machines_[c];
                const double fj = f[j * machines_.size() + c] - m.bias();
                total += m.coefficient(j) * (m.label(j) - 0.5 * fj);
            }
        return total;
    }
    std::vector<double> intercept() const {
        std::vector<double> b;
        for (const auto& m : machines_) b.push_back(m->bias());
        return b;
    }
    void grow(std::size_t classes) {
        this->grow_to(classes, [&](Pair<T>& m) {  // every example held is a negative
            for (Slot j = 0; j < rows_->size(); ++j) m.learn(j, -1, this->cost(j), 0);
            m.look();
        });
    }

  protected:
    using Base::machines_, Base::rows_;

    // Its coefficients go to those who gain most by them; then it is gone.
    void remove(std::int64_t id) {
        for (auto& m : machines_) m->clear(rows_->slot(id));
        rows_->remove(rows_->slot(id));
        for (auto& m : machines_) m->look();
    }
};

}  // namespace onlinesvm
