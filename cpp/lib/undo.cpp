#include "onlinesvm/memory/undo.hpp"

namespace onlinesvm {

template class LedgerOf<Aligned<double>>;
template class LedgerOf<Aligned<std::int32_t>>;
template class LedgerOf<Aligned<std::int64_t>>;
template class LedgerOf<OnHeap<double>>;
template class LedgerOf<std::vector<double>>;
template class LedgerOf<std::vector<std::int64_t>>;
template class LedgerOf<std::vector<std::uint32_t>>;
template class LedgerOf<std::vector<Id>>;
template class LedgerOf<std::vector<Slot>>;

}  // namespace onlinesvm
