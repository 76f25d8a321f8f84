"""A test of exchangeability that may be read at any time: the simple jumper martingale."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_BETS = np.array([-1.0, 0.0, 1.0])  # against p-values that are small, none, or large
_JUMP = 0.01


class Jumper:
    """Bets against uniform p-values (Vovk, Petej, Nouretdinov, Ahlberg, Carlsson & Gammerman 2021).

    On exchangeable rows its value exceeds c ever with probability at most 1 / c (Ville).
    """

    def __init__(self) -> None:
        self.log_value = 0.0
        self.highest = 0.0
        self._shares: NDArray[np.float64] = np.full(3, 1 / 3)

    def bet(self, p: float) -> None:
        """One more p-value, smoothed."""
        shares = (1 - _JUMP) * self._shares + _JUMP / 3
        shares *= 1 + _BETS * (p - 0.5)
        growth = float(shares.sum())
        self._shares = shares / growth
        self.log_value += float(np.log(growth))
        self.highest = max(self.highest, self.log_value)

    def state(self) -> NDArray[np.float64]:
        return np.array([self.log_value, self.highest, *self._shares])

    def load(self, state: NDArray[np.float64]) -> None:
        values = np.asarray(state, dtype=np.float64)
        if values.shape != (5,) or not np.isfinite(values).all() or (values[2:] < 0).any():
            raise ValueError("its martingale is not five finite numbers")
        self.log_value, self.highest = float(values[0]), float(values[1])
        self._shares = values[2:].copy()
