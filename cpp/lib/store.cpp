// Stores: what DenseStore, SparseStore and Store do, for either type of values.
#include "onlinesvm/rows/store.hpp"

#include "onlinesvm/bank/record.hpp"

namespace onlinesvm {

template <class T>
void DenseStore<T>::make_room(std::size_t n) {
    blocks_.reserve(round_up(n, L) * width_);
    norms_.reserve(round_up(n, L));
}
template <class T>
void DenseStore<T>::push(Row<T> x) {
    if (size_ % L == 0) {
        grow(blocks_, (size_ / L + 1) * width_ * L);
        grow(norms_, (size_ / L + 1) * L);
    }
    ++size_;
    put(Slot(size_ - 1), x.values);
}
template <class T>
void DenseStore<T>::pop() {
    --size_;
    for (std::size_t f = 0; f < width_; ++f) at(Slot(size_), f) = 0;
    norms_[size_] = 0;
}
template <class T>
void DenseStore<T>::put(Slot slot, const T* x) {
    for (std::size_t f = 0; f < width_; ++f) at(slot, f) = x[f];
    isa::table<T>().norms(&x, 1, width_, &norms_[slot]);
}
template <class T>
void DenseStore<T>::get(Slot slot, T* out) const {
    for (std::size_t f = 0; f < width_; ++f) out[f] = at(slot, f);
}
template <class T>
void DenseStore<T>::swap(Slot a, Slot b) {
    for (std::size_t f = 0; f < width_; ++f) std::swap(at(a, f), at(b, f));
    std::swap(norms_[a], norms_[b]);
}
template <class T>
void DenseStore<T>::rows(const Kernel& kernel, std::span<const T* const> queries, std::size_t first,
                         std::size_t last, T* const* out, const T* query_norms) const {
    if (first >= last) return;
    if (kernel.shape == Shape::function) return call(kernel, queries, first, last, out);
    if (kernel.shape == Shape::precomputed) return look_up(kernel, queries, first, last, out);
    auto shape = shape_for<T>(kernel);
    const auto from_dots = [&](std::size_t b) {
        const T* block = norms_.data() + b * L;
        return query_norms && *std::max_element(block, block + L) < longest(kernel);
    };
    // A run of blocks stays in the L2 cache while every query passes it.
    const std::size_t run =
        std::max<std::size_t>(kRunBytes / (sizeof(T) * L * (width_ + 1)) / 4, 1) * 4;
    const std::size_t end = (last + L - 1) / L;
    for (std::size_t b = first / L, next; b < end; b = next) {
        const bool dots = from_dots(b);
        for (next = b + 1; next < std::min(b + run, end) && from_dots(next) == dots;) ++next;
        poll((next - b) * L * queries.size() * (width_ + 1));
        shape.form = dots ? isa::Form::rbf_dot : form_of(kernel.shape);
        isa::table<T>().rows(shape, blocks_.data(), norms_.data(), width_, b, next, queries.data(),
                             query_norms, queries.size(), out);
    }
}
template <class T>
T DenseStore<T>::longest(const Kernel& kernel) const {
    return kernel.shape == Shape::rbf && width_ >= 32 ? T(8.0 / kernel.gamma) : T(0);
}
template <class T>
const T& DenseStore<T>::at(Slot slot, std::size_t f) const {
    return blocks_[(slot / L * width_ + f) * L + slot % L];
}
template <class T>
void DenseStore<T>::call(const Kernel& kernel, std::span<const T* const> queries, std::size_t first,
                         std::size_t last, T* const* out) const {
    const std::size_t n = last - first;
    std::vector<double> rows(n * width_), query(width_), values(n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t f = 0; f < width_; ++f) rows[i * width_ + f] = at(Slot(first + i), f);
    for (std::size_t q = 0; q < queries.size(); ++q) {
        std::copy_n(queries[q], width_, query.begin());
        kernel.function(query.data(), rows.data(), n, width_, values.data());
        for (std::size_t i = 0; i < n; ++i) {
            out[q][first + i] = T(values[i] + kernel.offset);
            if (!std::isfinite(out[q][first + i]))
                throw std::invalid_argument(
                    "kernel: a value of the callable is too large for dtype; scale it down");
        }
    }
}
template <class T>
void DenseStore<T>::look_up(const Kernel& kernel, std::span<const T* const> queries,
                            std::size_t first, std::size_t last, T* const* out) const {
    const T offset = T(kernel.offset);
    for (std::size_t q = 0; q < queries.size(); ++q) {
        const GramRow<T> x(queries[q]);
        poll(last - first);
        for (std::size_t b = first / L; b * L < last; ++b) {
            const T* const numbers = blocks_.data() + b * width_ * L;
            const T* const theirs = x.is_of_an_example()
                                        ? numbers + (GramRow<T>::head + std::size_t(x.number())) * L
                                        : numbers;
            for (std::size_t j = std::max(first, b * L); j < std::min(last, (b + 1) * L); ++j) {
                const T number = numbers[j - b * L];
                const bool later = x.is_of_an_example() && number > x.number();
                out[q][j] = (later ? theirs[j - b * L] : x.with(number)) + offset;
            }
        }
    }
}
template <class T>
void SparseStore<T>::push(Row<T> x, std::vector<Entry> entries) {
    entries.clear();
    entries.reserve(x.size);
    make_room(rows_);
    for (std::size_t i = 0; i < x.size; ++i) {
        std::uint32_t at = places_.find(x.indices[i]);
        if (at == Places::kNone) {
            places_.make_room();
            features_.emplace_back().number = x.indices[i];
            at = places_.put(x.indices[i]);
        }
        make_room(features_[at].list);
        entries.push_back({at, 0});
    }
    terms_ += x.size;
    for (std::size_t i = 0; i < x.size; ++i) {
        Feature& feature = features_[entries[i].feature];
        used_ += feature.list.empty();
        entries[i].place = std::uint32_t(feature.list.size());
        feature.push({std::uint32_t(rows_.size()), std::uint32_t(i), x.values[i]});
    }
    rows_.push_back({std::move(entries), Sums::of(x)});
    width_ = std::max(width_, x.width);
}
template <class T>
void SparseStore<T>::pop() {
    for (const Entry& e : rows_.back().entries) {
        Feature& feature = features_[e.feature];
        feature.put(rows_.size() - 1, 0);
        auto& list = feature.list;
        list[e.place] = list.back();  // swap-remove; tell the moved posting's owner
        rows_[list[e.place].slot].entries[list[e.place].entry].place = e.place;
        list.pop_back();
        used_ -= list.empty();
    }
    terms_ -= rows_.back().entries.size();
    rows_.pop_back();
}
template <class T>
void SparseStore<T>::tidy() noexcept {
    if (features_.size() <= 2 * used_ + kFew) return;
    try {
        forget_unused();
    } catch (const std::bad_alloc&) {
    }
}
template <class T>
void SparseStore<T>::swap(Slot a, Slot b) {
    for (Slot slot : {a, b})
        for (const Entry& e : rows_[slot].entries) features_[e.feature].put(slot, 0);
    std::swap(rows_[a], rows_[b]);
    for (Slot slot : {a, b})
        for (const Entry& e : rows_[slot].entries) {
            Posting& posting = features_[e.feature].list[e.place];
            posting.slot = std::uint32_t(slot);
            features_[e.feature].put(slot, posting.value);
        }
}
template <class T>
void SparseStore<T>::get(Slot slot, std::vector<T>& values,
                         std::vector<std::int32_t>& indices) const {
    values.clear();
    indices.clear();
    for (const Entry& e : rows_[slot].entries) {
        values.push_back(features_[e.feature].list[e.place].value);
        indices.push_back(features_[e.feature].number);
    }
}
template <class T>
std::size_t SparseStore<T>::nbytes() const {
    std::size_t n = features_.capacity() * sizeof(Feature) + rows_.capacity() * sizeof(Example);
    for (const Feature& f : features_)
        n += f.list.capacity() * sizeof(Posting) + f.column.capacity() * sizeof(T);
    for (const auto& row : rows_) n += row.entries.capacity() * sizeof(Entry);
    return n + places_.nbytes();
}
template <class T>
std::size_t SparseStore<T>::footprint() const {
    return 2 * rows_.size() * sizeof(Example) +
           terms_ * 2 * (sizeof(Posting) + sizeof(Entry) + sizeof(T)) +
           4 * (used_ + kFew) * (sizeof(Feature) + 2 * sizeof(Posting));
}
template <class T>
double SparseStore<T>::bytes_each() const {
    const double empty = double(4 * kFew * (sizeof(Feature) + 2 * sizeof(Posting)));
    return (double(footprint()) - empty) / double(std::max<std::size_t>(1, size()));
}
template <class T>
void SparseStore<T>::row(const Kernel& kernel, Row<T> q, std::size_t first, std::size_t last,
                         T* out) const {
    if (first >= last) return;
    poll((last - first) * (q.size + 1));
    const Sums mine = Sums::of(q);
    const auto each = [&](auto term) { add_terms(q, first, last, out, term); };
    std::fill(out + first, out + last, T(0));
    auto shape = shape_for<T>(kernel);
    switch (kernel.shape) {
        case Shape::linear:
        case Shape::poly:
            each([](T q, T x) { return q * x; });
            break;
        case Shape::rbf:  // |q - x|^2 = |q|^2 + |x|^2 - 2 q.x
            each([](T q, T x) { return q * x; });
            for (Slot j(first); j < last; ++j)
                out[j] = (mine.squares + rows_[j].sums.squares) - (out[j] + out[j]);
            break;
        case Shape::laplacian:  // common features correct |q|_1 + |x|_1
            each([](T q, T x) { return std::abs(q - x) - (std::abs(q) + std::abs(x)); });
            for (Slot j(first); j < last; ++j) out[j] += mine.sizes + rows_[j].sums.sizes;
            break;
        case Shape::chi2:  // (q-x)^2/(q+x) = q + x - 4qx/(q+x)
            each([](T q, T x) { return q + x == 0 ? T(0) : T(-4) * q * x / (q + x); });
            for (Slot j(first); j < last; ++j) out[j] += mine.sizes + rows_[j].sums.sizes;
            break;
        case Shape::function:
        case Shape::precomputed:
            throw std::invalid_argument(
                "kernel: a callable or 'precomputed' needs dense rows; densify X");
    }
    isa::table<T>().finish(shape, out + first, last - first);
}
template <class T>
void SparseStore<T>::forget_unused() {
    Places places;
    std::vector<std::uint32_t> now(features_.size(), Places::kNone);
    for (std::size_t i = 0; i < features_.size(); ++i)
        if (!features_[i].list.empty())
            places.make_room(), now[i] = places.put(features_[i].number);
    std::vector<Feature> kept;
    kept.reserve(2 * used_);
    for (Feature& feature : features_)  // from here on nothing fails
        if (!feature.list.empty()) kept.push_back(std::move(feature));
    for (Example& row : rows_)
        for (Entry& e : row.entries) e.feature = now[e.feature];
    features_.swap(kept);
    places_ = std::move(places);
}
template <class T>
void SharedStore<T>::pop() {
    all_->release(numbers_.back());
    numbers_.pop_back();
}
template <class T>
void SharedStore<T>::rows(std::span<const Row<T>> xs, std::size_t first, std::size_t last,
                          T* const* out) const {
    std::vector<T*> from(xs.size());
    for (std::size_t q = 0; q < xs.size(); ++q) from[q] = out[q] + first;
    if (first < last) all_->rows(xs, {numbers_.data() + first, last - first}, from.data());
}
template <class T>
template <class A>
void SharedStore<T>::state(A& a) {
    std::vector<std::int64_t> numbers(numbers_.begin(), numbers_.end());
    a("numbers", numbers);
    if constexpr (A::loading)
        for (std::int64_t number : numbers) {
            demand(std::in_range<Number>(number) && all_->claim(Number(number)),
                   "an example is not among those that are shared");
            numbers_.push_back(Number(number));
        }
}
template <class T>
Store<T>::Store(Kernel kernel) : kernel_(std::move(kernel)) {
    if (!std::isfinite(T(kernel_.gamma)) || !std::isfinite(T(kernel_.coef0)))
        throw std::invalid_argument("gamma, coef0: too large for dtype; scale the features");
}
template <class T>
std::size_t Store<T>::nbytes() const {
    return std::visit([](const auto& e) { return e.nbytes(); }, examples_);
}
template <class T>
std::size_t Store<T>::footprint() const {
    return std::visit([](const auto& e) { return e.footprint(); }, examples_);
}
template <class T>
double Store<T>::bytes_each() const {
    return std::visit([](const auto& e) { return e.bytes_each(); }, examples_);
}
template <class T>
void Store<T>::push(Row<T> x) {
    demand_same_form(x);
    require(!precomputed() || GramRow<T>(x.values).is_of_an_example(),
            "ids: a row of kernel values needs a number to be stored");
    if (auto* e = shared()) return e->push(x);
    if (traced_) origin_.reserve(std::max(size() + 1, 2 * origin_.size()));
    if (size() == 0) take_the_form_of(x);
    std::visit([&](auto& e) { e.push(x); }, examples_);
    if (traced_) origin_.push_back(kNew);
}
template <class T>
void Store<T>::pop() {
    if (auto* e = shared()) return e->pop();
    if (trace() && origin_.back() != kNew) removed_.push_back(last());
    drop();
    if (traced_) origin_.pop_back();
}
template <class T>
void Store<T>::swap(Slot a, Slot b) {
    if (a == b) return;
    if (auto* e = shared()) return e->swap(a, b);
    if (listing() && swaps_.size() < kFew + was_.size / 16)
        swaps_.push_back({a, b});
    else if (trace())
        std::swap(origin_[a], origin_[b]);
    exchange(a, b);
}
template <class T>
void Store<T>::mark() noexcept {
    commit();
    if (auto* e = shared()) return e->mark();
    marked_ = true;
    was_ = {sparse(), size(), width()};
}
template <class T>
void Store<T>::commit() noexcept {
    if (auto* e = shared()) return e->commit();
    marked_ = traced_ = false;
    swaps_.clear();
    origin_.clear();
    removed_.clear();
    emptied_.reset();
    if (auto* e = std::get_if<SparseStore<T>>(&examples_)) e->tidy();
}
template <class T>
void Store<T>::revert() noexcept {
    if (auto* e = shared()) return e->revert();
    if (was_.size == 0)
        examples_ = DenseStore<T>(was_.width);
    else if (emptied_)
        examples_ = std::move(*emptied_), origin_.clear();
    if (was_.size == 0 && was_.sparse) examples_ = SparseStore<T>();
    for (; !swaps_.empty(); swaps_.pop_back()) exchange(swaps_.back().first, swaps_.back().second);
    for (Slot j(size()); j-- > 0;) {
        if (traced_ ? origin_[j] != kNew : j < was_.size) continue;
        exchange(j, Slot(size() - 1));
        drop();
        if (!traced_) continue;
        origin_[j] = origin_.back();
        origin_.pop_back();
    }
    for (Removed& gone : removed_) put_back(gone);
    for (Slot j{}; j < origin_.size() && was_.size > 0; ++j)
        while (origin_[j] != j) {
            const Slot home(origin_[j]);
            exchange(j, home);
            std::swap(origin_[j], origin_[home]);
        }
    if (auto* e = std::get_if<SparseStore<T>>(&examples_)) e->set_width(was_.width);
    commit();
}
template <class T>
Row<T> Store<T>::get(Slot slot, Scratch& scratch) const {
    if (const auto* e = shared()) {
        e->get(slot, scratch);
        return scratch.row();
    }
    scratch.sparse = sparse();
    scratch.width = width();
    if (const auto* e = std::get_if<SparseStore<T>>(&examples_)) {
        e->get(slot, scratch.values, scratch.indices);
    } else {
        scratch.values.resize(scratch.width);
        std::get<DenseStore<T>>(examples_).get(slot, scratch.values.data());
    }
    return scratch.row();
}
template <class T>
void Store<T>::row(Row<T> x, std::size_t first, std::size_t last, T* out) const {
    rows(std::span(&x, 1), first, last, &out);
}
template <class T>
void Store<T>::rows(std::span<const Row<T>> xs, std::size_t first, std::size_t last, T* const* out,
                    const T* query_norms) const {
    for (const Row<T>& x : xs) demand_same_form(x);
    if (const auto* e = shared()) return e->rows(xs, first, last, out);
    if (const auto* e = std::get_if<SparseStore<T>>(&examples_)) {
        for (std::size_t q = 0; q < xs.size(); ++q) e->row(kernel_, xs[q], first, last, out[q]);
        return;
    }
    std::vector<const T*> queries(xs.size());
    for (std::size_t q = 0; q < xs.size(); ++q) queries[q] = xs[q].values;
    std::get<DenseStore<T>>(examples_).rows(kernel_, queries, first, last, out, query_norms);
}
template <class T>
void Store<T>::demand_own_value(Row<T> x) const {
    constexpr T most = std::numeric_limits<T>::max() / 4;  // room for |x - z|^2
    if (precomputed()) GramRow<T>::demand_sound(x);
    T own = precomputed() ? T(0) : length2(x);
    if (precomputed() && GramRow<T>(x.values).is_of_an_example()) own = std::abs(T(self(x)));
    if (kernel_.shape == Shape::poly && own <= most)
        own = std::pow(T(kernel_.gamma) * own + T(kernel_.coef0), T(kernel_.degree));
    if (kernel_.shape != Shape::function && !(own <= most))
        throw std::invalid_argument(
            "X: a row's kernel value with itself is too large for dtype; scale the features");
}
template <class T>
double Store<T>::self(Row<T> x) const {
    if (kernel_.shape == Shape::rbf || kernel_.shape == Shape::laplacian ||
        kernel_.shape == Shape::chi2)
        return double(T(1) + T(kernel_.offset));
    if (precomputed()) {
        const GramRow<T> own(x.values);
        if (!own.is_of_an_example())
            throw std::logic_error("kernel: k(x, x) of a row to score is not known");
        return double(own.with(own.number()) + T(kernel_.offset));
    }
    if (x.sparse()) {
        SparseStore<T> one;
        one.push(x);
        T value;
        one.row(kernel_, x, 0, 1, &value);
        return value;
    }
    DenseStore<T> one(x.width);
    one.push(x);
    T value[isa::lanes<T>];
    T* out = value;
    one.rows(kernel_, std::span(&x.values, 1), 0, 1, &out);
    return value[0];
}
template <class T>
std::vector<T> Store<T>::norms(std::span<const Row<T>> xs) const {
    std::vector<T> out(xs.size());
    if (sparse() || !is_short(0)) return out;
    std::vector<const T*> queries;
    for (const Row<T>& x : xs) queries.push_back(x.values);
    isa::table<T>().norms(queries.data(), queries.size(), width(), out.data());
    return out;
}
template <class T>
bool Store<T>::is_short(T squared_norm) const {
    const auto* e = std::get_if<DenseStore<T>>(&examples_);
    return e && squared_norm < e->longest(kernel_);
}
template <class T>
void Store<T>::demand_same_form(const Row<T>& x) const {
    if (size() > 0 && x.sparse() != sparse())
        throw std::invalid_argument(sparse()
                                        ? "X: this model holds sparse rows; pass X as CSR"
                                        : "X: this model holds dense rows; pass X as an array");
    if (!precomputed()) return;
    GramRow<T>::demand_sound(x);
    require(size() == 0 || x.width == width(), "X: another number of kernel values than before");
}
template <class T>
void Store<T>::take_the_form_of(Row<T> x) {
    if (x.sparse() == sparse() && (x.sparse() || x.width == width())) {
        if (auto* e = std::get_if<SparseStore<T>>(&examples_)) e->set_width(0);
        return;
    }
    if (marked_ && was_.size > 0 && !emptied_) emptied_ = std::move(examples_);
    if (x.sparse())
        examples_ = SparseStore<T>();
    else
        examples_ = DenseStore<T>(x.width);
}
template <class T>
void Store<T>::drop() {
    std::visit([](auto& e) { e.pop(); }, examples_);
}
template <class T>
void Store<T>::exchange(Slot a, Slot b) {
    if (a != b) std::visit([&](auto& e) { e.swap(a, b); }, examples_);
}
template <class T>
bool Store<T>::trace() {
    if (!listing()) return traced_;
    origin_.assign(size(), kNew);
    std::iota(origin_.begin(), origin_.begin() + std::ptrdiff_t(was_.size), std::uint32_t(0));
    for (const auto& [a, b] : swaps_) std::swap(origin_[a], origin_[b]);
    swaps_.clear();
    return traced_ = true;
}
template <class T>
auto Store<T>::last() const -> Removed {
    Removed gone{origin_.back(), {}, {}};
    const Row<T> x = get(Slot(size() - 1), gone.x);
    if (x.sparse()) gone.entries.reserve(x.size);
    return gone;
}
template <class T>
void Store<T>::put_back(Removed& gone) noexcept {
    if (auto* e = std::get_if<SparseStore<T>>(&examples_))
        e->push(gone.x.row(), std::move(gone.entries));
    else
        std::get<DenseStore<T>>(examples_).push(gone.x.row());
    origin_.push_back(gone.origin);
}

// Saved as row-major values (dense) or CSR (sparse), in slot order.
template <class T>
template <class A>
void Store<T>::state(A& a) {
    if (auto* e = shared()) return e->state(a);
    std::int64_t kind = sparse();
    std::size_t n = size(), d = width();
    if constexpr (A::loading) {
        a("kind", kind), a("size", n), a("width", d);
        demand(d <= a.features(), "the stored examples are wider than the model");
        read(kind != 0, n, d, a.template array<T>("values"),
             a.template array<std::int32_t>("indices"), a.template array<std::int64_t>("starts"));
    } else {
        std::vector<T> values;
        std::vector<std::int32_t> indices;
        std::vector<std::int64_t> starts{0};
        Scratch scratch;
        for (Slot j{}; j < n; ++j) {
            const Row<T> x = get(j, scratch);
            values.insert(values.end(), x.values, x.values + x.size);
            if (!kind) continue;
            indices.insert(indices.end(), x.indices, x.indices + x.size);
            starts.push_back(std::int64_t(values.size()));
        }
        a("kind", kind), a("size", n), a("width", d);
        a("values", values), a("indices", indices), a("starts", starts);
    }
}

template <class T>
void Store<T>::read(bool sparsely, std::size_t n, std::size_t d, std::span<const T> values,
                    std::span<const std::int32_t> indices, std::span<const std::int64_t> starts) {
    if (!sparsely) {
        demand((d > 0 || n == 0) && indices.empty() && values.size() == checked_mul(n, d),
               "the stored examples do not fit their size");
        examples_ = DenseStore<T>(d);
        std::get<DenseStore<T>>(examples_).make_room(n);  // the values are there: no false count
        for (Slot j{}; j < n; ++j) {
            const Row<T> x(values.data() + j * d, d);
            demand_own_value(x);
            push(x);
        }
        return;
    }
    demand(starts.size() == checked_add(n, 1) && indices.size() == values.size() &&
               starts.front() == 0 && std::size_t(starts.back()) == values.size() &&
               std::is_sorted(starts.begin(), starts.end()),
           "the stored examples do not fit their size");
    examples_ = SparseStore<T>();
    for (Slot j{}; j < n; ++j) {
        const std::size_t from = std::size_t(starts[j]), size = std::size_t(starts[j + 1]) - from;
        const Row<T> x(values.data() + from, indices.data() + from, size, d);
        demand(is_sound(x, d), "feature numbers are out of order or range");
        demand_own_value(x);
        push(x);
    }
}

template <class T>
Store<T>::Store(const Store&) = default;
template <class T>
Store<T>::Store(Store&&) noexcept = default;
template <class T>
Store<T>& Store<T>::operator=(const Store&) = default;
template <class T>
Store<T>& Store<T>::operator=(Store&&) noexcept = default;
template <class T>
Store<T>::~Store() = default;

template class DenseStore<float>;
template class DenseStore<double>;
template class SparseStore<float>;
template class SparseStore<double>;
template class SharedStore<float>;
template void SharedStore<float>::state(Save&);
template void SharedStore<float>::state(Load&);
template void SharedStore<float>::state(Measure&);
template void SharedStore<float>::state(CountWords&);
template void SharedStore<float>::state(WriteWords&);
template void SharedStore<float>::state(ReadWords<Trust::whole>&);
template void SharedStore<float>::state(ReadWords<Trust::none>&);
template class SharedStore<double>;
template void SharedStore<double>::state(Save&);
template void SharedStore<double>::state(Load&);
template void SharedStore<double>::state(Measure&);
template void SharedStore<double>::state(CountWords&);
template void SharedStore<double>::state(WriteWords&);
template void SharedStore<double>::state(ReadWords<Trust::whole>&);
template void SharedStore<double>::state(ReadWords<Trust::none>&);
template class Store<float>;
template void Store<float>::state(Save&);
template void Store<float>::state(Load&);
template void Store<float>::state(Measure&);
template void Store<float>::state(CountWords&);
template void Store<float>::state(WriteWords&);
template void Store<float>::state(ReadWords<Trust::whole>&);
template void Store<float>::state(ReadWords<Trust::none>&);
template class Store<double>;
template void Store<double>::state(Save&);
template void Store<double>::state(Load&);
template void Store<double>::state(Measure&);
template void Store<double>::state(CountWords&);
template void Store<double>::state(WriteWords&);
template void Store<double>::state(ReadWords<Trust::whole>&);
template void Store<double>::state(ReadWords<Trust::none>&);

}  // namespace onlinesvm
