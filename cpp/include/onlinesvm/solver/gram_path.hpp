// The hinge-loss SVM with a free bias over a matrix of kernel values, from one C to the next: what a
// search for the best C solves many times. Examples of weight 0 are decided and not learned.
//
//     max  sum y_i s_i - s'Ks/2   with  0 <= y_i s_i <= C w_i,  sum s_i = 0
//
// Pair steps as in solver/pair.hpp. Each round takes those that may move soon, with the kernel values
// between them side by side; the gradients of all others follow at its end.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "onlinesvm/loops/interrupt.hpp"
#include "onlinesvm/loops/isa.hpp"

namespace onlinesvm {

class GramPath {
  public:
    // K is n x n, row by row; y is +1 or -1, or anything where the weight is 0.
    GramPath(const float* K, std::span<const double> y, std::span<const double> weight)
        : K_(K),
          n_(y.size()),
          y_(y),
          weight_(weight),
          s_(n_),
          h_(n_),
          fall_(n_),
          rise_(n_),
          k_(n_) {
        for (std::size_t j = 0; j < n_; ++j) {
            h_[j] = weight_[j] > 0 ? y_[j] : 0.0;
            k_[j] = double(K_[j * n_ + j]);
        }
    }

    // Optimal within tol for this C, from the solution at hand. False: it gave up before.
    bool solve(double C, double tol) {
        begin_at(C);
        std::int64_t left = kSteps * std::int64_t(n_ + 1000);
        for (look(); ends_.high - ends_.low > tol; look()) {
            const std::int64_t taken =
                round(std::max(tol, kLoose * (ends_.high - ends_.low)), left);
            left -= taken;
            if (taken == 0 || left <= 0) return false;
        }
        return true;
    }
    double bias() const {
        if (std::isfinite(ends_.high) && std::isfinite(ends_.low))
            return 0.5 * (ends_.high + ends_.low);
        return std::isfinite(ends_.high) ? ends_.high : std::isfinite(ends_.low) ? ends_.low : 0;
    }
    const std::vector<double>& coefficients() const { return s_; }
    double decision(std::size_t j) const { return base(j) - h_[j] + bias(); }

  private:
    static constexpr double kLoose = 0.1;  // a round leaves this share of the violation it found
    static constexpr double kNear = 0.2;   // of its margin: who may move soon
    static constexpr double kSnap = 1e-12;
    static constexpr std::int64_t kSteps = 1000;  // per example, before it gives up

    double base(std::size_t j) const { return weight_[j] > 0 ? y_[j] : 0.0; }

    // The solution for another C in proportion, where that is the better one to begin at.
    void begin_at(double C) {
        if (C_ > 0) {
            double A = 0, B = 0;
            for (std::size_t j = 0; j < n_; ++j)
                A += base(j) * s_[j], B += s_[j] * (base(j) - h_[j]);
            const double r = C / C_;
            if (r < 1 || r * A - r * r * B / 2 > A - B / 2)
                for (std::size_t j = 0; j < n_; ++j)
                    s_[j] *= r, h_[j] = base(j) - r * (base(j) - h_[j]);
        }
        C_ = C;
        for (std::size_t j = 0; j < n_; ++j) set(j, s_[j]);
    }
    void set(std::size_t j, double s) {
        const double edge = weight_[j] > 0 ? y_[j] * C_ * weight_[j] : 0.0;
        const double low = std::min(edge, 0.0), high = std::max(edge, 0.0);
        if (std::abs(s) <= kSnap * std::min(1.0, high - low)) s = 0;
        if (std::abs(s) >= (high - low) * (1 - kSnap)) s = edge;
        s_[j] = s, fall_[j] = low - s, rise_[j] = high - s;
    }
    void look() {
        ends_ = isa::table<float>().pair(view(h_, fall_, rise_, k_), nullptr, nullptr, 0, n_);
    }
    static isa::BoxView view(std::vector<double>& h, const std::vector<double>& fall,
                             const std::vector<double>& rise, const std::vector<double>& k) {
        return {.h = h.data(),
                .fall = fall.data(),
                .rise = rise.data(),
                .k = k.data(),
                .k_inv = nullptr,
                .uniform = false};
    }

    std::int64_t round(double tol, std::int64_t most) {
        choose();
        const std::size_t m = hot_.size();
        hot_h_.resize(m), hot_fall_.resize(m), hot_rise_.resize(m), hot_k_.resize(m);
        for (std::size_t i = 0; i < m; ++i) {
            const std::size_t j = hot_[i];
            hot_h_[i] = h_[j], hot_fall_[i] = fall_[j], hot_rise_[i] = rise_[j], hot_k_[i] = k_[j];
        }
        before_ = s_;
        const std::int64_t taken = climb(tol, std::min(most, 1000 + 4 * std::int64_t(m)));
        changed_.clear(), by_.clear();
        for (const std::size_t j : hot_)
            if (s_[j] != before_[j])
                changed_.push_back(K_ + j * n_), by_.push_back(s_[j] - before_[j]);
        isa::table<float>().subtract(h_.data(), changed_.data(), by_.data(), by_.size(), 0, n_);
        return taken;
    }
    // Those between their bounds, and those near to where they would leave one.
    void choose() {
        const double b = bias();
        hot_.clear();
        for (std::size_t j = 0; j < n_; ++j) {
            const double away = h_[j] - b;
            if ((rise_[j] > 0 && away > (fall_[j] < 0 ? -1e300 : -kNear)) ||
                (fall_[j] < 0 && away < kNear))
                hot_.push_back(j);
        }
        if (4 * hot_.size() > 3 * n_) {
            hot_.resize(n_);
            for (std::size_t j = 0; j < n_; ++j) hot_[j] = j;
            rows_ = K_, stride_ = n_;
            return;
        }
        const std::size_t m = hot_.size();
        stride_ = (m + 15) / 16 * 16;
        between_.resize(m * stride_);
        for (std::size_t i = 0; i < m; ++i) {
            const float* from = K_ + hot_[i] * n_;
            float* to = between_.data() + i * stride_;
            for (std::size_t l = 0; l < m; ++l) to[l] = from[hot_[l]];
        }
        rows_ = between_.data();
    }
    // Pair steps among the chosen, until none violates by more than tol.
    std::int64_t climb(double tol, std::int64_t most) {
        const auto& table = isa::table<float>();
        const std::size_t m = hot_.size();
        const isa::BoxView v = view(hot_h_, hot_fall_, hot_rise_, hot_k_);
        isa::Ends ends = table.pair(v, nullptr, nullptr, 0, m);
        std::int64_t taken = 0;
        for (; taken < most && ends.high - ends.low > tol; ++taken) {
            poll(4 * m);
            const std::size_t i = ends.up;
            const float* row = rows_ + i * stride_;
            const isa::Partner best = table.partner(v, row, hot_h_[i], hot_k_[i], m);
            const std::size_t j = best.gain > 0 ? best.index : ends.down;
            const double eta = std::max(hot_k_[i] + hot_k_[j] - 2 * double(row[j]), isa::kFlat);
            const double by =
                std::min({(hot_h_[i] - hot_h_[j]) / eta, hot_rise_[i], -hot_fall_[j]});
            const double was = s_[hot_[i]];
            move(i, by), move(j, -by);
            if (s_[hot_[i]] == was) break;  // too short for the numbers
            const float* rows[2] = {row, rows_ + j * stride_};
            const double delta[2] = {by, -by};
            ends = table.pair(v, rows, delta, 2, m);
        }
        return taken;
    }
    void move(std::size_t i, double by) {
        const std::size_t j = hot_[i];
        set(j, s_[j] + by);
        hot_fall_[i] = fall_[j], hot_rise_[i] = rise_[j];
    }

    const float* K_;
    std::size_t n_;
    std::span<const double> y_, weight_;
    double C_ = 0;
    std::vector<double> s_, h_, fall_, rise_, k_;
    isa::Ends ends_;

    std::vector<std::size_t> hot_;
    std::vector<double> hot_h_, hot_fall_, hot_rise_, hot_k_, before_, by_;
    std::vector<const float*> changed_;
    std::vector<float> between_;
    const float* rows_ = nullptr;
    std::size_t stride_ = 0;
};

}  // namespace onlinesvm
