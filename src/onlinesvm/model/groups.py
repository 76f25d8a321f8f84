"""Groups of parameters; a class lists those that it has. long: declarations and their texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from ..kernels import NAMES, KernelFunction, check_kernel
from .compress import compress
from .pairs import pairwise_decision_function
from .parameters import Parameters, count, flag, group, inherit, number, size, special, word
from .room import room
from .tolerance import finish


@group
class WithGamma(Parameters):
    """A learner whose kernel has a ``gamma``, which may be a word that the examples settle."""

    _attributes: ClassVar[Mapping[str, str]] = {
        "gamma_": "float, the value of ``gamma`` in use, where the kernel has one",
    }

    gamma: float | Literal["scale", "auto"] = number(
        default="scale",
        above=0,
        words={"scale": None, "auto": None},
        core="kernel.gamma",
        doc="""Of rbf, poly, laplacian and chi2; the words are scikit-learn's:
        ``1 / (n_features X.var())`` and ``1 / n_features``. ``fit`` takes them from its rows. A
        stream settles them on its first 256 examples, learned afresh after 1, 2, 4, ..., and keeps
        the value from then on; it warns once if the rows so far would give one 10 times as large or
        small. Where the scale of later rows is known beforehand, a number is better.""",
    )

    def _adjust(self, settings: dict[str, Any], n_features: int) -> None:
        kernel = settings["kernel"]
        if kernel["gamma"] is None:  # until the rows say what the word means
            kernel["gamma"] = 1.0 / max(1, n_features)


@group
class AnyKernel(WithGamma):
    """A learner that sees examples through a kernel of the user's choice."""

    kernel: str | KernelFunction = special(
        default="rbf",
        type="callable",
        words=NAMES,
        check=check_kernel,
        bad=["no such word", 3],
        doc="""A callable ``k(x, X)`` gives the values of one example against the rows of ``X``.
        With ``"precomputed"`` rows are kernel values, as in scikit-learn: ``fit`` takes the square
        matrix of all examples; a stream, rows with a column for each example there will ever be,
        column j for the one with id j.""",
    )
    degree: int = count(
        default=3, at_least=1, core="kernel.degree", doc="Of the polynomial kernel."
    )
    coef0: float = number(
        default=0.0, at_least=0, core="kernel.coef0", doc="Constant of the polynomial kernel, >= 0."
    )

    def _adjust(self, settings: dict[str, Any], n_features: int) -> None:
        kernel = settings["kernel"]
        kernel.setdefault("offset", 0.0)
        kernel["degree"] = float(kernel["degree"])
        named = callable(self.kernel)
        which = {"name": "function", "function": self.kernel} if named else {"name": self.kernel}
        settings["kernel"] = which | kernel


@group
class KernelMethod(AnyKernel):
    """A learner whose solution is made of examples, each with a coefficient."""

    _attributes: ClassVar[Mapping[str, str]] = {
        "support_": "ids of the support vectors",
        "support_vectors_, dual_coef_": "the vectors and their signed coefficients",
        "intercept_": "array, the bias of each output",
        "coef_": "array, the weights of each output; with a linear kernel only",
        "compression_": "how far a copy made by :meth:`compress` may be from its model",
    }
    compress = compress


@group
class KernelBias(KernelMethod):
    """A kernel method whose bias, if any, is a constant added to the kernel."""

    bias: Literal["none", "kernel"] = word(
        default="none",
        words={"none": 0.0, "kernel": 1.0},
        core="kernel.offset",
        doc='``"kernel"`` adds 1 to the kernel, a regularised bias.',
    )


@group
class StoresExamples(KernelMethod):
    """A kernel method that keeps examples and solves an optimisation problem over them."""

    tol: float = number(
        default=1e-3,
        above=0,
        doc="""No example violates the optimality conditions by more, but for what rounding leaves.
        Checked in double, on 64 of the examples held, after ``fit`` and each time the stream has
        grown by a quarter: where it is not kept, a ``ConvergenceWarning``. :meth:`kkt_residual`
        measures all of them.""",
    )
    dtype: Literal["float32", "float64"] = inherit(
        default="float32",
        doc="Type of the stored examples and kernel values; the solution is float64 throughout.",
    )
    cache_bytes: int | str = size(
        default=256 << 20,
        shown='"256MiB"',
        doc="""Memory for kernel rows, on top of the examples. It affects speed only, but for the
        ramp loss: where it is too small for the rows of the free support vectors, other steps are
        taken, to another solution within ``tol``.""",
    )
    n_jobs: int | None = inherit(
        default=None,
        doc="""Threads for predicting, and for learning where there are many values to pass; None is
        one, -1 all processors. The results are the same bits.""",
    )


@group
class SoftMargin(StoresExamples):
    """The problem of the support vector machine, where ``C`` prices an error."""

    C: float = number(
        default=1.0,
        above=0,
        kw_only=False,
        doc="Weight of an error against a wide margin, > 0. Sample weights multiply it.",
    )


@group
class FreeBias(KernelMethod):
    """A machine with a bias of its own, which the regulariser does not see."""

    bias: Literal["free", "none"] = word(
        default="free",
        words=("free", "none"),
        doc='``"free"`` is the problem of scikit-learn; ``"none"`` fixes the bias at 0.',
    )


@group
class LinearOrKernel(KernelMethod):
    """A learner that is cheap for a linear kernel and keeps the examples it needs for any other."""

    _attributes: ClassVar[Mapping[str, str]] = {
        "coef_": "array, the weights of each output; linear only",
        "support_": "ids of the examples kept; with a kernel only, as the next",
    }

    kernel: str | KernelFunction = inherit(default="linear")
    dtype: Literal["float32", "float64"] = inherit(
        default="float64",
        doc="""Type of the examples, and of those kept with a kernel; weights are float64
        throughout.""",
    )


@group
class Multiclass(KernelMethod):
    """A classifier whose machines are one for each class, or one for each pair of classes."""

    pairwise_decision_function = pairwise_decision_function

    multiclass: Literal["auto", "one-vs-rest", "one-vs-one"] = word(
        default="auto",
        words=("auto", "one-vs-rest", "one-vs-one"),
        core=None,
        doc="""``"one-vs-rest"`` has one machine for each class against all others, ``"one-vs-one"``
        one for each pair of classes, learned from the rows of the two alone, as scikit-learn's
        ``SVC`` has them: they vote, and the sums of their decision values order those with equal
        votes. ``"auto"`` takes pairs for 3 to 30 classes that are all known when learning begins,
        since one-vs-rest loses classes that are rare or overlap. It takes one-vs-rest where classes
        may still appear (``classes="open"``, ``learn_one`` from the start), and where ``query``,
        ``budget``, ``max_support`` or ``keep_non_support`` is set, since these are bounds of one
        model. Rows are kept once, but each of k classes has k - 1 machines, which hold about 400
        bytes per row of theirs. What scikit-learn calls ``decision_function_shape="ovo"`` is
        :meth:`pairwise_decision_function`.""",
    )

    def _adjust(self, settings: dict[str, Any], n_features: int) -> None:
        for name, usual in self._not_of_pairs.items():
            value = getattr(self, name)
            if self.multiclass == "one-vs-one" and value != usual:
                raise ValueError(
                    f"{name}={value!r} is for multiclass='one-vs-rest'; leave it at {usual!r}, or "
                    "change multiclass"
                )


@group
class WithBudget(KernelMethod):
    """A learner that keeps so many examples and no more."""

    budget: int | str | None = room(
        default=500,
        doc="""Examples kept at most, >= 2; or the memory of the model, such as ``"64MB"``, which
        ``nbytes_`` then never exceeds, but for keys and the rows that settle a ``gamma`` by word;
        dicts, whose names have no end, are refused then. Each
        example costs as many kernel values as are kept; accuracy grows with them, ever more
        slowly.""",
    )

    def _adjust(self, settings: dict[str, Any], n_features: int) -> None:
        settings |= self._parameters["budget"].value("budget", self.budget)
        if settings["budget_bytes"] and "cache_bytes" in settings:  # a part of the same memory
            settings["cache_bytes"] = min(settings["cache_bytes"], settings["budget_bytes"] // 4)


@group
class PassByPass(Parameters):
    """``fit`` makes passes until they no longer pay; ``partial_fit`` makes one, in order.

    One pass depends on the order of its rows, so those of ``fit`` take them in random ones. The
    core sums up what the examples cost when they came, before each was learned (``suffered``).
    """

    _attributes: ClassVar[Mapping[str, str]] = {"n_iter_": "int, passes that ``fit`` made"}

    max_iter: int = count(
        default=1000,
        at_least=1,
        core=None,
        doc="""Passes of :meth:`fit` over its rows, at most; a ``ConvergenceWarning`` tells when
        they were not enough. ``partial_fit`` and ``learn_one`` make one, in order.""",
    )
    shuffle: bool = flag(
        default=True,
        core=None,
        doc="""Whether each pass of :meth:`fit` takes the rows in a new random order.
        ``partial_fit`` never does.""",
    )
    random_state: int = count(
        default=0,
        core=None,
        doc="Seed of the orders of :meth:`fit`; the same seed and rows give the same model.",
    )


@group
class StepByStep(PassByPass):
    """Passes as :class:`sklearn.linear_model.SGDClassifier` makes them, by the same criterion.

    What a pass costs is gathered while it learns: the loss of every example before its own step.
    That is a test on fresh examples in the first pass and costs nothing in any; the objective would
    take a pass of its own. ``fit`` ends when for ``n_iter_no_change`` passes in a row the mean
    loss has not fallen ``tol`` below the best.
    """

    _attributes: ClassVar[Mapping[str, str]] = {
        "mistakes_": "int, of a classifier: examples it got wrong, each before it was learned",
    }

    tol: float | None = number(
        default=1e-3,
        above=0,
        none=None,
        core=None,
        doc=""":meth:`fit` ends when for ``n_iter_no_change`` passes in a row the mean loss of the
        examples, each taken before its own step, has not fallen ``tol`` below the best. None makes
        all ``max_iter`` passes.""",
    )
    n_iter_no_change: int = count(
        default=5, at_least=1, core=None, doc="Passes without progress before :meth:`fit` ends."
    )


@group
class Averaging(StepByStep):
    """One step per example, and a mean over all rounds that predicts."""

    average: bool = flag(
        default=True,
        doc="""Predict with the mean of the weights of all rounds, which the last noisy step cannot
        spoil; it costs next to nothing. False predicts with the newest: for streams that drift,
        which a mean over the whole past follows too late.""",
    )


@group
class StepLearner(KernelBias, LinearOrKernel, Averaging):
    """With weights if the kernel is linear, with the examples it needs otherwise."""

    bias: Literal["none", "kernel"] = inherit(
        default="kernel", doc='``"kernel"`` adds a constant feature 1, regularised like any other.'
    )


@group
class LinearStepLearner(Averaging):
    """With weights alone: the step is none that kernels know."""

    _attributes: ClassVar[Mapping[str, str]] = {
        "coef_": "array, the weights of each output",
        "intercept_": "array, the bias of each output",
    }

    bias: Literal["none", "constant"] = word(
        default="constant",
        words={"none": 0.0, "constant": 1.0},
        core="kernel.offset",
        doc='``"constant"`` adds a feature that is always 1, with a weight like any other.',
    )

    dtype: Literal["float32", "float64"] = inherit(
        default="float64", doc="Type of the examples; weights are float64 throughout."
    )

    def _adjust(self, settings: dict[str, Any], n_features: int) -> None:
        settings["kernel"] = {"name": "linear", **settings["kernel"]}


@group
class TowardsOptimum(SoftMargin, PassByPass):
    """Near the optimum after one pass, optimal over what it holds after :meth:`finish`.

    ``fit`` finishes after each pass, and ends with the pass that met no violator: the model is then
    optimal over all rows.
    """

    finish = finish

    max_iter: int = inherit(
        default=50,
        doc="""Passes of :meth:`fit` over its rows, at most; it ends with the pass that met no
        violator, and a ``ConvergenceWarning`` tells when none did. 1 is one pass, then
        :meth:`finish`.""",
    )


@group
class Settling(SoftMargin):
    """A machine that may wait for the end of a call before it is optimal."""

    settle: Literal["call", "example"] = word(
        default="call",
        words=("call", "example"),
        doc="""``"call"``: ``fit`` and ``partial_fit`` are optimal at their end, and ``learn_one``
        after its example. ``"example"`` is optimal after every row, which costs several times as
        much, and gives the same bits however a stream is cut into calls; another cut by
        ``"call"`` gives the same solution within ``tol``.""",
    )

    def _adjust(self, settings: dict[str, Any], n_features: int) -> None:
        settings["settle"] = "call" if self._solves_calls else "example"
