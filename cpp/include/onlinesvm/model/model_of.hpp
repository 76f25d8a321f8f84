// ModelOf<Algo, T>: a Model from a class that follows this concept.
//
//     struct Params { template <class F> void fields(F&& f); };
//     explicit Algo(Params);
//     void learn(Row<T> x, double y, double weight, Id id);
//     void score(Row<T> x, double* out) const;
//     std::size_t outputs() const;
//     void grow(std::size_t classes);
//     template <class A> void state(A& a);
//     std::size_t nbytes() const;
//
//     using Verbs = Offers<...>;  // what else it can: machine/verbs.hpp, and verbs.hpp here
//
// `score_many` scores rows together; `loaded` checks a state just read and rebuilds what derives from
// it; `expect` hears of the coming rows, which live until it hears of others; `learn_chunk` takes all
// rows of a call at once, where that is another thing than one after the other; `steps_whole` says
// that a step fails before it changes anything, or not at all; `using Output = T` makes the scores T
// where they are features, not decisions; `score_pairs` and `pairs` are those of pairs of classes.
#pragma once

#include <concepts>
#include <memory>
#include <stdexcept>
#include <utility>

#include "onlinesvm/memory/undo.hpp"
#include "onlinesvm/model/model.hpp"
#include "onlinesvm/model/verbs.hpp"

namespace onlinesvm {

template <class Algo, class T>
class ModelOf final : public ModelIn<T> {
    static constexpr bool kTransforms = requires { typename Algo::Output; };
    static constexpr bool kTakesChunks =
        requires(Algo& algo, std::span<const Row<T>> rows) { algo.learn_chunk(rows, {}, {}, {}); };
    static constexpr bool kStepsWhole = requires(const Algo& algo) { algo.steps_whole(); };
    static constexpr bool kHasPairs = requires(const Algo& algo) { algo.pairs(); };

  public:
    using Params = typename Algo::Params;

    explicit ModelOf(const Params& params) : ModelOf(std::make_unique<Algo>(params)) {}

    Algo& algo() { return *algo_; }
    const Algo& algo() const { return *algo_; }

    std::size_t outputs() const override { return algo_->outputs(); }
    std::size_t pairs() const override {
        if constexpr (kHasPairs)
            return algo_->pairs();
        else
            return 0;
    }
    std::size_t nbytes() const override { return algo_->nbytes(); }
    std::span<const Verb> verbs() const override { return offered(); }
    static std::span<const Verb> offered() {
        static const VerbTable<Algo, ModelOf> table;
        return table.all;
    }

    void grow(std::size_t classes) override { algo_->grow(classes); }
    void use_threads([[maybe_unused]] std::size_t n) override {
        if constexpr (requires { algo_->use_threads(n); }) algo_->use_threads(n);
    }

    void mark() override {
        before_.mark(*algo_);
        width_before_ = this->width_;
    }
    void commit() noexcept override { before_.commit(*algo_); }
    void revert() noexcept override {
        before_.revert(*algo_);
        this->width_ = width_before_;
    }

    std::unique_ptr<Model> copy() const override {
        if constexpr (requires { algo_->merge(*algo_, 0, {}); }) {
            std::unique_ptr<ModelOf> out(new ModelOf(std::make_unique<Algo>(*algo_)));
            out->width_ = this->width_;
            return out;
        } else {
            throw std::invalid_argument("this method cannot be merged");
        }
    }

    bool learn_whole([[maybe_unused]] const Row<T>& x, [[maybe_unused]] double y,
                     [[maybe_unused]] double weight, [[maybe_unused]] Id id) override {
        if constexpr (kStepsWhole) {
            if (!algo_->steps_whole()) return false;
            this->demand_fit(x);
            algo_->learn(x, y, weight, id);
            this->reach(x);
            return true;
        } else {
            return false;
        }
    }
    void learn(const Row<T>& x, double y, double weight, Id id) override {
        this->reach(x);
        algo_->learn(x, y, weight, id);
    }
    void learn_block(std::span<const Row<T>> rows, const double* y, const double* weight,
                     const Id* ids, const Blocks<T>& all, std::size_t next) override {
        this->reach(rows.front());
        const LookAhead ahead(*algo_, rows);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            ahead.turn(i);
            all.approach(next + i);
            algo_->learn(rows[i], y[i], weight[i], ids[i]);
        }
    }
    void learn_chunk([[maybe_unused]] std::span<const Row<T>> rows,
                     [[maybe_unused]] std::span<const double> y,
                     [[maybe_unused]] std::span<const double> weight,
                     [[maybe_unused]] std::span<const Id> ids) override {
        if constexpr (kTakesChunks) {
            if (!rows.empty()) this->reach(rows.front());
            algo_->learn_chunk(rows, y, weight, ids);
        }
    }

    void score([[maybe_unused]] std::span<const Row<T>> rows,
               [[maybe_unused]] double* out) const override {
        if constexpr (!kTransforms || std::is_same_v<T, double>) score_as(rows, out);
    }
    void transform([[maybe_unused]] std::span<const Row<T>> rows,
                   [[maybe_unused]] T* out) const override {
        if constexpr (kTransforms && !std::is_same_v<T, double>) score_as(rows, out);
    }
    void score_pairs([[maybe_unused]] std::span<const Row<T>> rows,
                     [[maybe_unused]] double* out) const override {
        if constexpr (kHasPairs) algo_->score_pairs(rows, out);
    }

  private:
    friend class VerbTable<Algo, ModelOf>;

    std::unique_ptr<Algo> algo_;
    Before<Algo> before_;
    std::size_t width_before_ = 0;

    explicit ModelOf(std::unique_ptr<Algo> algo)
        : ModelIn<T>({.floats = std::is_same_v<T, float>,
                      .transforms = kTransforms,
                      .whole_steps = kStepsWhole,
                      .chunks = kTakesChunks,
                      .pairs = kHasPairs}),
          algo_(std::move(algo)) {}

    // For the table of verbs.
    static Algo& algo(Model& model) { return *static_cast<ModelOf&>(model).algo_; }
    static void merge(Model& into, const Model& from, std::int64_t shift,
                      std::span<const std::int64_t> numbers) {
        const auto* other = dynamic_cast<const ModelOf*>(&from);
        require(other, "other: a model of another method or type");
        algo(into).merge(*other->algo_, shift, numbers);
        auto& mine = static_cast<ModelOf&>(into);
        mine.width_ = std::max(mine.width_, other->width_);
    }

    void save_state(Save& save) const override { algo_->state(save); }  // Save only reads
    void load_state(Load& load) override {
        algo_->state(load);
        if constexpr (requires { algo_->loaded(); }) algo_->loaded();
    }

    template <class Out>
    void score_as(std::span<const Row<T>> rows, Out* out) const {
        if constexpr (requires { algo_->score_many(rows, out); })
            algo_->score_many(rows, out);
        else
            for (const Row<T>& row : rows) algo_->score(row, out), out += algo_->outputs();
    }

    // What was announced is forgotten with the block, even where learning it failed.
    struct LookAhead {
        Algo& algo;
        LookAhead(Algo& algo, std::span<const Row<T>> block) : algo(algo) {
            if constexpr (requires { algo.expect(block); }) algo.expect(block);
        }
        ~LookAhead() {
            if constexpr (requires { algo.expect({}); }) algo.expect({});
        }
        LookAhead(const LookAhead&) = delete;
        LookAhead& operator=(const LookAhead&) = delete;
        void turn([[maybe_unused]] std::size_t i) const {
            if constexpr (requires { algo.turn(i); }) algo.turn(i);
        }
    };
};

}  // namespace onlinesvm
