// Which examples deserve a label, asked one by one as they pass.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "onlinesvm/base/archive.hpp"
#include "onlinesvm/base/row.hpp"
#include "onlinesvm/base/store.hpp"

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

// "all" asks always; "margin" asks when |f| <= 1 (OnlineASVM-R); "greedy" looks at blocks of h
// examples and asks once per block, for the one with the smallest |f|.
template <class T>
class Query {
  public:
    Query(const std::string& name, std::int64_t h) : h_(h) {
        if (name == "all")
            kind_ = Kind::all;
        else if (name == "margin")
            kind_ = Kind::margin;
        else if (name == "greedy")
            kind_ = Kind::greedy;
        else
            throw std::invalid_argument("query: '" + name +
                                        "' is none of 'all', 'margin', 'greedy'");
    }

    // Shall an example at distance |f| from the boundary be labelled now?
    bool asks(double distance, Row<T> x, double y, double weight, Id id) {
        ready_ = false;
        if (kind_ == Kind::all) return true;
        if (kind_ == Kind::margin) return distance <= 1;
        if (seen_ == 0 || kept_.id == kNoId || distance < best_) {
            best_ = distance;
            kept_ = {OwnedRow<T>(x), y, weight, id};
        }
        if (++seen_ < h_) return false;
        seen_ = 0;
        ready_ = true;
        return true;
    }
    // The example to learn, when it is not the one just seen.
    const Kept<T>* chosen() const { return ready_ ? &kept_ : nullptr; }

    bool keeps(Id id) const { return kept_.id == id; }
    void forget() { kept_ = {}, best_ = std::numeric_limits<double>::infinity(); }

    template <class A>
    void state(A& a) {
        a("seen", seen_);
        a("best", any(best_));  // infinite where the best was unlearned
        a("kept", kept_);
        if constexpr (A::loading)
            demand(!std::isnan(best_) && seen_ <= std::max<std::int64_t>(0, h_ - 1) &&
                       (seen_ == 0 || kept_.id != kNoId || std::isinf(best_)),
                   "the example put aside does not fit its block");
    }
    // Whether the example put aside can be learned by a model of so many classes.
    void demand_fits(std::size_t classes, const Store<T>& store) const {
        demand(kept_.id == kNoId || (kept_.y < double(classes) &&
                                     (store.size() == 0 || kept_.x.sparse == store.sparse())),
               "the example put aside does not belong to the model");
    }

  private:
    enum class Kind { all, margin, greedy };
    Kind kind_;
    std::int64_t h_, seen_ = 0;
    double best_ = 0;
    bool ready_ = false;
    Kept<T> kept_;
};

}  // namespace onlinesvm
