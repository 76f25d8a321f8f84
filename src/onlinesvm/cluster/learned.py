"""What learning over many machines gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .certificate import ClusterCertificate


@dataclass(frozen=True)
class Learned:
    """A model learned from all parts, and what it took.

    Attributes
    ----------
    model : a fitted estimator of the class that was given
    certificate : ClusterCertificate of an exact machine, else None
    rounds : int, how often a model went to the parts
    bytes_down, bytes_up : int, what travelled to the parts and from them
    """

    model: Any
    certificate: ClusterCertificate | None
    rounds: int
    bytes_down: int
    bytes_up: int
