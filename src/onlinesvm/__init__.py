"""Support vector machines that learn from a stream."""

# One line per public name; all that looks for methods finds them here.
from .compose.bank.bank import ModelBank as ModelBank
from .compose.calibrate.online import CalibratedOnline as CalibratedOnline
from .compose.columns import OnlineColumns as OnlineColumns
from .compose.drift.aware import DriftAware as DriftAware
from .compose.labelling.desk import LabelDesk as LabelDesk
from .compose.pipeline import OnlinePipeline as OnlinePipeline
from .compose.pipeline import make_online_pipeline as make_online_pipeline
from .files.persistence import load as load
from .methods.ball.core_vector import CoreVectorSVC as CoreVectorSVC
from .methods.ball.stream_svm import StreamSVC as StreamSVC
from .methods.budget.bsgd import BudgetedRampSVC as BudgetedRampSVC
from .methods.budget.bsgd import BudgetedSVC as BudgetedSVC
from .methods.budget.bsgd import BudgetedSVR as BudgetedSVR
from .methods.budget.forgetron import ForgetronClassifier as ForgetronClassifier
from .methods.budget.independent import IndependentSVC as IndependentSVC
from .methods.budget.independent import IndependentSVR as IndependentSVR
from .methods.budget.multi_kernel import MultiKernelClassifier as MultiKernelClassifier
from .methods.budget.multi_kernel import MultiKernelRegressor as MultiKernelRegressor
from .methods.budget.projectron import ProjectronClassifier as ProjectronClassifier
from .methods.conformal.full import FullConformalOneClassSVM as FullConformalOneClassSVM
from .methods.conformal.full import FullConformalSVC as FullConformalSVC
from .methods.conformal.full import FullConformalSVR as FullConformalSVR
from .methods.dual.huller import HullerSVC as HullerSVC
from .methods.dual.lasvm import LASVC as LASVC
from .methods.dual.smo import SmoSVC as SmoSVC
from .methods.exact.incremental import IncrementalSVC as IncrementalSVC
from .methods.exact.offline_ramp import OfflineRampSVC as OfflineRampSVC
from .methods.exact.poker import PokerOneClassSVM as PokerOneClassSVM
from .methods.exact.poker import PokerSVC as PokerSVC
from .methods.exact.poker import PokerSVR as PokerSVR
from .methods.exact.ramp import RampSVC as RampSVC
from .methods.gradient.descent import GradientDescentClassifier as GradientDescentClassifier
from .methods.gradient.descent import GradientDescentRegressor as GradientDescentRegressor
from .methods.gradient.exponentiated import (
    ExponentiatedGradientClassifier as ExponentiatedGradientClassifier,
)
from .methods.gradient.exponentiated import (
    ExponentiatedGradientRegressor as ExponentiatedGradientRegressor,
)
from .methods.gradient.norma import NormaOneClassSVM as NormaOneClassSVM
from .methods.gradient.norma import NormaSVC as NormaSVC
from .methods.gradient.norma import NormaSVR as NormaSVR
from .methods.gradient.pegasos import PegasosSVC as PegasosSVC
from .methods.gradient.sgd import SGDSVC as SGDSVC
from .methods.margin.alma import AlmaClassifier as AlmaClassifier
from .methods.margin.confidence_weighted import (
    ConfidenceWeightedClassifier as ConfidenceWeightedClassifier,
)
from .methods.margin.mira import MiraClassifier as MiraClassifier
from .methods.margin.passive_aggressive import (
    PassiveAggressiveClassifier as PassiveAggressiveClassifier,
)
from .methods.margin.passive_aggressive import (
    PassiveAggressiveOneClass as PassiveAggressiveOneClass,
)
from .methods.margin.passive_aggressive import (
    PassiveAggressiveRegressor as PassiveAggressiveRegressor,
)
from .methods.margin.perceptron import KernelPerceptron as KernelPerceptron
from .methods.margin.romma import RommaClassifier as RommaClassifier
from .methods.margin.winnow import WinnowClassifier as WinnowClassifier
from .methods.semionline.retrain import ErrorDrivenSVC as ErrorDrivenSVC
from .methods.semionline.retrain import FixedPartitionSVC as FixedPartitionSVC
from .methods.semionline.retrain import ForgettingSVC as ForgettingSVC
from .model.estimator import OnlineEstimator as _Estimator
from .model.transformer import OnlineTransformer as _Transformer
from .transform.dates import OnlineDates as OnlineDates
from .transform.encoders import OnlineOneHot as OnlineOneHot
from .transform.encoders import OnlineOrdinal as OnlineOrdinal
from .transform.fourier import FourierFeatures as FourierFeatures
from .transform.hashing import OnlineHashing as OnlineHashing
from .transform.imputer import OnlineImputer as OnlineImputer
from .transform.nystroem import NystroemFeatures as NystroemFeatures
from .transform.scaler import OnlineScaler as OnlineScaler
from .transform.text import OnlineText as OnlineText
from .unlearn.certificate import Certificate as Certificate
from .unlearn.certificate import CertificateError as CertificateError
from .unlearn.certificate import Verified as Verified
from .unlearn.certificate import verify as verify
from .unlearn.settled import SettledWarning as SettledWarning

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
