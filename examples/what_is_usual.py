"""
A sensor that drifts and fails
==============================

Two :class:`~onlinesvm.NormaSVR` learn the 10 % and 90 % quantiles of the next reading, and
:class:`~onlinesvm.NormaOneClassSVM` raises alarms for unusual readings. Each sees every reading
once and stores a few hundred.
"""

import matplotlib.pyplot as plt
import numpy as np

from onlinesvm import NormaOneClassSVM, NormaSVR

FAULTS = (700, 1250, 1600)


def readings(n, seed):
    """A wave whose level rises, with three faults of a few readings each."""
    rng = np.random.default_rng(seed)
    time = np.arange(n)
    values = np.sin(time / 15) + time / n + 0.12 * rng.normal(size=n)
    for fault in FAULTS:
        values[fault : fault + 6] += 2.2
    return values


values = readings(2_000, seed=0)
past = np.column_stack([values[:-2], values[1:-1]])
following = values[2:]
pairs = np.column_stack([values[1:-1], following])

settings = {"gamma": 2.0, "eta0": 0.2, "truncation": 300}
low, high = (NormaSVR(loss="pinball", quantile=q, bias="free", **settings) for q in (0.1, 0.9))
usual = NormaOneClassSVM(nu=0.02, gamma=2.0, eta0=0.1, truncation=300)
band, oddness = [], []
for x, y, pair in zip(past, following, pairs, strict=True):
    band.append((low.predict_one(x), high.predict_one(x)))  # asked first, then told
    oddness.append(-usual.decide_one(pair))
    low.learn_one(x, y)
    high.learn_one(x, y)
    usual.learn_one(pair)
bottom, top = np.array(band).T
alarms = np.flatnonzero(np.array(oddness) > 0)
alarms = alarms[alarms > 200]  # it must have seen what is usual

figure = plt.figure(figsize=(12, 5), layout="constrained")
ax = figure.subplots()
time = np.arange(len(following))
ax.fill_between(
    time,
    bottom,
    top,
    color="#56B4E9",
    alpha=0.4,
    lw=0,
    label="NormaSVR: 10 % to 90 % quantile of the next reading",
)
ax.plot(time, following, color="#222222", lw=0.8, label="readings")
ax.plot(
    alarms,
    following[alarms],
    "o",
    color="#D55E00",
    ms=5,
    mfc="none",
    label=f"NormaOneClassSVM: {len(alarms)} alarms",
)
inside = np.mean((bottom <= following) & (following <= top))
ax.set_title(f"{inside:.0%} of the readings lie in the band", loc="left")
ax.set_xlabel("reading")
figure.legend(loc="outside lower center", frameon=False, ncols=3)
plt.show()
