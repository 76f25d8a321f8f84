"""Several classes by binary machines: each class against the rest, or each against each."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .classifier import BatchClassifier
from .kernel_method import KernelMethod
from .parameters import word

Floats = NDArray[np.float64]


class Multiclass(KernelMethod, BatchClassifier):
    """A classifier whose machines are one for each class, or one for each pair of classes."""

    multiclass: Literal["one-vs-rest", "one-vs-one"] = word(
        default="one-vs-rest",
        words=("one-vs-rest", "one-vs-one"),
        core=None,
        doc="""One machine for each class against all others, or one for each pair of classes,
        learned from the rows of the two alone, as scikit-learn's ``SVC`` has them: they vote, and
        the sums of their decision values order those with equal votes. Take ``"one-vs-one"`` where
        classes overlap and are rare or of unlike size, which one-vs-rest drowns in the others; not
        for text, where a pair of small classes knows too little. Rows are kept once, but each of k
        classes has k - 1 machines, which hold about 400 bytes per row of theirs. What scikit-learn
        calls ``decision_function_shape="ovo"`` is :meth:`pairwise_decision_function`.""",
    )

    def pairwise_decision_function(self, X: Any) -> Floats:
        """The decision value of every pair of classes, with ``multiclass="one-vs-one"``.

        As ``SVC(decision_function_shape="ovo")`` gives them: the pairs (0, 1), (0, 2), ..., (1, 2),
        ... of ``classes_``, each positive for its first class. Learns nothing.

        Returns
        -------
        array of shape (n, k (k - 1) / 2) for k classes; for two, what ``decision_function`` gives
        """
        check_is_fitted(self)
        self._demand_whole("tell pairs of classes apart")
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
        support vector are its coefficients against the other classes in their order.
        """
        if not self._votes():
            return super().dual_coef_
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
        """Support vectors of each class, or of each class's machine against the rest."""
        if not self._votes():
            return super().n_support_
        own, against = self._duels("n_support_")
        return np.bincount(own, minlength=len(against))

    def _core_stem(self) -> str:
        return f"{self._stem}Pairs" if self.multiclass == "one-vs-one" else self._stem

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
        own, against = self._duels("dual_coef_")
        firsts, seconds = np.triu_indices(len(against), 1)
        pairs = zip(firsts, seconds, strict=True)
        rows = [np.where(own == i, against[j], np.where(own == j, against[i], 0)) for i, j in pairs]
        return np.array(rows)

    # --- what only one machine for each class has ---------------------------------------------

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

    def _verb(self, name: str) -> Any:
        if self.__sklearn_is_fitted__() and self.can(name):
            self._demand_machines_of_classes(name)
        return super()._verb(name)

    def _demand_compressible(self, *, everywhere: bool) -> None:
        if self._votes():
            self._demand_machines_of_classes("compress")
        super()._demand_compressible(everywhere=everywhere)

    def _demand_machines_of_classes(self, verb: str) -> None:
        if self._core.has_pairs and (verb == "compress" or not hasattr(self._core, verb)):
            raise NotImplementedError(
                f"{type(self).__name__} has no {_NAMES.get(verb, verb)} with "
                "multiclass='one-vs-one'; multiclass='one-vs-rest' has"
            )

    def _refuse_with_pairs(self, name: str, usual: Any) -> None:
        """A ValueError for a parameter that has no meaning for a pair of classes."""
        value = getattr(self, name)
        if self.multiclass == "one-vs-one" and value != usual:
            raise ValueError(
                f"{name}={value!r} is for multiclass='one-vs-rest'; leave it at {usual!r}, or "
                "change multiclass"
            )


_NAMES = {"evidence": "certificate"}
