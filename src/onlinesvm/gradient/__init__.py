"""Machines that follow the gradient of a regularised loss, one short step per example."""

from .norma import NormaOneClassSVM, NormaSVC, NormaSVR
from .pegasos import PegasosSVC
from .sgd import SGDSVC

__all__ = ["SGDSVC", "NormaOneClassSVM", "NormaSVC", "NormaSVR", "PegasosSVC"]
