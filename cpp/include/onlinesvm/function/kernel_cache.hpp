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

#include "onlinesvm/loops/threads.hpp"
#include "onlinesvm/memory/slabs.hpp"
#include "onlinesvm/memory/undo.hpp"
#include "onlinesvm/rows/store.hpp"

namespace onlinesvm {

// What keeps values per slot (function/slotted.hpp) and must follow where examples move.
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
    KernelCache(const Kernel& kernel, std::size_t cache_bytes);
    ~KernelCache();
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

    // k(x, x) is the same for all x
    bool uniform() const;

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
    void expect(std::span<const Row<T>> xs);
    // The next to be learned is the i-th of those expected. Each is the next one once.
    void turn(std::size_t i) { turn_ = i; }
    void use_threads(std::size_t n) { crew_.resize(n); }
    Crew& crew() { return crew_; }  // alive until the change at hand is over
    void forget_expected();
    // A row that is not needed: its memory serves the next one.
    void recycle(KernelRow<T> row);

    // The kernel row of an example about to be learned, valid over the active slots.
    KernelRow<T> arriving(Row<T> x);
    // The kernel row of any example, valid over the active slots.
    KernelRow<T> row_of(Row<T> x);

    Slot push(Row<T> x, Id id);

    void remove(Slot j);

    // ---- moving between the three runs; each returns the slot the example has afterwards ----

    // to hot
    Slot promote(Slot j);
    // to hot, of someone whose values are exact already: no row is needed yet
    Slot admit(Slot j);
    // a hot support vector settles at its bound
    Slot rest(Slot j);
    void rest_all() { resting_ = active_; }
    // out of f
    Slot demote(Slot j);

    // ---- taking back: the examples with their order, and no kernel row that was in the making ----

    void mark() noexcept;
    void commit() noexcept;
    void revert() noexcept;

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
    void rows(std::span<const Slot> slots, std::size_t upto, const T** out);
    // Makes the rows of these slots, all different, valid below `upto`, for shares to read. False if
    // there is no room for all of them at once. Those that lack much are divided one by one, the
    // others among themselves.
    bool make_ready(std::span<const Slot> slots, std::size_t upto);
    // h -= sum by_i K_i over the slots [first, last), eight kernel rows at a time: by threads, once all
    // rows are there, each with some of the slots.
    void subtract(double* h, std::span<const Move> moves, std::size_t first, std::size_t last);
    // Gives a slot the row that was computed when it arrived. It is to be hot next: swaps do not visit
    // the rows of slots beyond `active`.
    void keep(Slot j, KernelRow<T> row);
    // The newest example's row says what the rows of the hot ones lack of it: k(i, j) = k(j, i). One
    // value each is cheap here, and dear to compute when it is missed.
    void tell_hot(const KernelRow<T>& newest);
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
    Aligned<T> values_of(Slot j) const;

    // Whether all rows that count are soon computed, and fit into little memory.
    bool are_few() const { return double(size()) * double(active_) <= 4e6; }

    // How many rows of full length the cache can hold.
    std::size_t room() const;

    // Evicts the least recently used, an eighth at a time, and pours what is left together. Rows in
    // use stay where they are.
    void keep_within_budget();

    std::size_t cache_bytes() const { return budget_; }
    std::size_t nbytes() const;

    template <class A>
    void state(A& a);

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

    void forget_id(Id id);

    // Rows grow with the store: room for the whole of it saves most of the moves.
    void reserve(KernelRow<T>& r, std::size_t upto);
    void complete(KernelRow<T>& r, Row<T> x, std::size_t upto);
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
                         std::size_t last, std::size_t upto);

    // What the rows of later slots know of this one need not be computed again: k(i, j) = k(j, i).
    void borrow(Slot j, std::size_t upto);

    // A row that lacks values and, where it has no room for them, its next place.
    struct Late {
        Slot slot;
        KernelRow<T> grown;
    };
    // While others do the same: of their rows it reads what lies before the block that they complete.
    void catch_up(Late& late, std::size_t upto);

    void swap(Slot a, Slot b);
    void exchange_values(Slot a, Slot b);

    // The rows of examples yet to come follow too; what they do not know of b is one short row
    // away.
    void exchange_expected(Slot a, Slot b);

    KernelRow<T> blank();

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
