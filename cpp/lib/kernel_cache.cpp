// What a KernelCache does, and the memory of its rows, for either type of values.
#include "onlinesvm/function/kernel_cache.hpp"

namespace onlinesvm {

template <class T>
auto Slabs<T>::take(std::size_t length) -> Block {
    Shelf& shelf = shelf_of(length);
    Slab* slab = fullest(shelf);
    return hand_out(shelf, slab ? *slab : add_slab(shelf));
}
template <class T>
bool Slabs<T>::pour(Block& block, std::size_t used) {
    if (block.empty() || 4 * block.slab_->taken() > 3 * block.slab_->blocks) return false;
    Shelf& shelf = shelves_[block.slab_->shelf];
    Slab* slab = fullest(shelf);
    if (!slab || slab == block.slab_ || slab->taken() < block.slab_->taken()) return false;
    Block there = hand_out(shelf, *slab);
    std::copy_n(block.data(), used, there.data());
    block = std::move(there);
    return true;
}
template <class T>
std::size_t Slabs<T>::slab_bytes(std::size_t block) {
    if (kBlocks * block > kSlabBytes) return std::max<std::size_t>(kSlabBytes / block, 1) * block;
    std::size_t bytes = std::size_t(1) << 14;
    while (bytes < kBlocks * block) bytes *= 4;
    return bytes;
}
template <class T>
auto Slabs<T>::shelf_of(std::size_t length) -> Shelf& {
    while (shelves_.empty() || shelves_.back().length < length) {
        const std::size_t last = shelves_.empty() ? 0 : shelves_.back().length;
        shelves_.push_back({round_up(last + last / 4 + kShortest, isa::lanes<T>), {}, {}});
    }
    return *std::lower_bound(
        shelves_.begin(), shelves_.end(), length,
        [](const Shelf& shelf, std::size_t wanted) { return shelf.length < wanted; });
}
template <class T>
auto Slabs<T>::fullest(Shelf& shelf) const -> Slab* {
    const auto best = std::max_element(shelf.open.begin(), shelf.open.end(),
                                       [](Slab* a, Slab* b) { return a->taken() < b->taken(); });
    return best == shelf.open.end() ? nullptr : *best;
}
template <class T>
auto Slabs<T>::add_slab(Shelf& shelf) -> Slab& {
    auto slab = std::make_unique<Slab>(*this, std::size_t(&shelf - shelves_.data()), shelf.length);
    shelf.open.reserve(shelf.slabs.size() + 1);  // giving back must not need memory
    shelf.slabs.push_back(std::move(slab));
    shelf.open.push_back(shelf.slabs.back().get());
    held_ += shelf.open.back()->held;
    return *shelf.open.back();
}
template <class T>
auto Slabs<T>::hand_out(Shelf& shelf, Slab& slab) -> Block {
    const auto place = unsigned(std::countr_zero(slab.vacant));
    slab.vacant &= slab.vacant - 1;
    if (slab.vacant == 0) std::erase(shelf.open, &slab);
    if (place == slab.touched) {
        ++slab.touched;
        if (!slab.pages.in_memory()) slab.held += slab.block_bytes(), held_ += slab.block_bytes();
    }
    taken_ += slab.block_bytes();
    if (idle_ == &slab) idle_ = nullptr;
    Block block;
    block.data_ = slab.values() + place * slab.length;
    block.slab_ = &slab;
    ASAN_UNPOISON_MEMORY_REGION(block.data_, slab.block_bytes());
    return block;
}
template <class T>
void Slabs<T>::take_back(Slab& slab, T* data) {
    ASAN_POISON_MEMORY_REGION(data, slab.block_bytes());
    if (slab.vacant == 0) shelves_[slab.shelf].open.push_back(&slab);
    slab.vacant |= std::uint64_t(1) << (std::size_t(data - slab.values()) / slab.length);
    taken_ -= slab.block_bytes();
    if (slab.taken() > 0) return;
    if (idle_) drop(*idle_);  // one empty slab is kept: the next row may want it
    idle_ = &slab;
}
template <class T>
void Slabs<T>::drop(Slab& slab) {
    Shelf& shelf = shelves_[slab.shelf];
    held_ -= slab.held;
    slab.pages.release(owner_destroyed_);
    std::erase(shelf.open, &slab);
    std::erase_if(shelf.slabs, [&](const auto& held) { return held.get() == &slab; });
}
template <class T>
KernelCache<T>::KernelCache(const Kernel& kernel, std::size_t cache_bytes)
    : store_(kernel), coming_(kernel), budget_(cache_bytes) {
    spare_.reserve(kSpare);  // giving a row back must not need memory
}
template <class T>
bool KernelCache<T>::uniform() const {
    const Shape shape = store_.kernel().shape;
    return shape == Shape::rbf || shape == Shape::laplacian || shape == Shape::chi2;
}
template <class T>
void KernelCache<T>::expect(std::span<const Row<T>> xs) {
    forget_expected();
    if (active_ == 0 || xs.empty()) return;
    const std::size_t upto = movers_ > 0.3 ? size() : active_;
    if (xs.size() * upto * sizeof(T) > budget_ / 4) return;
    std::vector<T*> out;
    for (const Row<T>& x : xs) {
        coming_.push(x);
        expected_.push_back(blank());
        expected_.back().reserve(slabs_, upto);
        out.push_back(expected_.back().data());
    }
    share_slots(0, upto, xs.size() * xs.front().size,
                [&](auto first, auto last) { store_.rows(xs, first, last, out.data()); });
    for (KernelRow<T>& row : expected_) row.known = upto;
}
template <class T>
void KernelCache<T>::forget_expected() {
    while (coming_.size() > 0) coming_.pop();
    for (KernelRow<T>& row : expected_)
        if (!row.empty()) recycle(std::move(row));
    expected_.clear();
    turn_ = kNone;
}
template <class T>
void KernelCache<T>::recycle(KernelRow<T> row) {
    movers_ *= kMemory;
    if (spare_.size() < kSpare) spare_.push_back(std::move(row));
}
template <class T>
KernelRow<T> KernelCache<T>::arriving(Row<T> x) {
    store_.demand_own_value(x);
    const std::size_t i = std::exchange(turn_, kNone);
    if (i >= expected_.size()) return row_of(x);
    KernelRow<T> row = std::exchange(expected_[i], {});
    complete(row, x, active_);
    return row;
}
template <class T>
KernelRow<T> KernelCache<T>::row_of(Row<T> x) {
    KernelRow<T> row = blank();
    row.reserve(slabs_, active_ + 1);
    complete(row, x, active_);
    return row;
}
template <class T>
Slot KernelCache<T>::push(Row<T> x, Id id) {
    if (slot_of_.contains(id))
        throw std::invalid_argument("ids: " + std::to_string(std::int64_t(id)) +
                                    " is held already; ids must be new");
    store_.demand_own_value(x);
    const double k = store_.self(x);
    const Slot j(size());
    store_.push(x);
    k_.push_back(k);
    k_inv_.push_back(k > 0 ? 1 / k : 1e300);  // k = 0: nothing curves, so a step goes to its bound
    ids_.push_back(id);
    slot_of_[id] = {j, age_};
    cache_.emplace_back();
    for (Follower* f : followers_) f->slot_pushed();
    return j;
}
template <class T>
void KernelCache<T>::remove(Slot j) {
    if (j < active_) j = demote(j);
    swap(j, Slot(size() - 1));
    drop_row(Slot(size() - 1));
    for (Follower* f : followers_) f->slot_popped();
    forget_id(ids_.back());
    ids_.pop_back();
    k_.pop_back();
    k_inv_.pop_back();
    cache_.pop_back();
    store_.pop();
    for (auto& row : cache_) row.known = std::min(row.known, size());
    for (auto& row : expected_) row.known = std::min(row.known, size());
}
template <class T>
Slot KernelCache<T>::promote(Slot j) {
    if (is_hot(j)) return j;
    row(j, active_);  // also what other rows lack of it can be read there
    j = admit(j);
    for (Follower* f : followers_) f->slot_promoted(j);
    return j;
}
template <class T>
Slot KernelCache<T>::admit(Slot j) {
    if (is_hot(j)) return j;
    if (j < resting_) {
        swap(j, Slot(--resting_));
        return Slot(resting_);
    }
    swap(j, Slot(active_));
    return Slot(active_++);
}
template <class T>
Slot KernelCache<T>::rest(Slot j) {
    swap(j, Slot(resting_));
    return Slot(resting_++);
}
template <class T>
Slot KernelCache<T>::demote(Slot j) {
    if (j < resting_) {
        swap(j, Slot(--resting_));
        j = Slot(resting_);
    }
    swap(j, Slot(--active_));
    drop_row(Slot(active_));
    return Slot(active_);
}
template <class T>
void KernelCache<T>::mark() noexcept {
    commit();
    was_ = {resting_, active_};
    ++age_;
    for (auto* v : {&k_, &k_inv_}) v->mark();
    ids_.mark();
    store_.mark();
}
template <class T>
void KernelCache<T>::commit() noexcept {
    for (auto* v : {&k_, &k_inv_}) v->commit();
    ids_.commit();
    store_.commit();
    gone_.clear();
    crew_.dismiss();
}
template <class T>
void KernelCache<T>::revert() noexcept {
    crew_.dismiss();
    forget_expected();
    deferring_ = false;
    deferred_.clear();
    for (Slot j{}; j < cache_.size(); ++j) drop_row(j);
    for (auto* v : {&k_, &k_inv_}) v->revert();
    ids_.revert();
    store_.revert();
    std::erase_if(slot_of_, [&](const auto& held) { return held.second.born == age_; });
    for (auto& node : gone_) slot_of_.insert(std::move(node));
    for (Slot j{}; j < size(); ++j) slot_of_.find(ids_[j])->second.slot = j;
    cache_.resize(size());
    std::tie(resting_, active_) = was_;
    gone_.clear();
}
template <class T>
bool KernelCache<T>::make_ready(std::span<const Slot> slots, std::size_t upto) {
    if (2 * slots.size() > room()) return false;
    for (Slot j : slots)
        if (double(upto - std::min(upto, cache_[j].known)) * double(store_.width()) >= kShared)
            row(j, upto);
    late_.clear();
    for (Slot j : slots) {
        KernelRow<T>& r = cache_[j];
        r.used = ++clock_;
        if (r.known >= upto && !r.empty()) continue;
        late_.push_back({j, {}});
        if (r.room() < upto) reserve(late_.back().grown, upto);
    }
    crew_.work(late_.size(), [&](std::size_t i) { catch_up(late_[i], upto); });
    for (Late& late : late_) {
        KernelRow<T>& r = cache_[late.slot];
        if (!late.grown.empty()) r.move_to(std::move(late.grown));
        r.known = upto;
    }
    late_.clear();
    keep_within_budget();
    return std::all_of(slots.begin(), slots.end(),
                       [&](Slot j) { return !cache_[j].empty() && cache_[j].known >= upto; });
}
template <class T>
void KernelCache<T>::subtract(double* h, std::span<const Move> moves, std::size_t first,
                              std::size_t last) {
    const std::size_t each = moves.size() * kPerValue;
    if (crew_.hands() > 1 && double(last - first) * double(each) >= kShared) {
        wanted_.clear();
        for (const Move& move : moves) wanted_.push_back(move.slot);
        if (make_ready(wanted_, last))
            return share_slots(first, last, each, [&](auto begin, auto end) {
                subtract_eights(h, moves, begin, end, last);
            });
    }
    subtract_eights(h, moves, first, last, last);
}
template <class T>
void KernelCache<T>::keep(Slot j, KernelRow<T> row) {
    movers_ = movers_ * kMemory + (1 - kMemory);
    drop_row(j);
    row.used = ++clock_;
    cache_[j] = std::move(row);
    keep_within_budget();
}
template <class T>
void KernelCache<T>::tell_hot(const KernelRow<T>& newest) {
    const std::size_t last = size() - 1;
    if (store_.width() < kWide || newest.known < active_) return;
    for (Slot i(resting_); i < active_; ++i) {
        KernelRow<T>& r = cache_[i];
        if (r.empty() || r.known != last) continue;
        reserve(r, size());
        r.data()[last] = newest.data()[i];
        ++r.known;
    }
}
template <class T>
Aligned<T> KernelCache<T>::values_of(Slot j) const {
    typename Store<T>::Scratch scratch;
    Aligned<T> row(store_.padded_size());
    if (active_ > 0) store_.row(store_.get(j, scratch), 0, active_, row.data());
    return row;
}
template <class T>
std::size_t KernelCache<T>::room() const {
    return budget_ / (sizeof(T) * std::max<std::size_t>(size() + size() / 4, 64)) + kPinned;
}
template <class T>
void KernelCache<T>::keep_within_budget() {
    if (slabs_.nbytes() <= budget_) return;
    std::vector<std::pair<std::uint64_t, Slot>> held;
    for (Slot j{}; j < size(); ++j)
        if (!cache_[j].empty() && cache_[j].used + kPinned <= clock_)
            held.push_back({cache_[j].used, j});
    std::sort(held.begin(), held.end());
    spare_.clear();
    std::size_t target = budget_ - budget_ / 8, next = 0;
    do {
        for (; next < held.size() && slabs_.taken() > target; ++next) drop_row(held[next].second);
        for (std::size_t i = next; i < held.size(); ++i) cache_[held[i].second].pour(slabs_);
        target -= target / 8;
    } while (slabs_.nbytes() > budget_ && next < held.size());
}
template <class T>
std::size_t KernelCache<T>::nbytes() const {
    return store_.nbytes() + slabs_.nbytes() +
           size() * (2 * sizeof(double) + sizeof(KernelRow<T>) + 4 * sizeof(void*));
}
template <class T>
template <class A>
void KernelCache<T>::state(A& a) {
    a("examples", store_);
    a("ids", ids_);
    a("resting", resting_);
    a("active", active_);
    if constexpr (A::loading) {
        forget_expected();
        demand(ids_.size() == store_.size() && resting_ <= active_ && active_ <= size(),
               "slots do not fit the examples");
        cache_.clear();
        cache_.resize(size());
        k_.clear();
        k_inv_.clear();
        slot_of_.clear();
        for (Slot j{}; j < size(); ++j) {
            const double k = store_.self(store_.get(j, scratch_));
            k_.push_back(k);
            k_inv_.push_back(k > 0 ? 1 / k : 1e300);
            demand(std::isfinite(k), "an example's own kernel value is not finite");
            demand(slot_of_.emplace(ids_[j], Place{j, age_}).second, "an id occurs twice");
        }
    }
}
template <class T>
void KernelCache<T>::forget_id(Id id) {
    if (slot_of_.find(id)->second.born != age_) {
        gone_.emplace_back();  // first: it needs memory
        gone_.back() = slot_of_.extract(id);
    }
    slot_of_.erase(id);
}
template <class T>
void KernelCache<T>::reserve(KernelRow<T>& r, std::size_t upto) {
    r.reserve(slabs_, upto > active_ ? size() : upto);
}
template <class T>
void KernelCache<T>::complete(KernelRow<T>& r, Row<T> x, std::size_t upto) {
    if (r.known >= upto) return;
    r.reserve(slabs_, upto);
    share_slots(r.known, upto, x.size,
                [&](auto first, auto last) { store_.row(x, first, last, r.data()); });
    r.known = upto;
}
template <class T>
void KernelCache<T>::subtract_eights(double* h, std::span<const Move> moves, std::size_t first,
                                     std::size_t last, std::size_t upto) {
    std::array<Slot, 8> slots;
    std::array<double, 8> by;
    std::array<const T*, 8> out;
    for (; !moves.empty(); moves = moves.subspan(std::min<std::size_t>(8, moves.size()))) {
        std::size_t n = std::min<std::size_t>(8, moves.size());
        for (std::size_t i = 0; i < n; ++i) slots[i] = moves[i].slot, by[i] = moves[i].by;
        rows(std::span<const Slot>(slots.data(), n), upto, out.data());
        if (n > 2)
            for (; n < 8; ++n) out[n] = out[0], by[n] = 0;
        isa::table<T>().subtract(h, out.data(), by.data(), n, first, last);
    }
}
template <class T>
void KernelCache<T>::borrow(Slot j, std::size_t upto) {
    if (store_.width() < kWide) return;
    KernelRow<T>& r = cache_[j];
    for (Slot i(r.known); i < upto && (i == j || cache_[i].known > j); ++i, ++r.known)
        r.data()[i] = i == j ? T(diagonal()[j]) : cache_[i].data()[j];
}
template <class T>
void KernelCache<T>::catch_up(Late& late, std::size_t upto) {
    const Slot j = late.slot;
    KernelRow<T>& r = cache_[j];
    T* const to = late.grown.empty() ? r.data() : late.grown.data();
    std::size_t known = r.empty() ? 0 : r.known;
    if (!late.grown.empty()) std::copy_n(r.data(), known, to);
    if (store_.width() >= kWide)
        for (Slot i(known); i < upto; ++i, ++known) {
            const KernelRow<T>& other = cache_[i];
            if (i != j && other.known / isa::lanes<T> * isa::lanes<T> <= j) break;
            to[i] = i == j ? T(diagonal()[j]) : other.data()[j];
        }
    if (known == upto) return;
    typename Store<T>::Scratch scratch;
    store_.row(store_.get(j, scratch), known, upto, to);
}
template <class T>
void KernelCache<T>::swap(Slot a, Slot b) {
    if (a == b) return;
    if (a > b) std::swap(a, b);
    if (deferring_)
        deferred_.push_back({a, b});
    else
        exchange_values(a, b);
    std::swap(cache_[a], cache_[b]);
    store_.swap(a, b);
    k_.swap(a, b);
    k_inv_.swap(a, b);
    ids_.swap(a, b);
    for (Slot j : {a, b}) slot_of_.find(ids_[j])->second.slot = j;
    for (Follower* f : followers_) f->slots_swapped(a, b);
}
template <class T>
void KernelCache<T>::exchange_values(Slot a, Slot b) {
    const KernelRow<T>& row_b = cache_[b];
    const auto exchange = [&](Slot i) {
        KernelRow<T>& r = cache_[i];
        if (r.empty() || r.known < a) return;
        if (b < r.known) {
            std::swap(r.data()[a], r.data()[b]);
        } else if (i == b || i < row_b.known) {  // r does not know b, but b's own row knows r
            if (a == r.known && !r.learns_another()) return;
            r.data()[a] = i == b ? T(diagonal()[b]) : row_b.data()[i];
        } else {
            r.known = a;
        }
    };
    crew_.divide(active_, kRows, [&](std::size_t first, std::size_t last) {
        for (Slot i(first); i < last; ++i)
            if (i != b) exchange(i);
    });
    if (a >= active_) exchange(a);
    exchange(b);
    exchange_expected(a, b);
}
template <class T>
void KernelCache<T>::exchange_expected(Slot a, Slot b) {
    bool asked = false;
    for (std::size_t e = 0; e < expected_.size(); ++e) {
        KernelRow<T>& r = expected_[e];
        if (r.empty()) continue;  // learned
        if (b < r.known) {
            std::swap(r.data()[a], r.data()[b]);
            continue;
        }
        if (a > r.known) continue;
        if (!asked) {
            asked = true;
            short_.resize(coming_.padded_size());
            coming_.row(store_.get(b, scratch_), 0, coming_.size(), short_.data());
        }
        if (a == r.known) {
            r.reserve(slabs_, a + 1);
            ++r.known;
        }
        r.data()[a] = short_[e];
    }
}
template <class T>
KernelRow<T> KernelCache<T>::blank() {
    if (spare_.empty()) return {};
    KernelRow<T> row = std::move(spare_.back());
    spare_.pop_back();
    row.known = 0;
    return row;
}

template <class T>
void KernelCache<T>::rows(std::span<const Slot> slots, std::size_t upto, const T** out) {
    std::array<Slot, 8> late;
    std::size_t n_late = 0, from = upto, known = 0;
    for (Slot j : crew_.busy() ? std::span<const Slot>() : slots) {
        if (cache_[j].known < upto && !cache_[j].empty()) {
            reserve(cache_[j], upto);
            borrow(j, upto);
        }
        if (cache_[j].known < upto) {
            late[n_late++] = j;
            from = std::min(from, cache_[j].known);
            known += cache_[j].known;
        }
    }
    // Together costs about a third per value, but begins where the last one is.
    if (n_late > 1 && 2 * (n_late * upto - known) > n_late * (upto - from)) {
        std::array<Row<T>, 8> xs;
        std::array<T*, 8> targets;
        for (std::size_t i = 0; i < n_late; ++i) {
            KernelRow<T>& r = cache_[late[i]];
            reserve(r, upto);
            xs[i] = store_.get(late[i], several_[i]);
            targets[i] = r.data();
        }
        const std::span<const Row<T>> several(xs.data(), n_late);
        share_slots(from, upto, n_late * xs[0].size, [&](auto first, auto last) {
            store_.rows(several, first, last, targets.data());
        });
        for (std::size_t i = 0; i < n_late; ++i) cache_[late[i]].known = upto;
    }
    for (std::size_t i = 0; i < slots.size(); ++i) out[i] = row(slots[i], upto);
    if (!crew_.busy()) keep_within_budget();
}

template <class T>
KernelCache<T>::~KernelCache() {
    slabs_.owner_is_destroyed();
}

template class Slabs<float>;
template class Slabs<double>;
template class KernelCache<float>;
template void KernelCache<float>::state(Save&);
template void KernelCache<float>::state(Load&);
template class KernelCache<double>;
template void KernelCache<double>::state(Save&);
template void KernelCache<double>::state(Load&);

}  // namespace onlinesvm
