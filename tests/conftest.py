"""What every test shares: one thread per process, and property tests that repeat to the letter."""

import os
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest
import tiers
from hypothesis import HealthCheck, settings

# Read by numpy and scikit-learn when they are first imported, which no test has done yet.
for pool in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(pool, "1")

# In the background of a shell Ctrl-C is ignored, and tests that send one would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

LEFT = pytest.StashKey[int]()


def pytest_addoption(parser):
    parser.addoption("--tier", choices=tiers.TIERS, default="all", help="see tests/tiers.py")


def pytest_configure(config):
    """The tier is known before test modules are imported."""
    tiers.chosen = config.option.tier
    if tiers.chosen == "quick":  # not even imported, for want of what they import
        config.option.ignore = [
            *(config.option.ignore or []),
            *(str(config.rootpath / place) for place in tiers.CLUSTERS),
        ]
    # The same examples everywhere; HYPOTHESIS_PROFILE=explore looks for trouble.
    settings.register_profile(
        "repeatable",
        derandomize=True,
        database=None,
        deadline=None,
        max_examples=tiers.examples(50),
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.register_profile("explore", deadline=None, max_examples=2000)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    kept, left = tiers.split(items, config.option.tier)
    items[:] = kept
    if left:
        config.hook.pytest_deselected(items=left)
    leave(config, len(left))
    if hasattr(config, "workeroutput"):  # pytest-xdist does not count them itself
        config.workeroutput["left"] = len(left)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    leave(node.config, getattr(node, "workeroutput", {}).get("left", 0))


def leave(config, n):
    config.stash[LEFT] = n


@pytest.fixture(autouse=True)
def _close_figures():
    """No test meets a figure that another, or a doctest, has left open."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def checkout(monkeypatch):
    """`bench` and `reproduce` can be imported; what that does to the environment is undone."""
    before = dict(os.environ)
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    import bench  # noqa: F401

    os.environ.clear()
    os.environ.update(before)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Of several workers only one starts Spark, and does so first; all other tests go anywhere."""
    from xdist.scheduler import LoadScopeScheduling

    blocks: dict[str, str] = {}

    class OneSpark(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            if nodeid.startswith("tests/cluster/spark/"):
                return "spark"
            return blocks.setdefault(nodeid, f"block {len(blocks) // 20}")

    return OneSpark(config, log) if config.getvalue("dist") == "load" else None


def pytest_terminal_summary(terminalreporter, config):
    """One closing line for what a green run has left out; pytest's own counts follow it."""
    if words := left_out(terminalreporter.stats, config.stash.get(LEFT, 0)):
        terminalreporter.write_line(f"left out: {words}")
    seed = getattr(config.option, "randomly_seed", None)
    if config.option.verbose < 0 and seed is not None:  # else it stands in the header
        terminalreporter.write_line(f"random order: again with --randomly-seed={seed}")


def left_out(stats, other_tier=0):
    """What was skipped and what was expected to fail, with the reason or where it stands."""
    waived = Counter(report.nodeid.partition("::")[0] for report in stats.get("xfailed", ()))
    missing = Counter(reason(report) for report in stats.get("skipped", ()))
    other = {"quick": "make test-all runs them", "rest": "make test has run them"}
    return "; ".join(
        [f"{other_tier:,} cases of another tier ({other.get(tiers.chosen, '')})"] * bool(other_tier)
        + [f"{n} expected failures ({file} says why)" for file, n in waived.items()]
        + [f"{n} skipped ({why})" for why, n in missing.items()]
    )


def reason(report):
    """Why a test was skipped, in its own words."""
    said = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return said.removeprefix("Skipped: ")
