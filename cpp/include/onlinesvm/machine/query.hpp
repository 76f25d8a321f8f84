// Which examples deserve a label, asked one by one as they pass.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "onlinesvm/rows/row.hpp"
#include "onlinesvm/rows/store.hpp"
#include "onlinesvm/state/archive.hpp"

namespace onlinesvm {

template <class T>
struct Kept {  // an example put aside
    OwnedRow<T> x;
    double y = 0, weight = 0;
    Id id = kNoId;

    template <class A>
    void state(A& a) {
        a("x", x);
        a("y", y);
        a("weight", weight);
        a("id", any(id));  // -1: none
        if constexpr (A::loading)
            demand(id == kNoId || (id >= Id{} && y >= 0 && y == std::floor(y) && weight > 0 &&
                                   is_sound(x.row(), a.features())),
                   "the example put aside is malformed");
    }
};

// "all" asks always; "margin" asks when |f| <= width, which is 1 in OnlineASVM-R; "greedy" looks at
// blocks of h examples and asks once per block, for the one with the smallest |f|; "latest" asks for
// that of the h latest examples whenever one comes, unless it has asked for it before; "autoactive"
// is "greedy" with blocks that end with their fifth example near the boundary (LASVM).
template <class T>
class Query {
  public:
    Query(const std::string& name, std::int64_t h, double width = 1) : h_(h), width_(width) {
        if (name == "all")
            kind_ = Kind::all;
        else if (name == "margin")
            kind_ = Kind::margin;
        else if (name == "greedy")
            kind_ = Kind::greedy;
        else if (name == "latest")
            kind_ = Kind::latest;
        else if (name == "autoactive")
            kind_ = Kind::autoactive;
        else
            throw std::invalid_argument(
                "query: '" + name +
                "' is none of 'all', 'margin', 'greedy', 'latest', 'autoactive'");
    }

    // Shall an example at distance |f| from the boundary be labelled now, which may be near it?
    bool asks(double distance, Row<T> x, double y, double weight, Id id, bool near = false) {
        ready_ = false;
        if (kind_ == Kind::all) return true;
        if (kind_ == Kind::margin) return distance <= width_;
        if (seen_ == 0 || kept_.id == kNoId || distance < best_) {
            best_ = distance;
            kept_ = {OwnedRow<T>(x), y, weight, id};
        }
        near_ += near && kind_ == Kind::autoactive;
        if (++seen_ < h_ && near_ < kEnough) return false;
        seen_ = near_ = 0;
        ready_ = true;
        return true;
    }
    // "latest": the same, where |f| of those that came before is measured anew.
    bool looks_back() const { return kind_ == Kind::latest; }
    template <class Measure>
    bool asks_latest(double distance, Kept<T> newest, Measure&& measure) {
        ready_ = false;
        if (std::int64_t(latest_.size()) >= h_) drop(0);
        std::size_t best = latest_.size();
        for (std::size_t i = latest_.size(); i-- > 0;)
            if (const double other = measure(latest_[i].x.row()); other <= distance)
                distance = other, best = i;
        latest_.push_back(std::move(newest));
        asked_.push_back(0);
        if (asked_[best]) return false;
        kept_ = latest_[best];
        asked_[best] = ready_ = true;
        return true;
    }
    // The example to learn, when it is not the one just seen.
    const Kept<T>* chosen() const { return ready_ ? &kept_ : nullptr; }

    bool keeps(Id id) const {
        return kept_.id == id || std::any_of(latest_.begin(), latest_.end(),
                                             [&](const Kept<T>& one) { return one.id == id; });
    }
    void forget(Id id) {
        for (std::size_t i = latest_.size(); i-- > 0;)
            if (latest_[i].id == id) drop(i);
        if (kept_.id == id) kept_ = {}, best_ = std::numeric_limits<double>::infinity();
    }

    template <class A>
    void state(A& a) {
        a("seen", seen_);
        a("best", any(best_));  // infinite where the best was unlearned
        a("kept", kept_);
        if (kind_ == Kind::autoactive) a("near", near_);
        if (kind_ == Kind::latest) a("latest", latest_), a("asked", asked_);
        if constexpr (A::loading)
            demand(near_ < kEnough && latest_.size() == asked_.size() &&
                       std::cmp_less_equal(latest_.size(), h_),
                   "the examples put aside do not fit their query");
        if constexpr (A::loading)
            demand(!std::isnan(best_) && seen_ <= std::max<std::int64_t>(0, h_ - 1) &&
                       (seen_ == 0 || kept_.id != kNoId || std::isinf(best_)),
                   "the example put aside does not fit its block");
    }
    // Whether the example put aside can be learned by a model of so many classes.
    void demand_fits(std::size_t classes, const Store<T>& store) const {
        const auto fits = [&](const Kept<T>& one) {
            return one.id == kNoId || (one.y < double(classes) &&
                                       (store.size() == 0 || one.x.sparse == store.sparse()));
        };
        demand(fits(kept_) && std::all_of(latest_.begin(), latest_.end(), fits),
               "the example put aside does not belong to the model");
    }

  private:
    enum class Kind { all, margin, greedy, latest, autoactive };
    static constexpr std::int64_t kEnough = 5;
    Kind kind_;
    std::int64_t h_, seen_ = 0, near_ = 0;
    double width_;
    double best_ = 0;
    bool ready_ = false;
    Kept<T> kept_;
    std::vector<Kept<T>> latest_;
    std::vector<std::uint8_t> asked_;  // whether each of them was asked for

    void drop(std::size_t i) {
        latest_.erase(latest_.begin() + std::ptrdiff_t(i));
        asked_.erase(asked_.begin() + std::ptrdiff_t(i));
    }
};

}  // namespace onlinesvm
