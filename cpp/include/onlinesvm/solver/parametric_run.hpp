// One run of the parametric engine (parametric.hpp): the solution followed along u from breakpoint
// to breakpoint. While the partition holds it is linear in u:
//     K_SS d_S = c_S,  d = ds/du;    r = dh/du = c - Kd,  0 on S                     (linear piece)
// and it breaks where a member of S meets a bound, or one outside comes to h = 0.
// A member that depends on S slides in by an exchange at constant u.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "onlinesvm/solver/parametric_variables.hpp"

namespace onlinesvm {

template <class Self, class T, std::size_t Copies>
class ParametricRun : public ParametricVariables<Self, T, Copies> {
    using Base = ParametricVariables<Self, T, Copies>;

  protected:
    using Base::Base;
    using Base::can_rise, Base::can_fall, Base::is_free, Base::kInfinity;
    using Base::moves_, Base::target_, Base::S_, Base::gram_, Base::since_refresh_, Base::path_;
    using Base::rows_, Base::s_, Base::h_, Base::lo_, Base::hi_, Base::y_, Base::c_, Base::t_;
    using Base::slot_of, Base::k, Base::hot, Base::join, Base::leave, Base::purge;
    using Base::tie_eps_, Base::ties_, Base::d_, Base::inward_, Base::in_E_, Base::rate_;
    using typename Base::Member;

    enum class End { true_problem, balance, vacated };  // u = 1, sum s = target, all of them at 0
    static constexpr std::size_t kNoLimit = std::size_t(-1);

    // Follows the solution from u = 0 to the end of the run. A cap, or a circle of empty steps, may
    // end it early: s is inside its bounds even then, and settle() sees to the rest. Returns u.
    double run(End end, std::size_t limit = kNoLimit) {
        begin(end);
        const std::size_t cap = std::min(limit, 100 * (s_.size() + 100));
        const std::size_t patience = s_.size() + 100;
        for (std::size_t n = 0, idle = 0; n < cap && idle < patience && !run_.over; ++n) {
            poll(8 * s_.size());
            const Way way = direction();
            if (way == Way::lost) break;
            note();  // the breakpoint just passed, with the partition behind it
            follow(way);
            const Next next = nearest(way);
            if (next.step == kInfinity) break;  // nothing is left to move
            idle = next.step > 0 ? 0 : idle + 1;
            advance(next, way);
        }
        note();
        snap();
        purge();
        ties_.clear();
        return run_.over && end == End::true_problem ? 1 : run_.u;
    }

  private:
    enum class Way { linear, null, lost };
    // Where the next breakpoint is: the step, the member, and what happens to it.
    struct Next {
        double step = kInfinity;
        Member member = 0;
        Event event = Event::end;
    };
    static constexpr double kDust = 1e-9;  // a share of a null direction that is rounding

    void begin(End end) {
        purge();
        run_ = Run();
        in_E_ = 0;
        run_.end = end;
        tie_eps_ = this->tie_width();
        for (Member m = 0; m < s_.size(); ++m) {
            const double c = c_[m], h = h_[m] + (end == End::true_problem ? c : 0);
            run_.largest_c = std::max(run_.largest_c, std::abs(c));
            run_.largest_k = std::max(run_.largest_k, k(m));
            run_.sum += s_[m];
            run_.dual += 0.5 * s_[m] * (y_[m] + t_ + h);
            in_E_ += s_[m] != 0 && !S_.contains(m);
            run_.to_vacate += end == End::vacated && c != 0;
        }
        run_.over = end == End::vacated && run_.to_vacate == 0;
        if (end == End::balance && !c_.empty()) run_.tilt = c_[0];
        this->gather_ties();
    }

    // d = ds/du, one-sided: the solution of
    //     min d'Kd/2 - c'd,  d free on S, and only inwards for those that wait at a bound with h = 0,
    // by an active set in the manner of non-negative least squares: every change of S lowers the
    // objective, so none comes twice. Where c has a part that no d can balance, a null direction v
    // of K results, along which s slides at constant u.
    Way direction() {
        inward_.assign(S_.size(), 0);
        d_.assign(S_.size(), 0);
        const std::size_t limit = 20 * (S_.size() + ties_.size() + 10);
        for (std::size_t round = 0; round < limit; ++round) {
            poll(4 * S_.size() * S_.size());
            solve_on_S();
            if (approach()) continue;
            const auto [member, push] = most_pushed();
            if (push == 0) return Way::linear;
            const Member m = hot(member);
            const double way = push > 0 ? 1 : -1;
            if (join(m)) {
                inward_.push_back(is_free(m) ? 0 : way);
                d_.push_back(0);
            } else if (!exchange(m, way)) {
                slider_ = m;
                return Way::null;
            }
        }
        return Way::lost;
    }
    void solve_on_S() {
        on_S_.resize(S_.size());
        for (std::size_t i = 0; i < S_.size(); ++i) on_S_[i] = c_[S_[i]];
        gram_.solve(on_S_.data(), x_);
    }
    // From d towards x; true where a member came from a bound, would go back through it, and
    // leaves.
    bool approach() {
        double part = 1;
        std::size_t blocker = S_.size();
        for (std::size_t i = 0; i < S_.size(); ++i)
            if (inward_[i] * x_[i] < 0 && d_[i] / (d_[i] - x_[i]) < part) {
                part = d_[i] / (d_[i] - x_[i]);
                blocker = i;
            }
        for (std::size_t i = 0; i < S_.size(); ++i) d_[i] += part * (x_[i] - d_[i]);
        if (blocker == S_.size()) return false;
        leave(blocker);
        return true;
    }
    // Of those that wait with h = 0: the one pushed most where it can go, and how much (0: none).
    std::pair<Member, double> most_pushed() {
        push_.assign(ties_.size(), 0);
        for (std::size_t i = 0; i < ties_.size(); ++i) push_[i] = c_[ties_[i]];
        this->each_row_of_S([&](std::size_t i, const T* row) {
            for (std::size_t j = 0; j < ties_.size(); ++j)
                push_[j] -= d_[i] * double(row[slot_of(ties_[j])]);
        });
        run_.still = stillness();
        std::pair<Member, double> most{0, 0};
        for (std::size_t j = 0; j < ties_.size(); ++j) {
            const double r = push_[j];
            if (S_.contains(ties_[j]) || std::abs(r) <= run_.still) continue;
            if ((r > 0 ? can_rise(ties_[j]) : can_fall(ties_[j])) &&
                std::abs(r) > std::abs(most.second))
                most = {ties_[j], r};
        }
        return most;
    }
    // A rate that is rounding.
    double stillness() const {
        double reach = 0;
        for (std::size_t i = 0; i < S_.size(); ++i) reach += std::abs(d_[i]) * std::sqrt(k(S_[i]));
        return 1e-10 * run_.largest_c + 1e-15 * reach * std::sqrt(run_.largest_k);
    }
    // m depends on S, m = u'S: d goes along v = e_m - u until a member that came from a bound is
    // back there; m takes its place. Without such a one v is the null direction, left in d.
    bool exchange(Member m, double way) {
        std::vector<double> u = gram_.u();
        double longest = 1, part = kInfinity;
        for (double v : u) longest = std::max(longest, std::abs(v));
        for (double& v : u)
            if (std::abs(v) <= kDust * longest) v = 0;
        std::size_t blocker = S_.size();
        for (std::size_t i = 0; i < S_.size(); ++i) {
            const double v = -way * u[i];
            if (inward_[i] * v < 0 && -d_[i] / v < part) {
                part = -d_[i] / v;
                blocker = i;
            }
        }
        if (blocker == S_.size()) {
            for (std::size_t i = 0; i < S_.size(); ++i) d_[i] = -way * u[i];
            d_.push_back(way);
            return false;
        }
        for (std::size_t i = 0; i < S_.size(); ++i) d_[i] -= part * way * u[i];
        leave(blocker);
        if (join(m)) {
            inward_.push_back(is_free(m) ? 0 : way);
            d_.push_back(part * way);
        }
        return true;
    }

    // rate = -K d over all slots.
    void follow(Way way) {
        moves_.clear();
        for (std::size_t i = 0; i < S_.size(); ++i) moves_.push_back({slot_of(S_[i]), d_[i]});
        if (way == Way::null) moves_.push_back({slot_of(slider_), d_.back()});
        this->compute_rates();
    }
    // The smallest step to an event, or to the end of the run.
    Next nearest(Way way) const {
        Next next;
        double slope = 0;
        const auto meets_bound = [&](Member m, double d) {
            slope += d;
            if (d == 0) return;
            const double edge = d > 0 ? hi_[m] : lo_[m], step = std::max(0.0, (edge - s_[m]) / d);
            if (step >= next.step) return;
            next = {step, m, edge == 0 ? Event::S_to_O : Event::S_to_E};
        };
        for (std::size_t i = 0; i < S_.size(); ++i) meets_bound(S_[i], d_[i]);
        if (way == Way::null) {
            meets_bound(slider_, d_.back());
            if (next.member == slider_)
                next.event = next.event == Event::S_to_O ? Event::E_to_O : Event::O_to_E;
        } else {
            const double still = 2 * run_.still;
            for (Member m = 0; m < s_.size(); ++m) {
                const double r = c_[m] + rate_[slot_of(m)];
                if (r > still ? !can_rise(m) : r < -still ? !can_fall(m) : true) continue;
                const double step = std::max(0.0, -h_[m] / r);
                if (step < next.step && !S_.contains(m))
                    next = {step, m, s_[m] == 0 ? Event::O_to_S : Event::E_to_S};
            }
        }
        const double end = to_the_end(way, slope);
        return end <= next.step ? Next{end, 0, Event::end} : next;
    }
    double to_the_end(Way way, double slope) const {
        if (run_.end == End::true_problem && way == Way::linear) return std::max(0.0, 1 - run_.u);
        if (run_.end == End::balance && slope != 0) {
            const double step = (target_ - run_.sum) / slope;
            if (step >= 0) return step;
        }
        return kInfinity;
    }

    void advance(const Next& next, Way way) {
        const bool slides = way == Way::null;
        const double step = next.step, by = slides ? 0 : step;
        keep_account(step, by);
        const auto move = [&](Member m, double d) {
            s_.edit(m) = std::clamp(s_[m] + step * d, lo_[m], hi_[m]);
        };
        for (std::size_t i = 0; i < S_.size(); ++i) move(S_[i], d_[i]);
        if (slides) {
            in_E_ -= s_[slider_] != 0;
            move(slider_, d_.back());
        }
        run_.u += by;
        t_ += by * run_.tilt;
        ++since_refresh_;
        double* h = h_.edit().data();
        const double *c = c_.data(), *rate = rate_.data();
        for (Member m = 0; m < s_.size(); ++m) h[m] += by * c[m] + step * rate[slot_of(m)];
        run_.over = next.event == Event::end;
        run_.passed = {next.event, run_.over ? kNoId : rows_.id(slot_of(next.member))};
        run_.noted = false;
        if (!run_.over) arrive(next);
        purge();
        if (slides && !(is_free(slider_) && join(slider_))) in_E_ += s_[slider_] != 0;
        this->gather_ties();
    }
    // Exactly there: at its bound, or at h = 0.
    void arrive(const Next& next) {
        const Member m = next.member;
        if (next.event == Event::O_to_S || next.event == Event::E_to_S) {
            h_.edit(m) = 0;
            return;
        }
        const bool to_zero = next.event == Event::S_to_O || next.event == Event::E_to_O;
        s_.edit(m) = to_zero ? 0 : hi_[m] != 0 ? hi_[m] : lo_[m];
        if (to_zero && run_.end == End::vacated && c_[m] != 0) {
            this->close(m);
            c_.edit(m) = 0;
            run_.over = --run_.to_vacate == 0;
        }
    }
    // The sum of s, and the dual at the true q.
    void keep_account(double step, double by) {
        double slope = 0, bend = 0;
        for (std::size_t i = 0; i < d_.size(); ++i) {
            slope += d_[i];
            bend += d_[i] * c_[i < S_.size() ? S_[i] : slider_];
        }
        if (run_.end == End::balance)
            run_.dual += by * run_.tilt * (run_.sum + 0.5 * step * slope);
        else if (run_.end == End::true_problem)
            run_.dual += bend * step * (1 - run_.u - 0.5 * by);
        else
            run_.dual -= bend * step * (run_.u + 0.5 * by);
        run_.sum += step * slope;
    }
    void note() {
        if (std::exchange(run_.noted, true)) return;
        const auto [event, id] = run_.passed;
        const std::int64_t in_S = std::int64_t(S_.size()), all = std::int64_t(s_.size());
        path_.push_back({run_.end == End::balance ? t_ : run_.u, event, id, in_S, in_E_,
                         all - in_S - in_E_, run_.dual});
    }

    // The end of a run may fall together with a bound: at it, or a rounding error before, of a path that
    // may have seen larger kernel values than are left. What that does to f is no more than a tie.
    void snap() {
        for (Member m = 0; m < s_.size(); ++m)  // a tie that slid need not be in S
            for (double edge : {lo_[m], hi_[m]}) {
                const double off = std::abs(s_[m] - edge);
                if (off <= 1e-12 * (hi_[m] - lo_[m]) &&
                    off * std::sqrt(k(m) * run_.largest_k) <= tie_eps_)
                    s_.edit(m) = edge;
            }
    }

    struct Run {
        End end = End::true_problem;
        double u = 0, tilt = 0;  // tilt = dt/du
        double sum = 0, dual = 0;
        double largest_c = 0, largest_k = 0, still = 0;
        std::size_t to_vacate = 0;
        std::pair<Event, Id> passed{Event::end, kNoId};
        bool noted = true, over = false;
    };
    Run run_;
    Member slider_ = 0;
    std::vector<double> x_, on_S_, push_;
};

}  // namespace onlinesvm
