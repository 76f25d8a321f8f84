"""What a model learned over many machines can prove of itself, over all rows of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..unlearn.certificate import Sealed
from ..unlearn.settled import explained

WHOLE = (
    "f* is the exact solution over all rows of all parts. No row of part p violates its optimality "
    "condition by more than violations[p]; decision_function(x) without its bias is within "
    "distance * sqrt(k(x, x)) of f*(x) without its own."
)


@dataclass(frozen=True)
class ClusterCertificate(Sealed):
    """Evidence of how near a model is to the solution over every row of every part.

    Each part judged the model over its own rows, in double, in the last round; nothing of the
    solver was believed. :func:`onlinesvm.cluster.verify` asks the parts again. It reads like a
    dict, prints as text, and :meth:`save` writes it as JSON.

    Attributes
    ----------
    method : str, the class of the model
    statement : str, what the figures say, and for which settled values
    settled : dict
        What was settled on rows that include removed ones and still stands, as in
        :class:`onlinesvm.Certificate`: the ``gamma`` and class weights of all parts as they were,
        the steps of a pipeline.
    tol : float, what no violation was to exceed
    kkt_residual : float, the largest violation over all rows of all parts
    violations : list of float, the largest of each part
    rows : list of int, the rows of each part that count
    n_support : int, support vectors
    objective : float, of the dual
    duality_gap : float, between primal and dual over all rows; the largest over the outputs
    distance : float, at most so far from the solution in the space of the kernel: sqrt(2 gap)
    ids_removed : list of int, rows unlearned: no part brought them, none is in the model
    rounds : int, how often the model went to the parts
    bytes_down, bytes_up : int, what travelled to the parts and from them
    data_hash : str, SHA-256 of the rows, labels and weights of all parts
    solution_hash : str, SHA-256 of the support vectors, coefficients and bias
    seal : str, SHA-256 of all of the above
    """

    method: str
    statement: str
    settled: dict[str, Any]
    tol: float
    kkt_residual: float
    violations: list[float]
    rows: list[int]
    n_support: int
    objective: float
    duality_gap: float
    distance: float
    ids_removed: list[int]
    rounds: int
    bytes_down: int
    bytes_up: int
    data_hash: str
    solution_hash: str
    seal: str = ""

    def naming(self, more: Mapping[str, Any]) -> ClusterCertificate:
        """The same, naming also these values that were settled on removed rows."""
        settled = self.settled | dict(more)
        statement = f"{WHOLE} All this is for {explained(settled)}." if settled else WHOLE
        return replace(self, statement=statement, settled=settled).sealed()

    @property
    def holds(self) -> bool:
        """Whether no row of any part violates its condition by more than ``tol``."""
        return self.kkt_residual <= self.tol
