"""A paper's printed figure beside ours, and what becomes of it, by a rule fixed beforehand.

Ours is *met* where it is within the slack of the printed one, *better* beyond it on the good side,
*short* beyond it on the other. The slack of an accuracy is one of the paper's deviations, and at
least half a unit of the last digit printed; that of a count (support vectors, steps) one deviation
and at least a tenth. Short where cross-validation chose, but not at another place of the paper's
grid no more than .15 points behind it there, a figure is *met nearby*. An accuracy at or below
that of naming the frequent class always, printed or ours, is *degenerate*: it says nothing about
what was learned. What a paper does not tell enough about *cannot be repeated*, and why is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Literal, get_args

Word = Literal[
    "met",
    "better",
    "met nearby",
    "short",
    "degenerate",
    "cannot be repeated",
    "not measured yet",
]
WORDS: tuple[Word, ...] = get_args(Word)
UNMET: tuple[Word, ...] = ("met nearby", "short", "degenerate", "cannot be repeated")


@dataclass(frozen=True)
class Printed:
    """A figure as a paper prints it, how far from it still counts as met, and which way is good."""

    mean: float
    slack: float
    good: Literal["high", "low"]
    text: str

    @classmethod
    def accuracy(cls, mean: float, deviation: float | None = None, *, digits: int = 1) -> Printed:
        """In percent; more is better. ``digits`` is how many are printed after the point."""
        slack = max(deviation or 0.0, 0.5 * 10.0**-digits)
        return cls(mean, slack, "high", f"{mean:.{digits}f}{_plus_minus(deviation, digits)}")

    @classmethod
    def error(cls, mean: float, deviation: float | None = None, *, digits: int = 1) -> Printed:
        """In percent; less is better."""
        slack = max(deviation or 0.0, 0.5 * 10.0**-digits)
        return cls(mean, slack, "low", f"{mean:.{digits}f}{_plus_minus(deviation, digits)}")

    @classmethod
    def count(cls, mean: float, deviation: float | None = None) -> Printed:
        """Of support vectors, steps or the like; less is better."""
        text = f"{mean:,.0f}{_plus_minus(deviation, 0)}"
        return cls(mean, max(deviation or 0.0, mean / 10), "low", text)

    def beside(self, ours: float) -> Word:
        """The verdict on a figure of ours."""
        gain = ours - self.mean if self.good == "high" else self.mean - ours
        if abs(gain) <= self.slack + 1e-9:  # rounding of the sums, not of the figures
            return "met"
        return "better" if gain > 0 else "short"


def _plus_minus(deviation: float | None, digits: int) -> str:
    return "" if deviation is None else f" ± {deviation:,.{digits}f}"


@dataclass(frozen=True)
class Verdict:
    """One figure or claim of a paper beside ours."""

    exhibit: str  # "table 1"
    what: str  # "Adult, OnlineSVM-R, accuracy"
    printed: str
    ours: str
    word: Word
    why: str = ""

    @classmethod
    def of(
        cls, exhibit: str, what: str, printed: Printed, ours: Sequence[float], why: str = ""
    ) -> Verdict:
        """By the mean of our runs; none means not measured yet."""
        if not ours:
            return cls(exhibit, what, printed.text, "-", "not measured yet")
        return cls(exhibit, what, printed.text, spread(ours), printed.beside(fmean(ours)), why)

    @classmethod
    def claim(
        cls, exhibit: str, what: str, printed: str, ours: str, holds: bool, why: str = ""
    ) -> Verdict:
        """On a sentence or a curve, which holds here or does not."""
        return cls(exhibit, what, printed, ours, "met" if holds else "short", why)

    @classmethod
    def impossible(cls, exhibit: str, what: str, printed: str, why: str) -> Verdict:
        """On what a paper does not tell enough about."""
        return cls(exhibit, what, printed, "-", "cannot be repeated", why)


def spread(runs: Sequence[float]) -> str:
    """Mean and standard deviation as people read them."""
    digits = 0 if fmean(runs) >= 100 else 2
    many = f" ± {pstdev(runs):,.{digits}f}" if len(runs) > 1 else ""
    return f"{fmean(runs):,.{digits}f}{many}"


def counted(verdicts: Iterable[Verdict]) -> list[str]:
    """How many there are of each word, as cells of a table."""
    found = Counter(verdict.word for verdict in verdicts)
    return [str(found[word]) if found[word] else "" for word in WORDS]


def fallen_short(verdicts: Iterable[Verdict]) -> list[list[str]]:
    """Lines of a table: everything that is neither met nor better, with the reason."""
    return [
        [one.exhibit, one.what, one.printed, one.ours, one.word, one.why]
        for one in verdicts
        if one.word in UNMET
    ]
