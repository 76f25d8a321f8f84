"""Parts of a page: what they count, what they draw, and that no text of a file becomes markup."""

import re
from collections import Counter

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from onlinesvm import OnlineScaler, RampSVC, make_online_pipeline
from onlinesvm.datasets import make_checkerboard
from onlinesvm.report.calibration import calibration_section
from onlinesvm.report.confusion import confusion_section
from onlinesvm.report.letters import letters_section, where
from onlinesvm.report.plane import plane_section

EVIL = "<img src=x onerror=alert(1)>"


# --- confusion ------------------------------------------------------------------------------------


def test_the_matrix_has_every_count_once():
    pairs = Counter({("no", "no"): 70, ("no", "yes"): 30, ("yes", "yes"): 9, ("yes", None): 1})
    body = confusion_section(pairs).body
    cells = re.findall(r"<td[^>]*>([\d,]+)<small>(\d+)%</small></td>", body)
    assert cells == [("70", "70"), ("30", "30"), ("0", "0"), ("9", "90")]


def test_many_classes_are_a_list_of_the_worst():
    pairs = Counter({(a, (a + 1) % 30): a + 1 for a in range(30)}) + Counter({(0, 0): 99})
    section = confusion_section(pairs)
    assert section.width == "full"
    first = re.search(r"<tr><th>(\d+)</th><td>(\d+)</td><td>(\d+)</td></tr>", section.body)
    assert first.groups() == ("29", "0", "30")
    assert "99" not in section.body


def test_labels_are_text():
    for label in (EVIL, 3, True, None, 2.5):
        assert EVIL not in confusion_section({(label, label): 1, ("b", EVIL): 1}).body


# --- calibration ----------------------------------------------------------------------------------


def test_scores_of_two_classes_are_drawn():
    rng = np.random.default_rng(0)
    score = rng.normal(size=500)
    truth = np.where(rng.random(500) < 1 / (1 + np.exp(-3 * score)), "yes", EVIL)
    section = calibration_section(truth.tolist(), score.tolist())
    assert section.body.startswith("<svg")
    assert "yes" in section.heading


def test_there_is_nothing_to_draw_for_other_than_two_classes_or_without_scores():
    assert calibration_section([0, 1, 2] * 100, [0.5] * 300) is None
    assert calibration_section([0] * 300, [0.5] * 300) is None
    assert calibration_section([0, 1] * 20, [0.5] * 40) is None
    assert calibration_section([0, 1] * 200, [float("nan")] * 400) is None
    assert calibration_section([], []) is None


# --- dead letters ---------------------------------------------------------------------------------


def test_letters_are_counted_by_reason_and_shown_with_their_place():
    letters = [
        {"text": EVIL, "reason": f"{EVIL} is no number", "column": EVIL, "line": 7, "file": EVIL},
        {"text": "x" * 999, "reason": "3 fields, not 2", "byte": 12},
        {"text": "", "reason": "3 fields, not 2"},
    ]
    section = letters_section(letters, 1234)
    assert section.heading == "1,234 rows could not be used"
    assert EVIL not in section.body
    assert "<th>3 fields, not 2</th><td>2</td>" in section.body
    assert "x" * 200 not in section.body
    places = [where(letter) for letter in letters]
    assert places == [f"{EVIL}, line 7", "byte 12", "-"]


# --- the plane ------------------------------------------------------------------------------------


def test_the_plane_of_a_pipeline_is_a_picture_inside_the_page():
    X, y = make_checkerboard(300, random_state=0)
    model = make_online_pipeline(OnlineScaler(), RampSVC(C=10, gamma=4)).fit(X * 1000, y)
    section = plane_section(model, X * 1000, y, ["$a", "b$"])
    assert re.search(r'src="data:image/png;base64,[A-Za-z0-9+/=]+"', section.body)
