// The nearest points of two convex hulls, over stored examples:
//     X_P = sum_{y=+1} a_i phi_i,  X_N = sum_{y=-1} a_i phi_i,  a >= 0, each class sums to 1,
//     min N2 = |X_P - X_N|^2,
// which is the hard-margin SVM; with phi_i.phi_j = K_ij + delta_ij / C_i it is the SVM with squared
// slacks. The delta belongs to the example: equal x are different examples. The machine lies across
// the segment between the two points: alpha_i = 2 a_i / N2, b = (X_N.X_N - X_P.X_P) / N2.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "onlinesvm/function/slotted.hpp"
#include "onlinesvm/solver/cholesky.hpp"

namespace onlinesvm {

// A point of one hull, X = sum a_j phi_j, and its product with every slot. A step towards a vertex
// scales all of them, which is one number: kept are a and the products, both without that scale.
template <class T>
class HullPoint : public Parts<HullPoint<T>> {
  public:
    double square = 0;          // X.X
    std::int64_t averaged = 0;  // examples that founded the hull

    bool empty() const { return averaged == 0; }
    double a(Slot j) const { return scale_ * a_[j]; }
    double dot(Slot j) const { return scale_ * dot_[j]; }  // X.phi_j
    double dot(const T* row) const {
        return scale_ * isa::table<T>().dot(row, a_.data(), a_.size());
    }
    // What is known of the newest slot.
    void know(Slot j, double dot) { dot_.edit(j) = dot / scale_; }

    // X <- (1 - lambda) X + lambda phi_k
    void approach(double lambda, Slot k, const T* row, double ridge) {
        if (lambda == 1)
            clear();
        else if ((scale_ *= 1 - lambda) < kSmall)
            unfold(1);
        add(lambda, k, row, ridge);
    }
    // X <- X + amount phi_k
    void add(double amount, Slot k, const T* row, double ridge) {
        amount /= scale_;
        a_.edit(k) += amount;
        const std::span<double> dots = dot_.edit();
        isa::table<T>().axpy(amount, row, dots.data(), dots.size());
        dots[k] += amount * ridge;
    }
    void leave(Slot k) { a_.edit(k) = 0; }
    // Another weight for phi_k; the products have to be computed afresh.
    void weigh(Slot k, double a) { a_.edit(k) = a / scale_; }
    void clear() {
        std::ranges::fill(a_.edit(), 0.0);
        std::ranges::fill(dot_.edit(), 0.0);
        scale_ = 1;
    }
    // Takes rounding out: the coefficients sum to 1, and the square is theirs.
    void tidy() {
        normalise();
        square = along(*this);
    }
    // The product with another point.
    double along(const HullPoint& other) const {
        double sum = 0;
        for (Slot j{}; j < a_.size(); ++j) sum += other.a(j) * dot(j);
        return sum;
    }
    // The products from their definition.
    template <class RowOf>
    void refresh(const Aligned<double>& ridge, RowOf row_of) {
        normalise();
        const std::span<double> dots = dot_.edit();
        std::ranges::fill(dots, 0.0);
        for (Slot j{}; j < a_.size(); ++j) {
            if (a_[j] == 0) continue;
            isa::table<T>().axpy(a_[j], row_of(j), dots.data(), dots.size());
            dots[j] += a_[j] * ridge[j];
        }
        square = along(*this);
    }

    auto parts() {
        return std::tuple(saved("a", a_), saved("dot", dot_), saved("scale", scale_),
                          saved("square", square), saved("averaged", averaged));
    }
    void loaded(std::size_t slots, bool) {
        a_.loaded(slots, true), dot_.loaded(slots, true);
        check();
    }
    // The shares are those of a point of the hull, or all 0.
    void check() const {
        double sum = 0;
        bool shares = true;
        for (double a : a_) sum += a, shares = shares && a >= 0;
        demand(shares && scale_ >= kSmall && scale_ <= 1 / kSmall &&
                   std::abs(scale_ * sum - (empty() ? 0 : 1)) <= 1e-6,
               "a hull does not fit the examples");
    }
    const double* shares() const { return a_.data(); }
    double scale() const { return scale_; }

  private:
    static constexpr double kSmall = 1e-50;
    static constexpr double kExact = 1e-12;  // a sum this close to 1 is 1

    void normalise() {
        double sum = 0;
        for (double a : a_) sum += scale_ * a;
        unfold(std::abs(sum - 1) > kExact ? sum : 1);
    }
    void unfold(double sum) {
        if (!(sum > 0)) return;
        const double factor = scale_ / sum;
        for (double& a : a_.edit()) a *= factor;
        for (double& d : dot_.edit()) d *= factor;
        scale_ = 1;
    }

    Column<double> a_, dot_;
    double scale_ = 1;
};

template <class T>
class Hulls final : public Slotted<Hulls<T>, T> {
    using Base = Slotted<Hulls<T>, T>;

  public:
    struct Terms {};

    Hulls(KernelCache<T>& rows, Terms) : Base(rows) { this->follow_slots(); }

    auto parts() {
        return std::tuple(saved("positive", positive_), saved("negative", negative_),
                          saved("cross", cross_), saved("y", y_), saved("ridge", ridge_),
                          saved("support", support_), saved("steps", steps_), unsaved(left_),
                          unsaved(capped_));
    }
    void turn_round() { std::swap(positive_, negative_), steps_ = 0; }

    // What the hulls know of an example of label y: its products with both, and with itself.
    struct View {
        double y, own = 0, other = 0, self = 0, a = 0;
    };
    View view(const T* row, double y, double self) const {
        return {y, hull(y).dot(row), hull(-y).dot(row), self};
    }

    // ---- members ----

    void learn(Slot j, const View& x, double ridge) {
        y_.edit(j) = x.y;
        ridge_.edit(j) = ridge;
        hull(x.y).know(j, x.own);
        hull(-x.y).know(j, x.other);
    }
    // Whether a new example would become part of its hull; the first `founders` of a class do.
    bool wants(const View& x, std::int64_t founders) const {
        return hull(x.y).averaged < founders || lambda(x) > 0;
    }
    // By how much a new example is off its margin, 1 - y f.
    double violation(const View& x) const { return complete() ? 2 * wish(x) / n2() : 1; }
    bool supports(Slot j) const { return support_.contains(j); }
    const IndexSet<>& support() const { return support_; }
    // Appends the members that have ceased to be support vectors, and forgets them.
    void hand_over_leavers(std::vector<Slot>& to) {
        to.insert(to.end(), left_.begin(), left_.end());
        left_.clear();
    }

    bool complete() const { return !positive_.empty() && !negative_.empty(); }
    double label(Slot j) const { return y_[j]; }
    double ridge(Slot j) const { return ridge_[j]; }
    double coefficient(Slot j) const { return y_[j] * unit() * hull(y_[j]).a(j); }
    Aligned<double> coefficients() const {
        Aligned<double> s(y_.size());
        const double factor = unit();
        for (Slot j : support_) s[j] = y_[j] * factor * hull(y_[j]).a(j);
        return s;
    }
    // With one class alone, that class; without members, 0.
    double bias() const {
        if (complete()) return (negative_.square - positive_.square) / n2();
        return positive_.empty() ? negative_.empty() ? 0 : -1 : 1;
    }
    bool tight(Slot j) const { return supports(j); }
    // Of y f >= 1 - alpha / C, with equality for support vectors.
    double violation(Slot j, double f) const {
        const double s = coefficient(j), g = 1 - y_[j] * (f + s * ridge_[j]);
        return s == 0 ? std::max(0.0, g) : std::abs(g);
    }
    double imbalance() const { return 0; }
    // |X_P - X_N|^2, or what rounding leaves of it where the hulls meet.
    double n2() const {
        const double squares = positive_.square + negative_.square;
        return std::max({squares - 2 * cross_, kNoise * squares, kNothing});
    }
    // The hulls meet: no hyperplane separates them.
    bool touching() const {
        const double squares = positive_.square + negative_.square;
        return complete() && squares - 2 * cross_ <= kTouching * squares;
    }
    bool capped() const { return capped_; }

    // Of a file.
    void check() {
        for (Slot j{}; j < y_.size(); ++j)
            demand(std::abs(y_[j]) == 1 && ridge_[j] >= 0 && hull(-y_[j]).a(j) == 0 &&
                       (supports(j) || hull(y_[j]).a(j) == 0),
                   "a support vector does not fit its hull");
        if (rows_.store().kernel().shape == Shape::function || believable()) return;
        demand(rows_.are_few(), "the products are not those of the examples");
        refresh();
    }

    // ---- steps ----

    // An attempt to make k part of its hull: the first `founders` of a class become its mean.
    void insert(Slot k, std::int64_t founders) {
        if (supports(k)) return;
        HullPoint<T>& X = hull(y_[k]);
        if (X.averaged < founders)
            approach(k, 1 / double(++X.averaged));
        else
            update(k);
    }
    // UPDATE (fig. 3): the point of k's class moves to the best place on its line through phi_k.
    void update(Slot k) {
        const double l = lambda(view(k));
        if (l != 0) approach(k, l);
    }
    // Pairs of one class exchange weight until no member is off its margin by more than tol. Where
    // they crawl, because the slacks are short, leaps bring them forward.
    bool settle(double tol) {
        if (!complete()) return false;
        bool moved = false;
        const auto size = std::int64_t(y_.size());
        const std::int64_t patience = kPatience * (size + 20), pace = 1 + size;
        capped_ = false;
        for (std::int64_t taken = 1; taken <= patience + kLeaps * pace; ++taken) {
            poll(4 * y_.size());
            const auto [p, n] = ends();
            const Ends& worse = p.high - p.low > n.high - n.low ? p : n;
            if (2 * (worse.high - worse.low) <= tol * n2() + noise() || touching()) return moved;
            if (!exchange(worse.from, worse.to)) return moved;
            moved = true;
            if (taken >= patience && taken % pace == 0)
                while (!leap()) continue;
        }
        capped_ = true;
        return moved;
    }
    // Takes a member out of its hull, which shrinks to what the others span.
    void clear(Slot k) {
        if (!supports(k)) return;
        HullPoint<T>& X = hull(y_[k]);
        if (X.a(k) < kAll) return approach(k, -X.a(k) / (1 - X.a(k)));
        Slot next = k;
        for (Slot j{}; j < y_.size(); ++j)
            if (j != k && y_[j] == y_[k] && (next == k || margin(j) < margin(next))) next = j;
        if (next != k) return approach(next, 1);
        leave(k);
        X.clear();
        X.square = X.averaged = 0;
        cross_ = 0;
    }

    // Products and squares from their definitions: stops the drift of incremental updates.
    void refresh() {
        const auto row_of = [&](Slot j) { return rows_.row(j, y_.size()); };
        positive_.refresh(ridge_, row_of);
        negative_.refresh(ridge_, row_of);
        cross_ = positive_.along(negative_);
    }

  private:
    using Base::rows_;

    static constexpr bool kSingle = sizeof(T) == 4;          // kernel values with seven digits
    static constexpr double kFlat = kSingle ? 1e-7 : 1e-14;  // phi_k is the hull's point
    static constexpr double kNoise = kSingle ? 1e-8 : 1e-15;
    static constexpr double kTouching = kSingle ? 1e-6 : 1e-10;
    static constexpr double kNothing = 1e-100;
    static constexpr double kAll = 1 - 1e-6;
    static constexpr std::int64_t kTidy = 1000;     // steps between two cleanings
    static constexpr std::int64_t kPatience = 100;  // steps per member before a leap
    static constexpr std::int64_t kLeaps = 100;     // before giving up

    HullPoint<T>& hull(double y) { return y > 0 ? positive_ : negative_; }
    const HullPoint<T>& hull(double y) const { return y > 0 ? positive_ : negative_; }

    double unit() const { return complete() ? 2 / n2() : 0; }  // alpha / a
    double self_product(Slot k) const { return rows_.diagonal()[k] + ridge_[k]; }
    View view(Slot k) const {
        const double y = y_[k];
        return {y, hull(y).dot(k), hull(-y).dot(k), self_product(k), hull(y).a(k)};
    }
    // How far the point of the own class goes towards phi, eq. (4) to (6).
    double lambda(const View& x) const {
        const double same = hull(x.y).square;
        const double den = same + x.self - 2 * x.own;  // |X - phi|^2
        if (!complete() || x.a >= 1 || den <= kFlat * (same + x.self)) return 0;
        return std::clamp(wish(x) / den, least(x.a), 1.0);
    }
    // (X - phi).(X - X'), of the own point and the other's.
    double wish(const View& x) const { return hull(x.y).square - cross_ - x.own + x.other; }
    static double least(double a) { return -a / (1 - a); }  // where a becomes 0

    // X <- (1 - lambda) X + lambda phi_k for the class of k, eq. (7) and (8).
    void approach(Slot k, double lambda) {
        const View x = view(k);
        HullPoint<T>& X = hull(x.y);
        const double rest = 1 - lambda;
        X.square = rest * rest * X.square + 2 * lambda * rest * x.own + lambda * lambda * x.self;
        cross_ = rest * cross_ + lambda * x.other;
        X.approach(lambda, k, rows_.row(k, y_.size()), ridge_[k]);
        if (lambda > 0) enter(k);
        if (lambda == 1) leave_but(k);
        if (lambda < 0 && (lambda == least(x.a) || X.a(k) <= 0)) leave(k);
        if (++steps_ % kTidy == 0) tidy();
    }
    // The best exchange of weight between two members of a class. False if it is lost in rounding.
    bool exchange(Slot from, Slot to) {
        HullPoint<T>& X = hull(y_[to]);
        const HullPoint<T>& Y = hull(-y_[to]);
        const std::array<Slot, 2> slots = {from, to};
        std::array<const T*, 2> rows;
        rows_.rows(slots, y_.size(), rows.data());
        const double k = self_product(from) + self_product(to);
        const double curvature = k - 2 * double(rows[0][to]);
        const double all = X.a(from), wish = (margin(from) - margin(to)) / curvature;
        const double t = curvature <= kFlat * k ? all : std::min(all, wish);
        if (X.a(to) + t == X.a(to)) return false;
        X.square += t * (2 * (X.dot(to) - X.dot(from)) + t * curvature);
        cross_ += t * (Y.dot(to) - Y.dot(from));
        X.add(t, to, rows[1], ridge_[to]);
        X.add(-t, from, rows[0], ridge_[from]);
        enter(to);
        if (t == all || X.a(from) <= 0) leave(from);
        if (++steps_ % kTidy == 0) tidy();
        return true;
    }

    // To the nearest points of the hulls of the support vectors. False: on the way one had nothing
    // left, and leaves. With G_ij = y_i y_j phi_i.phi_j they are G a = l_P e_P + l_N e_N.
    bool leap() {
        const std::vector<Slot> members = support_.members();
        Cholesky G;
        G.factor(members.size(), [&](std::size_t a, std::size_t b) {
            const Slot i = members[a], j = members[b];
            return a == b ? self_product(i) : y_[i] * y_[j] * double(rows_.row(i, y_.size())[j]);
        });
        std::vector<double> to = combined(G, members);
        double step = to.empty() ? 0 : 1;  // how much of the way all weights last
        for (std::size_t m = 0; m < to.size(); ++m)
            if (const double here = hull(y_[members[m]]).a(members[m]); to[m] <= 0)
                step = std::min(step, here / (here - to[m]));
        if (step == 0) return true;  // rounding has eaten the problem; pair steps go on
        for (std::size_t m = 0; m < to.size(); ++m) {
            HullPoint<T>& X = hull(y_[members[m]]);
            const double here = X.a(members[m]), there = here + step * (to[m] - here);
            const bool ends = to[m] <= 0 && here / (here - to[m]) <= step;
            X.weigh(members[m], ends ? 0 : there);
            if (ends) leave(members[m]);
        }
        refresh();
        return step == 1;
    }
    // The solution of G a = l_P e_P + l_N e_N whose classes sum to 1 each; nothing where there is
    // none.
    std::vector<double> combined(const Cholesky& G, const std::vector<Slot>& members) const {
        std::vector<double> p, n;
        for (Slot j : members) p.push_back(y_[j] > 0), n.push_back(y_[j] < 0);
        G.solve(p), G.solve(n);
        double pp = 0, np = 0, nn = 0;
        for (std::size_t m = 0; m < members.size(); ++m) {
            (y_[members[m]] > 0 ? pp : np) += p[m];
            if (y_[members[m]] < 0) nn += n[m];
        }
        const double det = pp * nn - np * np;
        if (!(det > 0)) return {};
        for (std::size_t m = 0; m < members.size(); ++m)
            p[m] = (p[m] * (nn - np) + n[m] * (pp - np)) / det;
        return p;
    }

    // y (X_P - X_N).phi: how far a member is on its own side.
    double margin(Slot j) const { return hull(y_[j]).dot(j) - hull(-y_[j]).dot(j); }
    // Of one class: the member nearest to the other, and the farthest support vector.
    struct Ends {
        Slot to{}, from{};
        double low = std::numeric_limits<double>::infinity();
        double high = -std::numeric_limits<double>::infinity();
    };
    std::array<Ends, 2> ends() const {
        std::array<Ends, 2> both;
        for (Slot j{}; j < y_.size(); ++j) {
            Ends& e = both[y_[j] < 0];
            const double m = margin(j);
            if (m < e.low) e.to = j, e.low = m;
            if (supports(j) && m > e.high) e.from = j, e.high = m;
        }
        return both;
    }
    // What rounding leaves of a difference of margins.
    double noise() const { return 1e-14 * (positive_.square + negative_.square); }

    void enter(Slot k) {
        if (!supports(k)) support_.add(k);
    }
    void leave(Slot k) {
        hull(y_[k]).leave(k);
        support_.remove_at(support_.place(k));
        left_.push_back(k);
    }
    void leave_but(Slot k) {
        for (std::size_t m = support_.size(); m-- > 0;)
            if (support_[m] != k && y_[support_[m]] == y_[k]) leave(support_[m]);
    }
    void tidy() {
        positive_.tidy();
        negative_.tidy();
        cross_ = positive_.along(negative_);
    }

    // The products that are kept: none is beyond |X| |phi|, they make up the squares, and those of
    // a few examples are those of their kernel rows.
    bool believable() const {
        constexpr std::size_t kLooks = 64;
        const double longest =
            std::sqrt(std::abs(positive_.square)) + std::sqrt(std::abs(negative_.square));
        const auto near = [&](double a, double b) {
            return std::abs(a - b) <= kRoom * longest * longest;
        };
        if (!near(positive_.along(positive_), positive_.square) ||
            !near(negative_.along(negative_), negative_.square) ||
            !near(positive_.along(negative_), cross_))
            return false;
        for (Slot j{}; j < y_.size(); ++j) {
            const double most = (1 + longest) * (1 + std::sqrt(self_product(j)));
            for (const auto* X : {&positive_, &negative_})
                if (std::abs(X->dot(j)) > (1 + kRoom) * most) return false;
            if (j % (1 + y_.size() / kLooks) == 0 && !has_products_of_row(j, most)) return false;
        }
        return true;
    }
    bool has_products_of_row(Slot j, double most) const {
        const Aligned<T> row = rows_.values_of(j);
        for (const auto* X : {&positive_, &negative_}) {
            const double sum = isa::table<T>().dot(row.data(), X->shares(), rows_.active());
            const double dot = X->scale() * sum + X->a(j) * ridge_[j];
            if (std::abs(X->dot(j) - dot) > kRoom * most) return false;
        }
        return true;
    }
    static constexpr double kRoom = 1e-3;  // far more than rounding

    HullPoint<T> positive_, negative_;
    double cross_ = 0;  // X_P.X_N
    SignedColumn<> y_;
    Column<double> ridge_;    // 1 / C_i
    IndexSet<> support_;      // a > 0, in the order that random picks refer to
    PlainLedger<Slot> left_;  // no support vectors any more; good, as nothing moves before they go
    std::int64_t steps_ = 0;
    bool capped_ = false;
};

}  // namespace onlinesvm
