"""Table 1 as the paper prints it."""

from __future__ import annotations

import re

from reproduce.verdict import Printed

OURS = ("OnlineSVM-R", "OnlineASVM-R")
COLUMNS = ("LIBSVM", "IDSVM", "PA", *OURS)
STOPPED = ("NCheckerboard", "Cover", "Gauss")  # IDSVM, after 5,000 seconds
BEST_ON_GAUSS = 81.49  # percent: nobody can do better in the mean, see make_gauss

# Accuracy in percent and support vectors, by column.
TABLE_1 = """
Adult         84.0±0.3 4275±57 84.3±0.2 4093±50  82.3±0.2 7764±19 84.5±0.2 2631±68 84.5±0.2 2497±54
Banana        90.0±1.0 926±17  90.0±0.8 995±14   88.7±0.4 1195±16 90.8±1.0 713±16  89.9±0.4 303±11
Checkerboard  99.2±0.1 455±13  99.1±0.2 477±17   97.1±0.3 1990±29 99.5±0.0 492±2   99.0±0.2 438±11
NCheckerboard 96.5±0.3 4679±27 96.6±0.5 3196±48  89.9±0.7 5605±66 98.6±0.2 554±19  98.0±0.2 987±31
Cover         79.8±0.4 5164±82 80.8±0.4 3529±22  81.5±0.4 10000±0 81.8±0.4 3898±69 80.8±0.4 2408±135
DNA           95.0±0.0 1080±1  95.2±0.0 817±0.4  93.8±0.2 1680±2  95.1±0.1 796±4   95.2±0.0 1097±4
Gauss         81.9±0.3 4183±74 81.5±0.6 2522±76  76.4±5   4767±47 81.8±0.2 465±93  81.8±0.2 304±27
USPS          97.3±0.0 1126±0  97.3±0.0 1180±0   96.7±0.3 2205±18 97.5±0.1 1166±10 97.1±0.0 1152±14
Waveform      88.5±0.2 2629±45 89.7±0.5 2545±43  89.0±0.4 8273±19 89.4±0.3 1796±51 89.5±0.4 1711±41
"""


def printed(task: str, learner: str) -> dict[str, Printed]:
    """Accuracy and support vectors of one learner on one set."""
    line = next(line for line in TABLE_1.splitlines() if line.startswith(f"{task} "))
    figures = [tuple(map(float, pair)) for pair in re.findall(r"([\d.]+)±([\d.]+)", line)]
    at = 2 * COLUMNS.index(learner)
    return {
        "accuracy": Printed.accuracy(*figures[at]),
        "support vectors": Printed.count(*figures[at + 1]),
    }
