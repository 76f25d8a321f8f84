"""The papers' tables and figures, run again: `python -m reproduce` and the name of a file here.

One thread for everybody, as in the benchmarks: importing `bench` sets it before NumPy loads.
"""

import bench  # noqa: F401
