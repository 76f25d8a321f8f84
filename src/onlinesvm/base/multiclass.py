"""Several classes by binary machines: each class against the rest, or each against each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .batch import Batch
from .certificate import Claim
from .classifier import BatchClassifier
from .expansion import Expansion
from .kernel_method import KernelMethod
from .parameters import word

Floats = NDArray[np.float64]
_MOST_PAIRED = 30  # classes


class Multiclass(KernelMethod, BatchClassifier):
    """A classifier whose machines are one for each class, or one for each pair of classes."""

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

    # Parameters that a pair of classes does not have, and the value that leaves them out.
    _not_of_pairs: ClassVar[Mapping[str, Any]] = {}
    _by_pairs = False

    def pairwise_decision_function(self, X: Any) -> Floats:
        """The decision value of every pair of classes, with ``multiclass="one-vs-one"``.

        As ``SVC(decision_function_shape="ovo")`` gives them: the pairs (0, 1), (0, 2), ..., (1, 2),
        ... of ``classes_``, each positive for its first class. Learns nothing.

        Returns
        -------
        array of shape (n, k (k - 1) / 2) for k classes; for two, what ``decision_function`` gives
        """
        check_is_fitted(self)
        if not self._core.has_pairs:
            raise NotImplementedError(
                f"{type(self).__name__} has one machine for each class; use "
                "multiclass='one-vs-one' for one of each pair"
            )
        if not self._votes():
            return self.decision_function(X)
        rows, _ = self._read_rows(X, fresh=False, learning=False)
        self._use_threads()
        places, signs = self._labels.pairs()
        return np.asarray(rows.score_pairs(self._core)[:, places] * signs + 0.0)

    @property
    def dual_coef_(self) -> Floats:
        """Signed coefficients of the support vectors, one row per output.

        With ``multiclass="one-vs-one"`` and k classes, as ``SVC`` has them: k - 1 rows, which of a
        support vector are its coefficients against the other classes in their order. After
        :meth:`compress`, one row for each pair.
        """
        if not self._votes():
            return super().dual_coef_
        if self._compression is not None:
            return self._pair_coef()
        own, against = self._duels("dual_coef_")
        others = np.arange(len(against) - 1)[:, None]
        return np.take_along_axis(against, others + (others >= own), axis=0)

    @property
    def coef_(self) -> Floats:
        """The weights of each output, or of each pair of classes; with a linear kernel only."""
        if not self._votes() or self._core_settings["kernel"]["name"] != "linear":
            return super().coef_
        return np.asarray(self._pair_coef() @ self.support_vectors_)

    @property
    def intercept_(self) -> Floats:
        """The bias of each output, or of each pair of classes."""
        if not self._votes():
            return super().intercept_
        places, signs = self._labels.pairs()
        bias = self._core.bias()[places] if hasattr(self._core, "bias") else np.zeros(len(places))
        offset = self._core_settings["kernel"]["offset"]
        constant = offset * self._pair_coef().sum(axis=1) if offset else 0.0
        return np.asarray(bias * signs + constant + 0.0)

    @property
    def n_support_(self) -> NDArray[np.int64]:
        """Support vectors of each class, or of each class's machine against the rest.

        After :meth:`compress`, of each pair of classes.
        """
        if not self._votes():
            return super().n_support_
        if self._compression is not None:
            return np.count_nonzero(self._pair_coef(), axis=1)
        own, against = self._duels("n_support_")
        return np.bincount(own, minlength=len(against))

    def _begin(self, batch: Batch) -> None:
        self._by_pairs = self._takes_pairs(batch)
        super()._begin(batch)

    def _takes_pairs(self, batch: Batch) -> bool:
        if self.multiclass != "auto":
            return self.multiclass == "one-vs-one"
        few = 2 < len(batch.labels) <= _MOST_PAIRED and not batch.labels.is_open
        return few and all(getattr(self, n) == none for n, none in self._not_of_pairs.items())

    def _core_params(self, n_features: int) -> dict[str, Any]:
        for name, usual in self._not_of_pairs.items():
            value = getattr(self, name)
            if self.multiclass == "one-vs-one" and value != usual:
                raise ValueError(
                    f"{name}={value!r} is for multiclass='one-vs-rest'; leave it at {usual!r}, or "
                    "change multiclass"
                )
        return super()._core_params(n_features)

    def _core_stem(self) -> str:
        return f"{self._stem}Pairs" if self._by_pairs else self._stem

    def _core_stems(self) -> tuple[str, ...]:
        stems = {"one-vs-rest": self._stem, "one-vs-one": f"{self._stem}Pairs"}
        return tuple(stem for way, stem in stems.items() if self.multiclass in (way, "auto"))

    @property
    def _stated(self) -> Claim | None:
        if self._claim is None or not self._votes():
            return self._claim
        text = self._claim.text.replace("decision_function", "pairwise_decision_function")
        return replace(self._claim, text=text)

    def _expansion(self) -> Expansion:
        if not self._votes():
            return super()._expansion()
        places, signs = self._labels.pairs()
        in_order, coef = np.argsort(places), self._pair_coef() * signs[:, None]
        bias = self._core.bias() if hasattr(self._core, "bias") else np.zeros(len(places))
        whole = Expansion.of(self._core, self._core_settings["kernel"], np.asarray(bias))
        return replace(whole, coef=coef[in_order], classes=len(self._labels))

    def _votes(self) -> bool:
        """Whether several machines vote."""
        core = getattr(self, "_core", None)
        return core is not None and core.has_pairs and core.outputs > 1

    def _by_machine(self, values: NDArray[Any]) -> NDArray[Any]:
        """What the core gives for each machine, in the order of classes or of their pairs."""
        return values[self._labels.pairs()[0]] if self._votes() else self._labels.columns(values)

    def _duels(self, attribute: str) -> tuple[NDArray[np.intp], Floats]:
        """The class of each support vector, and its coefficients against all, by place.

        As ``SVC`` signs them: positive where its own class is the first of the two.
        """
        support = self._support(attribute)
        held, numbers = map(np.asarray, self._core.labels())
        order = np.argsort(held)
        at = np.searchsorted(held, support["ids"], sorter=order)
        number = numbers[order[at]] if len(held) else np.zeros(0, np.int64)
        coef = np.asarray(support["coef"])
        others = np.arange(len(coef))[:, None]
        by_number = np.zeros((len(coef) + 1, len(number)))
        np.put_along_axis(by_number, others + (others >= number), coef, axis=0)
        own = self._labels.places()[number]
        first = own < np.arange(len(by_number))[:, None]
        return own, np.where(first, 1.0, -1.0) * np.abs(self._labels.columns(by_number, axis=0))

    def _pair_coef(self) -> Floats:
        """The coefficients of all support vectors, a row for each pair of classes."""
        if self._compression is not None:
            places, signs = self._labels.pairs()
            coef = np.asarray(self._support("dual_coef_")["coef"])
            return np.asarray(coef[places] * signs[:, None])
        own, against = self._duels("dual_coef_")
        firsts, seconds = np.triu_indices(len(against), 1)
        pairs = zip(firsts, seconds, strict=True)
        rows = [np.where(own == i, against[j], np.where(own == j, against[i], 0)) for i, j in pairs]
        return np.array(rows)

    def _margins(self, X: Any) -> Floats:
        """Of each class the decision value against the rival that it fears most."""
        if not self._votes():
            return super()._margins(X)
        f = self.pairwise_decision_function(X)
        least = np.full((len(f), len(self._labels)), np.inf)
        for p, (i, j) in enumerate(zip(*np.triu_indices(least.shape[1], 1), strict=True)):
            least[:, i] = np.minimum(least[:, i], f[:, p])
            least[:, j] = np.minimum(least[:, j], -f[:, p])
        return least
