"""Data to learn from: seeded generators, public sets by name, and the nine tasks of the ramp paper.

Generators need only NumPy. :func:`fetch` reads ``NAME.npz`` from the folder that the environment
variable ``ONLINESVM_DATA`` names, else from the cache, else it downloads the set once.
"""

from onlinesvm.datasets.download import ChecksumError, DownloadError
from onlinesvm.datasets.generate import (
    make_checkerboard,
    make_gauss,
    make_rotating_boundary,
    make_waveform,
)
from onlinesvm.datasets.store import Dataset, fetch
from onlinesvm.datasets.tasks import PAPER_TASKS, Task, paper_task

__all__ = [
    "PAPER_TASKS",
    "ChecksumError",
    "Dataset",
    "DownloadError",
    "Task",
    "fetch",
    "make_checkerboard",
    "make_gauss",
    "make_rotating_boundary",
    "make_waveform",
    "paper_task",
]
