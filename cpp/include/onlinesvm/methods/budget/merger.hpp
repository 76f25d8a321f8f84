// One example in place of two: x_z = h x_p + (1 - h) x_q under the Gaussian kernel (Wang, Crammer,
// Vucetic: Breaking the Curse of Kernelization, JMLR 2012, section 5.3), for any number of outputs.
//
// With e_p = k(x_p, x_z) = k^((1-h)^2), e_q = k^(h^2) and s.s over the outputs, the best coefficients
// keep phi(h) = |s_p|^2 e_p^2 + 2 s_p.s_q e_p e_q + |s_q|^2 e_q^2 of the squared length, and where
// this is largest, h = P / (P + Q) with P = |s_p|^2 e_p^2 + s_p.s_q e_p e_q, and Q the same of q. A
// constant o that is added to the kernel adds to e_p and e_q, and 1 + o divides phi.
//
// Where x_p and x_q are far apart, or s_p and s_q not parallel, there are two maxima, and between them a
// minimum. With x = 1 - 2h, F(x) = log((1 - h) P / (h Q)) is convex from x = 0, where it is not above 0,
// to x = 1, and its last root is the maximum beside the longer of the two: Newton's steps that begin
// where F rises come to it. One that begins where F falls begins again closer to x = 1, one step of
// h <- P / (P + Q) from h = 0, which stops short of the root.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace onlinesvm {

struct Merger {
    double h, a, b;  // x_z, and its coefficients a s_p + b s_q
    double loss;     // |s_p phi_p + s_q phi_q - s_z phi_z|^2
};

// A = |s_p|^2 <= B = |s_q|^2, C = s_p.s_q > 0, k = k(x_p, x_q) without o.
inline Merger merger(double A, double B, double C, double k, double o) {
    const double u = -std::log(k);
    const double P0 = k * (A * (k + o) + C * (1.0 + o)), Q0 = B * (1.0 + o) + C * (k + o);
    const double least = std::max(P0 / (P0 + Q0), 1e-300);  // no h is below it
    double h = u > 2.0 ? least : std::sqrt(A) / (std::sqrt(A) + std::sqrt(B)), e_p = 0.0, e_q = 0.0;
    for (int i = 0; i < 50; ++i) {
        e_p = std::exp(-u * (1.0 - h) * (1.0 - h)), e_q = std::exp(-u * h * h);
        const double dp = 2.0 * u * (1.0 - h) * e_p, dq = -2.0 * u * h * e_q;
        const double to_p = A * (e_p + o) + C * (e_q + o), to_q = B * (e_q + o) + C * (e_p + o);
        const double F = std::log((1.0 - h) * e_p * to_p / (h * e_q * to_q));
        const double rises = 1.0 / (h * (1.0 - h)) - 2.0 * u - (A * dp + C * dq) / to_p +
                             (B * dq + C * dp) / to_q;  // 2 F'(x)
        const double step = (rises > 0.0 ? std::clamp(h + F / rises, least, 0.5) : least) - h;
        h += step;
        if (std::abs(step) < 1e-9) break;
    }
    e_p = std::exp(-u * (1.0 - h) * (1.0 - h)) + o, e_q = std::exp(-u * h * h) + o;
    const double kept = A * e_p * e_p + 2.0 * C * e_p * e_q + B * e_q * e_q;
    return {h, e_p / (1.0 + o), e_q / (1.0 + o),
            (A + B) * (1.0 + o) + 2.0 * C * (k + o) - kept / (1.0 + o)};
}

// What any merger loses at least, as a share of A: no more than with coefficients that are parallel,
// as long as s_q is along s_p, where it grows with their ratio and falls with k. A table of its values
// at the corners of cells, four per octave and 1/256 wide, so says it for all in a cell.
class LeastLoss {
  public:
    // ratio = (C / A)^2
    float operator()(float ratio, float k) const {
        if (ratio < 1.0f) return ratio < 1e-6f ? 0.0f : ratio * (*this)(1.0f / ratio, k);
        const std::uint32_t octaves = (std::bit_cast<std::uint32_t>(ratio) >> 21) - (127u << 2);
        const int cell = std::clamp(static_cast<int>(k * kCells), 0, kCells - 1);
        return loss[std::min<std::uint32_t>(octaves, kRatios - 1) * kCells + cell];
    }
    static const LeastLoss& table() {
        static const LeastLoss one;
        return one;
    }

  private:
    static constexpr int kRatios = 64, kCells = 256;
    float loss[kRatios * kCells];

    LeastLoss() {
        for (int i = 0; i < kRatios; ++i)
            for (int j = 0; j < kCells; ++j) {
                const double octave = std::exp2(i / 4), ratio = octave * (1.0 + (i % 4) / 4.0);
                const double k = (j + 1.0) / kCells;
                const Merger m = merger(1.0, ratio, std::sqrt(ratio), k, 0.0);
                loss[i * kCells + j] = static_cast<float>(m.loss * (1.0 - 1e-6));
            }
    }
};

}  // namespace onlinesvm
