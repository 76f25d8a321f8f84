"""StreamSVM: a ball that grows around the stream, and its centre is the classifier."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ...data.batch import Batch
from ...data.rows import Rows, SparseRows
from ...model.classifier import OnlineClassifier
from ...model.groups import KernelBias, LinearOrKernel, PassByPass
from ...model.locking import locked
from ...model.parameters import count, flag, inherit, number, word
from ...model.passes import one_pass

#: Examples that wait for the next exact ball, unless told otherwise.
_LOOKAHEAD = 50
#: An ellipsoid in so many dimensions takes 128 MB for each output.
_MOST_DIMENSIONS = 4096


class StreamSVC(KernelBias, LinearOrKernel, PassByPass, OnlineClassifier):
    """StreamSVM (Rai, Daume & Venkatasubramanian): one pass, one vector, one guarantee.

    For streams that one pass must do, on machines that share no memory: a linear model is one
    weight vector, handles millions of rows a second, and :meth:`merge` joins models of parts of a
    stream into one. One pass suits clean, standardised data of few classes, for what counts is the
    rim of the data, not its mass: an early outlier or a wrong label widens the ball for good. Where
    ``partial_fit`` has to deal with noise, :class:`PassiveAggressiveClassifier` or
    :class:`PegasosSVC` is more accurate. :meth:`fit`, which makes passes, is their equal, but for
    raw rows that differ little once they have length one, as on electricity: raise ``C`` there.
    Where no straight line parts the classes, it too may end below the majority: take a kernel.

    Every example is a point; the centre of the smallest ball around all points is the weight
    vector of an SVM with squared slack. One pass keeps a ball around everything seen, drops what is
    inside after one look, and ``radius_bound_`` says how much wider than the smallest it can be:
    never more than 3/2 as wide with the default single ball. :meth:`fit` goes on from pass to pass
    until the ball is the smallest, within ``tol``, hence the SVM itself.

    One pass learns the more slowly the lighter the lightest example is, as it does with a small
    ``C``: better weigh one class by 10 than the other by 0.1. :meth:`fit` does not mind. More than
    two classes are learned one against the rest; one that appears late has not seen the examples
    before it.

    Attributes
    ----------
    radius_ : array, the radius of each output's ball; it never falls. An ellipsoid has none
    radius_bound_ : array, the smallest ball around all examples learned is at least ``radius_``
        divided by this

    References
    ----------
    P. Rai, H. Daume III, S. Venkatasubramanian: Streamed Learning: One-Pass SVMs. IJCAI 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import StreamSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 5))
    >>> y = np.where(X @ [1, -2, 0, 1, 0.5] > 0, "spam", "ham")
    >>> halves = [StreamSVC(lookahead=10).fit(X[a : a + 500], y[a : a + 500]) for a in (0, 500)]
    >>> model = halves[0].merge(halves[1])
    >>> print(model.n_seen_, f"{model.score(X[1000:], y[1000:]):.2f}")
    1000 0.99
    """

    _stem = "StreamSVM"

    C: float = number(
        default=1.0,
        above=0,
        kw_only=False,
        doc="Weight of an error against a wide margin, > 0. Sample weights multiply it.",
    )
    lookahead: int | None = count(
        default=None,
        at_least=1,
        none=None,
        doc="""L of algorithm 2: so many examples outside the ball are collected before it is
        replaced by the exact ball around all of them; None is 50, or 1 with several balls or an
        ellipsoid. 1 is algorithm 1. An ellipsoid takes in the farthest of them, and again, until
        none is outside. Until then the collected examples do not count in predictions;
        :meth:`flush` lets them in.""",
    )
    balls: int = count(
        default=1,
        at_least=1,
        doc="""Keep up to so many balls, uniting the closest two when another is needed; the exact
        ball around them predicts. 3/2 does not hold for more than one; ``radius_bound_`` does. All
        examples must have one weight then: a ball of many light ones would outdo the heavy.
        ``lookahead`` or ``balls`` must be 1.""",
    )
    normalize: bool = flag(
        default=True,
        doc="""Bring all examples to length one in feature space while learning. Only points of
        equal length make the ball an SVM. The decision stays linear in ``x`` as it is.""",
    )
    shape: Literal["ball", "ellipsoid"] = word(
        default="ball",
        words=("ball", "ellipsoid"),
        core=None,
        doc="""``"ellipsoid"`` keeps the smallest ellipsoid of its kind around everything seen
        (section 6.2 of the paper): one pass, ``n_features^2`` numbers and operations, dense rows of
        a linear kernel without weights, one body that cannot be merged. No bound on it is known;
        docs/papers/stream_svm.md has figures.""",
    )
    bias: Literal["none", "kernel"] = inherit(
        default="kernel",
        doc='``"kernel"`` adds 1 to the kernel, a regularised bias; the paper has none.',
    )
    max_iter: int = inherit(
        default=1000,
        doc="""Passes of :meth:`fit` over its rows, at most; a ``ConvergenceWarning`` tells when
        they were not enough. 1 is the paper's one pass, as ``partial_fit`` and ``learn_one`` make
        it, and with several ``balls`` or an ellipsoid one is all there are. With a kernel each
        costs a kernel value for every row and example kept: :class:`CoreVectorSVC` finds the same
        ball by fewer.""",
    )
    tol: float = number(
        default=1e-2,
        above=0,
        core=None,
        doc=""":meth:`fit` ends with a pass in which no example is farther out than the radius, nor
        one with a share in the centre farther in, by more than ``tol`` times the squared length of
        the centre or, where that is smaller, the squared radius.""",
    )

    def _core_params(self, n_features: int) -> dict[str, Any]:
        settings = super()._core_params(n_features)
        balls, lookahead = settings["balls"], settings["lookahead"]
        if self.shape == "ellipsoid":
            self._demand_an_ellipsoid(n_features)
            own = {name: settings[name] for name in ("C", "normalize", "kernel")}
            return own | {"lookahead": lookahead or 1}
        if lookahead is None:
            settings["lookahead"] = _LOOKAHEAD if balls == 1 else 1
        elif lookahead > 1 and balls > 1:
            raise ValueError(
                f"lookahead={lookahead} and balls={balls} exclude each other; set one of them to 1"
            )
        return settings

    def _demand_an_ellipsoid(self, n_features: int) -> None:
        """A ValueError for what only a ball can."""
        for name, one in (("kernel", "linear"), ("balls", 1)):
            value = getattr(self, name)
            if value not in (one, None):
                raise ValueError(
                    f"{name}={value!r} is for shape='ball', an ellipsoid takes {name}={one!r}; "
                    "set one of the two"
                )
        if n_features > _MOST_DIMENSIONS:
            raise ValueError(
                f"shape='ellipsoid' keeps n_features^2 numbers: X has {n_features} features, at "
                f"most {_MOST_DIMENSIONS} are allowed; choose shape='ball'"
            )

    def _core_stem(self) -> str:
        return "EllipsoidSVM" if self.shape == "ellipsoid" else self._stem

    def _check_kernel_takes(self, rows: Rows) -> None:
        super()._check_kernel_takes(rows)
        if self.shape == "ellipsoid" and isinstance(rows, SparseRows):
            raise ValueError(
                "X is sparse, which shape='ellipsoid' cannot take; pass dense rows, or choose "
                "shape='ball'"
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse &= self.shape != "ellipsoid"
        return tags

    def _pass_by_pass(self, batch: Batch) -> bool:
        if self.max_iter == 1 or self.balls > 1 or self.shape == "ellipsoid":
            one_pass(self, batch, 1)
            self._core.flush()
            return True
        n = len(batch.rows)
        self._admit_labels(batch, n - 1, publish=True)  # each example has a share in every output
        batch = replace(batch, ids=np.arange(n), arrivals=())
        self._core.revisit(n, self.tol)
        try:
            done = super()._pass_by_pass(batch)
            self._core.measure()
            self._next_id = self._id_gap = 0
            self._learn(batch)
        finally:
            self._core.settle()
        return done

    def flush(self) -> Self:
        """Let the collected examples in now; the next ``lookahead`` are counted from here.

        Worth calling at the end of a stream, before its model is used for long.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self._ready()
        self._core.flush()
        return self

    def merge(self, other: StreamSVC) -> Self:
        """Take in what another model learned from another part of the stream.

        The new ball is the smallest around the two, so it holds every example that either model
        has seen. It need not be within 3/2 of the smallest around those examples: two balls within
        a factor r of theirs give one within r + 1, and ``radius_bound_`` has the figure of this
        one. Both need the same parameters, classes and features. Collected examples are let
        in first; ``other`` itself stays as it is, and the ids of its examples go up by the number
        of ids handed out here.

        Parameters
        ----------
        other : StreamSVC

        Returns
        -------
        self
        """
        check_is_fitted(self)
        if not isinstance(other, StreamSVC) or other is self:
            raise ValueError(f"other must be another StreamSVC, got {other!r}")
        check_is_fitted(other)
        for model in (self, other):
            model._demand_whole("merge")
        if "ellipsoid" in (self.shape, other.shape):
            raise NotImplementedError(
                "StreamSVC with shape='ellipsoid' cannot merge: no small ellipsoid around two is "
                "known; StreamSVC with shape='ball' can."
            )
        if self._is_pairwise():
            raise NotImplementedError(
                "StreamSVC with kernel='precomputed' cannot merge: it gives the other's examples "
                "new ids, and an id names a column of X; with a kernel of features it can."
            )
        with locked(self, other):
            self._ready()
            self._demand_alike(other)
            numbers = [other._labels.codes[name] for name in self._labels.codes]
            self._core.merge(other._core, self._next_id, np.array(numbers, dtype=np.int64))
            self._next_id += other._next_id
            self._id_gap += other._id_gap
            self._held = None  # the other's first examples are not here to be learned again
            self._set_fast_path()
        return self

    def _demand_alike(self, other: StreamSVC) -> None:
        mine, theirs = (
            {
                "core": (model._core_name, model._core_settings),
                "classes_": model.classes_.tolist(),
                "features": [
                    model._facts()[fact] for fact in ("n_features_in", "vocabulary", "sparsely")
                ],
            }
            for model in (self, other)
        )
        for what in mine:
            if mine[what] != theirs[what]:
                what = "parameters" if what == "core" else what
                raise ValueError(f"other has other {what}; both models must be set up alike")

    @property
    def radius_(self) -> NDArray[np.float64]:
        """The radius of each output's ball; with several balls, of the one around them."""
        radius = self._offered("radius", "radius_", "an ellipsoid has none")
        return self._labels.columns(np.asarray(radius()))

    @property
    def radius_bound_(self) -> NDArray[np.float64]:
        """How many times as wide as the smallest ball around the examples each ball is at most.

        The kept centre is a convex combination of the examples, hence a feasible point of the
        smallest ball's dual, and the best dual value met so far is a lower bound on its radius:
        true after any stream, any ``lookahead``, any number of ``balls`` and any :meth:`merge`.
        Collected examples that were not let in yet do not count.
        """
        bound = self._offered("radius_bound", "radius_bound_", "none is known of an ellipsoid")
        return self._labels.columns(np.asarray(bound()))
