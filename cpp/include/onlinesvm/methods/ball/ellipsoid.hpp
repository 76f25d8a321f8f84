// An ellipsoid in place of StreamSVM's ball (section 6.2 of Rai, Daume & Venkatasubramanian 2009,
// which only sketches it).
//
// The points y x lie in {c + L u : |u| <= 1}, and the centre c is the weight vector. The first one
// is the centre of a ball of radius 1 / sqrt(C). A point p outside is at rho > 1 in the coordinates
// q = L^-1 (p - c); the new ellipsoid has its centre tau away towards it, the semi-axis A = rho - tau
// along q and B across, such that it touches p, holds the old one, and is the smallest of that kind.
// Every point seen stays inside. L itself is never needed: L q = p - c.
//
// With a lookahead, points outside wait; when there are enough of them the farthest enters, then the
// farthest of those still outside, until none is: what lies near another enters with it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "onlinesvm/function/loss.hpp"
#include "onlinesvm/loops/interrupt.hpp"
#include "onlinesvm/loops/isa.hpp"
#include "onlinesvm/machine/verbs.hpp"
#include "onlinesvm/memory/undo.hpp"
#include "onlinesvm/rows/kernel.hpp"
#include "onlinesvm/rows/row.hpp"
#include "onlinesvm/rows/support.hpp"
#include "onlinesvm/state/checked.hpp"

namespace onlinesvm {

class Ellipsoid {
  public:
    Ledger<double> centre;  // empty: nothing is held yet

    bool empty() const { return centre.empty(); }
    void begin(const std::vector<double>& p, double C) {
        const std::size_t n = p.size();
        centre.assign(p.begin(), p.end());
        inverse_.assign(checked_mul(n, n), 0.0);
        for (std::size_t i = 0; i < n; ++i) inverse_.edit(i * n + i) = std::sqrt(C);
    }
    // How far out a point is; 1 is on the surface.
    double distance(const double* p) const {
        const std::vector<double> q = coordinates(away(p));
        return std::sqrt(dot(q, q));
    }
    void hold(const double* p) {
        const std::size_t n = centre.size();
        const std::vector<double> away = this->away(p);
        std::vector<double> q = coordinates(away), v(n);
        const double rho = std::sqrt(dot(q, q));
        if (!(rho > 1.0)) return;
        const auto [tau, A, B] = smallest(rho, n);
        for (std::size_t i = 0; i < n; ++i) {
            q[i] /= rho;
            isa::table<double>().axpy(q[i], inverse_.data() + i * n, v.data(), n);
        }
        for (std::size_t i = 0; i < n; ++i) centre.edit(i) += tau / rho * away[i];
        // L^-1 <- (I / B + (1 / A - 1 / B) q q') L^-1
        double* row = inverse_.edit().data();
        for (std::size_t i = 0; i < n; ++i, row += n) {
            for (std::size_t j = 0; j < n; ++j) row[j] /= B;
            isa::table<double>().axpy((1.0 / A - 1.0 / B) * q[i], v.data(), row, n);
        }
    }
    // Around the points with the other sign.
    void mirror() {
        for (double& v : centre.edit()) v = -v;
    }

    auto undoable() { return std::tie(centre, inverse_); }
    template <class Archive>
    void state(Archive& a) {
        a("centre", centre), a("inverse", inverse_);
    }
    bool fits(std::size_t n) const {
        return (empty() || centre.size() == n) &&
               inverse_.size() == checked_mul(centre.size(), centre.size());
    }
    std::size_t nbytes() const { return nbytes_of(centre, inverse_); }

  private:
    Ledger<double> inverse_;  // L^-1, row-major

    std::vector<double> away(const double* p) const {
        std::vector<double> out(p, p + centre.size());
        for (std::size_t i = 0; i < out.size(); ++i) out[i] -= centre[i];
        return out;
    }
    std::vector<double> coordinates(const std::vector<double>& away) const {
        const std::size_t n = away.size();
        poll(n * n);
        std::vector<double> q(n);
        isa::dense().symv(inverse_.data(), n, n, away.data(), q.data());
        return q;
    }
    struct Step {
        double tau, A, B;
    };
    static double dot(const std::vector<double>& a, const std::vector<double>& b) {
        return isa::table<double>().dot(a.data(), b.data(), a.size());
    }
    // B^4 - B^2 (1 + A^2 - tau^2) + A^2 = 0, smaller root: the unit ball is just held.
    static Step step(double rho, double tau) {
        const double A = rho - tau, half = (1.0 + A * A - tau * tau) / 2.0;
        const double B2 = half - std::sqrt(std::max(half * half - A * A, 0.0));
        return {tau, A, std::sqrt(B2)};
    }
    // By golden section over tau in [0, (rho - 1) / 2].
    static Step smallest(double rho, std::size_t n) {
        constexpr double kGolden = 0.6180339887498949;
        const auto volume = [&](double tau) {
            const Step s = step(rho, tau);
            return std::log(s.A) + double(n - 1) * std::log(s.B);
        };
        double low = 0.0, high = (rho - 1.0) / 2.0;
        double a = high - kGolden * (high - low), b = low + kGolden * (high - low);
        double at_a = volume(a), at_b = volume(b);
        while (high - low > 1e-12 * rho) {
            if (at_a < at_b) {
                high = b, b = a, at_b = at_a;
                a = high - kGolden * (high - low), at_a = volume(a);
            } else {
                low = a, a = b, at_a = at_b;
                b = low + kGolden * (high - low), at_b = volume(b);
            }
        }
        return step(rho, (low + high) / 2.0);
    }
};

template <class T>
class EllipsoidSVM {
  public:
    using Verbs = Offers<verb::weights, verb::flush>;

    struct Params {
        double C = 1.0;
        bool normalize = true;
        std::int64_t lookahead = 1;
        Kernel kernel;

        void fields(auto&& f) {
            f("C", C), f("normalize", normalize), f("lookahead", lookahead), f("kernel", kernel);
        }
    };

    explicit EllipsoidSVM(const Params& p) : p(p), bodies_(1), queues_(1) {
        require(p.lookahead >= 1, "lookahead: must be at least 1");
        require(p.C > 0.0 && std::isfinite(p.C), "C: must be positive and finite");
        require(p.kernel.shape == Shape::linear, "kernel: an ellipsoid knows only the linear one");
    }

    void learn(const Row<T>& x, double y, double weight, Id) {
        const std::size_t label = class_number(y, outputs());
        if (weight != 1.0)
            throw std::invalid_argument(
                "sample_weight, class_weight: an ellipsoid cannot weigh; take shape='ball'");
        const std::vector<double> yes = spread(x, 1.0), no = spread(x, -1.0);
        for (std::size_t o = 0; o < outputs(); ++o) {
            const std::vector<double>& point = label == (outputs() == 1 ? 1 : o) ? yes : no;
            Ellipsoid& body = bodies_[o];
            if (body.empty()) {
                body.begin(point, p.C);
            } else if (p.lookahead == 1) {
                body.hold(point.data());
            } else if (body.distance(point.data()) > 1.0) {
                queues_[o].points.insert(queues_[o].points.end(), point.begin(), point.end());
                if (queues_[o].size(body) == std::size_t(p.lookahead)) take_in(o);
            }
        }
    }
    // What waits comes in.
    void flush() {
        for (std::size_t o = 0; o < outputs(); ++o) take_in(o);
    }

    void score(const Row<T>& x, double* out) const {
        for (std::size_t o = 0; o < outputs(); ++o) {
            const double* c = bodies_[o].centre.data();
            out[o] = bodies_[o].empty() ? 0.0
                                        : isa::table<T>().dot(x.values, c, x.width) +
                                              (biased() ? bias() * c[x.width] : 0.0);
        }
    }
    std::size_t outputs() const { return bodies_.size(); }
    // Of two classes, what held the second held the mirror images of the first.
    void grow(std::size_t classes) {
        if (classes <= 2 || classes <= outputs()) return;
        const bool splits = outputs() == 1;
        bodies_.resize(classes), queues_.resize(classes);
        if (!splits) return;
        bodies_[1] = bodies_[0], queues_[1] = queues_[0];
        bodies_[0].mirror();
        for (double& v : queues_[0].points.edit()) v = -v;
    }
    Weights weights() const {
        Weights out;
        for (const Ellipsoid& body : bodies_)
            if (!body.empty()) out.width = body.centre.size() - biased();
        for (const Ellipsoid& body : bodies_) {
            std::vector<double> c(body.centre.begin(), body.centre.end());
            c.resize(out.width + biased());
            out.coef.insert(out.coef.end(), c.begin(), c.begin() + std::ptrdiff_t(out.width));
            out.intercept.push_back(biased() ? bias() * c[out.width] : 0.0);
        }
        return out;
    }

    auto undoable() { return std::tie(bodies_, queues_); }
    template <class A>
    void state(A& a) {
        a("bodies", bodies_);
        if (p.lookahead > 1) a("queues", queues_);
        if constexpr (A::loading) {
            queues_.resize(p.lookahead > 1 ? queues_.size() : bodies_.size());
            demand(queues_.size() == bodies_.size(), "there is not one queue per ellipsoid");
            for (std::size_t o = 0; o < bodies_.size(); ++o)
                demand(queues_[o].fits(bodies_[o], std::size_t(p.lookahead)),
                       "the points that wait do not fit their ellipsoid");
            demand(bodies_.size() == a.outputs(), "there is not one ellipsoid per output");
            for (const Ellipsoid& body : bodies_)
                demand(body.fits(a.features() + biased()), "an ellipsoid has other dimensions");
        }
    }
    std::size_t nbytes() const {
        std::size_t n = sizeof(*this);
        for (const Ellipsoid& body : bodies_) n += sizeof(body) + body.nbytes();
        for (const Queue& queue : queues_) n += sizeof(queue) + queue.points.nbytes();
        return n;
    }

  private:
    struct Queue {
        Ledger<double> points;  // outside, side by side

        std::size_t size(const Ellipsoid& body) const {
            return body.empty() ? 0 : points.size() / body.centre.size();
        }
        bool fits(const Ellipsoid& body, std::size_t lookahead) const {
            return size(body) < lookahead &&
                   points.size() == checked_mul(size(body), body.centre.size());
        }
        auto undoable() { return std::tie(points); }
        template <class A>
        void state(A& a) {
            a("points", points);
        }
    };

    Params p;
    std::vector<Ellipsoid> bodies_;  // one per output
    std::vector<Queue> queues_;      // and what waits for it

    void take_in(std::size_t o) {
        Ellipsoid& body = bodies_[o];
        const double* points = queues_[o].points.data();
        for (std::size_t left = queues_[o].size(body), n = body.centre.size(); left > 0; --left) {
            double farthest = 1.0;
            const double* next = nullptr;
            for (std::size_t i = 0; i < queues_[o].size(body); ++i)
                if (const double d = body.distance(points + i * n); d > farthest)
                    farthest = d, next = points + i * n;
            if (next == nullptr) break;
            body.hold(next);
        }
        queues_[o].points.clear();
    }

    std::size_t biased() const { return p.kernel.offset > 0.0 ? 1 : 0; }
    double bias() const { return std::sqrt(p.kernel.offset); }

    // y [x; bias], of length one where points are normalised.
    std::vector<double> spread(const Row<T>& x, double y) const {
        if (x.sparse())
            throw std::invalid_argument(
                "X: an ellipsoid takes no sparse rows; pass dense ones, or take shape='ball'");
        std::vector<double> point(x.values, x.values + x.width);
        if (biased()) point.push_back(bias());
        double length2 = 0.0;
        for (const double v : point) length2 += v * v;
        if (!std::isfinite(length2))
            throw std::invalid_argument(
                "X: a row's kernel value with itself is too large for dtype; scale the features");
        const double length = p.normalize && length2 > 0.0 ? std::sqrt(length2) : 1.0;
        for (double& v : point) v *= y / length;
        return point;
    }
};

}  // namespace onlinesvm
