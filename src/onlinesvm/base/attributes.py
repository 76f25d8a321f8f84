"""Fitted attributes under scikit-learn's names."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .state import ModelState


class FittedAttributes(ModelState):
    """What an estimator shows of the model it has learned."""

    @property
    def n_seen_(self) -> int:
        """Examples that arrived, those of weight 0 included; unlearning does not lower it."""
        self._fitted_core("n_seen_")
        return self._next_id - self._id_gap

    @property
    def nbytes_(self) -> int:
        """Bytes held by the core, names, keys, and examples that wait for gamma to be settled."""
        held = 0 if self._held is None else self._held.nbytes
        keys = 0 if self._keys is None else self._keys.nbytes
        names = 0 if self._vocabulary is None else self._vocabulary.nbytes
        return int(self._fitted_core("nbytes_").nbytes) + held + keys + names

    @property
    def support_(self) -> NDArray[np.int64]:
        """Ids of the support vectors."""
        return np.asarray(self._support("support_")["ids"])

    @property
    def support_vectors_(self) -> Any:
        """The support vectors, one per row; sparse when the model learned from sparse rows."""
        support = self._support("support_vectors_")
        if "vectors" in support:  # kernel values stand behind the number of their example
            return np.asarray(support["vectors"])[:, int(self._is_pairwise()) :]
        parts = (support["data"], support["indices"], support["indptr"])
        return sp.csr_array(parts, shape=(len(support["ids"]), support["width"]))

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """Signed coefficients of the support vectors, one row per output."""
        coef = np.asarray(self._support("dual_coef_")["coef"])
        return np.asarray(self._by_output(coef, axis=0))

    @property
    def labels_used_(self) -> int:
        """Labels the model has asked for so far."""
        return int(self._offered("labels_used", "labels_used_", "it asks for every label"))

    def _support(self, attribute: str) -> dict[str, Any]:
        support: dict[str, Any] = self._offered("support", attribute, "it keeps no examples")()
        return support

    def _offered(self, name: str, attribute: str, reason: str) -> Any:
        core = self._fitted_core(attribute)
        if not hasattr(core, name):
            reason = reason if self._compression is None else "compress left it out"
            raise AttributeError(f"{type(self).__name__} has no {attribute}: {reason}")
        return getattr(core, name)

    def _fitted_core(self, attribute: str) -> Any:
        if not self.__sklearn_is_fitted__():
            raise AttributeError(
                f"{type(self).__name__} has no {attribute} yet; call fit or partial_fit first"
            )
        return self._core
