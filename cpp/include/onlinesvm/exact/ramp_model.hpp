// What the online and the offline ramp-loss SVM share: the examples, one Box per output, and V.
//
//     min |w|^2/2 + sum C_i R_s(y_i f(x_i)),   R_s(z) = min(1 - s, max(0, 1 - z))          (eq. 7)
//
// V = {i : g_i <= 1 - s} are the examples inside the ramp, g_i = 1 - y_i f(x_i). On V this is a
// hinge SVM without bias, which Box keeps optimal; outside V an example has the bound 0. Several
// classes share the examples and their kernel rows, one Box each (one against the rest).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "onlinesvm/base/rows.hpp"
#include "onlinesvm/base/score.hpp"
#include "onlinesvm/base/support.hpp"
#include "onlinesvm/solver/box.hpp"

namespace onlinesvm {

struct RampParams {
    double C = 1.0;
    double s = -1.0;         // where the ramp ends; -inf: hinge loss
    double tol = 1e-3;       // largest KKT violation left
    double gain_tol = 1e-5;  // smallest gain of the dual worth a step
    std::int64_t cache_bytes = std::int64_t(1) << 28;
    Kernel kernel;

    template <class F>
    void fields(F&& field) {
        field("C", C);
        field("s", s);
        field("tol", tol);
        field("gain_tol", gain_tol);
        field("cache_bytes", cache_bytes);
        field("kernel", kernel);
    }
};

template <class T>
class RampModel {
  public:
    explicit RampModel(const RampParams& p)
        : ramp_(p),
          rows_(std::make_unique<Rows<T>>(p.kernel, std::size_t(p.cache_bytes))),
          notes_(std::make_unique<Notes>()) {
        rows_->follow(notes_.get());
        add_box();
    }

    std::size_t outputs() const { return boxes_.size(); }

    bool holds(std::int64_t id) const { return rows_->holds(id); }

    // Takes examples away and settles the rest; an id dropped before has no influence left.
    void unlearn(std::span<const std::int64_t> ids) {
        bool gone = false;
        for (std::int64_t id : ids) {
            if (!rows_->holds(id)) continue;
            gone = true;
            for (auto& box : boxes_) {
                box->bound(rows_->slot(id), 0);
                box->sync(true);
            }
            rows_->remove(rows_->slot(id));
        }
        if (gone)
            for (auto& box : boxes_) settle(*box);
    }

    // More classes: the two-class machine is the second class's; the first's is its mirror image,
    // and a new class starts with every example held as a negative.
    void grow(std::size_t classes) {
        if (classes <= 2 || classes <= boxes_.size()) return;
        if (boxes_.size() == 1) {
            auto first = std::make_unique<Box<T>>(*rows_, tolerance());
            first->mirror(*boxes_[0]);
            boxes_.insert(boxes_.begin(), std::move(first));
        }
        while (boxes_.size() < classes) {
            Box<T>& box = add_box();
            for (Slot j = 0; j < rows_->size(); ++j)
                box.learn(j, -1, in_ramp(1.0) ? cost(j) : 0, 0);
            settle(box);
        }
    }

    void score(Row<T> x, double* out) const { score_many(std::span(&x, 1), out); }
    void score_many(std::span<const Row<T>> xs, double* out) const {
        std::vector<const double*> coefficients;
        for (const auto& box : boxes_) coefficients.push_back(box->coefficients());
        onlinesvm::score(rows_->store(), rows_->active(), coefficients, xs, out);
    }

    // Largest violation of the KKT conditions on V, from f computed afresh.
    double kkt_residual() const {
        double worst = 0;
        const std::vector<double> f = scores_of_held();
        for (std::size_t c = 0; c < boxes_.size(); ++c)
            for (Slot j = 0; j < rows_->size(); ++j) {
                const Box<T>& box = *boxes_[c];
                const double alpha = std::abs(box.coefficient(j)), upper = box.upper(j);
                const double g = 1 - box.label(j) * f[j * boxes_.size() + c];
                if (upper == 0) continue;
                worst = std::max(worst, alpha == 0 ? g : alpha == upper ? -g : std::abs(g));
            }
        return worst;
    }

    // P(w) of eq. 7 over the examples held, summed over outputs.
    double objective() const {
        double total = 0;
        const std::vector<double> f = scores_of_held();
        for (std::size_t c = 0; c < boxes_.size(); ++c)
            for (Slot j = 0; j < rows_->size(); ++j) {
                const Box<T>& box = *boxes_[c];
                const double fj = f[j * boxes_.size() + c];
                total += 0.5 * box.coefficient(j) * fj;
                total += cost(j) * std::min(1 - ramp_.s, std::max(0.0, 1 - box.label(j) * fj));
            }
        return total;
    }

    Support<T> support() const {
        std::vector<const double*> coefficients;
        for (const auto& box : boxes_) coefficients.push_back(box->coefficients());
        return support_of(*rows_, coefficients);
    }

    std::size_t n_support() const {
        std::size_t n = 0;
        for (Slot j = 0; j < rows_->active(); ++j) n += supports(j);
        return n;
    }
    std::size_t held() const { return rows_->size(); }
    bool capped() const {
        return std::any_of(boxes_.begin(), boxes_.end(), [](const auto& b) { return b->capped(); });
    }
    std::size_t nbytes() const {
        std::size_t n = rows_->nbytes();
        for (const auto& box : boxes_) n += box->nbytes();
        return n + rows_->size() * (sizeof(double) + sizeof(std::int32_t));
    }

    template <class A>
    void state(A& a) {
        std::int64_t boxes = std::int64_t(boxes_.size());
        a("outputs", boxes);
        a("rows", *rows_);
        a("cost", notes_->cost);
        a("class", notes_->label);
        a("updates", updates_);
        a("hot_limit", hot_limit_);
        if constexpr (A::loading) {
            if (boxes < 1 || notes_->cost.size() != rows_->size() ||
                notes_->label.size() != rows_->size())
                throw std::invalid_argument("state: outputs or costs do not fit the examples");
            boxes_.clear();
        }
        for (std::int64_t c = 0; c < boxes; ++c) {
            if constexpr (A::loading) add_box();  // one by one: a false count fails at the first
            a("box" + std::to_string(c), *boxes_[std::size_t(c)]);
        }
    }

  protected:
    static constexpr int kRounds = 50;      // of relocation
    static constexpr int kRefresh = 1000;   // updates between recomputations of h
    static constexpr double kGrowth = 1.5;  // of the hot set before the firm ones leave it
    static constexpr std::int64_t kHot = 64;

    struct Notes final : Follower {  // what is known of an example besides x
        std::vector<double> cost;    // C_i
        std::vector<std::int32_t> label;
        void slot_pushed() override { cost.push_back(0), label.push_back(0); }
        void slots_swapped(Slot a, Slot b) override {
            std::swap(cost[a], cost[b]), std::swap(label[a], label[b]);
        }
        void slot_popped() override { cost.pop_back(), label.pop_back(); }
    };

    Tolerance tolerance() const { return {ramp_.tol, ramp_.gain_tol}; }
    double cost(Slot j) const { return notes_->cost[j]; }
    bool in_ramp(double g) const { return g <= 1 - ramp_.s; }
    double sign(std::size_t box, std::int32_t label) const {
        return label == std::int32_t(boxes_.size() == 1 ? 1 : box) ? 1.0 : -1.0;
    }
    Box<T>& add_box() {
        boxes_.push_back(std::make_unique<Box<T>>(*rows_, tolerance()));
        return *boxes_.back();
    }

    bool supports(Slot j) const {
        return std::any_of(boxes_.begin(), boxes_.end(),
                           [&](const auto& b) { return b->coefficient(j) != 0; });
    }

    // A stationary point: optimal on V, and V the examples inside the ramp.
    void settle(Box<T>& box) {
        for (int round = 0; round < kRounds; ++round) {
            box.optimise();
            if (!relocate(box)) break;
        }
        if (++updates_ % kRefresh == 0) box.refresh();
    }

    // CCCP: who is inside the ramp now? Leaving needs a clear excess, or inexact solutions
    // oscillate.
    bool relocate(Box<T>& box) {
        if (std::isinf(ramp_.s)) return false;
        changed_.clear();
        for (Slot j = 0; j < rows_->size(); ++j) {
            const double g = box.gradient(j);
            if (box.upper(j) == 0 ? in_ramp(g) && cost(j) > 0 : g > 1 - ramp_.s + ramp_.tol)
                changed_.push_back(rows_->id(j));
        }
        for (std::int64_t id : changed_) {
            const Slot j = rows_->slot(id);
            box.bound(j, box.upper(j) == 0 ? cost(j) : 0);
        }
        return !changed_.empty();
    }

    // Firm members leave the hot set once it has grown well beyond those who may move.
    void relax() {
        if (std::int64_t(rows_->hot()) <= hot_limit_) return;
        for (auto& box : boxes_) box->sync(true);
        const auto firm = [&](Slot j) {
            return std::all_of(boxes_.begin(), boxes_.end(), [&](auto& b) { return b->firm(j); });
        };
        for (Slot j = rows_->resting(); j < rows_->active(); ++j)
            if (supports(j) && firm(j)) rows_->rest(j);
        for (Slot j = rows_->active(); j-- > rows_->resting();)
            if (!supports(j) && firm(j)) rows_->demote(j);
        hot_limit_ = std::max(kHot, std::int64_t(kGrowth * double(rows_->hot())));
    }

    std::vector<double> scores_of_held() const {
        std::vector<double> f(rows_->size() * boxes_.size());
        typename Store<T>::Scratch scratch;
        for (Slot j = 0; j < rows_->size(); ++j) {
            const Row<T> x = rows_->store().get(j, scratch);
            score(x, f.data() + j * boxes_.size());
        }
        return f;
    }

    RampParams ramp_;
    std::unique_ptr<Rows<T>> rows_;  // on the heap: its followers keep its address
    std::unique_ptr<Notes> notes_;
    std::vector<std::unique_ptr<Box<T>>> boxes_;
    std::int64_t updates_ = 0, hot_limit_ = kHot;
    std::vector<std::int64_t> changed_;
};

}  // namespace onlinesvm
