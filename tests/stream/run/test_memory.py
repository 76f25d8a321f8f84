"""A run takes as much memory for a long file as for a short one."""

from __future__ import annotations

import tracemalloc

import pytest
from doubles import LABELS, a_model, stream

from onlinesvm.stream.run import Run, RunOptions
from onlinesvm.stream.sources import open_source


def peak_of_a_run(folder, rows, kept=None):
    """The most bytes that were held at once, by Python and NumPy."""
    X, y = stream(rows)
    lines = [",".join(map(repr, x)) + f",{label}\n" for x, label in zip(X.tolist(), y, strict=True)]
    folder.mkdir()
    (folder / "rows.csv").write_text("a,b,c,y\n" + "".join(lines))
    del X, y, lines
    options = RunOptions(classes=LABELS, every=1000, checkpoint_seconds=1e9)
    tracemalloc.start()
    try:
        source = open_source(str(folder / "rows.csv"), target="y")
        with Run.begin(folder / "run", source, a_model(), options) as run:
            take = run._take

            def taken(block):
                if kept is not None:
                    kept.append(block)
                take(block)

            run._take = taken
            for _ in run.steps():
                pass
            assert run.seen == rows
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    folder = tmp_path_factory.mktemp("short")
    peak_of_a_run(folder / "first", 2000)  # what is imported on the way
    return peak_of_a_run(folder / "short", 40_000)


@pytest.mark.slow
def test_memory_is_flat_whatever_the_length_of_the_file(tmp_path, short):
    assert peak_of_a_run(tmp_path / "long", 240_000) < 1.1 * short


@pytest.mark.slow
def test_and_the_measure_sees_a_run_that_keeps_its_rows(tmp_path, short):
    assert peak_of_a_run(tmp_path / "long", 240_000, kept=[]) > 1.5 * short
