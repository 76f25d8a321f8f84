"""Streams that change: detectors, and what a model does when one rings."""

from .aware import DriftAware
from .page_hinkley import PageHinkley

__all__ = ["DriftAware", "PageHinkley"]
