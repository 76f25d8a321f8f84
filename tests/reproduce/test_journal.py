"""The journal of results: measured once, kept at once, in any number of processes."""

import json

import pytest

from onlinesvm.datasets import DownloadError


@pytest.fixture
def journal(checkout, tmp_path):
    from reproduce.journal import Journal

    return lambda **words: Journal("try", folder=tmp_path, **words)


def squared(task, order):
    """A cell; the second task has no data, and the third is a defect."""
    if task == "lost":
        raise DownloadError("not here")
    if task == "broken":
        raise ArithmeticError("no")
    return {"square": order**2}


def grid(*tasks):
    return [{"task": task, "order": order} for task in tasks for order in range(3)]


def test_a_result_is_measured_once_and_survives(journal):
    runs = []

    def run():
        runs.append(1)
        return {"error": 0.5}

    assert journal().measure("a", run) == {"error": 0.5}
    assert journal().measure("a", run) == {"error": 0.5}
    assert runs == [1]
    assert "a" in journal()
    assert "b" not in journal()
    assert journal(afresh=True).measure("a", run) == {"error": 0.5}
    assert runs == [1, 1]


def test_an_interrupted_run_keeps_what_was_done(journal):
    def stop(order):
        if order == 2:
            raise KeyboardInterrupt
        return {"n": order}

    cells = [{"order": order} for order in range(4)]
    with pytest.raises(KeyboardInterrupt):
        journal().work(cells, stop)
    assert journal(measured=True).work(cells, stop) == [{"n": 0}, {"n": 1}, None, None]


@pytest.mark.parametrize("jobs", [1, 2])
def test_cells_are_worked_in_any_number_of_processes(journal, jobs, capsys):
    found = journal(jobs=jobs).work(grid("a", "b"), squared)
    assert [facts["square"] for facts in found] == [0, 1, 4] * 2
    assert "6 of 6, 0 s left" in capsys.readouterr().out
    assert journal(jobs=jobs).work(grid("a"), squared) == found[:3]
    assert not capsys.readouterr().out


@pytest.mark.parametrize("jobs", [1, 2])
def test_one_failure_costs_no_other_cell(journal, jobs):
    with pytest.raises(ArithmeticError) as caught:
        journal(jobs=jobs).work(grid("broken", "a"), squared)
    assert "task broken" in caught.value.__notes__[-1]
    assert None not in journal(measured=True).work(grid("a"), squared)


def test_what_cannot_be_had_is_left_out_aloud(journal, capsys):
    assert journal().work(grid("lost", "a"), squared)[:4] == [None, None, None, {"square": 0}]
    assert "left out: squared, task lost, order 0: not here" in capsys.readouterr().out


def test_each_result_says_how_and_where_it_was_measured(journal):
    book = journal()
    book.work(grid("a"), squared)
    cell = json.loads(book.path.read_text())["cells"]["squared, task a, order 2"]
    assert {"facts", "settings", "date", "cpu_seconds", "origin"} <= set(cell)
    assert cell["settings"] == {"task": "a", "order": 2}
    origin = journal().origin(squared, {"task": "a", "order": 2})
    assert {"machine", "commit", "versions", "compiler"} <= set(origin)
    assert not any(word in book.path.read_text() for word in ("/home", "/root", "/tmp"))


def test_quick_results_are_never_among_the_others(journal):
    quick = journal(quick=True)
    quick.work(grid("a"), squared)
    assert quick.path.parent.name == "local"
    assert quick.size(10_000, 100) == 100
    assert journal(measured=True).work(grid("a"), squared) == [None] * 3


def test_two_processes_do_not_overwrite_each_other(journal, tmp_path):
    from onlinesvm.stream.run.lock import Lock
    from reproduce.journal import InUse

    early, late = journal(), journal()  # both have read an empty file
    early.work(grid("a"), squared)
    late.work(grid("b"), squared)
    assert None not in journal(measured=True).work(grid("a", "b"), squared)
    other = Lock(tmp_path / "try.lock")
    with pytest.raises(InUse, match="another process measures 'try'; wait until it ends"):
        journal().work(grid("c"), squared)
    assert journal().work(grid("a"), squared) == early.work(grid("a"), squared)  # may read
    other.release()
    assert None not in journal().work(grid("c"), squared)


def test_what_is_known_is_told_without_a_run(journal):
    journal().work(grid("a"), squared)
    assert journal().known(grid("a", "b"), squared)[2:4] == [{"square": 4}, None]


def test_afresh_forgets_what_was_there_and_not_what_it_measures(journal):
    journal().work(grid("a", "b"), squared)
    book = journal(afresh=True)
    for task in "ac":
        book.work(grid(task), squared)
    assert journal().known(grid("b"), squared) == [None] * 3
    assert None not in journal().known(grid("a", "c"), squared)
