"""Support vector machines that learn from a stream."""

from .ball import CoreVectorSVC, StreamSVC
from .base import Certificate, CertificateError, OnlineEstimator, load, verify
from .dual import LASVC, HullerSVC, SmoSVC
from .exact import (
    IncrementalSVC,
    OfflineRampSVC,
    PokerOneClassSVM,
    PokerSVC,
    PokerSVR,
    RampSVC,
)
from .gradient import SGDSVC, NormaOneClassSVM, NormaSVC, NormaSVR, PegasosSVC
from .margin import KernelPerceptron, PassiveAggressiveClassifier, PassiveAggressiveRegressor
from .queries import All, Greedy, Margin

__version__ = "0.1.0"

__all__ = [
    "LASVC",
    "SGDSVC",
    "All",
    "Certificate",
    "CertificateError",
    "CoreVectorSVC",
    "Greedy",
    "HullerSVC",
    "IncrementalSVC",
    "KernelPerceptron",
    "Margin",
    "NormaOneClassSVM",
    "NormaSVC",
    "NormaSVR",
    "OfflineRampSVC",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "PegasosSVC",
    "PokerOneClassSVM",
    "PokerSVC",
    "PokerSVR",
    "RampSVC",
    "SmoSVC",
    "StreamSVC",
    "all_estimators",
    "load",
    "verify",
]


def all_estimators() -> list[type[OnlineEstimator]]:
    """Every estimator of the library, by name.

    Examples
    --------
    >>> import onlinesvm
    >>> [cls.__name__ for cls in onlinesvm.all_estimators() if cls.can("leave_one_out")]
    ['IncrementalSVC']
    """
    names = (globals()[name] for name in sorted(__all__))
    return [x for x in names if isinstance(x, type) and issubclass(x, OnlineEstimator)]
