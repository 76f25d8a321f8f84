"""OISVM: the SVM of all examples seen, in the span of a few independent ones."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import ClassVar, Literal

from sklearn.exceptions import ConvergenceWarning

from ...model.classifier import OnlineClassifier
from ...model.estimator import OnlineEstimator
from ...model.groups import FreeBias, WithBudget
from ...model.parameters import count, inherit, number
from ...model.regressor import OnlineRegressor
from ...model.room import room


class IndependentModel(WithBudget, FreeBias, OnlineEstimator):
    """The optimum over the examples held among functions of a small basis of examples."""

    _attributes: ClassVar[Mapping[str, str]] = {
        "support_": "ids of the basis, in order of arrival; -1 where the example is held no more",
        "support_vectors_, dual_coef_": "the basis and its coefficients, ``beta``",
    }

    C: float = number(
        default=1.0,
        above=0,
        kw_only=False,
        doc="Weight of a squared error against a small norm, > 0. Sample weights multiply it.",
    )
    eta: float = number(
        default=0.1,
        at_least=1e-6,
        doc="""An example joins the basis if its squared distance to the span of those before, in
        the space of the kernel, is more than this, >= 1e-6. For rbf, laplacian and chi2 the squared
        length of every example is 1, for others ``eta`` is to be chosen with the scale of k(x, x).
        The smaller, the closer to the machine that uses all examples, and the slower. What is less
        than 1e-6 of k(x, x) is taken for rounding, in float32 1.2e-4.""",
    )
    budget: int | str | None = room(
        default=None,
        doc="""Vectors in the basis at most, >= 2: when it is full, nothing more joins. Or the
        memory of the model, such as ``"64MB"``, which ``nbytes_`` then does not exceed: without a
        ``window``, one of ten times the basis is kept. None lets ``eta`` decide, which bounds the
        basis wherever the examples come from a bounded region.""",
    )
    window: int | None = count(
        default=None,
        at_least=1,
        none=0,
        doc="""Examples whose errors count, the newest ones; an older one leaves the problem, but
        its place in the basis stays. None keeps all.""",
    )
    max_rounds: int = count(
        default=20,
        at_least=1,
        doc="""Newton steps after one change. Where they do not suffice, a ``ConvergenceWarning``
        says so, and the model is valid but not optimal.""",
    )
    dtype: Literal["float32", "float64"] = inherit(
        default="float64",
        doc="Type of the stored examples and kernel values; the solution is float64 throughout.",
    )

    # It solves equations in the squares of kernel values.
    _far: ClassVar[Mapping[str, float]] = {"float32": 1e6, "float64": 1e6}

    def _warn_if_capped(self) -> None:
        if self._core.capped:
            warnings.warn(
                f"{type(self).__name__} stopped after max_rounds={self.max_rounds} Newton steps; "
                "raise max_rounds, scale the features, or lower C",
                ConvergenceWarning,
                stacklevel=4,
            )


class IndependentSVC(IndependentModel, OnlineClassifier):
    """OISVM (Orabona et al.): the optimum over every example seen, and a model of a few dozen.

    Support vectors of an SVM grow with the stream; those of this machine stop growing. An example
    joins the basis only if it is independent of the ones before, and all examples, joined or not,
    decide about the coefficients: after each of them the model is the exact minimum of the squared
    hinge loss in the span of the basis, so that predicting is fast and little accuracy is lost.
    Prefer it where the model must be small and the labels are not too noisy;
    :class:`BudgetedSVC` takes less time per example and forgets what it has seen.

    The price: the examples are kept, each with its kernel values to the basis, so memory grows with
    examples times basis unless there is a ``window``; with ``budget`` and ``window`` it is bounded.
    An example costs time with the square of the basis, and more where it is an error. With many
    features nearly every example is independent: raise ``eta``, or set ``budget``.
    :meth:`unlearn` takes an example's error out of the problem and solves it again; if the example
    is in the basis, its vector stays there, without its id. :meth:`kkt_residual` is the largest
    entry of the gradient. More than two classes share the basis, one against the rest.

    References
    ----------
    F. Orabona, C. Castellini, B. Caputo, L. Jie, G. Sandini: On-line independent support vector
    machines. Pattern Recognition 43 (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import IndependentSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(3000, 2))
    >>> y = np.where(np.hypot(*X.T) < 2, "near", "far")
    >>> model = IndependentSVC(C=10, gamma=0.5)
    >>> model = model.partial_fit(X[:2000], y[:2000], classes=["far", "near"])
    >>> print(f"{model.score(X[2000:], y[2000:]):.3f}", len(model.support_))
    0.990 44
    """

    _stem = "IndependentClassifier"


class IndependentSVR(IndependentModel, OnlineRegressor):
    """OISVM for regression: the optimum over every example seen, and a model of a few dozen.

    After each example the model is the exact minimum of the squared epsilon-insensitive loss over
    all examples held, in the span of a basis that takes in only independent ones. Prefer it where a
    kernel regression must be accurate, small and quick to predict; :class:`PokerSVR` keeps the
    exact epsilon-SVR, :class:`BudgetedSVR` takes a step per example in memory that never grows.

    The price: the examples are kept, each with its kernel values to the basis, so memory grows with
    examples times basis unless there is a ``window``. Most examples lie outside a narrow tube, and
    each of them costs time with the square of the basis. :meth:`unlearn` takes an example's error
    out of the problem; if the example is in the basis, its vector stays there, without its id.

    References
    ----------
    F. Orabona, C. Castellini, B. Caputo, L. Jie, G. Sandini: On-line independent support vector
    machines. Pattern Recognition 43 (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import IndependentSVR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(600, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 600)
    >>> model = IndependentSVR(C=10, gamma=1.0).partial_fit(X[:500], y[:500])
    >>> print(f"{model.score(X[500:], y[500:]):.2f}", len(model.support_))
    0.98 9
    """

    _stem = "IndependentRegressor"

    epsilon: float = number(
        default=0.1, at_least=0, doc="Errors up to this size cost nothing, >= 0."
    )
