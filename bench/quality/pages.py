"""What rivals did on contests, as tables and pictures: nothing here is typed by hand."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.common import figure, geometric_mean
from bench.quality.alone import Facts
from bench.tables import table
from onlinesvm.report.style import figure as new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FACTS = {
    "accuracy": "accuracy, %",
    "learn_s": "seconds to learn",
    "predict_s": "seconds to predict 1,000 rows",
    "support": "support vectors, landmarks or features",
    "peak_mib": "peak memory while learning, MiB",
    "labels": "labels used",
    "unlearn_s": "seconds to unlearn one example",
}


@dataclass(frozen=True)
class Field:
    """Facts by contest and rival, and who of the rivals is ours."""

    facts: Mapping[str, Mapping[str, Facts]]
    ours: frozenset[str]

    def among(self, contests: Iterable[str]) -> Field:
        kept = {name: self.facts[name] for name in contests if name in self.facts}
        return Field(kept, self.ours)

    @property
    def rivals(self) -> list[str]:
        return list(dict.fromkeys(name for group in self.facts.values() for name in group))

    def values(self, rival: str, key: str) -> dict[str, float]:
        """By contest, where it was measured to the end."""
        return {
            contest: group[rival][key]
            for contest, group in self.facts.items()
            if key in group.get(rival, {}) and "accuracy" in group[rival]
        }

    def below_best(self, rival: str) -> float:
        """Points below the best of each contest, the mean of those it finished."""
        right = self.values(rival, "accuracy")
        best = {c: max(self.values(r, "accuracy").get(c, 0.0) for r in self.rivals) for c in right}
        return fmean(best[c] - right[c] for c in right) if right else float("inf")

    def times(self, rival: str, key: str, base: str) -> float | None:
        """The geometric mean of the ratios to another one, where both were measured."""
        mine, others = self.values(rival, key), self.values(base, key)
        ratios = [mine[c] / others[c] for c in mine if others.get(c) and mine[c]]
        return geometric_mean(ratios) if ratios else None

    def ranked(self) -> list[str]:
        return sorted(self.rivals, key=self.below_best)


# --- tables --------------------------------------------------------------------------------------


Told = tuple[str, Facts]  # a rival and what it did


def winners(field: Field) -> str:
    """The best of both sides on each contest; those that ours lose come first."""
    order = {"theirs": 0, "too close to call": 1, "ours": 2}
    lines = []
    for contest, group in field.facts.items():
        ended = [told for told in group.items() if "accuracy" in told[1]]
        them = max((told for told in ended if told[0] not in field.ours), key=_right, default=None)
        us = max((told for told in ended if told[0] in field.ours), key=_right, default=None)
        if them is None or us is None:
            continue
        best, gain = max(_right(us), _right(them)), _right(us) - _right(them)
        noise = 2 * standard_error(best, us[1]["tested"])
        word = "too close to call" if abs(gain) <= noise else "ours" if gain > 0 else "theirs"
        near = (told for told in ended if _right(told) >= best - noise)
        quick = min(near, key=lambda told: float(told[1]["learn_s"]))
        line = [
            contest,
            *(f"{name}: {facts['accuracy']:.1f}" for name, facts in (them, us)),
            f"{gain:+.1f} (± {noise:.1f})",
            word,
            f"{quick[0]}: {_right(quick):.1f}, {figure(quick[1]['learn_s'])} s",
        ]
        lines.append((order[word], gain, line))
    head = ["contest", "best of theirs", "best of ours", "ours - theirs", "verdict"]
    head.append("quickest as good as the best")
    return table(head, [line for *_, line in sorted(lines, key=lambda item: item[:2])])


def _right(told: Told) -> float:
    return float(told[1]["accuracy"])


def standard_error(accuracy: float, n: int) -> float:
    """The standard error of the difference of two accuracies, in points."""
    share = min(max(accuracy / 100, 1 / n), 1 - 1 / n)
    return 100 * float(np.sqrt(2 * share * (1 - share) / n))


def summary(field: Field, base: str) -> str:
    """A line for each rival, the most accurate first; times beside those of another one."""
    rows = []
    for name in field.ranked():
        right = field.values(name, "accuracy")
        if not right:
            continue
        labels = field.values(name, "labels")
        most = {c: max(field.values(r, "labels").get(c, 1) for r in field.rivals) for c in labels}
        sizes = list(field.values(name, "support").values())
        rows.append(
            [
                _who(field, name),
                f"{field.below_best(name):.1f}",
                *(figure(field.times(name, key, base)) for key in ("learn_s", "predict_s")),
                f"{median(field.values(name, 'peak_mib').values()):.1f}",
                f"{median(sizes):,.0f}" if sizes else "-",
                f"{100 * fmean(labels[c] / most[c] for c in labels):.0f}" if labels else "-",
                figure(field.times(name, "unlearn_s", base)),
                f"{len(right)} of {len(field.facts)}",
            ]
        )
    head = ["", "points below the best", f"learn, x {base}", f"predict, x {base}"]
    head += ["peak MiB", "support vectors", "labels, %", f"unlearn one, x {base}"]
    return table([*head, "contests"], rows)


def matrix(field: Field, key: str) -> str:
    """One fact of everybody on every contest; why it is not there, where it is not."""
    rows = []
    for name in field.rivals:
        cells = []
        for group in field.facts.values():
            facts = group.get(name, {})
            if key in facts:
                cells.append(f"{facts[key]:.1f}" if key == "accuracy" else figure(facts[key]))
            else:
                cells.append(facts.get("ended", facts.get("left_out", "")))
        rows.append([_who(field, name), *cells])
    return table([FACTS[key], *field.facts], rows)


def _who(field: Field, name: str) -> str:
    return f"**{name}**" if name in field.ours else name


def origins(found: Sequence[Mapping[str, Any]]) -> str:
    """Where it was measured."""
    lines = []
    for about in found:
        machine = about["machine"]
        versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
        lines.append(
            f"{machine['cpu']} ({machine['cores']} cores), {about['isa']}, {about['compiler']}, "
            f"Python {about['python']}, {versions}; commit {(about['commit'] or 'unknown')[:10]}."
        )
    return "\n".join(dict.fromkeys(lines))


# --- the picture ---------------------------------------------------------------------------------

OURS, THEIRS = "#0072B2", "#D55E00"
AXES = {
    "learn_s": "time to learn, x {base}",
    "predict_s": "time to predict, x {base}",
    "peak_mib": "peak memory while learning, x {base}",
}


def map_of(groups: Mapping[str, Field], base: str) -> Figure:
    """Points below the best against time and memory: a row for each group, a number for each."""
    numbers = {name: k + 1 for k, name in enumerate(dict.fromkeys(_names(groups.values())))}
    ours = next(iter(groups.values())).ours
    colours = {name: OURS if name in ours else THEIRS for name in numbers}
    picture = new_figure(figsize=(14, 4.2 * len(groups)))
    panels = picture.subplots(len(groups), len(AXES), squeeze=False, sharey="row")
    marked: list[tuple[Any, list[Spot]]] = []
    for row, (title, field) in zip(panels, groups.items(), strict=True):
        for ax, (key, label) in zip(row, AXES.items(), strict=True):
            spots = []
            for name in field.rivals:
                x, y = field.times(name, key, base), field.below_best(name)
                if x is not None and np.isfinite(y):
                    spots.append((x, y, name))
            ax.plot([x for x, *_ in spots], [y for _, y, _ in spots], alpha=0)  # for the limits
            log_axis(ax)
            ax.set_xlabel(label.format(base=base))
            ax.set_yscale("symlog", linthresh=2)
            ax.set_yticks([0, 1, 2, 5, 10, 20, 40], ["0", "1", "2", "5", "10", "20", "40"])
            ax.yaxis.minorticks_off()
            deepest = max((y for _, y, _ in spots), default=1.0)
            ax.set_ylim(1.25 * deepest + 0.3, -0.3)
            ax.axvline(1, color="#CCCCCC", linewidth=1, zorder=0)
            ax.grid(color="#EEEEEE", linewidth=0.8)
            ax.set_axisbelow(True)
            ax.spines[["top", "right"]].set_visible(False)
            marked.append((ax, spots))
        row[0].set_title(title, loc="left")
        row[0].set_ylabel("points below the best")
    handles = [dot(colours[name], f"{k}  {name}") for name, k in numbers.items()]
    picture.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    number(picture, marked, numbers, colours)
    return picture


def _names(fields: Iterable[Field]) -> list[str]:
    return [name for field in fields for name in field.rivals]


def dot(colour: str, label: str) -> Any:
    """A handle of a legend."""
    from matplotlib.lines import Line2D

    look = {"marker": "o", "linestyle": "none", "markersize": 9}
    return Line2D([], [], color=colour, label=label, **look)


def log_axis(ax: Any) -> None:
    """A logarithmic axis with figures that people read."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log")
    left, right = ax.get_xlim()
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0,) if right > 100 * left else (1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


Spot = tuple[float, float, str]  # where, and whose
DISC = 13.0  # points from one number to the next


def number(
    picture: Figure,
    marked: Iterable[tuple[Any, Iterable[Spot]]],
    numbers: Mapping[str, int],
    colours: Mapping[str, str],
) -> None:
    """A dot for each spot of some axes, and a disc with its number: there, or beside if taken.

    Comes last: what would cover what is decided on the paper, when all axes have their limits.
    """
    picture.draw_without_rendering()
    for ax, spots in marked:
        taken: list[Any] = []
        for x, y, name in sorted(spots):
            at = ax.transData.transform((x, y)) * 72 / picture.dpi  # in points, as discs are
            shift = next(
                s for s in _around() if all(np.hypot(*(at + s - t)) >= DISC for t in taken)
            )
            taken.append(at + shift)
            _disc(ax, (x, y), shift, str(numbers[name]), colours[name])


def _disc(ax: Any, at: tuple[float, float], shift: Any, words: str, colour: str) -> None:
    ax.plot(*at, "o", color=colour, markersize=3.5)
    pad = 0.28 if len(words) > 1 else 0.42
    ax.annotate(
        words,
        at,
        shift,
        textcoords="offset points",
        ha="center",
        va="center",
        color="white",
        fontsize=7.5,
        bbox={"boxstyle": f"circle,pad={pad}", "facecolor": colour, "linewidth": 0, "alpha": 0.92},
        arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.8},
        annotation_clip=False,
    )


def _around() -> Iterator[Any]:
    """Places for a number: the spot itself, then circles around it."""
    yield np.zeros(2)
    for ring in itertools.count(1):
        turns = np.arange(8 * ring) / (8 * ring)
        for turn in turns:
            angle = 2 * np.pi * turn
            yield ring * DISC * np.array([np.cos(angle), np.sin(angle)])
