"""What an unlearned model can prove, and how to check it. long: the proof is read in one piece.

A certificate bounds how far a model decides from the exact solution over the examples it holds:

    |decision_function(x) - f*(x)| <= distance * sqrt(k(x, x)) + bias_distance    for every x.

It is computed in double from the stored examples and coefficients; what rounding may have done on
the way, in this computation and in the model's own predictions, is bounded and added. The proof is
in docs/papers/incremental.md; its symbols are used here.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..files.atomic import replacing
from ..kernels import PRECOMPUTED
from .settled import explained, listed

Array = NDArray[np.float64]


class CertificateError(ValueError):
    """A certificate that does not hold for a model."""


@dataclass(frozen=True)
class Sealed(Mapping[str, Any]):
    """What certificates have in common: named values, the last of them a ``seal`` over the others.

    It reads like a dict and prints as text; :meth:`save` writes it as JSON, :meth:`load` reads it.
    The seal tells an altered certificate from the one issued; it is a checksum, not a signature.
    """

    def __getitem__(self, name: str) -> Any:
        if name not in self._names():
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __str__(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in self.items())

    @classmethod
    def _names(cls) -> list[str]:
        return [field.name for field in fields(cls)]

    def sealed(self) -> Self:
        """The same with its seal."""
        content = {name: value for name, value in asdict(self).items() if name != "seal"}
        text = json.dumps(content, sort_keys=True)
        seal = hashlib.sha256(text.encode()).hexdigest()
        return replace(self, seal=seal)  # type: ignore[call-arg]

    def to_json(self) -> str:
        """As JSON, every digit kept."""
        return json.dumps(asdict(self), indent=2)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """From what :meth:`to_json` wrote; a ValueError for anything else."""
        try:
            content = json.loads(text)
        except ValueError as error:
            raise ValueError(f"not a certificate: no JSON ({error})") from None
        found = set(content) if isinstance(content, dict) else set()
        missing, odd = (sorted(set(cls._names()) - found), sorted(found - set(cls._names())))
        if missing and not odd and "seal" in found:
            raise ValueError(
                f"a certificate of an earlier version, which does not say {', '.join(missing)}; "
                "let this version issue one, by unlearn(ids, certificate=True) with the same ids"
            )
        if missing or odd:
            raise ValueError(f"not a certificate: it must have the fields {cls._names()}")
        return cls(**content)

    def save(self, path: str | Path) -> None:
        """Write it as JSON."""
        with replacing(path) as file:
            file.write(self.to_json().encode())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read it back; a ValueError in one line for a file that is none."""
        try:
            return cls.from_json(Path(path).read_bytes().decode())
        except UnicodeDecodeError:
            raise ValueError(
                f"{path} is not a certificate: no text, but bytes, as a saved model is; verify "
                "takes the certificate first and then the model"
            ) from None
        except ValueError as error:
            raise ValueError(f"{path} is {error}") from None


@dataclass(frozen=True)
class Certificate(Sealed):
    """Evidence that examples are gone, and of how near to the exact solution the rest is.

    It reads like a dict and prints as text; :meth:`save` writes it as JSON, :meth:`load` reads it.
    :func:`onlinesvm.verify` checks it against the model. The seal tells an altered certificate
    from the one issued; it is a checksum, not a signature.

    Attributes
    ----------
    method : str, the class of the model
    statement : str, what is certified, in a sentence: what ``distance`` and ``bias_distance`` are
        measured from, and for which settled values
    complete : bool
        Whether nothing of the removed examples is left in what the model decides: ``settled`` is
        empty, and the method has one solution, whatever was learned before.
    settled : dict
        What was settled on rows that include removed ones and still stands, by name: the value of
        ``gamma``, where a word settled it, class weights, classes, steps of a pipeline and the
        like. The certificate holds for these values, which a model trained without the removed
        examples would not have.
    settled_anew : dict
        What ``unlearn(..., scope="all")`` settled anew, by name, with its value now.
    relearned : int, examples that were learned again for that
    ids_removed : list of int, the examples held until now that are gone
    n_examples : int, examples held afterwards
    kkt_residual, objective : float, of the model afterwards
    distance, bias_distance : float
        ``|decision_function(x) - f*(x)| <= distance * sqrt(k(x, x)) + bias_distance`` at every
        ``x``, where ``f*`` is the exact solution that ``statement`` names. The largest over the
        outputs.
    hash_before, hash_after : str, SHA-256 of the solution: examples, coefficients and bias
    examples_hash : str, SHA-256 of the examples held, with their labels and weights
    seal : str, SHA-256 of all of the above
    """

    method: str
    statement: str
    complete: bool
    settled: dict[str, Any]
    settled_anew: dict[str, Any]
    relearned: int
    ids_removed: list[int]
    n_examples: int
    kkt_residual: float
    objective: float
    distance: float
    bias_distance: float
    hash_before: str
    hash_after: str
    examples_hash: str
    seal: str = ""

    def naming(self, more: Mapping[str, Any], claim: Claim) -> Certificate:
        """The same, naming also these values that were settled on removed rows."""
        settled = self.settled | dict(more)
        complete = claim.complete and not settled
        statement = claim.of(settled) + _of_anew(self)
        stated = replace(self, statement=statement, complete=complete, settled=settled)
        return stated.sealed()


def _of_anew(c: Certificate) -> str:
    """What was settled anew, and what it cost, as a sentence."""
    if not c.settled_anew:
        return ""
    return (
        f" Settled anew without the examples removed: {listed(c.settled_anew)}; for that "
        f"{c.relearned:,} examples were learned again."
    )


@dataclass(frozen=True)
class Claim:
    """What the certificates of a method state."""

    text: str  # with {given} where settled values are named and {at} where they are meant
    complete: bool  # whether the solution is one, whatever was learned before

    def of(self, settled: Mapping[str, Any]) -> str:
        """The statement of a model for which these values were settled on removed rows."""
        if not settled:
            return self.text.format(given="", at="")
        at = "at this value" if len(settled) == 1 else "at these values"
        return self.text.format(given=f", for {explained(settled)}", at=f" {at}")


#: The claim of methods whose solution is one: whatever the order, whatever was learned before.
EXACT = Claim(
    "f* is the exact solution over the examples held{given}: that of a model trained{at} without "
    "the examples removed. decision_function(x) is within "
    "distance * sqrt(k(x, x)) + bias_distance of f*(x).",
    complete=True,
)


@dataclass(frozen=True)
class Verified:
    """What a certificate that holds says of a model: true, a sentence, and fields.

    Attributes
    ----------
    complete : bool, whether nothing of the removed examples is left in what the model decides
    settled : dict, what was settled on rows that include removed ones and still stands
    settled_anew : dict, what was settled anew by the rows that are left
    sentence : str, what holds, in words
    """

    complete: bool
    settled: dict[str, Any]
    settled_anew: dict[str, Any]
    sentence: str

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return self.sentence


# ---- what the model holds ------------------------------------------------------------------------


@dataclass(frozen=True)
class Evidence:
    """The examples a model holds, by id, and the problem and solution over them.

    Everything is what the model stores, but ``f``, which the core computes from it in double.
    """

    ids: NDArray[np.int64]
    examples: tuple[NDArray[Any], ...]  # the rows, or data, indices and indptr
    label: NDArray[np.int64]
    cost: Array  # C_i
    self_: Array  # k(x, x)
    f: Array  # (n, outputs), without the bias
    base: Array  # (outputs, n, copies): gradient h = base - f - bias
    lo: Array
    hi: Array
    s: Array
    bias: Array
    free_bias: bool
    nu: float | None  # sum s = nu sum C, else 0
    kernel: Mapping[str, Any]
    dtype: str
    width: int

    @classmethod
    def of(cls, model: Any) -> Self:
        """What this model holds now."""
        raw = model._core.evidence()
        sparse = "indptr" in raw
        parts = ("data", "indices", "indptr") if sparse else ("vectors",)
        return cls(
            ids=raw["ids"],
            examples=tuple(np.asarray(raw[name]) for name in parts),
            label=raw["label"],
            cost=raw["cost"],
            self_=raw["self"],
            f=raw["f"],
            **{name: raw[name] for name in ("base", "lo", "hi", "s", "bias")},
            free_bias=bool(raw["free_bias"]),
            nu=model._core_settings.get("nu"),
            kernel=model._core_settings["kernel"],
            dtype=str(raw["data" if sparse else "vectors"].dtype),
            width=int(raw["width"]) if sparse else raw["vectors"].shape[1],
        )

    @property
    def sparse(self) -> bool:
        return len(self.examples) > 1

    def examples_hash(self) -> str:
        """Of the examples with their labels or targets, weights, and the kernel between them."""
        numbers = {name: v for name, v in self.kernel.items() if name != "function"}
        problem = json.dumps({"kernel": numbers, "nu": self.nu, "width": self.width})
        return digest_of(problem, self.ids, *self.examples, self.label, self.cost, self.base)

    def solution_hash(self) -> str:
        """Of the examples, their coefficients and the bias."""
        return digest_of(self.examples_hash(), self.s, self.bias)

    def lengths(self, *, of: str) -> Array:
        """The 1-norms or squared 2-norms of the examples."""
        x = self.examples[0].astype(np.float64)
        terms = np.abs(x) if of == "sizes" else x**2
        if not self.sparse:
            return np.asarray(terms.sum(axis=1))
        starts = self.examples[2]
        return np.array([terms[a:b].sum() for a, b in pairwise(starts)])


def digest_of(head: str, *arrays: NDArray[Any]) -> str:
    """SHA-256 of a text and of arrays, with their types and shapes."""
    digest = hashlib.sha256(head.encode())
    for array in arrays:
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


# ---- rounding ------------------------------------------------------------------------------------

_UNIT = {"float32": 2.0**-24, "float64": 2.0**-53}
_TINY = {"float32": 2.0**-126, "float64": 2.0**-1022}  # below, a kernel value may vanish
EXP_UNITS = 8  # within which the core's exp is right
_UP = 1 + 1e-9  # what rounding can do to the few sums of positive numbers below


def _growth(k: float, unit: float) -> float:
    """Higham's gamma_k: the relative error of k operations in a row."""
    return k * unit / (1 - k * unit) if k * unit < 0.5 else math.inf


def _sums(n: int, run: int) -> float:
    """Of a sum of n products in double, as the core takes it: runs of eight or more chains."""
    return 1.1 * _growth(min(n, run / 8 + 24 + n / run) + 4, _UNIT["float64"])


def kernel_rounding(e: Evidence, *, predicting: bool) -> float:
    """eps: computed kernel values are within eps sqrt(k(x, x) k(z, z)) of the true ones.

    For every example z held and every x; in double between examples held or, ``predicting``, as
    the model predicts: in its dtype, x rounded to it, squared distances by whatever way it takes.
    """
    name, gamma, p = e.kernel["name"], float(e.kernel["gamma"]), float(e.kernel["degree"])
    unit = _UNIT[e.dtype if predicting else "float64"]
    d = float(e.width)
    if name in ("function", PRECOMPUTED):  # taken at its word, then rounded
        return 2 * unit
    if name == "linear":
        return _growth(d + 3, unit)
    if name == "poly":
        return _growth(p * (d + 6) + 2, unit)
    # exp(-z): an error of z by a share theta costs at most theta / e, as z exp(-z) <= 1 / e.
    largest = float(np.max(e.lengths(of="squares" if name == "rbf" else "sizes"), initial=0.0))
    reach = gamma * largest * _UP
    theta = _growth(d + 8, unit)
    slip = 0.37 * theta / (1 - theta) if theta < 0.5 else 1.0
    if e.sparse:  # |q|^2 + |x|^2 - 2 q.x: near x no share but a part of the squares is lost
        slip = max(37 * theta, 12 * theta * reach * math.exp(min(1.0, 12 * theta * reach)))
    elif predicting and name == "rbf" and e.width >= 32:  # the same from dot products, if short
        slip = max(slip, 32 * theta * math.exp(min(1.0, 32 * theta)))
    if predicting:  # x itself is rounded
        slip += unit * 1.2 * (0.74 + 0.86 * (math.sqrt(2 * reach) + reach * (name == "laplacian")))
    return min(1.01, slip + (EXP_UNITS + 2) * unit)


# ---- the bound -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bound:
    """|f(x) - f*(x)| <= distance sqrt(k(x, x)) + bias_distance, of one output."""

    distance: float
    bias_distance: float
    rounding: float  # of f at the examples held


def bounds(e: Evidence, *, allowance: float = 1.0) -> list[Bound]:
    """The bound of each output.

    ``allowance`` multiplies what rounding may have done to f: a bound issued with 3 is never below
    one computed with 1 on another machine.
    """
    return [_bound(e, output, allowance) for output in range(len(e.bias))]


def _bound(e: Evidence, output: int, allowance: float) -> Bound:
    s, lo, hi = e.s[output], e.lo[output], e.hi[output]
    if not ((lo <= s) & (s <= hi) & (hi - lo <= e.cost[:, None])).all():
        raise CertificateError("a coefficient is outside its bounds")
    b, f, length = float(e.bias[output]), e.f[:, output], np.sqrt(e.self_) * _UP
    reach = math.fsum(np.abs(s).sum(axis=1) * length) * _UP  # A: |w| is no more
    off = (kernel_rounding(e, predicting=False) + _sums(len(e.ids), run=512)) * reach * length
    h = e.base[output] - f[:, None] - b
    spread = np.abs(e.base[output]) + np.abs(f[:, None]) + abs(b)
    error = allowance * (off[:, None] + 4 * _UNIT["float64"] * spread)  # |computed h - true h|
    pull = np.maximum(0.0, np.maximum((hi - s) * (h + error), (lo - s) * (h - error)))
    T = math.fsum(pull.ravel()) * _UP
    rounding = (kernel_rounding(e, predicting=True) + _sums(len(e.ids), run=128)) * reach
    vanishing = _TINY[e.dtype] * (e.width + 8) * math.fsum(np.abs(s).ravel()) * 4
    blur = float(np.max(error, initial=0.0))
    if not e.free_bias:
        return Bound((math.sqrt(T) + rounding) * _UP, vanishing, blur)
    delta = _imbalance(e, s)
    kinks = _Kinks.of(e, output, h + b)
    still = kinks.reach(b, error)
    slope = delta * float(np.max(length, initial=0.0)) / 2
    rho = (slope + math.sqrt(slope**2 + T + delta * still)) * _UP
    beta = kinks.reach(b, error + rho * length[:, None])
    beta = beta * _UP + 2 * _UNIT["float64"] * abs(b) + vanishing
    return Bound((rho + rounding) * _UP, beta, blur)


def _imbalance(e: Evidence, s: Array) -> float:
    """|sum s - target|, rounded up."""
    if e.nu is None:
        return abs(math.fsum(s.ravel())) * _UP
    target = e.nu * math.fsum(e.cost)
    return abs(math.fsum([*s.ravel(), -target])) * _UP + 4 * _UNIT["float64"] * target


@dataclass(frozen=True)
class _Kinks:
    """The loss as a function of the bias: its slope grows by ``weight`` at each of ``at``.

    It is 0 where the weights passed equal ``goal = sum hi - target``. There the best bias lies: in
    the middle, where that lasts for a while; where only one side ends, at that end.
    """

    at: Array
    hi: Array
    lo: Array
    share: tuple[float, Array] | None  # target = nu sum C

    @classmethod
    def of(cls, e: Evidence, output: int, at: Array) -> Self:
        share = None if e.nu is None else (e.nu, e.cost)
        return cls(at.ravel(), e.hi[output].ravel(), e.lo[output].ravel(), share)

    def reach(self, b: float, moved: Array) -> float:
        """How far from b the best one can be, when each kink moves by so much or less."""
        by = moved.ravel()
        return max(abs(b - self._best(self.at - by)), abs(b - self._best(self.at + by)))

    def _best(self, at: Array) -> float:
        counts = self.hi > self.lo
        if not counts.any():
            return 0.0
        order = np.flatnonzero(counts)[np.argsort(at[counts], kind="stable")]
        below, above = self._crossing(order)
        begins = at[order[below]] if self.share or (self.hi > 0).any() else -math.inf
        ends = at[order[above]] if self.share or (self.lo < 0).any() else math.inf
        if math.isinf(begins) or math.isinf(ends):
            return float(ends if math.isinf(begins) else begins)
        return float(begins + ends) / 2

    def _crossing(self, order: NDArray[np.intp]) -> tuple[int, int]:
        """The first kinks with which the weights passed reach the goal, and exceed it."""
        weight = (self.hi - self.lo)[order]
        passed = np.cumsum(weight)
        target = 0.0 if self.share is None else self.share[0] * math.fsum(self.share[1])
        goal = math.fsum(self.hi) - target
        slack = 4 * _growth(len(order) + 4, _UNIT["float64"]) * (passed[-1] + abs(target))
        first, last = np.searchsorted(passed, [goal - slack, goal + slack])
        signs = self._signs(order, int(first), int(last))  # nearer than rounding tells
        reached = next((i for i, sign in signs if sign >= 0), int(last))
        exceeded = next((i for i, sign in signs if sign > 0), int(last))
        top = len(order) - 1
        return min(reached, top), min(exceeded, top)

    def _signs(self, order: NDArray[np.intp], first: int, last: int) -> list[tuple[int, int]]:
        """Of the weights passed minus the goal, in exact arithmetic."""
        if first == last:
            return []
        over = _exact(self.lo[order[:first]], -1) + _exact(self.hi[order[:first]])
        over -= _exact(self.hi)
        if self.share is not None:
            over += Fraction(float(self.share[0])) * _exact(self.share[1])
        signs = []
        for i in range(first, last):
            over += Fraction(float(self.hi[order[i]])) - Fraction(float(self.lo[order[i]]))
            signs.append((i, (over > 0) - (over < 0)))
        return signs


def _exact(values: Array, sign: int = 1) -> Fraction:
    return sign * sum((Fraction(v) for v in values.tolist()), Fraction(0))


# ---- issuing and checking ------------------------------------------------------------------------


def issue(
    model: Any,
    claim: Claim,
    gone: list[int],
    hash_before: str,
    settled: Mapping[str, Any],
    anew: Mapping[str, Any] | None = None,
) -> Certificate:
    """The certificate of a model that has just unlearned, and settled some things anew."""
    e = Evidence.of(model)
    found = bounds(e, allowance=3.0)
    return Certificate(
        method=type(model).__name__,
        statement="",
        complete=False,
        settled={},
        settled_anew=dict(anew or {}),
        relearned=len(e.ids) if anew else 0,
        ids_removed=gone,
        n_examples=len(e.ids),
        kkt_residual=model.kkt_residual(),
        objective=model.objective(),
        distance=max(bound.distance for bound in found),
        bias_distance=max(bound.bias_distance for bound in found),
        hash_before=hash_before,
        hash_after=e.solution_hash(),
        examples_hash=e.examples_hash(),
    ).naming({**settled, **model._settled_without(e)}, claim)


def verify(certificate: Certificate | str | Path, model: Any) -> Verified:
    """Check that a certificate holds for a model, from the examples and coefficients it stores.

    Nothing of the solver is believed: the examples are hashed, decision values computed from them
    in double, and the bound is derived anew; so is what was settled on rows that were removed, from
    what the model remembers of it. Costs as much as predicting every example held.

    What cannot be checked is the past: that the examples removed were once there, and that nobody
    kept a copy. Whoever can alter a certificate can seal it again, too; keep it where they cannot.

    Parameters
    ----------
    certificate : Certificate or path of one
        From ``unlearn(ids, certificate=True)``.
    model : estimator or path of one
        The model it was issued for, or a copy, or the file of it.

    Returns
    -------
    Verified
        True wherever a truth value is wanted; ``complete``, ``settled`` and ``sentence`` say what
        is covered.

    Raises
    ------
    CertificateError
        One sentence on what does not hold: an altered certificate, another model or one that went
        on learning, an example that is back, a bound that is not reached, a settled value that is
        not named.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import IncrementalSVC, verify
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> y = np.where(X[:, 0] > 0, 1, -1)
    >>> model = IncrementalSVC(C=10, gamma=0.5, classes=[-1, 1]).fit(X, y)
    >>> proof = model.unlearn([3, 17], certificate=True)
    >>> verify(proof, model).complete
    True
    >>> verify(proof, model.partial_fit(X[3:4], y[3:4]))
    Traceback (most recent call last):
    ...
    onlinesvm.unlearn.certificate.CertificateError: the model holds other examples than those
    certified
    """
    certificate, model = _read(certificate), _loaded(model)
    learner = _learner(model)
    if certificate.sealed().seal != certificate.seal:
        raise CertificateError("the certificate was altered: its seal does not fit its content")
    if type(learner).__name__ != certificate.method:
        raise CertificateError(
            f"the certificate is about a {certificate.method}, not a {type(learner).__name__}"
        )
    learner._verb("evidence")
    e = Evidence.of(learner)
    removed = np.asarray(certificate.ids_removed, dtype=np.int64)
    back = np.intersect1d(e.ids, removed)
    if len(back):
        raise CertificateError(f"example {back[0]} is in the model, and not removed")
    if e.examples_hash() != certificate.examples_hash or len(e.ids) != certificate.n_examples:
        raise CertificateError("the model holds other examples than those certified")
    if e.solution_hash() != certificate.hash_after:
        raise CertificateError("the model has other coefficients than those certified")
    _demand_bounds(certificate, learner, e)
    for name, value in {**model._settled_on(removed), **learner._settled_without(e)}.items():
        if name not in certificate.settled:
            raise CertificateError(
                f"{listed({name: value})} was settled on rows that include removed ones, and the "
                "certificate does not say so"
            )
    if certificate.complete and (certificate.settled or not learner._claim.complete):
        raise CertificateError("the certificate says that it is complete, and it is not")
    sentence = _sentence(certificate, one_solution=learner._claim.complete)
    settled, anew = dict(certificate.settled), dict(certificate.settled_anew)
    return Verified(certificate.complete, settled, anew, sentence)


def _demand_bounds(certificate: Certificate, model: Any, e: Evidence) -> None:
    """A CertificateError unless residual and bound are as certified."""
    found = bounds(e)
    residual = model.kkt_residual()
    if not residual <= certificate.kkt_residual + 2 * max(bound.rounding for bound in found):
        raise CertificateError(
            f"the residual is {residual:.3g}, and certified {certificate.kkt_residual:.3g}"
        )
    for bound in found:
        if not (
            bound.distance <= certificate.distance
            and bound.bias_distance <= certificate.bias_distance
        ):
            raise CertificateError(
                f"the bound does not hold: {bound.distance:.3g} and {bound.bias_distance:.3g} "
                f"can be shown, {certificate.distance:.3g} and {certificate.bias_distance:.3g} "
                "are certified"
            )


def _sentence(c: Certificate, *, one_solution: bool) -> str:
    """What a certificate that holds says, for a reader who solves no equations."""
    n = len(c.ids_removed)
    gone = "not the one that was" if n == 1 else f"none of the {n:,} that were"
    held = f"The {c.method} holds {c.n_examples:,} examples, and {gone} removed."
    near = f"within {c.distance:.2g} * sqrt(k(x, x)) + {c.bias_distance:.2g}"
    if not one_solution:
        left = f"; left of it is {explained(c.settled)}" if c.settled else ""
        return f"{held} Training without what was removed may find another solution{left}."
    decides = f"{held} It decides as one trained without what was removed, {near}"
    if c.complete:
        return f"{decides}.{_of_anew(c)}"
    return f"{decides}, but for {explained(c.settled)}: so much of it is left."


def _read(certificate: Certificate | str | Path) -> Certificate:
    if isinstance(certificate, str | Path):
        return Certificate.load(certificate)
    if not isinstance(certificate, Certificate):
        raise ValueError(
            f"certificate must be a Certificate or the path of one, got {certificate!r:.60}; "
            "onlinesvm.cluster.verify checks those of several machines"
        )
    return certificate


def _loaded(model: Any) -> Any:
    if isinstance(model, str | Path):
        from ..files.persistence import load  # which imports what certificates are part of

        if Path(model).is_dir():
            raise ValueError(
                f"{model} is a folder; of a run, name the file in it: {model}/model.onlinesvm"
            )
        return load(model)
    if not hasattr(model, "_settled_on"):
        raise ValueError(f"model must be an estimator of this library, got {model!r:.60}")
    return model


def _learner(model: Any) -> Any:
    """What learns in the end: the last step of a pipeline, what is wrapped, or the model itself."""
    if hasattr(model, "steps"):
        return _learner(model.steps[-1][1])
    inner = model.__dict__.get("model_")
    return model if inner is None else _learner(inner)
