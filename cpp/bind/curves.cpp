// The curves of a calibration, as functions of arrays.
#include "onlinesvm/methods/calibrate/curves.hpp"

#include <nanobind/nanobind.h>

#include "arrays.hpp"
#include "gil.hpp"
#include "module.hpp"

namespace onlinesvm::bind {
namespace {

using Sums = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Pairs = nb::ndarray<double, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

std::vector<double> kept(const Vector<double>& values) {
    return {values.data(), values.data() + values.shape(0)};
}

// Curves and their weights, of tuples of two.
std::vector<calibrate::Share> shares_of(const nb::tuple& parts) {
    std::vector<calibrate::Share> shares;
    for (const nb::handle part : parts)
        shares.push_back({nb::cast<double>(part[0]), &nb::cast<const calibrate::Curve&>(part[1])});
    return shares;
}

}  // namespace

void bind_curves(nb::module_& m) {
    using calibrate::Curve, calibrate::Breaks, calibrate::Numbers;
    [[maybe_unused]] const nb::class_<Curve> type(
        m, "Curve", "From a score to a probability; it never changes.");
    m.def(
        "sigmoid",
        [](double slope, double offset) { return Curve{calibrate::Sigmoid{slope, offset}}; },
        nb::arg("slope"), nb::arg("offset"), "1 / (1 + exp(-(slope * score + offset))).");
    m.def(
        "levels",
        [](const Vector<double>& breaks, const Vector<double>& values) {
            same_length("values", values.shape(0), breaks.shape(0) + 1);
            return Curve{calibrate::Levels{Breaks(view(breaks)), kept(values)}};
        },
        nb::arg("breaks"), nb::arg("values"), "The value behind as many breaks as are reached.");
    m.def(
        "mix",
        [](const Sums& sums, const Vector<double>& scores, const nb::tuple& parts) {
            same_length("sums", sums.shape(0), scores.shape(0));
            const auto shares = shares_of(parts);
            const Gil::Released nogil;
            calibrate::mix(shares, view(scores), [&](std::size_t first, Numbers some) {
                std::copy(some.begin(), some.end(), sums.data() + first);
            });
        },
        nb::arg("sums"), nb::arg("scores"), nb::arg("parts"),
        "The sum of weight * curve over the parts at each score.");
    m.def(
        "mix_pairs",
        [](const Pairs& pairs, const Vector<double>& scores, const nb::tuple& parts) {
            same_length("pairs", pairs.shape(0), scores.shape(0));
            const auto shares = shares_of(parts);
            const Gil::Released nogil;
            calibrate::mix(shares, view(scores), [&](std::size_t first, Numbers some) {
                isa::chances().pair_up(some.data(), pairs.data() + 2 * first, some.size());
            });
        },
        nb::arg("pairs"), nb::arg("scores"), nb::arg("parts"),
        "1 less that sum, and the sum, side by side.");
    m.def(
        "with_a_hit",
        [](const Vector<double>& count, const Vector<double>& hits) {
            same_length("hits", hits.shape(0), count.shape(0));
            return to_numpy(calibrate::with_a_hit(view(count), view(hits)));
        },
        nb::arg("count"), nb::arg("hits"),
        "The isotonic value at each score if one more hit came there.");
}

}  // namespace onlinesvm::bind
