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
#include <vector>

#include "onlinesvm/function/function.hpp"
#include "onlinesvm/function/loss.hpp"
#include "onlinesvm/machine/verbs.hpp"
#include "onlinesvm/methods/ball/cluster.hpp"
#include "onlinesvm/methods/ball/shares.hpp"

namespace onlinesvm {

// An example as one output sees it: [step phi(x); e sqrt(slack)].
template <class T>
struct Point {
    Row<T> x;
    Id id;
    double step;   // y, over |phi(x)| where points are normalised
    double norm2;  // of its feature part
    double slack;
};

// A point outside the ball that waits for the next update.
template <class T>
struct Waiting {
    OwnedRow<T> x;
    Id id{};
    double step = 1.0, norm2 = 0.0, slack = 0.0;
    double inner = 0.0;  // with the centre, which does not move before the update

    Point<T> point() const { return {x.row(), id, step, norm2, slack}; }

    template <class A>
    void state(A& a) {
        a("x", x), a("id", id), a("step", step), a("norm2", norm2), a("slack", slack);
        a("inner", inner);
        if constexpr (A::loading)
            demand(is_sound(x.row(), a.features()) && norm2 >= 0.0 && slack > 0.0,
                   "a waiting example is malformed");
    }
};
template <class T>
struct WaitingRoom {
    PlainLedger<Waiting<T>> points;

    auto undoable() { return std::tie(points); }
    template <class A>
    void state(A& a) {
        a("points", points);
    }
};

template <class T>
class StreamSVM {
  public:
    using Verbs = Offers<verb::support, verb::weights, verb::holds, verb::suffered, verb::flush,
                         verb::revisit, verb::merge, verb::radius, verb::radius_bound>;

    struct Params {
        double C = 1.0;
        std::size_t lookahead = 1;  // L of algorithm 2; 1 is algorithm 1
        std::size_t balls = 1;
        bool normalize = true;  // points of equal length: only then is the ball the SVM
        Kernel kernel;

        void fields(auto&& f) {
            f("C", C), f("lookahead", lookahead), f("balls", balls);
            f("normalize", normalize), f("kernel", kernel);
        }
    };

    explicit StreamSVM(const Params& params) : params(params), f(params.kernel) {
        require(params.C > 0.0 && std::isfinite(params.C), "C: must be positive and finite");
        require(params.lookahead >= 1 && params.balls >= 1, "lookahead, balls: must be at least 1");
        require(params.lookahead == 1 || params.balls == 1, "lookahead, balls: one must be 1");
        resize(1);
    }

    void learn(const Row<T>& x, double y, double weight, Id id) {
        const std::size_t label = class_number(y, outputs());
        const double slack = 1.0 / (params.C * weight), k = f.k(x);
        if (!std::isfinite(slack) || !std::isfinite(k)) return;  // infinitely far away
        lift(slack);
        const std::span<const double> products = f.read(x);
        const bool scaled = params.normalize && k > 0.0;
        const double length = scaled ? 1.0 / std::sqrt(k) : 1.0, norm2 = scaled ? 1.0 : k;
        changes.clear();
        for (std::size_t o = 0; o < outputs(); ++o) {
            const bool positive = label == (outputs() == 1 ? 1 : o);
            const Point<T> z{x, id, positive ? length : -length, norm2, slack};
            const auto mine = products.subspan(o * params.balls, params.balls);
            mode == Mode::stream ? take(o, z, mine) : weigh(o, z, mine[0]);
        }
        if (!changes.empty()) f.add({.x = x, .id = id}, changes);
    }

    // From here on the examples 0 to n - 1 come again and again, each to be given its share of one
    // centre, until the ball is the smallest around them. suffered() counts those that were farther
    // out or in, when they came, than `tol` allows.
    void revisit(std::size_t n, double tol) {
        if (params.balls > 1 || clusters[0].size() > 0)
            throw std::logic_error("revisit: for one ball that holds nothing yet");
        shares = Shares(n, outputs());
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
            ball.M = shares.count(o);
        }
        const std::vector<Id> ids = f.ids();
        for (Slot slot(ids.size()); slot-- > 0;)
            if (shares.none(ids[slot])) f.drop(slot);
        shares = {};
        mode = Mode::stream;
    }
    double suffered() const { return violators; }

    void expect(std::span<const Row<T>> coming) { f.expect(coming); }
    void turn(std::size_t i) { f.turn(i); }

    // Lets the waiting examples in, as if lookahead of them had come.
    void flush() {
        for (std::size_t o = 0; o < outputs(); ++o) flush(o);
    }

    bool holds(Id id) const {
        return f.find(id) || std::any_of(waiting.begin(), waiting.end(), [&](const auto& room) {
                   return std::any_of(room.points.begin(), room.points.end(),
                                      [&](const Waiting<T>& point) { return point.id == id; });
               });
    }

    void score(Row<T> x, double* out) const { score_many({&x, 1}, out); }
    void score_many(std::span<const Row<T>> xs, double* out) const {
        if (params.balls == 1) return f.score_many(xs, out);
        std::vector<double> scores(xs.size() * f.outputs());
        f.score_many(xs, scores.data());
        const std::vector<double> share = shares_of_balls();
        for (std::size_t i = 0; i < xs.size(); ++i, out += outputs())
            mix(share, {&scores[i * f.outputs()], f.outputs()}, {out, outputs()});
    }

    std::size_t outputs() const { return clusters.size(); }
    // Whether all models that have learned have one size: one ball, weights, nobody waits.
    bool flat() const { return f.linear() && params.balls == 1 && params.lookahead == 1; }

    // One output for two classes; with a third, one against the rest. The ball of class 0 is then
    // the mirror image of that of class 1; a newcomer has seen nothing yet.
    void grow(std::size_t classes) {
        if (classes < 3 || classes <= outputs()) return;
        const bool was_binary = outputs() == 1;
        resize(classes);
        if (!was_binary) return;
        clusters[1] = clusters[0];
        waiting[1] = waiting[0];
        for (Waiting<T>& point : waiting[0].points.edit()) point.step = -point.step;
        for (std::size_t b = 0; b < params.balls; ++b) f.copy(b, params.balls + b, 1.0);
        mirror();
    }

    // The model of two streams from the models of each; ids of the other's examples go up by
    // `shift`, and my class c bears numbers[c] over there. Both let their waiting examples in first.
    void merge(StreamSVM other, std::int64_t shift, std::span<const std::int64_t> numbers) {
        require(other.outputs() == outputs() && other.params.balls == params.balls,
                "other: a model of other classes or parameters");
        demand_permutation(numbers);
        flush();
        other.flush();
        lift(other.longest);
        other.lift(longest);
        if (!std::is_sorted(numbers.begin(), numbers.end()))
            other.outputs() == 1 ? other.mirror() : other.renumber(numbers);
        const std::size_t mine = f.outputs();
        f.append(other.f, shift);
        const std::vector<double> gram = f.gram();
        for (std::size_t o = 0; o < outputs(); ++o) merge(o, other.clusters[o], mine, gram);
        f.resize(mine);
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
        Weights rows = f.weights(), out{rows.width, {}, {}};
        out.coef.resize(outputs() * rows.width);
        out.intercept.resize(outputs());
        mix(shares_of_balls(), rows.coef, out.coef);
        mix(shares_of_balls(), rows.intercept, out.intercept);
        return out;
    }
    Support<T> support() const {
        Support<T> out = f.support();
        std::vector<double> coef(outputs() * out.ids.size());
        mix(shares_of_balls(), out.coef, coef);
        out.coef = std::move(coef);
        return out;
    }

    auto undoable() { return std::tie(f, clusters, waiting, longest, shares, reach2, violators); }
    template <class A>
    void state(A& a) {
        if constexpr (A::loading) grow(a.outputs());
        a("f", f);
        a("longest", longest);
        a("clusters", clusters);
        a("waiting", waiting);
        if constexpr (A::loading) {
            demand(clusters.size() == a.outputs() && waiting.size() == a.outputs() &&
                       f.outputs() == a.outputs() * params.balls && longest >= 0.0,
                   "the balls do not fit their shape");
            for (std::size_t o = 0; o < outputs(); ++o) demand_fit(o);
        }
    }
    std::size_t nbytes() const {
        Measure own;
        auto& self = const_cast<StreamSVM&>(*this);  // only handed to the visitor
        own("clusters", self.clusters), own("waiting", self.waiting);
        return sizeof(*this) + f.nbytes() + own.bytes + shares.nbytes();
    }

  private:
    Params params;
    Function<T> f;                        // feature parts of the centres: outputs x balls
    std::vector<Cluster> clusters;        // one per output
    std::vector<WaitingRoom<T>> waiting;  // one per output
    double longest = 0.0;                 // slack of the lightest example so far
    enum class Mode { stream, ascent, measure } mode = Mode::stream;
    Shares shares;               // while examples come again: of each in the centre
    std::vector<double> reach2;  // and by output, squared: of the farthest point
    double allowed = 0.0, violators = 0.0;
    std::vector<Change> changes;  // of the example at hand
    std::vector<double> inner;    // its products with the centres of an output

    void resize(std::size_t outputs) {
        f.resize(outputs * params.balls);
        clusters.resize(outputs);
        waiting.resize(outputs);
    }

    // ---- lengths ----

    double lift2(double slack) const { return longest - slack; }
    Ball ball_of(const Point<T>& z) const {
        return {0.0, lift2(z.slack), z.slack, 1, z.norm2 + longest};
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

    // ---- one pass ----

    // Algorithm 1, and the first half of algorithm 2.
    void take(std::size_t o, const Point<T>& z, std::span<const double> products) {
        Cluster& cluster = clusters[o];
        const Ball ball = ball_of(z);
        inner.resize(cluster.size());
        for (std::size_t b = 0; b < cluster.size(); ++b) {
            inner[b] = z.step * products[b];
            const double reach = ball.reach(cluster.distance(b, inner[b], z.norm2, z.slack));
            if (reach < cluster.balls[b].R() || !std::isfinite(reach)) return;  // enclosed
        }
        if (params.lookahead > 1 && cluster.size() == 1) {
            waiting[o].points.push_back(
                {OwnedRow<T>(z.x), z.id, z.step, z.norm2, z.slack, inner[0]});
            if (waiting[o].points.size() == params.lookahead) flush(o);
            return;
        }
        cluster.push(ball, inner, z.norm2);
        const std::size_t first = o * params.balls;
        if (cluster.size() <= params.balls)
            return changes.push_back({first + cluster.size() - 1, z.step});
        const auto [i, j] = cluster.closest();
        const bool joins = j == params.balls;  // the point itself is one of the two
        const Union u = cluster.merge(i, j);
        if (joins) {
            f.shrink(first + i, 1.0 - u.tau);
            if (u.tau > 0.0) changes.push_back({first + i, u.tau * z.step});
            return;
        }
        f.blend(first + i, 1.0 - u.tau, first + j, u.tau);
        f.copy(first + j, first + j, 0.0);
        changes.push_back({first + j, z.step});
    }

    // The second half of algorithm 2: the exact ball around the ball and the waiting points.
    void flush(std::size_t o) {
        const std::vector<Waiting<T>> points = waiting[o].points;
        waiting[o].points.clear();
        if (points.empty()) return;
        const std::size_t n = points.size() + 1;
        std::vector<double> G = inner_products(o, points), rho(n), lifts2(n);
        rho[0] = clusters[o].balls[0].rho;
        lifts2[0] = clusters[o].balls[0].lift2;
        for (std::size_t i = 1; i < n; ++i) lifts2[i] = lift2(points[i - 1].slack);
        const auto [R, l] = enclosing_ball(G, rho, lifts2);
        clusters[o].replace(R, l, G, lifts2, [&](std::size_t i) { return points[i - 1].slack; });
        f.shrink(o, l[0]);
        for (std::size_t i = 1; i < n; ++i) {
            if (l[i] == 0.0) continue;
            const Change change{o, l[i] * points[i - 1].step};
            f.add({.x = points[i - 1].x.row(), .id = points[i - 1].id}, {&change, 1});
        }
    }
    // Of the centre and the points, row-major, slacks included.
    std::vector<double> inner_products(std::size_t o, const std::vector<Waiting<T>>& points) const {
        const std::size_t n = points.size() + 1;
        Store<T> store(params.kernel);
        for (const Waiting<T>& point : points) store.push(point.x.row());
        Aligned<T> row(store.padded_size());
        std::vector<double> G(n * n);
        G[0] = clusters[o].dots[0] + clusters[o].balls[0].xi2;
        for (std::size_t i = 1; i < n; ++i) {
            const Waiting<T>& p = points[i - 1];
            G[i] = G[i * n] = p.inner;
            store.row(p.x.row(), 0, i, row.data());
            for (std::size_t j = 1; j < i; ++j)
                G[i * n + j] = G[j * n + i] = p.step * points[j - 1].step * row[j - 1];
            G[i * n + i] = p.norm2 + p.slack;
        }
        return G;
    }

    // ---- pass after pass ----

    // The dual of the smallest ball, D = sum l_n |Z_n|^2 - |c|^2, along c + tau (Z - c): it rises
    // by (d^2 - D) tau - h^2 tau^2, where d is the distance of Z and h that without its lift. So a
    // point farther out than sqrt(D) pulls the centre, at most half the way lest the others' shares
    // vanish, and one farther in lets go of it, down to a share of 0.
    void weigh(std::size_t o, const Point<T>& z, double product) {
        Cluster& cluster = clusters[o];
        if (cluster.size() == 0) {
            shares.set(z.id, o, 1.0);
            cluster.push(ball_of(z), {}, z.norm2);
            changes.push_back({o, z.step});
            return;
        }
        const double inner = z.step * product, own = shares.of(z.id, o);
        const double c2 = cluster.dots[0] + cluster.balls[0].xi2;
        const double D = cluster.balls[0].square - c2;
        const double h2 = c2 - 2.0 * (inner + own * z.slack) + z.norm2 + z.slack;
        const double d2 = h2 + lift2(z.slack);
        const bool measuring = mode == Mode::measure;
        reach2[o] = std::max(reach2[o], measuring ? d2 : z.norm2 + longest);
        if (measuring || !(h2 > 0.0 && std::isfinite(h2)) || own == 1.0 || (own == 0.0 && d2 <= D))
            return;
        if (std::abs(d2 - D) > allowed * std::min(D, c2)) violators += 1.0;
        const double least = -own / (1.0 - own);
        const double tau = std::max(least, std::min(0.5, 0.5 * (d2 - D) / h2));
        cluster.pull(tau, inner, z.norm2, z.slack, own, z.norm2 + longest);
        f.shrink(o, 1.0 - tau);
        changes.push_back({o, tau * z.step});
        shares.shrink(o, 1.0 - tau);
        shares.set(z.id, o, tau == least ? 0.0 : (1.0 - tau) * own + tau);
    }

    // ---- two models ----

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
    // Of two classes the other is the positive one.
    void mirror() {
        for (std::size_t b = 0; b < params.balls; ++b) f.copy(b, b, -1.0);
    }
    // Class c is what bore the number numbers[c]; none waits.
    void renumber(std::span<const std::int64_t> numbers) {
        const std::size_t n = f.outputs(), B = params.balls;
        const std::vector<Cluster> old = clusters;
        f.resize(2 * n);
        for (std::size_t j = 0; j < n; ++j) f.copy(j, n + j, 1.0);
        for (std::size_t o = 0; o < outputs(); ++o) {
            const auto from = static_cast<std::size_t>(numbers[o]);
            clusters[o] = old[from];
            for (std::size_t b = 0; b < B; ++b) f.copy(n + from * B + b, o * B + b, 1.0);
        }
        f.resize(n);
    }
    // Balls of another model, whose centres begin at `from`, join those of an output.
    void merge(std::size_t o, const Cluster& theirs, std::size_t from,
               std::span<const double> gram) {
        Cluster& cluster = clusters[o];
        const std::size_t first = o * params.balls;
        std::vector<std::size_t> place;  // of each ball's centre
        for (std::size_t b = 0; b < cluster.size(); ++b) place.push_back(first + b);
        for (std::size_t b = 0; b < theirs.size(); ++b) {
            const std::size_t centre = from + first + b;
            std::vector<double> inner;
            for (std::size_t at : place) inner.push_back(gram[at * f.outputs() + centre]);
            cluster.push(theirs.balls[b], inner, theirs.dot(b, b));
            place.push_back(centre);
        }
        while (cluster.size() > params.balls) {
            const auto [i, j] = cluster.closest();
            const Union u = cluster.merge(i, j);
            f.blend(place[i], 1.0 - u.tau, place[j], u.tau);
            place[j] = place.back();
            place.pop_back();
        }
        bring_home(cluster, place, first);
    }
    // Ball b has its centre at first + b.
    void bring_home(Cluster& cluster, std::vector<std::size_t> place, std::size_t first) {
        const auto is_home = [&](std::size_t at) {
            return at >= first && at < first + cluster.size();
        };
        std::size_t free = first;
        for (std::size_t& at : place) {
            if (is_home(at)) continue;
            while (std::find(place.begin(), place.end(), free) != place.end()) ++free;
            f.copy(at, free, 1.0);
            at = free;
        }
        for (std::size_t& at : place) at -= first;
        cluster.reorder(place);
    }

    // ---- what the balls say together ----

    // Of each centre in its output.
    std::vector<double> shares_of_balls() const {
        std::vector<double> share(f.outputs(), 1.0);
        for (std::size_t o = 0; o < outputs(); ++o) {
            if (clusters[o].size() == 0) continue;
            const std::vector<double> l = clusters[o].whole().l;
            std::copy(l.begin(), l.end(), share.begin() + std::ptrdiff_t(o * params.balls));
        }
        return share;
    }
    // Rows of centres, one after the other, to rows of outputs.
    void mix(const std::vector<double>& share, std::span<const double> rows,
             std::span<double> out) const {
        const std::size_t width = out.size() / outputs();
        std::fill(out.begin(), out.end(), 0.0);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::size_t centre = i / width;
            out[centre / params.balls * width + i % width] += share[centre] * rows[i];
        }
    }

    // A state that was loaded.
    void demand_fit(std::size_t o) const {
        demand(clusters[o].size() <= params.balls, "there are too many balls");
        const auto& points = waiting[o].points;
        demand(points.empty() || (clusters[o].size() == 1 && points.size() < params.lookahead),
               "too many examples are waiting");
        for (const Waiting<T>& point : points) {
            demand(point.slack <= longest && f.has_room_for(point.x.row()) &&
                       point.x.sparse == points.front().x.sparse,
                   "a waiting example does not fit the model");
            f.k(point.x.row());  // refuses long rows
        }
    }
};

}  // namespace onlinesvm
