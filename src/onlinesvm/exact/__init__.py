"""Machines that are optimal after every example."""

from .offline_ramp import OfflineRampSVC
from .ramp import RampSVC

__all__ = ["OfflineRampSVC", "RampSVC"]
