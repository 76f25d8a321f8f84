"""Our ONNX graph against the operator of the standard, and against our own decision_function.

One model, three ways to ask it: matrix products around one exponential (``to_onnx(model)``), the
operator ``SVMRegressor`` (``op="svm"``), both in onnxruntime on one thread, and the library itself.
Beside each graph: how far its scores are from the model's, and how many labels differ.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from bench.common import Options, Report, benchmark, race
from bench.tasks import here
from onlinesvm.datasets import Task

SETS = ("Adult", "Cover", "USPS", "Waveform")
ROWS = 10_000
GRAPH, STANDARD, OURS = "ONNX, matmul", "ONNX, svm", "the library"


def contest(task: Task, report: Report, options: Options) -> None:
    import onnxruntime

    from onlinesvm import RampSVC
    from onlinesvm.interop.onnx import to_onnx

    model = RampSVC(C=task.C, gamma=task.gamma).fit(task.data.X_train, task.data.y_train)
    some = np.vstack([task.data.X_test, task.data.X_train])[: options.size(ROWS, 200)]
    rows = np.ascontiguousarray(some, np.float32)

    def session(op: Any) -> Any:
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = settings.inter_op_num_threads = 1
        return onnxruntime.InferenceSession(to_onnx(model, op=op).SerializeToString(), settings)

    graph, standard = session("matmul"), session("svm")
    laps = race(
        {
            GRAPH: lambda: graph.run(None, {"X": rows}),
            STANDARD: lambda: standard.run(None, {"X": rows}),
            OURS: lambda: (model.predict(rows), model.decision_function(rows)),
        },
        repeats=options.repeats,
        clock=time.process_time,
    )
    labels, scores = laps[OURS].product
    facts = {
        side: {
            "largest difference of a score": float(
                np.abs(laps[side].product[1].reshape(scores.shape) - scores).max()
            ),
            "labels that differ": int((laps[side].product[0] != labels).sum()),
        }
        for side in (GRAPH, STANDARD)
    }
    case = f"{task.name}, {len(model.support_):,} support vectors"
    report.add(case, laps, facts=facts, units=len(rows))
    report.bar(f"{case}: svm / matmul", report.speed_up(case, GRAPH), at_least=5)
    error = facts[GRAPH]
    report.bar(f"{case}: largest difference", error["largest difference of a score"], at_most=1e-4)
    report.bar(f"{case}: labels that differ", error["labels that differ"], at_most=0)


@benchmark("predicting in onnxruntime", STANDARD, repeats=3)
def main(report: Report, options: Options) -> None:
    for task in here(report):
        if task.name in SETS:
            contest(task, report, options)
