// POKER: the SVM solved along a path. Fine & Scheinberg, "Incremental Learning and Selective
// Sampling via Parametric Optimization Framework for SVM", NIPS 2001.
//
// The path is followed in solver/parametric.hpp; here are tasks, chunks and selective sampling.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "onlinesvm/machine/one_vs_rest.hpp"
#include "onlinesvm/solver/parametric.hpp"

namespace onlinesvm {

// A task says which variables an example brings, and to what sum they are held.
struct PokerClassification {
    static constexpr std::size_t copies = 1;
    std::string select = "none";  // which examples of a chunk are let in next
    std::int64_t per_round = 1;   // and how many before the solution is found anew
    template <class F>
    void fields(F&& f) {
        f("select", select), f("per_round", per_round);
    }
    std::array<Variable, 1> variables(double y, double c) const {
        return {{{y, std::min(0.0, y * c), std::max(0.0, y * c)}}};
    }
    double target(double) const { return 0; }
};

struct PokerRegression {
    static constexpr std::size_t copies = 2;
    double epsilon = 0.1;
    template <class F>
    void fields(F&& f) {
        f("epsilon", epsilon);
    }
    std::array<Variable, 2> variables(double y, double c) const {
        return {{{y - epsilon, 0, c}, {y + epsilon, -c, 0}}};
    }
    double target(double) const { return 0; }
};

struct PokerNovelty {
    static constexpr std::size_t copies = 1;
    double nu = 0.5;
    std::string boundary = "plane";  // in feature space; or a "ball"
    template <class F>
    void fields(F&& f) {
        f("nu", nu), f("boundary", boundary);
    }
    std::array<Variable, 1> variables(double, double c) const { return {{{0, 0, c}}}; }
    double target(double total) const { return nu * total; }
};

template <class T, class Task>
class Poker : public OneVsRest<T, Parametric<T, Task::copies>> {
    using Engine = Parametric<T, Task::copies>;
    using Base = OneVsRest<T, Engine>;
    static constexpr bool kClasses = std::is_same_v<Task, PokerClassification>;

  public:
    using Verbs =
        Offers<SolvedVerbs, verb::evidence, verb::bias, verb::level, verb::path, verb::decisions>;

    struct Params : KernelParams {
        double tol = 1e-8;  // largest KKT violation left
        std::string bias = "free";
        double given_bias = 0;  // where it is not free
        Task task;

        template <class F>
        void fields(F&& field) {
            KernelParams::fields(field);
            field("tol", tol);
            field("bias", bias);
            field("given_bias", given_bias);
            task.fields(field);
        }
    };

    explicit Poker(const Params& p)
        : Base(p, {.kkt = p.tol, .free_bias = p.bias == "free", .bias = p.given_bias}),
          C_(p.C),
          free_(p.bias == "free"),
          bias_(p.given_bias),
          task_(p.task) {
        if (!free_ && p.bias != "none")
            throw std::invalid_argument("bias: must be 'free' or 'none', got '" + p.bias + "'");
    }

    void learn(Row<T> x, double y, double weight, Id id) {
        learn_chunk({&x, 1}, {&y, 1}, {&weight, 1}, {&id, 1});
    }

    // AltPOKER: a chunk of any size at once; the first one from scratch, by Self-Init.
    void learn_chunk(std::span<const Row<T>> xs, std::span<const double> ys,
                     std::span<const double> weights, std::span<const Id> ids) {
        const bool first = rows_->size() == 0;
        for (std::size_t begin = 0; begin < xs.size(); begin += kLookAhead) {
            const auto block = xs.subspan(begin, std::min(kLookAhead, xs.size() - begin));
            rows_->expect(block);
            for (std::size_t i = begin; i < begin + block.size(); ++i) {
                rows_->turn(i - begin);
                append(xs[i], ys[i], weights[i], ids[i], first);
            }
        }
        rows_->expect({});
        for (auto& machine : machines_) {
            machine->begin_path();
            aim(*machine);
            fit_chunk(*machine, ids, first);
            machine->settle(free_);
        }
        tidy();
    }

    // What goes is pushed to 0 at the present bias; then the bias adjusts to the rest.
    void unlearn(std::span<const Id> ids) {
        std::vector<Id> held;
        for (Id id : ids)
            if (rows_->holds(id)) held.push_back(id);
        if (held.empty()) return;
        for (auto& machine : machines_) {
            machine->begin_path();
            machine->vacate(held);
        }
        for (Id id : held) rows_->remove(rows_->slot(id));
        total_ = cost_of_held();  // subtracting would leave the rounding of a large cost behind
        for (auto& machine : machines_) {
            aim(*machine);
            if (ball_) machine->fixed_bias();
            if (free_) machine->adjust_bias();
            machine->settle(free_);
        }
        tidy();
    }

    // A new class starts with every example held as a negative: alpha = 0, b = -1. Two classes share
    // one machine; the first one's own is its mirror image, and so is its bias, unless that is given.
    void grow(std::size_t classes) {
        const bool mirrors = machines_.size() == 1 && classes > 2 && bias_ != 0;
        Base::grow_to(classes, [&](Engine& engine) {
            for (Slot j{}; j < rows_->size(); ++j)
                engine.add(j, task_.variables(-1, Base::cost(j)), engine.bias());
            if (free_)
                engine.adjust_bias();
            else
                engine.self_init_at_bias();
            engine.settle(free_);
        });
        if (!mirrors) return;
        machines_[0]->hold_bias(bias_);
        fit_violators(*machines_[0]);
        machines_[0]->settle(free_);
    }

    // |w|^2/2 + the losses of the examples held - target * t, summed over outputs.
    double objective() const {
        double total = this->sum_of_held([](const Engine& engine, Slot j, double f) {
            return 0.5 * engine.coefficient(j) * (f - engine.bias()) + engine.loss_at(j, f);
        });
        for (const auto& engine : machines_) total += engine->target() * engine->bias();
        return total;
    }
    // Of a ball: how far inside it, in units of 2 / target.
    void score_many(std::span<const Row<T>> xs, double* out) const {
        Base::score_many(xs, out);
        for (std::size_t i = 0; ball_ && i < xs.size(); ++i)
            out[i] -= half_target() * rows_->store().self(xs[i]);
    }
    void score(Row<T> x, double* out) const { score_many(std::span(&x, 1), out); }
    double level() const { return 0.0 - machines_[0]->bias(); }
    // The breakpoints of the last call, output by output.
    std::vector<std::vector<Breakpoint>> path() const {
        std::vector<std::vector<Breakpoint>> all;
        for (const auto& machine : machines_) all.push_back(machine->path());
        return all;
    }

    std::int64_t breakpoints() const { return breakpoints_; }  // of the last call

    auto undoable() { return std::tie(total_, breakpoints_); }

    template <class A>
    void state(A& a) {
        Base::state(a);
        a("total", total_);
        a("breakpoints", breakpoints_);
        if constexpr (A::loading) {
            const double sum = cost_of_held();
            demand(std::abs(total_ - sum) <= 1e-3 * (1 + sum),
                   "the costs do not make up their total");
        }
    }

  private:
    using Base::rows_, Base::notes_, Base::machines_;
    static constexpr std::size_t kLookAhead = 16;
    static constexpr std::size_t kTop = 10;   // candidates of which dObj is tried,
    static constexpr std::size_t kTrial = 3;  // for so many breakpoints

    static bool is_ball(const Task& task) {
        if constexpr (std::is_same_v<Task, PokerNovelty>) return task.boundary == "ball";
        return false;
    }
    double half_target() const { return 0.5 * task_.target(total_); }
    // The sum to which a machine's coefficients are held; of a ball, what a variable earns, too.
    void aim(Engine& engine) {
        engine.aim(task_.target(total_));
        if (ball_) engine.rebase(half_target());
    }
    double cost_of_held() const {
        double sum = 0;
        for (double cost : notes_->cost) sum += cost;
        return sum;
    }
    void append(Row<T> x, double y, double weight, Id id, bool first) {
        KernelRow<T> row = rows_->arriving(x);
        const Slot c = this->hold(x, kClasses ? y : 0, C_ * weight, id);
        total_ += Base::cost(c);
        bool moves = false;
        for (std::size_t o = 0; o < machines_.size(); ++o) {
            const double target = kClasses ? this->sign(o, y) : y;
            Engine& engine = *machines_[o];
            engine.add(c, task_.variables(target, Base::cost(c)), engine.f(row.data()));
            moves |= engine.violates(c);
        }
        const bool needed = moves && !first;
        this->keep_or_recycle(c, std::move(row), needed);
        if (needed) rows_->promote(c);
    }
    void fit_chunk(Engine& engine, std::span<const Id> ids, bool first) {
        if constexpr (kClasses)
            if (task_.select != "none") return sample(engine, ids, first);
        if (first) return free_ ? engine.self_init() : engine.self_init_at_bias();
        fit_violators(engine);
    }
    void fit_violators(Engine& engine) {
        engine.fixed_bias();
        if (free_) engine.adjust_bias();
    }
    // Selective sampling: a chunk is a pool, and its violators are let in one by one. When none is
    // left, those never let in have alpha = 0 rightly, and the solution is that of all.
    struct Waiting {
        Id id;
        std::array<Variable, Task::copies> variables;
    };
    using Pool = std::vector<Waiting>;

    void sample(Engine& engine, std::span<const Id> ids, bool first) {
        Pool pool;
        for (Id id : ids) {
            const Slot j = rows_->slot(id);
            pool.push_back({id, engine.variables(j)});
            engine.freeze(j);
        }
        if (first && free_) {  // one of each class
            for (double sign : {1.0, -1.0}) {
                const auto it = std::find_if(pool.begin(), pool.end(), [&](const Waiting& w) {
                    return w.variables[0].base == sign;
                });
                if (it != pool.end()) admit(engine, pool, std::size_t(it - pool.begin()));
            }
            engine.self_init();
        }
        for (auto next = choose(engine, pool); !next.empty(); next = choose(engine, pool)) {
            for (std::size_t i : next) admit(engine, pool, i);
            fit_violators(engine);
        }
        while (!pool.empty()) admit(engine, pool, pool.size() - 1);
    }
    void admit(Engine& engine, Pool& pool, std::size_t i) {
        engine.thaw(rows_->slot(pool[i].id), pool[i].variables);
        pool.erase(pool.begin() + std::ptrdiff_t(i));
    }
    // Which ones of the pool are next, the last of it first; none where none violates. CLS2W: the
    // nearest to the decision border; else the largest slack. dObj: of the first few those whose
    // admission, one by one, gains most.
    std::vector<std::size_t> choose(Engine& engine, const Pool& pool) {
        const bool nearest = task_.select.starts_with("cls2w"),
                   tries = task_.select.ends_with("+dobj");
        std::vector<std::pair<double, std::size_t>> violators;
        for (std::size_t i = 0; i < pool.size(); ++i) {
            const Variable& v = pool[i].variables[0];
            const double h = engine.gradient(rows_->slot(pool[i].id)), slack = v.base * h;
            if (slack > engine.tolerance())
                violators.push_back({nearest ? std::abs(v.base - h) : -slack, i});
        }
        const auto most = static_cast<std::size_t>(task_.per_round);
        const std::size_t n = std::min(tries ? std::max(kTop, most) : most, violators.size());
        std::partial_sort(violators.begin(), violators.begin() + std::ptrdiff_t(n),
                          violators.end());
        violators.resize(n);
        for (auto& [rank, i] : violators)
            if (tries) rank = -engine.gain(rows_->slot(pool[i].id), pool[i].variables, kTrial);
        if (tries) std::ranges::stable_sort(violators, {}, [](const auto& v) { return v.first; });
        std::vector<std::size_t> next;
        for (std::size_t r = 0; r < std::min(n, most); ++r) next.push_back(violators[r].second);
        std::ranges::sort(next, std::greater{});
        return next;
    }
    void tidy() {
        breakpoints_ = 0;
        for (const auto& machine : machines_) breakpoints_ += std::int64_t(machine->path().size());
        Base::tidy();
    }

    double C_;
    bool free_;
    double bias_;  // given, where it is not free
    Task task_;
    bool ball_ = is_ball(task_);
    double total_ = 0;  // sum of C_i
    std::int64_t breakpoints_ = 0;
};

template <class T>
using PokerClassifier = Poker<T, PokerClassification>;
template <class T>
using PokerRegressor = Poker<T, PokerRegression>;
template <class T>
using PokerOneClass = Poker<T, PokerNovelty>;

}  // namespace onlinesvm
