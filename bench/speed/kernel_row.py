"""One RBF kernel row against the time it takes merely to read the stored examples.

A row of n kernel values has to read n x d numbers; no code can be faster than that read. Sizes lie
beyond the L2 cache, where memory and not arithmetic is the limit. The compiled core times both
itself (``_probes.time_row``) and gives the minimum of each: Python calls would blur microseconds.
"""

from __future__ import annotations

from importlib.util import find_spec

from bench.common import Lap, Options, Report, benchmark

STORES = [(40_000, 54, 32), (40_000, 54, 64), (20_000, 123, 32), (10_000, 784, 32)]


def contest(n: int, d: int, bits: int, report: Report, options: Options) -> None:
    from onlinesvm import _probes

    n = options.size(n, 256)
    times = _probes.time_row(n, d, bits, max(options.repeats, 1))
    case = f"{n:,} x {d} float{bits}"
    row, read = times["row_seconds"], times["read_seconds"]
    facts = {"MiB": round(n * d * bits / 8 / 2**20, 1)}
    laps = {"rbf row": Lap([row], None), "read": Lap([read], None)}
    report.add(case, laps, facts={"rbf row": facts, "read": facts}, units=n * d)
    report.bar(f"{case}: row / read", report.ratio(case, "rbf row"), at_most=1.4)


@benchmark("One RBF row / one read of the store", "read", repeats=200)
def main(report: Report, options: Options) -> None:
    if find_spec("onlinesvm._probes") is None:
        raise SystemExit("kernel_row: no onlinesvm._probes here; `make build` makes it")
    for n, d, bits in STORES:
        contest(n, d, bits, report, options)
