#include "onlinesvm/solver/inverse.hpp"

#include <algorithm>
#include <utility>

namespace onlinesvm {

void Inverse::apply(const double* x, double* y) const {
    p_.apply_lower(n_, x, y);
    for (std::size_t k = 0; k < cs_.size(); ++k) {
        const double by = cs_[k] * isa::table<double>().dot(change(k), x, n_);
        isa::table<double>().axpy(by, change(k), y, n_);
    }
}

void Inverse::column(std::size_t m, std::vector<double>& u) const {
    u.assign(p_.row(m), p_.row(m) + m);
    for (std::size_t i = m; i < n_; ++i) u.push_back(p_(i, m));
    for (std::size_t k = 0; k < cs_.size(); ++k)
        isa::table<double>().axpy(cs_[k] * change(k)[m], change(k), u.data(), n_);
}

void Inverse::border(double k) {
    clear();
    p_.reserve(2, 0);
    wide_ = p_.room();
    n_ = 2;
    p_.edit(0, 0) = -k;
    p_.edit(1, 0) = 1;
    p_.edit(1, 1) = 0;
}

bool Inverse::add(const double* column, double k, double least, std::vector<double>& u) {
    const double schur = explain(column, k, u);
    if (!(schur > least)) return false;
    append(schur, u);
    return true;
}

double Inverse::explain(const double* column, double k, std::vector<double>& u) const {
    u.resize(n_ + 1);
    apply(column, u.data());
    double schur = k;
    for (std::size_t i = 0; i < n_; ++i) schur -= column[i] * u[i];
    return schur;
}

void Inverse::append(double schur, const std::vector<double>& u) {
    if (n_ + 1 > wide_) widen();
    for (std::size_t i = 0; i <= n_; ++i) p_.edit(n_, i) = 0;
    for (std::size_t k = 0; k < cs_.size(); ++k) us_.edit(k * wide_ + n_) = 0;
    begin_change(1 / schur, u.data());
    us_.edit((cs_.size() - 1) * wide_ + n_++) = -1;
    settle_many();
}

void Inverse::remove(std::size_t m, std::vector<double>& u) {
    column(m, u);
    begin_change(-1 / u[m], u.data());
    if (m != --n_) {
        for (std::size_t i = 0; i < m; ++i) p_.edit(m, i) = p_(n_, i);
        for (std::size_t i = m + 1; i < n_; ++i) p_.edit(i, m) = p_(n_, i);
        p_.edit(m, m) = p_(n_, n_);
        for (std::size_t k = 0; k < cs_.size(); ++k) us_.edit(k * wide_ + m) = us_[k * wide_ + n_];
    }
    settle_many();
}

void Inverse::widen() {
    p_.reserve(n_ + 1, n_);
    Aligned<double> spread(cs_.size() * p_.room());
    for (std::size_t k = 0; k < cs_.size(); ++k)
        std::copy_n(change(k), n_, spread.data() + k * p_.room());
    us_ = std::move(spread);
    wide_ = p_.room();
}

void Inverse::begin_change(double c, const double* u) {
    us_.reserve(most_waiting(n_ + 1) * wide_);  // no more, since memory is a promise
    us_.resize(us_.size() + wide_);
    for (std::size_t i = 0; i < n_; ++i) us_.edit(cs_.size() * wide_ + i) = u[i];
    cs_.push_back(c);
}

void Inverse::settle_changes() {
    if (cs_.empty()) return;
    p_.add_ranks_lower(n_, cs_, us_.data(), wide_);
    forget_changes();
}

}  // namespace onlinesvm
