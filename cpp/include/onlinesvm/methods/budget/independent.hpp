// OISVM: on-line independent support vector machines (Orabona, Castellini, Caputo, Jie, Sandini,
// Pattern Recognition 43, 2010).
//
// The SVM with squared loss over all examples seen, or the newest of them, for functions in the span
// of a basis B that takes in an example only where it is independent of those before.
#pragma once

#include "onlinesvm/methods/budget/independent_model.hpp"

namespace onlinesvm {

template <class T, class Task>
class Independent : public IndependentModel<T, Task> {
  public:
    using Params = IndependentParams<Task>;
    using Verbs = Offers<verb::support, verb::holds, verb::held, verb::unlearn, verb::capped,
                         verb::kkt_residual, verb::objective, verb::bias>;
    using Independent::IndependentModel::IndependentModel;

    // Algorithm 1. The paper leaves beta alone where x joins B and is no error; here it is optimal
    // after every example.
    void learn(const Row<T>& x, double y, double weight, Id id) {
        if (!(weight > 0.0)) return;
        basis.read(x);
        while (rows.size() >= this->window()) this->drop(this->oldest());
        if (basis.size() < this->most() && basis.joins(x, id)) this->widen(x);
        const Slot j = this->hold(x, y, p.C * weight, id);
        for (auto& machine : machines) {
            machine->learn(j);
            machine->settle();
        }
    }

    // Their errors count no more; those in the basis stay there.
    void unlearn(std::span<const Id> ids) {
        for (Id id : ids)
            if (rows.holds(id)) this->drop(rows.slot(id));
        for (auto& machine : machines) machine->settle();
    }

  private:
    using Independent::IndependentModel::p, Independent::IndependentModel::rows,
        Independent::IndependentModel::basis, Independent::IndependentModel::machines;
};

template <class T>
using IndependentClassifier = Independent<T, IndependentClassification>;
template <class T>
using IndependentRegressor = Independent<T, IndependentRegression>;

}  // namespace onlinesvm
