"""settle="call": a whole set in one partial_fit against SmoSVC, our batch solver.

The nine tasks of the ramp paper, same C and gamma, RampSVC and SmoSVC each at its own default
tolerance, RampSVC without examining again what was put aside; the hinge loss (s = -inf) is there to
tell the solver from the loss, which drops most of the noise. IncrementalSVC, which has the same
solution as SmoSVC, at the tolerance of SmoSVC.
"""

from __future__ import annotations

import numpy as np

from bench import tasks
from bench.common import Options, Report, benchmark, geometric_mean
from bench.peers import Learner
from bench.peers.ours import RAMP, ramp
from bench.speed.incremental_tasks import LOOSE
from bench.speed.incremental_tasks import learner as incremental
from bench.speed.smo import OURS as SMO

BY_CALL = Learner("RampSVC by call", lambda task: ramp(task, settle="call"))
HINGE = Learner("hinge by call", lambda task: ramp(task, settle="call", s=-np.inf))
EXACT_BY_CALL = incremental("IncrementalSVC by call", tol=LOOSE, dtype="float32", settle="call")


@benchmark("One partial_fit / one SmoSVC.fit", SMO.name)
def main(report: Report, options: Options) -> None:
    names = tasks.run(report, [BY_CALL, HINGE, EXACT_BY_CALL, RAMP, SMO])
    for learner in (BY_CALL, HINGE, EXACT_BY_CALL):
        ratios = [report.ratio(name, learner.name) for name in names]
        claim = f"{learner.name}, geometric mean of {len(names)}: call / fit"
        report.bar(claim, geometric_mean(ratios), at_most=1.2)
    for name in names:
        report.bar(f"{name}: call / fit", report.ratio(name, BY_CALL.name), at_most=1.2)
