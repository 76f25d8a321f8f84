"""Gaps: what stands where a value is missing."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import Tags

from ..data.rows import Columns, DenseRows, Rows, SparseRows
from ..model.parameters import number, word
from ..model.transformer import OnlineTransformer
from .moments import Floats
from .warm_up import LARGEST, ColumnCore, ColumnFacts, OfColumns, WarmingUp


class _ImputerCore(ColumnCore, stem="Imputer"):
    def _measured(self, known: ColumnFacts) -> tuple[Floats, Floats]:
        centre, _ = super()._measured(known)
        return centre, np.ones(len(centre))

    def _scored(self, rows: Rows) -> Any:
        fill = self.filled_by(rows.columns())
        marks = self.settings["indicator"] == "columns"
        if isinstance(rows, SparseRows):
            X = rows.X.astype(np.float64)
            missing = np.isnan(X.data)
            gaps = X.copy()
            gaps.data = missing.astype(np.float64)
            gaps.eliminate_zeros()
            X.data = np.where(missing, fill[X.indices], X.data)
            return sp.csr_array(sp.hstack([X, gaps])) if marks else X
        values = np.asarray(rows.X, dtype=np.float64)
        gap = np.isnan(values)
        filled = np.where(gap, fill, values)
        return np.hstack([filled, gap.astype(np.float64)]) if marks else filled

    def filled_by(self, width: int) -> Floats:
        """What stands for a gap in each column."""
        if self.settings["strategy"] == "constant":
            return np.full(width, self.settings["fill_value"])
        return self.columns(width)[0]


class OnlineImputer(WarmingUp, OnlineTransformer):
    """Fills the gaps of a stream, so that no row has to be dropped: the first rows say with what.

    NaN is a gap, and in dicts and tables of objects None is one, too; a name that a dict does not
    have is 0, as everywhere in the library. A column without a single value so far is filled with
    0. Where it matters *that* a value is missing, ``indicator="columns"`` tells the model.

    Mean and median are over the values that are there. Costs and memory are those of
    :class:`OnlineScaler`; ``strategy="constant"`` learns nothing and is ready at once.

    Attributes
    ----------
    statistics_ : array, what stands for a gap in each column

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import OnlineImputer
    >>> X = np.array([[1.0, np.nan], [3.0, 5.0], [np.nan, 6.0]])
    >>> OnlineImputer(strategy="median").fit_transform(X).tolist()
    [[1.0, 5.0], [3.0, 5.0], [1.0, 6.0]]
    >>> OnlineImputer(indicator="columns").fit(X).transform([[np.nan, 7.0]]).tolist()
    [[2.0, 7.0, 1.0, 0.0]]
    """

    _stem = "Imputer"
    _kind = OfColumns()
    _largest = LARGEST
    _passes = True

    strategy: Literal["mean", "median", "constant"] = word(
        default="mean",
        words=("mean", "median", "constant"),
        doc="""What fills a gap. The median is one of the values that came: the lower one of two.
        ``"constant"`` is ``fill_value``.""",
    )
    fill_value: float = number(default=0.0, doc='Fills gaps where ``strategy="constant"``.')
    indicator: Literal["none", "columns"] = word(
        default="none",
        words=("none", "columns"),
        doc="""``"columns"`` adds a column for each, which is 1 where there was a gap, after all
        others.""",
    )

    def _core_params(self, n_features: int) -> dict[str, Any]:
        settings = super()._core_params(n_features)
        settings["statistic"] = "quartiles" if settings["strategy"] == "median" else "moments"
        if settings["strategy"] == "median" and settings["after"] == "move":
            raise ValueError(
                "after='move' would need all rows for strategy='median'; use after='forget', or "
                "strategy='mean'"
            )
        return settings

    @property
    def statistics_(self) -> NDArray[np.float64]:
        """What stands for a gap in each column."""
        self._fitted_core("statistics_")
        filled: NDArray[np.float64] = self._core.filled_by(self.n_features_in_)
        return filled

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns, and of those that say what was missing."""
        names = super().get_feature_names_out(input_features)
        return np.array([*names, *self._marks(names)], dtype=object)

    def _names_out(self) -> list[Any]:
        if self._vocabulary is None:
            return super()._names_out()
        names = self._vocabulary.names()
        return [*names, *self._marks(names)]

    def _marks(self, names: Any) -> list[str]:
        return [f"missingindicator_{n}" for n in names] if self.indicator == "columns" else []

    def _read_records(self, X: Any, *, fresh: bool, learning: bool) -> tuple[Rows, Columns]:
        return super()._read_records(
            [{k: np.nan if v is None else v for k, v in record.items()} for record in X],
            fresh=fresh,
            learning=learning,
        )

    def _demand_numbers(self, rows: Rows, names: NDArray[Any] | None = None) -> None:
        if not self._are_numbers(rows):
            raise ValueError(
                "Input X contains infinity (or a value too large for dtype); drop those rows"
            )

    def _are_numbers(self, rows: Rows) -> bool:
        values = rows.values()
        return DenseRows(np.where(np.isnan(values), 0, values)).within(
            self._largest.get(self.dtype, np.inf)
        )

    @property
    def _warm_up_rows(self) -> int:
        return 0 if self.strategy == "constant" else super()._warm_up_rows

    @property
    def _moves(self) -> bool:
        return self.strategy != "constant" and super()._moves

    @property
    def _settles(self) -> bool:
        return self.strategy != "constant" or self._vocabulary is not None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
