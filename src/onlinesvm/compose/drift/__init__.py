"""Streams that change: detectors, and what a model does when one rings."""

from .aware import DriftAware, DriftWarning
from .page_hinkley import PageHinkley

__all__ = ["DriftAware", "DriftWarning", "PageHinkley"]
