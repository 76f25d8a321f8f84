"""What users would pick instead, on every set that fits, by rules fixed beforehand.

Fifteen sets are learned once and tested on rows kept apart, four streams are predicted before they
are learned. The rules for rows are in bench/quality/contests.py, those for settings and clocks in
bench/quality/rivals.py. Each pair of a contest and a rival is measured in processes of its own;
what was measured before is not measured twice.

python -m bench instead                 everything: about an hour on two cores
python -m bench instead --jobs 16       with so many processes
python -m bench instead --only adult    these contests
python -m bench instead --quick         at tiny sizes: shows that it runs, says nothing
python -m bench instead --measured      runs nothing, writes docs/instead.md from what is there
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.svm import SVC, LinearSVC

import onlinesvm
from bench.common import RESULTS, console
from bench.peers import CACHE_MB
from bench.quality.alone import Facts
from bench.quality.contests import SETS, STREAMS, TEXTS, Contest, available, blind
from bench.quality.contests import contest as named
from bench.quality.kinds import like_beside_like, which_kind
from bench.quality.pages import FACTS, Field, map_of, matrix, origins, summary, winners
from bench.quality.quality_budget import Behind
from bench.quality.rivals import SIZE, Rival, River, Settings, Vowpal, measure
from bench.tables import replace, table
from reproduce.journal import Journal

GAMMAS = (2.0, 0.5, 8.0)  # in units of one over the mean squared distance
COSTS = (10.0, 1.0, 100.0)
ALPHAS = (1e-4, 1e-5, 1e-3)
QUICK_ROWS = 120
KERNEL = {"gamma": GAMMAS, "C": COSTS}
FEATURES = {"gamma": GAMMAS, "alpha": ALPHAS, "average": (True, False)}
LINEAR = {"alpha": (1e-4, 1e-3, 1e-5, 1e-2, 1e-6), "average": (True, False)}

# --- ours ----------------------------------------------------------------------------------------


def make_ours(name: str, fixed: Settings, contest: Contest, settings: Settings) -> Any:
    told = {**settings, **fixed}
    if "gamma" in told:
        told["gamma"] *= contest.unit
    return getattr(onlinesvm, name)(**told)


def ours(name: str, label: str = "", *, fixed: Settings | None = None, **words: Any) -> Rival:
    """A class of the package; `fixed` settings are the same everywhere."""
    return Rival(name + label, partial(make_ours, name, fixed or {}), module="onlinesvm", **words)


def behind_ours(features: str, contest: Contest, settings: Settings) -> Behind:
    gamma = settings["gamma"] * contest.unit
    steps = {key: settings[key] for key in ("alpha", "average")}
    machine = onlinesvm.SGDSVC(**steps)
    return Behind(getattr(onlinesvm, features)(n_components=SIZE, gamma=gamma), machine)


_BY_ROWS = ours("SmoSVC", grid=KERNEL, by_fit=True)
_BY_STREAM = ours("LASVC", grid=KERNEL)


def _hinge(contest: Contest) -> Rival:
    """Who is asked for C and gamma of all who minimise the same."""
    return _BY_STREAM if contest.drifts else _BY_ROWS


OURS = (
    ours("SmoSVC", asks=_hinge, by_fit=True),
    ours("IncrementalSVC", asks=_hinge),
    ours("LASVC", asks=_hinge),
    ours("RampSVC", asks=_hinge),
    ours("RampSVC", ", asks for labels", fixed={"query": "margin"}, asks=_hinge),
    ours("BudgetedSVC", fixed={"budget": SIZE}, grid={"gamma": GAMMAS, "alpha": ALPHAS}),
    *(
        Rival(
            f"{features} + SGDSVC",
            partial(behind_ours, features),
            FEATURES,
            module="onlinesvm",
            size=SIZE,
        )
        for features in ("NystroemFeatures", "FourierFeatures")
    ),
    ours("SGDSVC", grid=LINEAR),
    ours(
        "PassiveAggressiveClassifier",
        grid={"C": (0.01, 0.1, 0.001, 1.0), "average": (True, False)},
    ),
)

# --- theirs --------------------------------------------------------------------------------------


def _svc(contest: Contest, settings: Settings) -> Any:
    gamma = settings["gamma"] * contest.unit
    return SVC(C=settings["C"], gamma=gamma, cache_size=CACHE_MB)


def _intelex(contest: Contest, settings: Settings) -> Any:
    from daal4py import daalinit
    from sklearnex.svm import SVC

    daalinit(nthreads=1)  # it has its own thread pool, which threadpoolctl does not see
    gamma = settings["gamma"] * contest.unit
    return SVC(C=settings["C"], gamma=gamma, cache_size=CACHE_MB)


def _linear(contest: Contest, settings: Settings) -> Any:
    return LinearSVC(C=settings["C"], random_state=0)


def _sgd(contest: Contest, settings: Settings) -> Any:
    return SGDClassifier(**settings, random_state=0)


def _features(kind: Any, contest: Contest, settings: Settings) -> Behind:
    rows = contest.trial.X
    size = min(SIZE, rows.shape[0]) if kind is Nystroem else SIZE
    features = kind(gamma=settings["gamma"] * contest.unit, n_components=size, random_state=0)
    steps = {key: settings[key] for key in ("alpha", "average")}
    machine = SGDClassifier(**steps, random_state=0)
    return Behind(features.fit(rows), machine)


def _boosted(contest: Contest, settings: Settings) -> Any:
    return HistGradientBoostingClassifier(random_state=0)


def _river(name: str, contest: Contest, settings: Settings) -> River:
    from river import linear_model, multiclass

    model = getattr(linear_model, name)(**settings)
    return River(model if len(contest.classes) == 2 else multiclass.OneVsRestClassifier(model))


def _forest(contest: Contest, settings: Settings) -> River:
    from river.forest import ARFClassifier

    return River(ARFClassifier(seed=0))


def _ksvm(contest: Contest, settings: Settings) -> Vowpal:
    bandwidth = settings["gamma"] * contest.unit
    return Vowpal(f"--ksvm --kernel rbf --bandwidth {bandwidth} --l2 {1 / settings['C']}")


def _dense(contest: Contest) -> bool:
    return not contest.wide


def _two(contest: Contest) -> bool:
    return len(contest.classes) == 2


THEIRS = (
    Rival("SVC", _svc, asks=_hinge, by_fit=True),
    Rival("intelex SVC", _intelex, asks=_hinge, module="sklearnex", by_fit=True),
    Rival("LinearSVC", _linear, {"C": (0.1, 0.01, 1.0, 0.001, 10.0)}, by_fit=True),
    Rival("SGDClassifier", _sgd, LINEAR),
    Rival(
        "Nystroem + SGDClassifier",
        partial(_features, Nystroem),
        FEATURES,
        size=SIZE,
    ),
    Rival(
        "RBFSampler + SGDClassifier",
        partial(_features, RBFSampler),
        FEATURES,
        size=SIZE,
    ),
    Rival(
        "vowpalwabbit --ksvm",
        _ksvm,
        KERNEL,
        takes=_two,
        module="vowpalwabbit",
        why_not="two classes only",
    ),
    Rival(
        "river PAClassifier",
        partial(_river, "PAClassifier"),
        {"C": (0.01, 0.1, 0.001, 1.0), "mode": (1, 2)},
        module="river",
    ),
    Rival(
        "river ALMAClassifier",
        partial(_river, "ALMAClassifier"),
        {"alpha": (0.9, 0.7, 0.5)},
        module="river",
    ),
    Rival("river ARFClassifier", _forest, takes=_dense, module="river", why_not="dense rows only"),
    Rival("HistGradientBoosting", _boosted, takes=_dense, by_fit=True, why_not="dense rows only"),
)
RIVALS = {rival.name: rival for rival in (*OURS, *THEIRS)}


# --- measuring -----------------------------------------------------------------------------------


def meeting(contest: str, rival: str, rows: int | None = None) -> Facts:
    """What is told of a rival on a contest, cut to so many rows; why it does not take it, else."""
    one, who = named(contest, rows), RIVALS[rival]
    return measure(who, one) if who.takes(one) else {"left_out": who.why_not}


def cells(contests: Iterable[str], rows: int | None) -> list[dict[str, Any]]:
    """All meetings of those who are installed."""
    there = [name for name, rival in RIVALS.items() if rival.there]
    return [{"contest": c, "rival": name, "rows": rows} for c in contests for name in there]


# --- the page ------------------------------------------------------------------------------------

DOCS = Path(__file__).parents[2] / "docs"
GROUPS = {"Rows of numbers": SETS, "Text": TEXTS, "Streams, test-then-train": STREAMS}
BASE = "SVC"
MISSING = "not measured yet"


def met(journal: Journal, contests: Iterable[str], rows: int | None) -> Field:
    """What the journal holds; nothing is measured any more."""
    journal.measured = True
    facts: dict[str, dict[str, Facts]] = {}
    for name in contests:
        todo = [{"contest": name, "rival": rival, "rows": rows} for rival in RIVALS]
        told = zip(RIVALS, journal.work(todo, meeting), strict=True)
        found = {rival: one or {"left_out": MISSING} for rival, one in told}
        if any("accuracy" in one for one in found.values()):
            facts[name] = found
    return Field(facts, frozenset(rival.name for rival in OURS))


def blind_rows(journal: Journal, contests: Iterable[str], rows: int | None) -> str:
    """The size of each contest, and those who look at no row."""
    lines = []
    for name in contests:
        (told,) = journal.work([{"contest_name": name, "rows": rows}], blind)
        if told is not None:
            shares = (told.get(who) for who in ("the majority", "the last label"))
            cells = [f"{share:.1f}" if share is not None else "-" for share in shares]
            sizes = [f"{told[key]:,}" for key in ("rows", "features", "classes")]
            lines.append([name, *sizes, *cells])
    head = ["contest", "rows to learn", "features", "classes"]
    return table([*head, "the majority, %", "the last label, %"], lines)


def unmeasured(whole: Field, every: Sequence[str]) -> str:
    """What a reader must know is not there."""
    gone = [name for name in every if name not in whole.facts]
    told = {
        c: [r for r, one in f.items() if one.get("left_out") == MISSING]
        for c, f in whole.facts.items()
    }
    parts = [f"{contest} ({', '.join(rivals)})" for contest, rivals in told.items() if rivals]
    return f"**{MISSING.capitalize()}:** {', '.join([*gone, *parts])}." if gone or parts else ""


def page(journal: Journal, rows: int | None) -> dict[str, str]:
    """The generated parts of docs/instead.md by name."""
    every = [name for group in GROUPS.values() for name in group]
    whole = met(journal, every, rows)
    bodies = {"winners": winners(whole), "contests": blind_rows(journal, every, rows)}
    bodies["missing"] = unmeasured(whole, every)
    bodies["likes"] = like_beside_like(whole)
    parts = {title: whole.among(group) for title, group in GROUPS.items()}
    bodies["kinds"] = which_kind(parts, BASE)
    details = []
    for title, part in parts.items():
        key = title.split()[0].strip(",").lower()
        bodies[key] = summary(part, BASE) if part.facts else f"{MISSING.capitalize()}."
        if part.facts:
            details += [f"### {title}", *(matrix(part, key) for key in FACTS)]
    bodies["details"] = "\n\n".join(details)
    bodies["origin"] = origins(journal.origins)
    return bodies


def main(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", metavar="CONTEST", help="these contests")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default 2)")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, kept in results/local")
    parser.add_argument("--afresh", action="store_true", help="forget what was measured before")
    parser.add_argument("--measured", action="store_true", help="run nothing, write what is there")
    told = parser.parse_args(words)
    journal = Journal(
        "instead", folder=RESULTS / "cells", jobs=told.jobs, quick=told.quick, afresh=told.afresh
    )
    rows = QUICK_ROWS if told.quick else None
    for rival in RIVALS.values():
        if not rival.there:
            console.print(f"{rival.name} left out: {rival.module} is not installed")
    if not told.measured:
        in_turn = itertools.chain.from_iterable(itertools.zip_longest(*GROUPS.values()))
        wanted = told.only or [name for name in in_turn if name is not None]
        contests = list(available(wanted))
        journal.work([{"contest_name": name, "rows": rows} for name in contests], blind)
        journal.work(cells(contests, rows), meeting)
    bodies = page(journal, rows)
    print(bodies["winners"])
    if journal.quick:
        return
    path = DOCS / "instead.md"
    path.write_text(replace(path.read_text(), "instead", bodies.get))
    whole = {title: met(journal, group, rows) for title, group in GROUPS.items()}
    shown = {title: field for title, field in whole.items() if field.facts}
    map_of(shown, BASE).savefig(DOCS / "images" / "instead.png", dpi=110)
    print("written: docs/instead.md, docs/images/instead.png")
