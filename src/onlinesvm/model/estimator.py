"""What every estimator is. long: all verbs and hooks are one class, so that there is no tower.

An algorithm's own class names its core (``_stem``), declares its parameters and lists groups of
them. A call is validated completely, touching nothing, before it is learned: an error in the input
can never leave half a change behind. What the model knows is one value, its ``_state``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, Literal, Self, dataclass_transform, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..core import Core, Ids, offers
from ..data import validation
from ..data.arguments import check_word, threads
from ..data.batch import Batch
from ..data.keys import Key, Keys, read_key, read_keys, read_wanted
from ..data.labels import NO_LABELS, Labels
from ..data.rows import Rows
from ..data.validation import one_row
from ..files import persistence
from ..files.persistence import reduced, restored_state, saved_state
from ..unlearn import unlearning
from ..unlearn.certificate import Certificate, Claim
from . import learning, passes, reconfiguring, solution, tolerance
from .compression import Compression
from .door import SHUT, learn_plain, scores_one, set_door
from .gamma import FirstExamples, gamma_of, spread_of, warn_if_far
from .groups import LinearOrKernel, LinearStepLearner, PassByPass
from .knowing import Knowing
from .locking import AllOrNothing, take_turns
from .parameters import (
    Parameter,
    core_params,
    count,
    declare,
    flag,
    inherit,
    lists,
    number,
    special,
    word,
)
from .progress import LiveBar, Progress
from .state import Known, OnDemand, State


@dataclass_transform(
    kw_only_default=True,
    eq_default=False,
    field_specifiers=(number, count, flag, word, special, inherit),
)
class OnlineEstimator(Knowing):
    """Learns from a stream: ``partial_fit`` and ``learn_one`` give the same bits for any cut.

    A method states ``_stem`` (``"Ramp"`` for ``_core.Model("Ramp", ...)``), declares its
    parameters, and lists the groups of those it shares with others.
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

    _parameters: ClassVar[Mapping[str, Parameter]]
    _attributes: ClassVar[Mapping[str, str]] = {
        "n_features_in_, feature_names_in_": "as in scikit-learn",
        "n_seen_": "int, examples that arrived",
        "nbytes_": "int, memory of the model",
    }

    # --- what is special about a method -------------------------------------------------------

    _stem: ClassVar[str]  # of its core: "Ramp" for _core.Model("Ramp", ...)
    _measure: ClassVar[str]  # what the progress bar counts
    # What cutting a stream otherwise gives: the same bits or, where every call is solved as a
    # whole, the same solution within tol, or another optimum where there are several.
    _any_cut_gives: ClassVar[Literal["bits", "solution", "optimum"]] = "bits"
    _knows_weights: ClassVar[bool] = False  # which group of parameters it lists says so
    # Whether examples are collected and solved when a call ends; and a call of one as well.
    _solves_calls: ClassVar[bool] = False
    _collects_one: ClassVar[bool] = True
    # The verbs that leave every optimality condition within tol; checked now and then.
    _optimal_after: ClassVar[tuple[Literal["learn", "unlearn"], ...]] = ()
    # What a certificate of unlearning states; None: there is none.
    _claim: ClassVar[Claim | None] = None
    # Parameters that a core takes up whose state is given to a new one.
    _taken_up: ClassVar[tuple[str, ...]] = ("cache_bytes",)
    # By dtype: values up to here can do no harm; values beyond are not kept.
    _far: ClassVar[Mapping[str, float]] = {"float32": np.inf, "float64": 1e60}
    _largest: ClassVar[Mapping[str, float]] = {
        "float32": float(np.finfo(np.float32).max),
        "float64": np.inf,
    }
    _scores_are_sums: ClassVar[bool] = True  # over examples, and a constant
    # Parameters that a program took from rows for it, such as gamma from all parts of a data set.
    _settled_elsewhere = ()

    # --- what it knows ------------------------------------------------------------------------

    _register = OnDemand()  # its lock, with the numbers of its examples
    _door = SHUT  # of learn_one; its state is ``_state``, whose fields are there as ``_field``

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declare(cls)
        take_turns(cls)
        cls._knows_weights = lists(cls, LinearOrKernel) or lists(cls, LinearStepLearner)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name[0] != "_" and name[-1] != "_" and "_state" in self.__dict__:
            self._altered = True
            self._set_fast_path()

    # --- learning -----------------------------------------------------------------------------

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
        with AllOrNothing(self, "a new core"):  # the core before is kept until this one is
            self._fit(batch)
            self._by_fit = True
            if self._goes_far(batch):
                learning.demand_scores(self, batch)
        return self

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

    def learn_one(self, x: Any, y: Any = None, w: float = 1.0, key: Any = None) -> Self:
        """Learn one example: ``partial_fit`` of one row without its validation cost.

        Parameters
        ----------
        x : 1-D array or dict
            A dict maps feature names to numbers; absent names are 0. A model started with dicts
            takes new names at any time.
        y : label or number
            The target; outlier detectors ignore it. A classifier that was told nothing of its
            classes takes them as they come, as with ``classes="open"``.
        w : float, default=1.0
            Sample weight.
        key : int, str or tuple of these, optional
            Whom the example belongs to, as ``keys`` of ``partial_fit``.

        Returns
        -------
        self
        """
        if w == 1.0 and key is None:
            straight = self._door.straight
            if (straight is not None and straight(x, y)) or learn_plain(self, x, y):
                return self
        if key is not None and "_state" in self.__dict__:
            return self._learn_bearing(key, x, y, w)
        keys = None if key is None else [key]
        more = {"sample_weight": w, "keys": keys, **self._said_of_one()}
        return self.partial_fit(one_row(x), self._one_target(y), **more)

    def _go_on(
        self, X: Any, y: Any, sample_weight: Any, ids: Any, keys: Any, classes: Any = None
    ) -> Self:
        """``partial_fit`` of all tasks: learn these rows after those learned before."""
        state = self.__dict__.get("_state")
        if state is not None and state.altered:
            self._ready()
        batch = self._read(X, y, sample_weight, ids, keys, classes, fresh=state is None)
        with AllOrNothing(self, "a new core" if state is None else self._ahead(batch)):
            if state is None:
                self._begin(batch)
                self._held = None if self._spread is None else FirstExamples()
                self._set_fast_path()
            elif not (batch.columns is state.columns and batch.labels is state.labels):
                self._note(batch)
            if self._state.class_factors is not None:
                batch = self._weighted_as_it_comes(batch)
            self._learn(batch)
            if self._goes_far(batch):
                learning.demand_scores(self, batch)
            if state is not None and state.spread is not None:
                warn_if_far(self, spread_of(batch))
        return self

    def _ahead(self, batch: Batch) -> Literal["one step", "several steps"]:
        """Whether one call of the core is enough for a batch."""
        n, state = len(batch.targets), self._state
        if batch.labels is not state.labels and len(batch.labels) > len(state.labels):
            return "several steps"
        if self._solves_calls:
            several = n > 1 or self._collects_one or bool(batch.arrivals) or state.held is not None
        else:
            few = n <= learning.SLAB_ROWS_WATCHED
            several = not few and (self.verbose or n > learning.slab_rows(self))
        return "several steps" if several else "one step"

    def _fit(self, batch: Batch) -> None:
        """Forget everything and learn a batch that holds all there is."""
        if lists(type(self), PassByPass):
            passes.fit(self, batch)
        else:
            self._begin(batch)
            self._learn(self._weighted(batch))

    def _begin(self, batch: Batch) -> None:
        """Forget everything and stand ready for the first example of ``batch``."""
        state = learning.begun(self, batch)
        self._next_id = self._id_gap = 0
        self._state = state
        self._set_fast_path()

    def _note(self, batch: Batch) -> None:
        """Remember what a batch says besides its examples."""
        state = self._state
        if batch.columns is not state.columns:
            self._state = learning.with_columns(state, batch.columns)

    _learn = learning.learn
    _learn_part = learning.learn_part
    _learn_slab = learning.learn_slab

    def _solve(self) -> None:
        """Solve for the rows that a call has collected."""
        self._core.solve()

    def _end_call(self, verb: Literal["learn", "unlearn"], changes: int) -> None:
        """The last step of every call that learned or unlearned: so many examples changed."""
        if verb == "learn":
            self._warn_if_capped()
        if verb in self._optimal_after:
            self._check_tol(changes)

    _warn_if_capped = tolerance.warn_if_capped
    _check_tol = tolerance.check_tol

    def _weighted(self, batch: Batch) -> Batch:
        """The batch with the weight of each example as the core is to see it."""
        return batch

    def _weighted_as_it_comes(self, batch: Batch) -> Batch:
        """The same for a part of a stream, where a weight may hang on what came before."""
        return self._weighted(batch)

    def _ids_of(self, batch: Batch, start: int, stop: int) -> Ids:
        """The ids of these rows, which are the next to be learned."""
        if batch.ids is None:
            first = self._register.next
            return np.arange(first, first + stop - start, dtype=np.int64)
        return batch.ids[start:stop]

    _count_in = learning.count_in

    def _first_slab(self, n: int, progress: Progress) -> int:
        """Rows learned before the first chance to report; all n where a call is one step."""
        return learning.SLAB_ROWS_WATCHED if progress.watching else learning.slab_rows(self)

    def _progress(self, total: int) -> Progress:
        """What a call that is watched reports to."""
        return LiveBar(type(self).__name__, total, self._measure)

    def _tally(self, rows: Rows, targets: NDArray[np.float64]) -> float:
        """How well the rows are predicted now, summed over them; for the progress bar."""
        raise NotImplementedError

    def _learns_weights(self) -> bool:
        """Whether it learns a weight for each feature, and keeps no examples."""
        kernel = self.__dict__.get("kernel", "linear")
        return self._knows_weights and type(kernel) is str and kernel == "linear"

    def _keeps_weights(self) -> bool:
        """Whether the model in hand holds weights rather than examples."""
        if lists(type(self), LinearOrKernel):
            return bool(self._core_settings["kernel"]["name"] == "linear")
        return lists(type(self), LinearStepLearner)

    _goes_far = learning.goes_far
    # Passes of fit, where it lists the group.

    _pass_by_pass = passes.pass_by_pass
    _criterion = passes.criterion

    def _end_pass(self) -> None:
        """What a method does at the end of a pass of ``fit``."""

    # Classes, which only classifiers have.

    def _admit_labels(self, batch: Batch, row: int, *, publish: bool) -> None:
        """Make room for the labels up to this row; ``publish``: show them in ``classes_``, too."""

    def _classes_at(self, batch: Batch, row: int) -> int:
        """How many classes are known when a row of the batch comes; 0 where there are none."""
        return 0

    def _count_classes(self, batch: Batch, start: int, stop: int) -> None:
        """Count the examples that were learned."""

    def _grow(self, core: Core, classes: int) -> None:
        """Let a core know how many classes there are."""

    def _outputs(self) -> int:
        """How many scores the core has to have."""
        return 1

    def _by_output(self, values: NDArray[Any], axis: int = -1) -> NDArray[Any]:
        """What the core gives for each output, in the order of ``classes_``."""
        return values

    # --- reading a call -----------------------------------------------------------------------

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
        n = rows.X.shape[0]
        targets, labels, arrivals = self._read_targets(y, n, classes, fresh=fresh, whole=whole)
        weights = given = named = None
        if sample_weight is not None:
            weights = self._read_weights(sample_weight, n, some=whole)
        if ids is not None or self._register.next > validation.MAX_ID - n:
            given = self._read_ids(ids, n, fresh=fresh)
        if self._is_pairwise():
            validation.demand_columns(self, rows, given, fresh=fresh, whole=whole)
        if keys is not None or given is not None:
            named = self._read_keys(keys, n, given)
        return Batch(rows, columns, targets, weights, given, labels, arrivals, named)

    _read_rows = validation.read_rows
    _read_records = validation.read_records

    def _read_targets(
        self, y: Any, n: int, classes: Any, *, fresh: bool, whole: bool
    ) -> tuple[NDArray[Any], Labels, Sequence[int]]:
        """Targets for the core, the labels known at the end, and the rows where new ones come."""
        return np.zeros(n), NO_LABELS, ()

    _read_weights = staticmethod(validation.read_weights)

    _read_ids = validation.read_ids
    _read_column = validation.read_column

    def _read_keys(self, keys: Any, n: int, ids: Ids | None = None) -> Keys | None:
        """One key for each of n rows, where the model can make use of them."""
        found = read_keys(keys, n)
        if not self.can("unlearn"):
            return None
        if found is None and ids is not None and self._keys is not None:
            return [None] * n  # ids of the caller's may have been others' before
        return found

    def _are_numbers(self, rows: Rows) -> bool:
        """Whether every value can be learned from."""
        return rows.within(self._largest.get(self.dtype, np.inf))

    _demand_numbers = validation.demand_numbers
    _check_kernel_takes = validation.check_kernel_takes

    def _is_pairwise(self) -> bool:
        """Whether rows are kernel values with the examples by id, in place of features."""
        kernel = self.__dict__.get("kernel")
        return type(kernel) is str and kernel == "precomputed"

    # --- one example --------------------------------------------------------------------------

    _set_fast_path = set_door

    def _core_target(self) -> Callable[[Any], float | None] | None:
        """What gives the core's number for a target, None for a bad one; None if nothing does."""
        raise NotImplementedError

    def _one_target(self, y: Any) -> Any:
        """One target as a batch of one."""
        return [y]

    def _said_of_one(self) -> dict[str, Any]:
        """What ``partial_fit`` is told besides, where examples come one by one."""
        return {}

    def _learn_bearing(self, key: Any, x: Any, y: Any, w: float) -> Self:
        """``learn_one`` of an example that bears this key."""
        key = read_key(key)
        if not self.can("unlearn"):
            return self.learn_one(x, y, w)
        unlearning.learn_bearing(self, key, x, y, w)
        return self

    # --- scoring ------------------------------------------------------------------------------

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Scores of shape (n, outputs); changes nothing."""
        if "_state" not in self.__dict__:
            check_is_fitted(self)
        rows, _ = self._read_rows(X, fresh=False, learning=False)
        self._use_threads()
        return self._by_output(rows.score(self._state.core))

    _scores_one = scores_one

    def _use_threads(self) -> None:
        """As many as ``n_jobs`` says; the results are the same bits."""
        self._state.core.threads = 1 if self.n_jobs is None else threads(self.n_jobs)

    # --- unlearning ---------------------------------------------------------------------------

    @overload
    def unlearn(
        self,
        ids: ArrayLike | None = None,
        *,
        keys: Any = None,
        certificate: Literal[False] = False,
        scope: Literal["examples", "all"] = "examples",
    ) -> Self: ...
    @overload
    def unlearn(
        self,
        ids: ArrayLike | None = None,
        *,
        keys: Any = None,
        certificate: Literal[True],
        scope: Literal["examples", "all"] = "examples",
    ) -> Certificate: ...
    def unlearn(
        self,
        ids: ArrayLike | None = None,
        *,
        keys: Any = None,
        certificate: bool = False,
        scope: Literal["examples", "all"] = "examples",
    ) -> Self | Certificate:
        """Forget examples, as if they had never been learned.

        The exact, dual and core vector machines go to the solution without them. NORMA drops their
        own terms; what later examples did because of them stays.

        What was settled on rows stays as it is: ``gamma="scale"`` and
        ``class_weight="balanced"``. Where rows that had a part in it are removed, a
        :class:`SettledWarning` names it, and so does the certificate. ``scope="all"`` settles it
        anew.

        Parameters
        ----------
        ids : int or array of int
            The ids given to ``partial_fit``, or the numbers 0, 1, 2, ... in order of arrival.
            An example the model no longer holds has no influence left: its id is passed over,
            so a request may safely be repeated.
        keys : key or list of keys
            Instead of ids: all examples that bear one of these keys. A tuple is one key. A key that
            no example held bears is refused by name: a slip of the pen is no deletion.
            :meth:`keys_held` lists those known.
        certificate : bool, default=False
            Return evidence instead of the model: a :class:`Certificate`, which
            :func:`onlinesvm.verify` checks. It costs as much as predicting every example held.
        scope : "examples" or "all", default="examples"
            ``"all"`` leaves nothing of the examples, or raises and changes nothing: where they had
            a part in something settled, the model is trained again on the examples it holds
            besides, in the order of their ids. The certificate says what was settled anew and how
            many examples were learned again.

        Returns
        -------
        self, or with ``certificate=True`` a Certificate
        """
        how = check_word("scope", scope, ("examples", "all"))
        done: Self | Certificate = unlearning.unlearn(self, ids, keys, certificate, how)
        return done

    def ids_of(self, keys: Any) -> Ids:
        """The examples held that bear a key, or one of several.

        Parameters
        ----------
        keys : key or list of keys
            A tuple is one key.

        Returns
        -------
        array of ids, in order of arrival
        """
        wanted = read_wanted(keys)
        self._verb("unlearn")
        found = [] if self._keys is None else self._keys.ids_of(wanted)
        return np.array([n for n in found if self._holds(np.array([n]))], dtype=np.int64)

    def keys_held(self) -> list[Key]:
        """Every key that an example held bears, once, in order of arrival.

        Looks all keys up.
        """
        self._verb("unlearn")
        return [] if self._keys is None else self._keys.held_by(self._holds).keys()

    def kkt_residual(self) -> float:
        """How far the solution is from optimal: the largest violation of the KKT conditions.

        Over all examples the model holds, in double whatever ``dtype`` is: kernel values anew
        from the stored examples, times the stored coefficients. Costs as much as predicting them.
        """
        return float(self._verb("kkt_residual")())

    def objective(self) -> float:
        """The value of the problem the method solves, at the current solution; in double."""
        return float(self._verb("objective")())

    @classmethod
    def can(cls, verb: str) -> bool:
        """Whether this class offers ``"unlearn"``, ``"kkt_residual"`` or ``"objective"``."""
        return offers(cls._stem, verb)

    _verb = unlearning.verb
    _read_gone = unlearning.read_gone
    _holds = unlearning.holds
    _strike_out = unlearning.strike_out
    _settled_on = unlearning.settled_on
    _settled_now = unlearning.settled_now
    _not_wholly_gone = unlearning.not_wholly_gone
    _demand_wholly = unlearning.demand_wholly
    _held_of = unlearning.held_of
    _settled_without = unlearning.settled_without

    @property
    def _stated(self) -> Claim | None:
        """The claim, in the words of this model."""
        return self._claim

    def _polish(self) -> None:
        """Go as near to the solution as a certificate deserves, where ``tol`` is loose."""

    def _demand_whole(self, verb: str) -> None:
        """A NotImplementedError if the examples that a verb needs were left out by ``compress``."""
        if self._compression is not None:
            raise NotImplementedError(
                f"this {type(self).__name__} was compressed and cannot {verb}: the examples left "
                "out are gone; the model it came from can, and fit starts afresh."
            )

    # --- parameters ---------------------------------------------------------------------------

    _core_params = core_params

    def _core_stem(self) -> str:
        """Which core does the work, where parameters choose between several."""
        return self._stem

    def _stem_for(self, batch: Batch) -> str:
        """The same, where its first rows choose, too."""
        return self._core_stem()

    def _core_stems(self) -> tuple[str, ...]:
        """Those that may, by the parameters alone."""
        return (self._core_stem(),)

    def _ready(self) -> None:
        if self._state.altered:
            reconfiguring.ready(self)

    _changed = reconfiguring.changed_parameters
    _can_change = reconfiguring.can_change

    def _carried_over(self, state: dict[str, Any]) -> dict[str, Any]:
        """The state of the core as one with the parameters set now takes it."""
        return state

    _settings_with = reconfiguring.settings_with
    # --- what it shows ------------------------------------------------------------------------

    @property
    def n_features_in_(self) -> int:
        """Features of a row."""
        self._fitted_core("n_features_in_")
        return self._state.n_features

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the columns of a data frame."""
        if self._feature_names is None:
            raise AttributeError(f"{type(self).__name__} has no feature_names_in_")
        return self._feature_names

    @property
    def _feature_names(self) -> NDArray[Any] | None:
        state = self.__dict__.get("_state")
        return None if state is None else state.columns.names

    @property
    def n_seen_(self) -> int:
        """Examples that arrived, those of weight 0 included; unlearning does not lower it."""
        self._fitted_core("n_seen_")
        return self._next_id - self._id_gap

    @property
    def nbytes_(self) -> int:
        """Bytes held by the core, names, keys, and examples that wait for gamma to be settled."""
        core = self._fitted_core("nbytes_")
        others = (self._held, self._keys, self._vocabulary)
        return int(core.nbytes) + sum(other.nbytes for other in others if other is not None)

    @property
    def gamma_(self) -> float:
        """The value of ``gamma`` in use."""
        return gamma_of(self)

    @property
    def n_iter_(self) -> Any:
        """Passes that :meth:`fit` made; a stream is one pass."""
        if not lists(type(self), PassByPass):
            raise AttributeError(f"{type(self).__name__} has no n_iter_")
        self._fitted_core("n_iter_")
        return self._n_iter

    @property
    def support_(self) -> NDArray[np.int64]:
        """Ids of the support vectors."""
        return np.asarray(self._support("support_")["ids"])

    @property
    def support_vectors_(self) -> Any:
        """The support vectors, one per row; sparse when the model learned from sparse rows."""
        return solution.vectors(self, self._support("support_vectors_"))

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """Signed coefficients of the support vectors, one row per output.

        With ``multiclass="one-vs-one"`` and k classes, as ``SVC`` has them: k - 1 rows, which of a
        support vector are its coefficients against the other classes in their order.
        """
        return solution.dual_coef(self)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights of each output or pair of classes; linear only."""
        return solution.coef(self)

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The bias of each output, or of each pair of classes."""
        return solution.intercept(self)

    @property
    def labels_used_(self) -> int:
        """Labels the model has asked for so far."""
        return int(self._offered("labels_used", "labels_used_", "it asks for every label"))

    @property
    def compression_(self) -> Compression:
        """How far this copy may be from the model it came from; only after :meth:`compress`."""
        if self._compression is None:
            raise AttributeError(
                f"{type(self).__name__} has no compression_: it was not made by compress"
            )
        return self._compression

    _support = solution.support

    def _offered(self, name: str, attribute: str, reason: str) -> Any:
        core = self._fitted_core(attribute)
        if not hasattr(core, name):
            reason = reason if self._compression is None else "compress left it out"
            raise AttributeError(f"{type(self).__name__} has no {attribute}: {reason}")
        return getattr(core, name)

    def _fitted_core(self, attribute: str) -> Any:
        state = self.__dict__.get("_state")
        if state is None:
            raise AttributeError(
                f"{type(self).__name__} has no {attribute} yet; call fit or partial_fit first"
            )
        return state.core

    @property
    def _next_id(self) -> int:
        return int(self._register.next)

    @_next_id.setter
    def _next_id(self, number: int) -> None:
        self._register.next = int(number)

    @property
    def _id_gap(self) -> int:
        """Ids passed over because callers brought their own, less those borne twice."""
        return int(self._register.gap)

    @_id_gap.setter
    def _id_gap(self, numbers: int) -> None:
        self._register.gap = int(numbers)

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in self.__dict__

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        kernel = getattr(self, "kernel", "linear")
        tags.input_tags.sparse = not callable(kernel) and not self._is_pairwise()
        tags.input_tags.pairwise = self._is_pairwise()
        tags.input_tags.positive_only = kernel == "chi2"
        return tags

    # --- persistence --------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to ``path``, whole or not at all; the model is not touched.

        :func:`onlinesvm.load` brings it back, and learning goes on as if it had never stopped,
        bit for bit. What it could not bring back is refused here, before anything is written: a
        function as kernel, a class of your own, labels that no file can hold.

        Parameters
        ----------
        path : str or path
            An existing file is replaced only once the new one is safely on disk. It keeps its
            mode; a link keeps pointing to it.

        Raises
        ------
        ValueError
            When the model has something that a file without code cannot hold; pickle can.
        """
        persistence.save(self, path)

    _arrays = persistence.arrays_of
    _facts = persistence.facts_of
    _recall = persistence.recall
    _key_facts = unlearning.key_facts
    _demand_fits = persistence.demand_fits

    def _demand_known(self, held: FirstExamples) -> None:
        """A ValueError if the first examples are of classes that the model does not know."""
        if held.classes.any():
            raise ValueError("its first examples have classes")

    _live_state = persistence.live_state
    _live_on = persistence.live_on
    __reduce_ex__ = reduced
    __getstate__ = saved_state
    __setstate__ = restored_state


for _field in fields(State):
    setattr(OnlineEstimator, f"_{_field.name}", Known(_field.name))
declare(OnlineEstimator)
take_turns(OnlineEstimator)
