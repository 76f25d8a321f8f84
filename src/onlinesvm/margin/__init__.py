"""Machines that keep a margin, one closed-form step per example."""

from .passive_aggressive import PassiveAggressiveClassifier, PassiveAggressiveRegressor
from .perceptron import KernelPerceptron

__all__ = ["KernelPerceptron", "PassiveAggressiveClassifier", "PassiveAggressiveRegressor"]
