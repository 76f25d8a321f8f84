"""What every estimator shares: the one learn loop, the one score loop, the contract around them."""

from .certificate import Certificate, CertificateError, Verified, verify
from .classifier import BatchClassifier, OnlineClassifier
from .estimator import OnlineEstimator
from .kernel_method import (
    AnyKernel,
    FreeBias,
    KernelBias,
    KernelMethod,
    SoftMargin,
    StoresExamples,
    WithGamma,
)
from .linear_or_kernel import LinearOrKernel
from .multiclass import Multiclass
from .outlier import OnlineOutlierDetector
from .passes import PassByPass, StepByStep
from .persistence import load
from .regressor import OnlineRegressor
from .room import WithBudget
from .settled import SettledWarning
from .step_learner import LinearStepLearner, StepLearner
from .towards_optimum import TowardsOptimum
from .transformer import KernelFeatures, OnlineTransformer

__all__ = [
    "AnyKernel",
    "BatchClassifier",
    "Certificate",
    "CertificateError",
    "FreeBias",
    "KernelBias",
    "KernelFeatures",
    "KernelMethod",
    "LinearOrKernel",
    "LinearStepLearner",
    "Multiclass",
    "OnlineClassifier",
    "OnlineEstimator",
    "OnlineOutlierDetector",
    "OnlineRegressor",
    "OnlineTransformer",
    "PassByPass",
    "SettledWarning",
    "SoftMargin",
    "StepByStep",
    "StepLearner",
    "StoresExamples",
    "TowardsOptimum",
    "Verified",
    "WithBudget",
    "WithGamma",
    "load",
    "verify",
]
