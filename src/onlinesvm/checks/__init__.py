"""The contract as a test suite: what every estimator of the library promises, one check each.

Run it on an estimator of your own that follows :class:`onlinesvm.model.estimator.OnlineEstimator`::

    from onlinesvm.checks import check_estimator, parametrize

    check_estimator(MySVC())             # raises at the first broken promise

    @parametrize(MySVC(), MySVC(C=10))   # or one pytest case per promise
    def test_contract(estimator, check):
        check(estimator)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from ..model.wrapping import WrapsModel
from . import inputs, keys, learning, memory, mistakes, persistence
from .streams import fingerprint, pairwise

Check = Callable[[Any], None]

__all__ = ["Check", "check_estimator", "checks_for", "fingerprint", "name_of", "parametrize"]


#: What a pipeline promises differently, and why.
NOT_OF_PIPELINES = {
    "check_one_pass_of_fit_is_partial_fit": "fit prepares by all rows, a stream by its first ones",
    "check_class_weight_is_sample_weight": "sample weights count for the preparation, too",
    "check_balanced_goes_by_running_counts": "sample weights count for the preparation, too",
    "check_frames": "shuffled columns are put in order",
    "check_dicts_into_named_columns": "a column that is missing is refused, and none is 0",
}


#: What a preparation column by column promises differently, and why.
NOT_OF_COLUMNS = {
    "check_one_pass_of_fit_is_partial_fit": "fit settles by all rows, a stream by its first ones",
    "check_silent_before_any_data": "its columns are known when the first rows have come",
    "check_passes_of_fit_leave_the_rows_their_names": "it keeps no examples, and none has an id",
    "check_weight_zero_is_skipped": "it keeps no examples, and none has an id",
    "check_ids": "it keeps no examples, and none has an id",
    "check_verbs_work_or_say_who_can": "it keeps no examples",
    "check_keys_change_nothing_else": "it keeps no examples, and none has a key",
    "check_bad_keys_change_nothing": "it keeps no examples, and none has a key",
    "check_frames": "shuffled columns are put in order",
    "check_dicts_into_named_columns": "names that it does not know are passed over",
    "check_bad_parameters": "its one parameter is no declared one",
    "check_size_is_reported": "it has no core of its own",
}


#: What a model with calibrated probabilities promises differently, and why.
NOT_OF_CALIBRATED = {
    "check_a_heavier_class_is_predicted_more": "calibration puts the classes back in proportion",
    "check_one_pass_of_fit_is_partial_fit": "fit takes its rows in a random order, a stream in its",
}


#: What a model that may begin anew promises differently, and why.
NOT_OF_DRIFT_AWARE = {
    "check_sparse_and_dense_rows_mix": "a model that begins anew keeps rows as they come then",
    "check_balanced_goes_by_running_counts": "a model that begins anew counts anew",
    "check_dicts_have_no_order": "a model that begins anew meets the names anew",
    "check_number_types_do_not_matter": "a pipeline that begins anew holds rows as they come",
}


#: What a model of precomputed kernel values promises differently, and why: it knows beforehand the
#: examples that there will be, a column for each.
NOT_OF_PAIRWISE = {
    "check_fit_forgets": "fit takes a square matrix, and not one of three columns",
    "check_ids": "an id is a column",
    "check_ids_in_use_are_refused": "an id is a column",
    "check_an_unlearned_example_may_come_back": "a new id has no column",
    "check_inputs_are_neither_changed_nor_kept": "one more example has no column",
    "check_one_example_in_any_form": "one more example has no column",
    "check_threads_read_while_one_writes": "more examples have no column",
    "check_bad_keys_change_nothing": "more examples have no column",
    "check_memory_levels_off": "a row is as wide as there are examples",
    "check_dicts_into_named_columns": "columns are examples, and bear no names of features",
}


def checks_for(estimator: Any) -> Iterator[Check]:
    """The checks that apply to an estimator; they copy it, so it stays unlearned."""
    left_out = _left_out(estimator)
    for part in (learning, inputs, mistakes, persistence, memory, keys):
        for name, check in vars(part).items():
            if name.startswith("check_") and name not in left_out and check.applies(estimator):
                yield check


def _left_out(estimator: Any) -> dict[str, str]:
    if isinstance(estimator, WrapsModel):
        own = NOT_OF_CALIBRATED if hasattr(estimator, "predict_set") else NOT_OF_DRIFT_AWARE
        return own | _left_out(estimator.model)
    if hasattr(estimator, "steps"):
        return NOT_OF_PIPELINES
    if hasattr(estimator, "parts"):
        return NOT_OF_COLUMNS
    return NOT_OF_PAIRWISE if pairwise(estimator) else {}


def check_estimator(estimator: Any) -> None:
    """Run every check that applies; an AssertionError tells which promise is broken and how."""
    for check in checks_for(estimator):
        check(estimator)


def name_of(estimator: Any) -> str:
    """The estimator on one line, the same in every process: functions without their address."""
    return re.sub(r"<function (\S+) at 0x\w+>", r"\1", " ".join(repr(estimator).split()))


def parametrize(*estimators: Any) -> Any:
    """A pytest decorator: one case for each estimator and each check that applies to it."""
    import pytest

    cases = [
        pytest.param(estimator, check, id=f"{name_of(estimator)}-{check.__name__}")
        for estimator in estimators
        for check in checks_for(estimator)
    ]
    return pytest.mark.parametrize(("estimator", "check"), cases)
