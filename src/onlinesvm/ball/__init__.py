"""Machines whose weights are the centre of a ball around the examples."""

from .core_vector import CoreVectorSVC
from .stream import StreamSVC

__all__ = ["CoreVectorSVC", "StreamSVC"]
