"""The learn loop and the score loop, which all algorithms share.

An algorithm's own class names its core (``_stem``) and declares its parameters. Everything else is
here and in the base classes, in two steps that are kept apart on purpose: first the whole call is
validated, touching nothing, then it is learned. An error in the input can therefore never leave
half a change behind.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .. import kernels
from ..params import check_count, check_flag, threads
from .attributes import FittedAttributes
from .batch import Batch
from .compression import Compression
from .core import Core, Floats, Ids, create, revive
from .fast_path import FastPath, OneByOne
from .gamma import FirstExamples, Spread
from .keys import Keys
from .labels import NO_LABELS, Labels
from .locking import OneVerbAtATime
from .optimality import Optimality
from .parameters import Parametrised, special, word
from .persistence import Persistent
from .progress import LiveBar, Progress
from .reconfiguring import Reconfigurable
from .rows import Rows, SparseRows, as_rows
from .settled import IdRuns
from .validation import MAX_ID, Columns, InputValidation
from .vocabulary import Vocabulary

# A slab is what is learned between two chances to report or to let a signal in. It is short
# enough for its small arrays to be allocated without asking the system for pages.
_SLAB_ROWS = 1024
_SLAB_ROWS_WATCHED = 16  # rows are tested before their slab is learned: the first must be short
_SLAB_ROWS_MOST = 16384
# Every slab remembers the weights it found, to be taken back to: so many of them cost as much as
# learning a row.
_WEIGHTS_PER_ROW = 4
_SLAB_ROWS_OF_WEIGHTS_MOST = 1 << 18
_SLAB_SECONDS = 0.1
_ONES = np.ones(_SLAB_ROWS_MOST)
# Weights and targets, and values, beyond which a call is followed by a look at some scores; at how
# many, and how large they may be.
_FAR, _FAR_VALUE = 1e12, 1e60
_ASKED, _LARGEST_SCORE = 32, 1e150
# What a new beginning forgets besides the core.
_OF_ONE_LIFE = (
    "feature_names_in_",
    "_names",
    "_vocabulary",
    "_keys",
    "_checked",
    "_unchecked",
    "_compression",
    "_removed_from",
    "_by_fit",
    "_wholly_gone",
)
_ONES.flags.writeable = False


class OnlineEstimator(
    Parametrised,
    OneVerbAtATime,
    Reconfigurable,
    FastPath,
    Optimality,
    FittedAttributes,
    Persistent,
    InputValidation,
):
    """Learns from a stream: ``partial_fit`` and ``learn_one`` give the same bits for any cut.

    A face states ``_stem`` (``"Ramp"`` for ``_core.Model("Ramp", ...)``) and declares its
    parameters.
    """

    dtype: Literal["float32", "float64"] = word(
        default="float32",
        words=("float32", "float64"),
        core=None,
        doc="Type of the examples kept; coefficients are float64 throughout.",
    )
    n_jobs: int | None = special(
        default=None,
        type="int or None",
        check=lambda _, n_jobs: threads(n_jobs),
        bad=[0, 1.5, "no such word"],
        doc="""Threads for predicting; None is one, -1 all processors. The results are the same
        bits.""",
    )
    verbose: bool = special(
        default=False, type="bool", doc="Show a live bar when learning takes long."
    )

    _attributes: ClassVar[Mapping[str, str]] = {
        "n_features_in_, feature_names_in_": "as in scikit-learn",
        "n_seen_": "int, examples that arrived",
        "nbytes_": "int, memory of the model",
    }
    _measure: ClassVar[str]  # what the progress bar counts
    # What cutting a stream otherwise gives: the same bits or, where every call is solved as a
    # whole, the same solution within tol, or another optimum where there are several.
    _any_cut_gives: ClassVar[Literal["bits", "solution", "optimum"]] = "bits"

    # --- a call -------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, keys: Any = None) -> Self:
        """Forget everything, then learn the rows of ``X``.

        Parameters
        ----------
        X : array, sparse matrix, data frame or list of dicts, n rows
        y : array of n labels or numbers
            The targets; outlier detectors ignore them.
        sample_weight : array of n numbers >= 0, optional
            How much each example counts: where there is a ``C``, it is multiplied. 0 skips one.
        keys : list or array of n keys, optional
            As ``partial_fit`` takes them.

        Returns
        -------
        self
        """
        return self._fit_rows(X, y, sample_weight, None, keys)

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any, ids: Any, keys: Any) -> Self:
        """``fit`` of rows that may have ids already."""
        batch = self._read(X, y, sample_weight, ids, keys, fresh=True, whole=True)
        with self._all_or_nothing("a new core"):  # the core before is kept until this one is
            self._fit(batch)
            self._by_fit = True
            self._demand_scores(batch)
        return self

    def _go_on(
        self, X: Any, y: Any, sample_weight: Any, ids: Any, keys: Any, classes: Any = None
    ) -> Self:
        """``partial_fit`` of all tasks: learn these rows after those learned before."""
        fresh = not self.__sklearn_is_fitted__()
        self._ready()
        batch = self._read(X, y, sample_weight, ids, keys, classes, fresh=fresh)
        several = self._takes_several_verbs(batch)
        with self._all_or_nothing(
            "a new core" if fresh else "several steps" if several else "one step"
        ):
            if fresh:
                self._begin(batch)
                self._held = None if self._spread is None else FirstExamples()
                self._set_fast_path()
            else:
                self._note(batch)
            batch = self._weighted_as_it_comes(batch)
            self._learn(batch)
            self._demand_scores(batch)
            if self._spread is not None and not fresh:
                self._warn_if_far(self._spread_of(batch))
        return self

    def _read(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        ids: Any,
        keys: Any,
        classes: Any = None,
        *,
        fresh: bool,
        whole: bool = False,
    ) -> Batch:
        """Validate a call; ``fresh``: nothing was learned yet; ``whole``: nothing will follow."""
        rows, columns = self._read_rows(X, fresh=fresh)
        targets, labels, arrivals = self._read_targets(
            y, len(rows), classes, fresh=fresh, whole=whole
        )
        weights = self._read_weights(sample_weight, len(rows), some=whole)
        given = self._read_ids(ids, len(rows), fresh=fresh)
        self._demand_columns(rows, given, fresh=fresh, whole=whole)
        named = self._read_keys(keys, len(rows), given)
        return Batch(rows, columns, targets, weights, given, labels, arrivals, named)

    def _read_targets(
        self, y: Any, n: int, classes: Any, *, fresh: bool, whole: bool
    ) -> tuple[NDArray[Any], Labels, Sequence[int]]:
        """Targets for the core, the labels known at the end, and the rows where new ones come."""
        return np.zeros(n), NO_LABELS, ()

    # --- learning -----------------------------------------------------------------------------

    def _demand_scores(self, batch: Batch) -> None:
        """A ValueError if rows far beyond all others have left a model without finite scores.

        It looks at a few rows, and only where weights, targets or values are very large.
        """
        if self._is_pairwise() or not self._goes_far(batch):
            return
        asked = [batch.rows.picked(_spread_out(len(batch.rows)))]
        keeps_rows = hasattr(self._core, "support") and not self._learns_weights()
        if keeps_rows and len(self._core.support()["ids"]):
            vectors = self.support_vectors_
            asked.append(as_rows(vectors[_spread_out(vectors.shape[0])]))
        for rows in asked:
            try:
                fine = np.abs(rows.score(self._core)).max(initial=0.0) < _LARGEST_SCORE
            except ValueError:  # one is no number
                fine = False
            if not fine:
                raise ValueError(
                    "X, y, sample_weight: after these rows scores would be too large for numbers; "
                    "scale the features and the weights"
                )

    def _goes_far(self, batch: Batch) -> bool:
        """Whether weights, targets or values are so large that sums of products may overflow."""
        weight = 0.0 if batch.weights is None else float(batch.weights.max(initial=0.0))
        target = float(np.abs(batch.targets).max(initial=0.0))
        return max(weight, target) > _FAR or batch.rows.reach_beyond(self._far_value())

    def _far_value(self) -> float:
        """Values up to here can do no harm; those of float32 never do."""
        return _FAR_VALUE if self.dtype == "float64" else np.inf

    @contextmanager
    def _all_or_nothing(
        self, ahead: Literal["a new core", "one step", "several steps"]
    ) -> Iterator[None]:
        """Whatever fails inside, the model is as it was.

        One step is undone by Ctrl-C, too; a new core or one that took several steps keeps those
        that were finished, and can go on.
        """
        facts = dict(self.__dict__)
        names = 0 if self._vocabulary is None else len(self._vocabulary)
        numbers = self._next_id, self._id_gap
        noted = 0 if self._keys is None else self._keys.mark()
        core: Any = facts.get("_core")
        state = core.state() if ahead == "several steps" else {}
        risky = state and self._core_settings.get("kernel", {}).get("name") == "function"
        if risky:  # what failed once may fail again: the way back must not call it
            self._core = revive(self._core_name, self._core_settings, state)
        changes = core.changes if core is not None else 0
        try:
            if ahead == "one step":
                core.begin()
            yield
            if ahead == "one step":
                core.commit()
        except BaseException as failure:
            if ahead == "one step":
                core.rollback()
                if core.changes != changes:  # too late: it stands
                    raise
            elif not isinstance(failure, Exception):
                self._strike_out()
                raise
            self.__dict__.update(facts)  # first: threads that look on never see half a model
            for name in self.__dict__.keys() - facts.keys():
                del self.__dict__[name]
            self._next_id, self._id_gap = numbers
            if self._vocabulary is not None:
                self._vocabulary.shorten(names)
            if self._keys is not None:
                self._keys.back_to(noted)
            if state and not risky:
                self._core.load(state)
            raise

    def _takes_several_verbs(self, batch: Batch) -> bool:
        """Whether one call of the core is not enough for a batch."""
        at_once = _SLAB_ROWS_WATCHED if self.verbose else self._slab_rows()
        return self._solves_calls or len(batch.rows) > at_once

    def _slab_rows(self) -> int:
        """Rows of the first slab where nobody watches: more for weights of many features.

        The core lets signals and readers in by itself, so a slab of short steps may be long.
        """
        if not self._learns_weights():
            return _SLAB_ROWS
        rows = getattr(self, "n_features_in_", 0) // _WEIGHTS_PER_ROW
        return max(_SLAB_ROWS, min(rows, _SLAB_ROWS_OF_WEIGHTS_MOST))

    def _core_looks_first(self) -> bool:
        # Who watches scores the rows before they are learned.
        return self._learns_weights() and not self.verbose

    def _learns_weights(self) -> bool:
        """Whether it learns a weight for each feature, and keeps no examples."""
        return False

    def _weighted(self, batch: Batch) -> Batch:
        """The batch with the weight of each example as the core is to see it."""
        return batch

    def _weighted_as_it_comes(self, batch: Batch) -> Batch:
        """The same for a part of a stream, where a weight may hang on what came before."""
        return self._weighted(batch)

    def _begin(self, batch: Batch) -> None:
        """Forget everything and stand ready for the first example of ``batch``."""
        settings = self._core_params(batch.columns.at_start)
        if settings.get("budget_bytes") and batch.columns.newcomers is not None:
            raise ValueError(
                "budget in bytes cannot hold the names of dicts, which may never end; hash them "
                "(OnlineHashing), pass arrays, or give a number of examples"
            )
        spread = self._spread_of(batch) if self._settles_gamma(settings) else None
        if spread is not None:
            settings["kernel"]["gamma"] = spread.gamma(self.gamma)
        name = self._core_stem() + self.dtype.removeprefix("float")
        core = create(name, settings)
        for stale in _OF_ONE_LIFE:
            self.__dict__.pop(stale, None)
        self._next_id = self._id_gap = 0
        self._held, self._spread, self._far = None, spread, False
        ids = batch.ids
        self._settled_by = IdRuns.first(len(batch.rows)) if ids is None else IdRuns.of(ids)
        self._begun, self._altered = self.get_params(deep=False), False
        self._core_name, self._core_settings = name, settings
        self._sparsely = isinstance(batch.rows, SparseRows)
        self._install(core)
        self._note_columns(batch.columns)

    def _fit(self, batch: Batch) -> None:
        """Forget everything and learn a batch that holds all there is."""
        self._begin(batch)
        self._learn(self._weighted(batch))

    def _note(self, batch: Batch) -> None:
        """Remember what a batch says besides its examples."""
        self._note_columns(batch.columns)

    def _note_columns(self, columns: Columns) -> None:
        if columns.newcomers is not None:
            if self._vocabulary is None:
                self._vocabulary = Vocabulary()
            self._vocabulary.extend(columns.newcomers)
            self._vocabulary.warn_if_endless()
        elif columns.names is not None:
            self.feature_names_in_ = columns.names
            self._names = dict.fromkeys(columns.names.tolist())
        self.n_features_in_ = columns.count
        self._row_width = -1 if self._sparsely else columns.count

    def _learn(self, batch: Batch) -> None:
        """Learn a batch in row order, slab by slab; a signal between two slabs does no harm."""
        if self._held is not None:
            batch = self._warm_up(batch, self._held)
        self._use_threads()
        start = 0
        try:
            with self._progress(len(batch.rows)) as progress:
                first = self._first_slab(len(batch.rows), progress)
                for start, stop in _slabs(
                    len(batch.rows), batch.arrivals, first, progress.watching
                ):
                    self._admit_labels(batch, start, publish=progress.watching)
                    self._learn_part(batch, start, stop, progress)
        finally:
            self._admit_labels(batch, start, publish=True)
        self._end_call("learn", len(batch.rows))

    def _learn_part(self, batch: Batch, start: int, stop: int, progress: Progress) -> None:
        rows = batch.rows.part(start, stop)
        y = np.ascontiguousarray(batch.targets[start:stop], dtype=np.float64)
        w = _ones(stop - start) if batch.weights is None else batch.weights[start:stop]
        ids = self._ids_of(batch, start, stop)
        tally = self._tally(rows, y) if progress.watching else 0.0  # before it learns
        before, changes = (self._next_id, self._id_gap, self._held), self._core.changes
        noted = 0 if self._keys is None else self._keys.mark()
        try:  # noted before they are learned: Ctrl-C must not give a number twice
            if self._held is not None:
                counted = np.flatnonzero(w > 0)
                self._held = self._holding(self._held, batch, start + counted, ids[counted])
            self._count_in(ids, batch.keys_of(start, stop))
            self._learn_slab(rows, y, w, ids)
        except BaseException:
            if self._core.changes == changes:  # they were not learned
                self._next_id, self._id_gap, self._held = before
                if self._keys is not None:
                    self._keys.back_to(noted)
            raise
        self._tidy_keys()
        if progress.watching:
            progress.advance(stop - start, tally, getattr(self, "support_", None))

    def _first_slab(self, n: int, progress: Progress) -> int:
        """Rows learned before the first chance to report; all n where a call is one step."""
        return _SLAB_ROWS_WATCHED if progress.watching else self._slab_rows()

    def _learn_slab(self, rows: Rows, y: Floats, w: Floats, ids: Ids) -> None:
        counts = w > 0
        if not counts.all():
            if self._core_looks_first():
                self._demand_numbers(rows)  # also of those that do not count
            counted = np.flatnonzero(counts)
            rows, y, w, ids = rows.picked(counted), y[counted], w[counted], ids[counted]
        if len(rows):
            rows.learn(self._core, y, w, ids)

    def _ids_of(self, batch: Batch, start: int, stop: int) -> NDArray[np.int64]:
        """The ids of these rows, which are the next to be learned."""
        if batch.ids is None:
            return np.arange(self._next_id, self._next_id + stop - start, dtype=np.int64)
        return batch.ids[start:stop]

    def _count_in(self, ids: NDArray[np.int64], keys: Keys | None = None) -> None:
        """Count examples in that bear these ids, and note their keys."""
        self._note_keys(ids, keys)
        seen = self._next_id - self._id_gap + len(ids)
        self._next_id = max(self._next_id, int(ids.max()) + 1)
        self._id_gap = self._next_id - seen

    def _admit_labels(self, batch: Batch, row: int, *, publish: bool) -> None:
        """Make room for the labels up to this row; ``publish``: show them in ``classes_``, too."""

    def _tally(self, rows: Rows, targets: NDArray[np.float64]) -> float:
        """How well the rows are predicted now, summed over them; for the progress bar."""
        raise NotImplementedError

    def _progress(self, total: int) -> Progress:
        return LiveBar(type(self).__name__, total, self._measure) if self.verbose else Progress()

    # --- scoring ------------------------------------------------------------------------------

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Scores of shape (n, outputs); changes nothing."""
        check_is_fitted(self)
        rows, _ = self._read_rows(X, fresh=False, learning=False)
        self._use_threads()
        return self._by_output(rows.score(self._core))

    def _by_output(self, values: NDArray[Any], axis: int = -1) -> NDArray[Any]:
        """What the core gives for each output, in the order of ``classes_``."""
        return values

    def _use_threads(self) -> None:
        """As many as ``n_jobs`` says; the results are the same bits."""
        self._core.threads = threads(self.n_jobs)

    def __sklearn_is_fitted__(self) -> bool:
        return "_core" in self.__dict__

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        kernel = getattr(self, "kernel", "linear")
        tags.input_tags.sparse = not callable(kernel) and not self._is_pairwise()
        tags.input_tags.pairwise = self._is_pairwise()
        tags.input_tags.positive_only = kernel == "chi2"
        return tags

    # --- persistence --------------------------------------------------------------------------

    def _install(self, core: Core) -> None:
        self._core = core
        self._set_fast_path()

    def _facts(self) -> dict[str, Any]:
        made = self._compression
        return ({} if made is None else {"compression": made.to_facts()}) | {
            "n_features_in": self.n_features_in_,
            "feature_names": getattr(self, "feature_names_in_", None),
            "vocabulary": None if self._vocabulary is None else self._vocabulary.names(),
            "sparsely": self._sparsely,
            "next_id": self._next_id,
            "id_gap": self._id_gap,
            "begun": dict(self._begun) if self._changed() else None,
            "held": None if self._held is None else self._held.to_facts(),
            **self._settled_facts(),
            **self._key_facts(),
        }

    def _recall(self, facts: dict[str, Any]) -> None:
        self.n_features_in_ = check_count("n_features_in", facts["n_features_in"])
        names, vocabulary = facts["feature_names"], facts["vocabulary"]
        if names is not None:
            if np.shape(names) != (self.n_features_in_,) or vocabulary is not None:
                raise ValueError("its feature names do not fit its features")
            self.feature_names_in_ = np.asarray(names)
            self._names = dict.fromkeys(self.feature_names_in_.tolist())
        self._sparsely = check_flag("sparsely", facts["sparsely"])
        if vocabulary is not None:
            self._vocabulary = Vocabulary(vocabulary)
            if len(vocabulary) != len(self._vocabulary) or not self._sparsely:
                raise ValueError("its vocabulary has a name twice, or no sparse rows")
            if len(vocabulary) != self.n_features_in_:
                raise ValueError("its vocabulary does not fit its features")
        self._row_width = -1 if self._sparsely else self.n_features_in_
        self._next_id = check_count("next_id", facts["next_id"])
        self._id_gap = check_count("id_gap", facts["id_gap"], at_least=-MAX_ID)
        if self._id_gap > self._next_id or self._next_id > MAX_ID + 1:
            raise ValueError("its ids are out of range")
        if "compression" in facts:
            self._compression = Compression.from_facts(facts["compression"])
        self._begun = facts["begun"] or self.get_params(deep=False)
        self._altered = facts["begun"] is not None
        if self._settles_gamma(self._core_settings):
            self._spread = Spread()
        if facts["held"] is not None:
            by_word = isinstance(self._begun.get("gamma"), str)
            if not by_word or self._core_settings["kernel"]["name"] not in kernels.WITH_GAMMA:
                raise ValueError("it holds examples that settle a gamma which is a number")
            width, sparsely = self.n_features_in_, self._sparsely
            self._held = FirstExamples.from_facts(facts["held"], width, sparsely=sparsely)
        self._recall_settled(facts)
        self._recall_keys(facts)
        self._set_fast_path()

    def _outputs(self) -> int:
        """How many scores the core has to have."""
        return 1

    def _demand_fits(self, state: Mapping[str, NDArray[Any]]) -> None:
        width = state["width"].tolist()
        # Examples of weight 0 are counted but never reach the core.
        own = int(self._is_pairwise())  # kernel values stand behind the number of their example
        least = 0 if self._sparsely or not width else self.n_features_in_ + own
        if not least <= width <= self.n_features_in_ + own:
            raise ValueError("its examples are not as wide as its features are many")
        if self._held is not None:
            self._demand_known(self._held)
        held = {} if self._held is None else {"ids": self._held.ids}
        for name, ids in (*state.items(), *held.items()):
            if ".lengths." in name or name.rpartition(".")[2] not in ("id", "ids"):
                continue
            if ids.max(initial=-1) >= self._next_id:
                raise ValueError("an example has an id that was never given")

    def _demand_known(self, held: FirstExamples) -> None:
        """A ValueError if the first examples are of classes that the model does not know."""
        if held.classes.any():
            raise ValueError("its first examples have classes")


class OnlineLearner(OnlineEstimator, OneByOne):
    """An estimator that goes on learning, and has no classes that must be known beforehand."""

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
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
        y : array of n numbers
            The targets; outlier detectors ignore them.
        sample_weight : array of n numbers >= 0, optional
            0 skips an example.
        ids : array of n integers >= 0, optional
            Names for the examples; default 0, 1, 2, ... in order of arrival.
        keys : list or array of n keys, optional
            Whom each example belongs to, to :meth:`unlearn` all of somebody's at once: integers,
            strings or tuples of these, repeated at will, None for an example of nobody's. A method
            that cannot unlearn takes them and keeps none.

        Returns
        -------
        self
        """
        return self._go_on(X, y, sample_weight, ids, keys)


def _spread_out(n: int) -> NDArray[np.int64]:
    """A few of n places, the last among them."""
    return np.unique(np.linspace(0, n - 1, _ASKED).astype(np.int64))


def _ones(n: int) -> NDArray[np.float64]:
    return _ONES[:n] if n <= len(_ONES) else np.ones(n)


def _slabs(n: int, cuts: Sequence[int], first: int, watching: bool) -> Iterator[tuple[int, int]]:
    """Consecutive (start, stop) over n rows that begin anew at every cut.

    They grow from ``first`` rows while they take less than 0.1 s and, where progress is shown,
    are a small part of what has passed.
    """
    size, start, most = first, 0, max(first, _SLAB_ROWS_MOST)
    for end in (*cuts, n):
        while start < end:
            stop = min(end, start + size)
            began = time.perf_counter()
            yield start, stop
            if stop - start == size and time.perf_counter() - began < _SLAB_SECONDS / 2:
                size = min(2 * size, max(first, stop // 8 if watching else stop), most)
            start = stop
