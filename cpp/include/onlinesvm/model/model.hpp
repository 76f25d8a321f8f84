// A method, seen from outside: whatever learns or transforms, behind one interface, compiled once.
//
// Model says what needs no row, ModelIn<T> what takes rows of the model's own type, some at a time: one
// virtual call for a block of them, none inside. What a method offers besides is in its verbs, by
// name. Nothing here locks: whoever shares a model among threads does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "onlinesvm/memory/slot.hpp"
#include "onlinesvm/model/value.hpp"
#include "onlinesvm/rows/row.hpp"
#include "onlinesvm/rows/rows.hpp"
#include "onlinesvm/state/archive.hpp"

namespace onlinesvm {

// How a verb is called: a fact at hand is read like a member; an answer takes work; an act changes the
// model; a round does, and says whether there is more to do.
enum class Way { fact, answer, act, round };

struct Verb {
    std::string_view name;
    Way way;
    Value (*call)(Model& model, const Arguments& arguments);
};

// What of a method never changes.
struct Kind {
    bool floats;  // its rows are of float32, a ModelIn<float>; else of float64, a ModelIn<double>
    bool transforms;   // it gives out features, of the rows' type, not decisions
    bool whole_steps;  // some examples are learned by learn_whole
    bool chunks;       // the examples of a call are learned at once, by learn_chunk
    bool pairs;        // pairs of classes have scores, too
};

class Model {
  public:
    virtual ~Model() = default;
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    const Kind& kind() const { return kind_; }
    std::size_t width() const { return width_; }  // features so far; 0: none seen
    virtual std::size_t outputs() const = 0;
    virtual std::size_t pairs() const = 0;
    virtual std::size_t nbytes() const = 0;

    virtual std::span<const Verb> verbs() const = 0;
    Value call(std::string_view verb, std::span<const Value> values);

    virtual void grow(std::size_t classes) = 0;
    virtual void use_threads(std::size_t n) = 0;

    // From mark() on, changes stand (commit) or fall (revert).
    virtual void mark() = 0;
    virtual void commit() noexcept = 0;
    virtual void revert() noexcept = 0;

    virtual std::unique_ptr<Model> copy() const = 0;  // where the model can be merged
    void save(Sink& sink) const;
    // Into one that has learned nothing; it is of no use if the state is refused.
    void load(Source& source);

    // Dense rows are all as wide as the first; sparse ones may bring new features.
    template <class T>
    void demand_fit(const Row<T>& x) const {
        if (!x.sparse() && width_ != 0 && x.width != width_) complain_of_width(x.width);
    }
    template <class T>
    void reach(const Row<T>& x) {
        demand_fit(x);
        width_ = std::max(width_, x.width);
    }

  protected:
    explicit Model(Kind kind) : kind_(kind) {}

    virtual void save_state(Save& save) const = 0;
    virtual void load_state(Load& load) = 0;

    std::size_t width_ = 0;

  private:
    Kind kind_;

    [[noreturn]] void complain_of_width(std::size_t width) const;
};

template <class T>
class ModelIn : public Model {
  public:
    // One example, if its step fails before it changes anything or not at all; else false, and nothing
    // has happened: learn() it between mark() and commit().
    virtual bool learn_whole(const Row<T>& x, double y, double weight, Id id) = 0;
    virtual void learn(const Row<T>& x, double y, double weight, Id id) = 0;
    // Examples in order. While they are learned, those of `all` that come after are fetched, from
    // `next` on.
    virtual void learn_block(std::span<const Row<T>> rows, const double* y, const double* weight,
                             const Id* ids, const Blocks<T>& all, std::size_t next) = 0;
    // All examples of a call at once, where that is another thing than one after the other.
    virtual void learn_chunk(std::span<const Row<T>> rows, std::span<const double> y,
                             std::span<const double> weight, std::span<const Id> ids) = 0;

    // outputs() or pairs() values of each row; features if it transforms.
    virtual void score(std::span<const Row<T>> rows, double* out) const = 0;
    virtual void score_pairs(std::span<const Row<T>> rows, double* out) const = 0;
    virtual void transform(std::span<const Row<T>> rows, T* out) const = 0;

  protected:
    using Model::Model;
};

}  // namespace onlinesvm
