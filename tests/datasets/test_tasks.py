"""The nine tasks of the ramp paper."""

import os

import numpy as np
import pytest

from onlinesvm.datasets import PAPER_TASKS, paper_task

GENERATED = {"Checkerboard", "NCheckerboard", "Gauss", "Waveform"}
SIZES = {
    "Adult": (10000, 123, 16281),
    "Banana": (4300, 2, 1000),
    "Checkerboard": (10000, 2, 10000),
    "NCheckerboard": (10000, 2, 10000),
    "Cover": (10000, 54, 10000),
    "DNA": (2000, 180, 1186),
    "Gauss": (10000, 2, 10000),
    "USPS": (7291, 256, 2007),
    "Waveform": (10000, 21, 10000),
}


def task_or_skip(name, **options):
    if name not in GENERATED and not os.environ.get("ONLINESVM_DATA"):
        pytest.skip("real data: ONLINESVM_DATA is to name a folder of NAME.npz files")
    return paper_task(name, **options)


def test_nine_names():
    assert set(PAPER_TASKS) == set(SIZES)
    with pytest.raises(ValueError, match="choose one of Adult"):
        paper_task("adult")
    with pytest.raises(ValueError, match="train_rows"):
        paper_task("Gauss", train_rows=0)


@pytest.mark.parametrize("name", SIZES)
def test_paper_size_scaled_by_the_training_rows(name):
    task = task_or_skip(name)
    X, y, X_test, y_test = task.data
    assert (*X.shape, len(X_test)) == SIZES[name]
    assert set(np.unique(y)) == set(np.unique(y_test)) == {-1, 1}
    assert X.dtype == X_test.dtype == np.float64
    assert X.flags.c_contiguous
    if name == "USPS":
        assert X.min() == -1
        assert X.max() == 1
    else:
        np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-9)
        varying = X.std(axis=0) > 0
        np.testing.assert_allclose(X.std(axis=0)[varying], 1)
    assert set(task.published) == {"LIBSVM", "OnlineSVM-R", "OnlineASVM-R"}


@pytest.mark.parametrize("name", ["Gauss", "Banana"])
def test_seed_draws_order_and_split(name):
    first, again = (task_or_skip(name, random_state=5).data for _ in range(2))
    other = task_or_skip(name, random_state=6).data
    np.testing.assert_array_equal(first.X_train, again.X_train)
    assert not np.array_equal(first.X_train, other.X_train)
    assert len(task_or_skip(name, train_rows=30).data.y_train) == 30


def test_only_the_training_rows_of_ncheckerboard_are_noisy():
    from sklearn.neighbors import KNeighborsClassifier

    X, y, X_test, y_test = paper_task("NCheckerboard").data
    clean = KNeighborsClassifier(1).fit(X_test, y_test)
    assert np.mean(clean.predict(X) != y) == pytest.approx(0.15, abs=0.02)
