// LASVM: the SVM with a free bias, approached by pair steps while examples pass.
// Bordes, Ertekin, Weston & Bottou, "Fast Kernel Classifiers with Online and Active Learning",
// JMLR 6, 2005.
//
// The steps are in solver/pair.hpp; here is which examples enter and leave.
#pragma once

#include "onlinesvm/machine/one_vs_one.hpp"
#include "onlinesvm/machine/query.hpp"
#include "onlinesvm/methods/dual/pair_model.hpp"

namespace onlinesvm {

template <class T>
class Lasvm : public PairModel<T> {
  public:
    using Verbs = Offers<SolvedVerbs, verb::evidence, verb::finish, verb::bias, verb::labels_used,
                         verb::suffered, verb::violation>;

    struct Params : KernelParams {
        double tol = 1e-3;                // tau
        std::int64_t reprocess = 1;       // steps after each example; negative: as needed
        std::int64_t seed_per_class = 5;  // examples kept while the other class is missing
        std::string query = "all";
        std::int64_t pool = 50;  // examples to choose from: "greedy", "autoactive", "gradient"

        template <class F>
        void fields(F&& field) {
            KernelParams::fields(field);
            field("tol", tol);
            field("reprocess", reprocess);
            field("seed_per_class", seed_per_class);
            field("query", query);
            field("pool", pool);
        }
    };

    explicit Lasvm(const Params& p)
        : PairModel<T>(p, {.tau = p.tol}),
          params_(p),
          query_(p.query == "gradient" ? "greedy"
                 : p.query == "margin" ? "all"
                                       : p.query,
                 p.pool) {}

    // One example passes: PROCESS it if it is selected and new, then REPROCESS.
    void learn(Row<T> x, double y, double weight, Id id) {
        KernelRow<T> row = rows_->arriving(x);
        if (weight <= 0) return;
        decide(row);
        bool entered = false;
        if (rows_->holds(id)) {  // a later epoch
            rows_->recycle(std::move(row));
        } else if (!selects(x, y, weight, id)) {
            return rows_->recycle(std::move(row));
        } else if (const auto* chosen = query_.chosen()) {
            row = rows_->row_of(chosen->x.row());
            decide(row);
            entered =
                process(chosen->x.row(), std::move(row), chosen->y, chosen->weight, chosen->id);
        } else {
            entered = process(x, std::move(row), y, weight, id);
        }
        entered_ += entered;
        if (reprocess() || entered) prune();
    }

    void expect(std::span<const Row<T>> coming) { rows_->expect(coming); }

    // FINISH: no pair is left among the examples stored that violates by more than tol.
    void finish(double tol) {
        for (int round = 0; round < kRounds; ++round) {
            bool moved = false;
            for (auto& m : machines_) moved |= m->settle(tol);
            if (!prune() && !moved) return;
            for (auto& m : machines_) m->refresh();
            if (this->capped()) return;
        }
    }

    bool holds(Id id) const { return rows_->holds(id) || query_.keeps(id); }

    // Takes examples away and finishes the rest; an id not stored has no influence left.
    void unlearn(std::span<const Id> ids) {
        for (Id id : ids) {
            if (query_.keeps(id)) query_.forget(id);
            if (rows_->holds(id)) this->remove(id);
        }
        finish(params_.tol);
    }

    // By how much the worst pair violates now; finish brings it down to tol.
    double violation() const {
        double worst = 0;
        for (const auto& m : machines_) worst = std::max(worst, m->delta());
        return worst;
    }
    // Examples that came, violated, and were let in.
    double suffered() const { return double(entered_); }
    std::size_t labels_used() const { return std::size_t(labels_used_); }

    auto undoable() { return std::tie(query_, labels_used_, idlers_); }

    template <class A>
    void state(A& a) {
        Base::state(a);
        a("query", query_);
        a("labels_used", labels_used_);
        if constexpr (A::loading) {
            demand(rows_->active() == rows_->size(), "an example is not among the active");
            query_.demand_fits(std::max<std::size_t>(2, machines_.size()), rows_->store());
            idlers_.clear();
            for (Slot j{}; j < rows_->size(); ++j)
                if (!this->supports(j)) idlers_.push_back(rows_->id(j));
        }
    }

  private:
    using Base = PairModel<T>;
    using Base::machines_, Base::rows_, Base::sign, Base::f_, Base::decide;
    static constexpr int kRounds = 50;
    static constexpr std::int64_t kMost = 100;  // steps after one example
    static constexpr std::size_t kLooks = 32;   // at examples, by one thread

    // PROCESS: the example enters if some machine wants it, and steps. While a class is
    // missing there is no partner to step with, and a few examples wait for it.
    bool process(Row<T> x, KernelRow<T> row, double y, double weight, Id id) {
        ++labels_used_;
        bool enters = false;
        for (std::size_t c = 0; c < machines_.size(); ++c) {
            const Pair<T>& m = *machines_[c];
            const double y_c = sign(c, y);
            enters |= m.has_partner(y_c) ? m.wants(y_c, f_[c]) : room_for_seeds(rows_->size());
        }
        if (!enters) {
            rows_->recycle(std::move(row));
            return false;
        }
        Slot k = this->hold(x, y, params_.C * weight, id);
        rows_->keep(k, std::move(row));
        k = rows_->promote(k);
        pairs_.clear();
        for (std::size_t c = 0; c < machines_.size(); ++c) {
            machines_[c]->learn(k, sign(c, y), this->cost(k), f_[c]);
            if (machines_[c]->complete()) pairs_.push_back({c, machines_[c]->pair_of(k)});
        }
        each_pair([&](std::size_t c) { machines_[c]->process(k); });
        idlers_.push_back(id);
        return true;
    }
    // REPROCESS, first half: the pairs that violate most step, one of each machine at a time.
    bool reprocess() {
        const bool adapts = params_.reprocess < 0;
        const std::int64_t least = adapts ? 1 : params_.reprocess, most = adapts ? kMost : least;
        bool moved = false;
        stuck_.assign(machines_.size(), 0);
        for (std::int64_t taken = 0;; ++taken) {
            pairs_.clear();
            for (std::size_t c = 0; c < machines_.size(); ++c)
                if (!stuck_[c] && machines_[c]->is_due(taken, {least, most}))
                    pairs_.push_back({c, machines_[c]->best_pair()});
            if (pairs_.empty()) return moved;
            each_pair([&](std::size_t c) { stuck_[c] = !machines_[c]->reprocess(); });
            for (const Stepping& s : pairs_) moved |= !stuck_[s.machine];
        }
    }
    // A pair of a machine that is about to step.
    struct Stepping {
        std::size_t machine;
        std::array<Slot, 2> pair;
    };
    // step(c) for the machines of pairs_. While they step they do not know of each other: each may
    // have a thread of its own, once the kernel rows are there.
    template <class Step>
    void each_pair(Step&& step) {
        const auto one = [&](std::size_t i) { step(pairs_[i].machine); };
        if (rows_->crew().hands() > 1 && this->has_many()) {
            slots_.clear();
            for (const Stepping& s : pairs_)
                slots_.insert(slots_.end(), s.pair.begin(), s.pair.end());
            keep_last_first(slots_);
            if (rows_->make_ready(slots_, rows_->active()))
                return rows_->crew().work(pairs_.size(), one);
        }
        for (std::size_t i = 0; i < pairs_.size(); ++i) one(i);
    }
    static void keep_last_first(std::vector<Slot>& slots) {
        std::sort(slots.rbegin(), slots.rend());
        slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
    }

    // REPROCESS, second half: examples that can help no pair leave.
    bool prune() {
        for (auto& m : machines_)
            for (Id id : m->retired()) idlers_.push_back(id);
        slots_.clear();
        for (Id id : idlers_)
            if (const auto j = rows_->find(id)) slots_.push_back(*j);
        keep_last_first(slots_);  // a removal moves the last slot only
        standing_.resize(slots_.size());
        rows_->crew().divide(slots_.size(), kLooks, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) standing_[i] = standing(slots_[i]);
        });
        idlers_.clear();
        const std::size_t before = rows_->size();
        for (std::size_t i = 0; i < slots_.size(); ++i)
            if (standing_[i] == Standing::dispensable && nobody_waits_for_seeds())
                rows_->remove(slots_[i]);
            else if (standing_[i] != Standing::supports)
                idlers_.push_back(rows_->id(slots_[i]));
        if (rows_->size() == before) return false;
        this->each_machine([&](std::size_t c) { machines_[c]->look(); });
        return true;
    }
    enum class Standing : std::uint8_t { supports, may_help, dispensable };
    Standing standing(Slot j) const {
        if (this->supports(j)) return Standing::supports;
        const bool idle = std::all_of(machines_.begin(), machines_.end(),
                                      [&](const auto& m) { return !m->complete() || m->idle(j); });
        return idle ? Standing::dispensable : Standing::may_help;
    }
    // Another one may go: no machine that lacks a class needs it.
    bool nobody_waits_for_seeds() const {
        return !room_for_seeds(rows_->size() - 1) ||
               std::all_of(machines_.begin(), machines_.end(),
                           [](const auto& m) { return m->complete(); });
    }
    bool room_for_seeds(std::size_t held) const {
        return std::int64_t(held) < params_.seed_per_class;
    }

    // ---- which labels ----

    bool selects(Row<T> x, double y, double weight, Id id) {
        double least = std::numeric_limits<double>::infinity();
        bool doubtful = false;
        for (std::size_t c = 0; c < machines_.size(); ++c) {
            const Pair<T>& m = *machines_[c];
            const double f = f_[c] + m.bias();
            const double yf = sign(c, y) * f;
            least = std::min(least, params_.query == "gradient" ? yf : std::abs(f));
            // Beyond this an example on its right side cannot be half of a violating pair.
            doubtful |= !m.complete() || std::abs(f) < 1 + 0.5 * m.delta();
        }
        if (params_.query == "margin" && !doubtful) return false;
        return query_.asks(least, x, y, weight, id, doubtful);
    }

    Params params_;
    Query<T> query_;
    std::int64_t labels_used_ = 0;
    std::int64_t entered_ = 0;
    PlainLedger<Id> idlers_;  // held without supporting anything: candidates to leave

    // Of the example at hand:
    std::vector<Stepping> pairs_;
    std::vector<std::uint8_t> stuck_;  // per machine
    std::vector<Slot> slots_;
    std::vector<Standing> standing_;
};

template <class T>
using LasvmPairs = OneVsOne<T, Lasvm<T>,
                            Offers<SolvedVerbs, verb::finish, verb::bias, verb::labels_used,
                                   verb::suffered, verb::violation>>;

}  // namespace onlinesvm
