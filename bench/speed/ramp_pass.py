"""One online RampSVC pass against one batch SVC.fit on the nine tasks of the ramp paper.

Same C and gamma, SVC with cache_size=1000. The online pass is optimal after every example; the
batch solvers see all rows at once.
"""

from __future__ import annotations

from bench import tasks
from bench.common import Options, Report, benchmark, geometric_mean
from bench.peers.batch import INTELEX_32, INTELEX_64, SVC
from bench.peers.ours import RAMP

LEARNERS = [RAMP, SVC, INTELEX_64, INTELEX_32]
NOISY = ("NCheckerboard", "Gauss")  # synthetic, and so noisy that they carry a mean over all


@benchmark("One online pass / one SVC.fit", SVC.name)
def main(report: Report, options: Options) -> None:
    ratios = {name: report.ratio(name, RAMP.name) for name in tasks.run(report, LEARNERS)}
    for name in NOISY:
        if name in ratios:
            report.bar(f"{name}: pass / fit", ratios[name], at_most=0.3)
    mean = geometric_mean(list(ratios.values()))
    report.bar(f"geometric mean of {len(ratios)}: pass / fit", mean, at_most=1.0)
    if others := {name: ratio for name, ratio in ratios.items() if name not in NOISY}:
        mean = geometric_mean(list(others.values()))
        claim = f"geometric mean of the {len(others)} without {' and '.join(NOISY)}: pass / fit"
        report.bar(claim, mean, at_most=0.6)
        slowest = max(others, key=lambda name: others[name])
        report.bar(f"slowest of them, {slowest}: pass / fit", others[slowest], at_most=1.2)
