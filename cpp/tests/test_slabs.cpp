// Slabs under blocks that come, grow and go: values stay, and what is held is little more than what is
// taken.
#include "check.hpp"
#include "onlinesvm/memory/slabs.hpp"

using namespace onlinesvm;
using namespace onlinesvm::test;

template <class T>
void blocks_keep_their_values_while_others_come_grow_and_go() {
    Slabs<T> slabs;
    std::mt19937 random(1);
    std::vector<typename Slabs<T>::Block> blocks(200);
    for (std::size_t step = 0; step < 40'000; ++step) {
        const std::size_t j = random() % blocks.size(), length = 1 + random() % (1 + step / 20);
        auto& block = blocks[j];
        if (!block.empty())
            CHECK(block.data()[0] == T(j) && block.data()[block.size() - 1] == T(j));
        if (random() % 5 == 0) block = {};
        if (block.size() < length) {
            block = slabs.take(length);
            CHECK(block.size() >= length && block.size() % isa::lanes<T> == 0);
            CHECK(reinterpret_cast<std::uintptr_t>(block.data()) % isa::kLine == 0);
            std::fill_n(block.data(), block.size(), T(j));
        }
    }
    std::size_t taken = 0;
    for (auto& block : blocks) {
        taken += block.size() * sizeof(T);
        slabs.pour(block, block.size());
    }
    CHECK(slabs.taken() == taken);
    for (std::size_t j = 0; j < blocks.size(); ++j)
        for (std::size_t i = 0; i < blocks[j].size(); ++i) CHECK(blocks[j].data()[i] == T(j));
}

void poured_together_they_leave_no_slab_half_empty() {
    Slabs<float> slabs;
    std::vector<Slabs<float>::Block> blocks(1000);
    for (auto& block : blocks) block = slabs.take(1000);
    const std::size_t all = slabs.nbytes();
    for (std::size_t j = 0; j < blocks.size(); ++j)
        if (j % 8 != 0) blocks[j] = {};
    CHECK(slabs.nbytes() == all);  // every slab has two blocks left
    for (auto& block : blocks) slabs.pour(block, 1000);
    CHECK(slabs.nbytes() < all / 4);
    blocks.clear();
    CHECK(slabs.taken() == 0);
    CHECK(slabs.nbytes() < all / 50);  // one empty slab waits for the next block
}

int main() {
    blocks_keep_their_values_while_others_come_grow_and_go<float>();
    blocks_keep_their_values_while_others_come_grow_and_go<double>();
    poured_together_they_leave_no_slab_half_empty();
    return 0;
}
