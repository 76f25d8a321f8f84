// The class Model of Python: any method, shared by threads.
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "arrays.hpp"
#include "borrowed.hpp"
#include "fair_mutex.hpp"
#include "gil.hpp"
#include "module.hpp"
#include "named.hpp"
#include "onlinesvm/function/linear_model.hpp"
#include "onlinesvm/loops/threads.hpp"
#include "onlinesvm/model/methods.hpp"
#include "register.hpp"
#include "signals.hpp"
#include "state.hpp"
#include "values.hpp"

namespace onlinesvm::bind {
namespace {

// What of a model is scored: its outputs, or the pairs of classes behind them.
struct Outputs {
    static std::size_t columns(const Model& model) { return model.outputs(); }
    template <class T, class Out>
    static void score(const ModelIn<T>& model, std::span<const Row<T>> rows, Out* out) {
        if constexpr (std::is_same_v<Out, double>)
            model.score(rows, out);
        else
            model.transform(rows, out);
    }
};
struct Pairs {
    static std::size_t columns(const Model& model) { return model.pairs(); }
    template <class T, class Out>
    static void score(const ModelIn<T>& model, std::span<const Row<T>> rows, Out* out) {
        if constexpr (std::is_same_v<Out, double>) model.score_pairs(rows, out);
    }
};

Kernel kernel_in(const Record& params) {
    const Value* const found = params.find("kernel");
    const Record* const record = found ? std::get_if<Record>(found) : nullptr;
    return record ? kernel_of(*record) : Kernel();
}

// A model shared by threads: one writer, many readers. Whoever waits for the lock has let go of the
// GIL first, so a user's Python kernel can always run.
class Shared {
  public:
    using Scores = nb::typed<nb::tuple, double, nb::ellipsis>;

    Shared(const std::string& name, const std::string& dtype, const Dict& params)
        : Shared(method(name), type_of(dtype), record_of(params)) {}
    ~Shared() {
        if (!mutex.torn()) return;
        [[maybe_unused]] const Model* left = model.release();  // half of it may be freed already
    }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

    // ---- learning ----

    void learn_dense(const Values2& X, const Vector<double>& y, const Vector<double>& w,
                     const Vector<Id>& ids) {
        learn_many(dense_rows(X), y, w, ids);
    }
    void learn_sparse(const Values1& data, const Vector<std::int32_t>& indices,
                      const Vector<std::int64_t>& indptr, std::size_t width,
                      const Vector<double>& y, const Vector<double>& w, const Vector<Id>& ids) {
        learn_many(sparse_rows(data, indices, indptr, width), y, w, ids);
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
        return in_its_type(
            [&]<class T>(T) { return learn_named<T>(x, vocabulary, y, w, numbers, strangers); });
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
    nb::object score_dense(const Values2& X) const {
        return score_many<What>(dense_rows(X));
    }
    template <class What>
    nb::object score_sparse(const Values1& data, const Vector<std::int32_t>& indices,
                            const Vector<std::int64_t>& indptr, std::size_t width) const {
        return score_many<What>(sparse_rows(data, indices, indptr, width));
    }
    Scores score_one(const Values1& x) const {
        return typed(x, [&](const auto* values) {
            return in_its_type([&]<class T>(T) {
                Borrowed<std::vector<T>> buffer;
                const Row<T> row = row_of(values, x.shape(0), kNoId, *buffer);
                demand_finite(row.values, row.size);
                return score(row);
            });
        });
    }
    Scores score_one_dict(const Features& x, const Vocabulary& vocabulary) const {
        return in_its_type([&]<class T>(T) {
            Borrowed<NamedRow<T>> named;
            return score(named->read(x, vocabulary));
        });
    }

    // ---- what a method offers besides ----

    const Verb* find(std::string_view name) const {
        for (const Verb& verb : verbs)
            if (verb.name == name) return &verb;
        return nullptr;
    }
    nb::object call(const Verb& verb, const List& values) {
        const Arguments given(verb.name, values);
        if (verb.way == Way::round) return nb::bool_(go_on_for_a_while(verb, given));
        return to_python(verb.way == Way::act
                             ? write([&](Model& model) { return verb.call(model, given); })
                             : read([&] { return verb.call(*model, given); }));
    }

    // Runs what may take long, while nobody else changes the model.
    template <class Act>
    auto write(Act&& act) -> decltype(act(std::declval<Model&>())) {
        const Gil::Released nogil;
        const Signals signals;
        Change change(*this);
        auto result = act(*model);
        change.stands();
        return result;
    }
    template <class Ask>
    auto read(Ask&& ask) const -> decltype(ask()) {
        const Gil::Released nogil;
        const Signals signals;
        const FairMutex::Reading lock(mutex);
        return ask();
    }
    void grow(std::size_t classes) {
        write([&](Model& model) { return model.grow(classes), true; });
    }
    std::size_t outputs() const {
        return read([&] { return model->outputs(); });
    }
    bool has_pairs() const { return kind.pairs; }
    std::size_t nbytes() const {
        return read([&] { return model->nbytes(); });
    }
    std::shared_ptr<const Model> copy() const {
        return read([&] { return std::shared_ptr<const Model>(model->copy()); });
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
        end([&] { model->commit(); });
    }
    void rollback() {
        end([&] { take_back(); });
    }

    Dict state() const {
        ToDict sink;
        const auto lock = reading();
        model->save(sink);
        return sink.dict;
    }
    void load(const Dict& dict) {
        const Signals signals;
        auto fresh = method_.make(type, params);
        FromDict source(dict);
        fresh->load(source);
        source.demand_all_fetched();
        const auto lock = writing();
        model.swap(fresh);
        together = false;
    }

    std::atomic<std::size_t> threads{1};    // that a call may use; the results are the same bits
    std::atomic<std::uint64_t> changes{0};  // calls that stand
    // Largest |x|^2 of a row that learn_next takes: what is longer may end in scores that overflow.
    std::atomic<double> longest{std::numeric_limits<double>::max()};

    const UserKernel* user_kernel() const { return kernel.function.target<UserKernel>(); }

  private:
    const Method& method_;
    const Type type;
    const Record params;
    const Kernel kernel;
    std::unique_ptr<Model> model;  // by whoever has the lock
    const Kind kind;
    const std::span<const Verb> verbs;  // those of its type
    mutable FairMutex mutex;

    std::uint64_t changes_before = 0;
    bool together = false;   // between begin() and commit() or rollback()
    std::thread::id writer;  // who has changed something and is not done; nobody else may
    mutable std::condition_variable_any done;

    Shared(const Method& method, Type type, Record given)
        : method_(method),
          type(type),
          params(std::move(given)),
          kernel(kernel_in(params)),
          model(method.make(type, params)),
          kind(model->kind()),
          verbs(model->verbs()) {}

    bool precomputed() const { return kernel.shape == Shape::precomputed; }

    // act(T()) for the type of the model's rows.
    template <class Act>
    auto in_its_type(Act&& act) const -> decltype(act(float())) {
        if (kind.floats) return act(float());
        return act(double());
    }
    template <class T>
    ModelIn<T>& in() {
        return static_cast<ModelIn<T>&>(*model);
    }
    template <class T>
    const ModelIn<T>& in() const {
        return static_cast<const ModelIn<T>&>(*model);
    }

    std::unique_lock<FairMutex> writing() const {
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
    FairMutex::Reading reading() const { return FairMutex::Reading(mutex); }

    // With the lock held, so nobody else writes it.
    void changed() noexcept {
        changes.store(changes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    void mark() {
        model->mark();
        changes_before = changes;
    }
    void take_back() noexcept {
        model->revert();
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
            if (!shared.together) shared.model->commit();
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

    // Rounds of steps, each all or nothing. Many short calls would give the GIL away and take it back
    // so often that no other thread gets it.
    bool go_on_for_a_while(const Verb& verb, const Arguments& given) {
        const Gil::Released nogil;
        const Signals signals;
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
        for (bool more = true; more;) {
            Change change(*this);
            more = std::get<bool>(verb.call(*model, given));
            change.stands();
            if (more && std::chrono::steady_clock::now() >= end) return true;
        }
        return false;
    }

    template <class T>
    void learn(const Row<T>& x, double y, double w, Id id) {
        const Signals signals;
        if (kind.whole_steps)
            if (const auto lock = writing(); !together && in<T>().learn_whole(x, y, w, id))
                return changed();
        Change change(*this);
        model->use_threads(hands());
        in<T>().learn(x, y, w, id);
        change.stands();
    }

    void learn_many(const Rows& rows, const Vector<double>& y, const Vector<double>& w,
                    const Vector<Id>& ids) {
        same_length("y", y.shape(0), rows.size());
        same_length("sample_weight", w.shape(0), rows.size());
        same_length("ids", ids.shape(0), rows.size());
        in_its_type([&]<class T>(T) {
            learn_blocks(Blocks<T>(rows, {precomputed(), ids.data()}), y.data(), w.data(),
                         ids.data());
        });
    }
    template <class T>
    void learn_blocks(Blocks<T> rows, const double* y, const double* w, const Id* ids) {
        const std::size_t n = rows.size();
        const Gil::Released nogil;
        const Signals signals;
        if (kind.chunks) {
            const auto chunk = rows.block(0, n);
            Change change(*this);
            model->use_threads(hands());
            in<T>().learn_chunk(chunk, {y, n}, {w, n}, {ids, n});
            return change.stands();
        }
        Change change(*this);
        for (std::size_t begin = 0; begin < n; begin += learn_block) {
            const auto block = rows.block(begin, std::min(learn_block, n - begin));
            demand_finite(block);  // just before they are learned, while they are in the cache
            poll(block.size() * block.front().width);
            if (begin > 0) change.pause();
            model->use_threads(hands());
            in<T>().learn_block(block, y + begin, w + begin, ids + begin, rows,
                                begin + learn_block);
        }
        change.stands();
    }

    // All rows of one call are scored by one and the same state of the model.
    template <class What>
    nb::object score_many(const Rows& rows) const {
        return in_its_type([&]<class T>(T) {
            const Blocks<T> blocks(rows, {precomputed()});
            return kind.transforms ? score_blocks<What, T>(blocks)
                                   : score_blocks<What, double>(blocks);
        });
    }
    template <class What, class Out, class T>
    nb::object score_blocks(const Blocks<T>& rows) const {
        const std::size_t n = rows.size();
        std::vector<Out> out;
        std::size_t columns = 0;
        {
            const Gil::Released nogil;
            const Signals signals;
            const FairMutex::Reading lock(mutex);
            columns = What::columns(*model);
            out.resize(n * columns);
            share_out(hands(), n, score_block, [&](std::size_t first, std::size_t last) {
                score_part<What>(rows, first, last, out.data() + first * columns, columns);
            });
            demand_scores(out.data(), out.size());
        }
        return nb::cast(to_numpy(std::move(out), {n, columns}));
    }
    template <class What, class T, class Out>
    void score_part(Blocks<T> rows, std::size_t first, std::size_t last, Out* at,
                    std::size_t columns) const {
        for (std::size_t begin = first; begin < last; begin += score_block) {
            const auto block = rows.block(begin, std::min(score_block, last - begin));
            poll(block.size() * block.front().width * columns);
            model->demand_fit(block.front());
            What::score(in<T>(), block, at);
            at += block.size() * columns;
        }
    }

    template <class T>
    Scores score(const Row<T>& row) const {
        return kind.transforms ? score_as<T>(row) : score_as<double>(row);
    }
    template <class Out, class T>
    Scores score_as(const Row<T>& row) const {
        Borrowed<std::vector<Out>> borrowed;
        std::vector<Out>& out = *borrowed;
        {
            const Signals signals;
            const auto lock = reading();
            model->demand_fit(row);
            out.resize(model->outputs());
            Outputs::score(in<T>(), std::span(&row, 1), out.data());
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
        return in_its_type([&]<class T>(T) {
            Borrowed<std::vector<T>> buffer;
            const Register::Turn turn(numbers);
            if (numbers.full() || (precomputed() && numbers.next >= n)) return false;
            const Id id = Id(numbers.next.load());
            const Row<T> row = row_of(values, n, id, *buffer);
            if (is_too_long(row)) return false;  // which NaN is, too
            learn(row, y, w, id);
            ++numbers.next;
            return true;
        });
    }
    template <class T>
    bool learn_named(const Features& x, const Vocabulary& vocabulary, double y, double w,
                     Register& numbers, NewNames strangers) {
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
    // The values of one example as the core sees them; the buffer keeps them alive.
    template <class T, class S>
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
    template <class T>
    static std::optional<Row<T>> try_read(NamedRow<T>& named, const Features& x,
                                          const Vocabulary& vocabulary, Names& fresh) {
        const Callback reading;
        try {
            return named.read(x, vocabulary, &fresh);
        } catch (const std::invalid_argument&) {
            return std::nullopt;
        }
    }
    // Also where |x|^2 is NaN or infinite: a step of weights would find out when it is half done.
    template <class T>
    bool is_too_long(const Row<T>& x) const {
        return !(squared_norm(x.values, x.size) <= longest.load(std::memory_order_relaxed));
    }
    template <class Out>
    static void demand_scores(const Out* scores, std::size_t n) {
        if (!onlinesvm::all_finite(scores, n))
            throw std::invalid_argument("X: a score is too large for a number; scale the features");
    }

    // A kernel in Python runs under the GIL: more threads would only queue for it.
    std::size_t hands() const { return user_kernel() ? 1 : threads.load(); }
};

// For Python's garbage collector: which callable an instance holds, and how to drop it.
struct Collected {
    static const UserKernel* kernel(PyObject* self) {
        return nb::inst_ready(self) ? nb::inst_ptr<Shared>(self)->user_kernel() : nullptr;
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

// What is no member of the class: a verb, if the method offers it.
nb::object offered(nb::handle_t<Shared> core, const std::string& name) {
    auto* const self = nb::inst_ptr<Shared>(core);
    const Verb* const verb = self->find(name);
    if (!verb) throw nb::attribute_error(("this method does not offer '" + name + "'").c_str());
    if (verb->way == Way::fact) return self->call(*verb, {});
    return nb::cpp_function([=, held = nb::borrow(core)](const nb::args& given) {
        List values;
        for (const nb::handle each : given) {
            if (nb::isinstance<Shared>(each))
                values.emplace_back(nb::cast<Shared&>(each).copy());
            else
                values.push_back(value_of(each));
        }
        return self->call(*verb, values);
    });
}

}  // namespace

void bind_models(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Shared>(m, "Model", nb::type_slots(Collected::slots))
        .def(nb::init<const std::string&, const std::string&, const Dict&>(), "method"_a, "dtype"_a,
             "params"_a)
        .def("learn_dense", &Shared::learn_dense, "X"_a, "y"_a, "w"_a, "ids"_a)
        .def("learn_sparse", &Shared::learn_sparse, "data"_a, "indices"_a, "indptr"_a, "width"_a,
             "y"_a, "w"_a, "ids"_a)
        .def("learn_next", &Shared::learn_next, "x"_a, "y"_a, "w"_a, "numbers"_a)
        .def(
            "learn_next_dict",
            [](Shared& self, const Features& x, const Vocabulary& vocabulary, double y, double w,
               Register& numbers) { return self.learn_next_dict(x, vocabulary, y, w, numbers); },
            "x"_a, "vocabulary"_a, "y"_a, "w"_a, "numbers"_a)
        .def_static("straight", &Shared::straight, "core"_a, "target"_a, "width"_a,
                    "vocabulary"_a.none(), "numbers"_a)
        .def("score_dense", &Shared::score_dense<Outputs>, "X"_a)
        .def("score_sparse", &Shared::score_sparse<Outputs>, "data"_a, "indices"_a, "indptr"_a,
             "width"_a)
        .def("score_pairs_dense", &Shared::score_dense<Pairs>, "X"_a)
        .def("score_pairs_sparse", &Shared::score_sparse<Pairs>, "data"_a, "indices"_a, "indptr"_a,
             "width"_a)
        .def("score_one", &Shared::score_one, "x"_a)
        .def("score_one_dict", &Shared::score_one_dict, "x"_a, "vocabulary"_a)
        .def("begin", &Shared::begin,
             "From here on all changes stand or fall together: commit or rollback ends it.")
        .def("commit", &Shared::commit)
        .def("rollback", &Shared::rollback)
        .def("state", &Shared::state)
        .def("load", &Shared::load, "state"_a)
        .def("grow", &Shared::grow, "classes"_a)
        .def_prop_rw(
            "threads", [](const Shared& self) { return self.threads.load(); },
            [](Shared& self, std::size_t n) { self.threads = n; })
        .def_prop_rw(
            "longest", [](const Shared& self) { return self.longest.load(); },
            [](Shared& self, double bound) { self.longest = bound; })
        .def_prop_ro("changes", [](const Shared& self) { return self.changes.load(); })
        .def_prop_ro("outputs", &Shared::outputs)
        .def_prop_ro("has_pairs", &Shared::has_pairs, "Whether pairs of classes have scores, too.")
        .def_prop_ro("nbytes", &Shared::nbytes)
        .def("__getattr__", offered, "name"_a, "A verb that the method offers.");
    m.def(
        "offers",
        [](const std::string& name, const std::string& verb) {
            const Method* const found = find_method(name);
            if (!found) return false;
            const auto verbs = found->verbs();
            return std::any_of(verbs.begin(), verbs.end(),
                               [&](const Verb& each) { return each.name == verb; });
        },
        "method"_a, "verb"_a, "Whether a method has a verb that not all have.");
    nb::list names;
    for (const Method& each : methods()) names.append(nb::str(each.name.data(), each.name.size()));
    m.attr("methods") = nb::tuple(names);
}

}  // namespace onlinesvm::bind
