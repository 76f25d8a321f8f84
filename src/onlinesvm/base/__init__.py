"""What every estimator shares: the one learn loop, the one score loop, the contract around them."""

from .certificate import Certificate, CertificateError, Verified, verify
from .classifier import OnlineClassifier
from .estimator import OnlineEstimator
from .groups import (
    AnyKernel,
    FreeBias,
    KernelBias,
    KernelMethod,
    LinearOrKernel,
    LinearStepLearner,
    Multiclass,
    PassByPass,
    Settling,
    SoftMargin,
    StepByStep,
    StepLearner,
    StoresExamples,
    TowardsOptimum,
    WithBudget,
    WithGamma,
)
from .outlier import OnlineOutlierDetector
from .parameters import lists
from .persistence import load
from .regressor import OnlineRegressor
from .settled import SettledWarning
from .transformer import KernelFeatures, OfKernel, OnlineTransformer

__all__ = [
    "AnyKernel",
    "Certificate",
    "CertificateError",
    "FreeBias",
    "KernelBias",
    "KernelFeatures",
    "KernelMethod",
    "LinearOrKernel",
    "LinearStepLearner",
    "Multiclass",
    "OfKernel",
    "OnlineClassifier",
    "OnlineEstimator",
    "OnlineOutlierDetector",
    "OnlineRegressor",
    "OnlineTransformer",
    "PassByPass",
    "SettledWarning",
    "Settling",
    "SoftMargin",
    "StepByStep",
    "StepLearner",
    "StoresExamples",
    "TowardsOptimum",
    "Verified",
    "WithBudget",
    "WithGamma",
    "lists",
    "load",
    "verify",
]
