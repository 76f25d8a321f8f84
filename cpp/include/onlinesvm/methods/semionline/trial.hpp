// How many examples are still told rightly when support vectors are taken out of f, before anything
// is trained again: Ullah et al. 2009 let a random one go only if that number does not fall.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "onlinesvm/function/kernel_cache.hpp"

namespace onlinesvm {

template <class T>
class Trial {
  public:
    struct Judged {  // an example, its class number, and f of every output
        Slot slot;
        std::int32_t label;
        std::vector<double> f;
    };

    Trial(KernelCache<T>& rows, std::vector<Judged> examples, std::int64_t tries)
        : rows_(rows), examples_(std::move(examples)), right_(count()), tries_(tries) {}

    // Takes j out, whose coefficients are given. Refuses, and changes nothing, where fewer would be
    // told rightly; after so many refusals in a row, no more.
    bool takes_out(Slot j, const std::vector<double>& s) {
        subtract(j, s, 1);
        const std::size_t right = count();
        if (right < right_ && refused_ < tries_) {
            ++refused_;
            subtract(j, s, -1);
            return false;
        }
        right_ = right;
        refused_ = 0;
        return true;
    }

  private:
    void subtract(Slot j, const std::vector<double>& s, double sign) {
        const T* k = rows_.row(j, rows_.size());
        for (Judged& e : examples_)
            for (std::size_t c = 0; c < s.size(); ++c) e.f[c] -= sign * s[c] * double(k[e.slot]);
    }
    std::size_t count() const {
        return std::size_t(std::count_if(examples_.begin(), examples_.end(), [](const Judged& e) {
            const auto best = std::max_element(e.f.begin(), e.f.end());
            return (e.f.size() == 1 ? *best > 0.0 : best - e.f.begin()) == e.label;
        }));
    }

    KernelCache<T>& rows_;
    std::vector<Judged> examples_;
    std::size_t right_;
    std::int64_t tries_, refused_ = 0;
};

}  // namespace onlinesvm
