"""The losses of regressors that follow a gradient."""

from __future__ import annotations

from typing import Any, Literal

from ...data.arguments import check_number
from ...model.parameters import Parameters, group, number, word


@group
class ErrorLoss(Parameters):
    """A regressor whose loss is one of four, of the error alone."""

    loss: Literal["squared", "epsilon_insensitive", "huber", "pinball"] = word(
        default="squared",
        words=("squared", "epsilon_insensitive", "huber", "pinball"),
        doc="""Of the error r: half its square, which suits targets of any scale; ``|r| - epsilon``
        outside the tube, with ``epsilon=0`` the absolute error; Huber's; pinball, for a quantile
        instead of the mean. The others than the first bound what one example can do.""",
    )
    epsilon: float = number(
        default=0.1,
        at_least=0,
        doc="""Half the width of the tube, >= 0; for Huber's loss, > 0, where it turns linear.""",
    )
    quantile: float = number(
        default=0.5, above=0, below=1, doc="Of the pinball loss, between 0 and 1."
    )

    def _adjust(self, settings: dict[str, Any], n_features: int) -> None:
        if settings["loss"] == "huber":
            check_number("epsilon", self.epsilon, above=0)
