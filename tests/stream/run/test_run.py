"""A run gives the same bits however it is cut, stopped, moved or fed."""

from __future__ import annotations

import gzip
import json
import shutil
import signal
import sqlite3
import tempfile
import warnings
from contextlib import closing, contextmanager, suppress
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from doubles import LABELS, ArraySource, a_model, outcome, stream, through
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import examples

import onlinesvm
from onlinesvm import (
    NormaOneClassSVM,
    OnlineColumns,
    OnlineOneHot,
    OnlineScaler,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    RampSVC,
    make_online_pipeline,
)
from onlinesvm.stream import Lesson, prequential
from onlinesvm.stream.run import Run, RunOptions, read_run
from onlinesvm.stream.sources import open_source


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    X, y = stream()
    return through(tmp_path_factory.mktemp("whole") / "run", ArraySource(X, y, spoilt=13))[0]


def test_its_metrics_are_those_of_prequential(tmp_path):
    X, y = stream()
    options = RunOptions(lesson=40, classes=LABELS, every=90, window=60)
    cuts = [0]
    while cuts[-1] < len(y):
        cuts.append(min(cuts[-1] + min(40, max(1, cuts[-1] // 8)), len(y)))
    lessons = [Lesson(X[a:b], y[a:b]) for a, b in pairwise(cuts)]
    with Run.begin(tmp_path / "run", ArraySource(X, y), RampSVC(C=2), options) as run:
        list(run.steps())
    found = read_run(tmp_path / "run").evaluation()
    baselines = ("no-change", "majority")
    oracle = prequential(
        {"RampSVC": RampSVC(C=2)},
        lessons,
        classes=LABELS,
        every=90,
        window=60,
        baselines=baselines,
    )
    for ours, theirs in zip(found, oracle, strict=True):
        assert list(ours) == list(theirs)
        for name, shot in theirs.items():
            expected, got = shot.row(), ours[name].row()
            for machine in ("seconds", "examples_per_second", "nbytes"):
                del expected[machine], got[machine]
            assert repr(got) == repr(expected)


@settings(max_examples=examples(15))
@given(block=st.integers(1, 700), replays=st.booleans(), lesson=st.sampled_from([7, 1024]))
def test_property_borders_of_blocks_do_not_matter(block, replays, lesson):
    X, y = stream(300)
    with tempfile.TemporaryDirectory() as folder:
        source = ArraySource(X, y, spoilt=13, block=block, replays=replays)
        one, _ = through(f"{folder}/one", source, lesson=lesson, fsync="never")
        other, _ = through(f"{folder}/two", ArraySource(X, y, spoilt=13), lesson=lesson)
    assert one == other


@pytest.mark.parametrize("replays", [True, False])
@pytest.mark.parametrize("seconds", [0.0, 30.0])
@pytest.mark.parametrize("stops", [1, 3])
def test_stopped_and_resumed_is_never_stopped(tmp_path, undisturbed, replays, seconds, stops):
    X, y = stream()
    folder, options = tmp_path / "run", {"checkpoint_seconds": seconds}
    options = RunOptions(classes=LABELS, every=90, window=60, **options)
    since = 0
    run = Run.begin(folder, ArraySource(X, y, spoilt=13, replays=replays), a_model(), options)
    while run.ended is None:
        with run:
            for count, _ in enumerate(run.steps(), 1):
                if count == stops and not run.ended:
                    break
            since = run.arrived
        if run.ended is None:
            again = ArraySource(X, y, spoilt=13, replays=replays, since=since)
            run = Run.resume(folder, again)
            assert run.arrived == since
    assert outcome(folder) == undisturbed


@pytest.mark.parametrize("replays", [True, False])
def test_killed_without_a_word_and_resumed_is_never_stopped(tmp_path, undisturbed, replays):
    X, y = stream()
    folder = tmp_path / "run"
    options = RunOptions(classes=LABELS, every=90, window=60)
    run = Run.begin(folder, ArraySource(X, y, spoilt=13, replays=replays), a_model(), options)
    for number in range(40):
        steps = run.steps()
        told = next(steps).seen
        if number % 3 == 1 and not run.ended:
            run.checkpoint()
        if run.ended:
            break
        run._store.close()
        run._lock.release()  # all that the end of a process does by itself
        again = ArraySource(X, y, spoilt=13, replays=replays, since=run.arrived)
        run = Run.resume(folder, again)
        assert run.arrived >= told or replays
    else:
        list(run.steps())
    run.close()
    assert outcome(folder) == undisturbed


def test_resumed_after_its_end_it_has_nothing_to_do(tmp_path, undisturbed):
    X, y = stream()
    folder = tmp_path / "run"
    through(folder, ArraySource(X, y, spoilt=13))
    with Run.resume(folder, ArraySource(X, y, spoilt=13)) as run:
        (moment,) = run.steps()
    assert moment.seen == run.seen == len(y) - len(y) // 13
    assert run.ended == "source"
    assert outcome(folder) == undisturbed


def test_a_copy_of_the_folder_resumes_elsewhere(tmp_path, undisturbed):
    X, y = stream()
    options = RunOptions(classes=LABELS, every=90, window=60)
    with Run.begin(tmp_path / "here", ArraySource(X, y, spoilt=13), a_model(), options) as run:
        next(run.steps())
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    shutil.rmtree(tmp_path / "here")
    with Run.resume(tmp_path / "there", ArraySource(X, y, spoilt=13)) as run:
        list(run.steps())
    assert outcome(tmp_path / "there") == undisturbed


def test_dead_letters_are_all_there_in_order(tmp_path):
    X, y = stream()
    through(tmp_path / "run", ArraySource(X, y, spoilt=13))
    letters = list(read_run(tmp_path / "run").dead_letters())
    assert [letter["line"] for letter in letters] == list(range(13, len(y) + 1, 13))
    assert letters[0] == {
        "file": "arrays",
        "line": 13,
        "byte": 120,
        "column": "x0",
        "reason": "spoilt",
        "text": "row 12",
    }


def test_a_row_that_the_model_refuses_is_a_dead_letter(tmp_path):
    X, y = stream()
    X[[200, 450, 451], 1] = np.nan
    y = y.astype("U10")
    y[300] = "vielleicht"
    _, moments = through(tmp_path / "run", ArraySource(X, y), PassiveAggressiveClassifier())
    assert (moments[-1].seen, moments[-1].bad) == (len(y) - 4, 4)
    letters = list(read_run(tmp_path / "run").dead_letters())
    assert [json.loads(letter["text"])["y"] for letter in letters] == [
        *y[[200, 300, 450, 451]].tolist()
    ]
    assert "vielleicht" in letters[1]["reason"]
    assert all("\n" not in letter["reason"] for letter in letters)
    alone = PassiveAggressiveClassifier()
    good = np.setdiff1d(np.arange(len(y)), [200, 300, 450, 451])
    alone.partial_fit(X[good], y[good], classes=LABELS)
    model = onlinesvm.load(tmp_path / "run" / "model.onlinesvm")
    assert model.coef_.tobytes() == alone.coef_.tobytes()


def test_before_anything_is_learned_an_error_is_raised(tmp_path):
    X, y = stream()
    X[0, 0] = np.nan
    run = Run.begin(tmp_path / "run", ArraySource(X, y), RampSVC(), RunOptions(classes=LABELS))
    with pytest.raises(ValueError, match="NaN"), run:
        list(run.steps())
    assert run.bad == 0


def test_regressors_detectors_and_sparse_rows(tmp_path):
    X, _ = stream(200)
    for name, source, model in (
        ("regressor", ArraySource(X, X[:, 0], spoilt=7), PassiveAggressiveRegressor()),
        ("detector", ArraySource(X, spoilt=7), NormaOneClassSVM()),
        (
            "sparse",
            ArraySource(sp.csr_array(np.abs(X)), X[:, 0] > 0, spoilt=7),
            PassiveAggressiveClassifier(classes=[False, True]),
        ),
    ):
        for replays in (True, False):
            source.replays = replays
            folder = tmp_path / f"{name}-{replays}"
            with Run.begin(folder, source, model.__class__(**model.get_params())) as run:
                next(run.steps())
                since = run.arrived
            source.since = since
            with Run.resume(folder, source) as run:
                *_, last = run.steps()
            source.since = 0
            assert (last.seen, last.bad) == (172, 28)
        assert outcome(tmp_path / f"{name}-True") == outcome(tmp_path / f"{name}-False")


# --- live sources ---------------------------------------------------------------------------------


class Trickle(ArraySource):
    """A live source that falls silent behind the rows named; then it goes on."""

    def __init__(self, X, y, silences, **more):
        super().__init__(X, y, live=True, block=8, **more)
        self.silences = silences
        self.lag = 3.0

    def blocks(self, since=None):
        for block in super().blocks(since):
            yield block
            if block.end["row"] in self.silences:
                return


@pytest.mark.parametrize("replays", [True, False])
def test_silence_ends_a_lesson_and_the_log_remembers_where(tmp_path, replays):
    X, y = stream(200)
    options = RunOptions(classes=LABELS, every=90, window=60)
    states = []
    for name, stop in (("whole", 200), ("killed", 160)):
        source = Trickle(X, y, {80, 120, 160, 200}, replays=replays)
        run = Run.begin(tmp_path / name, source, a_model(), options)
        steps = run.steps()
        seen = {(moment := next(steps)).seen for _ in iter(lambda: run.seen < stop, False)}  # noqa: B023
        assert {80, 120, 160} <= seen
        assert moment.lag == 3.0
        if stop < 200:
            run._store.close()
            run._lock.release()
            # Another process meets one silence only, and still cuts where there were others.
            for _ in range(2):  # cuts still to come outlive a checkpoint
                again = Trickle(X, y, {200}, replays=replays, since=run.arrived)
                run = Run.resume(tmp_path / name, again)
                next(run.steps())
                run.checkpoint()
                run._store.close()
                run._lock.release()
            run = Run.resume(
                tmp_path / name, Trickle(X, y, {200}, replays=replays, since=run.arrived)
            )
            steps = run.steps()
            while run.seen < 200:
                next(steps)
        states.append(run._course.state())
        del states[-1]["runners"]["PassiveAggressiveClassifier"]["own"]["seconds"]
        run.close()
    assert repr(states[0]) == repr(states[1])
    assert outcome(tmp_path / "whole") == outcome(tmp_path / "killed")


def test_a_live_source_can_end_with_its_silence(tmp_path):
    X, y = stream(200)
    source = Trickle(X, y, {120})
    _, moments = through(tmp_path / "run", source, silence="end")
    assert moments[-1].seen == 120


# --- signals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_a_checkpoint(tmp_path, undisturbed, number):
    X, y = stream()
    folder = tmp_path / "run"
    options = RunOptions(classes=LABELS, every=90, window=60)
    before = signal.getsignal(number)
    with Run.begin(folder, ArraySource(X, y, spoilt=13), a_model(), options) as run:
        for _ in run.steps():
            if not run.ended:
                signal.raise_signal(number)
    assert run.ended == "signal"
    assert 0 < run.seen < 300
    assert signal.getsignal(number) is before
    assert read_run(folder).checkpoint().taken == run.seen
    with Run.resume(folder, ArraySource(X, y, spoilt=13)) as run:
        list(run.steps())
    assert outcome(folder) == undisturbed


def test_a_signal_is_heard_while_waiting_for_rows(tmp_path):
    X, y = stream()

    class Interrupting(ArraySource):
        def blocks(self, since=None):
            yield from list(super().blocks(since))[:4]
            signal.raise_signal(signal.SIGINT)
            raise AssertionError("the signal was not heard")

    options = RunOptions(classes=LABELS)
    with Run.begin(tmp_path / "run", Interrupting(X, y), a_model(), options) as run:
        list(run.steps())
    assert run.ended == "signal"
    assert read_run(tmp_path / "run").checkpoint().arrived == 200


def test_ctrl_c_within_a_lesson_leaves_the_checkpoint_before(tmp_path, undisturbed):
    X, y = stream()
    options = RunOptions(classes=LABELS, every=90, window=60)

    run = Run.begin(tmp_path / "run", ArraySource(X, y, spoilt=13), a_model(), options)
    steps = run.steps()
    next(steps)
    run.checkpoint()
    attend = run._course.attend

    def interrupted(lesson, keys):
        attend(lesson, keys)
        raise KeyboardInterrupt

    run._course.attend = interrupted
    with pytest.raises(KeyboardInterrupt):
        next(steps)
    run.close()
    with Run.resume(tmp_path / "run", ArraySource(X, y, spoilt=13)) as run:
        list(run.steps())
    assert outcome(tmp_path / "run") == undisturbed


# --- refusals -------------------------------------------------------------------------------------


def test_two_processes_on_one_folder(tmp_path):
    X, y = stream()
    source = ArraySource(X, y)
    with Run.begin(tmp_path / "run", source, a_model(), RunOptions(classes=LABELS)):
        with pytest.raises(ValueError, match="in use by process"):
            Run.resume(tmp_path / "run", source)
        with pytest.raises(ValueError, match="in use by process"):
            Run.begin(tmp_path / "run", source, a_model())
        assert read_run(tmp_path / "run").checkpoint().taken == 0
    Run.resume(tmp_path / "run", source).close()


def test_folders_that_are_not_free(tmp_path):
    X, y = stream()
    source = ArraySource(X, y)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("...")
    with pytest.raises(ValueError, match=r"thesis\.tex"):
        Run.begin(tmp_path / "mine", source, a_model())
    Run.begin(tmp_path / "run", source, a_model()).close()
    with pytest.raises(ValueError, match="has a run already"):
        Run.begin(tmp_path / "run", source, a_model())
    with pytest.raises(ValueError, match=r"no run: run\.sqlite is missing"):
        Run.resume(tmp_path / "mine", source)
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "..."


@pytest.mark.parametrize(
    ("model", "options", "match"),
    [
        (RampSVC(kernel=lambda a, b: 1.0), {}, "function"),
        (onlinesvm.OfflineRampSVC(), {}, "neither partial_fit"),
        (type("Mine", (RampSVC,), {})(), {}, "class of your own"),
        (RampSVC(), {"metrics": ["mae"]}, "not for a classifier"),
        (RampSVC(), {"baselines": ["luck"]}, "no-change"),
        (RampSVC(), {"classes": ["ja", 2**70]}, "classes must be labels of one type"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_written(tmp_path, model, options, match):
    X, y = stream()
    with pytest.raises(ValueError, match=match):
        Run.begin(tmp_path / "run", ArraySource(X, y), model, RunOptions(**options))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"lesson": 0}, "lesson"),
        ({"every": 0}, "every"),
        ({"window": -1}, "window"),
        ({"fsync": "sometimes"}, "fsync must be one of 'always'"),
        ({"silence": "hope"}, "silence"),
        ({"metrics": "accuracy"}, r"put \[ \]"),
        ({"metrics": ["luck"]}, "metrics must be one of"),
        ({"checkpoint_seconds": float("nan")}, "checkpoint_seconds"),
        ({"classes": [object()]}, "classes"),
    ],
)
def test_options_are_checked_when_they_are_made(options, match):
    with pytest.raises(ValueError, match=match):
        RunOptions(**options)


def test_options_come_back():
    options = RunOptions(lesson=3, classes=np.array([1, 2]), metrics=["accuracy"], fsync="always")
    assert RunOptions.from_json(json.loads(json.dumps(options.to_json()))) == options


def test_another_source_is_refused(tmp_path):
    X, y = stream()
    Run.begin(tmp_path / "run", ArraySource(X, y), a_model(), RunOptions(classes=LABELS)).close()
    with pytest.raises(ValueError, match="not the one"):
        Run.resume(tmp_path / "run", ArraySource(X[:-1], y[:-1]))
    with pytest.raises(ValueError, match="other columns"):
        Run.resume(tmp_path / "run", ArraySource(X[:, :2], y))


@pytest.mark.parametrize("part", [0, 1])
def test_a_run_of_another_format_is_refused_by_name(tmp_path, part):
    X, y = stream()
    Run.begin(tmp_path / "run", ArraySource(X, y), a_model(), RunOptions(classes=LABELS)).close()
    with database(tmp_path / "run") as db:
        facts = json.loads(*db.execute("SELECT config FROM about").fetchone())
        facts["format"][part] += 1
        facts["versions"]["onlinesvm"] = "9.8.7"
        db.execute("UPDATE about SET config = ?", (json.dumps(facts),))
    with pytest.raises(ValueError, match=r"of onlinesvm 9\.8\.7"):
        Run.resume(tmp_path / "run", ArraySource(X, y))


def test_a_run_of_an_earlier_version_is_refused(tmp_path):
    X, y = stream()
    (tmp_path / "run.json").write_text("{}")
    for verb in (Run.resume, lambda *words: Run.begin(*words, a_model())):
        with pytest.raises(ValueError, match="of an earlier version of onlinesvm"):
            verb(tmp_path, ArraySource(X, y))


# --- damage ---------------------------------------------------------------------------------------


def a_run_that_was_killed(folder, replays=True):
    """Three checkpoints, two of them left, and a log behind the last."""
    X, y = stream()
    options = RunOptions(classes=LABELS, every=90, window=60)
    source = ArraySource(X, y, spoilt=13, replays=replays)
    run = Run.begin(folder, source, a_model(), options)
    steps = run.steps()
    for _ in range(2):
        next(steps)
        run.checkpoint()
    next(steps)
    run._store.close()
    run._lock.release()
    return ArraySource(X, y, spoilt=13, replays=replays, since=run.arrived)


@contextmanager
def database(folder):
    """The database of a run, to be changed behind its back."""
    with closing(sqlite3.connect(folder / "run.sqlite")) as db, db:
        yield db


def flip(data, at):
    changed = bytearray(data)
    changed[at] ^= 4
    return bytes(changed)


def damage(folder, number):
    with database(folder) as db:
        ((data,),) = db.execute("SELECT data FROM checkpoints WHERE number = ?", (number,))
        words = (flip(data, len(data) // 2), number)
        db.execute("UPDATE checkpoints SET data = ? WHERE number = ?", words)


@pytest.mark.parametrize("replays", [True, False])
def test_a_damaged_checkpoint_falls_back_to_the_one_before(tmp_path, undisturbed, replays):
    folder = tmp_path / "run"
    source = a_run_that_was_killed(folder, replays)
    damage(folder, 2)
    with pytest.warns(RuntimeWarning, match="going on from checkpoint 1, the one before"):
        run = Run.resume(folder, source)
    with run:
        list(run.steps())
    assert outcome(folder) == undisturbed


def test_both_checkpoints_damaged_is_one_line(tmp_path):
    folder = tmp_path / "run"
    source = a_run_that_was_killed(folder)
    for number in (1, 2):
        damage(folder, number)
    before = (folder / "run.sqlite").read_bytes()
    with pytest.raises(ValueError, match="cannot be resumed") as error:
        Run.resume(folder, source)
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="cannot be read"):
        read_run(folder).checkpoint()
    with database(folder) as db:
        assert db.execute("SELECT count(DISTINCT number) FROM checkpoints").fetchone() == (2,)
    assert len(before) == len((folder / "run.sqlite").read_bytes())


def test_shortened_dead_letters_fall_back_too(tmp_path, undisturbed):
    folder = tmp_path / "run"
    source = a_run_that_was_killed(folder)
    with open(folder / "dead_letters.jsonl", "r+b") as file:
        file.truncate(read_run(folder).checkpoint().letters - 1)
    with pytest.warns(RuntimeWarning, match=r"dead_letters\.jsonl has"):
        run = Run.resume(folder, source)
    with run:
        list(run.steps())
    assert outcome(folder) == undisturbed


def test_every_torn_tail_of_what_is_written_ahead_is_cut(tmp_path, undisturbed):
    X, y = stream()
    options = RunOptions(classes=LABELS, every=90, window=60)
    source = ArraySource(X, y, spoilt=13, replays=False)
    with Run.begin(tmp_path / "run", source, a_model(), options) as run:
        steps = run.steps()
        next(steps)
        run.checkpoint()
        next(steps)
        shutil.copytree(tmp_path / "run", tmp_path / "killed")
    torn = tmp_path / "torn"
    whole = (tmp_path / "killed" / "run.sqlite-wal").read_bytes()
    for length in [*range(0, 40, 8), *range(0, len(whole), 9973), len(whole) - 1, len(whole)]:
        shutil.rmtree(torn, ignore_errors=True)
        shutil.copytree(tmp_path / "killed", torn)
        (torn / "run.sqlite-wal").write_bytes(whole[:length])
        (torn / "run.sqlite-shm").unlink()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            run = Run.resume(torn, ArraySource(X, y, spoilt=13, replays=False))
        run._source.since = run.arrived
        with run:
            list(run.steps())
        assert outcome(torn) == undisturbed


def test_damage_within_the_log_is_told(tmp_path):
    folder = tmp_path / "run"
    source = a_run_that_was_killed(folder, replays=False)
    with database(folder) as db:
        last, data = db.execute("SELECT id, block FROM log ORDER BY id DESC").fetchone()
        db.execute("UPDATE log SET block = ? WHERE id = ?", (flip(data, 60), last))
    run = Run.resume(folder, source)
    with pytest.warns(RuntimeWarning, match="50 rows of the log are damaged and lost"), run:
        list(run.steps())
    assert run.arrived == 550


def test_a_flipped_bit_is_refused_or_harmless(tmp_path, undisturbed):
    source = a_run_that_was_killed(tmp_path / "run")
    data = (tmp_path / "run" / "run.sqlite").read_bytes()
    rng, refused = np.random.default_rng(0), 0
    for at in [*range(0, 100, 9), *rng.integers(len(data), size=30).tolist()]:
        folder = tmp_path / "flipped"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(tmp_path / "run", folder)
        (folder / "run.sqlite").write_bytes(flip(data, at))
        found = None
        with warnings.catch_warnings(), suppress(ValueError, OSError):
            warnings.simplefilter("ignore", RuntimeWarning)
            with Run.resume(folder, source) as run:
                list(run.steps())
            found = outcome(folder)
        refused += found is None
        assert found is None or found[:2] == undisturbed[:2]
    assert 0 < refused < 40


def test_a_database_of_somebody_else_is_refused(tmp_path):
    X, y = stream(200)
    (tmp_path / "run").mkdir()
    with database(tmp_path / "run") as db:
        db.execute("CREATE TABLE mine (x)")
    for verb in (read_run, lambda folder: Run.resume(folder, ArraySource(X, y))):
        with pytest.raises(ValueError, match="is not a run that this version"):
            verb(tmp_path / "run")
    with pytest.raises(ValueError, match="has a run already"):
        Run.begin(tmp_path / "run", ArraySource(X, y), a_model())
    (tmp_path / "run" / "run.sqlite").write_bytes(b"no database, " * 999)
    with pytest.raises(ValueError, match="is damaged: file is not a database"):
        read_run(tmp_path / "run")


@pytest.mark.parametrize(
    "more",
    [
        "TRIGGER t AFTER INSERT ON log BEGIN DELETE FROM log; END",
        "VIEW v AS SELECT * FROM log",
        "TABLE more (x)",
    ],
)
def test_a_database_that_defines_more_is_refused(tmp_path, more):
    X, y = stream(200)
    Run.begin(tmp_path / "run", ArraySource(X, y), a_model(), RunOptions(classes=LABELS)).close()
    with database(tmp_path / "run") as db:
        db.execute(f"CREATE {more}")
    with pytest.raises(ValueError, match="is not a run that this version"):
        Run.resume(tmp_path / "run", ArraySource(X, y))


def test_a_row_of_metrics_that_is_none_is_one_line(tmp_path):
    X, y = stream(200)
    through(tmp_path / "run", ArraySource(X, y))
    for row in ("[1]", "{", b"\xff", None):
        with database(tmp_path / "run") as db:
            db.execute("UPDATE facts SET row = ?", (row,))
        with pytest.raises(ValueError, match="a row of metrics is no JSON object"):
            read_run(tmp_path / "run").metrics()


def test_a_line_of_dead_letters_without_end_is_left_out(tmp_path):
    X, y = stream(200)
    through(tmp_path / "run", ArraySource(X, y, spoilt=13))
    record = read_run(tmp_path / "run")
    letters = list(record.dead_letters())
    with open(tmp_path / "run" / "dead_letters.jsonl", "ab") as file:
        file.write(b'{"file": "Pass')
    assert list(record.dead_letters()) == letters
    with open(tmp_path / "run" / "dead_letters.jsonl", "ab") as file:
        file.write(b"\n")
    with pytest.raises(ValueError, match=r"line \d+: it is no JSON object"):
        list(record.dead_letters())


def test_a_run_is_read_while_it_goes_on_and_from_a_folder_without_writing(tmp_path):
    X, y = stream(400)
    folder = tmp_path / "run"
    options = RunOptions(classes=LABELS, every=90)
    with Run.begin(folder, ArraySource(X, y), a_model(), options) as run:
        read = [len(read_run(folder).metrics()) for _ in run.steps()]
    assert read == sorted(read)
    assert read[0] > 0
    before = {path.name for path in folder.iterdir()}
    folder.chmod(0o555)
    try:
        assert len(read_run(folder).metrics()) == read[-1]
    finally:
        folder.chmod(0o755)
    assert {path.name for path in folder.iterdir()} == before


def test_nothing_of_what_is_forgotten_stays_in_free_pages(tmp_path):
    X, y = stream()
    keys = ["the customer to forget" if i % 9 == 0 else f"k{i % 9}" for i in range(len(y))]
    folder, model = tmp_path / "run", onlinesvm.IncrementalSVC(kernel="linear")
    source = ArraySource(X, y, replays=False, keys=keys, block=16)
    run = Run.begin(folder, source, model, RunOptions(classes=LABELS, every=90))
    for _ in range(2):
        next(run.steps())
        run.checkpoint()

    def files():
        return b"".join(path.read_bytes() for path in folder.glob("*.sqlite*"))

    assert b"the customer to forget" in files()
    run.catch_up()
    run.model.unlearn(keys=["the customer to forget"])
    run.rewrite()
    assert b"the customer to forget" not in files()
    assert b"k3" in files()
    run.close()


# --- keys -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("replays", [True, False])
def test_keys_go_with_their_examples(tmp_path, replays):
    X, y = stream(200)
    keys = [f"customer {i % 7}" for i in range(len(y))]
    source = ArraySource(X, y, spoilt=13, replays=replays, keys=keys)
    with Run.begin(
        tmp_path / "run", source, RampSVC(settle="example"), RunOptions(classes=LABELS)
    ) as run:
        next(run.steps())
    with Run.resume(tmp_path / "run", source) as run:
        source.since = run.arrived
        list(run.steps())
    good = [i for i in range(len(y)) if (i + 1) % 13]
    alone = RampSVC(settle="example")
    alone.partial_fit(X[good], y[good], classes=LABELS, keys=[keys[i] for i in good])
    model = onlinesvm.load(tmp_path / "run" / "model.onlinesvm")
    for one in (model, alone):
        one.unlearn(keys=["customer 3"])
    assert model.support_.tolist() == alone.support_.tolist()
    assert model.dual_coef_.tobytes() == alone.dual_coef_.tobytes()


def test_a_model_without_keys_is_refused_a_source_with_some(tmp_path, monkeypatch):
    X, y = stream(20)
    source = ArraySource(X, y, keys=list(range(20)))
    narrow = {"raising": False}  # it is inherited
    monkeypatch.setattr(
        PassiveAggressiveClassifier, "partial_fit", lambda self, X, y, classes=None: self, **narrow
    )
    with pytest.raises(ValueError, match="source has keys, 'who'"):
        Run.begin(tmp_path / "run", source, PassiveAggressiveClassifier())


# --- files ----------------------------------------------------------------------------------------


def a_csv(path):
    rng = np.random.default_rng(5)
    with gzip.open(path, "wt") if path.suffix == ".gz" else open(path, "w") as file:
        file.write("age;town;note;bought\n")
        for i in range(900):
            age, town = rng.integers(18, 80), ("Rom", "Bonn", "")[rng.integers(3)]
            bought = "yes" if age > 40 or town == "Rom" else "no"
            file.write(f"{age if i % 97 else 'old'};{town};{'x' * (i % 5)};{bought}\n")


@pytest.mark.parametrize("name", ["shop.csv", "shop.csv.gz"])
def test_a_file_with_words_and_gaps_stopped_anywhere(tmp_path, name):
    pytest.importorskip("pyarrow")
    a_csv(tmp_path / name)

    def opened(schema=None):
        return open_source(str(tmp_path / name), target="bought", ignore=["note"], schema=schema)

    def model():
        columns = OnlineColumns(
            [("numbers", OnlineScaler(), ["age"]), ("words", OnlineOneHot(), ["town"])]
        )
        return make_online_pipeline(columns, PassiveAggressiveClassifier())

    results = []
    for stops in (False, True):
        folder = tmp_path / f"run {stops}"
        options = RunOptions(classes=["no", "yes"], lesson=40, every=100)
        run = Run.begin(folder, opened(), model(), options)
        while run.ended is None:
            with run:
                for _ in run.steps():
                    if stops and not run.ended:
                        break
            if run.ended is None:
                run = Run.resume(folder, opened(read_run(folder).schema))
        results.append(outcome(folder))
        assert (run.seen, run.bad) == (890, 10)
    assert results[0] == results[1]


def test_a_checkpoint_that_would_lack_rows_of_a_log_is_refused(tmp_path):
    X, y = stream()
    whole = ArraySource(X, y, replays=False)
    begun = Run.begin(tmp_path / "run", whole, a_model(), RunOptions(classes=LABELS, every=90))
    told = next(begun.steps()).seen
    arrived = begun.arrived
    begun._store.close()
    begun._lock.release()
    again = Run.resume(tmp_path / "run", ArraySource(X, y, replays=False, since=len(y)))
    for verb in (again.checkpoint, again.rewrite):
        with pytest.raises(ValueError, match="catch_up"):
            verb()
    again.catch_up()
    assert again.seen == arrived >= told
    again.rewrite()
    assert read_run(tmp_path / "run").checkpoint().course["seen"] == arrived
    again.close()


def test_a_pipe_that_ended_well_can_be_changed_and_saved(tmp_path):
    X, y = stream()
    options = RunOptions(classes=LABELS)
    with Run.begin(tmp_path / "run", ArraySource(X, y, replays=False), a_model(), options) as run:
        list(run.steps())
    again = Run.resume(tmp_path / "run", ArraySource(X, y, replays=False, since=len(y)))
    again.model.steps[-1][1].set_params(C=0.25)
    again.checkpoint()
    again.close()
    assert read_run(tmp_path / "run").model().steps[-1][1].C == 0.25
