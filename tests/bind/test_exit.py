"""The interpreter may end while daemon threads are in the core: they are left where they are."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import threading
import numpy as np
import onlinesvm

rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 10))
y = (X[:, 0] * X[:, 1] > 0).astype(int)
def kernel(x, X):
    return X @ x
model = onlinesvm.{model}.partial_fit(X[:200], y[:200], classes=[0, 1])
rounds = threading.Semaphore(0)

def work():
    while True:
        {verb}
        rounds.release()

threading.Thread(target=work, daemon=True).start()
for _ in range(3):
    rounds.acquire()
"""


@pytest.mark.parametrize(
    ("model", "verb"),
    [
        ("RampSVC(gamma=0.1)", "model.decision_function(X)"),
        ("PassiveAggressiveClassifier()", "model.partial_fit(X, y)"),
        ("LASVC(kernel=kernel)", "model.partial_fit(X[:50], y[:50])"),
        ("PassiveAggressiveClassifier()", "model.learn_one(X[0], y[0]); model.predict_one(X[0])"),
    ],
    ids=["predict", "learn", "kernel", "one"],
)
def test_a_daemon_thread_does_not_abort_the_exit(model: str, verb: str) -> None:
    program = PROGRAM.format(model=model, verb=verb)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
