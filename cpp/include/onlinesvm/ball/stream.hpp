// Streamed Learning: One-Pass SVMs (Rai, Daume, Venkatasubramanian, IJCAI 2009).
//
// Example n is the point Z_n = [y_n phi(x_n); e_n / sqrt(C)], and the centre of the smallest ball
// around all points is the weight vector of an SVM with squared slack. One pass keeps a ball that
// holds every point seen: its centre w, its radius R, and xi2, the squared length of the part of
// the centre that belongs to the slacks. A centre is a convex combination, so the errors of what is
// kept incrementally shrink with every update instead of adding up.
//
// Where the paper errs for C != 1: xi2 starts at 1/C and an example adds tau^2/C to it. Where it is
// silent: an example of weight v has the slack 1/(C v), and a lift that makes up for it (cluster.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "onlinesvm/ball/cluster.hpp"
#include "onlinesvm/base/expansion.hpp"
#include "onlinesvm/base/kernel.hpp"
#include "onlinesvm/base/linear.hpp"
#include "onlinesvm/base/row.hpp"
#include "onlinesvm/base/support.hpp"

namespace onlinesvm {

// Feature parts of centres, c_j = scale_j f_j: shrinking one costs a multiplication, so that a
// sparse example costs its stored values and not the width of the model.
template <class Model>
struct Centres {
    Model f;
    PlainLedger<double> scale;

    auto undoable() { return std::tie(f, scale); }
    void grow(std::size_t n) {
        f.grow(n);
        scale.resize(n, 1.0);
    }
    void shrink(std::size_t j, double factor) {
        scale.edit(j) *= factor;
        if (!(scale[j] > kSmall)) settle(j);
    }
    Change adding(std::size_t j, double step) const { return {j, step / scale[j]}; }

    // c_to = keep c_to + share c_from
    void blend(std::size_t to, double keep, std::size_t from, double share) {
        copy(to, to, keep);
        f.blend(from, to, share * scale[from]);
    }
    void copy(std::size_t from, std::size_t to, double factor) {
        f.copy(from, to, factor * scale[from]);
        scale.edit(to) = 1.0;
    }
    void append(const Centres& other, std::int64_t shift) {
        f.append(other.f, shift);
        scale.insert(scale.end(), other.scale.begin(), other.scale.end());
    }
    void cut(std::size_t n) {
        f.cut(n);
        scale.resize(n);
    }

    template <class A>
    void state(A& a) {
        a("f", f);
        a("scale", scale);
        if constexpr (A::loading)
            demand(scale.size() == f.outputs() &&
                       std::all_of(scale.begin(), scale.end(),
                                   [](double s) { return s > kSmall && s < 1 / kSmall; }),
                   "the scales do not fit the centres");
    }

  private:
    static constexpr double kSmall = 1e-100;

    void settle(std::size_t j) { copy(j, j, 1.0); }
};

// An example outside the ball that waits for the next update, as one output sees it.
template <class T>
struct Waiting {
    std::vector<T> values;
    std::vector<std::int32_t> indices;
    bool sparse = false;
    std::size_t width = 0;
    std::int64_t id = 0;
    std::int64_t arrival = 0;
    double step = 1.0;   // y, divided by |phi(x)| where points are normalised
    double slack = 0.0;  // 1 / C
    double inner = 0.0;  // with the centre, which does not move before the update
    double norm2 = 0.0;

    Row<T> row() const {
        static constexpr std::int32_t kNone = 0;  // an empty sparse row is still sparse
        if (!sparse) return {values.data(), nullptr, values.size(), width};
        return {values.data(), indices.empty() ? &kNone : indices.data(), values.size(), width};
    }
};

template <class T>
class StreamSVM {
  public:
    struct Params {
        double C = 1.0;
        std::size_t lookahead = 1;  // L of algorithm 2; 1 is algorithm 1
        std::size_t balls = 1;
        bool normalize = true;  // points of equal length: only then is the ball the SVM
        Kernel kernel;

        template <class F>
        void fields(F&& f) {
            f("C", C);
            f("lookahead", lookahead);
            f("balls", balls);
            f("normalize", normalize);
            f("kernel", kernel);
        }
    };

    explicit StreamSVM(const Params& params) : params(params), model(hypothesis(params)) {
        if (!(params.C > 0.0 && std::isfinite(params.C)))
            throw std::invalid_argument("C: must be positive and finite");
        if (params.lookahead < 1 || params.balls < 1)
            throw std::invalid_argument("lookahead, balls: must be at least 1");
        if (params.lookahead > 1 && params.balls > 1)
            throw std::invalid_argument("lookahead, balls: one of them must be 1");
        resize(1);
    }

    void learn(Row<T> x, double y, double weight, std::int64_t id) {
        std::visit([&](auto& c) { learn(c, x, y, weight, id); }, model);
    }

    // From here on the examples 0 to n - 1 come again and again, each to be given its share of one
    // centre, until the ball is the smallest around them. suffered() counts those that were farther
    // out or in, when they came, than `tol` allows.
    void revisit(std::size_t n, double tol) {
        if (params.balls > 1 || arrivals > 0)
            throw std::logic_error("revisit: for one ball that holds nothing yet");
        share.assign(n * outputs(), 0.0);
        unit.assign(outputs(), 1.0);
        reach2.assign(outputs(), 0.0);
        allowed = tol;
        mode = Mode::ascent;
    }
    // The centres stay as they are; the examples come once more, to be measured.
    void measure() {
        reach2.assign(outputs(), 0.0);
        mode = Mode::measure;
    }
    // The balls reach as far as was measured, and the stream may go on.
    void settle() {
        if (mode == Mode::stream) return;
        for (std::size_t o = 0; o < outputs(); ++o) {
            if (clusters[o].size() == 0) continue;
            Ball& ball = clusters[o].balls[0];
            const double centre = clusters[o].dots[0] + ball.xi2;
            ball.lift2 = 0.0;
            ball.rho = std::sqrt(reach2[o]) + (mode == Mode::ascent ? std::sqrt(centre) : 0.0);
            ball.lower2 = std::max(0.0, clusters[o].dual(0));
            ball.M = 0;
            for (std::size_t n = o; n < share.size(); n += outputs()) ball.M += share[n] > 0.0;
        }
        if (auto* c = std::get_if<Centres<KernelModel<T>>>(&model)) forget_idle(c->f);
        share = std::vector<double>();
        mode = Mode::stream;
    }
    double suffered() const { return violators; }

    void expect(std::span<const Row<T>> coming) {
        if (auto* c = std::get_if<Centres<KernelModel<T>>>(&model)) c->f.expect(coming);
    }
    void turn(std::size_t i) {
        if (auto* c = std::get_if<Centres<KernelModel<T>>>(&model)) c->f.turn(i);
    }

    // Lets the waiting examples in, as if lookahead of them had come.
    void flush() {
        std::visit(
            [&](auto& c) {
                for (std::size_t o = 0; o < outputs(); ++o) flush(c, o);
            },
            model);
    }

    void score(Row<T> x, double* out) const { score_many({&x, 1}, out); }

    void score_many(std::span<const Row<T>> xs, double* out) const {
        std::visit([&](const auto& c) { score_many(c, xs, out); }, model);
    }

    std::size_t outputs() const { return clusters.size(); }

    // One output for two classes; with a third, one against the rest. The ball of class 0 is then
    // the mirror image of that of class 1; a newcomer has seen nothing yet.
    void grow(std::size_t classes) {
        if (classes < 3 || classes <= outputs()) return;
        const bool was_binary = outputs() == 1;
        resize(classes);
        if (!was_binary) return;
        clusters[1] = clusters[0];
        waiting[1] = waiting[0];
        for (Waiting<T>& point : waiting[0].edit()) point.step = -point.step;
        std::visit(
            [&](auto& c) {
                for (std::size_t b = 0; b < params.balls; ++b) {
                    c.copy(b, params.balls + b, 1.0);
                    c.copy(b, b, -1.0);
                }
            },
            model);
    }

    // The model of two streams from the models of each; ids of the other's examples go up by
    // `shift`, and my class c bears numbers[c] over there. Both let their waiting examples in first.
    void merge(StreamSVM other, std::int64_t shift, std::span<const std::int64_t> numbers) {
        if (other.outputs() != outputs() || other.params.balls != params.balls ||
            other.model.index() != model.index())
            throw std::invalid_argument("other: a model of other classes or parameters");
        demand_permutation(numbers);
        flush();
        other.flush();
        lift(other.longest);
        other.lift(longest);
        other.renumber(numbers);
        kept.resize(kept.size() + other.kept.size(), 0);  // nobody waits for these any more
        std::visit(
            [&](auto& c) {
                merge(c, std::get<std::remove_reference_t<decltype(c)>>(other.model),
                      other.clusters, shift);
            },
            model);
    }

    // The radius of each output's ball; with several, of the one around them.
    std::vector<double> radius() const {
        std::vector<double> R;
        for (const Cluster& cluster : clusters)
            R.push_back(cluster.size() ? cluster.whole().R : 0.0);
        return R;
    }

    // How far each radius is from the smallest possible at most, R / R* <= radius_bound.
    std::vector<double> radius_bound() const {
        std::vector<double> bound = radius();
        for (std::size_t o = 0; o < bound.size(); ++o) {
            const double lower = std::sqrt(clusters[o].lower2());
            bound[o] = bound[o] > lower ? bound[o] / lower : 1.0;
        }
        return bound;
    }

    Weights weights() const {
        const auto& c = demand<LinearModel<T>>("weights");
        Weights rows = c.f.weights(), out{rows.width, {}, {}};
        out.coef = mix(shares(c.scale), rows.coef, rows.width);
        out.intercept = mix(shares(c.scale), rows.intercept, 1);
        return out;
    }
    Support<T> support() const {
        const auto& c = demand<KernelModel<T>>("support vectors");
        Support<T> out = c.f.support();
        out.coef = mix(shares(c.scale), out.coef, out.ids.size());
        return out;
    }

    auto undoable() {
        return std::tie(model, clusters, waiting, longest, arrivals, kept, share, unit, reach2,
                        violators);
    }

    template <class A>
    void state(A& a) {
        if constexpr (A::loading) grow(a.outputs());
        std::visit([&](auto& c) { a("centres", c); }, model);
        a("longest", longest);
        if constexpr (A::loading) demand_state(longest >= 0.0);
        ball_state(a);
        waiting_state(a);
        a("arrivals", arrivals);
        a("kept", kept);
        if constexpr (A::loading) {
            const auto* c = std::get_if<Centres<KernelModel<T>>>(&model);
            demand_state(kept.size() == (c ? c->f.size() : 0) && outputs() == a.outputs());
        }
    }

    std::size_t nbytes() const {
        std::size_t bytes =
            sizeof(*this) + kept.capacity() * sizeof(kept[0]) + share.capacity() * sizeof(share[0]);
        bytes += std::visit(
            [](const auto& c) { return c.f.nbytes() + c.scale.capacity() * sizeof(double); },
            model);
        for (const Cluster& cluster : clusters)
            bytes += sizeof(cluster) + cluster.balls.capacity() * sizeof(Ball) +
                     cluster.dots.capacity() * sizeof(double);
        for (const auto& points : waiting) {
            bytes += sizeof(points) + points.capacity() * sizeof(Waiting<T>);
            for (const Waiting<T>& point : points)
                bytes += point.values.capacity() * sizeof(T) +
                         point.indices.capacity() * sizeof(std::int32_t);
        }
        return bytes;
    }

  private:
    using Hypothesis = std::variant<Centres<LinearModel<T>>, Centres<KernelModel<T>>>;

    // The point at hand, as one output sees it.
    struct Point {
        Row<T> x;
        std::int64_t id, arrival;
        double step;   // of phi(x) in the point: the label, over |phi(x)| where normalised
        double norm2;  // of its feature part
        double slack;
    };

    Params params;
    Hypothesis model;                              // outputs x balls centres
    std::vector<Cluster> clusters;                 // one per output
    std::vector<PlainLedger<Waiting<T>>> waiting;  // one list per output
    double longest = 0.0;                          // slack of the lightest example so far
    std::int64_t arrivals = 0;
    PlainLedger<std::int64_t> kept;  // when each stored example arrived; kernels only
    enum class Mode { stream, ascent, measure } mode = Mode::stream;
    PlainLedger<double> share;         // while examples come again: l, over unit, by id and output
    std::vector<double> unit, reach2;  // by output: of the shares; squared, of the farthest point
    double allowed = 0.0, violators = 0.0;
    std::vector<double> products, inner;  // of the example at hand
    std::vector<Change> changes;

    static Hypothesis hypothesis(const Params& params) {
        if (params.kernel.shape == Shape::linear)
            return Centres<LinearModel<T>>{LinearModel<T>(params.kernel.offset), {}};
        return Centres<KernelModel<T>>{KernelModel<T>(params.kernel), {}};
    }

    void resize(std::size_t outputs) {
        std::visit([&](auto& c) { c.grow(outputs * params.balls); }, model);
        clusters.resize(outputs);
        waiting.resize(outputs);
    }

    template <class Model>
    void learn(Centres<Model>& c, Row<T> x, double y, double weight, std::int64_t id) {
        if (!(y >= 0.0 && y < static_cast<double>(std::max<std::size_t>(2, outputs()))))
            throw std::invalid_argument("y: not a known class");
        const double slack = 1.0 / (params.C * weight), k = c.f.norm2(x);
        if (!std::isfinite(slack) || !std::isfinite(k)) return;  // no point of this world
        lift(slack);
        products.resize(c.scale.size());
        c.f.read(x, 1, products.data());
        const bool scaled = params.normalize && k > 0.0;
        const double length = scaled ? 1.0 / std::sqrt(k) : 1.0, norm2 = scaled ? 1.0 : k;
        const auto label = static_cast<std::size_t>(y);
        if (mode != Mode::measure) ++arrivals;
        changes.clear();
        for (std::size_t o = 0; o < outputs(); ++o) {
            const bool positive = label == (outputs() == 1 ? 1 : o);
            const Point z{x, id, arrivals, positive ? length : -length, norm2, slack};
            mode == Mode::stream ? take(c, o, z) : weigh(c, o, z);
        }
        if (changes.empty()) return;
        if (mode == Mode::stream) return keep(c.f, x, id, arrivals, changes);
        c.f.add(x, id, changes);  // more of the example that bears this id
        if constexpr (std::is_same_v<Model, KernelModel<T>>) kept.resize(c.f.size(), 0);
    }

    double lift2(double slack) const { return longest - slack; }
    Ball ball_of(double norm2, double slack) const {
        return {0.0, lift2(slack), slack, 1, norm2 + longest};
    }
    void lift(double slack) {
        if (params.balls > 1 && longest > 0.0 && slack != longest)  // the light ones would decide
            throw std::invalid_argument(
                "sample_weight, class_weight: several balls cannot weigh; take balls=1");
        if (slack <= longest) return;
        if (longest > 0.0) {
            for (Cluster& cluster : clusters) cluster.lift(slack - longest);
            for (double& r2 : reach2) r2 += slack - longest;
        }
        longest = slack;
    }

    // The dual of the smallest ball, D = sum l_n |Z_n|^2 - |c|^2, along c + tau (Z - c): it rises
    // by (d^2 - D) tau - h^2 tau^2, where d is the distance of Z and h that without its lift. So a
    // point farther out than sqrt(D) pulls the centre, at most half the way lest the others' shares
    // vanish, and one farther in lets go of it, down to a share of 0.
    template <class Model>
    void weigh(Centres<Model>& c, std::size_t o, const Point& z) {
        Cluster& cluster = clusters[o];
        const std::size_t at = static_cast<std::size_t>(z.id) * outputs() + o;
        if (at >= share.size()) throw std::invalid_argument("id: not among those announced");
        if (cluster.size() == 0) {
            cluster.push(ball_of(z.norm2, z.slack), {}, z.norm2);
            changes.push_back(c.adding(o, z.step));
            share.edit(at) = 1.0;
            return;
        }
        Ball& ball = cluster.balls[0];
        double& dots = cluster.dots[0];
        const double inner = z.step * c.scale[o] * products[o];
        const double own = std::min(1.0, share[at] * unit[o]);
        const double c2 = dots + ball.xi2, D = ball.square - c2;
        const double h2 = c2 - 2.0 * (inner + own * z.slack) + z.norm2 + z.slack;
        const double d2 = h2 + lift2(z.slack);
        if (mode == Mode::measure) {
            reach2[o] = std::max(reach2[o], d2);
            return;
        }
        reach2[o] = std::max(reach2[o], z.norm2 + longest);
        if (!(h2 > 0.0 && std::isfinite(h2)) || own == 1.0 || (own == 0.0 && d2 <= D)) return;
        if (std::abs(d2 - D) > allowed * std::min(D, c2)) violators += 1.0;
        const double least = -own / (1.0 - own);
        const double tau = std::max(least, std::min(0.5, 0.5 * (d2 - D) / h2));
        const double keep = 1.0 - tau, both = 2.0 * tau * keep;
        dots = std::max(0.0, keep * keep * dots + both * inner + tau * tau * z.norm2);
        ball.xi2 = keep * keep * ball.xi2 + (both * own + tau * tau) * z.slack;
        ball.square = keep * ball.square + tau * (z.norm2 + longest);
        c.shrink(o, keep);
        changes.push_back(c.adding(o, tau * z.step));
        unit[o] *= keep;
        share.edit(at) = tau == least ? 0.0 : (keep * own + tau) / unit[o];
        if (unit[o] > 1e-100 && unit[o] < 1e100) return;
        for (std::size_t n = o; n < share.size(); n += outputs()) share.edit(n) *= unit[o];
        unit[o] = 1.0;
    }
    // Examples with no share in any output are none of the model's.
    void forget_idle(KernelModel<T>& f) {
        const std::vector<std::int64_t> ids = f.support().ids;
        for (std::size_t slot = ids.size(); slot-- > 0;) {
            const auto first = share.cbegin() + ids[slot] * std::int64_t(outputs());
            if (std::any_of(first, first + std::ptrdiff_t(outputs()),
                            [](double l) { return l > 0.0; }))
                continue;
            f.drop(slot);
            kept.edit(slot) = kept.back();
            kept.pop_back();
        }
    }

    void keep(LinearModel<T>& f, Row<T> x, std::int64_t id, std::int64_t,
              std::span<const Change> more) {
        f.add(x, id, more);
    }
    // Several outputs may let the same example in, each in its own time: it is stored once.
    void keep(KernelModel<T>& f, Row<T> x, std::int64_t id, std::int64_t arrival,
              std::span<const Change> more) {
        const auto found = std::find(kept.rbegin(), kept.rend(), arrival);
        if (found != kept.rend()) return f.amend(static_cast<Slot>(kept.rend() - found - 1), more);
        f.push(x, id, more);
        kept.push_back(arrival);
    }

    // Algorithm 1, and the first half of algorithm 2.
    template <class Model>
    void take(Centres<Model>& c, std::size_t o, const Point& z) {
        Cluster& cluster = clusters[o];
        const std::size_t first = o * params.balls;
        inner.resize(cluster.size());
        for (std::size_t b = 0; b < cluster.size(); ++b) {
            inner[b] = z.step * c.scale[first + b] * products[first + b];
            const double d = cluster.distance(b, inner[b], z.norm2, z.slack);
            const double reach = ball_of(z.norm2, z.slack).reach(d);
            if (reach < cluster.balls[b].R() || !std::isfinite(reach)) return;  // enclosed
        }
        if (params.lookahead > 1 && cluster.size() == 1) {
            wait(o, z);
            if (waiting[o].size() == params.lookahead) flush(c, o);
            return;
        }
        cluster.push(ball_of(z.norm2, z.slack), inner, z.norm2);
        if (cluster.size() <= params.balls) {
            changes.push_back(c.adding(first + cluster.size() - 1, z.step));
            return;
        }
        const auto [i, j] = cluster.closest();
        const bool joins = j == params.balls;  // the point itself is one of the two
        const Union u = unite(cluster.balls[i], cluster.balls[j], cluster.distance(i, j));
        cluster.merge(i, j, u);
        if (joins) {
            c.shrink(first + i, 1.0 - u.tau);
            if (u.tau > 0.0) changes.push_back(c.adding(first + i, u.tau * z.step));
            return;
        }
        c.blend(first + i, 1.0 - u.tau, first + j, u.tau);
        c.copy(first + j, first + j, 0.0);
        changes.push_back(c.adding(first + j, z.step));
    }

    void wait(std::size_t o, const Point& z) {
        Waiting<T> point;
        point.values.assign(z.x.values, z.x.values + z.x.size);
        if (z.x.sparse()) point.indices.assign(z.x.indices, z.x.indices + z.x.size);
        point.sparse = z.x.sparse();
        point.width = z.x.width;
        point.id = z.id;
        point.arrival = z.arrival;
        point.step = z.step;
        point.slack = z.slack;
        point.inner = inner[0];
        point.norm2 = z.norm2;
        waiting[o].push_back(std::move(point));
    }

    // The second half of algorithm 2: the exact ball around the ball and the waiting points.
    template <class Model>
    void flush(Centres<Model>& c, std::size_t o) {
        const std::vector<Waiting<T>> points = waiting[o];
        waiting[o].clear();
        if (points.empty()) return;
        const std::vector<double> dots = inner_products(points);
        Ball& ball = clusters[o].balls[0];
        const std::size_t n = points.size() + 1;
        std::vector<double> G(n * n), rho(n), lifts2(n);
        G[0] = clusters[o].dots[0] + ball.xi2;
        rho[0] = ball.rho;
        lifts2[0] = ball.lift2;
        for (std::size_t a = 1; a < n; ++a) {
            G[a] = G[a * n] = points[a - 1].inner;
            for (std::size_t b = 1; b < n; ++b) G[a * n + b] = dots[(a - 1) * (n - 1) + (b - 1)];
            G[a * n + a] += points[a - 1].slack;
            lifts2[a] = lift2(points[a - 1].slack);
        }
        const auto [R, l] = enclosing_ball(G, rho, lifts2);
        const double floor2 = *std::min_element(lifts2.begin(), lifts2.end());

        double norm2 = 0.0, slacks = l[0] * l[0] * ball.xi2, square = l[0] * ball.square;
        for (std::size_t a = 0; a < n; ++a)
            for (std::size_t b = 0; b < n; ++b) norm2 += l[a] * l[b] * G[a * n + b];
        for (std::size_t a = 1; a < n; ++a) {
            slacks += l[a] * l[a] * points[a - 1].slack;
            square += l[a] * (G[a * n + a] + lifts2[a]);
        }
        clusters[o].dots[0] = std::max(0.0, norm2 - slacks);
        ball = {under(floor2, std::max(R, ball.R())),
                floor2,
                slacks,
                ball.M + static_cast<std::int64_t>(points.size()),
                square,
                ball.lower2};
        ball.lower2 = std::max(ball.lower2, clusters[o].dual(0));
        c.shrink(o, l[0]);
        for (std::size_t a = 1; a < n; ++a) {
            if (l[a] == 0.0) continue;
            const Waiting<T>& point = points[a - 1];
            const Change change = c.adding(o, l[a] * point.step);
            keep(c.f, point.row(), point.id, point.arrival, {&change, 1});
        }
    }

    std::vector<double> inner_products(const std::vector<Waiting<T>>& points) const {
        const std::size_t n = points.size();
        Store<T> store(params.kernel);
        for (const Waiting<T>& point : points) store.push(point.row());
        Aligned<T> row(store.padded_size());
        std::vector<double> dots(n * n);
        for (std::size_t a = 0; a < n; ++a) {
            store.row(points[a].row(), 0, a + 1, row.data());
            for (std::size_t b = 0; b < a; ++b)
                dots[a * n + b] = dots[b * n + a] = points[a].step * points[b].step * row[b];
            dots[a * n + a] = points[a].norm2;
        }
        return dots;
    }

    void demand_permutation(std::span<const std::int64_t> numbers) const {
        std::vector<bool> met(std::max<std::size_t>(2, outputs()));
        for (const std::int64_t number : numbers) {
            if (number < 0 || number >= std::int64_t(met.size()) || met[std::size_t(number)])
                throw std::invalid_argument("numbers: not the classes in some order");
            met[std::size_t(number)] = true;
        }
        if (outputs() > 1 && numbers.size() != outputs())
            throw std::invalid_argument("numbers: one for each class is needed");
    }

    // Class c is what bore the number numbers[c]; nobody waits.
    void renumber(std::span<const std::int64_t> numbers) {
        if (std::is_sorted(numbers.begin(), numbers.end())) return;
        std::visit([&](auto& c) { outputs() == 1 ? mirror(c) : renumber(c, numbers); }, model);
    }
    template <class Model>
    void mirror(Centres<Model>& c) {
        for (std::size_t b = 0; b < params.balls; ++b) c.copy(b, b, -1.0);
    }
    template <class Model>
    void renumber(Centres<Model>& c, std::span<const std::int64_t> numbers) {
        const std::size_t n = c.scale.size();
        const std::vector<Cluster> old = clusters;
        c.grow(2 * n);
        for (std::size_t j = 0; j < n; ++j) c.copy(j, n + j, 1.0);
        for (std::size_t o = 0; o < outputs(); ++o) {
            const auto from = static_cast<std::size_t>(numbers[o]);
            clusters[o] = old[from];
            for (std::size_t b = 0; b < params.balls; ++b)
                c.copy(n + from * params.balls + b, o * params.balls + b, 1.0);
        }
        c.cut(n);
    }

    template <class Model>
    void merge(Centres<Model>& c, const Centres<Model>& others, std::span<const Cluster> theirs,
               std::int64_t shift) {
        const std::size_t mine = c.scale.size();
        c.append(others, shift);
        std::vector<double> gram = c.f.gram();
        const std::size_t n = c.scale.size();
        for (std::size_t o = 0; o < outputs(); ++o) {
            Cluster& cluster = clusters[o];
            const std::size_t first = o * params.balls;
            std::vector<std::size_t> place;  // of each ball's centre
            for (std::size_t b = 0; b < cluster.size(); ++b) place.push_back(first + b);
            for (std::size_t b = 0; b < theirs[o].size(); ++b) {
                const std::size_t from = mine + first + b;
                inner.clear();
                for (std::size_t at : place)
                    inner.push_back(c.scale[at] * c.scale[from] * gram[at * n + from]);
                cluster.push(theirs[o].balls[b], inner, theirs[o].dot(b, b));
                place.push_back(from);
            }
            while (cluster.size() > params.balls) {
                const auto [i, j] = cluster.closest();
                const Union u = unite(cluster.balls[i], cluster.balls[j], cluster.distance(i, j));
                cluster.merge(i, j, u);
                c.blend(place[i], 1.0 - u.tau, place[j], u.tau);
                place[j] = place.back();
                place.pop_back();
            }
            settle(c, cluster, place, first);
        }
        c.cut(mine);
    }

    // Brings the centres of the balls that are left to the places of this output.
    template <class Model>
    void settle(Centres<Model>& c, Cluster& cluster, std::span<const std::size_t> place,
                std::size_t first) {
        std::vector<std::size_t> free;
        for (std::size_t at = first; at < first + cluster.size(); ++at)
            if (std::find(place.begin(), place.end(), at) == place.end()) free.push_back(at);
        std::vector<std::size_t> home(place.begin(), place.end());
        for (std::size_t b = 0; b < home.size(); ++b)
            if (home[b] < first || home[b] >= first + cluster.size()) {
                c.copy(home[b], free.back(), 1.0);
                home[b] = free.back();
                free.pop_back();
            }
        Cluster sorted;  // ball b has its centre at first + b
        sorted.balls.resize(cluster.size());
        sorted.dots.resize(cluster.dots.size());
        for (std::size_t i = 0; i < home.size(); ++i) {
            sorted.balls[home[i] - first] = cluster.balls[i];
            for (std::size_t j = 0; j < home.size(); ++j)
                sorted.dot(home[i] - first, home[j] - first) = cluster.dot(i, j);
        }
        cluster = std::move(sorted);
    }

    // ---- what the balls say together ----

    // The factor of each f_j in its output: scale, times its ball's share of the whole.
    std::vector<double> shares(std::vector<double> scale) const {
        if (params.balls == 1) return scale;
        for (std::size_t o = 0; o < outputs(); ++o) {
            if (clusters[o].size() == 0) continue;
            const std::vector<double> l = clusters[o].whole().l;
            for (std::size_t b = 0; b < l.size(); ++b) scale[o * params.balls + b] *= l[b];
        }
        return scale;
    }

    // Rows of centres, `width` long, to rows of outputs.
    std::vector<double> mix(const std::vector<double>& shares, const std::vector<double>& rows,
                            std::size_t width) const {
        std::vector<double> out(outputs() * width);
        for (std::size_t j = 0; j < shares.size(); ++j)
            for (std::size_t i = 0; i < width; ++i)
                out[j / params.balls * width + i] += shares[j] * rows[j * width + i];
        return out;
    }

    template <class Model>
    void score_many(const Centres<Model>& c, std::span<const Row<T>> xs, double* out) const {
        const std::size_t n = c.scale.size();
        if (params.balls == 1) {
            plain_scores(c.f, xs, out);
            for (std::size_t i = 0; i < xs.size(); ++i)
                for (std::size_t o = 0; o < n; ++o) out[i * n + o] *= c.scale[o];
            return;
        }
        const std::vector<double> share = shares(c.scale);
        std::vector<double> scores(xs.size() * n);
        plain_scores(c.f, xs, scores.data());
        std::fill(out, out + xs.size() * outputs(), 0.0);
        for (std::size_t i = 0; i < xs.size(); ++i)
            for (std::size_t j = 0; j < n; ++j)
                out[i * outputs() + j / params.balls] += share[j] * scores[i * n + j];
    }

    static void plain_scores(const KernelModel<T>& f, std::span<const Row<T>> xs, double* out) {
        f.score_many(xs, out);
    }
    static void plain_scores(const LinearModel<T>& f, std::span<const Row<T>> xs, double* out) {
        for (const Row<T>& x : xs) f.score(x, out), out += f.outputs();
    }

    template <class Model>
    const Centres<Model>& demand(const char* what) const {
        if (const auto* c = std::get_if<Centres<Model>>(&model)) return *c;
        throw std::logic_error("this model has no " + std::string(what));
    }

    // ---- state ----

    template <class A>
    void ball_state(A& a) {
        std::vector<std::int64_t> count, M;
        std::vector<double> rho, lifts2, xi2, square, lower2, dots;
        for (const Cluster& cluster : clusters) {
            count.push_back(static_cast<std::int64_t>(cluster.size()));
            for (const Ball& ball : cluster.balls) {
                rho.push_back(ball.rho);
                lifts2.push_back(ball.lift2);
                xi2.push_back(ball.xi2);
                M.push_back(ball.M);
                square.push_back(ball.square);
                lower2.push_back(ball.lower2);
            }
            dots.insert(dots.end(), cluster.dots.begin(), cluster.dots.end());
        }
        a("balls", count);
        a("rho", rho);
        a("lift2", lifts2);
        a("xi2", xi2);
        a("M", M);
        a("square", square);
        a("lower2", lower2);
        a("dots", dots);
        if constexpr (A::loading) {
            std::size_t total = 0, squares = 0;
            for (std::int64_t n : count) {
                demand_state(n >= 0 && n <= static_cast<std::int64_t>(params.balls));
                total +=
                    static_cast<std::size_t>(n);  // n balls have n^2 products, or the file ends
                demand_state(total <= rho.size() && std::size_t(n) <= dots.size());
                squares += static_cast<std::size_t>(n * n);
            }
            demand_state(!count.empty() && rho.size() == total && lifts2.size() == total &&
                         xi2.size() == total && M.size() == total && square.size() == total &&
                         lower2.size() == total && dots.size() == squares);
            for (std::size_t b = 0; b < total; ++b)
                demand_state(rho[b] >= 0.0 && lifts2[b] >= 0.0 && xi2[b] >= 0.0 && M[b] >= 1);
            demand_state(std::visit([](auto& c) { return c.scale.size(); }, model) ==
                         checked_mul(count.size(), params.balls));
            clusters.assign(count.size(), {});
            waiting.assign(count.size(), {});
            std::size_t at = 0, from = 0;
            for (std::size_t o = 0; o < count.size(); ++o) {
                const auto n = static_cast<std::size_t>(count[o]);
                for (std::size_t b = 0; b < n; ++b, ++at)
                    clusters[o].balls.push_back(
                        {rho[at], lifts2[at], xi2[at], M[at], square[at], lower2[at]});
                clusters[o].dots.assign(dots.begin() + static_cast<std::ptrdiff_t>(from),
                                        dots.begin() + static_cast<std::ptrdiff_t>(from + n * n));
                for (std::size_t b = 0; b < n; ++b) demand_state(clusters[o].dot(b, b) >= 0.0);
                from += n * n;
            }
        }
    }

    // One column per member; values and indices of all points end to end.
    template <class A>
    void waiting_state(A& a) {
        std::vector<std::int64_t> output, width, size, id, arrival;
        std::vector<std::uint8_t> sparse;
        std::vector<double> step, slack, inner, norm2;
        std::vector<T> values;
        std::vector<std::int32_t> indices;
        for (std::size_t o = 0; o < waiting.size(); ++o)
            for (const Waiting<T>& p : waiting[o]) {
                output.push_back(static_cast<std::int64_t>(o));
                width.push_back(static_cast<std::int64_t>(p.width));
                size.push_back(static_cast<std::int64_t>(p.values.size()));
                id.push_back(p.id);
                arrival.push_back(p.arrival);
                sparse.push_back(p.sparse);
                step.push_back(p.step);
                slack.push_back(p.slack);
                inner.push_back(p.inner);
                norm2.push_back(p.norm2);
                values.insert(values.end(), p.values.begin(), p.values.end());
                indices.insert(indices.end(), p.indices.begin(), p.indices.end());
            }
        a("waiting.output", output);
        a("waiting.width", width);
        a("waiting.size", size);
        a("waiting.id", id);
        a("waiting.arrival", arrival);
        a("waiting.sparse", sparse);
        a("waiting.step", step);
        a("waiting.slack", slack);
        a("waiting.inner", inner);
        a("waiting.norm2", norm2);
        a("waiting.values", values);
        a("waiting.indices", indices);
        if constexpr (A::loading) {
            const std::size_t n = output.size();
            for (std::size_t m :
                 {width.size(), size.size(), id.size(), arrival.size(), sparse.size(), step.size(),
                  slack.size(), inner.size(), norm2.size()})
                demand_state(m == n);
            auto value = values.begin();
            auto index = indices.begin();
            for (std::size_t i = 0; i < n; ++i) {
                demand_state(output[i] < static_cast<std::int64_t>(outputs()) &&
                             size[i] <= values.end() - value &&
                             (sparse[i] ? size[i] <= indices.end() - index : size[i] == width[i]) &&
                             norm2[i] >= 0.0 && slack[i] > 0.0 && slack[i] <= longest);
                const auto o = static_cast<std::size_t>(output[i]);
                demand_state(clusters[o].size() == 1 && waiting[o].size() + 1 < params.lookahead);
                Waiting<T> p;
                p.values.assign(value, value + size[i]);
                value += size[i];
                if (sparse[i]) {
                    p.indices.assign(index, index + size[i]);
                    index += size[i];
                }
                p.sparse = sparse[i] != 0;
                p.width = static_cast<std::size_t>(width[i]);
                p.id = id[i];
                p.arrival = arrival[i];
                p.step = step[i];
                p.slack = slack[i];
                p.inner = inner[i];
                p.norm2 = norm2[i];
                demand_state(is_sound(p.row(), a.features()) && has_room_for(p.row()) &&
                             (waiting[o].empty() || waiting[o].back().sparse == p.sparse));
                std::visit([&](const auto& c) { c.f.norm2(p.row()); }, model);  // refuses long rows
                waiting[o].push_back(std::move(p));
            }
            demand_state(value == values.end() && index == indices.end());
        }
    }

    // Who waits was read before: where weights are kept, there are as many as it is wide.
    bool has_room_for(Row<T> x) const {
        const auto* c = std::get_if<Centres<LinearModel<T>>>(&model);
        return !c || x.width <= c->f.width();
    }
    static void demand_state(bool good) {
        if (!good) throw std::invalid_argument("state: the balls do not fit their shape");
    }
};

}  // namespace onlinesvm
