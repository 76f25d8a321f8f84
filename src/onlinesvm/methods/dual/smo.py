"""SMO: the batch SVM, from nothing or from where it stands."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...core import Floats, Ids
from ...model.classifier import OnlineClassifier
from ...model.groups import FreeBias, Multiclass, SoftMargin
from ...model.parameters import count, inherit, word
from ...model.progress import LiveGap, Progress
from ...unlearn.certificate import EXACT
from .start import begin_at


class SmoSVC(SoftMargin, FreeBias, Multiclass, OnlineClassifier):
    """SMO (Platt; Fan, Chen & Lin): ``SVC`` in a fraction of its time, and it goes on.

    The batch SVM: :meth:`fit` takes all rows together and steps, two coefficients at a time, until
    the optimality conditions hold within ``tol``. :meth:`partial_fit` adds rows and goes on from
    the solution at hand, :meth:`unlearn` takes rows away and does the same, so that small changes
    cost little. Prefer it where data come in large batches; where the model must be right after
    every single example, :class:`IncrementalSVC` is faster and sharper.

    Every call is solved as a whole: cutting a stream into other batches leads to the same solution
    within ``tol``, not to the same bits. All rows are kept. A step costs one pass over the working
    set; memory is the rows, a few numbers for each, and the cache of kernel values.

    Attributes
    ----------
    n_iter_ : array, the steps of the last call by output

    References
    ----------
    J. Platt: Fast Training of Support Vector Machines using Sequential Minimal Optimization. 1999.
    R.-E. Fan, P.-H. Chen, C.-J. Lin: Working Set Selection Using Second Order Information for
    Training Support Vector Machines. Journal of Machine Learning Research 6, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from onlinesvm import SmoSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (600, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    >>> model = SmoSVC(C=10, gamma=4).fit(X[:400], y[:400])
    >>> batch = SVC(C=10, gamma=4).fit(X[:400], y[:400])
    >>> print(f"{model.score(X[400:], y[400:]):.2f} {batch.score(X[400:], y[400:]):.2f}")
    0.96 0.96
    >>> model.partial_fit(X[400:], y[400:]).kkt_residual() <= model.tol
    True
    """

    _stem = "Smo"
    _claim = EXACT
    _any_cut_gives = "solution"
    _solves_calls = True
    _optimal_after = ("learn", "unlearn")

    order: Literal["second", "first"] = word(
        default="second",
        words=("second", "first"),
        doc="""Which example steps with the one that violates most: the partner of the best step, or
        the one that violates most the other way. ``"second"`` needs fewer steps.""",
    )
    max_iter: int | None = count(
        default=None,
        at_least=1,
        none=2**62,
        doc="""At most so many steps per output and call; then a ``ConvergenceWarning`` says so and
        the model is the best so far.""",
    )
    verbose: bool = inherit(
        default=False,
        doc="""Show a live bar when solving takes long. Ctrl-C stops at once; the model is then that
        of the last whole round of steps, and the next ``partial_fit`` goes on from it.""",
    )

    @property
    def n_iter_(self) -> NDArray[np.int64]:
        """Steps of the last call, by output, or by pair of classes."""
        return self._by_machine(np.asarray(self._fitted_core("n_iter_").steps()))

    # Coefficients by id that the next solution begins at; None: wherever the solver stands.
    _start: tuple[Ids, Floats] | None = None

    def _end_call(self, verb: Literal["learn", "unlearn"], changes: int) -> None:
        if verb == "unlearn":
            self._solve()
            self._warn_if_capped()
        super()._end_call(verb, changes)

    def _solve(self) -> None:
        if self._start is not None:
            kernel = self._core_settings["kernel"]
            begin_at(self._core, kernel, *self._start, balanced=self.bias == "free")
            self._start = None
        with LiveGap(type(self).__name__, self.tol) if self.verbose else Progress() as progress:
            going = True
            while going:
                going = self._core.improve()
                progress.narrow(self._core.gap, int(self._core.steps().sum()))

    def _progress(self, total: int) -> Progress:
        return Progress()  # taking the rows in is quick; the bar is for solving
