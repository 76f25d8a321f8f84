"""Machines that climb the SVM's dual by steps of two coefficients."""

from .lasvm import LASVC

__all__ = ["LASVC"]
