"""Support vector machines that learn from a stream."""

# One line per public name; all that looks for methods finds them here.
from .ball.core_vector import CoreVectorSVC as CoreVectorSVC
from .ball.stream_svm import StreamSVC as StreamSVC
from .bank.bank import ModelBank as ModelBank
from .base import Certificate as Certificate
from .base import CertificateError as CertificateError
from .base import OnlineEstimator as _Estimator
from .base import OnlineTransformer as _Transformer
from .base import SettledWarning as SettledWarning
from .base import Verified as Verified
from .base import load as load
from .base import verify as verify
from .budget.bsgd import BudgetedRampSVC as BudgetedRampSVC
from .budget.bsgd import BudgetedSVC as BudgetedSVC
from .budget.bsgd import BudgetedSVR as BudgetedSVR
from .budget.forgetron import ForgetronClassifier as ForgetronClassifier
from .budget.independent import IndependentSVC as IndependentSVC
from .budget.independent import IndependentSVR as IndependentSVR
from .budget.multi_kernel import MultiKernelClassifier as MultiKernelClassifier
from .budget.multi_kernel import MultiKernelRegressor as MultiKernelRegressor
from .budget.projectron import ProjectronClassifier as ProjectronClassifier
from .calibrate.online import CalibratedOnline as CalibratedOnline
from .conformal.full import FullConformalOneClassSVM as FullConformalOneClassSVM
from .conformal.full import FullConformalSVC as FullConformalSVC
from .conformal.full import FullConformalSVR as FullConformalSVR
from .drift.aware import DriftAware as DriftAware
from .dual.huller import HullerSVC as HullerSVC
from .dual.lasvm import LASVC as LASVC
from .dual.smo import SmoSVC as SmoSVC
from .exact.incremental import IncrementalSVC as IncrementalSVC
from .exact.offline_ramp import OfflineRampSVC as OfflineRampSVC
from .exact.poker import PokerOneClassSVM as PokerOneClassSVM
from .exact.poker import PokerSVC as PokerSVC
from .exact.poker import PokerSVR as PokerSVR
from .exact.ramp import RampSVC as RampSVC
from .gradient.descent import GradientDescentClassifier as GradientDescentClassifier
from .gradient.descent import GradientDescentRegressor as GradientDescentRegressor
from .gradient.exponentiated import (
    ExponentiatedGradientClassifier as ExponentiatedGradientClassifier,
)
from .gradient.exponentiated import ExponentiatedGradientRegressor as ExponentiatedGradientRegressor
from .gradient.norma import NormaOneClassSVM as NormaOneClassSVM
from .gradient.norma import NormaSVC as NormaSVC
from .gradient.norma import NormaSVR as NormaSVR
from .gradient.pegasos import PegasosSVC as PegasosSVC
from .gradient.sgd import SGDSVC as SGDSVC
from .labelling.desk import LabelDesk as LabelDesk
from .margin.alma import AlmaClassifier as AlmaClassifier
from .margin.confidence_weighted import (
    ConfidenceWeightedClassifier as ConfidenceWeightedClassifier,
)
from .margin.mira import MiraClassifier as MiraClassifier
from .margin.passive_aggressive import PassiveAggressiveClassifier as PassiveAggressiveClassifier
from .margin.passive_aggressive import PassiveAggressiveOneClass as PassiveAggressiveOneClass
from .margin.passive_aggressive import PassiveAggressiveRegressor as PassiveAggressiveRegressor
from .margin.perceptron import KernelPerceptron as KernelPerceptron
from .margin.romma import RommaClassifier as RommaClassifier
from .margin.winnow import WinnowClassifier as WinnowClassifier
from .prepare.columns import OnlineColumns as OnlineColumns
from .prepare.dates import OnlineDates as OnlineDates
from .prepare.encoders import OnlineOneHot as OnlineOneHot
from .prepare.encoders import OnlineOrdinal as OnlineOrdinal
from .prepare.fourier import FourierFeatures as FourierFeatures
from .prepare.hashing import OnlineHashing as OnlineHashing
from .prepare.imputer import OnlineImputer as OnlineImputer
from .prepare.nystroem import NystroemFeatures as NystroemFeatures
from .prepare.pipeline import OnlinePipeline as OnlinePipeline
from .prepare.pipeline import make_online_pipeline as make_online_pipeline
from .prepare.scaler import OnlineScaler as OnlineScaler
from .prepare.text import OnlineText as OnlineText
from .semionline.retrain import ErrorDrivenSVC as ErrorDrivenSVC
from .semionline.retrain import FixedPartitionSVC as FixedPartitionSVC
from .semionline.retrain import ForgettingSVC as ForgettingSVC

__version__ = "0.1.0"


# What `dir` and a star import show: the estimators, and what every program needs. Transformers,
# conformal sets, desks and banks can be imported from here by name; queries, label budgets and
# policies of forgetting are in their modules.
__all__ = [
    "LASVC",
    "SGDSVC",
    "AlmaClassifier",
    "BudgetedRampSVC",
    "BudgetedSVC",
    "BudgetedSVR",
    "CalibratedOnline",
    "ConfidenceWeightedClassifier",
    "CoreVectorSVC",
    "ErrorDrivenSVC",
    "ExponentiatedGradientClassifier",
    "ExponentiatedGradientRegressor",
    "FixedPartitionSVC",
    "ForgetronClassifier",
    "ForgettingSVC",
    "GradientDescentClassifier",
    "GradientDescentRegressor",
    "HullerSVC",
    "IncrementalSVC",
    "IndependentSVC",
    "IndependentSVR",
    "KernelPerceptron",
    "MiraClassifier",
    "MultiKernelClassifier",
    "MultiKernelRegressor",
    "NormaOneClassSVM",
    "NormaSVC",
    "NormaSVR",
    "OfflineRampSVC",
    "OnlinePipeline",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveOneClass",
    "PassiveAggressiveRegressor",
    "PegasosSVC",
    "PokerOneClassSVM",
    "PokerSVC",
    "PokerSVR",
    "ProjectronClassifier",
    "RampSVC",
    "RommaClassifier",
    "SmoSVC",
    "StreamSVC",
    "WinnowClassifier",
    "load",
    "verify",
]


def __dir__() -> list[str]:
    return __all__


def all_estimators() -> list[type[_Estimator]]:
    """Every estimator of the library, by name; what only prepares is in :func:`all_transformers`.

    Examples
    --------
    >>> import onlinesvm
    >>> [cls.__name__ for cls in onlinesvm.all_estimators() if cls.can("leave_one_out")]
    ['IncrementalSVC']
    """
    return [cls for cls in _methods() if not issubclass(cls, _Transformer)]


def all_transformers() -> list[type[_Transformer]]:
    """Every transformer of the library, by name.

    Examples
    --------
    >>> import onlinesvm
    >>> [cls.__name__ for cls in onlinesvm.all_transformers() if cls.__name__.endswith("Features")]
    ['FourierFeatures', 'NystroemFeatures']
    """
    return [cls for cls in _methods() if issubclass(cls, _Transformer)]


def _methods() -> list[type[_Estimator]]:
    things = (thing for _, thing in sorted(globals().items()) if isinstance(thing, type))
    return [cls for cls in things if issubclass(cls, _Estimator) and "_stem" in vars(cls)]
