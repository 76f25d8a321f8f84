"""Wrong labels found: average precision of find_label_issues beside cleanlab's ranking.

Ten real sets of up to 600 rows, 5, 15 and 30 % of the labels flipped, uniformly or mostly in one
class, seeds fixed here. cleanlab's default score is the cross-validated probability of the given
label (5 folds), of ``SVC`` with Platt's sigmoid and of a random forest, on standardised columns.
It is computed by its formula where cleanlab is not installed.
"""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from bench.common import Options, Report, benchmark
from onlinesvm.datasets import fetch
from onlinesvm.label_issues import find_label_issues

ROWS, RATES = 600, (0.05, 0.15, 0.3)
REAL = ("banana", "pima", "waveform", "ionosphere", "usps", "stream_electricity", "stream_phishing")


def problems(options: Options) -> dict[str, tuple[Any, Any]]:
    sets: dict[str, tuple[Any, Any]] = {
        "breast cancer": load_breast_cancer(return_X_y=True),
        "digits": load_digits(return_X_y=True),
        "wine": load_wine(return_X_y=True),
    }
    for name in REAL:
        X, y, *_ = fetch(name)
        sets[name] = np.asarray(X, dtype=np.float64), y
    chosen = {}
    for name, (X, y) in sets.items():
        if options.wants(name):
            few = np.random.default_rng(1).permutation(len(y))[: options.size(ROWS, 400)]
            chosen[name] = X[few], np.unique(y[few], return_inverse=True)[1]
    return chosen


def flipped(y: Any, rate: float, kind: str) -> Any:
    rng = np.random.default_rng([int(100 * rate), kind == "uniform"])
    share = np.full(len(y), rate)
    if kind == "by class":
        share = np.where(y == 0, 1.6 * rate, 0.4 * rate)
    wrong = rng.random(len(y)) < share
    other = (y + rng.integers(1, y.max() + 1, len(y))) % (y.max() + 1)
    return np.where(wrong, other, y), wrong


def precision(doubt: Any, wrong: Any) -> float:
    return float(average_precision_score(wrong, doubt))


def ours(X: Any, given: Any) -> Any:
    issues = find_label_issues(X, given)
    doubt = np.empty(len(given))
    doubt[issues.rows] = -issues.scores
    return doubt


def theirs(model: Any, X: Any, given: Any) -> Any:
    scaled = StandardScaler().fit_transform(X)
    chances = cross_val_predict(model, scaled, given, cv=5, method="predict_proba")
    if find_spec("cleanlab"):
        from cleanlab.rank import get_label_quality_scores

        return -get_label_quality_scores(given, chances)
    return -chances[np.arange(len(given)), given]


@benchmark("Wrong labels found, average precision", "ours", repeats=1)
def main(report: Report, options: Options) -> None:
    threadpool_limits(limits=1)
    peers = {
        "cleanlab, SVC": lambda: CalibratedClassifierCV(SVC(), cv=3, ensemble=False),
        "cleanlab, forest": lambda: RandomForestClassifier(random_state=0),
    }
    rows, ahead = [], dict.fromkeys(peers, 0)
    times: dict[str, list[float]] = {peer: [] for peer in peers}
    sets = problems(options)
    for name, (X, y) in sets.items():
        found: dict[str, list[float]] = {"ours": [], **{peer: [] for peer in peers}}
        seconds = dict.fromkeys(found, 0.0)
        for rate in RATES:
            for kind in ("uniform", "by class"):
                given, wrong = flipped(y, rate, kind)
                for who in found:
                    start = time.process_time()
                    doubt = ours(X, given) if who == "ours" else theirs(peers[who](), X, given)
                    seconds[who] += time.process_time() - start
                    found[who].append(precision(doubt, wrong))
        means = {who: float(np.mean(values)) for who, values in found.items()}
        for peer in peers:
            ahead[peer] += means["ours"] >= means[peer]
            times[peer].append(seconds["ours"] / seconds[peer])
        rows.append([name, *(f"{m:.3f}" for m in means.values())])
        rows[-1] += [f"{s:.1f}" for s in seconds.values()]
        print(*rows[-1], flush=True)
    head = ["set", *means, *(f"s, {who}" for who in means)]
    report.matrix("mean of six", head, rows)
    for peer, n in ahead.items():
        report.bar(f"sets of {len(sets)} at or above {peer}", n, at_least=8)
    for peer, ratios in times.items():
        report.bar(f"time / {peer}, median", float(np.median(ratios)), at_most=1 / 3)
        report.note(f"time / {peer}, worst: {max(ratios):.2f}")
