"""Linear methods over many machines: a pass over each part, the mean of the weights, and again.

The rule, of K. B. Hall's and R. McDonald's iterative parameter mixing: in every round each part
begins with the same weights and makes one pass over its rows, in order; the new weights are the
mean of what the parts arrive at, each counted by its rows. What a method remembers besides is taken
the same way: the mean of all rounds that predicts (``average=True``), the round t that sets the
length of the next step, the sums that go into it.

What it leads to:

- One round is one-shot averaging (Zinkevich et al.): the noise of the parts averages out, the bias
  of having seen but a part does not.
- ``PegasosSVC`` and ``SGDSVC`` with steps that shrink (``"optimal"``, ``"invscaling"``): with more
  rounds parts move less and less between two means, and the mean approaches the minimiser of the
  objective over all rows, the one that a single machine approaches (local SGD, Stich). With
  ``learning_rate="constant"`` it stays at a distance that grows with the step.
- ``PassiveAggressiveClassifier``: where a separating plane exists, the number of mistakes over all
  parts and rounds is bounded as on one machine, so it is found (McDonald et al., theorem 3);
  elsewhere nothing is minimised, as on one machine.

R. McDonald, K. Hall, G. Mann: Distributed Training Strategies for the Structured Perceptron. NAACL
2010. M. Zinkevich, M. Weimer, A. Smola, L. Li: Parallelized Stochastic Gradient Descent. NIPS 2010.
S. Stich: Local SGD Converges Fast and Communicates Little. ICLR 2019.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.arguments import check_count
from ..methods.gradient.pegasos import PegasosSVC
from ..methods.gradient.sgd import SGDSVC
from ..methods.margin.passive_aggressive import PassiveAggressiveClassifier
from .examples import Floats, Reading
from .learned import Learned
from .parts import Metered, Part, Parts
from .survey import Survey

State = Mapping[str, NDArray[Any]]

#: The classes whose weights can be averaged.
LINEAR = (PegasosSVC, SGDSVC, PassiveAggressiveClassifier)
#: Weights lie in lines of so many.
_LINE = 8
#: What is counted: the mean, as a whole number.
_COUNTS = ("f.rounds", "t", "mistakes")
#: What is summed up over the examples: the mean.
_SUMS = ("lengths",)
_FUNCTION = ("f.model.", "f.outputs.")


def average(parts: Parts, model: Any, *, rounds: int = 10) -> Learned:
    """Fit a linear method to all rows of all parts by iterative averaging.

    Parameters
    ----------
    parts : Parts
        Cut at random, ideally: where parts differ in what they hold, more rounds are needed.
    model : PegasosSVC, SGDSVC or PassiveAggressiveClassifier, with ``kernel="linear"``
        Its parameters; it is not changed.
    rounds : int, default=10
        Passes over all rows, and times that weights travel.

    Returns
    -------
    Learned

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import PegasosSVC
    >>> from onlinesvm.cluster import LocalParts, average
    >>> X = np.random.default_rng(0).normal(size=(4000, 5))
    >>> y = X @ [1, -2, 0, 1, 0.5] > 0
    >>> learned = average(LocalParts.cut(X[:2000], y[:2000], 4), PegasosSVC(alpha=1e-3))
    >>> print(f"{learned.model.score(X[2000:], y[2000:]):.2f}")
    0.99
    """
    _demand_linear(model)
    check_count("rounds", rounds, at_least=1)
    metered = Metered(parts)
    survey = Survey.of(metered, model)
    current = _begun(survey, model)
    counting = [rows for rows in survey.rows if rows]
    for _ in range(rounds):
        states = metered.map(_pass, _Round(survey.reading, current))
        _install(current, _mean([state for state in states if state is not None], counting))
    current._next_id, current._id_gap = sum(counting), 0
    return Learned(current, None, rounds, metered.down, metered.up)


def _demand_linear(model: Any) -> None:
    """A TypeError or ValueError for what cannot be averaged."""
    if not isinstance(model, LINEAR):
        names = ", ".join(cls.__name__ for cls in LINEAR)
        raise TypeError(f"weights are averaged of {names}, not of {type(model).__name__}")
    if model.kernel != "linear":
        raise ValueError(
            f"kernel={model.kernel!r} keeps examples, which have no mean; use kernel='linear'"
        )
    if getattr(model, "block", 1) != 1:
        raise ValueError(f"block={model.block} may end half full in a part; use block=1")


def _begun(survey: Survey, model: Any) -> Any:
    """A model that knows classes and features, and has learned nothing."""
    fresh = survey.resolved(model)
    if not len(survey.seeds):
        raise ValueError("sample_weight is zero everywhere; fit needs an example that counts")
    one = survey.seeds.picked(np.array([0]))
    return fresh.partial_fit(one.X, one.y, classes=survey.classes(fresh), sample_weight=np.zeros(1))


@dataclass(frozen=True)
class _Round:
    reading: Reading
    model: Any


def _pass(part: Part, one: _Round) -> State | None:
    """What a part arrives at; None of an empty one."""
    rows = one.reading.of(part)
    if not len(rows):
        return None
    model = copy.deepcopy(one.model)
    model.partial_fit(rows.X, rows.y, sample_weight=rows.weight)
    state: State = model._core.state()
    return state


def _install(model: Any, state: State) -> None:
    model._core.load(dict(state))
    model._set_fast_path()


# ---- the mean of states --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Functions:
    """The functions of a state, one per output: as they are now, and summed up over all rounds.

    In the state f = a v, and the sum is b v + u: v and u lie one after the other, by output, where
    there is a sum.
    """

    now: Floats  # outputs x (features and the constant)
    total: Floats | None
    rounds: float

    @classmethod
    def of(cls, state: State) -> _Functions:
        stride, columns = int(state["f.model.stride"]), int(state["f.model.columns"])
        a, b = state["f.outputs.scale"][:, None], state["f.outputs.served"][:, None]
        v = state["f.model.w"].reshape(-1, stride)[:, :columns]
        v = np.hstack([v, state["f.model.bias"][:, None]])
        each = len(v) // len(a)
        now, rounds = a * v[::each], float(state["f.rounds"])
        return cls(now, b * v[::2] + v[1::2] if each == 2 else None, rounds)

    def mean(self) -> Floats | None:
        """What predicts: the mean of those that served a round, and the newest."""
        return None if self.total is None else (self.total + self.now) / (self.rounds + 1)

    def to_state(self, state: State) -> dict[str, NDArray[Any]]:
        """The state with these functions."""
        outputs, columns = len(self.now), self.now.shape[1] - 1
        v = self.now
        if self.total is not None:
            v = np.stack([self.now, self.total], axis=1).reshape(2 * outputs, columns + 1)
        stride = -(-columns // _LINE) * _LINE
        w = np.zeros((len(v), stride))
        w[:, :columns] = v[:, :-1]
        norm2 = state["f.outputs.norm2"]
        return dict(state) | {
            "f.model.w": w.ravel(),
            "f.model.bias": np.ascontiguousarray(v[:, -1]),
            "f.model.stride": np.array(stride),
            "f.model.columns": np.array(columns),
            "f.outputs.scale": np.ones(outputs),
            "f.outputs.served": np.zeros(outputs),
            "f.outputs.norm2": (self.now**2).sum(axis=1) if norm2.any() else norm2,
        }


def _mean(states: Sequence[State], rows: Sequence[int]) -> State:
    """Of what the parts arrived at, each counted by its rows."""
    share = np.array(rows, dtype=np.float64) / sum(rows)
    first = dict(states[0])
    for name in first:
        if name in _COUNTS:
            first[name] = np.array(round(_mix(share, [state[name] for state in states])))
        elif name in _SUMS:
            first[name] = np.array(_mix(share, [state[name] for state in states]))
        elif not name.startswith(_FUNCTION) and any((s[name] != first[name]).any() for s in states):
            raise ValueError(f"the parts differ in {name}, which has no mean")
    first["mistakes"] = np.minimum(first["mistakes"], first["t"])
    each = [_Functions.of(state) for state in states]
    now, rounds = _mix(share, [f.now for f in each]), float(first["f.rounds"])
    means = [mean for f in each if (mean := f.mean()) is not None]
    # The sum that makes theirs the mean of so many rounds as are counted from here on.
    total = (rounds + 1) * _mix(share, means) - now if means else None
    mixed = _Functions(now, total, rounds)
    return mixed.to_state(first)


def _mix(share: Floats, values: Sequence[Any]) -> Any:
    return sum(s * np.asarray(value, np.float64) for s, value in zip(share, values, strict=True))
