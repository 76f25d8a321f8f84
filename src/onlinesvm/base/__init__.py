"""What every estimator shares: the one learn loop, the one score loop, the contract around them."""

from .certificate import Certificate, CertificateError, verify
from .classifier import BatchClassifier, OnlineClassifier
from .estimator import OnlineEstimator
from .hypothesis import WeightsOrExamples
from .outlier import OnlineOutlierDetector
from .passes import PassByPass, StepByStep
from .persistence import load
from .regressor import OnlineRegressor

__all__ = [
    "BatchClassifier",
    "Certificate",
    "CertificateError",
    "OnlineClassifier",
    "OnlineEstimator",
    "OnlineOutlierDetector",
    "OnlineRegressor",
    "PassByPass",
    "StepByStep",
    "WeightsOrExamples",
    "load",
    "verify",
]
