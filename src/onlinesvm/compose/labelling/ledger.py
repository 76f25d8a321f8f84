"""What was looked at and what was asked for: the numbers that decide whether to ask again."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from ...data.arguments import check_count, check_number
from ...label_budgets import LabelBudget

_BEST = 10  # so many of the rows remembered are good enough at the usual rate
_MOST = 4096  # rows remembered


@dataclass
class Ledger:
    """Counts rows and labels, and remembers what the latest rows were worth."""

    budget: LabelBudget | None
    rate: float | None  # labels per row, where rows are ranked; None: each row decides for itself
    seen: int = 0
    spent: int = 0
    asked: deque[int] = field(default_factory=deque)  # rows asked about, as the budget needs them
    worths: deque[float] = field(default_factory=deque)  # of the latest rows, where they are ranked

    def __post_init__(self) -> None:
        kept = 0 if self.budget is None else self.budget.remembers
        self.asked = deque(self.asked, maxlen=kept)
        kept = 0 if self.rate is None else min(_MOST, ceil(_BEST / self.rate))
        self.worths = deque(self.worths, maxlen=kept)

    def see(self, worth: float) -> None:
        """A row passes."""
        self.seen += 1
        self.worths.append(worth)

    def spend(self) -> None:
        """A label of the newest row is asked for; Ctrl-C falls before or after."""
        asked = self.asked.copy()
        asked.append(self.seen)
        self.spent, self.asked = self.spent + 1, asked

    def affords(self) -> bool:
        """Whether a label of the newest row can be paid for."""
        if self.rate is not None and self._credit() < 0:
            return False
        return self.budget is None or self.budget.affords(self.seen, self.spent, self.asked)

    def is_among_best(self, worth: float) -> bool:
        """Whether a row is among the best of the latest: a share that grows with what is saved.

        At no credit the share is the rate itself. Each label saved adds as much again, so that
        saved labels are spent within about 1 / rate rows, on rows nearly as good.
        """
        assert self.rate is not None
        better = sum(other > worth for other in self.worths)
        return better < self.rate * (1 + self._credit()) * len(self.worths)

    def _credit(self) -> float:
        """Labels due by now and not spent."""
        assert self.rate is not None
        return self.rate * self.seen - self.spent

    def to_facts(self) -> dict[str, Any]:
        return {
            "seen": self.seen,
            "spent": self.spent,
            "asked": list(self.asked),
            "worths": list(self.worths),
        }

    def recall(self, facts: dict[str, Any]) -> None:
        """Take up what ``to_facts`` said; a ValueError if it cannot have."""
        seen, spent = (check_count(name, facts[name]) for name in ("seen", "spent"))
        asked = [check_count("asked", n, at_least=1) for n in facts["asked"]]
        worths = [check_number("worths", worth) for worth in facts["worths"]]
        if spent > seen or sorted(asked) != asked or asked[-1:] > [seen]:
            raise ValueError("its count of labels contradicts itself")
        if len(asked) > (self.asked.maxlen or 0) or len(worths) > (self.worths.maxlen or 0):
            raise ValueError("it remembers more rows than it needs")
        self.seen, self.spent = seen, spent
        self.asked.extend(asked)
        self.worths.extend(worths)
