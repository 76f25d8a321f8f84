// bind<Algo>(module, "Stem"): a class that follows this concept becomes Stem32 and Stem64.
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
//     using Verbs = Offers<...>;  // what else it can: base/verbs.hpp, and verbs.hpp here
//
// `loaded` checks a state just read and rebuilds what derives from it; `expect` hears of the coming
// rows, which live until it hears of others; `learn_chunk` takes all rows of a call at once, where
// that is another thing than one after the other; `using Output = T` makes the scores T where they
// are features, not decisions.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <thread>
#include <utility>

#include "arrays.hpp"
#include "borrowed.hpp"
#include "fair_mutex.hpp"
#include "gil.hpp"
#include "named.hpp"
#include "onlinesvm/base/linear_model.hpp"
#include "onlinesvm/base/path.hpp"
#include "onlinesvm/base/support.hpp"
#include "onlinesvm/base/threads.hpp"
#include "onlinesvm/base/undo.hpp"
#include "params.hpp"
#include "register.hpp"
#include "signals.hpp"
#include "state.hpp"
#include "verbs.hpp"

namespace onlinesvm::bind {

// What a score is: a decision in double, unless the algorithm has a type for what it gives out.
template <class Algo>
struct OutputOf {
    using type = double;
};
template <class Algo>
    requires requires { typename Algo::Output; }
struct OutputOf<Algo> {
    using type = typename Algo::Output;
};

// What of an algorithm is scored: its outputs, or the pairs of classes behind them.
struct Outputs {
    static std::size_t columns(const auto& algo) { return algo.outputs(); }
    static void score(const auto& algo, auto block, auto* at) {
        if constexpr (requires { algo.score_many(block, at); })
            algo.score_many(block, at);
        else
            for (const auto& row : block) algo.score(row, at), at += algo.outputs();
    }
};
struct Pairs {
    static std::size_t columns(const auto& algo) { return algo.pairs(); }
    static void score(const auto& algo, auto block, double* at) { algo.score_pairs(block, at); }
};

// An algorithm shared by threads: one writer, many readers. Whoever waits for the lock has let go
// of the GIL first, so a user's Python kernel can always run.
template <class Algo, class T>
class Shared {
  public:
    using Params = typename Algo::Params;
    using Output = typename OutputOf<Algo>::type;
    using Scores = nb::typed<nb::tuple, double, nb::ellipsis>;

    explicit Shared(const Dict& dict)
        : params(params_of<Params>(dict)), algo(std::make_unique<Algo>(params)) {}

    ~Shared() {
        if (mutex.torn()) static_cast<void>(algo.release());  // half of it may be freed already
    }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

    // ---- learning ----

    void learn_dense(const Values2& X, const Vector<double>& y, const Vector<double>& w,
                     const Vector<Id>& ids) {
        same_length("ids", ids.shape(0), X.shape(0));
        typed(X, [&]<class S>(const S* values) {
            const Meaning meaning{precomputed(), ids.data()};
            learn_many(DenseRows<T, S>(values, X.shape(0), X.shape(1), meaning), y, w, ids);
        });
    }

    void learn_sparse(const Values1& data, const Vector<std::int32_t>& indices,
                      const Vector<std::int64_t>& indptr, std::size_t width,
                      const Vector<double>& y, const Vector<double>& w, const Vector<Id>& ids) {
        typed(data, [&]<class S>(const S* values) {
            learn_many(
                SparseRows<T, S>({values, data.shape(0)}, view(indices), view(indptr), width), y, w,
                ids);
        });
    }

    // The short way, for one more example: it gets the next number. False, and nothing has happened:
    // x must go the long way, which converts it or says what is wrong.
    bool learn_next(nb::handle row, double y, double w, Register& numbers) {
        const PlainArray x(row);
        return x.visit([&](const auto* values, std::size_t n) {
            return learn_plain(values, n, y, w, numbers);
        });
    }
    enum class NewNames { taught, refused };
    bool learn_next_dict(const Features& x, const Vocabulary& vocabulary, double y, double w,
                         Register& numbers, NewNames strangers = NewNames::taught) {
        const Register::Turn turn(numbers);
        Borrowed<NamedRow<T>> named;
        Names fresh;
        const std::optional<Row<T>> row = try_read(*named, x, vocabulary, fresh);
        if (!row || is_too_long(*row) || numbers.full()) return false;
        if (strangers == NewNames::refused && !fresh.empty()) return false;
        Taught taught(vocabulary, fresh);
        learn(*row, y, w, Id(numbers.next.load()));
        taught.keep();
        ++numbers.next;
        return true;
    }

    // Both in one callable of x and y, for examples of weight 1: arrays of that width, and dicts of
    // names that the vocabulary has. target(y) is the number of y, or None. It holds on to the core
    // unseen by the garbage collector: not for a core that may hold on to its holder.
    static nb::object straight(nb::handle_t<Shared> core, const nb::callable& target,
                               std::size_t width, const nb::object& vocabulary,
                               const nb::object& numbers) {
        const nb::object array = nb::module_::import_("numpy").attr("ndarray");
        const auto learn = [=, held = nb::borrow(core), model = nb::inst_ptr<Shared>(core),
                            turns = nb::cast<Register*>(numbers)](nb::handle x, nb::handle y) {
            const bool named = PyDict_CheckExact(x.ptr()) && !vocabulary.is_none();
            if (!named && x.type().ptr() != array.ptr()) return false;
            const std::optional<double> number = number_of(target, y);
            if (!number) return false;
            if (named)
                return model->learn_next_dict(nb::borrow<Features>(x),
                                              nb::borrow<Vocabulary>(vocabulary), *number, 1.0,
                                              *turns, NewNames::refused);
            return PlainArray(x).visit([&](const auto* values, std::size_t n) {
                return n == width && model->learn_plain(values, n, *number, 1.0, *turns);
            });
        };
        return nb::cpp_function(learn, nb::arg("x").none(), nb::arg("y").none());
    }

    // ---- scoring ----

    template <class What>
    Array<Output, 2> score_dense(const Values2& X) const {
        return typed(X, [&]<class S>(const S* values) {
            const Meaning meaning{precomputed()};
            return score_many<What>(DenseRows<T, S>(values, X.shape(0), X.shape(1), meaning));
        });
    }

    template <class What>
    Array<Output, 2> score_sparse(const Values1& data, const Vector<std::int32_t>& indices,
                                  const Vector<std::int64_t>& indptr, std::size_t width) const {
        return typed(data, [&]<class S>(const S* values) {
            return score_many<What>(
                SparseRows<T, S>({values, data.shape(0)}, view(indices), view(indptr), width));
        });
    }

    Scores score_one(const Values1& x) const {
        return typed(x, [&]<class S>(const S* values) {
            Borrowed<std::vector<T>> buffer;
            const std::size_t n = x.shape(0);
            const Row<T> row = row_of(values, n, kNoId, *buffer);
            finite(row.values, row.size);
            return score(row);
        });
    }

    Scores score_one_dict(const Features& x, const Vocabulary& vocabulary) const {
        Borrowed<NamedRow<T>> named;
        return score(named->read(x, vocabulary));
    }

    // ---- the rest ----

    // Runs a verb of the algorithm, which may take long, while nobody else changes it.
    template <class Verb>
    auto write(Verb&& verb) {
        const Gil::Released nogil;
        const Signals signals;
        Change change(*this);
        if constexpr (std::is_void_v<decltype(verb(*algo))>) {
            verb(*algo);
            change.stands();
        } else {
            auto result = verb(*algo);
            change.stands();
            return result;
        }
    }
    template <class Verb>
    auto read(Verb&& verb) const {
        const Gil::Released nogil;
        const Signals signals;
        const FairMutex::Reading lock(mutex);
        return verb(std::as_const(*algo));
    }

    // Rounds of steps, each all or nothing. Many short calls would give the GIL away and take it back
    // so often that no other thread gets it.
    bool improve_for_a_while() {
        const Gil::Released nogil;
        const Signals signals;
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
        for (bool more = true; more;) {
            Change change(*this);
            more = algo->improve();
            change.stands();
            if (more && std::chrono::steady_clock::now() >= end) return true;
        }
        return false;
    }

    // ---- all or nothing, over several calls ----

    // From here on all changes are taken back together, should one fail or rollback() ask for it.
    // Other threads that want to change the model wait for commit() or rollback().
    void begin() {
        const auto lock = writing();
        mark();
        together = true;
        writer = std::this_thread::get_id();
    }
    void commit() {
        end([&] { before.commit(*algo); });
    }
    void rollback() {
        end([&] { take_back(); });
    }

    Dict state() const {
        ToDict sink;
        Save<ToDict> save(sink);
        const auto lock = reading();
        save("width", width);
        save("outputs", algo->outputs());
        algo->state(save);  // Save only reads
        return sink.dict;
    }

    void load(const Dict& dict) {
        const Signals signals;
        auto fresh = std::make_unique<Algo>(params);
        FromDict source(dict);
        std::size_t saved_width = 0, outputs = 0;
        Load<FromDict> shape(source, 0, 0);
        shape("width", saved_width);
        shape("outputs", outputs);
        demand(outputs > 0, "there is no output");
        Load<FromDict> load(source, saved_width, outputs);
        fresh->state(load);
        source.demand_all_fetched();
        if constexpr (requires { fresh->loaded(); }) fresh->loaded();
        const auto lock = writing();
        algo.swap(fresh);
        width = saved_width;
        together = false;
    }

    void merge(const Shared& other, std::int64_t shift, const Vector<std::int64_t>& numbers) {
        const auto [theirs, columns] =
            other.read([&](const Algo& algo) { return std::pair(algo, other.width); });
        const Gil::Released nogil;
        const Signals signals;
        Change change(*this);
        algo->merge(theirs, shift, view(numbers));
        width = std::max(width, columns);
        change.stands();
    }

    std::atomic<std::size_t> threads{1};    // that a call may use; the results are the same bits
    std::atomic<std::uint64_t> changes{0};  // calls that stand

    bool precomputed() const {
        if constexpr (requires { params.kernel.shape; })
            return params.kernel.shape == Shape::precomputed;
        return false;
    }
    const UserKernel* user_kernel() const {
        if constexpr (requires { params.kernel.function; })
            return params.kernel.function.template target<UserKernel>();
        return nullptr;
    }

  private:
    Params params;
    std::unique_ptr<Algo> algo;
    std::size_t width = 0;  // features so far; 0: none seen
    mutable FairMutex mutex;

    Before<Algo> before;
    std::size_t width_before = 0;
    std::uint64_t changes_before = 0;
    bool together = false;   // between begin() and commit() or rollback()
    std::thread::id writer;  // who has changed something and is not done; nobody else may
    mutable std::condition_variable_any done;

    auto writing() const {
        std::unique_lock lock(mutex);
        if (!mine()) {
            const Gil::Released nogil;
            done.wait(lock, [&] { return mine(); });
        }
        return lock;
    }
    bool mine() const {
        return writer == std::thread::id() || writer == std::this_thread::get_id();
    }

    // With the lock held, so nobody else writes it.
    void changed() noexcept {
        changes.store(changes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    void mark() {
        before.mark(*algo);
        width_before = width;
        changes_before = changes;
    }
    void take_back() noexcept {
        before.revert(*algo);
        width = width_before;
        changes = changes_before;
        together = false;
    }
    template <class How>
    void end(How&& how) {
        const auto lock = writing();
        if (!together) return;
        how();
        together = false;
        writer = {};
        done.notify_all();
    }

    // One call that changes the model. Unless it stands in the end, the model is what it was before
    // the call or, after begin(), before that.
    class Change {
      public:
        explicit Change(Shared& shared) : shared(shared), lock(shared.writing()) {
            if (!shared.together) shared.mark();
        }
        Change(const Change&) = delete;
        Change& operator=(const Change&) = delete;
        ~Change() {
            if (!stood) shared.take_back();
            if (shared.together || shared.writer == std::thread::id()) return;
            shared.writer = {};
            shared.done.notify_all();
        }
        void stands() noexcept {
            stood = true;
            shared.changed();
            if (!shared.together) shared.before.commit(*shared.algo);
        }
        // Lets readers in.
        void pause() {
            shared.writer = std::this_thread::get_id();
            lock.unlock();
            lock.lock();
        }

      private:
        Shared& shared;
        std::unique_lock<FairMutex> lock;
        bool stood = false;
    };
    FairMutex::Reading reading() const { return FairMutex::Reading(mutex); }

    // What was announced is forgotten with the block, even where learning it failed.
    struct LookAhead {
        Algo& algo;
        LookAhead(Algo& algo, std::span<const Row<T>> block) : algo(algo) {
            if constexpr (requires { algo.expect(block); }) algo.expect(block);
        }
        ~LookAhead() {
            if constexpr (requires { algo.expect({}); }) algo.expect({});
        }
        void turn(std::size_t i) const {
            if constexpr (requires { algo.turn(i); }) algo.turn(i);
        }
    };

    // Dense rows are all as wide as the first; sparse ones may bring new features.
    void demand_fit(Row<T> x) const {
        if (!x.sparse() && width != 0 && x.width != width)
            throw std::invalid_argument("X has " + std::to_string(x.width) +
                                        " features, but the model was started with " +
                                        std::to_string(width));
    }
    void settle(Row<T> x) {
        demand_fit(x);
        width = std::max(width, x.width);
        if constexpr (requires { algo->use_threads(1); }) algo->use_threads(hands());
    }

    void learn(Row<T> x, double y, double w, Id id) {
        const Signals signals;
        if constexpr (requires { algo->steps_whole(); })
            if (const auto lock = writing(); !together && algo->steps_whole()) {
                demand_fit(x);
                algo->learn(x, y, w, id);  // it fails before it changes anything, or not at all
                width = std::max(width, x.width);
                return changed();
            }
        Change change(*this);
        settle(x);
        algo->learn(x, y, w, id);
        change.stands();
    }

    template <class Rows>
    void learn_many(Rows rows, const Vector<double>& y, const Vector<double>& w,
                    const Vector<Id>& ids) {
        const std::size_t n = rows.size();
        same_length("y", y.shape(0), n);
        same_length("sample_weight", w.shape(0), n);
        same_length("ids", ids.shape(0), n);
        const double *targets = y.data(), *weights = w.data();
        const Id* names = ids.data();

        const Gil::Released nogil;
        const Signals signals;
        if constexpr (requires { algo->learn_chunk(rows.block(0, n), {}, {}, {}); }) {
            const auto chunk = rows.block(0, n);
            Change change(*this);
            if (n > 0) settle(chunk.front());
            algo->learn_chunk(chunk, {targets, n}, {weights, n}, {names, n});
            return change.stands();
        }
        Change change(*this);
        for (std::size_t begin = 0; begin < n; begin += learn_block) {
            const auto block = rows.block(begin, std::min(learn_block, n - begin));
            demand_finite(block);
            poll(block.size() * block.front().width);
            if (begin > 0) change.pause();
            settle(block.front());
            const LookAhead ahead(*algo, block);
            for (std::size_t i = 0; i < block.size(); ++i) {
                ahead.turn(i);
                if constexpr (requires { rows.approach(i); })
                    rows.approach(begin + learn_block + i);
                algo->learn(block[i], targets[begin + i], weights[begin + i], names[begin + i]);
            }
        }
        change.stands();
    }

    // Just before they are learned, while they are in the cache: all of them lie side by side.
    static void demand_finite(std::span<const Row<T>> block) {
        const T* const from = block.front().values;
        finite(from, std::size_t(block.back().values + block.back().size - from));
    }

    // All rows of one call are scored by one and the same state of the model.
    template <class What, class Rows>
    Array<Output, 2> score_many(const Rows& rows) const {
        const std::size_t n = rows.size();
        std::vector<Output> out;
        std::size_t outputs = 0;
        {
            const Gil::Released nogil;
            const Signals signals;
            const FairMutex::Reading lock(mutex);
            outputs = What::columns(*algo);
            out.resize(n * outputs);
            share_out(hands(), n, score_block, [&](std::size_t first, std::size_t last) {
                score_part<What>(rows, first, last, out.data() + first * outputs);
            });
            demand_scores(out.data(), out.size());
        }
        return to_numpy(std::move(out), {n, outputs});
    }
    template <class What, class Rows>
    void score_part(Rows rows, std::size_t first, std::size_t last, Output* at) const {
        const std::size_t columns = What::columns(*algo);
        for (std::size_t begin = first; begin < last; begin += score_block) {
            const auto block = rows.block(begin, std::min(score_block, last - begin));
            poll(block.size() * block.front().width * columns);
            demand_fit(block.front());
            What::score(*algo, block, at);
            at += block.size() * columns;
        }
    }

    Scores score(Row<T> row) const {
        Borrowed<std::vector<Output>> borrowed;
        std::vector<Output>& out = *borrowed;
        {
            const Signals signals;
            const auto lock = reading();
            demand_fit(row);
            out.resize(algo->outputs());
            algo->score(row, out.data());
        }
        demand_scores(out.data(), out.size());
        nb::object scores = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(out.size())));
        for (std::size_t i = 0; i < out.size(); ++i)
            PyTuple_SetItem(scores.ptr(), static_cast<Py_ssize_t>(i),
                            PyFloat_FromDouble(double(out[i])));
        return nb::borrow<Scores>(scores);
    }

    template <class S>
    bool learn_plain(const S* values, std::size_t n, double y, double w, Register& numbers) {
        Borrowed<std::vector<T>> buffer;
        const Register::Turn turn(numbers);
        if (numbers.full() || (precomputed() && numbers.next >= n)) return false;
        const Id id = Id(numbers.next.load());
        const Row<T> row = row_of(values, n, id, *buffer);
        if (is_too_long(row)) return false;  // which NaN is, too
        learn(row, y, w, id);
        ++numbers.next;
        return true;
    }
    // The values of one example as the core sees them; the buffer keeps them alive.
    template <class S>
    Row<T> row_of(const S* values, std::size_t n, Id id, std::vector<T>& buffer) const {
        if (!precomputed()) return {as(values, n, buffer), n};
        buffer.resize(std::max(buffer.size(), GramRow<T>::head + n));
        return numbered(values, n, id, buffer.data());
    }
    static std::optional<double> number_of(const nb::callable& target, nb::handle y) {
        const Callback asking;
        PyObject* arguments[] = {nullptr, y.ptr()};  // a bound method puts its self in front
        const nb::object found = nb::steal(PyObject_Vectorcall(
            target.ptr(), arguments + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
        const double number =
            found.is_valid() && !found.is_none() ? PyFloat_AsDouble(found.ptr()) : 0.0;
        if (PyErr_Occurred()) {
            if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
            PyErr_Clear();  // no target at all: validation says so
            return std::nullopt;
        }
        return found.is_none() ? std::nullopt : std::optional(number);
    }
    static std::optional<Row<T>> try_read(NamedRow<T>& named, const Features& x,
                                          const Vocabulary& vocabulary, Names& fresh) {
        const Callback reading;
        try {
            return named.read(x, vocabulary, &fresh);
        } catch (const std::invalid_argument&) {
            return std::nullopt;
        }
    }
    // Its own kernel value is none; a step of weights would find out when it is half done.
    static bool is_too_long(Row<T> x) { return !std::isfinite(squared_norm(x.values, x.size)); }
    static void demand_scores(const Output* scores, std::size_t n) {
        if (!all_finite(scores, n))
            throw std::invalid_argument("X: a score is too large for a number; scale the features");
    }

    // A kernel in Python runs under the GIL: more threads would only queue for it.
    std::size_t hands() const { return user_kernel() ? 1 : threads.load(); }
};

// For Python's garbage collector: which callable an instance holds, and how to drop it.
template <class Model>
struct Collected {
    static const UserKernel* kernel(PyObject* self) {
        return nb::inst_ready(self) ? nb::inst_ptr<Model>(self)->user_kernel() : nullptr;
    }
    static int traverse(PyObject* self, visitproc visit, void* arg) {
        Py_VISIT(Py_TYPE(self));
        if (const UserKernel* user = kernel(self)) Py_VISIT(user->callable().ptr());
        return 0;
    }
    static int clear(PyObject* self) {
        if (const UserKernel* user = kernel(self)) user->callable() = nb::callable();
        return 0;
    }
    static inline PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                                         {Py_tp_clear, reinterpret_cast<void*>(clear)},
                                         {0, nullptr}};
};

template <class Algo, class T>
void bind_as(nb::module_& m, const std::string& name) {
    using Model = Shared<Algo, T>;
    using namespace nb::literals;
    nb::class_<Model> model(m, name.c_str(), nb::type_slots(Collected<Model>::slots));
    model.def(nb::init<const Dict&>(), "params"_a)
        .def("learn_dense", &Model::learn_dense, "X"_a, "y"_a, "w"_a, "ids"_a)
        .def("learn_sparse", &Model::learn_sparse, "data"_a, "indices"_a, "indptr"_a, "width"_a,
             "y"_a, "w"_a, "ids"_a)
        .def("learn_next", &Model::learn_next, "x"_a, "y"_a, "w"_a, "numbers"_a)
        .def(
            "learn_next_dict",
            [](Model& self, const Features& x, const Vocabulary& vocabulary, double y, double w,
               Register& numbers) { return self.learn_next_dict(x, vocabulary, y, w, numbers); },
            "x"_a, "vocabulary"_a, "y"_a, "w"_a, "numbers"_a)
        .def_static("straight", &Model::straight, "core"_a, "target"_a, "width"_a,
                    "vocabulary"_a.none(), "numbers"_a)
        .def("score_dense", &Model::template score_dense<Outputs>, "X"_a)
        .def("score_sparse", &Model::template score_sparse<Outputs>, "data"_a, "indices"_a,
             "indptr"_a, "width"_a)
        .def("score_one", &Model::score_one, "x"_a)
        .def("score_one_dict", &Model::score_one_dict, "x"_a, "vocabulary"_a)
        .def("begin", &Model::begin,
             "From here on all changes stand or fall together: commit or rollback ends it.")
        .def("commit", &Model::commit)
        .def("rollback", &Model::rollback)
        .def("state", &Model::state)
        .def("load", &Model::load, "state"_a)
        .def(
            "grow",
            [](Model& self, std::size_t classes) {
                self.write([&](Algo& algo) { algo.grow(classes); });
            },
            "classes"_a)
        .def_prop_rw(
            "threads", [](const Model& self) { return self.threads.load(); },
            [](Model& self, std::size_t n) { self.threads = n; })
        .def_prop_ro("changes", [](const Model& self) { return self.changes.load(); })
        .def_prop_ro("outputs",
                     [](const Model& self) {
                         return self.read([](const Algo& algo) { return algo.outputs(); });
                     })
        .def_prop_ro("nbytes", [](const Model& self) {
            return self.read([](const Algo& algo) { return algo.nbytes(); });
        });

    if constexpr (requires(const Algo& algo) { algo.pairs(); })
        model.def("score_pairs_dense", &Model::template score_dense<Pairs>, "X"_a)
            .def("score_pairs_sparse", &Model::template score_sparse<Pairs>, "data"_a, "indices"_a,
                 "indptr"_a, "width"_a);

    bind_verbs<Algo>(model);
}

template <template <class> class Algo>
void bind(nb::module_& m, const std::string& stem) {
    bind_as<Algo<float>, float>(m, stem + "32");
    bind_as<Algo<double>, double>(m, stem + "64");
}

}  // namespace onlinesvm::bind
