// The examples in slot order with their kernel rows: computed when touched, kept in a cache bounded
// in bytes, extended as examples arrive, permuted as they move.
//
// Slots are kept in three runs, so that every loop over "those that matter" is contiguous:
//     [0, resting)       support vectors firmly at a bound: they count in f, but do not move
//     [resting, active)  hot: may move in the next step
//     [active, size)     no support vectors: they do not count in f
// Any change of run is one swap of slots.
// Cached values never change results: a value recomputed has the same bits.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "onlinesvm/base/slabs.hpp"
#include "onlinesvm/base/store.hpp"
#include "onlinesvm/base/threads.hpp"
#include "onlinesvm/base/undo.hpp"

namespace onlinesvm {

// What keeps values per slot (base/slotted.hpp) and must follow where examples move.
struct Follower {
    virtual ~Follower() = default;
    virtual void slot_pushed() = 0;
    virtual void slots_swapped(Slot a, Slot b) = 0;
    virtual void slot_promoted(Slot) {}  // now hot: its values must be exact from here on
    virtual void slot_popped() = 0;
};

// A change of one coefficient.
struct Move {
    Slot slot;
    double by;
};

// A kernel row: values[j] = k(x, slot j), valid for slots below `known`.
template <class T>
class KernelRow {
  public:
    bool empty() const { return block_.empty(); }
    T* data() { return block_.data(); }
    const T* data() const { return block_.data(); }

    // Room for `slots` in a block of `slabs`; what is known comes along.
    void reserve(Slabs<T>& slabs, std::size_t slots) {
        if (slots <= block_.size()) return;
        auto grown = slabs.take(slots);
        std::copy_n(block_.data(), block_.empty() ? 0 : known, grown.data());
        block_ = std::move(grown);
    }
    std::size_t room() const { return block_.size(); }
    void move_to(KernelRow&& grown) { block_ = std::move(grown.block_); }
    // Whether there is room for one value more, which is then known.
    bool learns_another() {
        if (known == room()) return false;
        ++known;
        return true;
    }
    bool pour(Slabs<T>& slabs) { return slabs.pour(block_, known); }

    std::size_t known = 0;
    std::uint64_t used = 0;  // when last touched

  private:
    typename Slabs<T>::Block block_;
};

template <class T>
class KernelCache {
  public:
    KernelCache(const Kernel& kernel, std::size_t cache_bytes)
        : store_(kernel), coming_(kernel), budget_(cache_bytes) {
        spare_.reserve(kSpare);  // giving a row back must not need memory
    }
    ~KernelCache() { slabs_.owner_is_destroyed(); }
    KernelCache(const KernelCache&) = delete;
    KernelCache& operator=(const KernelCache&) = delete;

    // While it is empty: its examples are to lie among these, which outlive it.
    void share(SharedRows<T>& all) { store_.share(all); }
    // From here on kernel rows may take so many bytes; those at hand go when the next one comes.
    void limit(std::size_t cache_bytes) noexcept { budget_ = cache_bytes; }

    std::size_t size() const { return ids_.size(); }
    std::size_t resting() const { return resting_; }
    std::size_t active() const { return active_; }
    std::size_t hot() const { return active_ - resting_; }
    bool is_hot(Slot j) const { return resting_ <= j && j < active_; }
    const Store<T>& store() const { return store_; }
    Id id(Slot j) const { return ids_[j]; }
    const double* diagonal() const { return k_.data(); }
    const double* diagonal_inverse() const { return k_inv_.data(); }

    bool uniform() const {  // k(x, x) is the same for all x
        const Shape shape = store_.kernel().shape;
        return shape == Shape::rbf || shape == Shape::laplacian || shape == Shape::chi2;
    }

    bool holds(Id id) const { return slot_of_.contains(id); }
    std::optional<Slot> find(Id id) const {
        const auto it = slot_of_.find(id);
        return it == slot_of_.end() ? std::nullopt : std::optional(it->second.slot);
    }
    Slot slot(Id id) const {
        const auto it = slot_of_.find(id);
        if (it == slot_of_.end())
            throw std::invalid_argument("ids: no example with id " +
                                        std::to_string(std::int64_t(id)) + " is held");
        return it->second.slot;
    }

    void follow(Follower* f) { followers_.push_back(f); }
    void unfollow(Follower* f) { std::erase(followers_, f); }

    // ---- examples come and go ----

    // Kernel rows of the next examples, all at once: one trip through the store instead of one
    // each.
    // Where most of them will move, their rows over the whole store are cheapest now, too.
    void expect(std::span<const Row<T>> xs) {
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
    // The next to be learned is the i-th of those expected. Each is the next one once.
    void turn(std::size_t i) { turn_ = i; }
    void use_threads(std::size_t n) { crew_.resize(n); }
    Crew& crew() { return crew_; }  // alive until the change at hand is over
    void forget_expected() {
        while (coming_.size() > 0) coming_.pop();
        for (KernelRow<T>& row : expected_)
            if (!row.empty()) recycle(std::move(row));
        expected_.clear();
        turn_ = kNone;
    }
    // A row that is not needed: its memory serves the next one.
    void recycle(KernelRow<T> row) {
        movers_ *= kMemory;
        if (spare_.size() < kSpare) spare_.push_back(std::move(row));
    }

    // The kernel row of an example about to be learned, valid over the active slots.
    KernelRow<T> arriving(Row<T> x) {
        store_.demand_own_value(x);
        const std::size_t i = std::exchange(turn_, kNone);
        if (i >= expected_.size()) return row_of(x);
        KernelRow<T> row = std::exchange(expected_[i], {});
        complete(row, x, active_);
        return row;
    }
    // The kernel row of any example, valid over the active slots.
    KernelRow<T> row_of(Row<T> x) {
        KernelRow<T> row = blank();
        row.reserve(slabs_, active_ + 1);
        complete(row, x, active_);
        return row;
    }

    Slot push(Row<T> x, Id id) {
        if (slot_of_.contains(id))
            throw std::invalid_argument("ids: " + std::to_string(std::int64_t(id)) +
                                        " is held already; ids must be new");
        store_.demand_own_value(x);
        const double k = store_.self(x);
        const Slot j(size());
        store_.push(x);
        k_.push_back(k);
        k_inv_.push_back(k > 0 ? 1 / k
                               : 1e300);  // k = 0: nothing curves, so a step goes to its bound
        ids_.push_back(id);
        slot_of_[id] = {j, age_};
        cache_.emplace_back();
        for (Follower* f : followers_) f->slot_pushed();
        return j;
    }

    void remove(Slot j) {
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

    // ---- moving between the three runs; each returns the slot the example has afterwards ----

    Slot promote(Slot j) {  // to hot
        if (is_hot(j)) return j;
        row(j, active_);  // also what other rows lack of it can be read there
        j = admit(j);
        for (Follower* f : followers_) f->slot_promoted(j);
        return j;
    }
    Slot admit(Slot j) {  // to hot, of someone whose values are exact already: no row is needed yet
        if (is_hot(j)) return j;
        if (j < resting_) {
            swap(j, Slot(--resting_));
            return Slot(resting_);
        }
        swap(j, Slot(active_));
        return Slot(active_++);
    }
    Slot rest(Slot j) {  // a hot support vector settles at its bound
        swap(j, Slot(resting_));
        return Slot(resting_++);
    }
    void rest_all() { resting_ = active_; }
    Slot demote(Slot j) {  // out of f
        if (j < resting_) {
            swap(j, Slot(--resting_));
            j = Slot(resting_);
        }
        swap(j, Slot(--active_));
        drop_row(Slot(active_));
        return Slot(active_);
    }

    // ---- taking back: the examples with their order, and no kernel row that was in the making ----

    void mark() noexcept {
        commit();
        was_ = {resting_, active_};
        ++age_;
        for (auto* v : {&k_, &k_inv_}) v->mark();
        ids_.mark();
        store_.mark();
    }
    void commit() noexcept {
        for (auto* v : {&k_, &k_inv_}) v->commit();
        ids_.commit();
        store_.commit();
        gone_.clear();
        crew_.dismiss();
    }
    void revert() noexcept {
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

    // Many moves between runs at once: the rows follow when all are made, each visited once.
    template <class Moves>
    void together(Moves&& moves) {
        deferring_ = true;
        moves();
        deferring_ = false;
        for (auto* rows : {&cache_, &expected_})
            for (KernelRow<T>& r : *rows)
                for (const auto& [a, b] : deferred_) {
                    if (b < r.known)
                        std::swap(r.data()[a], r.data()[b]);
                    else
                        r.known = std::min<std::size_t>(r.known, a);
                }
        deferred_.clear();
    }

    // ---- kernel rows ----

    // The cached row of a slot, valid below `upto`. Shares of a job read what is ready, and change
    // nothing.
    const T* row(Slot j, std::size_t upto) {
        KernelRow<T>& r = cache_[j];
        if (crew_.busy()) return r.data();
        r.used = ++clock_;
        if (r.known < upto || r.empty()) {
            reserve(r, upto);
            borrow(j, upto);
            if (r.known < upto) complete(r, store_.get(j, scratch_), upto);
            keep_within_budget();
        }
        return r.data();
    }
    // The same for at most eight slots: those that must catch up do it together where they can.
    void rows(std::span<const Slot> slots, std::size_t upto, const T** out) {
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
    // Makes the rows of these slots, all different, valid below `upto`, for shares to read. False if
    // there is no room for all of them at once. Those that lack much are divided one by one, the
    // others among themselves.
    bool make_ready(std::span<const Slot> slots, std::size_t upto) {
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
    // h -= sum by_i K_i over the slots [first, last), eight kernel rows at a time: by threads, once all
    // rows are there, each with some of the slots.
    void subtract(double* h, std::span<const Move> moves, std::size_t first, std::size_t last) {
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
    // Gives a slot the row that was computed when it arrived. It is to be hot next: swaps do not visit
    // the rows of slots beyond `active`.
    void keep(Slot j, KernelRow<T> row) {
        movers_ = movers_ * kMemory + (1 - kMemory);
        drop_row(j);
        row.used = ++clock_;
        cache_[j] = std::move(row);
        keep_within_budget();
    }
    // The newest example's row says what the rows of the hot ones lack of it: k(i, j) = k(j, i). One
    // value each is cheap here, and dear to compute when it is missed.
    void tell_hot(const KernelRow<T>& newest) {
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
    // The kernel values of some examples among each other, row by row: use(i, row). They come from
    // a store of their own, so that nothing is cached.
    template <class Use>
    void among(std::span<const Slot> members, Use&& use) const {
        Store<T> few(store_.kernel());
        typename Store<T>::Scratch scratch;
        for (Slot j : members) few.push(store_.get(j, scratch));
        Aligned<T> row(few.padded_size());
        for (std::size_t i = 0; i < members.size(); ++i) {
            few.row(few.get(Slot(i), scratch), 0, few.size(), row.data());
            use(i, std::as_const(row).data());
        }
    }

    // The kernel row of a slot over the active ones, with nothing cached.
    Aligned<T> values_of(Slot j) const {
        typename Store<T>::Scratch scratch;
        Aligned<T> row(store_.padded_size());
        if (active_ > 0) store_.row(store_.get(j, scratch), 0, active_, row.data());
        return row;
    }

    // Whether all rows that count are soon computed, and fit into little memory.
    bool are_few() const { return double(size()) * double(active_) <= 4e6; }

    // How many rows of full length the cache can hold.
    std::size_t room() const {
        return budget_ / (sizeof(T) * std::max<std::size_t>(size() + size() / 4, 64)) + kPinned;
    }

    // Evicts the least recently used, an eighth at a time, and pours what is left together. Rows in
    // use stay where they are.
    void keep_within_budget() {
        if (slabs_.nbytes() <= budget_) return;
        std::vector<std::pair<std::uint64_t, Slot>> held;
        for (Slot j{}; j < size(); ++j)
            if (!cache_[j].empty() && cache_[j].used + kPinned <= clock_)
                held.push_back({cache_[j].used, j});
        std::sort(held.begin(), held.end());
        spare_.clear();
        std::size_t target = budget_ - budget_ / 8, next = 0;
        do {
            for (; next < held.size() && slabs_.taken() > target; ++next)
                drop_row(held[next].second);
            for (std::size_t i = next; i < held.size(); ++i) cache_[held[i].second].pour(slabs_);
            target -= target / 8;
        } while (slabs_.nbytes() > budget_ && next < held.size());
    }

    std::size_t cache_bytes() const { return budget_; }
    std::size_t nbytes() const {
        return store_.nbytes() + slabs_.nbytes() +
               size() * (2 * sizeof(double) + sizeof(KernelRow<T>) + 4 * sizeof(void*));
    }

    template <class A>
    void state(A& a) {
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

  private:
    static constexpr double kMemory = 0.99;      // of the share of examples that moved something
    static constexpr std::size_t kWide = 32;     // features that cost more than a look elsewhere
    static constexpr double kShared = 4e5;       // products that pay for telling other threads
    static constexpr std::size_t kPerValue = 8;  // products for the price of a value at hand
    static constexpr std::size_t kRows = 512;    // to be visited that pay for it
    static constexpr std::size_t kTile =
        isa::lanes<T> * 4;                      // slots that one of them takes at least
    static constexpr std::size_t kPinned = 16;  // rows in use at one time are never evicted
    static constexpr std::size_t kSpare = 32;   // rows kept for the next ones
    static constexpr std::size_t kNone = std::size_t(-1);
    struct Place {
        Slot slot;
        std::uint64_t born;  // between which marks
    };

    void forget_id(Id id) {
        if (slot_of_.find(id)->second.born != age_) {
            gone_.emplace_back();  // first: it needs memory
            gone_.back() = slot_of_.extract(id);
        }
        slot_of_.erase(id);
    }

    // Rows grow with the store: room for the whole of it saves most of the moves.
    void reserve(KernelRow<T>& r, std::size_t upto) {
        r.reserve(slabs_, upto > active_ ? size() : upto);
    }
    void complete(KernelRow<T>& r, Row<T> x, std::size_t upto) {
        if (r.known >= upto) return;
        r.reserve(slabs_, upto);
        share_slots(r.known, upto, x.size,
                    [&](auto first, auto last) { store_.row(x, first, last, r.data()); });
        r.known = upto;
    }
    // Calls work(first, last) for parts of the slots [first, last), each with so many products: by
    // threads where that pays. What a user's own function computes may hang on how much it is asked for.
    template <class Work>
    void share_slots(std::size_t first, std::size_t last, std::size_t each, Work&& work) {
        if (double(last - first) * double(each) < kShared ||
            store_.kernel().shape == Shape::function)
            return work(first, last);
        const std::size_t from = first / kTile * kTile;
        crew_.divide(last - from, kTile, [&](std::size_t begin, std::size_t end) {
            work(std::max(first, from + begin), from + end);
        });
    }

    // The rows are valid below `upto`. Where a few are missing to eight, zeros take their places: one
    // trip through h instead of several.
    void subtract_eights(double* h, std::span<const Move> moves, std::size_t first,
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

    // What the rows of later slots know of this one need not be computed again: k(i, j) = k(j, i).
    void borrow(Slot j, std::size_t upto) {
        if (store_.width() < kWide) return;
        KernelRow<T>& r = cache_[j];
        for (Slot i(r.known); i < upto && (i == j || cache_[i].known > j); ++i, ++r.known)
            r.data()[i] = i == j ? T(diagonal()[j]) : cache_[i].data()[j];
    }

    // A row that lacks values and, where it has no room for them, its next place.
    struct Late {
        Slot slot;
        KernelRow<T> grown;
    };
    // While others do the same: of their rows it reads what lies before the block that they complete.
    void catch_up(Late& late, std::size_t upto) {
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

    void swap(Slot a, Slot b) {
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
    void exchange_values(Slot a, Slot b) {
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

    // The rows of examples yet to come follow too; what they do not know of b is one short row
    // away.
    void exchange_expected(Slot a, Slot b) {
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

    KernelRow<T> blank() {
        if (spare_.empty()) return {};
        KernelRow<T> row = std::move(spare_.back());
        spare_.pop_back();
        row.known = 0;
        return row;
    }

    void drop_row(Slot j) { cache_[j] = KernelRow<T>(); }

    Slabs<T> slabs_;  // of all kernel rows below
    Store<T> store_;
    Store<T> coming_;  // examples announced by expect()
    std::vector<KernelRow<T>> expected_;
    std::size_t turn_ = kNone;
    std::vector<KernelRow<T>> spare_;
    double movers_ = 0;  // recent share of examples that moved something
    PlainLedger<double> k_, k_inv_;
    PlainLedger<Id> ids_;
    std::unordered_map<Id, Place> slot_of_;
    std::uint64_t age_ = 0;  // marks so far
    std::vector<typename decltype(slot_of_)::node_type> gone_;
    std::pair<std::size_t, std::size_t> was_;  // resting, active
    std::vector<KernelRow<T>> cache_;
    std::vector<Follower*> followers_;
    std::size_t resting_ = 0, active_ = 0, budget_;
    std::uint64_t clock_ = 0;
    Crew crew_;
    bool deferring_ = false;
    std::vector<std::pair<Slot, Slot>> deferred_;  // swaps that the cached rows have yet to follow
    typename Store<T>::Scratch scratch_;
    std::array<typename Store<T>::Scratch, 8> several_;
    std::vector<T> short_;
    std::vector<Slot> wanted_;
    std::vector<Late> late_;
};

}  // namespace onlinesvm
