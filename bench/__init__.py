"""Benchmarks: `python -m bench` runs the speed list, `python -m bench NAME` one of them.

One thread for everybody: the libraries read these variables when they are first imported, so they
are set here, before any module of this package can import NumPy.
"""

import os

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)

os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
