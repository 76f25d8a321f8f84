"""The overview (Frandina 2012) names the online SVMs of its time without a figure: here they are.

Every method it names learns six streams, four real and two generated, test-then-train, ten rows at
a time: four of them drift. Rules for rows, settings and clocks are those of the comparison with
other libraries (bench/quality/contests.py and rivals.py), fixed before anything was measured: the
point of a grid is chosen on the first tenth of a stream, which then does not count; machines with
the objective of the SVM take the point of LASVM; whoever has a budget has 500 examples.

Two names are not run: the Weighted Majority Algorithm is the exponentiated gradient over experts,
and gradient descent over all rows is no online method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import onlinesvm
from bench.quality.alone import Facts
from bench.quality.contests import GENERATED, STREAMS, Contest, available, blind, contest
from bench.quality.pages import Field, Spot, dot, log_axis, number, origins, standard_error, summary
from bench.quality.rivals import SIZE, Rival, Settings, measure
from onlinesvm.report.style import figure as new_figure
from reproduce.journal import Journal
from reproduce.paper import Paper, Shown, table
from reproduce.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAMMAS = (2.0, 0.5, 8.0)  # in units of one over the mean squared distance
ANY_KERNEL = (*GAMMAS, None)  # None: the linear kernel
AVERAGE = (False, True)
QUICK_ROWS = 120
MISSING = "not measured yet"

# --- the methods ---------------------------------------------------------------------------------


def make(name: str, fixed: Settings, contest: Contest, settings: Settings) -> Any:
    told = {**settings, **fixed}
    if "gamma" in told:
        gamma = told.pop("gamma")
        told |= {"kernel": "linear"} if gamma is None else {"gamma": gamma * contest.unit}
    if told.get("gamma") is not None:
        told["kernel"] = "rbf"
    return getattr(onlinesvm, name)(**told)


def method(label: str, name: str, grid: Settings | None = None, **fixed: Any) -> Rival:
    return Rival(label, partial(make, name, fixed), grid or {}, module="onlinesvm")


LASVM = method("LASVM", "LASVC", {"gamma": GAMMAS, "C": (10.0, 1.0, 100.0)})


def svm(label: str, name: str, *, by_fit: bool = False, **fixed: Any) -> Rival:
    """A machine with the objective of the SVM: it takes the point of LASVM."""
    found = partial(make, name, fixed)
    return Rival(label, found, asks=lambda _: LASVM, module="onlinesvm", by_fit=by_fit)


def forgetting(label: str, forget: str) -> Rival:
    return svm(label, "ForgettingSVC", budget=SIZE, forget=forget)


SECTIONS: dict[str, tuple[Rival, ...]] = {
    "exact": (svm("incremental decremental SVM", "IncrementalSVC"),),
    "approximate": (
        LASVM,
        *(svm(f"LASVM, asks by {query}", "LASVC", query=query) for query in ("margin", "greedy")),
        method(
            "NORMA",
            "NormaSVC",
            {"gamma": GAMMAS, "eta0": (1.0, 0.1), "alpha": (1e-2, 1e-3)},
        ),
    ),
    "semi-online": (
        svm("fixed partition", "FixedPartitionSVC"),
        svm("error-driven", "ErrorDrivenSVC", rule="error"),
        svm("exceeding margin", "ErrorDrivenSVC", rule="margin"),
        forgetting("random forget", "random"),
        forgetting("least significant forget", "least_significant"),
        forgetting("oldest forget", "oldest"),
        forgetting("linear dependence forget", "linear_dependence"),
        method(
            "OISVM",
            "IndependentSVC",
            {"gamma": GAMMAS, "C": (10.0, 1.0)},
            budget=SIZE,
        ),
    ),
    "large margin": (
        method(
            "perceptron",
            "KernelPerceptron",
            {"gamma": ANY_KERNEL, "variant": ("averaged", "plain")},
        ),
        method("ROMMA", "RommaClassifier", {"gamma": ANY_KERNEL, "average": AVERAGE}),
        method("MIRA", "MiraClassifier", {"gamma": ANY_KERNEL, "average": AVERAGE}),
        method(
            "passive-aggressive",
            "PassiveAggressiveClassifier",
            {"gamma": ANY_KERNEL, "C": (0.1, 1.0), "average": AVERAGE},
        ),
        method("ALMA", "AlmaClassifier", {"gamma": ANY_KERNEL, "average": AVERAGE}),
        svm("SMO, fitted again", "SmoSVC", by_fit=True),
    ),
    "linear predictors": (
        method("gradient descent (GD)", "GradientDescentClassifier", {"average": AVERAGE}),
        method(
            "exponentiated gradient (EG±)",
            "ExponentiatedGradientClassifier",
            {"eta0": (100.0, 10.0), "average": AVERAGE},
        ),
        method("Winnow", "WinnowClassifier", {"average": AVERAGE}),
        method(
            "stochastic gradient SVM",
            "SGDSVC",
            {"alpha": (1e-4, 1e-3, 1e-5, 1e-2), "average": AVERAGE},
        ),
    ),
}
METHODS = {rival.name: rival for section in SECTIONS.values() for rival in section}
EXACT = "incremental decremental SVM"
SIX = {**STREAMS, **GENERATED}

# --- measuring -----------------------------------------------------------------------------------


def passing(stream: str, method: str, rows: int | None) -> Facts:
    """What is told of a method on a stream, of which so many rows come."""
    return measure(METHODS[method], contest(stream, rows))


def passes(journal: Journal) -> Field:
    """What is known of every method on every stream."""
    rows = QUICK_ROWS if journal.quick else None
    streams = list(SIX if journal.measured else available(SIX))
    cells = [{"stream": s, "method": m, "rows": rows} for s in streams for m in METHODS]
    found: dict[str, dict[str, Facts]] = {stream: {} for stream in streams}
    for cell, facts in zip(cells, journal.work(cells, passing), strict=True):
        found[cell["stream"]][cell["method"]] = facts or {}
    there = {s: group for s, group in found.items() if any("accuracy" in f for f in group.values())}
    return Field(there, frozenset())


def blindly(journal: Journal) -> dict[str, Facts]:
    """The size of each stream, and the accuracy of those who look at no row of it."""
    rows = QUICK_ROWS if journal.quick else None
    names = list(SIX if journal.measured else available(SIX))
    told = journal.work([{"contest_name": name, "rows": rows} for name in names], blind)
    return {name: facts for name, facts in zip(names, told, strict=True) if facts is not None}


# --- what is shown -------------------------------------------------------------------------------


def streams(journal: Journal) -> Shown:
    """The six streams, and what is to be had without looking at a row."""
    lines = [
        [name, f"{facts['rows']:,}", f"{facts['features']:,}"]
        + [f"{facts[who]:.1f}" for who in ("the majority", "the last label")]
        for name, facts in blindly(journal).items()
    ]
    head = ["stream", "rows", "features", "the majority, %", "the last label, %"]
    return Shown(table(head, lines))


def accuracy(journal: Journal) -> Shown:
    """Test-then-train accuracy of every method on every stream, the best in bold."""
    field = passes(journal)
    best = {
        stream: max(facts["accuracy"] for facts in group.values() if "accuracy" in facts)
        for stream, group in field.facts.items()
    }
    lines = []
    for section, rivals in SECTIONS.items():
        for name in (rival.name for rival in rivals):
            cells = []
            for stream, group in field.facts.items():
                facts = group[name]
                text = (
                    f"{facts['accuracy']:.1f}"
                    if "accuracy" in facts
                    else facts.get("ended", MISSING)
                )
                bold = facts.get("accuracy") == best[stream]
                cells.append(f"**{text}**" if bold else text)
            below = field.below_best(name)
            mean = f"{below:.1f}" if np.isfinite(below) else ""
            lines.append([section, name, *cells, mean])
    head = ["", "method", *field.facts, "points below the best, mean"]
    gone = [stream for stream in SIX if stream not in field.facts]
    missing = f"**{MISSING.capitalize()}:** {', '.join(gone)}." if gone else ""
    said = [table(head, lines), missing, *([in_short(field, blindly(journal))] if best else [])]
    return Shown("\n\n".join(part for part in said if part))


def in_short(field: Field, ignorant: Mapping[str, Facts]) -> str:
    """Who is least and most below the best, and where nobody reaches those who know nothing."""
    ranked = [name for name in field.ranked() if np.isfinite(field.below_best(name))]
    least, most = (
        "; ".join(f"{name} ({field.below_best(name):.1f})" for name in some)
        for some in (ranked[:3], ranked[:-4:-1])
    )
    best = {s: max(field.values(m, "accuracy").get(s, 0.0) for m in ranked) for s in field.facts}
    beaten = [s for s in best if s in ignorant and best[s] < ignorant[s]["the last label"]]
    idle = f" Nobody reaches those who repeat the last label on {', '.join(beaten)}."
    return f"Least below the best in the mean: {least}. Most: {most}.{idle if beaten else ''}"


def cost(journal: Journal) -> Shown:
    """Time, memory, support vectors and labels, beside LASVM's."""
    field = passes(journal)
    return Shown(f"{summary(field, LASVM.name)}\n\n{origins(journal.origins)}")


COLOURS = dict(zip(SECTIONS, ("#222222", "#0072B2", "#009E73", "#CC79A7", "#D55E00"), strict=True))
SAVES_LABELS = [name for name in METHODS if name.startswith(LASVM.name)]
SHOWN = 15.0  # points below the best; who is farther down is not in the picture


def map_of_methods(journal: Journal) -> Shown:
    """Accuracy against time, memory and labels: the map that the overview describes."""
    field = passes(journal)
    return Shown(picture=draw(field) if field.facts else None)


def draw(field: Field) -> Figure:
    numbers = {name: k + 1 for k, name in enumerate(METHODS)}
    colours = {rival.name: COLOURS[title] for title, group in SECTIONS.items() for rival in group}
    axes = {
        "learn_s": "seconds to learn the stream",
        "peak_mib": "peak memory while learning, MiB",
        "labels": "labels used, % of the rows",
    }
    picture = new_figure(figsize=(14, 3.6 * len(field.facts) + 1.4))
    panels = picture.subplots(len(field.facts), 3, squeeze=False, sharey="row")
    marked: list[tuple[Any, list[Spot]]] = []
    for row, (stream, group) in zip(panels, field.facts.items(), strict=True):
        there = {name: facts for name, facts in group.items() if "accuracy" in facts}
        best = max(facts["accuracy"] for facts in there.values())
        every = (facts["accuracy"] for facts in there.values())
        floor = min(right for right in every if right >= best - SHOWN)
        most = max(facts["labels"] for facts in there.values())
        for ax, (key, label) in zip(row, axes.items(), strict=True):
            seen = {name: one for name, one in there.items() if one["accuracy"] >= floor}
            if key == "labels":
                idle = [one["accuracy"] for one in seen.values() if one["labels"] == most]
                ax.plot([100] * len(idle), idle, "o", color="#BBBBBB", markersize=5)
                seen = {name: one for name, one in seen.items() if name in SAVES_LABELS}
            share = 100 / most if key == "labels" else 1.0
            spots = [(share * one[key], one["accuracy"], name) for name, one in seen.items()]
            ax.plot([x for x, *_ in spots], [y for _, y, _ in spots], alpha=0)  # for the limits
            log_axis(ax)
            ax.set(xlabel=label, axisbelow=True)
            ax.set_ylim(floor - 0.08 * (best - floor), best + 0.08 * (best - floor))
            ax.grid(color="#EEEEEE", linewidth=0.8)
            ax.spines[["top", "right"]].set_visible(False)
            marked.append((ax, spots))
        row[2].set_xlim(0.8, 140)
        row[0].set_title(stream, loc="left")
        row[0].set_ylabel("accuracy, %")
    picture.legend(
        handles=[dot(colours[name], f"{k}  {name}") for name, k in numbers.items()],
        loc="outside lower center",
        ncols=4,
        frameon=False,
    )
    number(picture, marked, numbers, colours)
    return picture


# --- what the overview says ----------------------------------------------------------------------


def remarks(journal: Journal) -> Shown:
    """Sentences of the overview that these streams can contradict.

    Two accuracies are the same where they differ by no more than two standard errors of their
    difference; a sentence holds where no stream that was measured contradicts it.
    """
    field = passes(journal)
    same_as_svm = [
        ("LASVM", "it achieves the performance of batch SVM"),
        ("fixed partition", "statistically equivalent to the model of all the data together"),
        ("error-driven", "in general equivalent to batch SVM"),
        ("exceeding margin", "in general equivalent to batch SVM"),
    ]
    verdicts = [_claim(field, name, EXACT, said, _not_worse) for name, said in same_as_svm]
    verdicts += [
        _claim(field, query, LASVM.name, "as accurate with a fraction of the labels", _not_worse)
        for query in ("LASVM, asks by margin", "LASVM, asks by greedy")
    ]
    verdicts.append(_claim(field, "perceptron", EXACT, "the SVM generalizes better", _worse))
    drifting = field.among(["electricity", "mail", "turning line"])
    verdicts.append(
        _claim(drifting, "oldest forget", EXACT, "useful where the data changes over time", _better)
    )
    lines = [[one.what, one.printed, one.ours, one.word] for one in verdicts]
    return Shown(table(["method", "the overview", "here", "verdict"], lines), verdicts=verdicts)


def _not_worse(gain: float, noise: float) -> bool:
    return gain >= -noise


def _worse(gain: float, noise: float) -> bool:
    return gain < -noise


def _better(gain: float, noise: float) -> bool:
    return gain > noise


def _claim(
    field: Field, name: str, beside: str, said: str, holds: Callable[[float, float], bool]
) -> Verdict:
    ours, others = (field.values(who, "accuracy") for who in (name, beside))
    tested = field.values(name, "tested")
    common = [stream for stream in ours if stream in others]
    what = f"{name} beside {beside}"
    if not common:
        return Verdict("remarks", what, said, "-", "not measured yet")
    kept = {
        stream: holds(
            ours[stream] - others[stream], 2 * standard_error(ours[stream], int(tested[stream]))
        )
        for stream in common
    }
    points = ", ".join(
        f"{stream} {ours[stream] - others[stream]:+.1f}{'' if kept[stream] else ' (not)'}"
        for stream in common
    )
    why = f"not so on {', '.join(stream for stream in common if not kept[stream])}"
    return Verdict.claim("remarks", what, said, points, all(kept.values()), why)


PAPER = Paper(
    "overview", "The overview", "overview.md", (streams, accuracy, cost, map_of_methods, remarks)
)
