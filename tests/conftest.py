"""What every test shares: one thread per process, and property tests that repeat to the letter."""

import os

from hypothesis import HealthCheck, settings

# Read by numpy and scikit-learn when they are first imported, which no test has done yet.
for pool in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(pool, "1")

# `make test` draws the same examples everywhere; HYPOTHESIS_PROFILE=explore looks for trouble.
settings.register_profile(
    "repeatable",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
