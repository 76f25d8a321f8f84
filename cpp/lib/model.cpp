#include "onlinesvm/model/model.hpp"

#include <stdexcept>

namespace onlinesvm {

Value Model::call(std::string_view name, std::span<const Value> values) {
    for (const Verb& verb : verbs())
        if (verb.name == name) return verb.call(*this, Arguments(verb.name, values));
    throw std::invalid_argument("this method does not offer '" + std::string(name) + "'");
}

void Model::save(Sink& sink) const {
    Save save(sink);
    save("width", width_);
    save("outputs", outputs());
    save_state(save);
}
void Model::load(Source& source) {
    std::size_t width = 0, outputs = 0;
    Load shape(source, 0, 0);
    shape("width", width);
    shape("outputs", outputs);
    demand(outputs > 0, "there is no output");
    Load load(source, width, outputs);
    load_state(load);
    width_ = width;
}

void Model::complain_of_width(std::size_t width) const {
    throw std::invalid_argument("X has " + std::to_string(width) +
                                " features, but the model was started with " +
                                std::to_string(width_));
}

}  // namespace onlinesvm
