"""A learned model as an ONNX graph: for servers, phones and browsers that know no Python.

In a checkout: ``pip install ".[onnx]"``; whatever runs ONNX runs the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any, Literal

import numpy as np
import onnx
import scipy.sparse as sp
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.utils.validation import check_is_fitted

from .. import (
    FourierFeatures,
    NystroemFeatures,
    OnlineColumns,
    OnlineImputer,
    OnlineOneHot,
    OnlineOrdinal,
    OnlinePipeline,
    OnlineScaler,
    __version__,
)
from ..data.arguments import check_word
from ..kernels import PRECOMPUTED
from ..model import pairs
from ..model.estimator import OnlineEstimator

__all__ = ["to_onnx"]

_TYPES = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}
_OPSETS = (helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3))
_IR_VERSION = 9  # what goes with these operator sets
_SVM_KERNELS = {"linear": "LINEAR", "rbf": "RBF", "poly": "POLY"}
_BLOCK = 2**18  # kernel values at a time: what a core's own cache holds
_CLOSE = 2e-5  # how far rounding in float32 may move a score before exponents are made in double


def to_onnx(
    model: OnlineEstimator | OnlinePipeline,
    *,
    op: Literal["matmul", "svm"] = "matmul",
    dtype: Literal["float32", "float64"] = "float32",
) -> onnx.ModelProto:
    """What a model has learned so far as an ONNX graph, preparation included.

    Parameters
    ----------
    model : fitted estimator or :class:`~onlinesvm.OnlinePipeline`
        Classifiers give ``label`` and ``scores``, as ``predict`` and ``decision_function`` do;
        detectors likewise; regressors give ``variable``.
    op : {"matmul", "svm"}
        ``"matmul"`` writes a kernel as matrix products around one exponential, centred on the
        support vectors and block of rows by block, which runtimes compute many times faster than
        ``"svm"``, the operator that ONNX has for the purpose; that one knows linear, rbf and poly
        in float32 only.
    dtype : {"float32", "float64"}
        Type of the input and of the arithmetic. Sums over support vectors are double in either,
        and so are distances where float32 would move a score by more than 2e-5.

    Returns
    -------
    onnx.ModelProto
        Its input is ``X``, an array of shape (n, n_features). Behind :class:`OnlineColumns` there
        is an input of shape (n, 1) for every column, by its name: numbers, or strings for
        categories, where a gap is the empty string.

    Examples
    --------
    >>> import numpy as np, onnxruntime
    >>> from onlinesvm import RampSVC
    >>> from onlinesvm.interop.onnx import to_onnx
    >>> X = np.random.default_rng(0).normal(size=(400, 2)).astype(np.float32)
    >>> model = RampSVC().fit(X, np.where(X[:, 0] * X[:, 1] > 0, "same", "other"))
    >>> session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    >>> label, scores = session.run(None, {"X": X})
    >>> bool((label == model.predict(X)).all())
    True
    """
    check_word("op", op, ("matmul", "svm"))
    check_word("dtype", dtype, tuple(_TYPES))
    if op == "svm" and dtype == "float64":
        raise ValueError("op='svm' computes in float32 only; use op='matmul' for dtype='float64'")
    check_is_fitted(model)
    steps = [step for _, step in model.steps] if isinstance(model, OnlinePipeline) else [model]
    graph = _Graph(dtype)
    rows = _entrance(graph, steps[0])
    for step in steps[:-1]:
        rows = _features(step, graph, rows)
    last = steps[-1]
    scores = _scores(graph, last, rows, op)
    if _vote(last):
        scores = _counted(graph, scores, len(last.classes_))
    outputs = _answers(graph, last, scores)
    return graph.model(type(model).__name__, type(last).__name__, outputs)


class _Graph:
    """Nodes and constants as they are written down; every verb gives the name of a value."""

    def __init__(self, dtype: str) -> None:
        self.dtype = np.dtype(dtype)
        self.element = _TYPES[dtype]
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._named = 0

    def input(self, name: str, element: int, width: int) -> str:
        self._inputs.append(helper.make_tensor_value_info(name, element, ["n", width]))
        return name

    def constant(self, values: Any, dtype: Any = None) -> str:
        """An array; numbers that are not whole get the type of the graph, if none is named."""
        array = np.asarray(values)
        if array.dtype.kind == "f":
            array = array.astype(dtype or self.dtype)
        elif array.dtype.kind == "U":
            array = array.astype(object)
        name = f"c{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def add(self, op: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        name = self._name()
        node = helper.make_node(op, list(inputs), [name], domain=domain, **attributes)
        self._nodes.append(node)
        return name

    def blocks(
        self, rows: str, sides: tuple[int, int], size: int, make: Callable[[str], str]
    ) -> str:
        """What ``make`` makes of rows, ``size`` of them at a time: so much stays in the cache.

        ``sides`` are the widths of what goes in and what comes out.
        """
        width, out = sides
        whole = self.add("Shape", rows, start=0, end=1)
        # Blocks of one length: a row for nothing each at most, and a single row is one block.
        least = self.add("Max", whole, self.constant(np.array([1])))
        count = self._over(least, self.constant(np.array([size])))
        length = self._over(least, count)
        lacking = self.add("Sub", self.add("Mul", count, length), whole)
        nothing = self.constant(np.array([0]))
        padding = self.add("Concat", nothing, nothing, lacking, nothing, axis=0)
        shape = self.add("Concat", count, length, self.constant(np.array([width])), axis=0)
        blocks = self.add("Reshape", self.add("Pad", rows, padding), shape)
        outer, self._nodes, block = self._nodes, [], self._name()
        answer = make(block)
        body = helper.make_graph(
            self._nodes,
            "block",
            [helper.make_tensor_value_info(block, self.element, ["rows", width])],
            [helper.make_tensor_value_info(answer, self.element, ["rows", out])],
        )
        self._nodes = outer
        made = self.add("Scan", blocks, body=body, num_scan_inputs=1)
        made = self.add("Reshape", made, self.constant(np.array([-1, out])))
        return self.add("Slice", made, nothing, whole, nothing)

    def _over(self, a: str, b: str) -> str:
        """a / b of whole numbers, rounded up."""
        more = self.add("Add", a, self.add("Sub", b, self.constant(np.array([1]))))
        return self.add("Div", more, b)

    def _name(self) -> str:
        self._named += 1
        return f"v{self._named}"

    def sums(self, values: str, coef: NDArray[Any], bias: NDArray[Any]) -> str:
        """Sums of thousands of terms that nearly cancel: in double, whatever the graph's type."""
        exact = (self.constant(a, np.float64) for a in (coef, bias))
        wide = self.add("Gemm", self.cast(values, TensorProto.DOUBLE), *exact)
        return self.cast(wide, self.element)

    def cast(self, values: str, element: int) -> str:
        return self.add("Cast", values, to=element)

    def rename(self, value: str, name: str) -> str:
        self._nodes.append(helper.make_node("Identity", [value], [name]))
        return name

    def model(self, name: str, last: str, outputs: Sequence[Any]) -> onnx.ModelProto:
        graph = helper.make_graph(self._nodes, name, self._inputs, outputs, self._constants)
        made = helper.make_model(
            graph,
            opset_imports=_OPSETS,
            ir_version=_IR_VERSION,
            producer_name="onlinesvm",
            producer_version=__version__,
            doc_string=f"{last} of onlinesvm",
        )
        onnx.checker.check_model(made)
        return made


# --- what comes in and what goes out -------------------------------------------------------------


def _entrance(graph: _Graph, first: Any) -> Any:
    """The input: one array, or the columns by name."""
    if not isinstance(first, OnlineColumns):
        return graph.input("X", graph.element, first.n_features_in_)
    texts = {
        column
        for part, steps in first.parts_.items()
        for column in first.columns_[part]
        if steps and isinstance(steps[0], OnlineOneHot | OnlineOrdinal)
    }
    return {
        column: graph.input(column, TensorProto.STRING if column in texts else graph.element, 1)
        for column in first.feature_names_in_.tolist()
    }


def _answers(graph: _Graph, last: Any, scores: str) -> list[Any]:
    """The outputs, under the names that runtimes' users know."""

    def output(value: str, name: str, element: int, shape: list[Any]) -> Any:
        return helper.make_tensor_value_info(graph.rename(value, name), element, shape)

    if is_outlier_detector(last):
        outside = graph.add("Less", scores, graph.constant(np.zeros(1)))
        label = graph.add(
            "Where", outside, graph.constant(np.int64(-1)), graph.constant(np.int64(1))
        )
        flat = graph.add("Squeeze", label, graph.constant(np.array([1])))
        return [
            output(flat, "label", TensorProto.INT64, ["n"]),
            output(scores, "scores", graph.element, ["n", 1]),
        ]
    if not is_classifier(last):
        return [output(scores, "variable", graph.element, ["n", 1])]
    label, element = _label(graph, scores, last.classes_, last._outputs())
    return [
        output(label, "label", element, ["n"]),
        output(scores, "scores", graph.element, ["n", last._outputs()]),
    ]


def _label(graph: _Graph, scores: str, classes: Any, outputs: int) -> tuple[str, int]:
    """The class of the highest score, and its type."""
    if classes.dtype.kind not in "biufU" and not all(isinstance(c, str) for c in classes):
        raise ValueError(
            f"classes_ has {classes[0]!r} beside labels of other kinds, which ONNX cannot give "
            "back; learn numbers or strings"
        )
    if classes.dtype.kind in "iu":
        classes = classes.astype(np.int64)
    if outputs == 1:
        above = graph.add("Greater", scores, graph.constant(np.zeros(1)))
        place = graph.add("Cast", above, to=TensorProto.INT64)
        place = graph.add("Min", place, graph.constant(np.array([len(classes) - 1])))
        place = graph.add("Squeeze", place, graph.constant(np.array([1])))
    else:
        place = graph.add("ArgMax", scores, axis=1, keepdims=0)
    label = graph.add("Gather", graph.constant(classes), place)
    kinds = {"b": TensorProto.BOOL, "i": TensorProto.INT64, "u": TensorProto.INT64}
    element = kinds.get(
        classes.dtype.kind, graph.element if classes.dtype.kind == "f" else TensorProto.STRING
    )
    return label, element


# --- the model -----------------------------------------------------------------------------------


def _scores(graph: _Graph, last: Any, rows: str, op: str) -> str:
    """f(x) = sum_j coef_j k(x_j, x) + bias, a column for each output."""
    if not getattr(last, "_scores_are_sums", True):
        raise ValueError(
            f"{type(last).__name__} scores neither by weights nor by a sum over stored rows, which "
            "is what to_onnx writes; use another class"
        )
    weights = getattr(last, "coef_", None)
    if weights is not None:
        coef, bias = np.atleast_2d(weights).T, np.atleast_1d(last.intercept_)
        return graph.add("Gemm", rows, graph.constant(coef), graph.constant(bias))
    vectors = _dense(last.support_vectors_)
    coef = pairs.coef(last) if _vote(last) else last.dual_coef_
    kernel = last._core_settings["kernel"]
    if op == "svm":
        return _standard(graph, kernel, rows, vectors, coef, last.intercept_)
    if not len(vectors):  # nothing but a bias
        vectors, coef = np.zeros((1, last.n_features_in_)), np.zeros((len(coef), 1))
    return _expansion(
        graph, kernel, rows, vectors, coef.T, lambda k: graph.sums(k, coef.T, last.intercept_)
    )


def _vote(last: Any) -> bool:
    """Whether there is one machine for each pair of classes."""
    return hasattr(last, "_votes") and bool(last._votes())


def _counted(graph: _Graph, pairs: str, classes: int) -> str:
    """The votes of all pairs of classes, and what they add up to, squashed below a third of one."""
    firsts, seconds = np.triu_indices(classes, 1)
    first, second = (np.eye(classes)[of] for of in (firsts, seconds))
    votes = [
        graph.add("MatMul", graph.add("Cast", won, to=graph.element), graph.constant(of))
        for won, of in (
            (graph.add("Greater", pairs, graph.constant(0.0)), first),
            (graph.add("Less", pairs, graph.constant(0.0)), second),
        )
    ]
    sums = graph.add("MatMul", pairs, graph.constant(first - second))
    size = graph.add("Add", graph.add("Abs", sums), graph.constant(1.0))
    squashed = graph.add("Div", sums, graph.add("Mul", size, graph.constant(3.0)))
    return graph.add("Add", graph.add("Add", *votes), squashed)


def _standard(
    graph: _Graph, kernel: Any, rows: str, vectors: Any, coef: Any, bias: NDArray[np.float64]
) -> str:
    """The operator of the standard, once for each output."""
    if kernel["name"] not in _SVM_KERNELS:
        raise ValueError(f"op='svm' has no kernel {_name(kernel)!r}; use op='matmul'")
    each = [
        graph.add(
            "SVMRegressor",
            rows,
            domain="ai.onnx.ml",
            kernel_type=_SVM_KERNELS[kernel["name"]],
            kernel_params=[kernel["gamma"], kernel["coef0"], kernel["degree"]],
            n_supports=int((weights != 0).sum()),
            support_vectors=vectors[weights != 0].astype(np.float32).ravel(),
            coefficients=weights[weights != 0].astype(np.float32),
            rho=[float(constant)],
        )
        for weights, constant in zip(coef, bias, strict=True)
    ]
    return each[0] if len(each) == 1 else graph.add("Concat", *each, axis=1)


def _expansion(
    graph: _Graph,
    kernel: Any,
    rows: str,
    vectors: NDArray[Any],
    coef: NDArray[Any],
    sums: Callable[[str], str],
) -> str:
    """Sums of the kernel values of rows, block by block: from the product to the sum in cache."""
    dtype = graph.dtype
    if kernel["name"] == "rbf":
        dtype = np.promote_types(dtype, _exponents_in(kernel, vectors, coef))

    def block(some: str) -> str:
        return sums(_kernel(graph, kernel, some, vectors, dtype))

    length = max(_BLOCK // len(vectors), 16)
    return graph.blocks(rows, (vectors.shape[1], coef.shape[1]), length, block)


def _kernel(graph: _Graph, kernel: Any, rows: str, vectors: NDArray[Any], dtype: Any) -> str:
    """Kernel values of the rows against fixed vectors, a column for each."""
    name, gamma = kernel["name"], kernel["gamma"]
    if name == "linear":
        return graph.add("MatMul", rows, graph.constant(vectors.T))
    if name == "poly":
        inner = graph.add("MatMul", rows, graph.constant(gamma * vectors.T))
        inner = graph.add("Add", inner, graph.constant(np.array([kernel["coef0"]])))
        return graph.add("Pow", inner, graph.constant(np.array([kernel["degree"]])))
    if name == "rbf":
        return graph.add("Exp", _minus_distance(graph, gamma, rows, vectors, dtype))
    if name in ("laplacian", "chi2"):
        return graph.add("Exp", _minus_terms(graph, name, gamma, rows, vectors))
    if name == PRECOMPUTED:
        raise ValueError(
            "kernel='precomputed' has no vectors to compute with, which to_onnx writes; the model "
            "is K[:, support_] @ dual_coef_.T + intercept_"
        )
    raise ValueError(f"kernel={_name(kernel)!r} is a function, which ONNX cannot hold; use a word")


def _minus_distance(
    graph: _Graph, gamma: float, rows: str, vectors: NDArray[Any], dtype: Any
) -> str:
    """-gamma |x - v|^2 as one product, in ``dtype``, however the rows come."""
    middle, weights, bias = (graph.constant(a, dtype) for a in _distances(gamma, vectors))
    element = _TYPES[np.dtype(dtype).name]
    x = graph.add("Sub", graph.cast(rows, element), middle)
    own = graph.add("ReduceSumSquare", x, graph.constant(np.array([1])), keepdims=1)
    exponents = graph.add("Gemm", graph.add("Concat", x, own, axis=1), weights, bias)
    return graph.cast(exponents, graph.element)


def _distances(gamma: float, vectors: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """m, W, b of -gamma |x - v|^2 = [x - m, |x - m|^2] W + b, with m amid the vectors.

    m is a number of float32, so that x - m and v - m speak of the same m in either type.
    """
    middle = vectors.mean(axis=0).astype(np.float32).astype(np.float64)
    V = vectors - middle
    own = np.full((1, len(V)), -gamma)
    return middle, np.vstack([2 * gamma * V.T, own]), -gamma * (V**2).sum(axis=1)


def _exponents_in(kernel: Any, vectors: NDArray[Any], coef: NDArray[Any]) -> Any:
    """The narrowest type that keeps sums close, tried out with some of the vectors as rows.

    Far from the middle a distance is a small difference of large numbers, and coefficients as
    large as C multiply what rounding leaves of it.
    """
    middle, *product = _distances(kernel["gamma"], vectors)
    far = np.argsort(product[1])  # where it is worst, and some from everywhere
    some = vectors[np.concatenate([far[:64], far[:: max(1, len(far) // 64)]])] - middle

    def sums(dtype: Any) -> NDArray[np.float64]:
        x = some.astype(dtype)
        x = np.hstack([x, (x**2).sum(axis=1, keepdims=True)])
        weights, bias = (a.astype(dtype) for a in product)
        return np.asarray(np.exp((x @ weights + bias).astype(np.float64)) @ coef)

    apart = np.abs(sums(np.float32) - sums(np.float64)).max()
    return np.float32 if apart <= _CLOSE else np.float64


def _minus_terms(graph: _Graph, name: str, gamma: float, rows: str, vectors: NDArray[Any]) -> str:
    """-gamma sum_i t(x_i, v_i) feature by feature, so that memory is that of the kernel values."""
    count = graph.add("Shape", rows, start=0, end=1)
    shape = graph.add("Concat", count, graph.constant(np.array([len(vectors)])), axis=0)
    zero = numpy_helper.from_array(np.zeros(1, graph.dtype))
    start = graph.add("ConstantOfShape", shape, value=zero)
    columns = graph.add("Transpose", rows, perm=[1, 0])
    total = helper.make_tensor_value_info
    body = helper.make_graph(
        _term_nodes(name),
        "feature",
        [
            total("sum", graph.element, ["n", len(vectors)]),
            total("x", graph.element, ["n"]),
            total("v", graph.element, [len(vectors)]),
        ],
        [total("more", graph.element, ["n", len(vectors)])],
        [
            numpy_helper.from_array(np.array([1]), "across"),
            numpy_helper.from_array(np.ones(1, graph.dtype), "one"),
            numpy_helper.from_array(np.zeros(1, graph.dtype), "nothing"),
        ],
    )
    values = graph.constant(vectors.T)
    summed = graph.add("Scan", start, columns, values, body=body, num_scan_inputs=2)
    return graph.add("Mul", summed, graph.constant(np.array([-gamma])))


def _term_nodes(name: str) -> list[Any]:
    """One more feature's terms: |x - v|, or (x - v)^2 / (x + v) where 0 / 0 is 0."""
    make = helper.make_node
    first = [
        make("Unsqueeze", ["x", "across"], ["column"]),
        make("Sub", ["column", "v"], ["gap"]),
    ]
    if name == "laplacian":
        return [*first, make("Abs", ["gap"], ["term"]), make("Add", ["sum", "term"], ["more"])]
    return [
        *first,
        make("Add", ["column", "v"], ["both"]),
        make("Equal", ["both", "nothing"], ["empty"]),
        make("Where", ["empty", "one", "both"], ["divisor"]),
        make("Mul", ["gap", "gap"], ["square"]),
        make("Div", ["square", "divisor"], ["ratio"]),
        make("Where", ["empty", "nothing", "ratio"], ["term"]),
        make("Add", ["sum", "term"], ["more"]),
    ]


# --- preparation ---------------------------------------------------------------------------------


@singledispatch
def _features(step: Any, graph: _Graph, rows: Any) -> str:
    """The features that a step makes of rows."""
    raise ValueError(
        f"{type(step).__name__} has no ONNX form: apply it before the graph, and export the steps "
        "behind it"
    )


@_features.register
def _(step: OnlineScaler, graph: _Graph, rows: Any) -> str:
    centred = graph.add("Sub", rows, graph.constant(step.center_))
    return graph.add("Div", centred, graph.constant(step.scale_))


@_features.register
def _(step: OnlineImputer, graph: _Graph, rows: Any) -> str:
    gap = graph.add("IsNaN", rows)
    filled = graph.add("Where", gap, graph.constant(step.statistics_), rows)
    if step.indicator == "none":
        return filled
    return graph.add("Concat", filled, graph.add("Cast", gap, to=graph.element), axis=1)


@_features.register
def _(step: FourierFeatures, graph: _Graph, rows: Any) -> str:
    if step._held is not None:
        raise ValueError("gamma is not settled yet; learn more rows, or set it to a number")
    state, pairs = step._core.state(), step.n_components // 2
    turns = state["frequencies"].astype(np.float64).reshape(-1, pairs)
    # What is left of a whole turn, before a cosine in float32 meets a large angle.
    angle = graph.add("MatMul", rows, graph.constant(turns))
    angle = graph.add("Sub", angle, graph.add("Round", angle))
    angle = graph.add("Mul", angle, graph.constant(np.array([2 * np.pi])))
    scale = graph.constant(np.array([1 / np.sqrt(max(pairs, 1))]))
    waves = [graph.add("Mul", graph.add(wave, angle), scale) for wave in ("Cos", "Sin")]
    if step.n_components % 2:  # the last one is 0
        last = graph.add("MatMul", rows, graph.constant(np.zeros((len(turns), 1))))
        waves.append(last)
    return graph.add("Concat", *waves, axis=1)


@_features.register
def _(step: NystroemFeatures, graph: _Graph, rows: Any) -> str:
    L_inverse = np.zeros((len(step.components_), step.n_components))
    L_inverse[:, : len(step.components_)] = step.normalization_.T
    return _expansion(
        graph,
        step._core_settings["kernel"],
        rows,
        _dense(step.components_),
        L_inverse,
        lambda values: graph.add("MatMul", values, graph.constant(L_inverse)),
    )


@_features.register
def _(step: OnlineOneHot, graph: _Graph, rows: Any) -> str:
    each = step.max_categories + (step.unknown == "infrequent")
    absent = step.max_categories if step.unknown == "infrequent" else each
    numbers = _categories(step, graph, rows, absent)
    on_off = graph.constant(np.array([0.0, 1.0]))
    ones = graph.add("OneHot", numbers, graph.constant(np.array([each])), on_off, axis=-1)
    width = each * step.n_features_in_
    return graph.add("Reshape", ones, graph.constant(np.array([-1, width])))


@_features.register
def _(step: OnlineOrdinal, graph: _Graph, rows: Any) -> str:
    return graph.add("Cast", _categories(step, graph, rows, -1), to=graph.element)


@_features.register
def _(step: OnlineColumns, graph: _Graph, rows: Any) -> str:
    blocks = []
    for part, steps in step.parts_.items():
        columns = [rows[column] for column in step.columns_[part]]
        if not steps or not columns:
            continue
        block = columns[0] if len(columns) == 1 else graph.add("Concat", *columns, axis=1)
        for inner in steps:
            block = _features(inner, graph, block)
        blocks.append(block)
    return blocks[0] if len(blocks) == 1 else graph.add("Concat", *blocks, axis=1)


def _categories(step: Any, graph: _Graph, rows: str, absent: int) -> str:
    """The number of each category, column by column; ``absent`` for one that has none."""
    columns = []
    for j, known in enumerate(step._core.known):
        words = ["" if value is None else str(value) for value in known]
        if len(set(words)) < len(words):
            raise ValueError(
                f"column {j} has two categories that are written alike, as 1 and '1' are, or a "
                "gap beside the empty string; ONNX knows strings only: make them differ"
            )
        one = graph.add("Gather", rows, graph.constant(np.array([j])), axis=1)
        columns.append(
            graph.add(
                "LabelEncoder",
                one,
                domain="ai.onnx.ml",
                keys_strings=words,
                values_int64s=list(known.values()),
                default_int64=absent,
            )
        )
    return columns[0] if len(columns) == 1 else graph.add("Concat", *columns, axis=1)


def _dense(X: Any) -> NDArray[np.float64]:
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


def _name(kernel: Any) -> str:
    function = kernel.get("function")
    return str(kernel["name"] if function is None else getattr(function, "__name__", "function"))
