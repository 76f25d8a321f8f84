"""Machines that keep a margin, one closed-form step per example."""

from .passive_aggressive import PassiveAggressiveClassifier, PassiveAggressiveRegressor

__all__ = ["PassiveAggressiveClassifier", "PassiveAggressiveRegressor"]
