"""Figures 2 to 5: solutions on Gauss, courses of a stream, kernel values, the removal step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from onlinesvm.report.style import CLASS_COLOURS, INK, LINES, figure
from reproduce.journal import Facts, Journal
from reproduce.paper import Shown, table
from reproduce.ramp.cells import course, kernel_values, removal, solution
from reproduce.ramp.printed import BEST_ON_GAUSS, OURS, printed
from reproduce.ramp.setting import Array, Cell, Choices, Sizes, choices, fraction, load
from reproduce.verdict import Verdict

SHOWN_ROWS = 1000  # in figure 2; the paper does not say
COUNTED = 3  # orders in which kernel values are counted
LOOKS = dict(zip((*OURS, "IDSVM"), LINES, strict=False))
CIRCLE: dict[str, Any] = {"facecolors": "none", "edgecolors": "#C0392B", "linewidths": 0.7}
MARGINS = {-1: ("#009E73", "--"), 0: (INK, "-"), 1: ("#B0457F", "--")}
ALT_2 = "The rows of Gauss, and three solutions with their support vectors circled"
ALT_3 = "Accuracy and support vectors of three machines as the stream gets longer"
ALT_4 = "Kernel values online, offline and retrained; CPU seconds of three machines"
ALT_5 = "Kernel values and accuracy for m = 0, 100, 1000 and all kept"


def verdict_table(verdicts: Sequence[Verdict]) -> str:
    """Claims of a figure, and what became of them."""
    rows = [[one.what, one.printed, one.ours, one.word] for one in verdicts]
    return table(["the paper says", "there", "here", "verdict"], rows)


def missing(exhibit: str, what: str = "everything") -> Shown:
    """A figure of which something is still to be measured."""
    verdict = Verdict(exhibit, what, "", "-", "not measured yet")
    return Shown("Not measured yet.", verdicts=[verdict])


def lines(found: Sequence[Facts | None], key: str) -> Array:
    """Of the orders there are, one line each."""
    return np.array([facts[key] for facts in found if facts is not None])


def plot(axes: Any, x: Array, runs: dict[str, Array], label: str, *, scale: str = "linear") -> None:
    """Means over the orders, and a band of one deviation."""
    for (name, many), look in zip(runs.items(), LINES, strict=False):
        colour, dash = LOOKS.get(name, look)
        mean, deviation = many.mean(axis=0), many.std(axis=0)
        axes.plot(x, mean, dash, color=colour, label=name, marker="o", ms=3)
        axes.fill_between(x, mean - deviation, mean + deviation, color=colour, alpha=0.15, lw=0)
    axes.set(xlabel="rows of the stream", ylabel=label, yscale=scale)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)


# ---- figure 2 ------------------------------------------------------------------------------------


def figure_2(journal: Journal) -> Shown:
    """The solutions on Gauss, with their support vectors."""
    learners = ("IDSVM", *OURS)
    chosen = choices(journal, ["Gauss"])
    rows = Sizes.of(journal).rows or SHOWN_ROWS
    cells = [
        {"learner": learner, "order": 0, "C": one.words["C"], "width": one.width, "rows": rows}
        for learner in learners
        if (one := chosen.get(("Gauss", learner)))
    ]
    found = [facts for facts in journal.work(cells, solution) if facts is not None]
    if len(found) < len(learners):
        return missing("figure 2")
    data = load("Gauss", 0, rows)
    solved = {
        name: Expansion.of(facts, data.X, data.gamma(chosen["Gauss", name].width))
        for name, facts in zip(learners, found, strict=True)
    }
    picture = figure(figsize=(10, 9))
    first, *others = picture.subplots(2, 2, sharex=True, sharey=True).ravel()
    colours = [CLASS_COLOURS[int(label > 0)] for label in data.y]
    for panel in (first, *others):
        panel.scatter(*data.X.T, s=7, c=colours, linewidths=0)
        panel.spines[["top", "right"]].set_visible(False)
    first.set_title(f"Gauss, {rows:,} rows", loc="left")
    for panel, (name, f) in zip(others, solved.items(), strict=True):
        f.draw(panel, data.X)
        panel.set_title(f"{name}: {len(f.support):,} support vectors", loc="left")
    picture.legend(handles=handles(), loc="outside lower center", ncols=6, frameon=False)
    claim, hinge = partial(Verdict.claim, "figure 2"), len(solved["IDSVM"].support)
    verdicts = []
    for name in OURS:
        f = solved[name]
        what = f"{name}: all support vectors lie inside the margins"
        verdicts.append(claim(what, "all", f"{100 * f.inside():.1f} %", f.inside() == 1))
        what = f"{name} is much sparser than IDSVM (at most half)"
        ours, at = f"{len(f.support):,} of {hinge:,}", chosen["Gauss", name]
        why = f"C = {at.words['C']:g} and width {fraction(at.width)} by cross-validation"
        verdicts.append(claim(what, "see the picture", ours, len(f.support) <= hinge / 2, why))
    return Shown(verdict_table(verdicts), picture, verdicts, ALT_2)


@dataclass(frozen=True)
class Expansion:
    """A decision function from its support vectors."""

    support: Array
    coefficients: Array
    intercept: float
    gamma: float

    @classmethod
    def of(cls, facts: Facts, X: Array, gamma: float) -> Expansion:
        coefficients = np.array(facts["coefficients"])
        return cls(X[facts["rows"]], coefficients, facts["intercept"], gamma)

    def __call__(self, X: Array) -> Array:
        away = ((X[:, None, :] - self.support[None]) ** 2).sum(axis=-1)
        return np.asarray(np.exp(-self.gamma * away) @ self.coefficients + self.intercept)

    def inside(self) -> float:
        """Share of the support vectors inside the margins, within twice RampSVC's tolerance."""
        return float(np.mean(np.abs(self(self.support)) <= 1.02))

    def draw(self, panel: Any, X: Array, points: int = 200) -> None:
        x, y = (np.linspace(v.min() - 0.2, v.max() + 0.2, points) for v in X.T)
        z = self(np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)).reshape(points, points)
        panel.scatter(*self.support.T, s=26, **CIRCLE)
        for level, look in MARGINS.items():
            colour, dash = look
            panel.contour(x, y, z, levels=[level], colors=colour, linestyles=dash, linewidths=1.4)


def handles() -> list[Any]:
    """Of the legend: classes, support vectors, boundary and margins."""
    from matplotlib.lines import Line2D

    dot = partial(Line2D, [], [], linestyle="none", marker="o")
    shown = [dot(color=CLASS_COLOURS[k], ms=4, label=f"class {2 * k - 1:+d}") for k in (0, 1)]
    ring = {"mfc": CIRCLE["facecolors"], "mec": CIRCLE["edgecolors"]}
    shown.append(dot(**ring, ms=6, label="support vector"))
    for level, (colour, dash) in MARGINS.items():
        shown.append(Line2D([], [], color=colour, linestyle=dash, label=f"f = {level:g}"))
    return shown


# ---- figures 3 and 4 -----------------------------------------------------------------------------


def courses(journal: Journal) -> dict[str, list[Facts | None]]:
    """All orders of Gauss, by learner."""
    size = Sizes.of(journal)
    chosen = choices(journal, ["Gauss"])
    cells: list[Cell] = [
        on_gauss(chosen, learner, order, size) | {"learner": learner}
        for learner in (*OURS, "IDSVM")
        for order in range(size.orders)
        if ("Gauss", learner) in chosen
    ]
    found: dict[str, list[Facts | None]] = {learner: [] for learner in (*OURS, "IDSVM")}
    for cell, facts in zip(cells, journal.work(cells, course), strict=True):
        found[cell["learner"]].append(facts)
    return found


def on_gauss(chosen: Choices, learner: str, order: int, size: Sizes) -> Cell:
    """A cell with the settings of that learner."""
    one = chosen["Gauss", learner]
    where = {"task": "Gauss", "learner": learner, "order": order}
    return where | {"C": one.words["C"], "width": one.width, "lengths": list(size.lengths)}


def figure_3(journal: Journal) -> Shown:
    """Accuracy and support vectors against the length of the stream, on Gauss."""
    lengths = np.array(Sizes.of(journal).lengths)
    found = courses(journal)
    accuracy = {name: lines(runs, "accuracy") for name, runs in found.items()}
    vectors = {name: lines(runs, "support vectors") for name, runs in found.items()}
    if not all(len(runs) for runs in accuracy.values()):
        return missing("figure 3")
    picture = figure(figsize=(10, 4.2))
    left, right = picture.subplots(1, 2)
    left.axhline(BEST_ON_GAUSS, color="gray", lw=1, ls=":", label="the best there can be")
    plot(left, lengths, accuracy, "test accuracy, %")
    plot(right, lengths, vectors, "support vectors", scale="log")
    for panel in (left, right):
        panel.set_xscale("log")
    claim, every = partial(Verdict.claim, "figure 3"), "all lengths"
    ramp, active, hinge = (accuracy[name].mean(axis=0) for name in (*OURS, "IDSVM"))
    ahead = ramp - hinge
    ours = f"{(ahead > 0).sum()} of {len(ahead)}, {ahead.min():+.2f} to {ahead.max():+.2f} points"
    slack = printed("Gauss", "OnlineSVM-R")["accuracy"].slack
    last = active[-1] - ramp[-1]
    verdicts = [
        claim(
            "OnlineSVM-R is more accurate than IDSVM",
            every,
            ours,
            bool((ahead > 0).all()),
            f"IDSVM has {hinge[-1]:.2f} here after {lengths[-1]:,} rows, and the best classifier "
            f"{BEST_ON_GAUSS} in the mean",
        ),
        claim(
            f"OnlineASVM-R reaches OnlineSVM-R after {lengths[-1]:,} rows",
            "reached",
            f"{last:+.2f} points",
            bool(last >= -slack),
        ),
    ]
    for name in OURS:
        ratio = vectors["IDSVM"].mean(axis=0) / vectors[name].mean(axis=0)
        ours = f"by a factor of {ratio.min():.1f} to {ratio.max():.1f}"
        what = f"{name} has fewer support vectors than IDSVM"
        verdicts.append(claim(what, every, ours, bool((ratio > 1).all())))
    return Shown(verdict_table(verdicts), picture, verdicts, ALT_3)


def figure_4(journal: Journal) -> Shown:
    """Kernel values of the online pass, one offline fit and retraining; training time."""
    size = Sizes.of(journal)
    lengths = np.array(size.lengths)
    chosen = choices(journal, ["Gauss"])
    counted: dict[str, Array] = {}
    for how in ("online", "offline"):
        cells = [
            on_gauss(chosen, "OnlineSVM-R", order, size) | {"learner": how}
            for order in range(min(COUNTED, size.orders))
            if ("Gauss", "OnlineSVM-R") in chosen
        ]
        counted[how] = lines(journal.work(cells, kernel_values), "kernel values")
    seconds = {name: lines(runs, "cpu_s") for name, runs in courses(journal).items()}
    if not all(len(runs) for runs in (*counted.values(), *seconds.values())):
        return missing("figure 4")
    online, offline = counted["online"], counted["offline"]
    again = np.array([retraining(lengths, one) for one in offline])
    picture = figure(figsize=(10, 4.2))
    left, right = picture.subplots(1, 2)
    values = {
        "OnlineSVM-R, all rows so far": online,
        "offline SVM-R, once": offline,
        "offline SVM-R after every row": again,
    }
    plot(left, lengths, values, "kernel values computed", scale="log")
    left.set_xscale("log")
    plot(right, lengths, seconds, "training, CPU seconds", scale="log")
    claim = partial(Verdict.claim, "figure 4")
    share, naive = (online / offline).mean(axis=0), (again / online).mean(axis=0)[-1]
    verdicts = [
        claim(
            "an online pass computes no more kernel values than one offline fit",
            "comparable",
            f"{share[-1]:.2f} of them at {lengths[-1]:,} rows, at most {share.max():.2f}",
            bool(share[-1] <= 1),
        ),
        claim(
            "and a hundredth at most of retraining after every row",
            "significantly less",
            f"one of {naive:,.0f}",
            bool(naive >= 100),
        ),
    ]
    for name in OURS:
        by = seconds["IDSVM"][:, -1].mean() / seconds[name][:, -1].mean()
        what = f"{name} trains much faster than IDSVM (twice as fast at least)"
        verdicts.append(claim(what, "see the picture", f"{by:.1f} times", bool(by >= 2)))
    return Shown(verdict_table(verdicts), picture, verdicts, ALT_4)


def retraining(lengths: Array, offline: Array) -> Array:
    """The sum of one offline fit at every length up to each, along straight lines in between."""
    every_row = np.arange(1, lengths[-1] + 1)
    one = np.interp(every_row, np.r_[0, lengths], np.r_[0, offline])
    return np.asarray(np.cumsum(one)[lengths - 1])


# ---- figure 5 ------------------------------------------------------------------------------------

KEPT: dict[str, int | None] = {"m = 0": 0, "m = 100": 100, "m = 1000": 1000, "all kept": None}
REMOVED_FROM = ("NCheckerboard", "Cover")
NEGLIGIBLE, SMALL = 0.2, 1.0  # points


def figure_5(journal: Journal) -> Shown:
    """What keeping only m non-support vectors costs and saves."""
    size = Sizes.of(journal)
    lengths = np.array(size.lengths)
    chosen = choices(journal, REMOVED_FROM, ["OnlineSVM-R"])
    cells: list[Cell] = [
        {"task": task, "keep": keep, "order": order}
        | {"C": one.words["C"], "width": one.width, "lengths": list(size.lengths)}
        for order in range(min(COUNTED, size.orders))  # of all one, should the run be cut short
        for task in reversed(REMOVED_FROM)  # the slow one first
        for keep in reversed(KEPT.values())
        if (one := chosen.get((task, "OnlineSVM-R")))
    ]
    found: dict[tuple[str, int | None], list[Facts | None]] = {}
    for cell, facts in zip(cells, journal.work(cells, removal), strict=True):
        found.setdefault((cell["task"], cell["keep"]), []).append(facts)
    # Of each set the orders in which all of it was measured.
    whole = {}
    for task in REMOVED_FROM:
        runs = [found.get((task, m), []) for m in KEPT.values()]
        whole[task] = [one for one in zip(*runs, strict=True) if all(one)]
    shown = [task for task, orders in whole.items() if orders]
    if not shown:
        return missing("figure 5")
    picture = figure(figsize=(10, 4 * len(shown)))
    verdicts: list[Verdict] = []
    for panels, task in zip(picture.subplots(len(shown), 2, squeeze=False), shown, strict=True):
        by_m = dict(zip(KEPT, zip(*whole[task], strict=True), strict=True))
        values, accuracy = (
            {name: lines(runs, key) for name, runs in by_m.items()}
            for key in ("kernel values", "accuracy")
        )
        plot(panels[0], lengths, values, f"{task}: kernel values", scale="log")
        plot(panels[1], lengths, accuracy, f"{task}: test accuracy, %")
        at = chosen[task, "OnlineSVM-R"]
        why = f"C = {at.words['C']:g} and width {fraction(at.width)} by cross-validation"
        verdicts += [replace(one, why=why) for one in removal_verdicts(task, values, accuracy)]
    for task in REMOVED_FROM:
        verdicts += [] if whole[task] else missing("figure 5", task).verdicts
    orders = ", ".join(f"{task} {len(whole[task])}" for task in shown)
    text = f"Orders measured: {orders}.\n\n{verdict_table(verdicts)}"
    return Shown(text, picture, verdicts, ALT_5)


def removal_verdicts(
    task: str, values: dict[str, Array], accuracy: dict[str, Array]
) -> list[Verdict]:
    """By what is spent and lost at the end of the stream, against keeping all."""
    claim = partial(Verdict.claim, "figure 5")
    spent = [runs[:, -1].mean() / values["all kept"][:, -1].mean() for runs in values.values()]
    lost = {
        name: float((accuracy["all kept"] - runs)[:, -1].mean()) for name, runs in accuracy.items()
    }
    shares = ", ".join(f"{share:.2f}" for share in spent) + " of all kept"
    points = {name: f"{-by:+.2f} points" for name, by in lost.items()}
    none, some, many, _ = lost
    return [
        claim(
            f"{task}: the smaller m, the fewer kernel values",
            "yes",
            shares,
            bool(np.all(np.diff(spent) > 0)),
        ),
        claim(
            f"{task}: {none} costs accuracy, more than {some}",
            "yes",
            points[none],
            lost[none] > max(lost[some], NEGLIGIBLE),
        ),
        claim(
            f"{task}: {some} costs little ({SMALL:g} point at most)",
            "small",
            points[some],
            lost[some] <= SMALL,
        ),
        claim(
            f"{task}: {many} costs nothing to speak of ({NEGLIGIBLE} points at most)",
            "negligible",
            points[many],
            lost[many] <= NEGLIGIBLE,
        ),
    ]
