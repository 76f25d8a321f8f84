"""Parameters of kernel methods, and of those that keep the examples their solution is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from ..kernels import NAMES, KernelFunction, check_kernel
from .compress import Compressible
from .estimator import OnlineEstimator
from .parameters import count, inherit, number, size, special, word


class WithGamma(OnlineEstimator):
    """A learner whose kernel has a ``gamma``, which may be a word that the examples settle."""

    _attributes: ClassVar[Mapping[str, str]] = {
        "gamma_": "float, the value of ``gamma`` in use, where the kernel has one",
    }

    gamma: float | Literal["scale", "auto"] = number(
        default="scale",
        above=0,
        words={"scale": None, "auto": None},
        core="kernel.gamma",
        doc="""Of rbf, poly, laplacian and chi2; the words are scikit-learn's:
        ``1 / (n_features X.var())`` and ``1 / n_features``. ``fit`` takes them from its rows. A
        stream settles them on its first 256 examples, learned afresh after 1, 2, 4, ..., and keeps
        the value from then on; it warns once if the rows so far would give one 10 times as large or
        small. Where the scale of later rows is known beforehand, a number is better.""",
    )

    def _core_params(self, n_features: int) -> dict[str, Any]:
        settings = super()._core_params(n_features)
        kernel = settings["kernel"]
        if kernel["gamma"] is None:  # until the rows say what the word means
            kernel["gamma"] = 1.0 / max(1, n_features)
        return settings


class AnyKernel(WithGamma):
    """A learner that sees examples through a kernel of the user's choice."""

    kernel: str | KernelFunction = special(
        default="rbf",
        type="callable",
        words=NAMES,
        check=check_kernel,
        bad=["no such word", 3],
        doc="""A callable ``k(x, X)`` gives the values of one example against the rows of ``X``.
        With ``"precomputed"`` rows are kernel values, as in scikit-learn: ``fit`` takes the square
        matrix of all examples; a stream, rows with a column for each example there will ever be,
        column j for the one with id j.""",
    )
    degree: int = count(
        default=3, at_least=1, core="kernel.degree", doc="Of the polynomial kernel."
    )
    coef0: float = number(
        default=0.0, at_least=0, core="kernel.coef0", doc="Constant of the polynomial kernel, >= 0."
    )

    def _core_params(self, n_features: int) -> dict[str, Any]:
        settings = super()._core_params(n_features)
        kernel = settings["kernel"]
        kernel.setdefault("offset", 0.0)
        kernel["degree"] = float(kernel["degree"])
        if callable(self.kernel):
            return settings | {"kernel": {"name": "function", "function": self.kernel, **kernel}}
        return settings | {"kernel": {"name": self.kernel, **kernel}}


class KernelMethod(AnyKernel, Compressible):
    """A learner whose solution is made of examples, each with a coefficient."""

    _attributes: ClassVar[Mapping[str, str]] = {
        "support_": "ids of the support vectors",
        "support_vectors_, dual_coef_": "the vectors and their signed coefficients",
        "intercept_": "array, the bias of each output",
        "coef_": "array, the weights of each output; with a linear kernel only",
        "compression_": "how far a copy made by :meth:`compress` may be from its model",
    }

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights of each output, with a linear kernel; of a regressor, of the only one."""
        self._fitted_core("coef_")
        if self._core_settings["kernel"]["name"] != "linear" or not self._scores_are_sums:
            raise AttributeError(
                f"{type(self).__name__} has coef_ only with kernel='linear'; see dual_coef_"
            )
        coef = np.asarray(self.dual_coef_ @ self.support_vectors_)
        return coef[0] if is_regressor(self) else coef

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The bias of each output: the constant of the kernel, and one of its own."""
        core = self._fitted_core("intercept_")
        own = self._by_output(np.asarray(core.bias())) if hasattr(core, "bias") else None
        bias = np.zeros(core.outputs) if own is None else own
        offset = self._core_settings["kernel"]["offset"]
        return bias + offset * self.dual_coef_.sum(axis=1) if offset else bias


class KernelBias(KernelMethod):
    """A kernel method whose bias, if any, is a constant added to the kernel."""

    bias: Literal["none", "kernel"] = word(
        default="none",
        words={"none": 0.0, "kernel": 1.0},
        core="kernel.offset",
        doc='``"kernel"`` adds 1 to the kernel, a regularised bias.',
    )


class StoresExamples(KernelMethod):
    """A kernel method that keeps examples and solves an optimisation problem over them."""

    tol: float = number(
        default=1e-3,
        above=0,
        doc="""No example violates the optimality conditions by more, but for what rounding leaves.
        Checked in double, on 64 of the examples held, after ``fit`` and each time the stream has
        grown by a quarter: where it is not kept, a ``ConvergenceWarning``. :meth:`kkt_residual`
        measures all of them.""",
    )
    dtype: Literal["float32", "float64"] = inherit(
        default="float32",
        doc="Type of the stored examples and kernel values; the solution is float64 throughout.",
    )
    cache_bytes: int | str = size(
        default=256 << 20,
        shown='"256MiB"',
        doc="""Memory for kernel rows, on top of the examples. It affects speed only, but for the
        ramp loss: where it is too small for the rows of the free support vectors, other steps are
        taken, to another solution within ``tol``.""",
    )
    n_jobs: int | None = inherit(
        default=None,
        doc="""Threads for predicting, and for learning where there are many values to pass; None is
        one, -1 all processors. The results are the same bits.""",
    )


class SoftMargin(StoresExamples):
    """The problem of the support vector machine, where ``C`` prices an error."""

    C: float = number(
        default=1.0,
        above=0,
        kw_only=False,
        doc="Weight of an error against a wide margin, > 0. Sample weights multiply it.",
    )


class FreeBias(KernelMethod):
    """A machine with a bias of its own, which the regulariser does not see."""

    bias: Literal["free", "none"] = word(
        default="free",
        words=("free", "none"),
        doc='``"free"`` is the problem of scikit-learn; ``"none"`` fixes the bias at 0.',
    )
