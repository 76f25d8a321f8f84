"""Ten ordinary mistakes, and what the library says: what is wrong, where, and what to do."""

from __future__ import annotations

import re

import numpy as np
import pytest

import onlinesvm
from onlinesvm import SGDSVC, RampSVC
from onlinesvm.stream import open_source

X = np.random.default_rng(0).normal(size=(40, 2))
Y = np.where(X[:, 0] > 0, "yes", "no")


def frame(**more):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame({"age": X[:, 0], "income": X[:, 1], **more})


def says(text: str, kind: type[Exception] = ValueError):
    return pytest.raises(kind, match=re.escape(text))


@pytest.mark.parametrize("model", [RampSVC(), SGDSVC()])
def test_text_in_a_frame(model):
    with says("column 'city' holds text: encode it, or use OnlineColumns"):
        model.fit(frame(city=["Rome", "Oslo"] * 20), Y)
    with says("column 2 holds text: encode it, or use OnlineColumns"):
        model.fit(frame(city=["Rome", "Oslo"] * 20).to_numpy(), Y)
    with says("x['city'] must be a number, got 'Rome'; encode it, or use OnlineColumns"):
        RampSVC(classes="open").learn_one({"age": 1.0, "city": "Rome"}, "yes")


def test_text_in_a_polars_frame():
    pl = pytest.importorskip("polars")
    with says("column 'city' holds text: encode it, or use OnlineColumns"):
        RampSVC().fit(pl.DataFrame({"age": X[:, 0], "city": ["Rome", "Oslo"] * 20}), Y)


def test_dates():
    days = np.arange("2025-01-01", "2025-02-10", dtype="datetime64[D]").astype("datetime64[ns]")
    text = "holds dates: use OnlineColumns with OnlineDates, or pass numbers"
    with says(f"column 'joined' {text}"):
        RampSVC().fit(frame(joined=days), Y)
    with says(f"column 0 {text}"):
        RampSVC().fit(days[:, None], Y)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_missing_values(bad):
    rows = X.copy()
    rows[3, 1] = bad
    fix = "drop those rows, or fill the values with OnlineImputer"
    with says(f"in row 3, column 1; {fix}"):
        RampSVC().fit(rows, Y)
    with says(f"in row 3, column 'income'; {fix}"):
        RampSVC().fit(frame().where(np.isfinite(rows)), Y)
    with says(f"in row 3, column 1; {fix}"):
        RampSVC().fit(X, Y).predict(rows)


def test_another_width():
    with says("X has 1 features, but RampSVC is expecting 2 features as input"):
        RampSVC().fit(X, Y).predict(X[:, :1])


def test_a_misspelt_parameter():
    with says("unexpected keyword argument 'gama'; did you mean 'gamma'?", TypeError):
        RampSVC(gama=2)


def test_a_misspelt_kernel():
    with says("kernel must be one of 'linear', 'rbf'"):
        RampSVC(kernel="fast").fit(X, Y)
    with says("got 'rfb'; did you mean 'rbf'?"):
        RampSVC(kernel="rfb").fit(X, Y)


def test_a_missing_file(tmp_path):
    with says("No such file or directory", FileNotFoundError):
        onlinesvm.load(tmp_path / "model.onlinesvm")
    pytest.importorskip("pyarrow")
    with says("rows.csv: no such file; check the path"):
        open_source(str(tmp_path / "rows.csv"))


def test_a_misspelt_target(tmp_path):
    pytest.importorskip("pyarrow")
    source = tmp_path / "a.csv"
    source.write_text("age,income,churn\n1,2,yes\n2,3,no\n")
    columns = "the columns are 'age', 'income', 'churn'; did you mean 'churn'?"
    with says(f"target names 'chrun', but {columns}"):
        open_source(str(source), target="chrun")


def test_no_probabilities():
    model = RampSVC().fit(X, Y)
    with says("CalibratedOnline(RampSVC(...)) has it", AttributeError):
        model.predict_proba(X)
