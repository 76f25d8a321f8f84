"""Other people's learners behind one small protocol, so that every benchmark can race them.

A learner's ``enter(task)`` does what may be done before the clock starts (conversion of the rows)
and returns the call to be timed, which gives back a :class:`Fitted`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinesvm.datasets import Task

CACHE_MB = 1000  # of kernel rows, for everybody who keeps some


@dataclass(frozen=True)
class Fitted:
    """A learner after training: how it predicts, and what it cost."""

    predict: Callable[[NDArray[Any]], NDArray[Any]]
    support: int | None = None
    labels: int | None = None

    def facts(self, task: Task) -> dict[str, Any]:
        """Test accuracy in percent, size and labels, as columns of a report."""
        _, _, X_test, y_test = task.data
        accuracy = 100.0 * float(np.mean(self.predict(X_test) == y_test))
        return {"accuracy": round(accuracy, 2), "SVs": self.support, "labels": self.labels}


@dataclass(frozen=True)
class Learner:
    """One contestant: its name in the table, the module it needs, and how it enters a race."""

    name: str
    enter: Callable[[Task], Callable[[], Fitted]]
    module: str = "sklearn"


def present(learners: Sequence[Learner], missing: Callable[[str], None]) -> list[Learner]:
    """The learners whose module is installed; ``missing`` gets a line for each other one."""
    found = []
    for learner in learners:
        if find_spec(learner.module) is None:
            missing(
                f"{learner.name} left out: {learner.module} is not installed "
                "(pip install 'onlinesvm[bench]')"
            )
        else:
            found.append(learner)
    return found
