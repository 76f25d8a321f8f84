// The functions f_r that a learner moves, one per output: by weights or by examples, shrunk in one
// multiplication, and averaged over their whole life without work per round.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "onlinesvm/function/kernel_model.hpp"
#include "onlinesvm/function/linear_model.hpp"
#include "onlinesvm/rows/kernel.hpp"
#include "onlinesvm/rows/row.hpp"
#include "onlinesvm/rows/support.hpp"

namespace onlinesvm {

// An example as it arrives, in round t = 1, 2, ...
template <class T>
struct Example {
    const Row<T>& x;
    double y = 0.0, weight = 1.0;
    Id id{};
    std::int64_t t = 0;
};

// What is kept besides f itself.
struct Keeps {
    bool births = false;  // examples, even where weights would do, each with its round
    bool mean = false;    // of all functions that served a round: it predicts
    bool norm = false;    // |f|^2 of each output
    bool bias = false;    // added to f, moved with it, never shrunk; not with a mean
};

// A positive weight that can grow again.
inline constexpr double kLeastWeight = 1e-300;

// One weight of a loop becomes another.
inline void put(const isa::Lazy& w, std::size_t i, double v) {
    w.u[i] -= w.b * (v - w.v[i]);
    w.v[i] = v;
}

// f_r = a_r v_r. The mean is lazy: with S_r = sum over past rounds of f_r = b_r v_r + u_r, a round
// adds a_r to b_r, and a step v_r += d takes b_r d from u_r, so that S_r stays what it was. The model
// holds v_r and, where there is a mean, u_r behind it.
template <class T>
class Function {
  public:
    explicit Function(const Kernel& kernel, Keeps keeps = {});
    Function(const Function&);
    Function(Function&&) noexcept;
    Function& operator=(const Function&);
    Function& operator=(Function&&) noexcept;
    ~Function();

    std::size_t outputs() const { return of.size(); }
    void resize(std::size_t outputs);
    // Two classes share one output f; with a third they become -f/2 and f/2, the same classifier.
    void grow(std::size_t classes);

    // ---- one round ----

    void expect(std::span<const Row<T>> coming);
    void turn(std::size_t i);

    // The newest f at the example about to be learned.
    std::span<const double> read(const Row<T>& x) {
        evaluate(x, raw);
        if (keeps.norm) now = raw;
        return std::span(raw).first(outputs());
    }
    // An example that was read in an earlier round is about to be added: what was read last stands.
    void revisit(const Row<T>& x) { evaluate(x, now); }
    // Whether what was read put another class than y first, or y not alone.
    bool mistook(double y) const {
        // Without a branch that hangs on y alone: nobody can guess labels.
        if (outputs() == 1) return (y > 0.0) != (raw[0] > 0.0) || raw[0] == 0.0;
        const auto label = static_cast<std::size_t>(y);
        for (std::size_t r = 0; r < outputs(); ++r)
            if (r != label && raw[r] >= raw[label]) return true;
        return false;
    }
    // f as it is has served a round: the mean counts it.
    void serve() {
        ++rounds;
        for (std::size_t r = 0; keeps.mean && r < outputs(); ++r) of.edit(r).b += of[r].a;
    }

    // |f_r|^2 from all weights instead of by changes; where there are weights.
    void take_norm_anew(std::size_t r) {
        of.edit(r).norm2 = sum(r, [](double w) { return w * w; });
    }

    double k(const Row<T>& x) const {  // k(x, x)
        return std::visit([&](const auto& m) { return m.norm2(x); }, model);
    }
    double norm2(std::size_t r) const { return of[r].norm2; }
    double norm2() const {
        double sum = 0.0;
        for (const Output& output : of) sum += output.norm2;
        return sum;
    }

    void shrink(double factor) {
        for (std::size_t r = 0; r < outputs(); ++r) shrink(r, factor);
    }
    void shrink(std::size_t r, double factor) {
        Output& output = of.edit(r);
        output.a *= factor;
        if (keeps.norm) {
            output.norm2 *= factor * factor;  // forgets its rounding errors with everything else
            now[r] *= factor;
        }
        if (!(output.a >= kSmall && output.a <= 1.0 / kSmall)) fold(r);
    }

    // The scale into v, and what b says of past rounds into u: S stays what it is, and so it does,
    // digit for digit, whatever becomes of v before the next round is served.
    void fold(std::size_t r);

    // f_output += step k(x, .) for an example that was read before; more of it, if it is stored.
    // In the norm it counts with a coordinate of its own, of squared length `slack`.
    void add(const Example<T>& e, std::span<const Change> changes, double slack = 0.0) {
        if (keeps.norm) lengthen(e, changes, slack);
        if (keeps.bias)
            for (const auto& [r, step] : changes) of.edit(r).bias += step;
        if (auto* m = std::get_if<LinearModel<T>>(&model)) {
            for (const auto& [r, step] : changes) {
                const double a = of[r].a, v = a == 1.0 ? step : step / a;  // w waits for a division
                if (keeps.mean)
                    m->push(e.x, {r * parts, v}, {r * parts + 1, -of[r].b * v});
                else
                    m->push(e.x, {r * parts, v});
            }
            return;
        }
        rescale(changes);
        note_birth(e);
        std::get<KernelModel<T>>(model).add(e.x, e.id, steps);
    }
    // The same, as one more stored example even if it is one already.
    void push(const Example<T>& e, std::span<const Change> changes);

    // ---- weights, one by one ----

    // w = scale v; loops move v.
    double scale(std::size_t r) const { return of[r].a; }
    // The sum of loop(v, x, n) over the features that an example read before has, the constant one
    // too, as far as they lie side by side.
    template <class Loop>
    double sweep(std::size_t r, const Row<T>& x, Loop&& loop) {
        using Linear = LinearModel<T>;
        Linear& m = std::get<Linear>(model);
        const std::array<typename Linear::Part, 2> both{
            {{m, r * parts}, {m, r * parts + parts - 1}}};
        return Linear::sweep(both, x, [&](const auto& at, const T* x, std::size_t n) {
            return loop(isa::Lazy{at[0], at[1], of[r].b}, x, n);
        });
    }
    // loop(v, others, x, n), with the weights of a function that has no mean beside them.
    template <class Loop>
    double sweep(std::size_t r, Function& beside, const Row<T>& x, Loop&& loop) {
        using Linear = LinearModel<T>;
        Linear &m = std::get<Linear>(model), &other = std::get<Linear>(beside.model);
        const std::array<typename Linear::Part, 3> all{
            {{m, r * parts}, {m, r * parts + parts - 1}, {other, r}}};
        return Linear::sweep(all, x, [&](const auto& at, const T* x, std::size_t n) {
            return loop(isa::Lazy{at[0], at[1], of[r].b}, at[2], x, n);
        });
    }
    // Features that x is the first to have start at this weight.
    void begin(const Row<T>& x, double start) {
        std::get<LinearModel<T>>(model).begin(
            x, parts, [&](std::size_t part) { return start / of[part / parts].a; });
    }
    // All features start anew, at this weight.
    void fill(std::size_t r, double weight) {
        std::get<LinearModel<T>>(model).fill(r * parts, weight / of[r].a);
    }
    // What is added to f where no feature is constant.
    void set_constant(std::size_t r, double value) {
        auto& m = std::get<LinearModel<T>>(model);
        const double was = std::exchange(m.constant(r * parts), value / of[r].a);
        if (keeps.mean) m.constant(r * parts + 1) -= of[r].b * (value / of[r].a - was);
    }
    // Sum of rule(w_i) over all features.
    template <class Rule>
    double sum(std::size_t r, Rule&& rule) const {
        return std::get<LinearModel<T>>(model).sum(r * parts,
                                                   [&](double v) { return rule(of[r].a * v); });
    }

    // ---- stored examples; weights store none ----

    bool linear() const { return std::holds_alternative<LinearModel<T>>(model); }
    std::size_t size() const {
        const auto* m = std::get_if<KernelModel<T>>(&model);
        return m ? m->size() : 0;
    }
    std::optional<Slot> find(Id id) const {
        const auto* m = std::get_if<KernelModel<T>>(&model);
        const Slot slot = m ? m->find(id) : Slot{};
        return m && slot < m->size() ? std::optional(slot) : std::nullopt;
    }
    std::optional<Slot> born_in(std::int64_t t) const;
    std::vector<Id> ids() const;
    std::vector<double> bias() const;
    std::span<const std::int64_t> births() const { return {born.data(), born.size()}; }

    // The last one takes the place of the one that goes.
    void drop(Slot slot);
    // x_q <- h x_p + (1 - h) x_q, with the coefficients a s_p + b s_q; p goes.
    void merge(Slot p, Slot q, double h, double a, double b);
    // s_i += d_i s_p for all others; p goes.
    void project(Slot p, std::span<const double> d);
    // k(x_i, x_slot) of every stored i.
    std::span<const T> kernel_row(Slot slot);
    // sum_r s_ri s_rj of every stored i with j, or where there is no j, with itself.
    void products(std::optional<Slot> j, std::vector<double>& out) const;

    // v as it grew: visit(i, v) after each stored example, in slot order.
    template <class Visit>
    void replay(const Row<T>& x, Visit&& visit) const {
        std::get<KernelModel<T>>(model).replay(x, visit);
    }
    std::size_t width() const { return std::get<LinearModel<T>>(model).width(); }
    // Whether x could have been read before: there are as many weights as it is wide.
    bool has_room_for(const Row<T>& x) const {
        const auto* m = std::get_if<LinearModel<T>>(&model);
        return !m || x.width <= m->width();
    }

    // ---- as vectors; without a mean ----

    // f_to = factor f_from
    void copy(std::size_t from, std::size_t to, double factor);
    // f_to = keep f_to + share f_from
    void blend(std::size_t to, double keep, std::size_t from, double share);
    // The functions of another follow; the ids of its examples go up by `shift`.
    void append(const Function& other, std::int64_t shift);
    // Inner products of the outputs, row-major.
    std::vector<double> gram() const;

    // ---- what it says, and what it is made of ----

    void score_many(std::span<const Row<T>> xs, double* out) const;

    Weights weights() const;
    Support<T> support() const;

    std::size_t nbytes() const;

    // What nbytes is at most for the examples stored.
    std::size_t footprint() const;

    auto undoable() { return std::tie(model, of, born, rounds); }

    template <class A>
    void state(A& archive);

  private:
    static constexpr double kSmall = 1e-5;  // a scale that costs digits
    static constexpr std::size_t kFew = 64;

    struct Output {
        double a = 1.0, b = 0.0, bias = 0.0, norm2 = 0.0;

        template <class A>
        void state(A& archive) {
            archive("scale", a), archive("served", b), archive("bias", bias);
            archive("norm2", norm2);
            if constexpr (A::loading)
                demand(a >= kSmall && a <= 1.0 / kSmall && b >= 0.0, "an output is malformed");
        }
    };

    Keeps keeps;
    std::size_t parts;  // of each output: v, or v and u
    std::variant<LinearModel<T>, KernelModel<T>> model;
    PlainLedger<Output> of;          // the outputs
    PlainLedger<std::int64_t> born;  // by slot
    std::int64_t rounds = 0;
    std::vector<double> raw;    // f at the example at hand, when it was read
    std::vector<double> now;    // and after what it shrank since, where there is a norm
    std::vector<Change> steps;  // in units of v and u

    void evaluate(const Row<T>& x, std::vector<double>& f) {
        const auto put = [&](std::size_t r, double v) { f[r] = of[r].a * v + of[r].bias; };
        std::visit([&](auto& m) { m.read(x, parts, put); }, model);
    }

    void copy_part(std::size_t from, std::size_t to, double factor);
    void note_birth(const Example<T>& e) {
        if (!keeps.births) return;
        if (const auto slot = find(e.id))
            born.edit(*slot) = e.t;
        else
            born.push_back(e.t);
    }

    // Steps of f in units of v and u.
    void rescale(std::span<const Change> changes) {
        steps.clear();
        for (const auto& [r, step] : changes) {
            const double v = step / of[r].a;
            steps.push_back({r * parts, v});
            if (keeps.mean) steps.push_back({r * parts + 1, -of[r].b * v});
        }
    }
    void lengthen(const Example<T>& e, std::span<const Change> changes, double slack) {
        const double own = k(e.x) + slack;
        for (const auto& [r, step] : changes)
            of.edit(r).norm2 += step * (2.0 * now[r] + step * own);
    }

    // What predicts, from v and from u, which lies `stride` further.
    double predicted(std::size_t r, const double* v, std::size_t stride) const {
        if (!keeps.mean) return of[r].a * v[0];
        return ((of[r].b + of[r].a) * v[0] + v[stride]) / static_cast<double>(rounds + 1);
    }
};

extern template class Before<Function<float>>;
extern template class Before<Function<double>>;

}  // namespace onlinesvm
