"""Page's test, as Hinkley gave it: the mean of a sequence has gone up."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.arguments import check_count, check_number


class PageHinkley:
    """Rings when errors have become more frequent; four numbers of memory, and it can be saved.

    With ``m`` the mean of the values so far, the sum of ``x - m - delta`` falls as long as nothing
    changes. It rings when the sum is ``threshold`` above its lowest point, and warns at half of
    that. The verbs are those of river's detectors.

    Parameters
    ----------
    delta : float, default=0.005
        A rise of the mean that is no change.
    threshold : float, default=50.0
        Higher rings later, and less often in vain.
    min_instances : int, default=30
        Values before which it is silent.

    References
    ----------
    E. S. Page, "Continuous inspection schemes", Biometrika 41, 1954.

    Examples
    --------
    >>> from onlinesvm.compose.drift import PageHinkley
    >>> detector = PageHinkley(threshold=10)
    >>> for i in range(1000):
    ...     detector.update(float(i > 500))
    ...     if detector.drift_detected:
    ...         break
    >>> i
    511
    """

    def __init__(
        self, delta: float = 0.005, threshold: float = 50.0, min_instances: int = 30
    ) -> None:
        self.delta = check_number("delta", delta, at_least=0)
        self.threshold = check_number("threshold", threshold, above=0)
        self.min_instances = check_count("min_instances", min_instances, at_least=1)
        self.count, self.mean, self.total, self.lowest = 0, 0.0, 0.0, 0.0

    def __repr__(self) -> str:
        return (
            f"PageHinkley(delta={self.delta!r}, threshold={self.threshold!r}, "
            f"min_instances={self.min_instances!r})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PageHinkley) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def update(self, x: float) -> None:
        """Take the next value."""
        self.count += 1
        self.mean += (x - self.mean) / self.count
        self.total += x - self.mean - self.delta
        self.lowest = min(self.lowest, self.total)

    @property
    def drift_detected(self) -> bool:
        """Whether the mean has gone up."""
        return self._above(self.threshold)

    @property
    def warning_detected(self) -> bool:
        """Whether it is half way to that."""
        return self._above(self.threshold / 2)

    def _above(self, height: float) -> bool:
        return self.count >= self.min_instances and self.total - self.lowest > height

    def clone(self) -> PageHinkley:
        """One with the same parameters that has heard nothing."""
        return PageHinkley(self.delta, self.threshold, self.min_instances)

    def state(self) -> list[float]:
        """What it has heard, as numbers."""
        return [float(self.count), self.mean, self.total, self.lowest]

    def load(self, state: Any) -> None:
        """Go on where ``state`` left it; what cannot be is a ValueError."""
        values = np.asarray(state, dtype=np.float64)
        if values.shape != (4,) or not np.isfinite(values).all():
            raise ValueError("its detector is damaged")
        count, self.mean, self.total, self.lowest = values.tolist()
        self.count = check_count("count", int(count))
        if count != self.count or self.lowest > min(0.0, self.total):
            raise ValueError("its detector has heard what cannot be")
