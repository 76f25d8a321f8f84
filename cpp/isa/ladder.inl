// The loops of ladder.hpp; included after loops.inl, under the same rules.

namespace {

// Of z with |z| = 1 up to rounding: cos 2a = 1 - 2 sin^2 a, sin 2a = 2 sin a cos a.
template <class T>
void octave(const T* c, const T* s, T* c2, T* s2, size_t n) {
    for (size_t i = 0; i < n; i += N<T>) {
        const Vec<T> sine = load(s + i), twice = sine + sine;
        store(s2 + i, twice * load(c + i));
        store(c2 + i, T(1) - twice * sine);
    }
}

template <class T>
inline double sum_of(Vec<T> v) {
    double total = 0.0;
    for (size_t j = 0; j < N<T>; ++j) total += double(v[j]);
    return total;
}

template <class T>
void read_waves(const T* z, const T* w, size_t stride, size_t outputs, size_t n, double* out) {
    for (size_t r = 0; r < outputs; ++r, w += stride) {
        Vec<T> sum[4] = {};
        size_t i = 0;
        for (; i + 4 * N<T> <= n; i += 4 * N<T>)
            for (size_t j = 0; j < 4; ++j)
                sum[j] += load(z + i + j * N<T>) * load(w + i + j * N<T>);
        for (; i < n; i += N<T>) sum[0] += load(z + i) * load(w + i);
        out[r] = sum_of<T>((sum[0] + sum[1]) + (sum[2] + sum[3]));
    }
}

template <class T>
void push_waves(const T* z, const T* rate, T step, T* w, size_t n) {
    for (size_t i = 0; i < n; i += N<T>)
        store(w + i, load(w + i) + load(z + i) * load(rate + i) * step);
}

template <class T>
constexpr onlinesvm::isa::Ladder<T> kLadder = {octave<T>, read_waves<T>, push_waves<T>};

}  // namespace
