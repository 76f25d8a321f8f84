// All rows of a store, as a Support shows them.
#pragma once

#include "onlinesvm/rows/store.hpp"
#include "onlinesvm/rows/support.hpp"

namespace onlinesvm {

template <class T>
void show_rows(const Store<T>& store, Support<T>& out) {
    out.width = store.width();
    if (store.sparse()) out.indptr.push_back(0);
    typename Store<T>::Scratch scratch;
    for (Slot j{}; j < store.size(); ++j) {
        const Row<T> x = store.get(j, scratch);
        out.values.insert(out.values.end(), x.values, x.values + x.size);
        if (!x.sparse()) continue;
        out.indices.insert(out.indices.end(), x.indices, x.indices + x.size);
        out.indptr.push_back(std::int64_t(out.values.size()));
    }
}

}  // namespace onlinesvm
