"""Data frames of any library, through narwhals: pandas, polars, pyarrow, modin and their like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def frame_of(X: Any) -> Any:
    """X as a frame with ``columns`` and ``get_column``, None if it is none.

    A lazy one is a ValueError.
    """
    if isinstance(X, np.ndarray | list | tuple | Mapping) or sp.issparse(X):
        return None
    import narwhals.stable.v2 as nw  # only who brings a frame pays for it

    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise ValueError("X is a lazy frame, whose rows are not there yet; pass X.collect()")
    return frame if hasattr(frame, "get_column") else None  # a source's own has it, too


def column_of(frame: Any, name: Any) -> NDArray[Any]:
    """A column, as its own library turns it into an array."""
    import narwhals.stable.v2 as nw

    return np.asarray(nw.to_native(frame.get_column(name), pass_through=True))
