"""The result of a run: rows, frames, files; and plots of it."""

import json
import math

import matplotlib as mpl
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

mpl.use("agg")

from onlinesvm import PassiveAggressiveClassifier
from onlinesvm.report import plot_history
from onlinesvm.stream import Evaluation, Snapshot, evaluate, lessons

rng = np.random.default_rng(1)
X = rng.normal(size=(300, 2))
Y = np.where(X[:, 0] > 0, 1, 0)


@pytest.fixture(scope="module")
def result():
    model = PassiveAggressiveClassifier()
    return evaluate({"pa": model}, lessons(X, Y, size=10), classes=[0, 1], every=100, window=50)


def test_rows_are_flat_and_alike(result):
    rows = result.rows()
    assert [row["model"] for row in rows[:3]] == ["pa", "no-change", "majority"]
    assert [row["seen"] for row in rows[::3]] == [100, 200, 300]
    assert len({tuple(row) for row in rows}) == 1
    assert rows[-3]["window_kappa"] == result.last["pa"].window["kappa"]
    assert rows[-3]["kappa"] == result.last["pa"].metrics["kappa"]
    assert "auc" not in rows[0]  # an order has no summary that does not grow


def test_a_frame(result):
    frame = result.to_frame()
    assert frame.shape == (9, len(result.rows()[0]))
    assert frame["seen"].dtype == np.int64
    assert frame["support_vectors"].isna().all()
    means = frame.groupby("model")["window_accuracy"].mean()
    assert means["pa"] > means["majority"]


def test_json_lines_are_json_and_say_the_same(result, tmp_path):
    result.to_jsonl(tmp_path / "run.jsonl")
    lines = (tmp_path / "run.jsonl").read_text().splitlines()
    rows = [json.loads(line, parse_constant=pytest.fail) for line in lines]
    for row, expected in zip(rows, result.rows(), strict=True):
        assert list(row) == list(expected)
        for name, value in expected.items():
            is_nan = isinstance(value, float) and math.isnan(value)
            assert row[name] == (None if is_nan else value)


def test_parquet_says_the_same(result, tmp_path):
    result.to_parquet(tmp_path / "run.parquet")
    table = pq.read_table(tmp_path / "run.parquet")
    assert str(table.schema.field("support_vectors").type) == "int64"
    pd.testing.assert_frame_equal(
        table.to_pandas(), result.to_frame(), check_dtype=False, check_column_type=False
    )


def test_infinity_is_null_in_json_and_stays_in_parquet(tmp_path):
    odd = Snapshot(1, math.nan, None, math.nan, None, 1, 0.5, metrics={"mae": math.inf})
    run = Evaluation([{"m": odd}])
    run.to_jsonl(tmp_path / "x.jsonl")
    run.to_parquet(tmp_path / "x.parquet")
    assert json.loads((tmp_path / "x.jsonl").read_text())["mae"] is None
    table = pq.read_table(tmp_path / "x.parquet")
    assert table["mae"].to_pylist() == [math.inf]
    assert table["accuracy"].to_pylist() == [None]


def test_a_failed_write_leaves_the_old_file(result, tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    path.write_text("old")
    monkeypatch.setattr(json, "dumps", lambda *a, **k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        result.to_jsonl(path)
    assert path.read_text() == "old"


def test_an_empty_stream():
    run = evaluate(PassiveAggressiveClassifier(), [])
    assert (len(run), run.rows(), list(run)) == (0, [], [])
    assert run.to_frame().empty
    assert "empty stream" in repr(run)
    with pytest.raises(ValueError, match="the stream was empty"):
        run.last  # noqa: B018


def test_it_prints_a_table(result):
    head, names, *lines = repr(result).splitlines()
    assert head == "the last window, after 300 examples"
    assert names.split()[0] == "accuracy"
    assert [line.split()[0] for line in lines] == ["pa", "no-change", "majority"]
    assert lines[1].split()[-1] == "-"  # no-change has no scores, and no AUC


@pytest.mark.parametrize("window", [1, 50, 1000])
def test_one_window_for_any_cut(window):
    """Metrics of answers do not depend on when they are looked at."""
    options = {"classes": [0, 1], "window": window}
    ends = [
        evaluate({"pa": PassiveAggressiveClassifier()}, lessons(X, Y), every=every, **options).last
        for every in (1, 7, 300)
    ]
    for end in ends[1:]:
        for name in end:
            assert end[name].window == pytest.approx(ends[0][name].window, nan_ok=True, abs=0)
            assert end[name].metrics == pytest.approx(ends[0][name].metrics, nan_ok=True, abs=0)


def test_the_tally_of_a_long_stretch_does_not_wait_for_a_look():
    y = np.tile([0, 1], 5000)
    model = PassiveAggressiveClassifier()
    stream = lessons(np.zeros((10_000, 1)), y, size=100)
    end = evaluate({"pa": model}, stream, classes=[0, 1], every=10**9)
    assert end.last["no-change"].metrics["accuracy"] == 0
    assert end.last["majority"].metrics["accuracy"] == 0.5
    assert end.last["no-change"].metrics["kappa_temporal"] == 0


def test_the_truth_scores_where_it_is_known():
    truth = 1 - Y
    stream = lessons(X, Y, truth, size=10)
    end = evaluate({"pa": PassiveAggressiveClassifier()}, stream, classes=[0, 1]).last["pa"]
    assert end.metrics["accuracy"] == end.clean_accuracy
    assert end.accuracy == pytest.approx(1 - end.clean_accuracy)
    assert end.row()["accuracy"] == end.accuracy


# --- plots ----------------------------------------------------------------------------------------


def test_a_result_can_be_drawn_with_baselines_and_drifts(result):
    ax = plot_history(result, "window_kappa", drifts=[120, 240])
    lines = {line.get_label(): line for line in ax.get_lines()}
    assert list(lines)[:4] == ["pa", "no-change", "majority", "drift"]
    assert lines["pa"].get_linewidth() > lines["majority"].get_linewidth()
    assert lines["no-change"].get_linestyle() != lines["majority"].get_linestyle()
    assert lines["pa"].get_ydata() == pytest.approx([s["pa"].window["kappa"] for s in result])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(lines)[:4]
    assert sum(list(line.get_xdata()) in ([120, 120], [240, 240]) for line in ax.get_lines()) == 2


def test_baselines_without_the_quantity_are_left_out(result):
    labels = [line.get_label() for line in plot_history(result, "window_auc").get_lines()]
    assert labels == ["pa"]


def test_words_are_no_quantity(result):
    with pytest.raises(ValueError, match=r"quantity must be one of seen, .*window_kappa"):
        plot_history(result, "role")
