"""Machines whose weights are the centre of a ball around the examples."""

from .stream import StreamSVC

__all__ = ["StreamSVC"]
