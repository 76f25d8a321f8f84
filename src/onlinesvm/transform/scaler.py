"""Scaling: every feature with a spread of about one."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..data.rows import Rows, SparseRows
from ..model.parameters import word
from ..model.transformer import OnlineTransformer
from .warm_up import LARGEST, ColumnCore, OfColumns, WarmingUp


class _ScalerCore(ColumnCore, stem="Scaler"):
    def _scored(self, rows: Rows) -> Any:
        centre, scale = self.columns(rows.columns())
        if not self.known.arrived:
            scale = np.full(rows.columns(), np.inf)  # silent before any data
        if isinstance(rows, SparseRows):
            scaled = rows.X.astype(np.float64)
            scaled.data = scaled.data / scale[scaled.indices]
            return scaled
        return (np.asarray(rows.X, dtype=np.float64) - centre) / scale


class OnlineScaler(WarmingUp, OnlineTransformer):
    """Scales a stream, so that no feature drowns the others: the first rows say how, for good.

    Put it before any method of the library; kernels and regularisation take it for granted that
    features are of one size. :class:`OnlinePipeline` lets the model behind learn the first rows
    again once the scale is settled.

    Dense rows become ``(x - center_) / scale_``. Sparse rows and dicts are divided by ``scale_``
    only, since centring would fill their zeros. A constant column has the scale 1, and so has a
    name that comes after the warm-up.

    Rows are summed up in blocks of 256 by the merge of Chan, Golub and LeVeque, which loses no
    digits where the mean is large, and gives the same bits however the stream is cut. A row costs a
    few vector operations until the statistics are settled and one afterwards; memory is that of
    256 rows, or of ``warm_up`` rows with ``method="robust"`` and with ``after="forget"``.

    Attributes
    ----------
    center_ : array, what is taken off each column of dense rows
    scale_ : array, what each column is divided by

    References
    ----------
    T. Chan, G. Golub, R. LeVeque: Algorithms for Computing the Sample Variance. The American
    Statistician, 1983.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import OnlineScaler
    >>> X = np.random.default_rng(0).normal([0, 1e6], [1, 1e3], size=(1000, 2))
    >>> scaler = OnlineScaler()
    >>> for start in range(0, 1000, 100):
    ...     scaler = scaler.partial_fit(X[start : start + 100])
    >>> bool(np.allclose(scaler.center_, X[:256].mean(axis=0))), scaler.settled_
    (True, True)
    >>> print(scaler.transform(X).std(axis=0).round(1))
    [1. 1.]
    """

    _stem = "Scaler"
    _kind = OfColumns()
    _largest = LARGEST
    _centres = True

    method: Literal["standard", "robust"] = word(
        default="standard",
        words={"standard": "moments", "robust": "quartiles"},
        core="statistic",
        doc="""``"standard"``: mean and standard deviation. ``"robust"``: median and distance of
        the quartiles, each one of the values that came, so that a few wild ones do not matter.""",
    )

    def _core_params(self, n_features: int) -> dict[str, Any]:
        settings = super()._core_params(n_features)
        if settings["statistic"] == "quartiles" and settings["after"] == "move":
            raise ValueError(
                "after='move' would need all rows for method='robust'; use after='forget', or "
                "method='standard'"
            )
        return settings

    @property
    def center_(self) -> NDArray[np.float64]:
        """What is taken off each column of dense rows."""
        self._fitted_core("center_")
        centre: NDArray[np.float64] = self._core.columns(self.n_features_in_)[0]
        return np.zeros_like(centre) if self._sparsely else centre

    @property
    def scale_(self) -> NDArray[np.float64]:
        """What each column is divided by."""
        self._fitted_core("scale_")
        scale: NDArray[np.float64] = self._core.columns(self.n_features_in_)[1]
        return scale
