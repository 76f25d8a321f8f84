// The fallback of the parametric engine (parametric.hpp), where runs do not reach the tolerance:
// one or two variables at a time, each step raising the dual, so that it cannot go in circles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "onlinesvm/solver/parametric_run.hpp"

namespace onlinesvm {

template <class Self, class T, std::size_t Copies>
class ParametricClimb : public ParametricRun<Self, T, Copies> {
    using Base = ParametricRun<Self, T, Copies>;

  protected:
    using Base::Base;
    using Base::can_rise, Base::can_fall, Base::is_free;
    using Base::capped_, Base::moves_, Base::target_, Base::kInfinity;
    using Base::rows_, Base::s_, Base::h_, Base::lo_, Base::hi_, Base::S_, Base::rate_;
    using Base::slot_of, Base::k, Base::hot, Base::join, Base::leave, Base::shift;
    using typename Base::Member;

    void climb(bool free_bias) {
        while (!S_.empty()) leave(S_.size() - 1);
        this->refresh();
        const double tol = this->tolerance();
        capped_ = true;
        for (std::size_t n = 0; n < 1000 * (s_.size() + 100) && capped_; ++n) {
            poll(4 * s_.size());
            Member up = s_.size(), down = s_.size();
            for (Member m = 0; m < s_.size(); ++m) {
                if (can_rise(m) && (up == s_.size() || h_[m] > h_[up])) up = m;
                if (can_fall(m) && (down == s_.size() || h_[m] < h_[down])) down = m;
            }
            capped_ = free_bias ? pair_step(up, down, tol) : single_step(up, down, tol);
        }
        for (Member m = 0; m < s_.size(); ++m)
            if (is_free(m)) join(m);
    }

  private:
    bool single_step(Member up, Member down, double tol) {
        const double rise = up < s_.size() ? h_[up] : 0, fall = down < s_.size() ? -h_[down] : 0;
        if (std::max(rise, fall) <= tol) return false;
        const Member m = hot(rise > fall ? up : down);
        change(m, k(m) > 0 ? h_[m] / k(m) : h_[m] * kInfinity);
        return true;
    }
    // Towards the balance first, then along it.
    bool pair_step(Member up, Member down, double tol) {
        const double gap = target_ - this->sum();
        if (std::abs(gap) > 1e-12 * this->scale()) {
            const Member m = gap > 0 ? up : down;
            if (m < s_.size()) change(hot(m), gap);
            return m < s_.size();
        }
        if (up == s_.size() || down == s_.size()) return false;
        const double pull = h_[up] - h_[down];
        shift(-0.5 * (h_[up] + h_[down]));
        if (pull <= tol) return false;
        const Id upper = rows_.id(slot_of(up));
        const Member j = hot(down), i = hot(rows_.slot(upper) * Copies + up % Copies);
        const double k_ij = double(rows_.row(slot_of(i), rows_.size())[slot_of(j)]);
        const double curve = std::max(k(i) + k(j) - 2 * k_ij, 1e-300);
        const double step = std::min({pull / curve, hi_[i] - s_[i], s_[j] - lo_[j]});
        change(i, step);
        change(j, -step);
        return true;
    }
    void change(Member m, double by) {
        const double before = s_[m];
        s_.edit(m) = std::clamp(before + by, lo_[m], hi_[m]);
        moves_.assign(1, {slot_of(m), s_[m] - before});
        this->compute_rates();
        double* h = h_.edit().data();
        for (Member i = 0; i < s_.size(); ++i) h[i] += rate_[slot_of(i)];
    }
};

}  // namespace onlinesvm
