"""nbytes_ is what a model really takes, and cache_bytes what its kernel rows may take of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from onlinesvm import RampSVC

# Resident memory before, after and at its peak, in a process of its own. A first small model has
# touched everything that is not the model's: imports, threads, NumPy's pools.
PROGRAM = """
import numpy as np, onlinesvm, re, sys

def resident(what):
    return 1024 * int(re.search(what + r":\\s+(\\d+) kB", open("/proc/self/status").read())[1])

def learn(n, d):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, d)).astype(np.float32)
    y = np.where((X[:, 0] * X[:, 1] > 0) ^ (rng.random(n) < 0.15), 1.0, -1.0)
    target = {{"OneClass": (), "SVR": (y + X[:, 2],)}}
    args = next((a for word, a in target.items() if word in "{name}"), (y,))
    open("/proc/self/clear_refs", "w").write("5")  # the peak counts from here
    before = resident("VmRSS")
    model = onlinesvm.{name}({params})
    if hasattr(model, "partial_fit"):
        for i in range(0, n, 500):
            part = [a[i : i + 500] for a in (X, *args)]
            more = {{"classes": [-1.0, 1.0]}} if len(part) > 1 and "SVR" not in "{name}" else {{}}
            model.partial_fit(*part, **more)
    else:
        model.fit(X, *args)
    return model.nbytes_, resident("VmRSS") - before, resident("VmHWM") - before

learn(60, {d})
print(*learn({n}, {d}))
"""

STORED = [
    pytest.param("RampSVC", "C=2.0", 8000, 8, id="RampSVC"),
    pytest.param("RampSVC", "C=2.0, cache_bytes=16 << 20", 8000, 8, id="RampSVC-small-cache"),
    pytest.param("RampSVC", "C=2.0, s=-np.inf, dtype='float64'", 3500, 8, id="RampSVC-hinge"),
    pytest.param("OfflineRampSVC", "C=2.0", 5000, 8, id="OfflineRampSVC"),
    pytest.param("IncrementalSVC", "C=2.0", 3000, 8, id="IncrementalSVC"),
    pytest.param("PokerSVC", "C=2.0", 2500, 8, id="PokerSVC"),
    pytest.param("PokerSVR", "C=2.0", 1200, 8, id="PokerSVR"),
    pytest.param("PokerOneClassSVM", "", 4000, 8, id="PokerOneClassSVM"),
    pytest.param("SmoSVC", "C=2.0", 6000, 8, id="SmoSVC"),
    pytest.param("LASVC", "C=2.0", 5000, 8, id="LASVC"),
    pytest.param("HullerSVC", "C=2.0", 3000, 8, id="HullerSVC"),
    pytest.param("CoreVectorSVC", "C=2.0", 4000, 8, id="CoreVectorSVC"),
    pytest.param("KernelPerceptron", "", 60000, 40, id="KernelPerceptron"),
    pytest.param("PassiveAggressiveClassifier", "kernel='rbf'", 8000, 400, id="PassiveAggressive"),
    pytest.param("NormaSVC", "kernel='rbf', truncation=None", 8000, 400, id="NormaSVC"),
]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc: Linux only")
@pytest.mark.parametrize(("name", "params", "n", "d"), STORED)
def test_nbytes_is_true_within_a_quarter(name, params, n, d):
    program = PROGRAM.format(name=name, params=params, n=n, d=d)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    said, grown, peak = map(int, run.stdout.split())
    assert said >= 8e6, f"{said} bytes are too few to measure"
    assert 0.75 * said <= grown + 2e6, f"nbytes_ says {said / 1e6:.1f} MB, {grown / 1e6:.1f} came"
    assert grown - 2e6 <= 1.25 * said, f"nbytes_ says {said / 1e6:.1f} MB, {grown / 1e6:.1f} came"
    # The matrix of the core is copied when it outgrows its room: for a moment both are there.
    moment = 1.75 if name == "CoreVectorSVC" else 1.25
    assert peak - 16e6 <= moment * said, f"nbytes_ says {said / 1e6:.1f} MB, peak {peak / 1e6:.1f}"


@pytest.mark.parametrize("megabytes", [1, 4])
def test_kernel_rows_stay_within_their_cache(megabytes):
    """Rows of every length, growing: four megabytes hold a fourth of them."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2500, 3))
    y = np.where(rng.random(2500) < 0.5, 1, -1)  # noise: nearly all become support vectors
    sizes = {}
    for cache in (0, megabytes << 20):
        model = RampSVC(C=1.0, gamma=5.0, s=-np.inf, cache_bytes=cache, classes=[-1, 1])
        sizes[cache] = [model.partial_fit(*part).nbytes_ for part in _parts(X, y, 250)]
    least, most = sizes.values()
    for bare, full in zip(least, most, strict=True):
        assert full <= bare + (megabytes << 20)
    assert most[-1] >= least[-1] + (megabytes << 20) / 3, "the cache is hardly used"


def _parts(X, y, n):
    return [(X[i : i + n], y[i : i + n]) for i in range(0, len(y), n)]
