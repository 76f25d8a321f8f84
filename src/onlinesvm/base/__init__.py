"""What every estimator shares: the one learn loop, the one score loop, the contract around them."""

from .certificate import Certificate, CertificateError, verify
from .classifier import BatchClassifier, OnlineClassifier
from .estimator import OnlineEstimator
from .hypothesis import WeightsOrExamples
from .outlier import OnlineOutlierDetector
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
    "WeightsOrExamples",
    "load",
    "verify",
]
