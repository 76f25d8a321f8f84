"""Machines that are optimal after every example."""

from .incremental import IncrementalSVC
from .offline_ramp import OfflineRampSVC
from .poker import PokerOneClassSVM, PokerSVC, PokerSVR
from .ramp import RampSVC

__all__ = [
    "IncrementalSVC",
    "OfflineRampSVC",
    "PokerOneClassSVM",
    "PokerSVC",
    "PokerSVR",
    "RampSVC",
]
