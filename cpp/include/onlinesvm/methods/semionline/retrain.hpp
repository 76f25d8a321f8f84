// The SVM trained again and again, on what it has kept and what has come since.
// Syed, Liu & Sung, "Incremental Learning with Support Vector Machines", 1999: every `chunk` examples.
// Domeniconi & Gunopulos, "Incremental Support Vector Machine Construction", 2001: every `chunk` of
// those that it gets wrong, or finds inside its margin.
//
// Who is kept and who waits is in methods/semionline/kept_model.hpp, who is forgotten in machine/forget.hpp.
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "onlinesvm/machine/forget.hpp"
#include "onlinesvm/machine/room.hpp"
#include "onlinesvm/methods/semionline/fold.hpp"
#include "onlinesvm/methods/semionline/kept_model.hpp"
#include "onlinesvm/methods/semionline/trial.hpp"

namespace onlinesvm {

template <class T>
class Retrain : public KeptModel<T> {
    using Base = KeptModel<T>;

  public:
    using Verbs = Offers<SolvedVerbs, verb::finish, verb::bias, verb::suffered, verb::evicted>;

    struct Params : KernelParams, ForgetParams {
        double tol = 1e-3;
        std::string rule = "all";  // who waits: "all", "margin" (y f <= 1) or "error" (y f <= 0)
        std::int64_t chunk = 100;  // so many wait, then all is trained again
        Room budget;               // what is kept

        template <class F>
        void fields(F&& field) {
            KernelParams::fields(field);
            ForgetParams::fields(field);
            field("tol", tol);
            field("rule", rule);
            field("chunk", chunk);
            budget.fields(field);
        }
    };

    explicit Retrain(const Params& p)
        : Base(p, p.tol, std::size_t(p.chunk)), params_(p), reach_(reach_of(p.rule)), forget_(p) {}

    // One example passes, or waits; when enough wait, all is trained again.
    void learn(Row<T> x, double y, double weight, Id id) {
        KernelRow<T> row = rows_->arriving(x);
        if (weight <= 0) return;
        decide(row);
        if (!rows_->holds(id) && waits(row, y)) {
            this->wait(x, y, params_.C * weight, id);
            budget();  // refuses rows of which too few would fit
        }
        rows_->recycle(std::move(row));
        if (this->is_due()) train(params_.tol);
    }
    void expect(std::span<const Row<T>> coming) { rows_->expect(coming); }

    // Those that still wait are trained on, too.
    void finish(double tol) {
        if (folded_.empty() || this->waiting() > 0) train(tol);
    }

    // Takes examples away and trains the rest; an id not held has no influence left.
    void unlearn(std::span<const Id> ids) {
        bool counted = !folded_.empty();  // whoever went may be part of it
        for (Id id : ids) counted |= this->take_away(id);
        if (counted) train(params_.tol);
    }

    void grow(std::size_t classes) {
        require(classes <= budget(), "budget: must be at least the number of classes");
        const std::size_t before = machines_.size();
        Base::grow(classes);
        if (machines_.size() > before) folded_.clear();  // it knows nothing of the new ones
    }

    // ---- f: of the examples kept, or folded onto fewer of them ----

    void score(Row<T> x, double* out) const { score_many(std::span(&x, 1), out); }
    void score_many(std::span<const Row<T>> xs, double* out) const {
        if (folded_.empty()) return Base::score_many(xs, out);
        onlinesvm::score<T>(rows_->store(), rows_->active(), folded_.coefficients(), xs, out);
        for (std::size_t i = 0; i < xs.size(); ++i)
            for (double b : folded_.bias()) *out++ += b;
    }
    Support<T> support() const {
        return folded_.empty() ? Base::support() : support_of(*rows_, folded_.coefficients());
    }
    std::size_t n_support() const {
        return folded_.empty() ? Base::n_support() : support().ids.size();
    }
    std::vector<double> bias() const { return folded_.empty() ? Base::bias() : folded_.bias(); }

    // Examples that came, violated, and had to wait.
    double suffered() const { return double(suffered_); }
    std::size_t evicted() const { return std::size_t(evicted_); }

    std::size_t nbytes() const { return Base::nbytes() + folded_.nbytes(); }
    auto undoable() {
        return std::tuple_cat(Base::undoable(), std::tie(forget_, folded_, suffered_, evicted_));
    }

    template <class A>
    void state(A& a) {
        Base::state(a);
        a("forget", forget_);
        a("folded", folded_);
        a("evicted", evicted_);
        if constexpr (A::loading) {
            demand(rows_->active() <= budget() && machines_.size() <= budget(),
                   "the budget allows fewer examples or classes");
            folded_.demand_fits(machines_.size(), rows_->active());
        }
    }

  private:
    using Base::machines_, Base::rows_, Base::notes_, Base::f_, Base::decide, Base::sign;

    static double reach_of(const std::string& rule) {
        if (rule == "all") return std::numeric_limits<double>::infinity();
        if (rule == "margin") return 1.0;
        require(rule == "error", "rule: must be 'all', 'margin' or 'error'");
        return 0.0;
    }
    std::size_t budget() const {
        const auto chunk = std::size_t(params_.chunk);
        return params_.budget.most([&](std::size_t n) { return this->footprint(n + chunk); });
    }

    // Before it was ever trained, everybody waits.
    bool waits(const KernelRow<T>& row, double y) {
        double z = std::numeric_limits<double>::infinity();
        for (std::size_t c = 0; c < machines_.size(); ++c) z = std::min(z, sign(c, y) * f(c, row));
        const bool waits = !this->trained() || z <= reach_;
        suffered_ += waits && z < 1 - params_.tol;
        return waits;
    }
    double f(std::size_t c, const KernelRow<T>& row) const {
        if (folded_.empty()) return f_[c] + machines_[c]->bias();
        const double* s = folded_.coefficients()[c];
        return isa::table<T>().dot(row.data(), s, rows_->active()) + folded_.bias()[c];
    }

    // The box: train, keep who supports; whom the budget has no place for is forgotten, and the rest
    // trained again.
    void train(double tol) {
        folded_.clear();
        if (this->lacks_a_class()) return this->wait_anew(budget());
        const std::vector<Id> newest = this->waiting_ids();
        this->solve(tol);
        const std::vector<Slot> kept = this->needed();
        if (kept.size() <= budget()) {
            this->drop_idle();
        } else if (forget_.folds()) {
            fold(kept, tol);
        } else {
            const std::vector<Id> gone = forgotten(kept, newest);
            this->drop_idle();
            forget(gone, tol);
            this->drop_idle();
        }
        this->keep_all();
    }
    void forget(std::span<const Id> gone, double tol) {
        for (Id id : gone) this->remove(id);
        evicted_ += std::int64_t(gone.size());
        this->solve(tol);
    }

    // By the policy, and never the last of a class.
    std::vector<Id> forgotten(std::span<const Slot> kept, std::span<const Id> newest) {
        std::optional<Trial<T>> trial;
        if (forget_.is_random()) trial.emplace(*rows_, this->judged(newest), params_.tries);
        std::vector<std::size_t> left(std::max<std::size_t>(2, machines_.size()));
        std::vector<Forget::Turn> queue;
        for (Slot j : kept) {
            ++left[std::size_t(notes_->label[j])];
            queue.push_back(forget_.turn(this->candidate(j)));
        }
        std::sort(queue.begin(), queue.end());
        std::vector<Id> gone;
        for (std::size_t at = 0; gone.size() + budget() < kept.size(); ++at) {
            poll(rows_->size());
            const auto [value, age, id] = queue[at];
            const Slot j = rows_->slot(id);
            std::size_t& peers = left[std::size_t(notes_->label[j])];
            if (peers == 1) continue;
            if (trial && !trial->takes_out(j, this->coefficients_of(j))) {
                queue.push_back({0, age, id});  // its turn comes again
                continue;
            }
            --peers;
            gone.push_back(id);
        }
        return gone;
    }

    // Training goes on from coefficients within their bounds; what predicts is the fold.
    void fold(std::span<const Slot> kept, double tol) {
        const auto fewer =
            Fold<T>::onto_fewer(rows_->store(), members(kept), params_.eta, budget());
        const std::vector<double> b = Base::bias();
        std::vector<Id> gone;
        for (Slot j : kept) {
            const Id id = rows_->id(j);
            if (std::none_of(fewer.begin(), fewer.end(), [&](const auto& m) { return m.id == id; }))
                gone.push_back(id);
        }
        this->drop_idle();
        forget(gone, tol);
        this->keep_all();
        folded_.set(*rows_, fewer, b);
    }
    // By decreasing coefficient, the largest of each class before all others: those stay.
    std::vector<typename Fold<T>::Member> members(std::span<const Slot> kept) {
        std::vector<Forget::Turn> queue;
        for (Slot j : kept) queue.push_back(forget_.turn(this->candidate(j)));
        std::sort(queue.rbegin(), queue.rend());
        std::vector<typename Fold<T>::Member> all;
        std::vector<bool> seen(std::max<std::size_t>(2, machines_.size()));
        for (const auto& [alpha, age, id] : queue) {
            const Slot j = rows_->slot(id);
            const auto label = std::size_t(notes_->label[j]);
            all.push_back({j, id, this->coefficients_of(j), !seen[label]});
            seen[label] = true;
        }
        std::stable_partition(all.begin(), all.end(), [](const auto& m) { return m.stays; });
        return all;
    }

    Params params_;
    double reach_;  // who is at z = y f <= reach_ waits
    Forget forget_;
    Fold<T> folded_;
    std::int64_t suffered_ = 0, evicted_ = 0;
};

}  // namespace onlinesvm
