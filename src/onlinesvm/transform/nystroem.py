"""Nystroem features: the kernel between an example and a few landmarks, as coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.groups import AnyKernel
from ..model.parameters import number
from ..model.transformer import KernelFeatures, OfKernel, OnlineTransformer


class NystroemFeatures(AnyKernel, KernelFeatures, OnlineTransformer):
    """Nystroem features (Williams & Seeger) of a stream: kernel learning in constant memory.

    For streams without end on which a linear model is too plain and a kernel machine would grow:
    put these features before any linear class (:class:`SGDSVC`, :class:`PegasosSVC`,
    :class:`PassiveAggressiveClassifier`, :class:`StreamSVC`), and memory and time per example stay
    what they are after ``n_components`` landmarks. They adapt to the data, so that fewer do than of
    :class:`FourierFeatures`, and serve every kernel; those are cheaper, where time counts.

    An example becomes a landmark if the span of those before it, in the space of the kernel, comes
    no closer than ``tol`` says, until there are ``n_components``; it then stays one for good. With
    the kernel matrix K = L L' of the landmarks, the features of x are ``L^-1 k(x, landmarks)``.
    Their inner products are the kernel itself wherever one of the two is a landmark, and the kernel
    of the projections onto the span elsewhere.

    L is triangular, so another landmark adds a feature and changes none of those before, and
    columns without a landmark are 0: a model behind may learn all along and never has to be told.
    For the same reason no landmark is ever replaced. A stream that will show new regions late needs
    room for them: a larger ``tol`` or more components.

    A transformed example costs its kernel values with the landmarks and ``n_components^2 / 2``
    multiplications; so does a look whether it should be a landmark, until there are enough. Memory
    is that of the landmarks and about ``6 n_components^2`` bytes.

    Attributes
    ----------
    components_ : array or sparse matrix, the landmarks, one per row
    component_indices_ : array, their ids
    normalization_ : array, L^-1: features are ``k(X, components_) @ normalization_.T``

    References
    ----------
    C. Williams, M. Seeger: Using the Nystroem Method to Speed Up Kernel Machines. NIPS 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import NystroemFeatures, PegasosSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(4000, 2))
    >>> y = np.sin(3 * X[:, 0]) * X[:, 1] > 0
    >>> features, model = NystroemFeatures(gamma=2.0), PegasosSVC(classes=[False, True])
    >>> for start in range(0, 3000, 100):
    ...     part = slice(start, start + 100)
    ...     Z = features.partial_fit(X[part]).transform(X[part])
    ...     model = model.partial_fit(Z, y[part])
    >>> print(f"{model.score(features.transform(X[3000:]), y[3000:]):.2f}")
    0.98
    """

    _stem = "Nystroem"
    _kind = OfKernel()

    tol: float = number(
        default=1e-2,
        above=0,
        below=1,
        doc="""An example becomes a landmark if its squared distance to the span of the others is
        more than ``tol`` times its squared length, > 0 and < 1. Of a stream that repeats itself, a
        larger one finds landmarks farther apart, and finer detail is lost.""",
    )

    @property
    def components_(self) -> Any:
        """The landmarks, one per row; sparse when the model learned from sparse rows."""
        self._fitted_core("components_")
        return self.support_vectors_

    @property
    def component_indices_(self) -> NDArray[np.int64]:
        """The ids of the landmarks."""
        self._fitted_core("component_indices_")
        return self.support_

    @property
    def normalization_(self) -> NDArray[np.float64]:
        """L^-1, by which kernel values with the landmarks become features."""
        self._fitted_core("normalization_")
        return self.dual_coef_[: len(self.support_)]

    @property
    def _moves(self) -> bool:
        # A landmark gives earlier rows a feature.
        return not self.__sklearn_is_fitted__() or len(self.support_) < self.n_components
