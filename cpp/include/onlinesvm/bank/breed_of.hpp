// BreedOf<Algo, T>: a bank's models are of this class.
#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include "onlinesvm/bank/bank.hpp"
#include "onlinesvm/bank/record.hpp"
#include "onlinesvm/loops/interrupt.hpp"

namespace onlinesvm {

template <Bankable Algo, class T>
class BreedOf final : public Breed {
  public:
    using Params = typename Algo::Params;

    // Whether models with these parameters all have one size.
    static bool can_hold(const Params& params) { return Algo(params).flat(); }

    BreedOf(const Params& params, std::size_t width, std::size_t classes)
        : newborn_(params), shape_(params) {
        require(can_hold(params), "params: models of changing size, which a bank cannot hold");
        newborn_.grow(classes);
        shape_.grow(classes);
        const std::vector<T> ones(width, T(1));
        shape_.learn(Row<T>(ones.data(), width), 0.0, 1.0, Id(0));  // any example will do
        body_ = words_of_state(shape_);
        unborn_ = words_of_state(newborn_);
        this->width = width;
        outputs = newborn_.outputs();
        words = head::words + body_;
    }
    std::unique_ptr<Seat> seat() const override { return std::make_unique<SeatOf>(*this); }
    std::size_t nbytes() const override { return newborn_.nbytes() + shape_.nbytes(); }

  private:
    Algo newborn_, shape_;
    std::size_t body_ = 0, unborn_ = 0;  // words of a state, and of one before any example

    class SeatOf final : public Seat {
      public:
        explicit SeatOf(const BreedOf& breed) : breed(breed), model(breed.shape_) {}

        void teach(double* record, std::span<const std::uint32_t> which, const Rows& rows,
                   std::span<const double> y, std::span<const double> weight) override {
            take<Trust::whole>(record);
            std::int64_t seen = head::seen(record);
            for (const std::uint32_t i : which) {
                const Row<T> x = rows.row(i, buffer);
                poll(x.size * breed.outputs);
                if (weight[i] > 0.0) model.learn(x, y[i], weight[i], Id(seen));
                ++seen;
            }
            leave(record, seen);
        }
        void score(const double* record, std::span<const std::uint32_t> which, const Rows& rows,
                   double* out) override {
            if (record) take<Trust::whole>(record);
            for (const std::uint32_t i : which) {
                const Row<T> x = rows.row(i, buffer);
                poll(x.size * breed.outputs);
                double* const scores = out + std::size_t(i) * breed.outputs;
                if (record)
                    model.score(x, scores);
                else
                    std::fill_n(scores, breed.outputs, 0.0);
            }
        }
        void save(const double* record, Sink& sink) override {
            take<Trust::whole>(record);
            Save save(sink);
            save("width", lives ? breed.width : std::size_t(0));
            save("outputs", model.outputs());
            model.state(save);
        }
        void check(const double* record) override {
            const std::int64_t alive = head::number(record[1]);
            demand(alive == 0 || alive == 1, "a model neither has learned nor has not");
            take<Trust::none>(record);
            if constexpr (requires { model.loaded(); })
                if (lives) model.loaded();
            if (!lives)
                for (std::size_t i = head::words; i < breed.words; ++i)
                    demand(head::number(record[i]) == 0,
                           "a model that has not learned knows something");
        }

      private:
        const BreedOf& breed;
        Algo model;
        bool lives = true;  // it has the shape of a model that has learned
        std::vector<T> buffer;

        template <Trust trust>
        void take(const double* record) {
            const bool was_alive = head::number(record[1]) != 0;
            if (lives != was_alive)
                model = was_alive ? breed.shape_ : breed.newborn_;
            else if (!lives)
                model = breed.newborn_;
            lives = was_alive;
            if (!lives) return;
            ReadWords<trust> words(record + head::words, breed.width, breed.outputs);
            model.state(words);
        }
        void leave(double* record, std::int64_t seen) {
            head::set(record[0], seen);
            if (!lives) {
                const std::size_t words = words_of_state(model);
                if (words == breed.unborn_) return;  // it passed over all of its examples
                if (words != breed.body_)
                    throw std::logic_error("a model is not as large as others");
                lives = true;
            }
            head::set(record[1], 1);
            WriteWords to(record + head::words);
            model.state(to);
        }
    };
};

}  // namespace onlinesvm
