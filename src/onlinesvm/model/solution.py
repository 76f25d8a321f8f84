"""The function that a model has become: its support vectors, its weights and its bias."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import is_regressor

from ..core import Floats
from . import pairs
from .groups import KernelMethod, LinearOrKernel, LinearStepLearner
from .parameters import lists


def support(model: Any, attribute: str) -> dict[str, Any]:
    """The ids, vectors and coefficients of the examples that a model is made of."""
    if lists(type(model), LinearStepLearner):
        raise AttributeError(f"{type(model).__name__} has no {attribute}: it keeps no examples")
    model._fitted_core(attribute)
    if lists(type(model), LinearOrKernel) and model._keeps_weights():
        raise AttributeError(
            f"{type(model).__name__} has no {attribute}: a linear model keeps weights, "
            "not examples; see coef_"
        )
    found: dict[str, Any] = model._offered("support", attribute, "it keeps no examples")()
    return found


def vectors(model: Any, found: dict[str, Any]) -> Any:
    """The support vectors, one per row; sparse when the model learned from sparse rows."""
    if "vectors" in found:  # kernel values stand behind the number of their example
        return np.asarray(found["vectors"])[:, int(model._is_pairwise()) :]
    parts = (found["data"], found["indices"], found["indptr"])
    return sp.csr_array(parts, shape=(len(found["ids"]), found["width"]))


def weights(model: Any, attribute: str) -> dict[str, NDArray[np.float64]]:
    """The weights that a linear model keeps."""
    core = model._fitted_core(attribute)
    if not model._keeps_weights():
        raise AttributeError(
            f"{type(model).__name__} has {attribute} only with kernel='linear'; see dual_coef_"
        )
    kept: dict[str, NDArray[np.float64]] = core.weights()
    return kept


def dual_coef(model: Any) -> Floats:
    """Signed coefficients of the support vectors, one row per output."""
    if pairs.votes(model):
        return pairs.dual_coef(model)
    coef = np.asarray(support(model, "dual_coef_")["coef"])
    return np.asarray(model._by_output(coef, axis=0))


def coef(model: Any) -> Floats:
    """The weights of each output or pair of classes; of a regressor, those of the only one."""
    core = model._fitted_core("coef_")
    if model._keeps_weights():
        weights = model._by_output(core.weights()["coef"], axis=0)
    else:
        _demand_kernel_method(model, "coef_")
        linear = model._core_settings["kernel"]["name"] == "linear"
        if not linear or not model._scores_are_sums:
            raise AttributeError(
                f"{type(model).__name__} has coef_ only with kernel='linear'; see dual_coef_"
            )
        dual = pairs.coef(model) if pairs.votes(model) else model.dual_coef_
        weights = np.asarray(dual @ model.support_vectors_)
    return np.asarray(weights[0] if is_regressor(model) else weights)


def intercept(model: Any) -> NDArray[np.float64]:
    """The bias of each output or pair: the constant of the kernel, and one of its own."""
    core = model._fitted_core("intercept_")
    if model._keeps_weights():
        return np.asarray(model._by_output(core.weights()["intercept"]))
    _demand_kernel_method(model, "intercept_")
    offset = model._core_settings["kernel"]["offset"]
    if pairs.votes(model):
        return pairs.intercept(model, offset)
    own = model._by_output(np.asarray(core.bias())) if hasattr(core, "bias") else None
    bias = np.zeros(core.outputs) if own is None else own
    return np.asarray(bias + offset * model.dual_coef_.sum(axis=1) if offset else bias)


def n_support(model: Any) -> NDArray[np.int64]:
    """Support vectors of each class; with more than two, of each one-vs-rest problem."""
    if pairs.votes(model):
        return pairs.n_support(model)
    coef = model._by_output(np.asarray(support(model, "n_support_")["coef"]), axis=0)
    if len(coef) == 1:
        return np.array([(coef[0] < 0).sum(), (coef[0] > 0).sum()])
    return np.asarray((coef != 0).sum(axis=1))


def _demand_kernel_method(model: Any, attribute: str) -> None:
    if not lists(type(model), KernelMethod):
        raise AttributeError(f"{type(model).__name__} has no {attribute}")
