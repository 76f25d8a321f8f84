// The best merger of two examples, against all points between them on a grid.
#include "check.hpp"
#include "onlinesvm/methods/budget/merger.hpp"

using namespace onlinesvm;

namespace {

double loss_at(double h, double A, double B, double C, double k, double o) {
    const double u = -std::log(k);
    const double e_p = std::exp(-u * (1.0 - h) * (1.0 - h)) + o, e_q = std::exp(-u * h * h) + o;
    const double kept = A * e_p * e_p + 2.0 * C * e_p * e_q + B * e_q * e_q;
    return (A + B) * (1.0 + o) + 2.0 * C * (k + o) - kept / (1.0 + o);
}

// Coefficients that are parallel (1) or hardly so, of one length or not; near and far examples. Where
// they are not parallel there are two maxima from u = 1 on, and between them a minimum at h = 1/2.
void the_best_point_is_found() {
    for (double o : {0.0, 0.1, 1.0, 10.0})
        for (double ratio : {1.0, 1.0 + 1e-9, 1.01, 2.0, 1e3, 1e8})
            for (double along : {1.0, 0.999, 0.5, 0.03, 1e-6})
                for (double u : {1e-9, 0.1, 0.9, 1.0, 1.02, 1.2, 1.5, 1.99, 2.0, 2.01, 3.0, 20.0}) {
                    const double C = along * std::sqrt(ratio), k = std::exp(-u);
                    const Merger m = merger(1.0, ratio, C, k, o);
                    double least = loss_at(0.0, 1.0, ratio, C, k, o);
                    for (int i = 1; i <= 2000; ++i)
                        least = std::min(least, loss_at(i / 2000.0, 1.0, ratio, C, k, o));
                    CHECK(m.h > 0.0 && m.h <= 0.5);
                    CHECK(m.loss <= least + 1e-12 * (1.0 + ratio) * (1.0 + o));
                    CHECK(std::abs(m.loss - loss_at(m.h, 1.0, ratio, C, k, o)) <=
                          1e-12 * (1.0 + ratio) * (1.0 + o));
                }
}

// No merger loses less than the table says, so that a partner may be passed over by it.
void the_table_is_a_bound() {
    const LeastLoss& least = LeastLoss::table();
    for (double o : {0.0, 1.0})
        for (double B = 1.0; B < 1e6; B *= 1.37)
            for (double along : {1.0, 0.7, 0.1})
                for (double k = 0.02; k < 1.0; k += 0.07) {
                    const double C = along * std::sqrt(B);
                    const float bound = least(static_cast<float>(C * C), static_cast<float>(k));
                    CHECK(bound <= merger(1.0, B, C, k, o).loss * (1.0 + 1e-5));
                }
}

}  // namespace

int main() {
    the_best_point_is_found();
    the_table_is_a_bound();
    return 0;
}
