// Sequential minimal optimisation: the dual of Pair brought to its optimum, round by round.
// Platt, "Fast Training of Support Vector Machines using Sequential Minimal Optimization", 1999;
// Fan, Chen & Lin, "Working Set Selection Using Second Order Information", JMLR 6, 2005.
//
// Only the hot members step. Each round admits those outside that pull most, lets the hot ones
// climb, and brings the gradients of the others up to date, eight kernel rows at a time. Shrinking
// is the reverse: after a round that ran out of steps, members pressed against a bound leave until
// they pull again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "onlinesvm/solver/pair.hpp"

namespace onlinesvm {

template <class T>
class SmoSolver {
  public:
    using Order = typename Pair<T>::Order;

    // `supports` says of a slot whether it counts in f, for this machine or another.
    SmoSolver(KernelCache<T>& rows, Pair<T>& pair, Order order, double tau,
              std::function<bool(Slot)> supports)
        : rows_(rows), pair_(pair), order_(order), tau_(tau), supports_(std::move(supports)) {}

    // The worst violation is more than the tolerance.
    bool violates() {
        pair_.look();
        return pair_.delta() > pair_.tolerance(tau_);
    }

    // Rounds until nothing violates, by gradients computed afresh. False: it gave up before.
    bool solve() {
        std::int64_t left = pair_.limit();
        do {
            while (violates()) {
                const std::int64_t taken = round(left);
                left -= taken;
                if (taken == 0 || left <= 0) return left > 0;
            }
            pair_.refresh();
        } while (violates());
        return true;
    }

    // One round of at most `most` steps; says how many there were. None: nothing can be gained.
    std::int64_t round(std::int64_t most) {
        const double tol = std::max(pair_.tolerance(tau_), kLoose * pair_.delta());
        admit();
        const std::int64_t limit = std::min(most, kPatience + 2 * std::int64_t(rows_.hot()));
        const std::int64_t taken = climb(tol, limit);
        if (taken == limit) shrink();
        return taken;
    }

  private:
    static constexpr double kLoose = 0.1;  // a round leaves this share of the violation it found
    static constexpr std::size_t kAdmitted = 64;
    static constexpr std::int64_t kPatience = 1000;

    // The hot members climb, then the others catch up.
    std::int64_t climb(double tol, std::int64_t limit) {
        pair_.focus();
        before_.assign(pair_.coefficients() + rows_.resting(),
                       pair_.coefficients() + rows_.active());
        const std::int64_t taken = pair_.climb(order_, tol, limit);
        moves_.clear();
        for (Slot j(rows_.resting()); j < rows_.active(); ++j)
            if (const double by = pair_.coefficient(j) - before_[j - rows_.resting()]; by != 0)
                moves_.push_back({j, by});
        pair_.catch_up(moves_);
        pair_.look();
        pair_.retired();  // no member leaves for good
        return taken;
    }
    // Those outside that pull most in each direction join the hot ones.
    void admit() {
        const double least = 0.5 * pair_.tolerance(tau_);
        const std::size_t most = std::max(kAdmitted, rows_.hot() / 2) / 2;
        for (const double way : {1.0, -1.0}) {
            found_.clear();
            for (Slot j{}; j < rows_.size(); ++j)
                if (const double pull = way * pair_.pull(j); pull > least && !rows_.is_hot(j))
                    found_.push_back({-pull, rows_.id(j)});
            if (found_.size() > most) {
                std::nth_element(found_.begin(), found_.begin() + std::ptrdiff_t(most),
                                 found_.end());
                found_.resize(most);
            }
            std::sort(found_.begin(), found_.end());
            rows_.together([&] {
                for (const auto& [pull, id] : found_) rows_.admit(rows_.slot(id));
            });
        }
    }
    void shrink() {
        rows_.together([&] {
            for (Slot j(rows_.resting()); j < rows_.active(); ++j)
                if (pair_.pressed(j) && supports_(j)) rows_.rest(j);
            for (Slot j(rows_.active()); j-- > rows_.resting();)
                if (pair_.pressed(j)) rows_.demote(j);
        });
    }

    KernelCache<T>& rows_;
    Pair<T>& pair_;
    Order order_;
    double tau_;
    std::function<bool(Slot)> supports_;
    std::vector<std::pair<double, Id>> found_;
    std::vector<double> before_;
    std::vector<Move> moves_;
};

}  // namespace onlinesvm
