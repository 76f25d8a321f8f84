"""What users would pick instead: rules that are kept, processes that cannot disturb each other."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse


@pytest.fixture(autouse=True)
def here(checkout):
    pass


@pytest.fixture
def rows():
    """Two hundred rows of three numbers; the first says it all."""
    from bench.quality.contests import Contest

    X = np.random.default_rng(0).normal(size=(300, 3))
    y = (X[:, 0] > 0).astype(np.int64)
    return Contest("rows", X[:200], y[:200], X[200:], y[200:]).measured()


@pytest.fixture
def stream(rows):
    return replace(rows, name="stream", X_test=None, y_test=None)


class Guess:
    """Says what it was made to say; remembers what it was told."""

    def __init__(self, says):
        self.says, self.told = says, 0

    def partial_fit(self, X, y, classes=None):
        self.told += len(y)

    def predict(self, X):
        return self.says(X, self.told)


def rival(says, **words):
    from bench.quality.rivals import Rival

    return Rival("guess", lambda contest, settings: Guess(says(settings)), **words)


# ---- processes -----------------------------------------------------------------------------------


def test_what_was_told_before_a_failure_is_kept():
    from bench.quality.alone import alone

    def fails(tell):
        tell(accuracy=7.0)
        raise ValueError("no more\nof this")

    def dies(tell):
        tell(accuracy=8.0)
        os._exit(3)

    assert alone(fails, 60) == {"accuracy": 7.0, "ended": "ValueError: no more"}
    assert alone(dies, 60) == {"accuracy": 8.0, "ended": "died with 3"}


def test_who_uses_up_his_seconds_is_stopped():
    from bench.quality.alone import alone

    def endless(tell):
        tell(accuracy=9.0)
        while True:
            pass

    assert alone(endless, 0.05) == {"accuracy": 9.0, "ended": "stopped after 0 s"}


def test_memory_is_counted_from_where_it_begins():
    from bench.quality.alone import Peak, alone

    ballast = np.ones(8 << 20)  # 64 MiB that the parent holds

    def takes(tell):
        np.ones(6 << 20)  # was there before, and is gone
        peak = Peak()
        np.ones(4 << 20)  # 32 MiB, for a moment
        tell(mib=peak.mib())

    assert 30 < alone(takes, 60)["mib"] < 40
    assert ballast.size


# ---- the rules -----------------------------------------------------------------------------------


def test_settings_are_chosen_without_a_look_at_the_test(rows):
    from bench.quality.rivals import choose

    class Sealed:
        def __getitem__(self, key):
            raise AssertionError("the test rows were looked at")

    sealed = replace(rows, name="sealed", X_test=Sealed(), y_test=Sealed())
    reader = rival(lambda settings: lambda X, told: (X[:, settings["column"]] > 0) * 1)
    reader = replace(reader, grid={"column": (2, 0, 1)})
    assert choose(reader, sealed) == {"column": 0}
    same = replace(rival(None), asks=lambda contest: reader)
    assert choose(same, sealed) == {"column": 0}


def test_who_shares_a_point_is_told_the_same_one(rows, monkeypatch):
    from bench.quality import rivals

    points = iter([{"column": 0}, {"column": 1}])
    monkeypatch.setattr(rivals, "alone", lambda work, limit: {"point": next(points)})
    monkeypatch.setattr(rivals, "_answers", {})
    reader = replace(rival(None), grid={"column": (2, 0, 1)})
    one, other = (replace(rival(None), name=n, asks=lambda contest: reader) for n in "ab")
    assert rivals.choose(one, rows) == rivals.choose(other, rows) == {"column": 0}
    assert rivals.choose(one, replace(rows, name="others")) == {"column": 1}


def test_the_best_point_so_far_is_taken_when_the_time_is_up(rows, monkeypatch):
    from bench.quality import rivals

    def says(settings):
        def say(X, told):
            while settings["column"] == 1:
                pass
            return (X[:, settings["column"]] > 0) * 1

        return say

    monkeypatch.setattr(rivals, "TUNING", 0.2)
    grid = {"column": (2, 0, 1)}
    assert rivals.choose(replace(rival(says), grid=grid), rows) == {"column": 0}
    grid = {"column": (1, 0)}
    assert rivals.choose(replace(rival(says), grid=grid), rows) == {"column": 1}


def test_the_first_tenth_of_a_stream_does_not_count(stream):
    from bench.quality.rivals import measure

    right = {row.tobytes(): label for row, label in zip(stream.X, stream.y, strict=True)}

    def late(settings):
        return lambda X, told: np.array([right[x.tobytes()] if told >= 20 else 2 for x in X])

    facts = measure(rival(late), stream)
    assert facts["accuracy"] == 100.0
    assert (facts["tested"], facts["labels"]) == (180, 200)


def test_a_batch_learner_sees_a_window_of_the_stream():
    from bench.quality import rivals

    sizes = []

    class Batch:
        def __init__(self, model=None):
            pass

        def get_params(self, deep=True):
            return {}

        def fit(self, X, y):
            sizes.append((X.shape[0], int(X[0, 0])))
            return self

        def predict(self, X):
            return np.zeros(len(X))

    model = rivals.Refitted(Batch())
    for start in range(0, 4000, 10):
        X = np.arange(start, start + 10)[:, None]
        model.partial_fit(X, np.array([0, 1] * 5))
    newest = [(n, first) for n, first in sizes if n == rivals.WINDOW]
    assert sizes[0] == (50, 0)
    assert {n for n, _ in sizes} <= set(range(50, rivals.WINDOW + 1))
    assert np.diff([first for _, first in newest]).tolist() == [rivals.EVERY] * (len(newest) - 1)


def test_river_and_vowpal_read_the_same_rows_dense_and_sparse():
    from bench.quality.rivals import River, Vowpal

    X = np.array([[0.0, 2.0, 0.5], [1.0, 0.0, 0.0]])
    river = River(None)
    assert river.prepare(sparse.csr_matrix(X)) == [{1: 2.0, 2: 0.5}, {0: 1.0}]
    assert river.prepare(X)[1] == {0: 1.0, 1: 0.0, 2: 0.0}
    lines = ["| 1:2 2:0.5", "| 0:1"]
    assert Vowpal.prepare(None, X) == Vowpal.prepare(None, sparse.csr_matrix(X)) == lines


def test_sets_are_cut_by_the_rule_and_test_rows_are_others(monkeypatch, tmp_path):
    from bench.quality import contests

    X = np.arange(3000.0).reshape(1000, 3)
    X[:, 2] = 5.0
    empty = X[:0]
    np.savez(
        tmp_path / "own.npz", X_train=X, y_train=np.arange(1000) % 3 + 7, X_test=empty, y_test=[]
    )
    monkeypatch.setenv("ONLINESVM_DATA", str(tmp_path))
    monkeypatch.setattr(contests, "ROWS", 500)
    own = contests._drawn("own")
    assert (own.X.shape, own.X_test.shape) == ((500, 2), (200, 2))
    assert set(own.y) == {0, 1, 2}
    np.testing.assert_allclose(own.X.mean(axis=0), 0, atol=1e-12)
    learned, tested = ({*rows[:, 0].round(9)} for rows in (own.X, own.X_test))
    assert not learned & tested
    monkeypatch.setattr(contests, "NUMBERS", 900)
    assert contests._drawn("own").X.shape[0] == 300


# ---- everybody at tiny sizes ---------------------------------------------------------------------


def briefly(rival):
    """With the first point of its grid."""
    return replace(rival, grid={key: values[:1] for key, values in rival.grid.items()})


@pytest.mark.slow
def test_every_rival_runs_on_rows_and_on_a_stream(rows, stream):
    from bench.quality.instead import RIVALS
    from bench.quality.rivals import measure

    there = [rival for rival in RIVALS.values() if rival.there]
    assert sum(rival.ours for rival in there) == 10
    for one in there:
        for contest in (rows.cut(120), stream.cut(120)):
            facts = measure(briefly(one), contest)
            assert "ended" not in facts, (one.name, contest.name)
            assert facts["accuracy"] > 50, (one.name, contest.name)
            assert {"learn_s", "predict_s", "peak_mib", "labels", "tested"} <= set(facts)


@pytest.mark.slow
def test_every_method_of_the_overview_runs(stream):
    from bench.quality.rivals import measure
    from reproduce.overview import METHODS

    for name, one in METHODS.items():
        facts = measure(briefly(one), stream.cut(120))
        assert "ended" not in facts, name
        assert {"accuracy", "labels"} <= set(facts), name


def test_contests_that_cannot_be_had_are_named(monkeypatch, capsys):
    from bench.quality import contests
    from onlinesvm.datasets import DownloadError

    def gone():
        raise DownloadError("no line today")

    monkeypatch.setitem(contests.CONTESTS, "adult", gone)
    monkeypatch.setitem(contests.CONTESTS, "banana", lambda: None)
    assert list(contests.available(["adult", "banana"])) == ["banana"]
    assert "adult left out: no line today" in capsys.readouterr().out


# ---- the page ------------------------------------------------------------------------------------


@pytest.fixture
def field():
    from bench.quality.pages import Field

    def told(accuracy, learn_s, **more):
        common = {"predict_s": 1.0, "peak_mib": 2.0, "labels": 10, "unlearn_s": learn_s}
        return {"accuracy": accuracy, "learn_s": learn_s, "tested": 5000, **common, **more}

    facts = {
        "even": {"SVC": told(90.0, 4.0), "LASVC": told(90.5, 1.0, labels=5, support=7)},
        "lost": {"SVC": told(90.0, 1.0), "LASVC": told(80.0, 0.5)},
        "won": {"SVC": told(70.0, 1.0), "LASVC": told(80.0, 2.0), "slow": {"ended": "stopped"}},
    }
    return Field(facts, frozenset({"LASVC"}))


def test_what_is_lost_is_said_first(field):
    from bench.quality.pages import winners

    lines = winners(field).splitlines()[2:]
    assert [line.split(" | ")[0][2:] for line in lines] == ["lost", "even", "won"]
    assert "| -10.0 (± 1.2) | theirs | SVC: 90.0, 1 s |" in lines[0]
    assert "| too close to call | LASVC: 90.5, 1 s |" in lines[1]
    assert "| ours | LASVC: 80.0, 2 s |" in lines[2]


def test_means_are_of_what_was_measured(field):
    from bench.quality.pages import matrix, summary

    assert field.below_best("LASVC") == pytest.approx(10 / 3)
    assert field.times("LASVC", "learn_s", "SVC") == pytest.approx((0.25 * 0.5 * 2.0) ** (1 / 3))
    text = summary(field, "SVC")
    assert "| **LASVC** | 3.3 | 0.63 |" in text
    assert "| 83 |" in text  # labels: half of them on one contest of three
    assert "slow" not in text
    assert matrix(field, "learn_s").splitlines()[-1] == "| slow |  |  | stopped |"


def test_the_page_is_made_of_the_journal_alone(tmp_path, monkeypatch):
    from bench.quality import instead
    from reproduce.journal import Journal

    monkeypatch.setattr(instead, "GROUPS", {"Streams, one by one": {"noisy board": None}})
    monkeypatch.setattr(instead, "RIVALS", {n: instead.RIVALS[n] for n in ("LASVC", "SVC")})
    journal = Journal("instead", folder=tmp_path)
    journal.work([{"contest_name": "noisy board", "rows": 60}], instead.blind)
    journal.work(instead.cells(["noisy board"], 60), instead.meeting)
    bodies = instead.page(Journal("instead", folder=tmp_path), 60)
    assert "| noisy board | 60 | 2 | 2 |" in bodies["contests"]
    assert "**LASVC**" in bodies["streams"]
    assert bodies["missing"] == ""
    assert "accuracy, %" in bodies["details"]
    monkeypatch.setattr(instead, "GROUPS", {"Streams": {"noisy board": None, "weather": None}})
    monkeypatch.setitem(instead.RIVALS, "SGDSVC", replace(instead.RIVALS["SVC"], name="SGDSVC"))
    bodies = instead.page(Journal("instead", folder=tmp_path), 60)
    assert bodies["missing"] == "**Not measured yet:** weather, noisy board (SGDSVC)."
    assert len(json.loads((tmp_path / "instead.json").read_text())["cells"]) == 3


def test_the_map_is_drawn(field, tmp_path):
    from bench.quality.pages import map_of

    map_of({"all": field}, "SVC").savefig(tmp_path / "map.png")
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


# ---- the overview --------------------------------------------------------------------------------


def test_nothing_measured_is_said_and_not_drawn(tmp_path):
    from reproduce.journal import Journal
    from reproduce.overview import PAPER

    nothing = Journal("overview", folder=tmp_path, measured=True)
    shown = [exhibit(nothing) for exhibit in PAPER.exhibits]
    assert not any(one.picture for one in shown)
    assert {verdict.word for one in shown for verdict in one.verdicts} == {"not measured yet"}


def test_a_remark_is_contradicted_by_one_stream():
    from bench.quality.pages import Field
    from reproduce import overview

    def told(accuracy):
        return {"accuracy": accuracy, "tested": 10_000}

    facts = {
        "calm": {"LASVM": told(90.0), overview.EXACT: told(90.2)},
        "wild": {"LASVM": told(80.0), overview.EXACT: told(85.0)},
    }
    field = Field(facts, frozenset())
    words = ("LASVM", overview.EXACT, "as good", overview._not_worse)
    assert overview._claim(field.among(["calm"]), *words).word == "met"
    both = overview._claim(field, *words)
    assert (both.word, both.ours) == ("short", "calm -0.2, wild -5.0 (not)")
    assert overview._claim(Field({}, frozenset()), *words).word == "not measured yet"


def test_numbers_of_a_map_do_not_cover_each_other():
    from bench.quality.pages import DISC, number
    from onlinesvm.report.style import figure

    picture = figure(figsize=(4, 3))
    ax = picture.subplots()
    ax.set(xlim=(0.1, 10), ylim=(0, 10), xscale="log")
    spots = [(1.0, 5.0, "a"), (1.01, 5.0, "b"), (1.0, 5.05, "c"), (8.0, 2.0, "d")]
    names = [name for *_, name in spots]
    number(picture, [(ax, spots)], {n: k for k, n in enumerate(names)}, dict.fromkeys(names, "k"))
    shown = {names[int(text.get_text())]: text for text in ax.texts}
    places = {
        name: ax.transData.transform(text.xy) * 72 / picture.dpi + text.xyann
        for name, text in shown.items()
    }
    apart = [np.hypot(*(places[a] - places[b])) for a in places for b in places if a < b]
    assert len(apart) == 6
    assert min(apart) >= DISC - 1e-9
    assert shown["d"].xyann == pytest.approx((0, 0))  # nobody is in its way
    assert {name: text.xy for name, text in shown.items()} == {n: (x, y) for x, y, n in spots}


def test_kinds_and_likes_are_counted_by_the_error_of_the_test():
    from bench.quality.instead import RIVALS
    from bench.quality.kinds import KINDS, LIKES, like_beside_like, which_kind
    from bench.quality.pages import Field

    named = [name for members in KINDS.values() for name in members]
    assert sorted(named) == sorted(RIVALS)  # each in one kind
    assert {name for pair in LIKES for name in pair} <= set(RIVALS)

    def facts(accuracy, learn_s):
        told = {"predict_s": 1.0, "peak_mib": 2.0, "tested": 900}
        return {"accuracy": accuracy, "learn_s": learn_s} | told

    group = {  # nine hundred rows at 90 percent: differences up to 2.83 are noise
        "SVC": facts(90.0, 2.0),
        "SmoSVC": facts(88.0, 1.0),
        "IncrementalSVC": facts(80.0, 0.1),
        "SGDSVC": facts(85.0, 0.5),
        "SGDClassifier": {"ended": "stopped after 60 s"},
        "LinearSVC": facts(80.0, 1.0),
    }
    field = Field({"one": group}, frozenset(["SmoSVC", "SGDSVC"]))
    kinds = which_kind({"rows": field}, "SVC").splitlines()[2:]
    assert kinds[0] == "| rows | exact SVM | 1 of 1 | 0.0 | 0.5 |"
    assert kinds[1] == "| rows | linear | 0 of 1 | 5.0 | 0.25 |"
    assert len(kinds) == 2
    likes = like_beside_like(field).splitlines()[2:]
    assert likes[0] == "| **SmoSVC** beside SVC |  | 1 |  | -2.0 | 0.5 | 1 | 1 |"
    assert likes[1] == "| **SGDSVC** beside LinearSVC |  |  | 1 | +5.0 | 0.5 | 1 | 1 |"
    assert len(likes) == 2


def test_the_overview_in_short_names_the_ends_and_where_nobody_beats_the_last_label():
    from bench.quality.pages import Field
    from reproduce.overview import in_short

    right = {"a": (90.0, 60.0), "b": (80.0, 70.0), "c": (70.0, 70.0), "d": (60.0, 60.0)}
    facts = {s: {m: {"accuracy": v[k]} for m, v in right.items()} for k, s in enumerate("xy")}
    facts["x"]["e"] = {"ended": "stopped after 60 s"}
    told = in_short(Field(facts, frozenset()), {"x": {"the last label": 89.0}})
    assert told.startswith("Least below the best in the mean: a (5.0); b (5.0); c (10.0). Most: d")
    assert "e (" not in told
    assert "Nobody" not in told
    told = in_short(Field(facts, frozenset()), {"y": {"the last label": 70.5}})
    assert told.endswith("Nobody reaches those who repeat the last label on y.")
