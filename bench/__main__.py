"""Run the speed list, one process per file so that none inherits another's memory.

python -m bench                  all of bench/speed, in order
python -m bench predict --quick  only this one; options go to it
python -m bench quality          the accuracy table (longer; not part of the list)
python -m bench defaults         a tournament of defaults (a few minutes; not part of the list)
python -m bench tolerance        what RampSVC leaves undone (likewise)
python -m bench quality_budget   accuracy on a budget, against time and memory (likewise)
python -m bench independent      how small the models of OISVM are (likewise)
python -m bench erasure          forgetting beside a retrained model (likewise)
python -m bench forgetting       which policy of forgetting costs what (likewise)
python -m bench growth           time and memory against the length of a stream (likewise)
python -m bench labels           accuracy against labels, by query (likewise)
python -m bench label_issues     wrong labels found, beside cleanlab's ranking (likewise)
python -m bench probabilities    whether probabilities are true, and sets hold the label (likewise)
python -m bench pairs            one against one, or against the rest (likewise)
python -m bench wide             60 problems drawn by seed, beside SVC (likewise)
python -m bench drift            whether it pays to notice a drift (likewise)
python -m bench spark            what Spark adds, one executor against two (needs Java; likewise)
python -m bench cluster          the cascade, and what 1,000 executors would do (likewise)
python -m bench instead          what users would pick instead, on every set (an hour)
"""

from __future__ import annotations

import importlib.util
import itertools
import subprocess
import sys

SPEED = (
    "ramp_pass",
    "ramp_real",
    "digits",
    "smo",
    "settle",
    "incremental",
    "incremental_tasks",
    "poker",
    "core_vector",
    "predict",
    "predict_limit",
    "predict_one",
    "conformal",
    "value",
    "proba",
    "compress",
    "onnx",
    "cores",
    "one_by_one",
    "pipeline",
    "kernel_row",
    "linear",
    "linear_all",
    "linear_floor",
    "sparse",
    "features",
    "budget",
    "budget_peers",
    "bank",
    "evaluate",
    "runner",
    "sources",
    "stream_1m",
)
QUALITY = {
    "quality": "bench.quality.accuracy",
    "defaults": "bench.quality.defaults",
    "tolerance": "bench.quality.tolerance",
    "quality_budget": "bench.quality.budget",
    "independent": "bench.quality.independent",
    "erasure": "bench.quality.erasure",
    "forgetting": "bench.quality.forgetting",
    "growth": "bench.quality.growth",
    "labels": "bench.quality.labels",
    "label_issues": "bench.quality.label_issues",
    "probabilities": "bench.quality.probabilities",
    "drift": "bench.quality.drift",
    "pairs": "bench.quality.pairs",
    "wide": "bench.quality.wide",
    "spark": "bench.speed.spark",
    "cluster": "bench.quality.cluster",
    "instead": "bench.quality.instead",
}
BENCHMARKS = {name: f"bench.speed.{name}" for name in SPEED} | QUALITY


def main(words: list[str]) -> int:
    # What follows an option is its own: a case may bear the name of a benchmark.
    chosen = list(itertools.takewhile(BENCHMARKS.__contains__, words))
    rest = words[len(chosen) :]
    if rest[:1] in (["-h"], ["--help"]) and not chosen:
        print(__doc__)
        return 0
    if rest and not rest[0].startswith("-"):
        print(f"unknown benchmark {rest[0]!r}; known: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    return max(_run(BENCHMARKS[name], rest) for name in chosen or SPEED)


def _run(module: str, arguments: list[str]) -> int:
    if importlib.util.find_spec(module) is None:
        print(f"{module}: not there", file=sys.stderr)
        return 1
    return subprocess.run([sys.executable, "-m", module, *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
