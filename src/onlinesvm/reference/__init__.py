"""Readable NumPy twins of the algorithms: how to understand a method, and the oracle of its tests.

A twin follows its paper line by line, in the paper's symbols, and cares about nothing else: labels
are -1 and +1 (or class numbers), and it is hundreds of times slower than the class it explains.
"""

from onlinesvm.reference.core_vector import CoreVector
from onlinesvm.reference.gradient import Pegasos, Sgd
from onlinesvm.reference.huller import Huller
from onlinesvm.reference.incremental import Incremental
from onlinesvm.reference.kernels import Kernel
from onlinesvm.reference.lasvm import LASVM
from onlinesvm.reference.norma import Norma
from onlinesvm.reference.nystroem import Nystroem
from onlinesvm.reference.offline_ramp import OfflineRamp
from onlinesvm.reference.passive_aggressive import PassiveAggressive
from onlinesvm.reference.perceptron import Perceptron
from onlinesvm.reference.poker import Poker
from onlinesvm.reference.ramp import Greedy, Latest, Margin, OneVsRest, QueryAll, Ramp
from onlinesvm.reference.retrain import Retrain
from onlinesvm.reference.smo import SMO
from onlinesvm.reference.stream_svm import StreamSVM

__all__ = [
    "LASVM",
    "SMO",
    "CoreVector",
    "Greedy",
    "Huller",
    "Incremental",
    "Kernel",
    "Latest",
    "Margin",
    "Norma",
    "Nystroem",
    "OfflineRamp",
    "OneVsRest",
    "PassiveAggressive",
    "Pegasos",
    "Perceptron",
    "Poker",
    "QueryAll",
    "Ramp",
    "Retrain",
    "Sgd",
    "StreamSVM",
]
