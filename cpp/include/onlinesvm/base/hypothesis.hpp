// The function a step-based learner moves: f = a v, by weights or by examples, shrunk in one
// multiplication, and averaged over its whole life without work per round.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "onlinesvm/base/expansion.hpp"
#include "onlinesvm/base/kernel.hpp"
#include "onlinesvm/base/linear.hpp"
#include "onlinesvm/base/row.hpp"
#include "onlinesvm/base/support.hpp"

namespace onlinesvm {

// What is kept of the examples: with a linear kernel their weighted sum is enough.
enum class Keep { least, examples };

// Which function predicts: the newest, or the mean of all that served a round.
enum class Predictor { newest, average };

// The mean is lazy. With S = sum over past rounds of f_t = b v + u, a round adds a to b, and a step
// v += d takes b d from u, so that S stays what it was. For each output r the model holds v_r and,
// where there is a mean, u_r behind it.
template <class T>
class Hypothesis {
  public:
    explicit Hypothesis(const Kernel& kernel, Keep keep = Keep::least,
                        Predictor predictor = Predictor::newest)
        : model(LinearModel<T>(kernel.offset)), parts(predictor == Predictor::average ? 2 : 1) {
        if (kernel.shape != Shape::linear || keep == Keep::examples) model = KernelModel<T>(kernel);
        std::visit([&](auto& m) { m.grow(parts); }, model);
        steps.reserve(2 * parts);
    }

    std::size_t outputs() const {
        const std::size_t held = std::visit([](const auto& m) { return m.outputs(); }, model);
        return parts == 1 ? held : held / 2;  // a division takes as long as a step
    }

    // Two classes share one output f; with a third they become -f/2 and f/2, the same classifier.
    void grow(std::size_t classes) {
        if (classes < 3 || classes <= outputs()) return;
        const bool was_binary = outputs() == 1;
        steps.reserve(classes * parts);  // so that a step in weights cannot fail
        std::visit(
            [&](auto& m) {
                m.grow(classes * parts);
                for (std::size_t k = 0; was_binary && k < parts; ++k)
                    m.copy(k, parts + k, 0.5), m.copy(k, k, -0.5);
            },
            model);
    }

    void expect(std::span<const Row<T>> coming) {
        if (auto* m = std::get_if<KernelModel<T>>(&model)) m->expect(coming);
    }

    // By weights alone: adding an example takes no memory that it could lack.
    bool linear() const { return std::holds_alternative<LinearModel<T>>(model); }

    void turn(std::size_t i) {
        if (auto* m = std::get_if<KernelModel<T>>(&model)) m->turn(i);
    }

    // The newest function at the example about to be learned.
    std::span<const double> read(Row<T> x) {
        raw.resize(outputs());
        std::visit([&](auto& m) { m.read(x, parts, raw.data()); }, model);
        for (double& f : raw) f *= a;
        return raw;
    }

    double norm2(Row<T> x) const {
        return std::visit([&](const auto& m) { return m.norm2(x); }, model);
    }

    // f_t has served a round.
    void serve() {
        b += a;
        ++rounds;
    }

    // f *= factor, 0 < factor. A small a is folded into v before it costs digits.
    void shrink(double factor) {
        a *= factor;
        if (a >= kSmall) return;
        std::visit(
            [&](auto& m) {
                for (std::size_t r = 0; r < m.outputs(); r += parts) {
                    if (parts == 2) m.blend(r, r + 1, b);
                    m.copy(r, r, a);
                }
            },
            model);
        a = 1.0;
        b = 0.0;
    }

    // f_output += step k(x, .), for an example that was read before.
    void add(Row<T> x, std::int64_t id, std::span<const Change> changes) {
        rescale(changes);
        std::visit([&](auto& m) { m.add(x, id, steps); }, model);
    }
    // The same, as one more stored example even if it is one already.
    void push(Row<T> x, std::int64_t id, std::span<const Change> changes) {
        rescale(changes);
        std::get<KernelModel<T>>(model).push(x, id, steps);
    }

    // Whether an example of this id is stored, and in which slot; weights store none.
    std::optional<std::size_t> find(std::int64_t id) const {
        const auto* m = std::get_if<KernelModel<T>>(&model);
        if (!m || m->find(id) == m->size()) return std::nullopt;
        return m->find(id);
    }
    // How many examples are stored.
    std::size_t size() const {
        const auto* m = std::get_if<KernelModel<T>>(&model);
        return m ? m->size() : 0;
    }
    // Whether x could have been read before: there are as many weights as it is wide.
    bool has_room_for(Row<T> x) const {
        const auto* m = std::get_if<LinearModel<T>>(&model);
        return !m || x.width <= m->width();
    }
    // Forgets the stored example in this slot; the last one takes its place.
    void drop(std::size_t slot) { std::get<KernelModel<T>>(model).drop(slot); }

    void score(Row<T> x, double* out) const { score_many({&x, 1}, out); }

    void score_many(std::span<const Row<T>> xs, double* out) const {
        const std::size_t width = outputs() * parts;
        std::vector<double> values(xs.size() * width);
        if (const auto* m = std::get_if<KernelModel<T>>(&model))
            m->score_many(xs, values.data());
        else
            for (std::size_t i = 0; i < xs.size(); ++i)
                std::get<LinearModel<T>>(model).score(xs[i], &values[i * width]);
        for (std::size_t i = 0; i < xs.size() * outputs(); ++i)
            out[i] = predicted(&values[i * parts], 1);
    }

    // The newest function as it grew: visit(i, f) after each stored example, in slot order.
    template <class Visit>
    void replay(Row<T> x, Visit&& visit) const {
        std::get<KernelModel<T>>(model).replay(x, visit);
    }

    Weights weights() const {
        const auto* m = std::get_if<LinearModel<T>>(&model);
        if (!m) throw std::logic_error("this model has no weights");
        Weights all = m->weights(), out{all.width, {}, {}};
        for (std::size_t r = 0; r < outputs(); ++r) {
            out.intercept.push_back(predicted(&all.intercept[r * parts], 1));
            for (std::size_t i = 0; i < all.width; ++i)
                out.coef.push_back(predicted(&all.coef[r * parts * all.width + i], all.width));
        }
        return out;
    }

    Support<T> support() const {
        const auto* m = std::get_if<KernelModel<T>>(&model);
        if (!m) throw std::logic_error("this model has no support vectors");
        Support<T> out = m->support();
        const std::size_t n = out.ids.size();
        const std::vector<double> all = std::exchange(out.coef, {});
        for (std::size_t r = 0; r < outputs(); ++r)
            for (std::size_t i = 0; i < n; ++i)
                out.coef.push_back(predicted(&all[r * parts * n + i], n));
        return out;
    }

    std::size_t nbytes() const {
        return sizeof(*this) + std::visit([](const auto& m) { return m.nbytes(); }, model);
    }

    auto undoable() { return std::tie(model, a, b, rounds); }

    template <class A>
    void state(A& archive) {
        if constexpr (A::loading) grow(archive.outputs());
        std::visit([&](auto& m) { archive("model", m); }, model);
        archive("scale", a);
        archive("served", b);
        archive("rounds", rounds);
        if constexpr (A::loading) {
            const std::size_t held = std::visit([](const auto& m) { return m.outputs(); }, model);
            demand(a >= kSmall && a <= 1.0 && b >= 0.0 && held == outputs() * parts &&
                       outputs() == archive.outputs(),
                   "the function does not fit its average");
        }
    }

  private:
    static constexpr double kSmall = 1e-5;  // a scale that costs digits

    std::variant<LinearModel<T>, KernelModel<T>> model;
    std::size_t parts;  // of each output: v, or v and u
    double a = 1.0, b = 0.0;
    std::int64_t rounds = 0;
    std::vector<double> raw;    // of the example at hand
    std::vector<Change> steps;  // in units of v and u

    // Steps of f in units of v and u.
    void rescale(std::span<const Change> changes) {
        steps.clear();
        for (const auto& [output, step] : changes) {
            steps.push_back({output * parts, step / a});
            if (parts == 2) steps.push_back({output * parts + 1, -b * step / a});
        }
    }

    // What predicts, from v and from u, which lies `stride` further.
    double predicted(const double* v, std::size_t stride) const {
        if (parts == 1) return a * v[0];
        return ((b + a) * v[0] + v[stride]) / static_cast<double>(rounds + 1);
    }
};

}  // namespace onlinesvm
