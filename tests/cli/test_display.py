"""How a run looks: on a terminal, in a log, as JSON, in the words of the command line."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace

import pytest
from rich.console import Console

from onlinesvm.cli.display import JsonDisplay, LineDisplay, LiveDisplay, board, number
from onlinesvm.cli.findings import verdict
from onlinesvm.cli.words import in_flags
from onlinesvm.stream import Snapshot
from onlinesvm.stream.drift import Drift
from onlinesvm.stream.run.moment import Moment

NAN = float("nan")


def snapshot(seen, window, role="model", support=12):
    return Snapshot(
        seen, 0.5, None, 0.5, support, seen, 1.0, metrics=dict(window), window=window, role=role
    )


def moment(seen, *, bad=0, done=0.5, lag=None, nbytes=4_000_000, accuracy=0.9, auc=0.8):
    shots = {
        "RampSVC": snapshot(seen, {"accuracy": accuracy, "kappa": 0.5, "auc": auc}),
        "majority": snapshot(seen, {"accuracy": 0.6, "kappa": 0.0, "auc": NAN}, "baseline", None),
    }
    return Moment(seen, bad, shots, done, lag, nbytes)


def printed(*things, width=80, **look):
    text = io.StringIO()
    console = Console(file=text, width=width, **look)
    for thing in things:
        console.print(thing)
    return text.getvalue()


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_board_fits_and_says_what_matters(width):
    text = printed(board(moment(12_345, bad=3, lag=120.0), "flows.csv.gz", 1034.0), width=width)
    assert all(len(line) <= width for line in text.splitlines())
    if width >= 80:
        for words in ("12,345 rows", "1,034 a second", "50%", "90.0%", "60.0%", "12 support vec"):
            assert words in text
        assert "4.0 MB" in text
        assert "120 waiting" in text
        assert "3 bad rows" in text


def test_a_source_without_an_end_has_no_bar():
    text = printed(board(moment(10, done=None), "redis://host/flows", math.nan))
    assert "%" not in text.splitlines()[0]
    assert "a second" not in text


def test_no_name_moves_the_cursor():
    shown = moment(10)
    shown.snapshots["\x1b[2Jevil[bold]"] = shown.snapshots["majority"]
    text = printed(board(shown, "\x1b]0;owned\x07.csv", 1.0), color_system=None)
    assert "\x1b" not in text
    assert "[bold]" in text


def test_lines_come_after_one_two_and_five_hundred_rows():
    text = io.StringIO()
    display = LineDisplay(Console(file=text, width=40))
    for seen in range(50, 6050, 50):
        display.show(moment(seen, bad=2))
    lines = text.getvalue().splitlines()
    assert [int(line.split()[0].replace(",", "")) for line in lines] == [
        100,
        200,
        500,
        1000,
        2000,
        5000,
    ]
    assert lines[0].endswith(
        "RampSVC: accuracy 90.0%, kappa 0.5, majority 60.0%, 12 support vectors, 2 bad"
    )


def test_json_has_no_number_that_json_lacks():
    lines = []
    JsonDisplay(lines.append).show(moment(10, accuracy=NAN))
    facts = json.loads(lines[0], parse_constant=lambda word: pytest.fail(word))
    assert facts["models"]["RampSVC"]["window_accuracy"] is None
    assert facts["models"]["majority"]["role"] == "baseline"
    assert lines[0].endswith("\n")


def test_the_live_table_draws_itself():
    text = io.StringIO()
    display = LiveDisplay(Console(file=text, width=80, force_terminal=True), "flows.csv")
    with display.open():
        display.show(moment(100))
        display.show(moment(200))
    assert "200 rows" in text.getvalue()


@pytest.mark.parametrize(
    ("metric", "value", "shown"),
    [
        ("accuracy", 0.875, "87.5%"),
        ("kappa", 0.12345, "0.123"),
        ("mae", 42907.3, "42,907"),
        ("mae", -1e9, "-1,000,000,000"),
        ("r2", NAN, "-"),
        ("auc", None, "-"),
    ],
)
def test_numbers_are_short(metric, value, shown):
    assert number(metric, value) == shown


def test_the_verdict_says_who_was_better():
    lines = verdict(moment(2000).snapshots, 1000)
    assert lines[0] == "accuracy  90.0% of the last 1,000, 90.0% of all; majority 60.0%"
    assert lines[-1] == "better than both baselines"
    assert verdict(moment(500).snapshots, 1000)[0] == "accuracy  90.0%; majority 60.0%"
    assert verdict(moment(500, accuracy=0.6).snapshots, 1000)[-1].startswith(
        "NO better than majority"
    )
    errors = {
        "A": snapshot(9, {"mae": 2.0}),
        "last value": snapshot(9, {"mae": 3.0}, "baseline"),
    }
    assert verdict(errors, 1000)[-1] == "better than both baselines"


@pytest.mark.parametrize(
    ("python", "flags"),
    [
        ("types={'zip': 'category'} takes them", "--types zip=category takes them"),
        ("a.csv: target names 'x', but", "a.csv: --target names 'x', but"),
        ("say separator=", "say --separator"),
        ("header=True says otherwise", "--header says otherwise"),
        ("the target is the last column", "the target is the last column"),
    ],
)
def test_arguments_become_options(python, flags):
    assert in_flags(python) == flags


def test_an_alarm_is_shown_at_once_and_stays_on_the_board():
    alarmed = replace(moment(30), drifts=(Drift(30, 20, 0.1, 0.5),))
    words = "errors rose from 10.0% to 50.0% since row 20"
    text, lines = io.StringIO(), []
    LineDisplay(Console(file=text, width=40)).show(alarmed)
    assert text.getvalue() == f"       30 rows  drift: {words}\n"
    JsonDisplay(lines.append).show(alarmed)
    assert json.loads(lines[0])["drifts"] == [{"seen": 30, "since": 20, "before": 0.1, "now": 0.5}]
    live = LiveDisplay(Console(file=text, width=80, force_terminal=True), "flows.csv")
    with live.open():
        live.show(alarmed)
        live.show(moment(40))
    assert words in text.getvalue().split("40 rows")[-1]
