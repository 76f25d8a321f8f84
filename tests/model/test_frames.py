"""Frames of every library at hand give the same bits, and a lazy one is refused in one line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from onlinesvm import (
    SGDSVC,
    CalibratedOnline,
    OnlineColumns,
    OnlineImputer,
    OnlineOneHot,
    OnlineScaler,
    make_online_pipeline,
)
from onlinesvm.checks import fingerprint

RNG = np.random.default_rng(0)
NUMBERS = {name: RNG.normal(size=80) for name in ("a", "b", "c")}
WORDS = NUMBERS | {"town": np.array(["Rom", "Ulm", "Bern", "Ulm"] * 20)}
Y = (NUMBERS["a"] > 0).astype(int)
LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
every_library = pytest.mark.parametrize("library", LIBRARIES)


def models() -> dict[str, Any]:
    svm = SGDSVC(classes=[0, 1])
    return {
        "alone": svm,
        "pipeline": make_online_pipeline(OnlineScaler(warm_up=10), svm),
        "calibrated": CalibratedOnline(svm),
    }


@every_library
@pytest.mark.parametrize("kind", models())
def test_every_library_gives_the_bits_of_arrays(library: str, kind: str) -> None:
    frame = LIBRARIES[library](NUMBERS)
    learned = models()[kind].partial_fit(frame, Y)
    plain = models()[kind].partial_fit(np.column_stack(list(NUMBERS.values())), Y)
    assert learned.feature_names_in_.tolist() == ["a", "b", "c"]
    assert np.array_equal(
        learned.decision_function(frame),
        plain.decision_function(np.column_stack(list(NUMBERS.values()))),
    )


@every_library
def test_columns_of_several_kinds(library: str) -> None:
    def model() -> Any:
        parts = {
            "numbers": (("a", "b", "c"), OnlineImputer(warm_up=5)),
            "words": (("town",), OnlineOneHot(max_categories=4)),
        }
        steps = OnlineColumns([(name, step, columns) for name, (columns, step) in parts.items()])
        return make_online_pipeline(steps, SGDSVC(classes=[0, 1]))

    there, pandas = LIBRARIES[library](WORDS), pd.DataFrame(WORDS)
    learned, same = model().partial_fit(there, Y), model().partial_fit(pandas, Y)
    assert fingerprint(learned) == fingerprint(same)
    turned = (
        there.select(["town", "c", "b", "a"])
        if library != "pandas"
        else there[["town", "c", "b", "a"]]
    )
    assert np.array_equal(learned.decision_function(turned), same.decision_function(pandas))


@every_library
def test_a_model_of_dicts_takes_frames(library: str) -> None:
    records = pd.DataFrame(NUMBERS).to_dict(orient="records")
    learned = SGDSVC(classes=[0, 1]).partial_fit(records, Y)
    frame = LIBRARIES[library](NUMBERS)
    assert np.array_equal(learned.decision_function(frame), learned.decision_function(records))


@pytest.mark.parametrize("kind", models())
def test_a_lazy_frame_is_refused_in_one_line(kind: str) -> None:
    model = models()[kind]
    with pytest.raises(ValueError, match=r"X is a lazy frame.*X\.collect\(\)") as refusal:
        model.partial_fit(pl.DataFrame(NUMBERS).lazy(), Y)
    assert "\n" not in str(refusal.value)
    assert not model.__sklearn_is_fitted__()
