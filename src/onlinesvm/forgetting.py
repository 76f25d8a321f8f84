"""What a full memory gives up: small value objects, printable, comparable, hashable.

A policy says which support vectors go when there are more than a model may hold. Give one to an
estimator (``ForgettingSVC(forget=Random(seed=1))``) or use its word (``forget="random"``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .data.arguments import check_count, check_number


class _Policy:
    word: ClassVar[str]
    seed: int = 0
    tries: int = 0
    eta: float = 0.0

    def core_params(self) -> dict[str, Any]:
        return {
            "forget": self.word,
            "seed": check_count("forget.seed", self.seed),
            "tries": check_count("forget.tries", self.tries),
            "eta": check_number("forget.eta", self.eta, at_least=0),
        }


@dataclass(frozen=True)
class Oldest(_Policy):
    """Those that came first go first, by their id.

    What is kept is a window over the support vectors: it follows a stream that drifts, and is the
    one policy that also bears a budget far below the number of support vectors.
    """

    word: ClassVar[str] = "oldest"


@dataclass(frozen=True)
class Random(_Policy):
    """Any of them, unless the model would then get more of the newest chunk wrong.

    :class:`RampSVC`, which learns by single examples, has no chunk to try it on: there, any.

    Parameters
    ----------
    seed : int, default=0
    tries : int, default=20
        After so many that were tried and stayed, the next goes in any case; 0 tries none.
    """

    seed: int = 0
    tries: int = 20
    word: ClassVar[str] = "random"


@dataclass(frozen=True)
class LeastSignificant(_Policy):
    """Those with the smallest coefficients go first.

    Meant for labels without noise. Where labels are wrong, the largest coefficients are those of
    the wrong ones, and what goes is the margin itself.
    """

    word: ClassVar[str] = "least_significant"


@dataclass(frozen=True)
class LinearDependence(_Policy):
    """Those that others can express go, and leave the others what they contributed.

    The decision function stays what it was, but for ``sum |s_i| sqrt(delta_i k(x, x))`` over those
    that went, where ``delta_i`` is how much of ``k(x_i, x_i)`` is outside the span of those kept.

    Parameters
    ----------
    eta : float, default=1e-2
        Who has no more than so much outside the span of the others can go, >= 0.
    """

    eta: float = 1e-2
    word: ClassVar[str] = "linear_dependence"


@dataclass(frozen=True)
class OutlierFirst(_Policy):
    """Those on the wrong side go first, by the largest loss; then the oldest.

    On the wrong side are mostly wrong labels, and what cannot be learned.
    """

    word: ClassVar[str] = "outlier_first"


Forgetting = Oldest | Random | LeastSignificant | LinearDependence | OutlierFirst

_BY_WORD: dict[str, Forgetting] = {
    policy.word: policy
    for policy in (Oldest(), Random(), LeastSignificant(), LinearDependence(), OutlierFirst())
}


def resolve(forget: str | Forgetting) -> Forgetting:
    """The policy meant by a word or given as an object."""
    if isinstance(forget, Oldest | Random | LeastSignificant | LinearDependence | OutlierFirst):
        return forget
    if isinstance(forget, str) and forget in _BY_WORD:
        return _BY_WORD[forget]
    words = ", ".join(map(repr, _BY_WORD))
    raise ValueError(f"forget must be {words} or a policy such as Random(seed=1), got {forget!r}")
