"""plot_decision draws what it promises; checked on classifiers whose every value is known."""

import io
import sys

import matplotlib as mpl
import numpy as np
import pytest
from scipy import sparse

mpl.use("agg")

from matplotlib import pyplot as plt
from matplotlib.collections import PathCollection
from matplotlib.contour import QuadContourSet
from matplotlib.image import imread

from onlinesvm.report import plot_decision


class Disc:
    """f = 1 - |x|^2: class 1 inside the unit circle."""

    classes_ = np.array([0, 1])
    s = -1.0
    support_vectors_ = np.array([[0.0, 0.5], [0.5, 0.0], [1.2, 0.0]])

    def decision_function(self, X):
        return 1.0 - (np.asarray(X) ** 2).sum(axis=1)


class Corners:
    """f_k = 1.5 - distance to the corner of class k."""

    classes_ = np.array(["red", "green", "blue"])
    s = -0.5
    centres = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 2.0]])
    support_vectors_ = centres

    def decision_function(self, X):
        return 1.5 - np.linalg.norm(np.asarray(X)[:, None] - self.centres, axis=2)


AXIS = np.linspace(-2.0, 2.0, 9)
X = np.array([(a, b) for a in AXIS for b in AXIS])
Y = (np.hypot(*X.T) < 1).astype(int)


def dots(ax):
    """Scatter plots by label; the unlabelled crosses under 'crosses'."""
    found = {}
    for artist in ax.collections:
        if isinstance(artist, PathCollection):
            label = artist.get_label()
            found.setdefault("crosses" if label.startswith("_") else label, []).append(artist)
    return found


def marked(ax, label):
    return np.vstack([np.asarray(artist.get_offsets()) for artist in dots(ax)[label]])


def contour_levels(ax):
    return sorted(
        level
        for artist in ax.collections
        if isinstance(artist, QuadContourSet)
        for level in artist.levels
    )


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_boundary_margins_and_regions():
    ax = plot_decision(Disc(), X, Y)
    assert contour_levels(ax) == [-1.0, 0.0, 1.0]
    boundary = next(
        c for c in ax.collections if isinstance(c, QuadContourSet) and c.levels.tolist() == [0.0]
    )
    (path,) = boundary.get_paths()
    assert np.hypot(*path.vertices.T) == pytest.approx(1.0, abs=1e-3)
    (image,) = ax.images
    assert image.get_array().shape == (300, 300)


def test_support_vectors_are_ringed():
    ax = plot_decision(Disc(), X, Y)
    assert marked(ax, "support vectors (3)") == pytest.approx(Disc.support_vectors_)


def test_examples_outside_the_ramp_are_crossed_out():
    wrong = np.where(np.hypot(*X.T) > 1.9, 1, Y)  # f < -2.6 there, but labelled as inside
    ax = plot_decision(Disc(), X, wrong)
    crossed = marked(ax, "crosses")
    assert {tuple(row) for row in crossed} == {tuple(row) for row in X[wrong != Y]}
    assert f"outside the ramp ({(wrong != Y).sum()})" in legend_texts(ax)


@pytest.mark.parametrize("s", [-np.inf, None])
def test_without_a_ramp_nothing_is_outside(s):
    model = Disc()
    model.s = s
    ax = plot_decision(model, X, 1 - Y)
    assert not any("ramp" in text for text in legend_texts(ax))


def test_several_classes():
    model = Corners()
    y = model.classes_[model.decision_function(X).argmax(axis=1)]
    flipped = y.copy()
    far = int(np.argmax(np.linalg.norm(X - model.centres[0], axis=1)))
    flipped[far] = "red"
    ax = plot_decision(model, X, flipped)
    texts = legend_texts(ax)
    assert texts[:3] == ["class red", "class green", "class blue"]
    own = model.decision_function(X)[
        np.arange(len(X)), [list(model.classes_).index(label) for label in flipped]
    ]
    assert f"outside the ramp ({(own < model.s).sum()})" in texts
    assert contour_levels(ax) == [0.0] * 3 + [1.0] * 3
    assert len(np.unique(ax.images[0].get_array().reshape(-1, 3), axis=0)) == 3


def test_limits_hold_all_examples_with_a_little_air():
    ax = plot_decision(Disc(), X, Y)
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    assert left < -2 < 2 < right < 2.5
    assert bottom < -2 < 2 < top < 2.5


def test_draws_where_told_and_without_legend():
    _, (first, second) = plt.subplots(1, 2)
    assert plot_decision(Disc(), X, Y, ax=second, legend=False) is second
    assert second.get_legend() is None
    assert not first.collections


def test_names_of_columns_become_labels():
    pandas = pytest.importorskip("pandas")
    ax = plot_decision(Disc(), pandas.DataFrame(X, columns=["age", "height"]), Y)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "height")


def test_sparse_examples_and_sparse_support_vectors():
    model = Disc()
    model.support_vectors_ = sparse.csr_array(Disc.support_vectors_)
    ax = plot_decision(model, sparse.csr_array(X), Y)
    assert len(marked(ax, "support vectors (3)")) == 3


def test_pipeline_rings_lie_on_the_raw_examples():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    raw = X * [100.0, 0.01] + [5.0, -3.0]
    pipeline = make_pipeline(StandardScaler(), SVC(C=10)).fit(raw, Y)
    ax = plot_decision(pipeline, raw, Y)
    rings = marked(ax, f"support vectors ({len(pipeline[-1].support_)})")
    assert rings == pytest.approx(raw[pipeline[-1].support_])
    assert ax.get_aspect() == "auto"


def test_one_constant_feature_and_one_example():
    assert plot_decision(Disc(), np.zeros((1, 2)), [1]).get_xlim() == pytest.approx((-1.04, 1.04))
    plot_decision(Disc(), np.column_stack([AXIS, np.zeros(9)]), (abs(AXIS) < 1).astype(int))


def test_the_picture_is_not_blank():
    ax = plot_decision(Disc(), X, Y)
    file = io.BytesIO()
    ax.figure.savefig(file, format="png")
    file.seek(0)
    pixels = imread(file)
    assert pixels.std() > 0.05
    assert len(np.unique(pixels.reshape(-1, pixels.shape[-1]), axis=0)) > 100


@pytest.mark.parametrize(
    ("points", "labels", "complaint"),
    [
        (np.zeros((4, 3)), [0, 1, 0, 1], r"exactly 2 features to be drawn, got shape \(4, 3\)"),
        (np.zeros(4), [0, 1, 0, 1], "exactly 2 features"),
        (np.zeros((0, 2)), [], "X is empty"),
        ([[0.0, np.nan]], [0], "NaN or infinity"),
        (np.zeros((4, 2)), [0, 1], "one label for each of the 4 rows"),
        (np.zeros((2, 2)), [0, 7], "labels the model does not know: 7"),
    ],
)
def test_hostile_data(points, labels, complaint):
    with pytest.raises(ValueError, match=complaint):
        plot_decision(Disc(), points, labels)
    assert not plt.get_fignums()


def test_hostile_models():
    from sklearn.linear_model import LinearRegression
    from sklearn.svm import SVC

    with pytest.raises(ValueError, match="classifier with decision_function"):
        plot_decision(LinearRegression().fit(X, Y), X, Y)
    with pytest.raises(ValueError, match="not fitted"):
        plot_decision(SVC(), X, Y)
    with pytest.raises(ValueError, match="resolution must be at least 2"):
        plot_decision(Disc(), X, Y, resolution=1)


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        plot_decision(Disc(), X, Y)


def test_importing_report_does_not_import_matplotlib():
    import subprocess

    code = "import sys, onlinesvm.report; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
