// Sums of sigmoids, by the registers and the exponential of loops.inl.

namespace {

// Of exponents at most 0, so that none overflows and both tails keep their digits.
inline Vec64 sigmoid(Vec64 z) {
    const auto positive = z > 0.0;
    const Vec64 e = exp_vec(positive ? -z : z);
    return (positive ? Vec64{} + 1.0 : e) / (1.0 + e);
}

void add_sigmoid(double slope, double offset, double weight, const double* scores, double* sums,
                 size_t n) {
    size_t i = 0;
    for (; i + M <= n; i += M)
        store(sums + i, load(sums + i) + weight * sigmoid(load(scores + i) * slope + offset));
    if (i == n) return;
    double tail[M] = {};
    for (size_t j = i; j < n; ++j) tail[j - i] = scores[j];
    const Vec64 last = weight * sigmoid(load(tail) * slope + offset);
    for (size_t j = i; j < n; ++j) sums[j] += last[j - i];
}

void pair_up(const double* second, double* pairs, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        pairs[2 * i] = 1.0 - second[i];
        pairs[2 * i + 1] = second[i];
    }
}

constexpr onlinesvm::isa::Chances kChances = {add_sigmoid, pair_up};

}  // namespace
