"""What one pass buys: accuracy, support vectors, labels and time of every learner on nine tasks.

Everything is trained on the same rows in the same order and scored on the same test rows; nothing
is tuned on test rows. Kernel learners share the task's C and gamma; Nystroem + SGD picks its alpha
by cross-validation on the training rows, before the clock. The time is that of one run: for ratios
to rely on see bench/speed.
"""

from __future__ import annotations

from bench import tasks
from bench.common import Options, Report, benchmark
from bench.peers.batch import SVC
from bench.peers.gradient import NYSTROEM_1, NYSTROEM_5, SGD
from bench.peers.ours import HINGE, PA, RAMP, RAMP_GREEDY, RAMP_MARGIN
from bench.peers.streams import RIVER, VOWPAL, VOWPAL_KSVM

OURS = [RAMP, RAMP_MARGIN, RAMP_GREEDY, HINGE, PA]
PEERS = [SVC, NYSTROEM_1, NYSTROEM_5, SGD, RIVER, VOWPAL, VOWPAL_KSVM]


@benchmark("One pass over the ramp paper's tasks", SVC.name, repeats=1)
def main(report: Report, options: Options) -> None:
    tasks.run(report, [*OURS, *PEERS])
