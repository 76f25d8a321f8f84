"""Random Fourier features: waves whose inner products are a kernel on average."""

from __future__ import annotations

from typing import Any, Literal

from ..model.parameters import count, flag, inherit, word
from ..model.transformer import KernelFeatures, OfKernel, OnlineTransformer


class FourierFeatures(KernelFeatures, OnlineTransformer):
    """Random Fourier features (Rahimi & Recht): a kernel without any example.

    For streams that may keep nothing, or drift so that no landmark would stay typical: the features
    depend on a seed alone, so they are ready before the first example and equal on machines that
    share nothing. They go before any linear class (:class:`SGDSVC`, :class:`PegasosSVC`,
    :class:`PassiveAggressiveClassifier`, :class:`StreamSVC`). :class:`NystroemFeatures` is more
    accurate with as many, but these are so much cheaper that several times as many take less time.

    The features of x are ``cos(w'x)`` and ``sin(w'x)`` of ``n_components / 2`` random frequencies
    w, over the square root of their number. Their inner products miss rbf by
    ``(1 - k(x, z)^2) / sqrt(n_components)`` in the mean square, and are exact where x = z: pairs
    have a smaller variance than single cosines with a random phase, and need half the frequencies.

    With a number for ``gamma`` there is nothing to learn but which features there are; dicts may
    bring new names at any time, and a name has the frequencies of its place in order of arrival. A
    transformed example costs ``n_components / 2`` multiplications per value of its own, and a sine
    and a cosine each.

    References
    ----------
    A. Rahimi, B. Recht: Random Features for Large-Scale Kernel Machines. NIPS 2007.
    D. Sutherland, J. Schneider: On the Error of Random Fourier Features. UAI 2015.
    F. Yu et al.: Orthogonal Random Features. NIPS 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from onlinesvm import FourierFeatures, SGDSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(4000, 2))
    >>> y = np.sin(3 * X[:, 0]) * X[:, 1] > 0
    >>> model = make_pipeline(FourierFeatures(n_components=200, gamma=2.0), SGDSVC())
    >>> print(f"{model.fit(X[:3000], y[:3000]).score(X[3000:], y[3000:]):.2f}")
    0.98
    """

    _stem = "Fourier"
    _kind = OfKernel()

    kernel: Literal["rbf", "laplacian"] = word(
        default="rbf",
        words=("rbf", "laplacian"),
        core="kernel.name",
        doc="What the inner products are on average.",
    )
    n_components: int = inherit(
        default=100,
        doc="""Features, the columns of the output: a cosine and a sine for every frequency; of an
        odd number the last is 0.""",
        kw_only=False,
    )
    orthogonal: bool = flag(
        default=False,
        doc="""Draw the frequencies at right angles to each other, as many at a time as the input
        has features: a smaller error for rbf, the only kernel it is for. Drawing costs
        ``n_components * n_features^2`` once, and new names in dicts are refused.""",
    )
    random_state: int = count(default=0, doc="Seed of the frequencies.")

    @property
    def _settles(self) -> bool:  # names of dicts have frequencies in order of arrival
        return isinstance(self.gamma, str) or self._vocabulary is not None

    def _core_params(self, n_features: int) -> dict[str, Any]:
        settings = super()._core_params(n_features)
        if settings["orthogonal"] and self.kernel != "rbf":
            raise ValueError(
                f"orthogonal=True is for kernel='rbf', got kernel={self.kernel!r}; set it to False"
            )
        return settings
