// What a Library does, for either type of values.
#include "onlinesvm/rows/library.hpp"

namespace onlinesvm {

template <class T>
auto Library<T>::by_age(std::size_t shelf) const -> std::vector<Number> {
    std::vector<Number> all(shelves_[shelf]->numbers.begin(), shelves_[shelf]->numbers.end());
    std::sort(all.begin(), all.end(),
              [&](Number a, Number b) { return books_[a].age < books_[b].age; });
    return all;
}
template <class T>
void Library<T>::grow(std::size_t classes) {
    while (shelves_.size() < classes) shelves_.push_back(std::make_unique<Shelf>(kernel_));
}
template <class T>
void Library<T>::expect(std::span<const Row<T>> xs) {
    coming_.clear();
    turn_ = kNone;
    if (xs.size() * size() * sizeof(T) > look_ahead_) return;
    for (const Row<T>& x : xs) coming_.push_back({x, {}});
    for (std::size_t s = 0; s < shelves_.size() && !xs.empty(); ++s) {
        const Store<T>& rows = shelves_[s]->rows;
        if (rows.size() == 0) continue;
        std::vector<T*> out;
        for (Coming& each : coming_) {
            each.values.resize(shelves_.size());
            each.values[s].row.resize(round_up(rows.size() + learn_block, isa::lanes<T>));
            out.push_back(each.values[s].row.data());
        }
        rows.rows(xs, 0, rows.size(), out.data());
        for (Coming& each : coming_) each.values[s].known = rows.size();
    }
}
template <class T>
auto Library<T>::claim(Row<T> x) -> Number {
    if (x.values != guest_.x.values || x.size != guest_.x.size)
        throw std::logic_error("library: a model stores another row than the one at hand");
    if (guest_.number == kNone) guest_.number = put(guest_);
    ++books_.edit(guest_.number).readers;
    return guest_.number;
}
template <class T>
bool Library<T>::claim(Number n) {
    if (n >= books_.size() || books_[n].shelf == kNone) return false;
    ++books_.edit(n).readers;
    return true;
}
template <class T>
void Library<T>::release(Number n) {
    idle_.push_back(n);
    --books_.edit(n).readers;
}
template <class T>
bool Library<T>::sparse() const {
    return std::any_of(shelves_.begin(), shelves_.end(),
                       [](const auto& s) { return s->rows.size() > 0 && s->rows.sparse(); });
}
template <class T>
std::size_t Library<T>::width() const {
    std::size_t widest = 0;
    for (const auto& s : shelves_) widest = std::max(widest, s->rows.width());
    return widest;
}
template <class T>
std::size_t Library<T>::footprint() const {
    std::size_t bytes = 0;
    for (const auto& s : shelves_) bytes += s->rows.footprint();
    return bytes + 2 * books_.size() * (sizeof(Book) + sizeof(Number));
}
template <class T>
double Library<T>::bytes_each() const {
    return size() == 0 ? 0 : double(footprint()) / double(size());
}
template <class T>
void Library<T>::get(Number n, OwnedRow<T>& out) const {
    shelves_[books_[n].shelf]->rows.get(Slot(books_[n].slot), out);
    if (out.sparse) out.width = width();
}
template <class T>
void Library<T>::rows(std::span<const Row<T>> xs, std::span<const Number> which,
                      T* const* out) const {
    std::vector<Row<T>> others;
    std::vector<T*> targets;
    for (std::size_t q = 0; q < xs.size(); ++q) {
        if (is_guest(xs[q])) {
            for (std::size_t i = 0; i < which.size(); ++i) out[q][i] = of_guest(which[i]);
        } else {
            others.push_back(xs[q]);
            targets.push_back(out[q]);
        }
    }
    if (!others.empty()) compute(others, which, targets);
}
template <class T>
void Library<T>::sweep() {
    for (Number n : idle_)
        if (books_[n].shelf != kNone && books_[n].readers == 0) remove(n);
    idle_.clear();
}
template <class T>
void Library<T>::mark() noexcept {
    was_ = shelves_.size();
    for (auto& s : shelves_) s->rows.mark(), s->numbers.mark();
    books_.mark(), free_.mark();
    arrived_before_ = arrived_;
}
template <class T>
void Library<T>::commit() noexcept {
    for (auto& s : shelves_) s->rows.commit(), s->numbers.commit();
    books_.commit(), free_.commit();
}
template <class T>
void Library<T>::revert() noexcept {
    shelves_.resize(was_);
    for (auto& s : shelves_) s->rows.revert(), s->numbers.revert();
    books_.revert(), free_.revert();
    arrived_ = arrived_before_;
    guest_ = {};
    idle_.clear();
    coming_.clear();
}
template <class T>
std::size_t Library<T>::nbytes() const {
    std::size_t bytes = books_.nbytes() + free_.nbytes();
    for (const auto& s : shelves_) bytes += s->rows.nbytes() + s->numbers.nbytes();
    for (const Values& values : values_) bytes += values.row.capacity() * sizeof(T);
    return bytes;
}
template <class T>
template <class A>
void Library<T>::state(A& a) {
    std::vector<Id> ids;
    std::vector<double> weights;
    std::vector<std::int64_t> ages, numbers;
    for (const auto& s : shelves_)
        for (Number n : s->numbers) {
            const Book& book = books_[n];
            ids.push_back(book.id), weights.push_back(book.weight);
            ages.push_back(book.age), numbers.push_back(n);
        }
    std::vector<std::int64_t> free(free_.begin(), free_.end());
    for (std::size_t s = 0; s < shelves_.size(); ++s)
        a("shelf" + std::to_string(s), shelves_[s]->rows);
    a("ids", ids), a("weights", weights), a("ages", ages), a("numbers", numbers);
    a("free", free), a("arrived", arrived_);
    if constexpr (A::loading) restore(ids, weights, ages, numbers, free);
}
template <class T>
void Library<T>::demand_read() const {
    for (const Book& book : books_)
        demand(book.shelf == kNone || book.readers > 0, "a shared example belongs to nobody");
}
template <class T>
auto Library<T>::put(const Arriving& guest) -> Number {
    Shelf& s = *shelves_[guest.shelf];
    const Slot j(s.rows.size());
    const Number n = free_.empty() ? Number(books_.size()) : free_.back();
    s.rows.push(guest.x);
    s.numbers.push_back(n);
    if (n == books_.size())
        books_.push_back({});
    else
        free_.pop_back();
    books_.edit(n) = {Number(guest.shelf), Number(j), 0, guest.id, guest.weight, arrived_++};
    return n;
}
template <class T>
void Library<T>::remove(Number n) {
    Shelf& s = *shelves_[books_[n].shelf];
    swap(s, Slot(books_[n].slot), Slot(s.rows.size() - 1));
    free_.push_back(n);
    s.rows.pop();
    s.numbers.pop_back();
    books_.edit(n) = {};
    coming_.clear();
}
template <class T>
void Library<T>::swap(Shelf& s, Slot a, Slot b) {
    if (a == b) return;
    s.rows.swap(a, b);
    s.numbers.swap(a, b);
    for (Slot j : {a, b}) books_.edit(s.numbers[j]).slot = Number(j);
}
template <class T>
void Library<T>::welcome(Row<T> x) {
    const std::size_t turn = std::exchange(turn_, kNone);
    if (turn < coming_.size() && coming_[turn].x.values == x.values)
        values_ = std::move(coming_[turn].values);
    else
        values_.clear();
    values_.resize(shelves_.size());
}
template <class T>
bool Library<T>::is_guest(const Row<T>& x) const {
    return guest_.id != kNoId && x.values == guest_.x.values && x.size == guest_.x.size;
}
template <class T>
T Library<T>::of_guest(Number n) const {
    const Book& book = books_[n];
    Values& values = values_[book.shelf];
    if (values.known <= book.slot) {
        const Store<T>& rows = shelves_[book.shelf]->rows;
        values.row.resize(rows.padded_size());
        rows.row(guest_.x, values.known, rows.size(), values.row.data());
        values.known = rows.size();
    }
    return values.row[book.slot];
}
template <class T>
void Library<T>::compute(std::span<const Row<T>> xs, std::span<const Number> which,
                         std::span<T* const> out) const {
    std::vector<std::size_t> wanted(shelves_.size());
    for (Number n : which) ++wanted[books_[n].shelf];
    std::vector<T*> targets(xs.size());
    Aligned<T> values;
    for (std::size_t s = 0; s < shelves_.size(); ++s) {
        if (wanted[s] == 0) continue;
        const Store<T>& rows = shelves_[s]->rows;
        const bool all = rows.sparse() || kDear * wanted[s] >= rows.size();
        const std::size_t stride = all ? rows.padded_size() : isa::lanes<T>;
        values.resize(xs.size() * stride);
        const auto fetch = [&](std::size_t first, std::size_t last, std::size_t from) {
            for (std::size_t q = 0; q < xs.size(); ++q)
                targets[q] = values.data() + q * stride - from;
            rows.rows(xs, first, last, targets.data());
        };
        if (all) fetch(0, rows.size(), 0);
        for (std::size_t i = 0; i < which.size(); ++i) {
            const Book& book = books_[which[i]];
            if (book.shelf != s) continue;
            if (!all) fetch(book.slot, book.slot + 1, book.slot / isa::lanes<T> * isa::lanes<T>);
            for (std::size_t q = 0; q < xs.size(); ++q) out[q][i] = targets[q][book.slot];
        }
    }
}
template <class T>
void Library<T>::restore(const std::vector<Id>& ids, const std::vector<double>& weights,
                         const std::vector<std::int64_t>& ages,
                         const std::vector<std::int64_t>& numbers,
                         const std::vector<std::int64_t>& free) {
    std::size_t at = 0, held = 0;
    for (const auto& s : shelves_) held += s->rows.size();
    demand(ids.size() == held && weights.size() == held && ages.size() == held &&
               numbers.size() == held,
           "ids, weights or ages do not fit the shared examples");
    books_ = std::vector<Book>(checked_add(held, free.size()));
    for (std::size_t s = 0; s < shelves_.size(); ++s)
        for (Slot j{}; j < shelves_[s]->rows.size(); ++j, ++at) {
            demand(std::size_t(numbers[at]) < books_.size() &&
                       books_[std::size_t(numbers[at])].shelf == kNone,
                   "two shared examples have one number, or one has none");
            demand(ages[at] < arrived_ && weights[at] >= 0,
                   "a shared example is newer than the last");
            shelves_[s]->numbers.push_back(Number(numbers[at]));
            books_.edit(std::size_t(numbers[at])) = {Number(s), Number(j),   0,
                                                     ids[at],   weights[at], ages[at]};
        }
    for (std::int64_t n : free) {
        demand(std::size_t(n) < books_.size() && books_[std::size_t(n)].shelf == kNone,
               "a free number is taken");
        free_.push_back(Number(n));
    }
    demand(all_different(free) && all_different(ids), "an id or a free number occurs twice");
}

template class Library<float>;
template void Library<float>::state(Save&);
template void Library<float>::state(Load&);
template class Library<double>;
template void Library<double>::state(Save&);
template void Library<double>::state(Load&);

}  // namespace onlinesvm
