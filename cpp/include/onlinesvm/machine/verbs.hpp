// What a model offers besides learning and scoring, in words: each algorithm lists its own,
//
//     using Verbs = Offers<SolvedVerbs, verb::evidence>;
//
// and whoever makes them reachable, as cpp/bind does for Python, knows how each is called. A word
// that is not here, or a verb that the algorithm lacks, does not compile.
#pragma once

namespace onlinesvm {

template <class... Verbs>
struct Offers {};  // verbs, and lists of them

namespace verb {
// Examples that it holds.
struct support {};
struct weights {};
struct holds {};
struct held {};
struct labels {};
struct labels_used {};
struct evicted {};
struct n_support {};
// Going on by other means than learning.
struct unlearn {};
struct set_C {};
struct reweight {};
struct leave_one_out {};
struct solve {};
struct improve {};
struct finish {};
struct polish {};
struct flush {};
struct revisit {};
struct merge {};
// How good the solution is.
struct capped {};
struct kkt_residual {};
struct objective {};
struct duality_gap {};
struct violation {};
struct suffered {};
struct mistakes {};
struct touching {};
struct evidence {};
struct decisions {};
// What the method alone knows.
struct bias {};
struct level {};
struct radius {};
struct radius_bound {};
struct path {};
struct passes {};
}  // namespace verb

// Of a solver that keeps the examples of its problem.
using SolvedVerbs = Offers<verb::support, verb::holds, verb::held, verb::labels, verb::n_support,
                           verb::unlearn, verb::capped, verb::kkt_residual, verb::objective>;
// Of a learner that takes a step per example.
using StepVerbs = Offers<verb::support, verb::weights, verb::holds, verb::suffered, verb::mistakes>;

}  // namespace onlinesvm
