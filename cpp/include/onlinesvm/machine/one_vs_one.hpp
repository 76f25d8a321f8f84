// One binary model for each pair of classes, over one library of rows. An example is learned by the
// models of its own class and by no other; each of them is what it would be by itself, bit for bit.
// The classes vote: votes.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "onlinesvm/function/score.hpp"
#include "onlinesvm/machine/verbs.hpp"
#include "onlinesvm/machine/votes.hpp"
#include "onlinesvm/memory/undo.hpp"
#include "onlinesvm/rows/library.hpp"

namespace onlinesvm {

// Model: a OneVsRest, which stays with its one output. It may not draw from a pool of its own.
template <class T, class Model, class Offered>
class OneVsOne {
  public:
    using Verbs = Offered;
    using Params = typename Model::Params;

    explicit OneVsOne(const Params& p)
        : params_(p), library_(std::make_unique<Library<T>>(p.kernel, std::size_t(p.cache_bytes))) {
        grow(2);
    }
    OneVsOne(OneVsOne&&) = default;
    OneVsOne& operator=(OneVsOne&&) = delete;

    std::size_t classes() const { return library_->classes(); }
    std::size_t outputs() const { return classes() > 2 ? classes() : 1; }
    std::size_t pairs() const { return machines_.size(); }

    // ---- learning ----

    void expect(std::span<const Row<T>> coming) {
        library_->expect(coming);
        for (auto& m : machines_) announce(m->model, coming.size());
    }
    void turn(std::size_t i) { library_->turn(i); }

    void learn(Row<T> x, double y, double weight, Id id) {
        if (weight <= 0) return;
        const auto c = std::size_t(y);
        const Number known = find(c, id);
        labels_used_ += known == Library<T>::kNone;
        {
            const typename Library<T>::Guest guest(*library_, x, c, weight, id, known);
            for (std::size_t d = 0; d < classes(); ++d) {
                if (d == c) continue;
                Machine& m = *machines_[Duel::number(c, d)];
                edit(m).learn(x, m.duel.target(c), weight, id);
            }
        }
        library_->sweep();
        if (library_->size() >= next_tidy_) tidy();
    }

    // A new class meets every old one: its models learn the examples of that one which are held, in
    // the order in which they came.
    void grow(std::size_t classes) {
        if (classes <= library_->classes()) return;
        library_->grow(classes);
        while (machines_.size() < Duel::count(classes)) {
            const Duel duel = machines_.empty() ? Duel{} : machines_.back()->duel.next();
            machines_.push_back(std::make_unique<Machine>(params_, duel));
            Machine& m = *machines_.back();
            m.epoch = epoch_;  // nothing to take back to
            m.model.share(*library_);
            announce(m.model, library_->size());
            OwnedRow<T> scratch;
            for (Number n : library_->by_age(duel.a)) {
                library_->get(n, scratch);
                const Row<T> x = scratch.row();
                const double weight = library_->weight(n);
                const Id id = library_->id(n);
                const typename Library<T>::Guest guest(*library_, x, duel.a, weight, id, n);
                m.model.learn(x, duel.target(duel.a), weight, id);
            }
        }
        tidy();
    }

    // Also models that hold none of them are told: some finish then.
    void unlearn(std::span<const Id> ids) {
        std::vector<Id> held;
        for (auto& m : machines_) {
            held.clear();
            std::copy_if(ids.begin(), ids.end(), std::back_inserter(held),
                         [&](Id id) { return m->model.holds(id); });
            edit(*m).unlearn(held);
        }
        library_->sweep();
    }

    void solve() {
        for (auto& m : machines_) edit(*m).solve();
        end_of_search();
    }
    void polish(double tol) {
        for (auto& m : machines_) edit(*m).polish(tol);
        library_->sweep();
    }
    void finish(double tol) {
        for (auto& m : machines_) edit(*m).finish(tol);
        end_of_search();
    }
    // One round of one model.
    bool improve()
        requires requires(Model& m) { m.improve(); }
    {
        for (; turn_ < machines_.size(); ++turn_)
            if (edit(*machines_[turn_]).improve()) return library_->sweep(), true;
        turn_ = 0;
        end_of_search();
        return false;
    }
    double gap() const { return turn_ < machines_.size() ? machines_[turn_]->model.gap() : 0; }
    std::vector<std::int64_t> steps() const {
        std::vector<std::int64_t> all;
        for (const auto& m : machines_) all.push_back(m->model.steps().front());
        return all;
    }

    void set_C(double C) {
        params_.C = C;
        for (auto& m : machines_) edit(*m).set_C(C);
        library_->sweep();
    }
    void reweight(std::span<const Id> ids, std::span<const double> weights) {
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const Number n = find(ids[i]);
            if (n == Library<T>::kNone)
                throw std::invalid_argument("ids: no example with id " +
                                            std::to_string(std::int64_t(ids[i])) + " is held");
            library_->reweigh(n, weights[i]);
        }
        std::vector<Id> held;
        std::vector<double> theirs;
        for (auto& m : machines_) {
            held.clear(), theirs.clear();
            for (std::size_t i = 0; i < ids.size(); ++i)
                if (m->model.holds(ids[i])) held.push_back(ids[i]), theirs.push_back(weights[i]);
            if (!held.empty()) edit(*m).reweight(held, theirs);
        }
        library_->sweep();
    }

    // ---- deciding ----

    void score(Row<T> x, double* out) const { score_many(std::span(&x, 1), out); }
    void score_many(std::span<const Row<T>> xs, double* out) const {
        if (pairs() == 1) return score_pairs(xs, out);
        std::vector<double> f(xs.size() * pairs());
        score_pairs(xs, f.data());
        for (std::size_t i = 0; i < xs.size(); ++i)
            count_votes(&f[i * pairs()], classes(), out + i * classes());
    }
    // f of every pair, positive for its second class: pairs() values each.
    void score_pairs(std::span<const Row<T>> xs, double* out) const {
        for (std::size_t i = 0; i < xs.size(); ++i)
            for (const auto& m : machines_) *out++ = m->model.bias_of(0);
        out -= xs.size() * pairs();
        const std::size_t rivals = classes() - 1;
        std::vector<double> part(xs.size() * rivals);
        for (std::size_t c = 0; c < classes(); ++c) {
            const Against against(*this, c);
            if (against.counting() == 0) continue;
            onlinesvm::score(library_->rows_of(c), against.counting(), against.coefficients(), xs,
                             part.data());
            for (std::size_t i = 0; i < xs.size(); ++i)
                for (std::size_t r = 0; r < rivals; ++r)
                    out[i * pairs() + Duel::number(c, rival(c, r))] += part[i * rivals + r];
        }
    }

    // ---- what it holds ----

    bool holds(Id id) const { return find(id) != Library<T>::kNone; }
    std::size_t held() const { return library_->size(); }
    std::vector<Id> ids() const {
        std::vector<Id> all;
        each_row([&](std::size_t, Number n) { all.push_back(library_->id(n)); });
        return all;
    }
    std::vector<std::int64_t> labels() const {
        std::vector<std::int64_t> all;
        each_row([&](std::size_t c, Number) { all.push_back(std::int64_t(c)); });
        return all;
    }
    // By id; of each its coefficients against the other classes, by their numbers: classes - 1 rows.
    Support<T> support() const {
        std::vector<Held> all;
        std::vector<Against> against;
        for (std::size_t c = 0; c < classes(); ++c) {
            against.emplace_back(*this, c);
            for (Slot j{}; j < against[c].counting(); ++j)
                if (against[c].supports(j))
                    all.push_back({library_->id(library_->number(c, j)), c, j});
        }
        Support<T> out = rows_of(all);
        for (std::size_t r = 0; r + 1 < classes(); ++r)
            for (const Held& v : all) out.coef.push_back(against[v.c].coefficients()[r][v.j]);
        return out;
    }
    // The problem of every pair, over all rows: where an example is of neither class, its bounds are 0.
    Evidence<T> evidence() const
        requires requires(const Model& m) { m.evidence(); }
    {
        std::vector<Held> all = held_rows();
        Evidence<T> out;
        out.rows = rows_of(all);
        const std::size_t n = all.size();
        for (const Held& v : all) out.label.push_back(std::int64_t(v.c));
        out.cost.resize(n), out.self.resize(n), out.f.resize(n * pairs());
        for (auto* values : {&out.base, &out.lo, &out.hi, &out.s}) values->resize(n * pairs());
        for (std::size_t p = 0; p < pairs(); ++p) {
            const Evidence<T> own = machines_[p]->model.evidence();
            out.bias.push_back(own.bias[0]), out.target.push_back(own.target[0]);
            out.free_bias = own.free_bias;
            std::size_t i = 0;
            for (std::size_t m = 0; m < own.cost.size(); ++m) {
                while (all[i].id != own.rows.ids[m]) ++i;
                out.cost[i] = own.cost[m], out.self[i] = own.self[m];
                out.f[i * pairs() + p] = own.f[m];
                const std::size_t at = p * n + i;
                out.base[at] = own.base[m], out.lo[at] = own.lo[m], out.hi[at] = own.hi[m];
                out.s[at] = own.s[m];
            }
        }
        return out;
    }
    // Of each example the votes where its class's machines have never seen it; the others never have.
    auto leave_one_out()
        requires requires(Model& m) { m.leave_one_out(); }
    {
        decltype(std::declval<Model&>().leave_one_out()) out;
        std::vector<Held> all = held_rows();
        std::vector<decltype(out)> left;
        for (auto& m : machines_) left.push_back(edit(*m).leave_one_out());
        library_->sweep();
        out.f.resize(all.size() * outputs());
        std::vector<std::size_t> next(pairs());  // of each machine's own
        std::vector<double> f(pairs());
        typename Store<T>::Scratch scratch;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto [id, c, j] = all[i];
            out.ids.push_back(id), out.labels.push_back(std::int64_t(c));
            const Row<T> x = library_->rows_of(c).get(j, scratch);
            score_pairs(std::span(&x, 1), f.data());
            for (std::size_t r = 0; r + 1 < classes(); ++r) {
                const std::size_t p = Duel::number(c, rival(c, r));
                f[p] = left[p].f[next[p]++];
            }
            if (pairs() == 1)
                out.f[i] = f[0];
            else
                count_votes(f.data(), classes(), &out.f[i * classes()]);
        }
        return out;
    }
    std::size_t n_support() const {
        const std::vector<bool> counts = supporting();
        return std::size_t(std::count(counts.begin(), counts.end(), true));
    }
    std::vector<double> bias() const {
        std::vector<double> all;
        for (const auto& m : machines_) all.push_back(m->model.bias_of(0));
        return all;
    }

    bool capped() const {
        return std::any_of(machines_.begin(), machines_.end(),
                           [](const auto& m) { return m->model.capped(); });
    }
    double kkt_residual() const {
        return worst(1, [](const Model& m) { return m.kkt_residual(); });
    }
    // Of a few models.
    double spot_check() const {
        const std::size_t stride = (machines_.size() + kFew - 1) / kFew;
        return worst(stride, [](const Model& m) { return m.spot_check(); });
    }
    double violation() const {
        return worst(1, [](const Model& m) { return m.violation(); });
    }
    double objective() const {
        return sum([](const Model& m) { return m.objective(); });
    }
    double suffered() const {
        return sum([](const Model& m) { return m.suffered(); });
    }
    std::size_t labels_used() const { return std::size_t(labels_used_); }
    std::size_t evicted() const { return 0; }

    std::size_t nbytes() const {
        constexpr std::size_t each = sizeof(Machine) + sizeof(KernelCache<T>);
        std::size_t bytes = library_->nbytes() + machines_.size() * each;
        for (const auto& m : machines_) bytes += m->model.nbytes();
        return bytes;
    }

    // ---- taking back: models that a call does not touch cost it nothing ----

    auto undoable() { return std::tie(params_.C, cache_, turn_, next_tidy_, labels_used_); }
    void mark() noexcept {
        ++epoch_;
        touched_.clear();
        was_ = machines_.size();
        library_->mark();
    }
    void commit() noexcept {
        for (Machine* m : touched_) m->before.commit(m->model);
        touched_.clear();
        library_->commit();
        epoch_ += 1;
    }
    void revert() noexcept {
        machines_.resize(was_);
        for (Machine* m : touched_) m->before.revert(m->model);
        touched_.clear();
        library_->revert();
        limit_caches();
        epoch_ += 1;
    }

    template <class A>
    void state(A& a) {
        if constexpr (A::loading) {
            library_->grow(std::max<std::size_t>(2, a.outputs()));
            a("library", *library_);
            while (machines_.size() < Duel::count(classes())) {
                machines_.push_back(
                    std::make_unique<Machine>(params_, machines_.back()->duel.next()));
                machines_.back()->model.share(*library_);
            }
        } else {
            a("library", *library_);
        }
        a("cache", cache_);
        a("next_tidy", next_tidy_);
        a("labels_used", labels_used_);
        if constexpr (A::loading) {
            demand(cache_.size() == machines_.size(), "the caches do not fit the pairs of classes");
            limit_caches();
        }
        a("pairs", each(machines_, 1));
        if constexpr (A::loading) {
            if (std::accumulate(cache_.begin(), cache_.end(), 0.0) > double(params_.cache_bytes))
                share_cache();  // it was saved with more
            demand_sound();
        }
    }

  private:
    // Some learn rows that come together as one.
    static void announce(Model& model, std::size_t rows) {
        if constexpr (requires { model.announce(rows); }) model.announce(rows);
    }

    using Number = typename Library<T>::Number;
    struct Machine {
        Machine(const Params& p, Duel duel) : duel(duel), model(p) {}
        Duel duel;
        Model model;
        Before<Model> before;
        std::uint64_t epoch = 0;  // when it was last touched

        template <class A>
        void state(A& a) {
            model.state(a);
        }
    };

    // Whoever changes a model asks for it here, once it can be taken back.
    Model& edit(Machine& m) {
        if (m.epoch != epoch_) {
            touched_.reserve(touched_.size() + 1);
            m.before.mark(m.model);
            touched_.push_back(&m);
            m.epoch = epoch_;
        }
        return m.model;
    }

    static std::size_t rival(std::size_t c, std::size_t r) { return r < c ? r : r + 1; }
    Number number(const Machine& m, Slot j) const {
        return m.model.examples().store().shared()->number(j);
    }
    Number find(std::size_t c, Id id) const {
        for (std::size_t r = 0; r + 1 < classes(); ++r) {
            const Machine& m = *machines_[Duel::number(c, rival(c, r))];
            if (const auto j = m.model.examples().find(id)) return number(m, *j);
        }
        return Library<T>::kNone;
    }
    Number find(Id id) const {
        for (const auto& m : machines_)
            if (const auto j = m->model.examples().find(id)) return number(*m, *j);
        return Library<T>::kNone;
    }
    struct Held {
        Id id;
        std::size_t c;
        Slot j;
    };
    static bool by_id(const Held& v, const Held& w) { return v.id < w.id; }
    std::vector<Held> held_rows() const {  // by id
        std::vector<Held> all;
        for (std::size_t c = 0; c < classes(); ++c)
            for (Slot j{}; j < library_->size(c); ++j)
                all.push_back({library_->id(library_->number(c, j)), c, j});
        std::sort(all.begin(), all.end(), by_id);
        return all;
    }
    // These rows, which it brings into the order of their ids.
    Support<T> rows_of(std::vector<Held>& all) const {
        std::sort(all.begin(), all.end(), by_id);
        Support<T> out;
        out.width = library_->width();
        if (library_->sparse()) out.indptr.push_back(0);
        typename Store<T>::Scratch scratch;
        for (const Held& v : all) {
            out.ids.push_back(v.id);
            const Row<T> x = library_->rows_of(v.c).get(v.j, scratch);
            out.values.insert(out.values.end(), x.values, x.values + x.size);
            if (!x.sparse()) continue;
            out.indices.insert(out.indices.end(), x.indices, x.indices + x.size);
            out.indptr.push_back(std::int64_t(out.values.size()));
        }
        return out;
    }
    template <class Use>
    void each_row(Use use) const {
        for (std::size_t c = 0; c < classes(); ++c)
            for (Slot j{}; j < library_->size(c); ++j) use(c, library_->number(c, j));
    }

    // The coefficients of a class's rows against every other class, as they lie on their shelf.
    class Against {
      public:
        Against(const OneVsOne& all, std::size_t c) : rivals_(all.classes() - 1) {
            for (std::size_t r = 0; r < rivals_; ++r)
                each_of(all, c, r, [&](Slot j, double) {
                    counting_ = std::max<std::size_t>(counting_, j + 1);
                });
            stride_ = round_up(counting_, isa::lanes<double>);
            s_.resize(rivals_ * stride_);
            for (std::size_t r = 0; r < rivals_; ++r)
                each_of(all, c, r, [&](Slot j, double s) { s_[r * stride_ + j] = s; });
        }
        std::size_t counting() const { return counting_; }  // no row after these has any
        bool supports(Slot j) const {
            for (std::size_t r = 0; r < rivals_; ++r)
                if (s_[r * stride_ + j] != 0) return true;
            return false;
        }
        std::vector<const double*> coefficients() const {
            std::vector<const double*> rows(rivals_);
            for (std::size_t r = 0; r < rivals_; ++r) rows[r] = s_.data() + r * stride_;
            return rows;
        }

      private:
        template <class Use>
        static void each_of(const OneVsOne& all, std::size_t c, std::size_t r, Use use) {
            const Machine& m = *all.machines_[Duel::number(c, rival(c, r))];
            for (Slot j{}; j < m.model.examples().active(); ++j) {
                const double s = m.model.coefficient(j);
                const Number n = all.number(m, j);
                if (s != 0 && all.library_->shelf(n) == c) use(all.library_->slot(n), s);
            }
        }
        std::size_t rivals_, counting_ = 0, stride_ = 0;
        Aligned<double> s_;  // rivals x stride
    };

    std::vector<bool> supporting() const {  // by number
        std::vector<bool> counts;
        for (const auto& m : machines_)
            for (Slot j{}; j < m->model.examples().active(); ++j)
                if (m->model.coefficient(j) != 0) {
                    const std::size_t n = number(*m, j);
                    if (n >= counts.size()) counts.resize(n + 1);
                    counts[n] = true;
                }
        return counts;
    }
    // Each time there are more by an eighth: supports come first, and kernel rows get their room anew.
    // At the end of every verb that lets rows go: what waits there is not saved.
    void tidy() {
        library_->sweep();
        const std::vector<bool> counts = supporting();
        library_->tidy([&](Number n) { return n < counts.size() && counts[n]; });
        share_cache();
        next_tidy_ = library_->size() + library_->size() / 8 + 64;
    }
    void end_of_search() { tidy(); }
    // A model of n rows has n * n kernel values.
    void share_cache() {
        const auto wish = [](const Machine& m) {
            const double n = 16.0 + double(m.model.held());
            return n * n;
        };
        double all = 0;
        for (const auto& m : machines_) all += wish(*m);
        cache_.resize(machines_.size());
        for (std::size_t p = 0; p < machines_.size(); ++p)
            cache_.edit(p) =
                std::int64_t(double(params_.cache_bytes) * (wish(*machines_[p]) / all));
        limit_caches();
        for (auto& m : machines_) m->model.keep_cache_within_limit();
    }
    void limit_caches() noexcept {
        for (std::size_t p = 0; p < machines_.size(); ++p)
            machines_[p]->model.limit_cache(std::size_t(cache_[p]));
    }

    template <class Of>
    double worst(std::size_t stride, Of of) const {
        double most = 0;
        for (std::size_t p = 0; p < machines_.size(); p += stride) {
            const double value = of(machines_[p]->model);
            if (std::isnan(value)) return value;
            most = std::max(most, value);
        }
        return most;
    }
    template <class Of>
    double sum(Of of) const {
        double total = 0;
        for (const auto& m : machines_) total += of(m->model);
        return total;
    }

    void demand_sound() const {
        for (const auto& m : machines_) {
            const std::vector<std::int64_t> labels = m->model.labels();
            for (Slot j{}; j < labels.size(); ++j) {
                const Number n = number(*m, j);
                demand(library_->id(n) == m->model.examples().id(j) &&
                           library_->shelf(n) == (labels[j] == 1 ? m->duel.b : m->duel.a),
                       "a pair of classes holds an example of another");
            }
        }
        library_->demand_read();
    }

    static constexpr std::size_t kFew = 32;  // models of a spot check

    Params params_;
    std::unique_ptr<Library<T>> library_;  // on the heap: the models keep its address
    std::vector<std::unique_ptr<Machine>> machines_;
    PlainLedger<std::int64_t> cache_;  // bytes for the kernel rows of each
    std::size_t turn_ = 0;             // whose it is, while improving
    std::size_t next_tidy_ = 0;        // so many examples, and it is time
    std::int64_t labels_used_ = 0;
    std::uint64_t epoch_ = 1;  // of calls
    std::vector<Machine*> touched_;
    std::size_t was_ = 0;  // pairs at the mark
};

}  // namespace onlinesvm
