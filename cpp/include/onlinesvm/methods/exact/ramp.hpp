// OnlineSVM-R: the ramp-loss SVM kept stationary after every example, with its removal step and its
// label queries. Wang & Vucetic, "Fast Online Training of Ramp Loss Support Vector Machines".
//
// V and the outer loop (CCCP) are in ramp_model.hpp, the convex problem on V in solver/box.hpp.
#pragma once

#include <algorithm>
#include <utility>

#include "onlinesvm/machine/forget.hpp"
#include "onlinesvm/machine/one_vs_one.hpp"
#include "onlinesvm/machine/query.hpp"
#include "onlinesvm/machine/room.hpp"
#include "onlinesvm/methods/exact/ramp_model.hpp"

namespace onlinesvm {

template <class T>
class Ramp : public RampModel<T> {
  public:
    using Verbs =
        Offers<SolvedVerbs, verb::evidence, verb::labels_used, verb::evicted, verb::solve>;

    struct Params : RampParams, ForgetParams {
        std::int64_t keep_non_support = -1;  // m of Algorithm 2; negative: keep all
        std::int64_t max_support = -1;       // negative: as many as there are
        Room budget;                         // of both
        std::string settle = "example";      // when: after each, or once for a "call"
        bool reexamine = true;               // what was put aside, when that has doubled
        std::string query = "all";
        std::int64_t h = 5;  // examples that the greedy query looks at
        double width = 1.0;  // of the margin's query

        Params() { forget = "outlier_first"; }  // most likely noise

        template <class F>
        void fields(F&& field) {
            RampParams::fields(field);
            ForgetParams::fields(field);
            field("keep_non_support", keep_non_support);
            field("max_support", max_support);
            budget.fields(field);
            field("settle", settle);
            field("reexamine", reexamine);
            field("query", query);
            field("h", h);
            field("width", width);
        }
    };

    explicit Ramp(const Params& p)
        : RampModel<T>(p),
          keep_non_support_(p.keep_non_support),
          max_support_(p.max_support),
          budget_(p.budget),
          by_call_(p.settle == "call"),
          reexamines_(p.reexamine && std::isfinite(p.s)),
          forget_(p),
          query_(p.query, p.h, p.width) {
        require(by_call_ || p.settle == "example", "settle: must be 'example' or 'call'");
    }

    // Algorithm 1, with the label asked for as in Algorithm 3.
    void learn(Row<T> x, double y, double weight, Id id) {
        KernelRow<T> row = rows_->arriving(x);
        if (weight <= 0) return;
        decide(row);
        if (!asks(x, y, weight, id)) return;
        if (auto chosen = query_.chosen()) {  // greedy: the best may be an earlier example
            row = rows_->row_of(chosen->x.row());
            decide(row);
            return add(chosen->x.row(), std::move(row), chosen->y, chosen->weight, chosen->id);
        }
        add(x, std::move(row), y, weight, id);
    }

    void expect(std::span<const Row<T>> coming) {
        rows_->expect(coming);
        announce(coming.size());
    }
    // So many rows come together: one alone is learned by itself.
    void announce(std::size_t n) { together_ = n > 1; }

    // What a call has brought becomes stationary.
    void solve() {
        if (unsettled_ == 0) return;
        if (reexamines_ && (open_ || brought_much() || put_aside_ >= quota_))
            examine_all();
        else
            for (auto& box : machines_) settle(*box);
        relax();
        make_room();
        unsettled_ = 0;
    }

    bool holds(Id id) const { return RampModel<T>::holds(id) || query_.keeps(id); }

    void unlearn(std::span<const Id> ids) {
        for (Id id : ids)
            if (query_.keeps(id)) query_.forget(id);
        RampModel<T>::unlearn(ids);
        make_room();
    }

    void grow(std::size_t classes) {
        RampModel<T>::grow(classes);
        make_room();
    }

    std::size_t labels_used() const { return std::size_t(labels_used_); }
    std::size_t evicted() const { return std::size_t(evicted_); }

    auto undoable() {
        return std::tuple_cat(
            RampModel<T>::undoable(),
            std::tie(forget_, query_, labels_used_, evicted_, unsettled_, open_, quota_));
    }

    template <class A>
    void state(A& a) {
        RampModel<T>::state(a);
        a("query", query_);
        a("labels_used", labels_used_);
        if (by_call_) a("unsettled", unsettled_), a("open", open_);
        a("quota", quota_);
        if (is_bounded()) a("evicted", evicted_), a("forget", forget_);
        if constexpr (A::loading)
            query_.demand_fits(std::max<std::size_t>(2, machines_.size()), rows_->store());
    }

  private:
    using RampModel<T>::machines_, RampModel<T>::rows_, RampModel<T>::notes_;
    using RampModel<T>::ramp_, RampModel<T>::f_, RampModel<T>::put_aside_;
    using RampModel<T>::examine, RampModel<T>::solve_hinge, RampModel<T>::outside;
    using RampModel<T>::settle, RampModel<T>::relax, RampModel<T>::in_ramp;
    using RampModel<T>::supports, RampModel<T>::take_away, RampModel<T>::decide;

    bool asks(Row<T> x, double y, double weight, Id id) {
        if (!query_.looks_back()) return query_.asks(closest(), x, y, weight, id);
        return query_.asks_latest(closest(), {OwnedRow<T>(x), y, weight, id}, [&](Row<T> earlier) {
            KernelRow<T> row = rows_->row_of(earlier);
            decide(row);
            rows_->recycle(std::move(row));
            return closest();
        });
    }
    double closest() const {  // to a decision boundary
        double least = std::numeric_limits<double>::infinity();
        for (double f : f_) least = std::min(least, std::abs(f));
        return least;
    }

    void add(Row<T> x, KernelRow<T> row, double y, double weight, Id id) {
        const Slot t = this->hold(x, y, ramp_.C * weight, id);
        ++labels_used_;
        bool moves = false;
        for (std::size_t c = 0; c < machines_.size(); ++c) {
            const double sign_c = this->sign(c, y), g = 1 - sign_c * f_[c];
            const bool inside = open_ || in_ramp(g);
            machines_[c]->learn(t, sign_c, inside ? this->cost(t) : 0, f_[c]);
            moves |= machines_[c]->violates(t);
            put_aside_ += !inside;
        }
        if (by_call_ && (together_ || unsettled_ > 0)) {
            this->await_end(t, std::move(row), moves);
            return gather();
        }
        this->keep_or_recycle(t, std::move(row), moves);
        if (moves) {
            rows_->promote(t);
            for (auto& box : machines_)
                if (box->violates(rows_->slot(id))) settle(*box);
            relax();
        }
        if (reexamines_ && put_aside_ >= quota_) {
            examine_all();
            relax();
        }
        make_room();
    }
    // One more waits for the end of the call. In between, where it has brought much, the hinge loss is
    // solved roughly, so that few of those to come seem to violate their conditions; without
    // re-examining, as often as the examples double, the whole problem. There may be no room, too.
    void gather() {
        ++unsettled_;
        if (is_full()) return solve();
        if (unsettled_ < kFirst || !brought_much()) return;
        if (!reexamines_) return solve();
        std::size_t mark = kFirst;
        while (mark < rows_->size()) mark += mark / 2;
        if (open_ && mark != rows_->size()) return;
        open_ = true;
        for (auto& box : machines_) solve_hinge(*box);
        relax();
    }
    bool brought_much() const { return 2 * unsettled_ >= rows_->size(); }
    void examine_all() {
        open_ = false;
        put_aside_ = quota_ = 0;
        for (auto& box : machines_) examine(*box);
        for (auto& box : machines_) quota_ += std::int64_t(outside(*box));
        put_aside_ = 0;
        quota_ = std::max({quota_, kAside, std::int64_t(rows_->size() / kShare)});
    }

    // The most examples there is room for: their inverses grow with the square.
    std::int64_t most() const {
        return std::int64_t(budget_.most([&](std::size_t n) {
            return this->footprint(n) + double(machines_.size() * Inverse::footprint(n));
        }));
    }
    bool is_full() const { return budget_.is_bounded() && std::int64_t(rows_->size()) > most(); }
    bool is_bounded() const { return max_support_ >= 0 || budget_.is_bounded(); }

    // Rows differ in size, so what goes changes how many of the others there is room for.
    void make_room() {
        do {
            shed();
            trim();
        } while (budget_.is_bounded() && std::int64_t(this->n_support()) > most());
    }
    // No more than max_support support vectors: one too many goes for good, by the policy, and the
    // rest settle.
    void shed() {
        if (!is_bounded()) return;
        const auto is_over = [&](std::int64_t n) {
            return n > most() || (max_support_ >= 0 && n > max_support_);
        };
        while (is_over(std::int64_t(this->n_support()))) {
            take_away(dispensable());
            ++evicted_;
            for (auto& box : machines_) settle(*box);
            relax();
        }
    }
    Id dispensable() {
        Forget::Turn first{std::numeric_limits<double>::infinity(), 0, {}};
        for (Slot j{}; j < rows_->active(); ++j) {
            if (!supports(j)) continue;
            Candidate c{rows_->id(j), notes_->age[j]};
            for (const auto& box : machines_) c.add(box->coefficient(j), box->gradient(j));
            first = std::min(first, forget_.turn(c));
        }
        return first.id;
    }

    // Algorithm 2: of the examples that support nothing, keep the m nearest to the boundary.
    void trim() {
        if (keep_non_support_ < 0 && !budget_.is_bounded()) return;
        for (;;) {
            poll(4 * rows_->size());
            const std::int64_t room = most() - std::int64_t(this->n_support());
            const std::int64_t m = keep_non_support_ < 0 ? room : std::min(keep_non_support_, room);
            std::int64_t idle = 0;
            Slot farthest{};
            double distance = -1;
            for (Slot j{}; j < rows_->size(); ++j) {
                double nearest = std::numeric_limits<double>::infinity();
                for (const auto& box : machines_) {
                    if (box->coefficient(j) != 0) nearest = -1;
                    nearest = std::min(nearest, std::abs(1 - box->gradient(j)));
                }
                if (nearest < 0) continue;
                ++idle;
                if (nearest > distance ||
                    (nearest == distance && rows_->id(j) < rows_->id(farthest)))
                    farthest = j, distance = nearest;
            }
            if (idle == 0 || idle <= m) return;
            if (rows_->is_hot(farthest))
                for (auto& box : machines_) box->sync(Moves::all);
            rows_->remove(farthest);
        }
    }

    static constexpr std::size_t kFirst = 512;
    static constexpr std::int64_t kAside = 16;  // examples outside the ramp that are worth a look
    static constexpr std::size_t kShare = 64;   // or so many times fewer than there are

    std::int64_t keep_non_support_, max_support_;
    Room budget_;
    bool by_call_, reexamines_;
    bool together_ = false;        // the next rows come in one call
    std::size_t unsettled_ = 0;    // examples that came since it was stationary
    bool open_ = false;            // until the call ends everybody is inside the ramp
    std::int64_t quota_ = kAside;  // examples to be put aside before they are examined
    std::int64_t labels_used_ = 0, evicted_ = 0;
    Forget forget_;
    Query<T> query_;
};

template <class T>
using RampPairs =
    OneVsOne<T, Ramp<T>,
             Offers<SolvedVerbs, verb::evidence, verb::labels_used, verb::evicted, verb::solve>>;

}  // namespace onlinesvm
