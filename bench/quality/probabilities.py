"""Are probabilities true, and do sets hold the label? Test-then-train, row by row, from raw rows.

Adult, covtype (class 2 against the rest, 40,000 rows drawn once, since the file is in map order),
and two streams that drift, in their order: electricity without date and nswprice, and weather.
Phishing in its order and ijcnn1 come without a demand. The model is `OnlineScaler` and `SGDSVC`
with their defaults. Each row is asked about just before it is learned. The expected calibration
error has 15 bins of equal width over the probability of the predicted class; "raw" is the sigmoid
of the model's own score. Coverage is the share of labels in `predict_set(alpha=0.1)` over every
window of 2,000 examples in a row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bench.common import Options, Report, benchmark
from onlinesvm import SGDSVC, CalibratedOnline, OnlineScaler, make_online_pipeline
from onlinesvm.datasets import fetch

METHODS = ("mixture", "platt")
ALPHA = 0.1
WINDOW = 2000
DEMANDED = ("adult", "covtype", "electricity")
DRIFTING = ("electricity", "weather")


def streams(options: Options) -> dict[str, tuple[NDArray[Any], NDArray[np.bool_]]]:
    X, y, *_ = fetch("adult")
    found = {"adult": (X, y > 0)}
    X, y, *_ = fetch("covtype")
    drawn = np.random.default_rng(0).permutation(len(X))[:40_000]
    found["covtype"] = X[drawn], y[drawn] == 2
    X, y, *_ = fetch("stream_electricity")
    found["electricity"] = np.delete(X, [0, 3], axis=1), y > 0
    X, y, *_ = fetch("stream_weather")
    found["weather"] = X, y > 0
    X, y, *_ = fetch("stream_phishing")
    found["phishing"] = X, y > 0
    X, y, *_ = fetch("ijcnn1")
    found["ijcnn1"] = X, y > 0
    n = options.size(10**9, 2500)
    return {name: (np.asarray(X[:n], dtype=np.float64), y[:n]) for name, (X, y) in found.items()}


def calibration_error(p: NDArray[np.float64], y: NDArray[np.bool_], bins: int = 15) -> float:
    """The mean distance, by bin, of what was claimed and what came true."""
    sure, right = np.maximum(p, 1 - p), (p > 0.5) == y
    place = np.minimum((sure * bins).astype(int), bins - 1)
    gaps = np.bincount(place, weights=sure, minlength=bins)
    gaps -= np.bincount(place, weights=right, minlength=bins)
    return float(np.abs(gaps).sum() / len(p))


def run(X: NDArray[Any], y: NDArray[np.bool_], method: str) -> dict[str, NDArray[Any]]:
    model = CalibratedOnline(
        make_online_pipeline(OnlineScaler(), SGDSVC(classes=[False, True])), method, alphas=(ALPHA,)
    )
    told = {"p": [], "score": [], "held": [], "size": []}
    model.learn_one(X[0], y[0])
    for x, label in zip(X[1:], y[1:].tolist(), strict=True):
        named = model.predict_set_one(x)
        told["p"].append(model.predict_proba_one(x)[True])
        told["score"].append(model.model_.decide_one(x))
        told["held"].append(label in named)
        told["size"].append(len(named))
        model.learn_one(x, label)
    return {name: np.array(values) for name, values in told.items()}


@benchmark("Calibrated probabilities", "raw sigmoid", repeats=1)
def main(report: Report, options: Options) -> None:
    errors, sets = [], []
    for name, (X, y) in streams(options).items():
        truth, raw, row = y[1:], 0.0, [name]
        for method in METHODS:
            told = run(X, y, method)
            raw = calibration_error(expit(told["score"]), truth)
            error = calibration_error(told["p"], truth)
            row.append(f"{error:.4f}")
            if name in DEMANDED:
                report.bar(f"{name}, {method}: error / raw", error / raw, at_most=0.5)
            if method == METHODS[0]:
                claims = {
                    "score": np.mean((told["score"] > 0) == truth),
                    "p": np.mean((told["p"] > 0.5) == truth),
                }
            share = np.convolve(told["held"], np.ones(WINDOW) / WINDOW, mode="valid")
            off = float(np.abs(share - (1 - ALPHA)).max())
            if name in DRIFTING:
                report.bar(f"{name}, {method}: coverage off by, points", 100 * off, at_most=1.0)
            size = told["size"]
            sets.append(
                [
                    f"{name}, {method}",
                    f"{share.min():.4f} to {share.max():.4f}",
                    f"{size.mean():.2f}",
                    f"{np.mean(size == 0):.1%}",
                    f"{np.mean(size == 2):.1%}",
                ]
            )
        accuracy = [f"{100 * claims[kind]:.1f}" for kind in ("score", "p")]
        errors.append([row[0], f"{raw:.4f}", *row[1:], *accuracy])
    head = ["stream", "raw sigmoid", *METHODS, "accuracy %, model", f"accuracy %, {METHODS[0]}"]
    report.matrix("Expected calibration error", head, errors)
    head = ["stream, method", "coverage, every 2,000", "classes in a set", "empty", "full"]
    report.matrix(f"Sets of alpha = {ALPHA}", head, sets)
