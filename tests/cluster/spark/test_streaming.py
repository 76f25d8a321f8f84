"""Micro-batches: each counts once, whatever fails, and the result is that of one machine."""

import json
import os
import shutil

import numpy as np
import pyarrow as pa
import pytest

import onlinesvm
from onlinesvm import LabelDesk, OnlineScaler, RampSVC, make_online_pipeline
from onlinesvm.label_budgets import LabelShare
from onlinesvm.queries import Margin

pytest.importorskip("pyspark")

from onlinesvm.cluster.spark import StreamDesk, StreamLearner, read_stream
from onlinesvm.cluster.spark.batches import BatchFolder
from onlinesvm.cluster.spark.streaming import metrics_schema
from onlinesvm.stream.run import RunOptions

OPTIONS = RunOptions(classes=["no", "yes"], lesson=64)
CLASSES = np.array(["no", "yes"])  # as a course names them
FEATURES = ["a", "b"]


def rows(n, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, np.array(["no", "yes"])[(X[:, 0] * X[:, 1] > 0).astype(int)]


def frame(spark, X, y=None, start=0, parts=3, **more):
    columns = {"time": np.arange(start, start + len(X)), "a": X[:, 0], "b": X[:, 1]}
    if y is not None:
        columns["sold"] = y.tolist()
    return spark.createDataFrame(pa.table(columns | more)).repartition(parts)


def machine():
    return make_online_pipeline(OnlineScaler(), RampSVC(C=10, gamma=1.0, settle="example"))


def learner(folder, model=None, **settings):
    settings = {"order": "time", "options": OPTIONS} | settings
    return StreamLearner(model or machine(), folder, FEATURES, "sold", **settings)


def saved(model, tmp_path):
    model.save(tmp_path / "some.onlinesvm")
    return (tmp_path / "some.onlinesvm").read_bytes()


def told_by(folder):
    """All that a folder tells but for seconds: model, batches, every published file."""
    home = BatchFolder(folder, StreamLearner._kind)
    kept = home.read()
    home.release()
    files = {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*.json")}
    return kept.state, kept.batches, kept.facts["course"]["seen"], files


@pytest.fixture(scope="module")
def batches(spark):
    X, y = rows(600)
    cuts = [(0, 250), (250, 251), (251, 600)]
    made = [frame(spark, X[a:b], y[a:b], a).cache() for a, b in cuts]
    yield made
    for one in made:
        one.unpersist()


def test_in_the_users_order_it_is_the_model_of_one_machine(batches, tmp_path):
    X, y = rows(600)
    alone = machine()
    for a, b in [(0, 1), (1, 250), (250, 600)]:
        alone.partial_fit(X[a:b], y[a:b], classes=CLASSES)
    with learner(tmp_path / "folder") as stream:
        for number, batch in enumerate(batches):
            stream.learn(batch, number)
        assert saved(stream.model, tmp_path) == saved(alone, tmp_path)
        assert (stream.batch, stream.seen, stream.bad) == (2, 600, 0)
        last = [row for row in stream.metrics() if row["model"] == "RampSVC"]
    assert [row["batch"] for row in last] == [0, 1, 2]
    assert [row["seen"] for row in last] == [250, 251, 600]
    assert last[-1]["window_accuracy"] > 0.9


def test_weights_count_in_learning_and_not_in_exams(spark, tmp_path):
    X, y = rows(60)
    w = np.arange(60) % 3 / 2.0
    alone = machine().partial_fit(X, y, classes=CLASSES, sample_weight=w)
    with learner(tmp_path / "folder", weight="w") as stream:
        stream.learn(frame(spark, X[:45], y[:45], w=w[:45]), 0)
        stream.learn(frame(spark, X[45:], y[45:], 45, w=w[45:]), 1)
        assert saved(stream.model, tmp_path) == saved(alone, tmp_path)
        assert stream.seen == 60
        bad = np.where(np.arange(3) == 1, -1.0, 1.0)
        stream.learn(frame(spark, X[:3], y[:3], 60, w=bad), 2)
        assert stream.bad == 1
        assert "sample_weight" in stream.dead_letters()[0]["reason"]
    plain = machine().partial_fit(X, y, classes=CLASSES)
    assert saved(plain, tmp_path) != saved(alone, tmp_path)  # they do count


def test_repeats_are_passed_over_and_a_new_process_goes_on(batches, tmp_path):
    with learner(tmp_path / "once") as once:
        for number, batch in enumerate(batches):
            once.learn(batch, number)
    for number, batch in enumerate(batches):
        with learner(tmp_path / "often") as often:
            often.learn(batch, number)
            often.learn(batch, number)
    with learner(tmp_path / "often") as often:
        often.learn(batches[-1], len(batches) - 1)
        assert often.seen == 600
        with pytest.raises(ValueError, match="in use by process"):
            learner(tmp_path / "often")
        with pytest.raises(ValueError, match="batch 0 comes after batch 2"):
            often.learn(batches[0], 0)
    assert told_by(tmp_path / "often") == told_by(tmp_path / "once")


@pytest.mark.parametrize("call", range(5))
def test_wherever_the_disk_fails_a_batch_has_happened_or_not(batches, tmp_path, monkeypatch, call):
    """Each of the calls that make a file appear is refused once."""
    with learner(tmp_path / "sound") as sound:
        for number, batch in enumerate(batches[:2]):
            sound.learn(batch, number)
    with learner(tmp_path / "broken") as broken:
        broken.learn(batches[0], 0)
        calls = iter(range(100))
        real = os.replace

        def replace(*names, **options):
            if next(calls) == call:
                raise OSError(28, "no space left on device")
            return real(*names, **options)

        monkeypatch.setattr(os, "replace", replace)
        try:
            broken.learn(batches[1], 1)
        except OSError:
            broken.learn(batches[1], 1)  # as Spark does when the query is started again
    assert told_by(tmp_path / "broken") == told_by(tmp_path / "sound")


def test_what_a_crash_left_unsaid_is_said_by_the_next(batches, tmp_path):
    with learner(tmp_path / "a") as stream:
        stream.learn(batches[0], 0)
        said = stream.metrics()
    shutil.rmtree(tmp_path / "a" / "metrics")
    with learner(tmp_path / "a") as stream:
        assert stream.metrics() == said


def test_bad_rows_are_dead_letters(spark, tmp_path):
    X, y = rows(40)
    labels = y.tolist()
    labels[20], labels[30] = None, "maybe"
    table = pa.table({"time": np.arange(40), "a": X[:, 0], "b": X[:, 1], "sold": labels})
    with learner(tmp_path / "folder") as stream:
        stream.learn(spark.createDataFrame(table).coalesce(1), 0)
        assert (stream.seen, stream.bad) == (38, 2)
        letters = stream.dead_letters()
        assert [letter["row"]["time"] for letter in letters] == [20, 30]
        assert letters[0]["reason"] == "column 'sold' is null"
        assert "maybe" in letters[1]["reason"]
        alone = machine()
        good = [i for i in range(40) if i not in (20, 30)]
        alone.partial_fit(X[good], y[good], classes=CLASSES)
        assert saved(stream.model, tmp_path) == saved(alone, tmp_path)


def test_a_batch_that_fails_half_way_has_changed_nothing(batches, tmp_path, monkeypatch):
    with learner(tmp_path / "folder") as stream:
        stream.learn(batches[0], 0)
        before = saved(stream.model, tmp_path)
        real, calls = type(stream._course).attend, iter(range(100))

        def attend(course, *lesson):
            if next(calls) == 3:
                raise KeyboardInterrupt
            return real(course, *lesson)

        monkeypatch.setattr(type(stream._course), "attend", attend)
        with pytest.raises(KeyboardInterrupt):
            stream.learn(batches[2], 1)
        assert saved(stream.model, tmp_path) == before
        assert (stream.batch, stream.seen) == (0, 250)


def test_another_model_is_refused(batches, tmp_path):
    learner(tmp_path / "folder").close()
    other = onlinesvm.PassiveAggressiveClassifier()
    with pytest.raises(ValueError, match="was begun with model 'RampSVC', not 'PassiveAggr"):
        learner(tmp_path / "folder", other)
    learner(tmp_path / "folder").close()  # and the folder is free again


def test_a_query_that_fails_and_is_started_again_learns_each_row_once(spark, tmp_path):
    """Real structured streaming: files in, metrics out as a stream of their own."""
    X, y = rows(400)
    for i in range(4):
        part = slice(100 * i, 100 * i + 100)
        table = {"time": np.arange(400)[part], "a": X[part, 0], "b": X[part, 1], "sold": y[part]}
        made = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        text = "\n".join(json.dumps(row, default=lambda v: v.item()) for row in made)
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / f"{i}.json").write_text(text)
        os.utime(tmp_path / "in" / f"{i}.json", (1000 + i, 1000 + i))
    schema = "time long, a double, b double, sold string"
    source = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    stream = source.json(str(tmp_path / "in"))

    def start(learn):
        return (
            stream.writeStream.foreachBatch(learn)
            .option("checkpointLocation", str(tmp_path / "offsets"))
            .trigger(availableNow=True)
            .start()
        )

    with learner(tmp_path / "folder") as first:

        def learn_and_fall(batch, number):
            first.learn(batch, number)
            if number == 2:
                raise RuntimeError("the driver falls after the batch was learned")

        with pytest.raises(Exception, match="the driver falls"):
            start(learn_and_fall).awaitTermination()
        assert first.seen == 300
    with learner(tmp_path / "folder") as again:
        start(again.learn).awaitTermination()
        alone = machine().partial_fit(X, y, classes=CLASSES)
        assert saved(again.model, tmp_path) == saved(alone, tmp_path)
        expected, columns = again.metrics(), metrics_schema(again)
    out = read_stream(spark, tmp_path / "folder", "metrics", columns)
    query = out.writeStream.format("memory").queryName("metrics").trigger(availableNow=True).start()
    query.awaitTermination()
    told = spark.table("metrics").orderBy("batch", "model").toArrow().to_pylist()
    assert told == sorted(expected, key=lambda row: (row["batch"], row["model"]))


def test_queries_go_out_and_answers_come_in_exactly_once(spark, tmp_path):
    X, y = rows(300)
    truth = dict(enumerate(y))

    def open_desk():
        model = RampSVC(C=10, gamma=1.0, classes=CLASSES)
        desk = LabelDesk(model, Margin(), LabelShare(0.2))
        return StreamDesk(desk, tmp_path / "desk", FEATURES, show=["time"], order="time")

    with open_desk() as desk:
        desk.ask(frame(spark, X[:100], start=0), 0)
        asked = desk.queries()
        assert 20 <= len(asked) == desk.desk.spent <= 21
    assert all(np.allclose([q["a"], q["b"]], X[q["time"]]) for q in asked)
    answers = [(q["ticket"], truth[q["time"]]) for q in asked]
    nonsense = [("no such ticket", "yes"), (answers[0][0], "yes"), (answers[1][0], None)]
    came = spark.createDataFrame([*answers, *nonsense], "ticket string, label string").coalesce(1)
    with open_desk() as desk:
        desk.ask(frame(spark, X[:100], start=0), 0)  # again: nothing is asked twice
        assert desk.queries() == asked
        desk.answer(came, 0)
        desk.answer(came, 0)
        assert desk.desk.answered == len(asked)
        assert desk.model.n_seen_ == len(asked)
        assert len(desk.dead_letters()) == 3
        desk.ask(frame(spark, X[100:], start=100), 1)
        assert desk.desk.seen == 300
        assert desk.metrics()[-1]["seen"] == len(asked)
        alone = RampSVC(C=10, gamma=1.0, classes=CLASSES)
        for query, (_, label) in zip(asked, answers, strict=True):
            alone.learn_one(X[query["time"]], label)
        assert np.array_equal(desk.model.decision_function(X), alone.decision_function(X))
