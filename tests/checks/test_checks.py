"""Every check can fail: an estimator that breaks a promise is caught by the check named for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onlinesvm
from onlinesvm import PassiveAggressiveClassifier, RampSVC, _core
from onlinesvm.checks import check_estimator, checks_for
from onlinesvm.data.batch import Batch
from onlinesvm.data.keys import KeyBook
from onlinesvm.data.labels import Labels
from onlinesvm.data.vocabulary import Vocabulary

PA = PassiveAggressiveClassifier
GOOD = PA()
Sabotage = Callable[[pytest.MonkeyPatch], None]


def before(cls: type, name: str, act: Callable[..., Any]) -> Sabotage:
    """Do something wrong each time before a method runs."""

    def apply(patch: pytest.MonkeyPatch) -> None:
        original = getattr(cls, name)

        def broken(self: Any, *args: Any, **kwargs: Any) -> Any:
            act(self, *args)
            return original(self, *args, **kwargs)

        patch.setattr(cls, name, broken)

    return apply


def instead(cls: type, name: str, act: Callable[..., Any]) -> Sabotage:
    """Replace a method."""
    return lambda patch: patch.setattr(cls, name, act)


def relearn(self: Any, X: Any, *args: Any) -> None:
    """Predicting that learns."""
    if self.__sklearn_is_fitted__() and hasattr(X, "shape") and X.ndim == 2 and len(X):
        self._next_id += 1


def spoil(self: Any, X: Any, *args: Any) -> None:
    """Learning that writes into the caller's array."""
    if isinstance(X, np.ndarray) and X.flags.writeable and X.dtype == np.float64:
        X[0] = 0


def remember(self: Any, *args: Any) -> None:
    self._attempts = True


ONE_MORE = np.ones((1, 4)), np.ones(1), np.ones(1), np.zeros(1, np.int64)  # X, y, w, ids

SABOTAGE: dict[str, tuple[Any, Sabotage]] = {
    "check_chunks_give_the_same_bits": (
        PA(),
        before(PA, "_learn_slab", lambda self, *_: self._core.learn_dense(*ONE_MORE)),
    ),
    "check_learn_one_is_partial_fit": (
        PA(),
        before(PA, "learn_one", lambda self, *_: setattr(self, "_id_gap", 7)),
    ),
    "check_predicting_changes_nothing": (PA(), before(PA, "predict", relearn)),
    "check_inputs_are_neither_changed_nor_kept": (PA(), before(PA, "partial_fit", spoil)),
    "check_weight_zero_is_skipped": (
        PA(),
        before(PA, "_learn_slab", lambda self, rows, y, w, ids: w.__iadd__(1.0)),
    ),
    "check_class_weight_is_sample_weight": (PA(), instead(PA, "_weighted", lambda self, b: b)),
    "check_open_classes": (
        PA(),
        instead(Labels, "newcomers", lambda self, y, codes: dict(enumerate(np.unique(y).tolist()))),
    ),
    "check_bad_calls_change_nothing": (
        PA(),
        before(PA, "_read_ids", lambda self, *_: setattr(self, "_id_gap", self._id_gap + 1)),
    ),
    "check_bad_first_calls_start_nothing": (PA(), before(PA, "fit", remember)),
    "check_bad_parameters": (
        PA(),
        instead(PA, "_core_params", lambda self, n, good=GOOD._core_params: good(n)),
    ),
    "check_dicts_have_no_order": (
        PA(),
        instead(
            PA,
            "learn_one",
            lambda self, x, y: self.partial_fit([{**dict.fromkeys([next(iter(x), "f0")], 9)}], [y]),
        ),
    ),
    "check_features_may_come_and_go": (
        PA(),
        instead(Vocabulary, "extend", lambda self, names: None),
    ),
    "check_save_load_go_on": (
        PA(),
        before(PA, "_recall", lambda self, facts: facts.update(next_id=facts["next_id"] + 1)),
    ),
    "check_saving_changes_nothing": (
        PA(),
        before(PA, "save", lambda self, path: setattr(self, "_id_gap", self._id_gap + 1)),
    ),
    "check_copies_go_their_own_way": (
        PA(),
        instead(PA, "_live_state", lambda self: dict(vars(self), _core_state=None)),
    ),
    "check_damaged_files_are_refused": (
        PA(),
        lambda patch: patch.setattr("onlinesvm.model.container._checksum", lambda *_: "same"),
    ),
    "check_verbs_work_or_say_who_can": (
        PA(),
        instead(PA, "objective", lambda self: 0.0 / 0.0),
    ),
    "check_unlearning_leaves_an_optimum": (RampSVC(), instead(RampSVC, "unlearn", lambda s, i: s)),
    "check_ids_in_use_are_refused": (
        RampSVC(),
        instead(
            RampSVC,
            "_read_ids",
            lambda self, ids, n, fresh: np.arange(self._next_id, self._next_id + n),
        ),
    ),
    "check_keys_change_nothing_else": (
        RampSVC(),
        before(RampSVC, "_learn_bearing", lambda self, *_: setattr(self, "_keys", None)),
    ),
    "check_keys_name_the_examples_they_came_with": (
        RampSVC(),
        instead(Batch, "keys_of", lambda self, start, stop: self.keys[start:stop][::-1]),
    ),
    "check_unlearning_by_key_is_unlearning_by_id": (
        RampSVC(),
        instead(RampSVC, "_read_gone", lambda self, ids, keys: np.arange(3)),
    ),
    "check_keys_go_with_the_model": (RampSVC(), instead(RampSVC, "_key_facts", lambda self: {})),
    "check_bad_keys_change_nothing": (RampSVC(), instead(KeyBook, "back_to", lambda *_: None)),
    "check_keys_do_not_pile_up": (
        RampSVC(),
        lambda patch: patch.setattr(KeyBook, "is_due", False),
    ),
    "check_size_is_reported": (PA(), lambda patch: patch.setattr(PA, "nbytes_", 0)),
}


@pytest.mark.parametrize("name", SABOTAGE)
def test_a_broken_promise_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    estimator, break_it = SABOTAGE[name]
    check = next(c for c in checks_for(estimator) if c.__name__ == name)
    check(estimator)
    break_it(monkeypatch)
    with pytest.raises((AssertionError, AttributeError, TypeError, ValueError)):
        check(estimator)


def test_check_estimator_runs_them_all() -> None:
    check_estimator(PassiveAggressiveClassifier())


def test_the_cores_exist() -> None:
    for cls in onlinesvm.all_estimators():
        assert cls._stem in _core.methods
