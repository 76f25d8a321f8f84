// A mixture of kernels: one online learner per bandwidth, all over the same random waves, and a
// probability for each learner that follows its loss (random features: Rahimi & Recht, NIPS 2007;
// many kernels at once: Shen, Chen, Giannakis: Random Feature-based Online Multi-kernel Learning in
// Environments with Unknown Dynamics, JMLR 20 (2019); fixed share: Herbster & Warmuth, Machine Learning
// 32 (1998)).
//
// A wave of twice the frequency comes by cos 2a = 1 - 2 sin^2 a and sin 2a = 2 sin a cos a, so the
// waves of eight bandwidths, an octave apart, cost little more than those of the widest. Learner k has
// f_k(x) = w_k.z_k(x) + b_k. An example costs it one step against the slope of its own loss, which moves
// its output by kStep over the root of the squared slopes of the last kMemory examples, component by
// component in units of its own spread (as AdaGrad's steps are, but with one sum for all components).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "onlinesvm/loops/ladder.hpp"
#include "onlinesvm/machine/verbs.hpp"
#include "onlinesvm/memory/undo.hpp"
#include "onlinesvm/methods/budget/linear_expert.hpp"
#include "onlinesvm/methods/budget/multi_kernel_task.hpp"
#include "onlinesvm/methods/prepare/frequencies.hpp"
#include "onlinesvm/rows/store.hpp"

namespace onlinesvm {

template <class T, class Task>
class MultiKernel {
  public:
    using Verbs = Offers<verb::suffered, verb::mistakes>;

    struct Params {
        std::size_t n_components = 500, n_bandwidths = 8;
        bool linear = true;
        double share = 1e-3;
        std::int64_t random_state = 0;
        Kernel kernel;
        Task task;
        void fields(auto&& f) {
            f("n_components", n_components), f("n_bandwidths", n_bandwidths);
            f("linear", linear), f("share", share), f("random_state", random_state);
            f("kernel", kernel), task.fields(f);
        }
    };

    explicit MultiKernel(const Params& p)
        : p(p),
          judge_(p.kernel),
          waves_({std::max<std::size_t>(p.n_components / 2, 1), p.random_state, false, lowest(p)}),
          task_(p.task) {
        require(p.n_components >= 1, "n_components: must be at least 1");
        require(p.n_bandwidths >= 1, "n_bandwidths: must be at least 1");
        require(p.share >= 0.0 && p.share < 1.0, "share: must lie between 0 and 1");
        v_.assign(experts(), 1.0 / double(experts()));
        losses_.assign(experts(), 0.0);
        q_.assign(p.n_bandwidths, 1.0);
        lay_out(1);
    }

    void learn(const Row<T>& x, double y, double weight, Id) {
        if (!(weight > 0.0)) return;
        judge_.demand_own_value(x);
        poll(3 * w_.size());
        waves_.reach(x.width, !x.sparse());
        const T* const turns = turned(x);
        f_.resize(experts() * outputs_);
        read(turns, x, z_, f_.data());
        task_.judge(f_, v_, y, verdict_);
        ++t_;
        mistakes_ += verdict_.mistaken;
        suffered_ += weight * verdict_.loss;
        task_.meet(y, weight);
        weigh(weight);
        measure(z_);
        step(x, weight);
    }
    void expect(std::span<const Row<T>> coming) { coming_ = coming, turned_to_ = 0; }
    void turn(std::size_t i) { at_ = i; }

    void score(const Row<T>& x, double* out) const { score_many({&x, 1}, out); }
    void score_many(std::span<const Row<T>> xs, double* out) const {
        if (t_ == 0) {
            std::fill(out, out + xs.size() * outputs_, 0.0);
            return;
        }
        Aligned<T> turns(std::min(xs.size(), learn_block) * waves_.room());
        Aligned<T> z;
        std::vector<double> f(experts() * outputs_);
        for (std::size_t first = 0; first < xs.size(); first += learn_block) {
            const auto some = xs.subspan(first, std::min(learn_block, xs.size() - first));
            for (const Row<T>& x : some) judge_.demand_own_value(x);
            turn_all(some, turns);
            for (std::size_t i = 0; i < some.size(); ++i, out += outputs_) {
                poll(2 * w_.size());
                read(turns.data() + i * waves_.room(), some[i], z, f.data());
                task_.mix(f, v_, out);
            }
        }
    }

    std::size_t outputs() const { return outputs_; }
    void grow(std::size_t classes) {
        if (classes <= 2 || classes == outputs_) return;
        const std::size_t before = outputs_;
        const Aligned<T> w(w_.begin(), w_.end());
        const std::vector<double> b(b_.begin(), b_.end()), s(s_.begin(), s_.end());
        lay_out(classes);
        linear_.grow(before, classes);
        // Two classes share one output, +1 for the second; with a third each has its own.
        const bool splits = before == 1;
        for (std::size_t k = 0; k < experts(); ++k)
            for (std::size_t r = 0; r < (splits ? 2 : before); ++r) {
                const double factor = !splits ? 1.0 : r == 0 ? -0.5 : 0.5;
                const std::size_t from = k * before + (splits ? 0 : r), to = k * classes + r;
                b_.edit(to) = factor * b[from];
                s_.edit(to) = s[from];
                if (k == p.n_bandwidths) continue;
                T* const at = w_.edit().data() + to * length();
                for (std::size_t i = 0; i < length(); ++i)
                    at[i] = T(factor) * w[from * length() + i];
            }
    }

    double suffered() const { return suffered_; }
    std::int64_t mistakes() const { return mistakes_; }

    auto undoable() {
        return std::tie(waves_, w_, rate_, spread_, b_, s_, q_, v_, losses_, linear_, task_,
                        outputs_, t_, sampled_, mistakes_, suffered_, rate_of_weights_);
    }
    template <class A>
    void state(A& a) {
        if constexpr (A::loading) grow(a.outputs());
        const std::size_t n = w_.size(), m = rate_.size(), k = s_.size();
        a("waves", waves_);
        a("weights", w_), a("rates", rate_), a("spread", spread_), a("biases", b_);
        a("slopes", s_), a("moves", q_), a("shares", v_), a("losses", losses_);
        if (p.linear) a("linear", linear_);
        a("task", task_), a("t", t_), a("sampled", sampled_), a("mistakes", mistakes_);
        a("suffered", suffered_), a("eta", rate_of_weights_);
        if constexpr (A::loading) {
            const auto positive = [](const auto& all) {
                return std::all_of(all.begin(), all.end(), [](auto v) { return v >= 0; });
            };
            demand(outputs_ == a.outputs() && w_.size() == n && rate_.size() == m &&
                       spread_.size() == m && b_.size() == k && s_.size() == k &&
                       q_.size() == p.n_bandwidths && v_.size() == experts() &&
                       losses_.size() == experts(),
                   "the learners do not fit together");
            double sum = 0.0;
            for (double v : v_) sum += v;
            demand(positive(rate_) && positive(spread_) && positive(s_) && positive(v_) &&
                       positive(losses_) && sum > 0.5 && sum < 2.0 && rate_of_weights_ > 0.0 &&
                       *std::min_element(q_.begin(), q_.end()) > 0.0,
                   "a learner is malformed");
            demand(sampled_ >= 0 && sampled_ <= t_ && mistakes_ >= 0 && mistakes_ <= t_ &&
                       (t_ > 0 || waves_.features() == 0),
                   "the rounds do not fit together");
            if (p.linear) linear_.demand_fits(outputs_, waves_.features());
        }
    }
    std::size_t nbytes() const {
        return sizeof(*this) + waves_.nbytes() + linear_.nbytes() +
               nbytes_of(w_, rate_, spread_, b_, s_, q_, v_, losses_) +
               (z_.capacity() + ahead_.capacity()) * sizeof(T);
    }

  private:
    static constexpr double kMemory = 2000.0;  // examples that a step length goes by
    static constexpr std::int64_t kAll = 256,
                                  kOne = 16;     // the spread: of all, then of one in so many
    static constexpr std::int64_t kAnew = 4096;  // and rates are taken anew so often

    Params p;
    Store<T> judge_;  // of rows too long for the kernel; it stays empty
    Frequencies<T> waves_;
    Task task_;
    LinearExpert<T> linear_;
    std::size_t outputs_ = 1;
    Ledger<T> w_;                // learner by learner, output by output: cosines, then sines
    Ledger<T> rate_;             // learner by learner: one over the spread of a component
    Ledger<double> spread_;      // and the sum of its squares
    PlainLedger<double> b_, s_;  // biases and sums of squared slopes, of each learner and output
    PlainLedger<double> q_;      // by how much an example moves an output when steps are 1
    PlainLedger<double> v_, losses_;  // weights of learners, and what each has lost
    std::int64_t t_ = 0, sampled_ = 0, mistakes_ = 0;
    double suffered_ = 0.0, rate_of_weights_ = 1.0;

    std::span<const Row<T>> coming_;  // and their turns, as far as they are known
    std::size_t at_ = 0, turned_to_ = 0, turned_from_ = 0, turned_width_ = 0;
    Aligned<T> ahead_, z_;
    std::vector<double> f_;
    std::vector<T> moves_;
    Verdict verdict_;

    std::size_t experts() const { return p.n_bandwidths + p.linear; }
    std::size_t length() const { return 2 * waves_.room(); }
    const isa::Ladder<T>& loops() const { return isa::ladder<T>(); }

    // The kernel of the widest bandwidth; the ladder's middle is the one that was asked for.
    static Kernel lowest(const Params& p) {
        Kernel kernel = p.kernel;
        const double octave = kernel.shape == Shape::rbf ? 4.0 : 2.0;
        kernel.gamma *= std::pow(octave, -std::floor(0.5 * double(p.n_bandwidths)));
        return kernel;
    }
    void lay_out(std::size_t outputs) {
        outputs_ = outputs;
        w_.assign(p.n_bandwidths * outputs * length(), T(0));
        b_.assign(experts() * outputs, 0.0);
        s_.assign(experts() * outputs, 0.0);
        if (rate_.empty()) {
            rate_.assign(p.n_bandwidths * length(), T(0));
            spread_.assign(p.n_bandwidths * length(), 0.0);
        }
    }

    void turn_all(std::span<const Row<T>> xs, Aligned<T>& turns) const {
        std::vector<T*> at;
        for (std::size_t i = 0; i < xs.size(); ++i) at.push_back(turns.data() + i * waves_.room());
        waves_.turn(xs, at.data());
    }
    // Those of the example at hand; of a block, those of all that come after it at the same time.
    const T* turned(const Row<T>& x) {
        const bool known = at_ >= turned_from_ && at_ < turned_to_ && turned_width_ >= x.width;
        if (coming_.empty() || !known) {
            const auto some = coming_.empty() ? std::span(&x, 1) : coming_.subspan(at_);
            turned_from_ = coming_.empty() ? 0 : at_;
            ahead_.resize(std::max(ahead_.size(), some.size() * waves_.room()));
            turn_all(some, ahead_);
            turned_to_ = turned_from_ + some.size();
            turned_width_ = waves_.features();
        }
        const std::size_t i = coming_.empty() ? 0 : at_ - turned_from_;
        return ahead_.data() + i * waves_.room();
    }

    // The waves of all learners, and the outputs of each.
    void read(const T* turns, const Row<T>& x, Aligned<T>& z, double* f) const {
        const std::size_t room = waves_.room();
        z.resize(p.n_bandwidths * length());
        isa::table<T>().waves(turns, T(1), z.data(), z.data() + room, room);
        for (std::size_t k = 0; k < p.n_bandwidths; ++k) {
            T* const own = z.data() + k * length();
            if (k > 0) loops().octave(own - length(), own - room, own, own + room, room);
            loops().read(own, w_.data() + k * outputs_ * length(), length(), outputs_, length(),
                         f + k * outputs_);
        }
        if (p.linear) linear_.read(x, outputs_, f + p.n_bandwidths * outputs_);
        for (std::size_t i = 0; i < b_.size(); ++i) f[i] += b_[i];
    }

    // v <- v e^(-eta loss), over its sum, and a share of it goes to all.
    void weigh(double weight) {
        const double eta = task_.rate(), slower = eta / rate_of_weights_;
        rate_of_weights_ = eta;
        const double least = *std::min_element(verdict_.losses.begin(), verdict_.losses.end());
        std::span<double> v = v_.edit(), lost = losses_.edit();
        double sum = 0.0;
        for (std::size_t k = 0; k < v.size(); ++k) {
            lost[k] += weight * verdict_.losses[k];
            if (slower < 1.0) v[k] = std::pow(v[k], slower);
            v[k] *= std::exp(-eta * weight * (verdict_.losses[k] - least));
            sum += v[k];
        }
        for (double& each : v)  // none vanishes, so that their sum is never 0
            each = std::max((1.0 - p.share) * each / sum + p.share / double(v.size()), 1e-300);
    }

    // The spread of each component, and from it the rates.
    void measure(const Aligned<T>& z) {
        if (t_ <= kAll || t_ % kOne == 0) {
            std::span<double> spread = spread_.edit();
            for (std::size_t i = 0; i < spread.size(); ++i)
                spread[i] += double(z[i]) * double(z[i]);
            ++sampled_;
        }
        if ((t_ & (t_ - 1)) != 0 && t_ % kAnew != 0) return;
        std::span<T> rate = rate_.edit();
        const std::size_t room = waves_.room();
        for (std::size_t k = 0; k < p.n_bandwidths; ++k) {
            double moved = std::sqrt(double(waves_.size()));  // by the bias
            for (std::size_t j = 0; j < length(); ++j) {
                const std::size_t i = k * length() + j;
                const double mean = std::max(spread_[i] / double(sampled_), 1e-6);
                if (j % room >= waves_.size()) continue;  // room that is not used
                rate[i] = T(1.0 / std::sqrt(mean));
                moved += std::sqrt(mean);
            }
            q_.edit(k) = moved;
        }
    }

    // Against the slopes; a slope that is next to nothing moves nothing.
    void step(const Row<T>& x, double weight) {
        std::span<double> s = s_.edit(), b = b_.edit();
        std::span<T> w = w_.edit();
        if (p.linear) linear_.meet(x, outputs_);
        for (std::size_t k = 0; k < experts(); ++k) {
            const bool linear = k == p.n_bandwidths;
            const double moved = linear ? linear_.moved() : q_[k];
            const double of_bias = linear ? 1.0 : std::sqrt(double(waves_.size()));
            moves_.assign(outputs_, T(0));
            for (std::size_t r = 0; r < outputs_; ++r) {
                const std::size_t i = k * outputs_ + r;
                const double slope = verdict_.slopes[i];
                s[i] = (1.0 - 1.0 / kMemory) * s[i] + weight * slope * slope;
                if (std::abs(slope) <= Task::kFlat) continue;
                // At most as far as the first step, whatever the weight.
                double along = std::clamp(weight * slope / std::sqrt(s[i]), -1.0, 1.0);
                const double most = task_.limit(slope);
                along = std::clamp(Task::kStep * task_.unit() * along, -most, most);
                b[i] -= along * of_bias / moved;
                moves_[r] = T(-along / moved);
                if (!linear)
                    loops().push(z_.data() + k * length(), rate_.data() + k * length(), moves_[r],
                                 w.data() + i * length(), length());
            }
            if (linear) linear_.push(x, moves_);
        }
    }
};

template <class T>
using MultiKernelClassification = MultiKernel<T, MixedClassification>;
template <class T>
using MultiKernelRegression = MultiKernel<T, MixedRegression>;

}  // namespace onlinesvm
