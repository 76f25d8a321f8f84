"""Semi-online SVMs: trained again on what they kept and what has come since."""

from __future__ import annotations

from typing import Any, Literal

from ... import forgetting
from ...forgetting import Forgetting
from ...model.classifier import OnlineClassifier
from ...model.groups import TowardsOptimum, WithBudget
from ...model.parameters import count, inherit, special, word
from ...model.room import UNBOUNDED, room


class Retrained(TowardsOptimum, OnlineClassifier):
    """A batch SVM over the examples kept and those that waited, each time enough of them wait."""

    _optimal_after = ("learn", "unlearn")

    chunk: int = count(
        default=100,
        at_least=1,
        doc="""So many examples wait until the machine is trained again, >= 1. Counted in examples,
        whatever the calls: any cut of a stream gives the same bits. Those that wait do not count in
        the decision; :meth:`finish` trains on them now, and :meth:`fit` ends with it. While a class
        is missing the newest ``chunk`` wait, and the decision is the class there is, until another
        ``chunk`` has come: a stream sorted by label forgets much of its first class.""",
    )
    tol: float = inherit(
        default=1e-3,
        doc="""After each training no example kept violates its optimality condition by more. Where
        that is not reached, a ``ConvergenceWarning``. :meth:`kkt_residual` measures it over the
        examples kept, without those that wait.""",
    )
    max_iter: int = inherit(
        default=1,
        doc="""Passes of :meth:`fit` over its rows, at most; 1 is the paper's. With more, until one
        meets no violator, examples that were dropped too early come back.""",
    )


class FixedPartitionSVC(Retrained):
    """Fixed partition (Syed, Liu, Sung): the batch SVM you trust, on a stream, chunk by chunk.

    The stream is cut into chunks; the SVM of each is trained together with the support vectors of
    those before, and what supports nothing is dropped. After the first chunk this is the SVM
    itself; later it is the SVM of the examples kept, with no bound on how far that is from the
    SVM of all that passed. Near it where labels are clean; where they are not, wrong labels
    support and are kept, right ones are dropped, and larger chunks help.

    A chunk costs one quadratic program over the support vectors and the chunk, begun where the
    last one ended. Support vectors grow with the stream where labels are noisy:
    :class:`ForgettingSVC` bounds them. Where the model must be up to date after every example,
    take :class:`LASVC`.

    References
    ----------
    N. Syed, H. Liu, K. Sung: Incremental Learning with Support Vector Machines. IJCAI Workshop on
    Support Vector Machines, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from onlinesvm import FixedPartitionSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (600, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    >>> model = FixedPartitionSVC(C=10, gamma=4).fit(X[:400], y[:400])
    >>> batch = SVC(C=10, gamma=4).fit(X[:400], y[:400])
    >>> print(f"{model.score(X[400:], y[400:]):.2f} {batch.score(X[400:], y[400:]):.2f}")
    0.96 0.96
    """

    _stem = "Retrain"

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return super()._core_params(n_features) | {"rule": "all"} | _UNBOUNDED


class ErrorDrivenSVC(Retrained):
    """Error-driven SVM (Domeniconi, Gunopulos): trains again only when it has reason to.

    An example that the machine gets right, with the margin it wants, passes and costs one
    prediction. The others wait, and when ``chunk`` of them do, the SVM is trained on them and its
    support vectors. On an easy stream trainings become rare.

    What passed is gone: no bound says how far the model is from the SVM of all examples. Support
    vectors grow with the stream where labels are noisy, and then nearly every wrong label waits.
    :class:`RampSVC` bears such labels.

    References
    ----------
    C. Domeniconi, D. Gunopulos: Incremental Support Vector Machine Construction. IEEE
    International Conference on Data Mining, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import ErrorDrivenSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (1600, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    >>> model = ErrorDrivenSVC(C=10, gamma=4).fit(X[:1400], y[:1400])
    >>> print(f"{model.score(X[1400:], y[1400:]):.2f}")
    0.99
    """

    _stem = "Retrain"

    rule: Literal["margin", "error"] = word(
        default="margin",
        words=("margin", "error"),
        doc="""Who waits: with ``"margin"`` examples with ``y f(x) <= 1``, with ``"error"`` only
        those the machine gets wrong, ``y f(x) <= 0``. Wrong labels are wrong answers, so that
        ``"error"`` collects them and little else: take it where labels are clean.""",
    )
    chunk: int = inherit(default=50)

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return super()._core_params(n_features) | _UNBOUNDED


class ForgettingSVC(WithBudget, Retrained):
    """Memory-controlled SVM: the fixed partition on a budget, for streams without end.

    As :class:`FixedPartitionSVC`, but after each training no more than ``budget`` examples are
    kept: the others go by a policy of your choice, never the last of a class, and the rest is
    trained again. Never more than ``budget + chunk`` examples are held, whatever the stream.

    The price: the examples that support a decision are no fair sample of the stream, so a budget
    far below their number costs accuracy, how much is up to the policy. ``"outlier_first"`` lost
    least wherever it was tried, also on streams that drift; ``"oldest"`` is a plain window over the
    support vectors; ``"least_significant"`` ruins a soft margin. The model is the SVM of what it
    holds; :class:`BudgetedSVC` sums up the whole stream instead, but cannot unlearn.

    Attributes
    ----------
    evicted_ : int, examples given up for ``budget``

    References
    ----------
    A. Pronobis, L. Jie, B. Caputo: The More you Learn, the Less you Store: Memory-controlled
    Incremental SVM for Visual Place Recognition. Image and Vision Computing 28, 2010.
    M. Ullah, F. Orabona, B. Caputo: You Live, You Learn, You Forget: Continuous Learning of Visual
    Places with a Forgetting Mechanism. IROS, 2009.
    D. Tax, P. Laskov: Online SVM Learning: from Classification to Data Description and Back. 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import ForgettingSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (5200, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    >>> model = ForgettingSVC(C=10, gamma=4, budget=60, classes=[-1, 1])
    >>> model = model.partial_fit(X[:5000], y[:5000])
    >>> print(f"{model.score(X[5000:], y[5000:]):.2f}", len(model.support_) <= 60)
    0.99 True
    """

    _stem = "Retrain"

    budget: int | str | None = room(
        default=500,
        doc="""So many examples are kept at most, >= 2 and no less than there are classes; besides,
        fewer than ``chunk`` wait. Or the memory of the model, such as ``"64MB"``, which ``nbytes_``
        then does not exceed; a quarter of it is for kernel rows.""",
    )
    forget: str | Forgetting = special(
        default="oldest",
        type='{"oldest", "random", "least_significant", "linear_dependence", "outlier_first"} '
        "or policy",
        check=lambda _, forget: forgetting.resolve(forget),
        bad=["no such word", 3],
        doc="""Who goes: the ``"oldest"``, by arrival; ``"random"`` ones whose loss the newest chunk
        bears; the ``"least_significant"``, for clean labels; those of ``"linear_dependence"`` on
        others, which take over what they contributed; the ``"outlier_first"``, then the oldest. See
        :mod:`onlinesvm.forgetting`.""",
    )

    def _core_params(self, n_features: int) -> dict[str, Any]:
        policy = forgetting.resolve(self.forget).core_params()
        return super()._core_params(n_features) | {"rule": "all"} | policy

    @property
    def evicted_(self) -> int:
        """Examples given up for ``budget`` so far."""
        return int(self._fitted_core("evicted_").evicted)


_UNBOUNDED = UNBOUNDED | forgetting.Oldest().core_params()
