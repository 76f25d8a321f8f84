// The margin set S of a dual whose coefficients keep their sum: the members that give way when another
// moves, so that their gradients stay as they are. With the inverse
//     P = inverse of [[0, 1'], [1, K_SS]]                                          (b first)
// it knows by how much: u = P [1; K_Sc] for a unit of s_c. When a member leaves S in mid-way, u
// follows in time proportional to |S|, so that a move past many breakpoints reads P once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "onlinesvm/function/slotted.hpp"
#include "onlinesvm/solver/inverse.hpp"

namespace onlinesvm {

template <class T>
class MarginSet {
  public:
    explicit MarginSet(KernelCache<T>& rows) : rows_(&rows) {}

    std::size_t size() const { return members_.size(); }
    bool empty() const { return members_.empty(); }
    Slot operator[](std::size_t m) const { return members_[m]; }
    auto begin() const { return members_.begin(); }
    auto end() const { return members_.end(); }
    bool contains(Slot j) const { return members_.contains(j); }
    std::size_t place(Slot j) const { return members_.place(j); }

    // ---- who gives way, and by how much ----

    // u = P [1; K_Sc]. Returns gamma_c, what is left of K_cc beside S: 0 where c depends on S.
    double sensitivities(Slot c) {
        poll(2 * size() * size());
        column_of(c);
        const double gamma = inverse_.explain(column_.data(), rows_->diagonal()[c], u_);
        u_.pop_back();
        return gamma > least_for(c) ? gamma : 0;
    }
    // u = P x, x of the balance first.
    void solve(const std::vector<double>& x) {
        poll(2 * size() * size());
        u_.resize(x.size());
        inverse_.apply(x.data(), u_.data());
    }
    double of_bias() const { return u_[0]; }
    double of(std::size_t m) const { return u_[m + 1]; }
    // What is left of the way after a share of it.
    void shorten(double share) {
        for (double& u : u_) u *= 1 - share;
    }

    // ---- who belongs to it ----

    // False if j depends on S: then it stays outside.
    bool add(Slot j) {
        if (!empty()) {
            const double gamma = sensitivities(j);
            return gamma > 0 && (join(j, gamma), true);
        }
        inverse_.border(rows_->diagonal()[j]);
        members_.add(j);
        return true;
    }
    // The one whose sensitivities u are.
    void join(Slot c, double gamma) {
        u_.push_back(0);
        inverse_.append(gamma, u_);
        members_.add(c);
    }
    void drop(std::size_t m) {
        if (size() == 1)
            inverse_.clear();
        else
            inverse_.remove(m + 1, column_);
        members_.remove_at(m);
    }
    // The same, and u becomes that of the others. Returns by how much gamma grows.
    double leave(std::size_t m) {
        drop(m);
        if (empty()) return 0;
        const double mine = u_[m + 1], by = mine / column_[m + 1];
        for (std::size_t i = 0; i < u_.size(); ++i) u_[i] -= by * column_[i];
        u_[m + 1] = u_.back();
        u_.pop_back();
        return by * mine;
    }
    void rebuild() {
        const std::vector<Slot> members = members_.members();
        members_.clear();
        inverse_.clear();
        for (Slot j : members) add(j);
    }

    // ---- a part of a machine ----

    void slot_pushed() { members_.slot_pushed(); }
    void slots_swapped(Slot a, Slot b) { members_.slots_swapped(a, b); }
    void slot_popped() {
        if (const Slot last(rows_->size() - 1); contains(last)) drop(place(last));
        members_.slot_popped();
    }
    auto undoable() { return std::tie(members_, inverse_); }
    std::size_t nbytes() const { return members_.nbytes() + inverse_.nbytes(); }
    template <class A>
    void state(A& a, const char* name) {
        members_.state(a, name);
        a("inverse", inverse_);
    }
    void loaded(std::size_t slots, bool from_file) { members_.loaded(slots, from_file); }
    void check() {
        demand(inverse_.size() == (empty() ? 0 : size() + 1),
               "the inverse does not fit the margin set");
        for (Slot j : members_) demand(j < rows_->active(), "the margin set is out of range");
        if (!fits()) rebuild();
    }

  private:
    // Below this share of the kernel diagonal a member counts as a combination of the margin set.
    static constexpr double kDependent = sizeof(T) == 4 ? 1e-6 : 1e-11;

    void column_of(Slot j) {
        const T* row = rows_->row(j, rows_->active());
        column_.resize(size() + 1);
        column_[0] = 1;
        for (std::size_t m = 0; m < size(); ++m) column_[m + 1] = double(row[members_[m]]);
    }
    double least_for(Slot j) const {
        double largest = rows_->diagonal()[j];
        if (!rows_->uniform())
            for (Slot i : members_) largest = std::max(largest, rows_->diagonal()[i]);
        return kDependent * largest;
    }
    // The bordered matrix times the kept inverse. A user's own function is never from a file.
    bool fits() {
        if (empty() || rows_->store().kernel().shape == Shape::function) return true;
        return inverse_.inverts([&](const double* x, double* y) {
            y[0] = 0;
            for (std::size_t m = 0; m < size(); ++m) y[0] += x[m + 1];
            rows_->among(members_.members(), [&](std::size_t i, const T* row) {
                y[i + 1] = x[0] + isa::table<T>().dot(row, x + 1, size());
            });
        });
    }

    KernelCache<T>* rows_;
    IndexSet<> members_;  // in the order of the inverse
    Inverse inverse_;
    std::vector<double> column_, u_;
};

}  // namespace onlinesvm
