"""The Huller's figures at a tiny size: blobs in place of digits."""

import numpy as np
import pytest


@pytest.fixture
def huller(checkout, monkeypatch):
    from reproduce import huller

    rng = np.random.default_rng(0)
    centres = rng.uniform(0, 1, (10, 30))
    labels = [rng.integers(0, 10, n) for n in (300, 200)]
    X, X_test = (
        (centres[y] + 0.15 * rng.normal(size=(len(y), 30))).astype(np.float32) for y in labels
    )
    monkeypatch.setattr(huller, "mnist", lambda: (X, labels[0], X_test, labels[1]))
    return huller


@pytest.fixture
def journal(huller, tmp_path):
    from reproduce.journal import Journal

    return Journal("huller", folder=tmp_path, quick=True)


def test_both_figures_have_a_line_for_each_digit_and_a_verdict_on_each_sentence(huller, journal):
    shown = huller.figure_5(journal)
    assert shown.text.split("\n\n")[1].startswith(
        "| digit | Huller x1 | Huller x2 | Huller x5 | LIBSVM |"
    )
    assert "\n| 0 | " in shown.text
    assert len(shown.verdicts) == len(huller.SENTENCES) * len(huller.CACHE_DIGITS)
    assert all(one.word != "not measured yet" for one in shown.verdicts)
    assert shown.picture is not None
    caches = huller.figure_6(journal)
    assert "| 64 MB |" in caches.text
    assert len(caches.verdicts) == 2 * 2 * 2 + 1


def test_epochs_approach_the_solution_that_libsvm_finds(huller):
    batch = huller.libsvm(digit=0, cache_mb=256, rows=300)
    after = huller.huller(digit=0, order=0, cache_mb=256, epochs=20, rows=300)["after"]
    excesses = [huller.excess([facts], [batch]) for facts in after]
    assert 0 <= excesses[-1] + 0.1 <= 1.0  # percent; LIBSVM itself stops within its tolerance
    assert excesses[-1] < excesses[0]


def test_the_paired_test_counts_rows_that_only_one_gets_wrong(huller):
    ours = [{"wrong": [1, 2, 3, 4, 5, 9]}]
    assert huller.discordance(ours, [{"wrong": [9]}]) == pytest.approx(2 * 0.5**5)
    assert huller.discordance(ours, ours) == 1.0
    assert huller.discordance([*ours, {"wrong": [9]}, {"wrong": [9]}], [{"wrong": [9]}]) == 1.0


def test_what_is_not_measured_yet_is_said_so(huller, tmp_path):
    from reproduce.journal import Journal

    journal = Journal("huller", folder=tmp_path, quick=True)
    plan = huller.Plan.of(journal)
    journal.work(plan.libsvm(plan.digits), huller.libsvm)
    shown = huller.figure_5(Journal("huller", folder=tmp_path, quick=True, measured=True))
    assert {one.word for one in shown.verdicts} == {"not measured yet"}
    nothing = huller.figure_6(Journal("huller", folder=tmp_path, measured=True))
    assert [one.word for one in nothing.verdicts] == ["not measured yet"]
    assert nothing.text == ""  # an empty table must not replace one that was measured
