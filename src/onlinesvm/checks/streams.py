"""What the checks share: small streams, ways to learn them, and a model's every bit."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor

from ..files.json_values import to_json
from ..model.wrapping import WrapsModel
from ..model.wrapping import last_of as base_last_of

TREES = ["ash", "birch", "cedar", "dogwood"]


@dataclass(frozen=True)
class Stream:
    """A short stream of the kind an estimator learns from."""

    X: Any
    y: NDArray[Any]

    def head(self, n: int) -> Stream:
        return Stream(self.X[:n], self.y[:n])

    def tail(self, n: int) -> Stream:
        return Stream(self.X[n:], self.y[n:])

    def pieces(self, *sizes: int) -> list[Stream]:
        """Cut after the given sizes; the last size is repeated to the end."""
        pieces, start, k = [], 0, 0
        while start < len(self.y):
            size = sizes[min(k, len(sizes) - 1)]
            pieces.append(self.tail(start).head(size))
            start, k = start + size, k + 1
        return pieces

    def holding(self, X: Any) -> Stream:
        """The same labels with the rows in another container."""
        return Stream(X, self.y)


def stream_for(estimator: Any, n: int = 90, *, seed: int = 0, classes: int = 3) -> Stream:
    """Noisy, with duplicates and contradictions; values exact in float16 and not negative."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 17, (n, 4)) / 8.0
    X[n // 3 : n // 3 + n // 10] = X[: n // 10]
    target = X[:, 0] + 0.5 * X[:, 1] - X[:, 2] + rng.normal(0, 0.2, n)
    if pairwise(estimator):  # values with each of them, as exact
        X = X @ X.T + 1.0
    if not is_classifier(estimator):
        return Stream(X, target)
    edges = np.quantile(target, np.linspace(0, 1, classes + 1)[1:-1])
    return Stream(X, np.array(TREES)[np.digitize(target, edges)])


def records_of(stream: Stream) -> list[dict[str, float]]:
    """The rows as dicts that leave out small values."""
    return [{f"f{j}": v for j, v in enumerate(x) if v >= 0.5} for x in stream.X.tolist()]


def last_of(model: Any) -> Any:
    """What predicts: the last step of a pipeline, what is wrapped, any other model itself."""
    return base_last_of(model)


def adjusted(estimator: Any, **params: Any) -> Any:
    """A copy with other parameters; those of a pipeline are those of its last step."""
    model = clone(estimator)
    last_of(model).set_params(**params)
    return model


def parameters(estimator: Any) -> dict[str, Any]:
    """What :func:`adjusted` can change."""
    params: dict[str, Any] = last_of(estimator).get_params(deep=False)
    return params


def knowing_classes(estimator: Any) -> Any:
    """A copy that needs not be told the classes when it starts."""
    return adjusted(estimator, classes=TREES) if is_classifier(estimator) else clone(estimator)


def precise(estimator: Any) -> Any:
    """A copy that calculates in float64 and ends at its optimum, up to rounding, if it has one."""
    exact = {"tol": 1e-10, "dtype": "float64"}
    return adjusted(
        estimator, **{name: exact[name] for name in exact.keys() & parameters(estimator)}
    )


def with_gamma(estimator: Any) -> Any:
    """A copy that settles nothing on its first rows: fit takes all rows for what they settle.

    That is a number for gamma, and a warm-up that is longer than the stream.
    """
    model = clone(estimator)
    for step in _steps_of(model):
        if "warm_up" in step.get_params(deep=False):
            step.set_params(warm_up=10**6)
    by_word = isinstance(getattr(last_of(model), "gamma", 0), str)
    return adjusted(model, gamma=0.25) if by_word else model


def in_one_pass(estimator: Any) -> Any:
    """A copy whose ``fit`` makes one pass over the rows as they come."""
    names = parameters(estimator)
    if "shuffle" not in names:
        return clone(estimator)
    once = {"shuffle": False, "max_iter": 1}
    return adjusted(estimator, **{name: once[name] for name in once.keys() & names})


def all_classes(model: Any) -> dict[str, Any]:
    """What the first partial_fit of a model must be told."""
    if not is_classifier(model) or last_of(model).classes is not None:
        return {}
    return {"classes": TREES}


def learned(estimator: Any, *pieces: Stream) -> Any:
    """A copy of the estimator that learned the pieces one after the other."""
    return go_on(clone(estimator), *pieces)


def go_on(model: Any, *pieces: Stream) -> Any:
    """The model after learning the pieces, by partial_fit where it has one."""
    for piece in pieces:
        if not hasattr(model, "partial_fit"):
            model.fit(piece.X, piece.y)
        elif model.__sklearn_is_fitted__():
            model.partial_fit(piece.X, piece.y)
        else:
            model.partial_fit(piece.X, piece.y, **all_classes(model))
    return model


def one_by_one(model: Any, stream: Stream) -> Any:
    """The model after ``learn_one`` of each example."""
    for x, y in zip(stream.X, stream.y, strict=True):
        model.learn_one(x, y)
    return model


def scores(model: Any, X: Any) -> NDArray[np.float64]:
    """The model's real-valued output."""
    if transforming(model) or is_regressor(model):
        values = predicted(model, X)
        return np.asarray(values.toarray() if sp.issparse(values) else values)
    return np.asarray(model.decision_function(X))


def predicted(model: Any, X: Any) -> Any:
    """What the model says of the rows."""
    return model.transform(X) if transforming(model) else model.predict(X)


def predicted_one(model: Any, x: Any) -> Any:
    """What the model says of one example."""
    return model.transform_one(x) if transforming(model) else model.predict_one(x)


def fingerprint(model: Any) -> dict[str, bytes]:
    """Every bit of what a model has learned, by name: equal fingerprints, equal futures."""
    if not model.__sklearn_is_fitted__():
        return {}
    if hasattr(model, "_from_arrays"):  # what is made of others is what they are, and what it holds
        return {name: _bits(array) for name, array in model._arrays().items()}
    state = {f"state.{name}": _bits(array) for name, array in model._core.state().items()}
    facts = {name: to_json(name, fact) for name, fact in model._facts().items()}
    return state | {name: json.dumps(fact).encode() for name, fact in facts.items()}


def _bits(array: NDArray[Any]) -> bytes:
    return f"{array.dtype}{array.shape}".encode() + array.tobytes()


EXACT = {"tol": 1e-9, "dtype": "float64"}


def exact(estimator: Any) -> Any:
    """A copy that solves its problem as sharply as its parameters allow."""
    known = EXACT.keys() & parameters(estimator).keys()
    return adjusted(estimator, **{name: EXACT[name] for name in known})


def comparable(estimator: Any) -> Any:
    """A copy for streams cut in several ways: exact, unless the bits are compared anyway."""
    cut = last_of(estimator)._any_cut_gives
    if cut == "optimum":  # each call ends at one of several
        return adjusted(estimator, settle="example")
    return clone(estimator) if cut == "bits" else exact(estimator)


def assert_same_model(a: Any, b: Any, X: Any, why: str) -> None:
    """Two models of one stream, cut in two ways, agree as closely as their class promises."""
    same_solution = last_of(a)._any_cut_gives == "solution"
    odd = differences(a, b, besides="state." if same_solution else "")
    assert not odd, f"{why}: the models differ in {', '.join(odd)}"
    if same_solution:
        left, right = scores(a, X), scores(b, X)
        far = f"{why}: the models decide differently, by up to {np.abs(left - right).max():.2g}"
        assert np.allclose(left, right, rtol=1e-4, atol=1e-5), far


def assert_same_bits(a: Any, b: Any, why: str) -> None:
    """Two models have learned the same, bit for bit."""
    odd = differences(a, b)
    assert not odd, f"{why}: the models differ in {', '.join(odd)}"


def differences(a: Any, b: Any, besides: str = "") -> list[str]:
    """What two models know differently, names that begin with ``besides`` left aside."""
    left, right = fingerprint(a), fingerprint(b)
    names = (k for k in left.keys() | right.keys() if not (besides and k.startswith(besides)))
    return sorted(k for k in names if left.get(k) != right.get(k))


def refuses(call: Callable[[], Any], kind: type[Exception], why: str) -> str:
    """The message of the exception that a call must raise."""
    try:
        call()
    except kind as error:
        return str(error)
    except Exception as error:
        raise AssertionError(f"{why}: {error!r} instead of {kind.__name__}") from error
    raise AssertionError(f"{why}: no complaint")


# --- which estimators a check is for ------------------------------------------------------------


def streaming(estimator: Any) -> bool:
    return hasattr(estimator, "partial_fit")


def transforming(estimator: Any) -> bool:
    return hasattr(estimator, "transform")


def classifying(estimator: Any) -> bool:
    return bool(is_classifier(estimator))


def weighing(estimator: Any) -> bool:
    """All but several balls and ellipsoids, which refuse unlike weights, and hard margins."""
    last = last_of(estimator)
    shape, balls = getattr(last, "shape", "ball"), getattr(last, "balls", 1)
    return shape == "ball" and balls == 1 and getattr(last, "C", 1.0) != math.inf


def sparse(estimator: Any) -> bool:
    return bool(estimator.__sklearn_tags__().input_tags.sparse)


def by_bytes(estimator: Any) -> bool:
    return isinstance(parameters(estimator).get("budget"), str)


def takes_dicts(estimator: Any) -> bool:
    """Whether names without end find room: not in a budget of so many bytes."""
    return sparse(estimator) and not by_bytes(estimator)


def pairwise(estimator: Any) -> bool:
    """Whether rows are kernel values with the examples by id."""
    return bool(estimator.__sklearn_tags__().input_tags.pairwise)


def centring(estimator: Any) -> bool:
    """Whether dense rows are moved, and sparse ones cannot be."""
    return any(getattr(step, "_centres", False) for step in _steps_of(estimator))


def _steps_of(model: Any) -> list[Any]:
    """The steps of a pipeline, wrapped or not; any other model itself."""
    if isinstance(model, WrapsModel):
        return _steps_of(model.model)
    return [step for _, step in model.steps] if hasattr(model, "steps") else [model]


def passing(estimator: Any) -> bool:
    """Whether it hands values on even before it has learned anything."""
    return getattr(estimator, "_passes", False)


def savable(estimator: Any) -> bool:
    return not callable(getattr(last_of(estimator), "kernel", None))


def promise(*kinds: Callable[[Any], bool], **options: Any) -> Callable[[Callable[..., None]], Any]:
    """Mark a check with the estimators it is for: those that are of all these kinds.

    It is called with the estimator and a stream for it, which the options describe.
    """

    def applies(estimator: Any) -> bool:
        return all(kind(estimator) for kind in kinds)

    def mark(check: Callable[..., None]) -> Any:
        @functools.wraps(check)
        def run(estimator: Any) -> None:
            check(estimator, stream_for(estimator, **options))

        run.applies = applies  # type: ignore[attr-defined]
        return run

    return mark
