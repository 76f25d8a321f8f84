"""What RampSVC's two ways to stop leave undone, and what they cost, on nine tasks.

`stopping="kkt"` at its default and the paper's pair of thresholds, `stopping="paper", tol=1e-3`.
The violation is judged after every one of the first 2,000 examples, the relative duality gap of the
convex problem on V at the end of the pass, both in double from the coefficients alone.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import tasks
from bench.common import Options, Report, benchmark, race
from onlinesvm import RampSVC
from onlinesvm.datasets import Task

WAYS: dict[str, dict[str, Any]] = {"kkt": {}, "paper": {"stopping": "paper", "tol": 1e-3}}
AUDITED = 2000
Array = NDArray[np.float64]


@benchmark("RampSVC: how far from optimal, at what price", "kkt")
def main(report: Report, options: Options) -> None:
    for task in tasks.here(report):
        calls = {name: partial(_learned, task, way) for name, way in WAYS.items()}
        laps = race(calls, repeats=options.repeats)
        facts = {name: _facts(task, lap.product, WAYS[name]) for name, lap in laps.items()}
        report.add(task.name, laps, facts=facts)
        worst = facts["kkt"]["violation"]
        report.bar(f"{task.name}: largest violation / tol", worst, at_most=1.0)


def _learned(task: Task, way: dict[str, Any]) -> RampSVC:
    model = RampSVC(C=task.C, gamma=task.gamma, settle="example", **way)
    return model.partial_fit(task.data.X_train, task.data.y_train, classes=[-1, 1])


def _facts(task: Task, model: RampSVC, way: dict[str, Any]) -> dict[str, Any]:
    X, y = (np.asarray(part, dtype=np.float64) for part in task.data[:2])
    worst = _violations(task, way, X[:AUDITED], y[:AUDITED])
    accuracy = 100.0 * model.score(task.data.X_test, task.data.y_test)
    return {
        "accuracy": round(accuracy, 2),
        "SVs": len(model.support_),
        "violation": float(np.max(worst)),  # in units of tol
        "beyond %": round(100.0 * float(np.mean(worst > 1.0)), 1),
        "gap": _gap(model, X.astype(np.float32).astype(np.float64), y),
    }


def _kernel(X: Array, Z: Array, gamma: float) -> Array:
    squares = (X**2).sum(1)[:, None] + (Z**2).sum(1)[None, :] - 2.0 * X @ Z.T
    return np.asarray(np.exp(-gamma * np.maximum(squares, 0.0)))


def _violations(task: Task, way: dict[str, Any], X: Array, y: Array) -> Array:
    """Largest violation of the conditions on V after every example, over tol."""
    model = RampSVC(C=task.C, gamma=task.gamma, settle="example", classes=[-1, 1], **way)
    rows = X.astype(np.float32).astype(np.float64)
    Q = _kernel(rows, rows, task.gamma) * np.outer(y, y)
    alpha, g, worst = np.zeros(len(y)), np.ones(len(y)), np.zeros(len(y))
    for t in range(len(y)):
        model.learn_one(X[t], y[t])
        now = np.zeros(len(y))
        now[model.support_] = np.abs(model.dual_coef_[0])
        changed = np.flatnonzero(now != alpha)
        g -= Q[:, changed] @ (now - alpha)[changed]
        alpha = now
        worst[t] = np.max(_violation(g[: t + 1], alpha[: t + 1], task.C, model.s))
    return worst / model.tol


def _violation(g: Array, alpha: Array, C: float, s: float) -> Array:
    """Of each example: inside V its KKT condition, with alpha = 0 perhaps outside V instead."""
    free = np.where(alpha == C, np.maximum(-g, 0.0), np.abs(g))
    inside = np.where(alpha == 0.0, np.maximum(g, 0.0), free)
    outside = np.where(alpha == 0.0, np.maximum(1.0 - s - g, 0.0), np.inf)
    return np.minimum(np.maximum(inside, g - (1.0 - s)), outside)


def _gap(model: RampSVC, X: Array, y: Array) -> float:
    """(primal - dual) / primal of the hinge problem on V."""
    support, coef = X[model.support_], model.dual_coef_[0]
    f = np.concatenate(
        [_kernel(X[i : i + 1000], support, model.gamma) @ coef for i in range(0, len(X), 1000)]
    )
    g = 1.0 - y * f
    inside = g <= 1.0 - model.s
    inside[model.support_] = True  # a member of V may be beyond the end of the ramp by tol
    norm2 = float(coef @ f[model.support_])
    primal = norm2 / 2.0 + model.C * float(np.maximum(g, 0.0)[inside].sum())
    dual = float(np.abs(coef).sum()) - norm2 / 2.0
    return (primal - dual) / primal
