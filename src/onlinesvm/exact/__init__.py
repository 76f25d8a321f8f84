"""Machines that are optimal after every example."""

from .incremental import IncrementalSVC
from .offline_ramp import OfflineRampSVC
from .ramp import RampSVC

__all__ = ["IncrementalSVC", "OfflineRampSVC", "RampSVC"]
