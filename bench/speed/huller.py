"""One pass of HullerSVC over MNIST, digit 8 against the rest, against batch solvers.

The data and C of the race of LASVC; the Huller's slacks are squared. One round: SVC takes minutes.
"""

from __future__ import annotations

from bench.common import Report, parse
from bench.peers.batch import INTELEX_32, SVC
from bench.peers.ours import HULLER, HULLER_FINISHED
from bench.speed.lasvm import digit_task, race_one_pass


def main() -> None:
    options = parse(__doc__, repeats=1)
    report = Report("huller", "One pass of HullerSVC / one SVC.fit", SVC.name, options)
    race_one_pass(report, digit_task(options), [HULLER, HULLER_FINISHED, SVC, INTELEX_32])


if __name__ == "__main__":
    main()
