"""The journal of results: measured once, kept at once, forgotten on demand."""

import json

import pytest


@pytest.fixture
def journal(checkout, tmp_path):
    from reproduce.journal import Journal

    return lambda **words: Journal("try", folder=tmp_path, **words)


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
    def stop():
        raise KeyboardInterrupt

    first = journal()
    first.measure("a", lambda: {"n": 1})
    with pytest.raises(KeyboardInterrupt):
        first.measure("b", stop)
    assert journal().measure("a", stop) == {"n": 1}
    assert "b" not in journal()


def test_each_result_says_where_it_was_measured(journal):
    book = journal()
    book.measure("a", lambda: {"n": 1})
    page = json.loads(book.path.read_text())["a"]
    assert {"facts", "date", "machine", "commit", "versions"} <= set(page)
    assert not any(word in book.path.read_text() for word in ("/home", "/root", "/tmp"))
