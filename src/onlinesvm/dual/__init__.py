"""Machines that climb the SVM's dual by small steps, while examples pass."""

from .huller import HullerSVC
from .lasvm import LASVC
from .smo import SmoSVC

__all__ = ["LASVC", "HullerSVC", "SmoSVC"]
