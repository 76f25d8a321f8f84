"""What kind of learner is enough where, and ours beside their likes: by the error of the test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean

from bench.common import figure, geometric_mean
from bench.quality.alone import Facts
from bench.quality.pages import Field, standard_error
from bench.tables import table

# The names of both sides that do the same by the same means.
KINDS = {
    "exact SVM": ("SmoSVC", "IncrementalSVC", "SVC", "intelex SVC"),
    "kernel SVM in one pass": (
        "LASVC",
        "RampSVC",
        "RampSVC, asks for labels",
        "vowpalwabbit --ksvm",
    ),
    "on a budget": ("BudgetedSVC",),
    "landmarks or random features, and SGD": (
        "NystroemFeatures + SGDSVC",
        "FourierFeatures + SGDSVC",
        "Nystroem + SGDClassifier",
        "RBFSampler + SGDClassifier",
    ),
    "linear": (
        "SGDSVC",
        "PassiveAggressiveClassifier",
        "LinearSVC",
        "SGDClassifier",
        "river PAClassifier",
        "river ALMAClassifier",
    ),
    "trees": ("river ARFClassifier", "HistGradientBoosting"),
}
LIKES = (
    ("SmoSVC", "SVC"),
    ("SmoSVC", "intelex SVC"),
    ("LASVC", "vowpalwabbit --ksvm"),
    ("NystroemFeatures + SGDSVC", "Nystroem + SGDClassifier"),
    ("FourierFeatures + SGDSVC", "RBFSampler + SGDClassifier"),
    ("SGDSVC", "SGDClassifier"),
    ("SGDSVC", "LinearSVC"),
    ("PassiveAggressiveClassifier", "river PAClassifier"),
)


def noise(accuracy: float, tested: int) -> float:
    """What two accuracies may differ by and still be too close to call."""
    return 2 * standard_error(accuracy, tested)


def which_kind(groups: Mapping[str, Field], base: str) -> str:
    """Of each kind its most accurate on each contest, and the quickest that is as good."""
    lines = []
    for title, field in groups.items():
        for kind, members in KINDS.items():
            lines += [[title, kind, *told] for told in [_kind(field, members, base)] if told]
    head = ["", "kind", "as good as the best", "points below the best", f"learn, x {base}"]
    return table(head, lines)


def _kind(field: Field, members: Sequence[str], base: str) -> list[str]:
    near, below, times = 0, [], []
    for group in field.facts.values():
        ended = {name: facts for name, facts in group.items() if "accuracy" in facts}
        there = [facts for name, facts in ended.items() if name in members]
        if not there:
            continue
        best = max(facts["accuracy"] for facts in ended.values())
        ours = max(there, key=_right)
        error = noise(best, ours["tested"])
        below.append(best - _right(ours))
        near += below[-1] <= error
        if base in ended:
            as_good = [facts for facts in there if _right(facts) >= _right(ours) - error]
            quickest = min(facts["learn_s"] for facts in as_good)
            times.append(quickest / ended[base]["learn_s"])
    if not below:
        return []
    cost = figure(geometric_mean(times)) if times else "-"
    return [f"{near} of {len(below)}", f"{fmean(below):.1f}", cost]


def like_beside_like(field: Field) -> str:
    """Ours beside the one that does the same: on how many contests who is more accurate."""
    lines = []
    for ours, theirs in LIKES:
        right, others = (field.values(name, "accuracy") for name in (ours, theirs))
        tested = field.values(ours, "tested")
        gains = {c: right[c] - others[c] for c in right if c in others}
        if not gains:
            continue
        words = Counter(
            "close"
            if abs(gain) <= noise(max(right[c], others[c]), int(tested[c]))
            else "ours"
            if gain > 0
            else "theirs"
            for c, gain in gains.items()
        )
        counts = [str(words[word]) if words[word] else "" for word in ("theirs", "close", "ours")]
        ratios = [figure(field.times(ours, key, theirs)) for key in ("learn_s", "predict_s")]
        ratios.append(figure(field.times(ours, "peak_mib", theirs)))
        pair = f"**{ours}** beside {theirs}"
        lines.append([pair, *counts, f"{fmean(gains.values()):+.1f}", *ratios])
    head = ["", "theirs ahead", "too close", "ours ahead", "points, mean"]
    return table([*head, "learn, x theirs", "predict, x theirs", "memory, x theirs"], lines)


def _right(facts: Facts) -> float:
    return float(facts["accuracy"])
