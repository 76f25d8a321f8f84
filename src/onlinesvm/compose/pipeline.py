"""Preparation and model as one: what they learn, how they are called and how they are saved."""

from __future__ import annotations

import copy
import functools
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..data.arguments import check_flag, check_word
from ..data.keys import Key, demand_borne, read_wanted
from ..data.validation import MAX_ID, one_row
from ..files.json_values import from_json, to_json
from ..files.persistence import rebuilt, write
from ..model.classifier import NOT_PROBABLE
from ..model.estimator import OnlineEstimator
from ..model.locking import MadeOfOthers
from ..model.transformer import OnlineTransformer
from ..model.verbs import Without
from ..model.wrapping import WrapsModel
from ..transform.tables import Held, Named, Names, read_named, read_table, record_of
from ..unlearn.anew import Remaining, adopt, demand_rows_left, note_gone
from ..unlearn.certificate import Certificate, Evidence, issue
from ..unlearn.settled import IdRuns, listed, warn_of
from .columns import OnlineColumns


@dataclass(frozen=True)
class _Progress:
    """Where a pipeline stands: its parts, the rows it holds back, the columns it was begun with."""

    transformers: tuple[Any, ...]
    last: OnlineEstimator
    held: Held | None  # while something warms up
    names: Names
    classes: Any = None  # as the first call named them
    settled_by: IdRuns | None = None  # the rows that settled the steps that are done
    removed_from: tuple[str, ...] = ()  # steps that were settled on rows removed since
    kept: tuple[Held, ...] = ()  # the rows as they came, where they are to be kept


def _decides(pipeline: Any) -> bool:
    return hasattr(pipeline.steps[-1][1], "decision_function")


def _compresses(pipeline: Any) -> bool:
    return hasattr(pipeline.steps[-1][1], "compress")


def _scores(pipeline: Any) -> bool:
    return hasattr(pipeline.steps[-1][1], "score")


def _asks(pipeline: Any) -> bool:
    return hasattr(pipeline.steps[-1][1], "wants_label")


class OnlinePipeline(MadeOfOthers, Pipeline):
    """Preparation and model as one estimator that learns from a stream and is saved as one file.

    For any stream whose features are not yet of one size and without gaps: it takes what the rows
    are like from the rows themselves, and the model behind never sees a feature change its meaning.
    :func:`make_online_pipeline` names the steps for you.

    **The warm-up.** A kernel machine keeps examples, so features must not move under them. While a
    step warms up (``OnlineScaler(warm_up=256)``) the pipeline holds the rows. At the 1st, 2nd, 4th,
    ... of them, and when the warm-up ends, all steps begin anew and learn what is held, so that
    there is always a model to ask; rows between these are learned with the preparation at hand.
    When it ends, preparation and model are as if the preparation had been known beforehand: the
    first rows are learned three times over on average, and held until then.

    A step that always moves (``after="move"``) is shown one row at a time, and the row is then
    learned as it looks at that moment. So any cut of a stream gives the same bits, whatever the
    steps; but moving steps cost a call per row, and what a kernel machine keeps stays as it was
    scaled when it came.

    Columns are known by name where the first rows had names: reordered ones are put in order,
    missing ones refused, others passed over. Dicts may bring new names at any time.

    Parameters
    ----------
    steps : list of (name, estimator)
        Transformers of this library, then one of its estimators.
    keep_rows : bool, default=False
        Keep the rows as they came, in memory and in the file, so that ``unlearn(scope="all")`` can
        settle the steps anew. About doubles the memory of a model that keeps all examples.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    n_seen_ : int, examples that arrived
    nbytes_ : int, memory of all steps and of the rows held back
    settled_ : bool, whether every step that warms up has done so

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import LASVC, OnlinePipeline, OnlineScaler
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2)) * [1.0, 1e4]
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = OnlinePipeline([("scale", OnlineScaler()), ("svm", LASVC(classes=[False, True]))])
    >>> for start in range(0, 800, 50):
    ...     model = model.partial_fit(X[start : start + 50], y[start : start + 50])
    >>> model.score(X[800:], y[800:]) > 0.9
    True
    """

    # A wrapper with probabilities stands around a pipeline and never in it.
    predict_proba = Without(NOT_PROBABLE)
    predict_log_proba = Without(NOT_PROBABLE)
    memory = None
    transform_input = None
    verbose = False
    _held: Held | None = None
    _names: Names = None
    _classes: Any = None
    _settled: tuple[Any, ...] = ()  # the steps, once all but the last are done
    _settled_by: IdRuns | None = None  # the rows that settled the steps that are done
    _removed_from: tuple[str, ...] = ()  # steps that were settled on rows removed since
    _kept: tuple[Held, ...] = ()  # the rows as they came, in few parts

    def __init__(self, steps: list[tuple[str, Any]], *, keep_rows: bool = False) -> None:
        self.steps = steps
        self.keep_rows = keep_rows

    # --- learning -----------------------------------------------------------------------------

    def name_columns(self, names: Sequence[str]) -> Self:
        """Name the columns of arrays to come, before anything is learned.

        A saved pipeline then knows its columns as one that was begun with a frame does. Rows with
        names of their own keep those.
        """
        if self.__sklearn_is_fitted__():
            raise ValueError("names are given before anything is learned; make a new pipeline")
        if len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
            raise ValueError("names must be strings of which none comes twice")
        self._names = list(names)
        return self

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, keys: Any = None) -> Self:
        """Forget everything, then fit each step on all rows, one after the other.

        ``keys``: whom each row belongs to, as :meth:`partial_fit` takes them.
        """
        return self._fit_rows(X, y, sample_weight, None, keys)

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any, ids: Any, keys: Any) -> Self:
        """``fit`` of rows that may have ids already."""
        self._demand_steps()
        came, names = self._read_first(X)
        rows = came
        transformers, last = self._anew()
        for step in transformers:
            rows = _through(step.fit(rows, sample_weight=sample_weight), rows)
        last._fit_rows(rows, y, sample_weight, ids, keys)
        by, kept = last._settled_by, self._kept[:0]
        if self.keep_rows:
            n = last.n_seen_
            named = self._ids(ids, n, fresh=True)
            w, of = last._read_weights(sample_weight, n), last._read_keys(keys, n)
            kept = _kept((), Held(came, None if y is None else _column("y", y, n), w, named, of))
        progress = _Progress(transformers, last, None, names, settled_by=by, kept=kept)
        return self._stand(progress)

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
        ids: Any = None,
        keys: Any = None,
    ) -> Self:
        """Go on learning with the rows of ``X``, in order; any cut gives the same bits.

        Parameters
        ----------
        X : array, sparse matrix, data frame or list of dicts, n rows
        y : array of n labels or numbers
        classes : array of labels, optional
            As the last step takes them: needed at the first call, unless it was given ``classes``.
        sample_weight : array of n numbers >= 0, optional
            0 skips an example.
        ids : array of n integers >= 0, optional
            Names for the examples, to :meth:`unlearn` them by.
        keys : list or array of n keys, optional
            Whom each example belongs to, to :meth:`unlearn` all of somebody's at once: integers,
            strings or tuples of these, repeated at will, None for an example of nobody's.

        Returns
        -------
        self
        """
        if classes is None and self._passes_on(X, y):
            rows, last = self._prepared(X)
            last.partial_fit(rows, y, sample_weight=sample_weight, ids=ids, keys=keys)
            return self
        self._demand_steps()
        fresh = not self.__sklearn_is_fitted__()
        rows, names = self._read_first(X) if fresh else self._read(X, self._names, fresh=False)
        n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        last = self.steps[-1][1]
        batch = Held(
            rows,
            None if y is None else _column("y", y, n),
            last._read_weights(sample_weight, n),
            self._ids(ids, n, fresh=fresh),
            last._read_keys(keys, n),
        )
        if fresh:
            if classes is not None and not is_classifier(last):
                raise ValueError("classes is for classifiers; leave it out")
            transformers, last = self._anew()
            held = Held.nothing() if self._warm_up_rows() else None
            by = IdRuns.first(0)
            progress = _Progress(transformers, last, held, names, classes, by)
        else:
            if classes is not None:
                last._labels_for(classes, fresh=False)
            progress = self._progress()
        after = self._after(progress, batch)
        if self.keep_rows:
            after = replace(after, kept=_kept(progress.kept, batch))
        return self._stand(after)

    def _passes_on(self, X: Any, y: Any) -> bool:
        """Whether plain rows go through steps that learn no more, and only the last one learns."""
        settled, steps = self._settled, self.steps
        if not settled or self.keep_rows or len(steps) != len(settled):
            return False
        last = len(settled) - 1  # which says itself what cannot be changed
        for i, known in enumerate(settled):
            if steps[i][1] is not known or isinstance(known, OnlineColumns):
                return False
            if i < last and known._altered:
                return False
        plain = type(X) is np.ndarray and X.ndim == 2 and len(X) > 0
        return plain and (y is None or (type(y) is np.ndarray and y.shape == X.shape[:1]))

    def learn_one(self, x: Any, y: Any = None, w: float = 1.0, key: Any = None) -> Self:
        """Learn one example, a 1-D array or a dict by feature name; ``key``: whose it is."""
        with self._register:
            row = None if self.keep_rows else self._prepared_one(x)
            if row is not None:
                self.steps[-1][1].learn_one(row, y, w, key)
                return self
            self._demand_steps()
            last = self.steps[-1][1]
            target = None if y is None else last._one_target(y)
            more = {"sample_weight": w, "keys": None if key is None else [key]}
            return self.partial_fit(one_row(x), target, **more, **last._said_of_one())

    def _after(self, progress: _Progress, batch: Held) -> _Progress:
        """Where a pipeline stands that went on with these examples; the one before is untouched."""
        while progress.held is not None and len(batch):
            look = _next_look(progress.held.counted, self._warm_up_rows())
            first, batch = batch.split_after(look - progress.held.counted)
            held = progress.held.and_then(first)
            if held.counted == look or not progress.last.__sklearn_is_fitted__():
                progress = self._learned_afresh(progress, held)
            else:
                last = self._shown(copy.copy(progress.last), progress, first)
                progress = replace(progress, last=last, held=held)
        if not len(batch):
            return progress
        if not any(step._moves for step in progress.transformers):
            return self._learned(progress, batch, progress.last)
        last = copy.copy(progress.last)  # it takes a step for each row, and all of them or none
        for i in range(len(batch)):
            progress = self._learned(progress, batch.part(i, i + 1), last)
        return progress

    def _learned_afresh(self, progress: _Progress, held: Held) -> _Progress:
        transformers, last = self._anew()
        rows, w = held.rows, held.weights
        for step in transformers:
            rows = _through(step.partial_fit(rows, sample_weight=w), rows)
        _learn(last, rows, held, progress.classes)
        warm = held.counted >= self._warm_up_rows()
        return _Progress(
            transformers,
            last,
            None if warm else held,
            progress.names,
            progress.classes,
            IdRuns.of(held.ids),
            kept=progress.kept,
        )

    def _learned(self, progress: _Progress, batch: Held, last: Any) -> _Progress:
        """All steps after these rows; the last one, which knows how to fail, learns in place."""
        rows, after = batch.rows, []
        for step in progress.transformers:
            if step.__sklearn_is_fitted__() and step._done:
                step._ready()  # what was set since it began is refused as ever
            else:
                step = copy.copy(step).partial_fit(rows, sample_weight=batch.weights)
            rows = _through(step, rows)
            after.append(step)
        _learn(last, rows, batch, progress.classes)
        return replace(progress, transformers=tuple(after), last=last, held=None)

    def _shown(self, last: Any, progress: _Progress, batch: Held) -> Any:
        rows = batch.rows
        for step in progress.transformers:
            rows = _through(step, rows)
        _learn(last, rows, batch, progress.classes)
        return last

    def _stand(self, progress: _Progress) -> Self:
        """Take up all that was learned, in one step: Ctrl-C falls before it or after it."""
        names = [name for name, _ in self.steps]
        parts = (*progress.transformers, progress.last)
        done = progress.held is None and all(step._done for step in progress.transformers)
        self.__dict__.update(
            _held=progress.held,
            _names=progress.names,
            _classes=progress.classes,
            _settled_by=progress.settled_by,
            _removed_from=progress.removed_from,
            _kept=progress.kept,
            _settled=parts if done else (),
            steps=list(zip(names, parts, strict=True)),
        )
        return self

    def _progress(self) -> _Progress:
        """Where it stands."""
        *transformers, last = (step for _, step in self.steps)
        return _Progress(
            tuple(transformers),
            last,
            self._held,
            self._names,
            self._classes,
            self._settled_by,
            self._removed_from,
            self._kept,
        )

    def _settled_as_it_is(self) -> Self:
        """A pipeline whose steps have all learned elsewhere."""
        *transformers, last = (step for _, step in self.steps)
        return self._stand(_Progress(tuple(transformers), last, None, None))

    def _read(self, X: Any, names: Names, *, fresh: bool) -> tuple[Any, Names]:
        by_name = isinstance(self.steps[0][1], OnlineColumns)
        return (read_named if by_name else read_table)(X, names, fresh=fresh)

    def _read_first(self, X: Any) -> tuple[Any, Names]:
        """The first rows; those without names of their own take the names given beforehand."""
        given = None if self.__sklearn_is_fitted__() else self._names
        if given is not None and isinstance(X, np.ndarray):
            if isinstance(self.steps[0][1], OnlineColumns):
                X = Named(read_table(X, given, fresh=False)[0], tuple(given))
            else:
                return read_table(X, given, fresh=False)
        return self._read(X, None, fresh=True)

    def _anew(self) -> tuple[tuple[Any, ...], Any]:
        *transformers, last = (clone(step) for _, step in self.steps)
        return tuple(transformers), last

    def _ids(self, ids: Any, n: int, *, fresh: bool) -> NDArray[np.int64]:
        last = self.steps[-1][1]
        given = last._read_ids(ids, n, fresh=fresh)
        start = 0 if fresh else last._next_id
        if given is None and start + n - 1 > MAX_ID:
            raise ValueError("X has more rows than ids are left; give some that are free")
        return np.arange(start, start + n) if given is None else given

    def _warm_up_rows(self) -> int:
        """How many examples settle all steps."""
        return max((step._warm_up_rows for _, step in self.steps[:-1]), default=0)

    def _demand_steps(self) -> None:
        if not self.steps:
            raise ValueError("steps is empty; name at least one estimator")
        for step in self.steps:
            if not isinstance(step, tuple | list) or len(step) != 2 or type(step[0]) is not str:
                raise ValueError(
                    f"steps must be (name, estimator) pairs, got {step!r:.60}; "
                    "make_online_pipeline(...) names them for you"
                )
        for name, step in self.steps[:-1]:
            if not isinstance(step, OnlineTransformer | OnlineColumns):
                raise ValueError(
                    f"steps has {name}={step!r:.60}, which is no transformer of this library; "
                    "use sklearn.pipeline for others"
                )
        name, last = self.steps[-1]
        if isinstance(last, WrapsModel):
            raise ValueError(
                f"steps ends with {name}={last!r:.60}, which has to see the rows as they come; "
                f"put the pipeline into it: {type(last).__name__}(make_online_pipeline(...))"
            )
        if not isinstance(last, OnlineEstimator) or isinstance(last, OnlineTransformer):
            raise ValueError(
                f"steps ends with {name}={last!r:.60}, which is no estimator of this library; "
                "put one there that predicts"
            )
        if not hasattr(last, "partial_fit"):
            raise ValueError(f"steps ends with {name}={last!r:.60}, which has no partial_fit")

    # --- asking -------------------------------------------------------------------------------

    def _prepared(self, X: Any) -> tuple[Any, Any]:
        """The rows as the last step takes them, and the last step."""
        if not self._settled:
            check_is_fitted(self)
        steps = self.steps  # a list that is replaced, never changed: one look is consistent
        rows, _ = self._read(X, self._names, fresh=False)
        for _, step in steps[:-1]:
            rows = _through(step, rows)
        return rows, steps[-1][1]

    def _prepared_one(self, x: Any) -> NDArray[Any] | None:
        """A plain row as the last step takes it, by steps that are done; None: the long way."""
        steps, settled = self.steps, self._settled
        if type(x) is not np.ndarray or x.ndim != 1 or len(steps) != len(settled):
            return None
        if self._names is not None and (
            len(x) != len(self._names) or isinstance(steps[0][1], OnlineColumns)
        ):
            return None
        rows = x.reshape(1, -1)
        for (_, step), known in zip(steps[:-1], settled, strict=False):
            if step is not known or step._altered:
                return None
            rows = step._features(rows)
        plain = type(rows) is np.ndarray and steps[-1][1] is settled[-1]
        return rows[0] if plain else None

    def predict(self, X: Any) -> NDArray[Any]:
        """What the last step predicts for each row of ``X``; learns nothing."""
        rows, last = self._prepared(X)
        return np.asarray(last.predict(rows))

    @available_if(_decides)
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The scores of the last step for each row of ``X``; learns nothing."""
        rows, last = self._prepared(X)
        return np.asarray(last.decision_function(rows))

    @available_if(_asks)
    def wants_label(self, X: Any) -> NDArray[np.bool_]:
        """Which rows of ``X`` deserve a label, by the last step's ``query``; learns nothing."""
        if not self.__sklearn_is_fitted__():
            first, _ = self._read_first(X)
            n = first.shape[0] if hasattr(first, "shape") else len(first)
            return np.asarray(self.steps[-1][1]._asks().mask(np.zeros((n, 1))))
        rows, last = self._prepared(X)
        return np.asarray(last.wants_label(rows))

    @available_if(_scores)
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or R^2 of a regressor, of the predictions for ``X``."""
        rows, last = self._prepared(X)
        return float(last.score(rows, y, sample_weight=sample_weight))

    @available_if(_compresses)
    def compress(self, tol: float, X: Any = None) -> OnlinePipeline:
        """A copy whose last step predicts the same within ``tol``, from fewer support vectors.

        As ``compress`` of the last step, with ``X`` as this pipeline takes it. The copy predicts,
        is saved and loaded, and learns no more; it needs a warm-up that is over.
        """
        if self._held is not None:
            raise ValueError(
                "compress: the warm-up is not over, and its rows would be learned again; learn "
                "more of them first"
            )
        rows = None if X is None else self._prepared(X)[0]
        few = self.steps[-1][1].compress(tol, rows)
        twin = copy.copy(self)
        twin.steps = [*twin.steps[:-1], (self.steps[-1][0], few)]
        return twin

    def predict_one(self, x: Any) -> Any:
        """The prediction for one 1-D array or dict; before anything was learned as the model's."""
        if not self.__sklearn_is_fitted__():
            return self.steps[-1][1].predict_one(x)
        row = self._prepared_one(x)
        if row is not None:
            return self.steps[-1][1].predict_one(row)
        return self.predict(one_row(x))[0].item()

    @available_if(_decides)
    def decide_one(self, x: Any) -> Any:
        """``decision_function`` of one 1-D array or dict; 0.0 before anything was learned."""
        if not self.__sklearn_is_fitted__():
            return 0.0
        row = self._prepared_one(x)
        if row is not None:
            return self.steps[-1][1].decide_one(row)
        scores = self.decision_function(one_row(x))[0]
        return float(scores) if np.ndim(scores) == 0 else scores

    # --- forgetting ---------------------------------------------------------------------------

    def unlearn(
        self,
        ids: Any = None,
        *,
        keys: Any = None,
        certificate: bool = False,
        scope: Literal["examples", "all"] = "examples",
    ) -> Any:
        """Let the last step forget examples, by ids or by keys, where it can.

        The preparation is not touched: a mean over the warm-up keeps the share of a row that is
        unlearned. A :class:`SettledWarning` names the steps that were settled on such rows, and so
        does a certificate, which is about the last step. During the warm-up all is settled anew
        without the rows.

        Parameters
        ----------
        ids, keys, certificate : as the last step takes them
        scope : "examples" or "all", default="examples"
            ``"all"`` leaves nothing of the examples, or raises and changes nothing: where a step
            was settled on them, steps and model begin anew and learn the rows left, which takes
            ``keep_rows=True``. The certificate says what was settled anew and how many examples
            were learned again.
        """
        last = self.steps[-1][1]
        if keys is not None and ids is None:
            demand_borne(keys, self.keys_held())
            ids, keys = np.sort(self.ids_of(keys)), None
        if check_word("scope", scope, ("examples", "all")) == "all":
            proof = self._unlearn_wholly(ids)
            return proof if certificate else self
        result = last.unlearn(ids, keys=keys, certificate=certificate)
        gone = np.atleast_1d(np.asarray(ids, dtype=np.int64))
        steps, before = self._steps_settled_on(gone), self._removed_from
        self._removed_from = tuple(steps)
        self._drop(gone)
        if self._held is None:
            warn_of(_by_step({name: kind for name, kind in steps.items() if name not in before}))
        if not certificate:
            return self
        return result.naming(_by_step(steps), last._stated) if steps else result

    def _drop(self, gone: NDArray[np.int64]) -> None:
        """Keep nothing of these rows besides what was settled on them."""
        if self._settled_by is not None:
            self._settled_by = self._settled_by.without(gone)
        if self._held is not None:
            self._held = self._held.without(gone)
        parts = [part.without(gone) for part in self._kept]
        self._kept = tuple(part for part in parts if len(part))

    def _unlearn_wholly(self, ids: Any) -> Certificate:
        """Forget examples; steps that were settled on them are settled anew, and so is the rest."""
        last = self.steps[-1][1]
        claim, wanted = last._demand_wholly(), last._read_gone(ids, None)
        steps = _by_step(self._steps_settled_on(wanted))
        if not steps:
            proof: Certificate = last.unlearn(wanted, certificate=True, scope="all")
            self._drop(wanted)
            return proof
        gone, before = last._held_of(wanted)
        left = self._came(steps).without(wanted)
        of_fit = np.zeros(len(left), dtype=bool)
        if last._by_fit and self._settled_by is not None:
            of_fit = self._settled_by.include(left.ids)
        labels = left.targets if is_classifier(last) else None
        demand_rows_left(left.ids, labels)
        rows = Remaining(left.rows, left.targets, left.weights, left.ids, left.keys, of_fit)
        fresh = clone(self)
        fresh._names = self._names
        classes = self._classes
        if is_classifier(last) and last.classes is None and not of_fit.any() and last._by_fit:
            classes = np.unique(np.asarray(labels))
        rows.teach(fresh, classes)
        new = fresh.steps[-1][1]
        note_gone(new, last._next_id)
        new._polish()
        anew = new._settled_now(last._settled_on(wanted)) | steps
        proof = issue(new, claim, gone, before, new._settled_on(wanted), anew)
        adopt(last, new)
        progress = fresh._progress()
        self._stand(replace(progress, last=last, names=self._names, classes=self._classes))
        return proof

    def _came(self, steps: Mapping[str, str]) -> Held:
        """The rows that are held, as they came; an error where they were not kept."""
        kept = self._kept
        if not self.keep_rows and self._held is not None:
            kept = (self._held,)
        last = self.steps[-1][1]
        held = Evidence.of(last).ids
        if not kept or len(np.setdiff1d(held, np.concatenate([part.ids for part in kept]))):
            raise ValueError(
                f"scope='all': {listed(steps)} {'was' if len(steps) == 1 else 'were'} settled on "
                "these rows, and the rows as they came are not kept; make the pipeline with "
                "keep_rows=True, or fit a new one without them"
            )
        came = functools.reduce(Held.and_then, kept)
        counted = came.ids if came.weights is None else came.ids[came.weights > 0]
        return came.without(np.setdiff1d(counted, held))  # the last step may forget by itself

    def _steps_settled_on(self, ids: NDArray[np.int64]) -> dict[str, str]:
        """The steps that were settled on rows that include these, or some removed before."""
        warm = self._held is None  # until then every row has a part in every step
        ids = self.steps[-1][1]._not_wholly_gone(ids)
        found = {}
        for name, step in self.steps[:-1]:
            by = self._settled_by if warm and step._done else None
            met = len(ids) > 0 and (by is None or by.meet(ids))
            if step._settles and (met or name in self._removed_from):
                found[name] = type(step).__name__
        return found

    def _settled_on(self, ids: NDArray[np.int64]) -> dict[str, Any]:
        last: dict[str, Any] = self.steps[-1][1]._settled_on(ids)
        return _by_step(self._steps_settled_on(ids)) | last

    def ids_of(self, keys: Any) -> NDArray[np.int64]:
        """The examples held that bear a key, or one of several, in order of arrival."""
        wanted = read_wanted(keys)
        found: NDArray[np.int64] = self.steps[-1][1].ids_of(keys)
        if self._held is None:
            return found
        return np.union1d(found, self._held.ids_of(wanted))  # held to be learned again

    def keys_held(self) -> list[Key]:
        """Every key that an example held bears, once."""
        found: list[Key] = self.steps[-1][1].keys_held()
        waiting = [] if self._held is None else self._held.keys_held()
        return list(dict.fromkeys([*found, *waiting]))

    def kkt_residual(self) -> float:
        """How far the last step is from optimal, over the examples it holds, where it can tell."""
        return float(self.steps[-1][1].kkt_residual())

    def objective(self) -> float:
        """The value of the problem that the last step solves, where it can tell."""
        return float(self.steps[-1][1].objective())

    def can(self, verb: str) -> bool:
        """Whether the last step offers ``"unlearn"``, ``"kkt_residual"`` or ``"objective"``."""
        return bool(self.steps[-1][1].can(verb))

    # --- what it knows ------------------------------------------------------------------------

    @property
    def n_seen_(self) -> int:
        """Examples that arrived, those of weight 0 included."""
        return int(self.steps[-1][1].n_seen_)

    @property
    def nbytes_(self) -> int:
        """Bytes held by all steps, and by rows held back."""
        held = 0 if self._held is None else self._held.nbytes
        kept = sum(part.nbytes for part in self._kept)
        return sum(int(step.nbytes_) for _, step in self.steps) + held + kept

    @property
    def settled_(self) -> bool:
        """Whether every step that warms up has done so."""
        check_is_fitted(self)
        return self._held is None

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the columns, where the first rows had some."""
        if self._names is None:
            raise AttributeError("OnlinePipeline has no feature_names_in_: its rows have no names")
        return np.array(self._names, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.steps and isinstance(self.steps[0], tuple | list):  # the first takes the rows
            first = self.steps[0][1].__sklearn_tags__().input_tags
            tags.input_tags.allow_nan, tags.input_tags.string = first.allow_nan, first.string
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return bool(self.steps) and bool(self.steps[-1][1].__sklearn_is_fitted__())

    def __getitem__(self, which: Any) -> Any:
        """A step by name or number; a slice is a pipeline of the same steps."""
        if isinstance(which, slice):
            return type(self)(self.steps[which])
        return dict(self.steps)[which] if isinstance(which, str) else self.steps[which][1]

    # --- persistence --------------------------------------------------------------------------

    def __copy__(self) -> OnlinePipeline:
        """A copy that goes its own way, since the last step learns in place."""
        state = self._live_state()
        twin = type(self)(state.pop("steps"), keep_rows=state.pop("keep_rows", False))
        twin.__dict__.update(state)
        return twin

    def _detached(self, state: dict[str, Any]) -> dict[str, Any]:
        steps = [(name, copy.copy(step)) for name, step in state["steps"]]
        settled = tuple(step for _, step in steps) if state.get("_settled") else ()
        return state | {"steps": steps, "_settled": settled}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all steps to one file, whole or not at all; :func:`onlinesvm.load` reads it.

        Loaded, it goes on as if it had never stopped, bit for bit, in the middle of a warm-up, too.
        """
        self._demand_steps()
        write(path, "OnlinePipeline", self._arrays())

    def _arrays(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {}
        with self._register:
            for i, (_, step) in enumerate(self.steps):
                arrays |= {f"step{i}.{name}": array for name, array in step._arrays().items()}
            facts = {
                "steps": [[name, type(step).__name__] for name, step in self.steps],
                "names": self._names,
                "classes": self._classes,
                "held": None if self._held is None else self._held.to_facts(),
                "settled_by": None if self._settled_by is None else self._settled_by.runs,
                "removed_from": list(self._removed_from),
            }
            if self.keep_rows:
                came = functools.reduce(Held.and_then, self._kept, Held.nothing())
                facts |= {"keep_rows": True, "kept": came.to_facts()}
        text = json.dumps({k: to_json(k, v) for k, v in facts.items()}, allow_nan=False)
        arrays["facts"] = np.frombuffer(text.encode(), dtype=np.uint8)
        return arrays

    @classmethod
    def _from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> OnlinePipeline:
        text = arrays.pop("facts").tobytes()
        facts = {name: from_json(value) for name, value in dict(json.loads(text)).items()}
        unsaid: dict[str, Any] = {
            "settled_by": None,
            "removed_from": [],
            "keep_rows": False,
            "kept": None,
        }
        facts = unsaid | facts
        if facts.keys() != {"steps", "names", "classes", "held", *unsaid}:
            raise ValueError("its pipeline has other facts than it should")
        steps = []
        for i, (name, kind) in enumerate(facts["steps"]):
            if not isinstance(name, str) or not isinstance(kind, str) or kind == "OnlinePipeline":
                raise ValueError("its steps are not names and classes")
            start = f"step{i}."
            own = {k: arrays.pop(k) for k in [k for k in arrays if k.startswith(start)]}
            steps.append((name, rebuilt(kind, {k.removeprefix(start): v for k, v in own.items()})))
        if arrays:
            raise ValueError("it has arrays of steps that it does not have")
        model = cls(steps, keep_rows=check_flag("keep_rows", facts["keep_rows"]))
        model._demand_steps()
        if len({bool(step.__sklearn_is_fitted__()) for _, step in steps}) > 1:
            raise ValueError("some of its steps have learned, and others have not")
        names = facts["names"]
        if names is not None and (
            not isinstance(names, list) or not all(isinstance(name, str) for name in names)
        ):
            raise ValueError("its column names are no list of strings")
        if names is not None and len(set(names)) < len(names):
            raise ValueError("its column names are not distinct")
        model._names, model._classes = names, facts["classes"]
        model._settled_by = IdRuns.from_fact(facts["settled_by"])
        model._removed_from = _known_steps(facts["removed_from"], steps)
        if facts["kept"] is not None:
            model._kept = _kept((), Held.from_facts(facts["kept"]))
        if facts["held"] is not None:
            model._held = Held.from_facts(facts["held"])
            if model._held.counted >= model._warm_up_rows():
                raise ValueError("it holds more rows than its warm-up takes")
        return model


def make_online_pipeline(*steps: Any, keep_rows: bool = False) -> OnlinePipeline:
    """An :class:`OnlinePipeline` of these steps, named after their classes.

    Examples
    --------
    >>> from onlinesvm import OnlineScaler, SGDSVC, make_online_pipeline
    >>> list(make_online_pipeline(OnlineScaler(), SGDSVC()).named_steps)
    ['onlinescaler', 'sgdsvc']
    """
    return OnlinePipeline(make_pipeline(*steps).steps, keep_rows=keep_rows)


def _kept(before: tuple[Held, ...], more: Held) -> tuple[Held, ...]:
    """The rows kept, these included: parts of falling size, so that none is copied often."""
    parts = [*before, Held.nothing().and_then(more)] if len(more) else list(before)
    while len(parts) > 1 and len(parts[-2]) <= len(parts[-1]):
        parts[-2:] = [parts[-2].and_then(parts[-1])]
    return tuple(parts)


def _known_steps(names: Any, steps: list[tuple[str, Any]]) -> tuple[str, ...]:
    """Names of steps from a file, which is not to be trusted."""
    if not isinstance(names, list) or not set(names) <= {name for name, _ in steps[:-1]}:
        raise ValueError("rows were removed from steps that it does not have")
    return tuple(names)


def _by_step(steps: dict[str, str]) -> dict[str, str]:
    """Steps as a certificate names them."""
    return {f"step {name!r}": kind for name, kind in steps.items()}


def _next_look(counted: int, warm_up: int) -> int:
    """The number of examples after which all is learned afresh the next time."""
    return min(1 << counted.bit_length(), warm_up)


def _learn(last: Any, rows: Any, batch: Held, classes: Any) -> None:
    named = {"classes": classes} if classes is not None and not last.__sklearn_is_fitted__() else {}
    ids: Any = batch.ids
    if ids[0] == last._next_id and (np.diff(ids) == 1).all():  # it gives these by itself
        ids = None
    w = batch.weights
    last.partial_fit(rows, batch.targets, sample_weight=w, ids=ids, keys=batch.keys, **named)


def _through(step: Any, rows: Any) -> Any:
    """The rows as a step hands them on: dicts stay dicts as long as names may come."""
    features = step._features(rows)
    if step._vocabulary is None or not sp.issparse(features):
        return features
    names = step._names_out()
    return [record_of(features, i, names) for i in range(features.shape[0])]


def _column(name: str, y: Any, n: int) -> NDArray[Any]:
    column = np.asarray(y)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1 or len(column) != n:
        raise ValueError(f"{name} must be one entry for each of the {n} rows of X")
    return column
