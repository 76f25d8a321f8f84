"""An online estimator for class labels. long: all that classes need is one class, no tower."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite

from .. import queries
from ..core import Core
from ..data.arguments import check_flag, check_numbers, check_word
from ..data.batch import Batch
from ..data.labels import Labels
from ..data.rows import Rows
from ..data.sklearn_types import ClassifierMixin
from ..unlearn.certificate import Claim, Evidence
from . import pairs, solution
from .balance import ClassCounts
from .estimator import OnlineEstimator
from .gamma import FirstExamples
from .groups import Multiclass, TowardsOptimum
from .parameters import lists, special
from .verbs import Without

NOT_PROBABLE = "its scores are no probabilities; CalibratedOnline({0}(...)) has it"


class OnlineClassifier(ClassifierMixin, OnlineEstimator):
    """An :class:`OnlineEstimator` for class labels."""

    class_weight: Mapping[Any, float] | Literal["balanced"] | None = special(
        default=None,
        type='dict, "balanced" or None',
        bad=["no such word", 3],
        doc="""Multiplies the weight of an example by a factor >= 0 for its class. ``"balanced"``
        makes all classes count alike: ``n / (k n_c)`` for a class with ``n_c`` of ``n`` examples
        of ``k`` classes. ``fit`` counts all its rows; in a stream an example is weighed once, when
        it comes, by the examples so far, itself included, those of weight 0 left out.""",
    )
    classes: Sequence[Any] | Literal["open"] | None = special(
        default=None,
        type='"open", array of labels or None',
        bad=["no such word"],
        doc="""``"open"`` lets classes appear at any time; an array names them beforehand, so that
        ``partial_fit`` and ``learn_one`` need no more.""",
    )

    _attributes: ClassVar[Mapping[str, str]] = {
        "classes_": "array of labels, in ascending order",
        "n_support_": "number of support vectors of each class (one-vs-rest problem)",
    }
    _measure = "accuracy"
    # Parameters that a pair of classes does not have, and the value that leaves them out.
    _not_of_pairs: ClassVar[Mapping[str, Any]] = {}

    def partial_fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        ids: Any = None,
        keys: Any = None,
    ) -> Self:
        """Go on learning with the rows of ``X``, in order.

        Cutting a stream into other batches gives the same model, bit for bit; a class that solves
        every call as a whole says so, and gives the same solution within ``tol``.

        Parameters
        ----------
        X : array, sparse matrix, data frame or list of dicts, n rows
        y : array of n labels
        classes : array of labels or "open", optional
            All labels that will ever come, or that they may come at any time. Needed at the first
            call, unless the constructor was given ``classes``.
        sample_weight : array of n numbers >= 0, optional
            Multiplies ``C`` per example. An example of weight 0 is counted, takes an id, makes
            its label known, and changes nothing else.
        ids : array of n integers >= 0, optional
            Names for the examples, to :meth:`unlearn` them by. Default: 0, 1, 2, ... in order
            of arrival.
        keys : list or array of n keys, optional
            Whom each example belongs to, to :meth:`unlearn` all of somebody's at once: integers,
            strings or tuples of these, repeated at will, None for an example of nobody's. A method
            that cannot unlearn takes them and keeps none.

        Returns
        -------
        self
        """
        return self._go_on(X, y, sample_weight, ids, keys, classes)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores of the rows of ``X``; learns nothing.

        Returns
        -------
        array of shape (n,) for two classes, positive for ``classes_[1]``; else (n, n_classes)
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The most likely label of each row of ``X``; learns nothing."""
        scores = self._scores(X)
        return self._labels.decode(scores)

    def decide_one(self, x: Any) -> Any:
        """``decision_function`` of one 1-D array or dict: a float for two classes, else an array.

        0.0 before anything was learned.
        """
        if not self.__sklearn_is_fitted__():
            return 0.0
        scores = self._labels.signed_one(self._scores_one(x))
        return scores[0] if len(scores) == 1 else np.array(scores)

    def predict_one(self, x: Any) -> Any:
        """The most likely label of one 1-D array or dict; ``None`` before any class is known."""
        if not self.__sklearn_is_fitted__():
            labels = self._declared_labels()
            return labels.names[0].item() if labels is not None and len(labels) else None
        return self._labels.decode_one(self._scores_one(x))

    @property
    def mistakes_(self) -> int:
        """Examples whose class the newest weights did not put first, before each was learned.

        The test-then-train count that mistake bounds speak of; a tie is a mistake. Each pass of
        ``fit`` adds its own.
        """
        return int(self._offered("mistakes", "mistakes_", "it takes no step per example"))

    predict_proba = Without(NOT_PROBABLE)
    predict_log_proba = Without(NOT_PROBABLE)
    predict_proba_one = Without(NOT_PROBABLE)

    def wants_label(self, X: Any) -> NDArray[np.bool_]:
        """Which rows of ``X`` deserve a label, by this model's ``query``; learns nothing.

        Models without a parameter ``query`` ask inside their margin, and before anything was
        learned every row is on the boundary. This looks at the rows of one call: where they come
        one by one, labels come late or there is a budget, ask at a :class:`~onlinesvm.LabelDesk`.
        """
        if not self.__sklearn_is_fitted__():
            rows, _ = self._read_rows(X, fresh=True)
            return self._asks().mask(np.zeros((len(rows), 1)))
        return self._asks().mask(self._margins(X))

    def _margins(self, X: Any) -> NDArray[np.float64]:
        """The scores in units of the margin, which queries look at."""
        return pairs.margins(self, X) if pairs.votes(self) else self._scores(X)

    def _asks(self) -> queries.Query:
        return queries.resolve(getattr(self, "query", "margin"))

    # --- labels -------------------------------------------------------------------------------

    def _read_targets(
        self, y: Any, n: int, classes: Any, *, fresh: bool, whole: bool
    ) -> tuple[NDArray[Any], Labels, Sequence[int]]:
        plain = type(y) is np.ndarray and y.ndim == 1 and len(y) == n and y.dtype.kind in "biuU"
        y = y if plain else self._read_labels(y, n)
        if whole:
            check_classification_targets(y)
            declared = self._declared_labels()
            labels = declared or Labels(np.unique(y), is_open=declared is not None)
        elif fresh or classes is not None:
            labels = self._labels_for(classes, fresh=fresh)
        else:
            labels = self._state.labels
        return self._encode(labels, y)

    def _one_target(self, y: Any) -> NDArray[Any]:
        if np.ndim(y) != 0:
            raise ValueError(f"y must be one label, got {y!r}")
        if isinstance(y, str | int | float | np.generic):
            return np.asarray([y])
        label = np.empty(1, dtype=object)
        label[0] = y
        return label

    def _read_labels(self, y: Any, n: int) -> NDArray[Any]:
        labels = self._read_column(y, n)
        if labels.dtype.kind == "O" and any(label is None for label in labels):
            raise ValueError("y contains None; drop the examples that have no label")
        if labels.dtype.kind in "fO":
            assert_all_finite(labels, input_name="y")
        return labels

    def _said_of_one(self) -> dict[str, Any]:
        told = self.classes is not None or self.__sklearn_is_fitted__()
        return {} if told else {"classes": "open"}

    def _labels_for(self, classes: Any, *, fresh: bool) -> Labels:
        """The classes in force for this call."""
        known = self._declared_labels() if fresh else self._labels
        if classes is None:
            if known is None:
                raise ValueError(
                    "classes must be passed on the first call to partial_fit; name all labels "
                    f"that will come, or use {type(self).__name__}(classes='open')"
                )
            return known
        if isinstance(classes, str):
            check_word("classes", classes, ("open",))
            if known is None or known.is_open:
                return known or Labels([], is_open=True)
            raise ValueError(
                f"classes='open' comes after the classes were named, {known.names.tolist()!r}; "
                "leave it out, or fit again from the start"
            )
        given = _distinct(classes)
        if known is None:
            return Labels(given, is_open=False)
        strangers = [label for label in given.tolist() if label not in known.codes]
        if known.is_open:
            return known.extended(strangers) if strangers else known
        if strangers or len(given) != len(known):
            raise ValueError(
                f"classes={given.tolist()!r} is not the same as on the first call, "
                f"{known.names.tolist()!r}; leave it out, or use classes='open'"
            )
        return known

    def _declared_labels(self) -> Labels | None:
        """What the constructor says about the classes: nothing, that they are open, or all."""
        if self.classes is None:
            return None
        if isinstance(self.classes, str):
            check_word("classes", self.classes, ("open",))
            return Labels([], is_open=True)
        return Labels(_distinct(self.classes), is_open=False)

    def _encode(
        self, labels: Labels, y: NDArray[Any]
    ) -> tuple[NDArray[np.int32], Labels, list[int]]:
        """The number of each label, the labels known at the end, and where new ones arrive."""
        codes = labels.encode(y)
        if codes.min() >= 0:
            return codes, labels, []
        arrivals = labels.newcomers(y, codes)
        if not labels.is_open:
            raise ValueError(
                f"y contains the unknown label {next(iter(arrivals.values()))!r}; known are "
                f"{labels.names.tolist()!r}; use classes='open' for labels that appear later"
            )
        extended = labels.extended(arrivals.values())
        return extended.encode(y), extended, list(arrivals)

    def _begin(self, batch: Batch) -> None:
        balanced = self.class_weight == "balanced"
        counts = _NOTHING_COUNTED.and_then(batch.targets) if balanced else None
        factors = self._factors(batch.labels, counts)
        super()._begin(batch)
        self._state = self._state.but(class_factors=factors, class_counts=counts)
        self._set_labels(batch.known)

    def _fit(self, batch: Batch) -> None:
        super()._fit(batch)
        met = not self._declared_labels()  # it said nothing, or that they are open
        self._state = self._state.but(classes_met=met)

    def _note(self, batch: Batch) -> None:
        super()._note(batch)
        state = self._state
        if self.class_weight is not None:
            factors = self._factors(batch.labels, state.class_counts)
            self._state = state.but(class_factors=factors)
        if batch.labels is not state.labels and len(batch.known) > len(state.labels):
            self._set_labels(batch.known)

    def _set_labels(self, labels: Labels) -> None:
        """Make these the classes of the model."""
        self._core.grow(max(2, len(labels)))
        self._state = self._state.but(labels=labels)
        self._set_fast_path()

    def _admit_labels(self, batch: Batch, row: int, *, publish: bool) -> None:
        if not batch.arrivals:
            return
        known = self._classes_at(batch, row)
        if publish and known > len(self._labels):  # a copy of all labels: not for each newcomer
            self._set_labels(batch.labels.first(known))
        elif known > 2:
            self._core.grow(known)

    def _classes_at(self, batch: Batch, row: int) -> int:
        return len(batch.labels) - len(batch.arrivals) + bisect_right(batch.arrivals, row)

    def _grow(self, core: Core, classes: int) -> None:
        core.grow(max(2, classes))

    def _settled_on(self, ids: NDArray[np.int64]) -> dict[str, Any]:
        found, ids = super()._settled_on(ids), self._not_wholly_gone(ids)
        if self._class_counts is not None and (len(ids) or "class_weight" in self._removed_from):
            found["class_weight"] = "balanced"  # every example weighs what came before and with it
        return found

    def _settled_without(self, evidence: Evidence) -> dict[str, Any]:
        found = super()._settled_without(evidence)
        if self._labels.is_open or self._classes_met:
            held = set(evidence.label.tolist())
            lost = [str(c) for n, c in enumerate(self._labels.arrived().tolist()) if n not in held]
            found |= {"classes": ", ".join(lost)} if lost else {}
        return found

    def _core_target(self) -> Callable[[Any], float | None] | None:
        return None if self._class_factors is not None else self._labels.codes.get

    def _factors(self, labels: Labels, counts: ClassCounts | None) -> NDArray[np.float64] | None:
        """The weight of each class, those that arrive in this batch included; None: all are 1."""
        if self.class_weight is None:
            return None
        if counts is not None:
            return counts.factors(len(labels))
        if not isinstance(self.class_weight, Mapping):
            raise ValueError(
                f"class_weight must be None, 'balanced' or a dict, got {self.class_weight!r}"
            )
        strangers = [label for label in self.class_weight if label not in labels.codes]
        if strangers and not labels.is_open:
            raise ValueError(
                f"class_weight has the label {strangers[0]!r}, which is not among the classes "
                f"{labels.names.tolist()!r}"
            )
        given = [self.class_weight.get(label, 1.0) for label in labels.codes]
        factors = check_numbers("class_weight", given)
        if not np.isfinite(factors).all() or (factors < 0).any():
            raise ValueError("class_weight must map labels to finite numbers >= 0")
        return factors

    def _weighted(self, batch: Batch) -> Batch:
        if self._class_factors is None:
            return batch
        factors = self._class_factors[batch.targets]
        if self._class_counts is not None and _weighs(batch):
            self._weights_lost = True
        return replace(batch, weights=factors * (1.0 if batch.weights is None else batch.weights))

    def _weighted_as_it_comes(self, batch: Batch) -> Batch:
        counts = self._class_counts
        if counts is None:
            return self._weighted(batch)
        if self._next_id == self._id_gap:  # nothing was learned yet
            self._class_counts = counts = _NOTHING_COUNTED
        if _weighs(batch):
            self._weights_lost = True
        counting = batch.counting()
        weights = np.ones(len(batch.rows)) if batch.weights is None else batch.weights.copy()
        weights[counting] *= counts.running(batch.targets[counting])
        return replace(batch, weights=weights, counts_classes=True)

    def _count_classes(self, batch: Batch, start: int, stop: int) -> None:
        """Count the examples that were learned: Ctrl-C leaves those out that were not."""
        if not batch.counts_classes or self._class_counts is None or batch.weights is None:
            return
        codes = batch.targets[start:stop][batch.weights[start:stop] > 0]
        counts = self._class_counts.and_then(codes)
        factors = counts.factors(len(batch.labels))
        self._state = self._state.but(class_counts=counts, class_factors=factors)

    def _tally(self, rows: Rows, targets: NDArray[np.float64]) -> float:
        guesses = self._labels.decode(self._by_output(rows.score(self._core)))
        return float((guesses == self._labels.arrived()[targets.astype(np.intp)]).sum())

    def _by_output(self, values: NDArray[Any], axis: int = -1) -> NDArray[Any]:
        return self._labels.signed(values, axis)

    # --- persistence --------------------------------------------------------------------------

    def _facts(self) -> dict[str, Any]:
        state = self._state
        counts = state.class_counts
        return super()._facts() | {
            "classes": state.labels.arrived(),  # as the core numbers them
            "open": state.labels.is_open,
            "class_factors": state.class_factors,
            **({} if counts is None else {"class_counts": counts.counts}),
            **({"classes_met": True} if state.classes_met and self._claim is not None else {}),
            **({"weights_lost": True} if state.weights_lost and self._claim is not None else {}),
        }

    def _recall(self, facts: dict[str, Any]) -> None:
        super()._recall(facts)
        labels = Labels(facts["classes"], is_open=bool(facts["open"]))
        if np.shape(facts["classes"]) != (len(labels),):
            raise ValueError("its classes are not distinct")
        met = check_flag("classes_met", facts.get("classes_met", False))
        lost = check_flag("weights_lost", facts.get("weights_lost", False))
        factors = facts["class_factors"]
        if factors is not None:
            factors = np.asarray(factors, dtype=np.float64)
            if factors.ndim != 1 or len(factors) < len(labels):
                raise ValueError("its class weights do not fit its classes")
            if not (np.isfinite(factors).all() and (factors >= 0).all()):
                raise ValueError("its class weights are not finite numbers >= 0")
        balanced = self._state.begun.get("class_weight") == "balanced"
        counts = _recalled_counts(facts["class_counts"], len(labels)) if balanced else None
        self._state = self._state.but(
            labels=labels,
            class_factors=factors,
            class_counts=counts,
            classes_met=met,
            weights_lost=lost,
        )

    def _demand_known(self, held: FirstExamples) -> None:
        codes, known = held.targets, held.classes
        fits = (codes >= 0) & (codes < known) & (codes == np.floor(codes))
        if not fits.all() or known.max(initial=0) > len(self._labels):
            raise ValueError("its first examples are of classes that it does not know")

    def _outputs(self) -> int:
        return len(self._labels) if len(self._labels) > 2 else 1

    # --- what it knows ------------------------------------------------------------------------

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in ascending order."""
        self._fitted_core("classes_")
        return self._labels.names

    @property
    def n_support_(self) -> NDArray[np.int64]:
        """Support vectors of each class; with more than two, of each one-vs-rest problem."""
        return solution.n_support(self)

    def _stem_for(self, batch: Batch) -> str:
        paired = lists(type(self), Multiclass) and self._takes_pairs(batch)
        return f"{self._stem}Pairs" if paired else self._core_stem()

    def _takes_pairs(self, batch: Batch) -> bool:
        if self.multiclass != "auto":
            return bool(self.multiclass == "one-vs-one")
        few = 2 < len(batch.labels) <= _MOST_PAIRED and not batch.labels.is_open
        return few and all(getattr(self, n) == none for n, none in self._not_of_pairs.items())

    def _core_stems(self) -> tuple[str, ...]:
        if not lists(type(self), Multiclass):
            return super()._core_stems()
        stems = {"one-vs-rest": self._stem, "one-vs-one": f"{self._stem}Pairs"}
        return tuple(stem for way, stem in stems.items() if self.multiclass in (way, "auto"))

    @property
    def _stated(self) -> Claim | None:
        if self._claim is None or not pairs.votes(self):
            return self._claim
        text = self._claim.text.replace("decision_function", "pairwise_decision_function")
        return replace(self._claim, text=text)

    def _votes(self) -> bool:
        """Whether several machines vote."""
        return pairs.votes(self)

    def _by_machine(self, values: NDArray[Any]) -> NDArray[Any]:
        """What the core gives for each machine, in the order of classes or of their pairs."""
        if pairs.votes(self):
            return values[self._labels.pairs()[0]]
        return self._labels.columns(values)

    def _end_pass(self) -> None:
        if lists(type(self), TowardsOptimum):
            self.finish()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags


_MOST_PAIRED = 30  # classes
_NOTHING_COUNTED = ClassCounts(np.zeros(0, dtype=np.int64))


def _recalled_counts(saved: Any, classes: int) -> ClassCounts:
    counts = np.asarray(saved)
    if counts.ndim != 1 or counts.dtype != np.int64 or (counts < 0).any():
        raise ValueError("its class counts are not whole numbers >= 0")
    if len(counts) > classes:
        raise ValueError("its class counts do not fit its classes")
    return ClassCounts(counts)


def _weighs(batch: Batch) -> bool:
    """Whether its rows have weights of their own."""
    return batch.weights is not None and bool((batch.weights != 1).any())


def _distinct(classes: Any) -> NDArray[Any]:
    names = np.unique(column_or_1d(np.asarray(classes)))
    if not names.size:
        raise ValueError("classes is empty; name at least one label")
    return names
