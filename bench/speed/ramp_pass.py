"""One online RampSVC pass against one batch SVC.fit on the nine tasks of the ramp paper.

Same C and gamma, SVC with cache_size=1000. The online pass is optimal after every example; the
batch solvers see all rows at once.
"""

from __future__ import annotations

from bench.common import Report, geometric_mean, parse, race
from bench.peers import present
from bench.peers.batch import INTELEX_32, INTELEX_64, SVC
from bench.peers.ours import RAMP
from onlinesvm.datasets import PAPER_TASKS, paper_task


def main() -> None:
    options = parse(__doc__)
    report = Report("ramp_pass", "One online pass / one SVC.fit", SVC.name, options)
    learners = present([RAMP, SVC, INTELEX_64, INTELEX_32], report.note)
    names = [name for name in PAPER_TASKS if options.wants(name)]
    for name in names:
        task = paper_task(name, train_rows=300 if options.quick else None)
        laps = race(
            {learner.name: learner.enter(task) for learner in learners}, repeats=options.repeats
        )
        facts = {learner: lap.product.facts(task) for learner, lap in laps.items()}
        report.add(name, laps, facts=facts)

    ratios = {name: report.ratio(name, RAMP.name) for name in names}
    for name in ("NCheckerboard", "Gauss"):
        if name in ratios:
            report.bar(f"{name}: pass / fit", ratios[name], at_most=0.3)
    mean = geometric_mean(list(ratios.values()))
    report.bar(f"geometric mean of {len(ratios)}: pass / fit", mean, at_most=1.0)
    report.finish()


if __name__ == "__main__":
    main()
