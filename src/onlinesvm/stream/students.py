"""Whoever can be tested and taught on a stream, behind two verbs: `answer` and `learn`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_outlier_detector, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from onlinesvm.stream.containers import count_rows, one_by_one, records
from onlinesvm.stream.metrics import UNUSUAL, USUAL

__all__ = ["Answers", "Kind", "Student", "enrol", "kind_of"]

Kind = Literal["classifier", "regressor", "detector"]


class Answers(NamedTuple):
    """What a model says of some examples.

    Attributes
    ----------
    guess : list
    score : list of float, optional
        For the second of two classes, or for being usual.
    chances : list of dict, optional
        The probability of each label.
    """

    guess: list[Any]
    score: list[float] | None = None
    chances: Sequence[Mapping[Any, float]] | None = None


class Student:
    """A model with scikit-learn's verbs; rows that come alone take its short ways, if it has some.

    `needs` are the columns of marks that somebody will read.
    """

    def __init__(self, model: Any, classes: NDArray[Any] | None, needs: set[str]) -> None:
        self.model = model
        self._classes = classes  # to be named with the first lesson
        self._needs = needs
        self._alone = hasattr(model, "learn_one") and hasattr(model, "predict_one")

    @property
    def last_step(self) -> Any:
        """The model itself, without what prepares its rows."""
        return _last_step(self.model)

    def go_on(self) -> None:
        """It has learned before, so there is no first lesson to name the classes with."""
        self._classes = None

    def answer(self, X: Any) -> Answers:
        """Its answers, before it hears the labels."""
        raise NotImplementedError

    def learn(self, X: Any, y: Any, keys: Any = None, weights: Any = None) -> None:
        """Teach it."""
        named = {} if keys is None else {"keys": keys}
        if weights is not None:
            named["sample_weight"] = weights
        if self._classes is not None:
            self._learn_many(X, y, classes=self._classes, **named)
            self._classes = None
        elif not named and self._comes_alone(X):
            self._learn_one(X[0], None if y is None else y[0])
        else:
            self._learn_many(X, y, **named)

    def _learn_one(self, x: Any, y: Any) -> None:
        self.model.learn_one(x, y)

    def _learn_many(self, X: Any, y: Any, **options: Any) -> None:
        if _has_to_be_taught_by_steps(self.model):
            X = _teach_steps(self.model, X)
            _last_step(self.model).partial_fit(X, y, **options)
        else:
            self.model.partial_fit(X, y, **options)

    def _comes_alone(self, X: Any) -> bool:
        return self._alone and count_rows(X) == 1 and one_by_one(X)


class ClassifierStudent(Student):
    """A classifier."""

    def __init__(self, model: Any, classes: NDArray[Any] | None, needs: set[str]) -> None:
        super().__init__(model, classes, needs)
        self._has = {
            verb: hasattr(_last_step(model), verb)
            for verb in ("predict", "decision_function", "predict_proba", "decide_one")
        }

    def answer(self, X: Any) -> Answers:
        if "likelihood" in self._needs and self._has["predict_proba"]:
            return self._with_chances(X)
        if self._comes_alone(X):
            return self._answer_one(X[0])
        return self._answer_many(X)

    def _answer_one(self, x: Any) -> Answers:
        if self._has["decide_one"] and self._ranks():
            score = self.model.decide_one(x)
            return Answers([_plain(self.model.classes_[int(score > 0)])], [score])
        return Answers([_plain(self.model.predict_one(x))])

    def _answer_many(self, X: Any) -> Answers:
        by_score = self._ranks() or not self._has["predict"]
        if self._has["decision_function"] and by_score:
            f = np.asarray(self.model.decision_function(X))
            winners = (f > 0).astype(np.intp) if f.ndim == 1 else f.argmax(axis=1)
            guess = self.model.classes_[winners].tolist()
            return Answers(guess, f.tolist() if f.ndim == 1 else None)
        if self._has["predict_proba"] and by_score:
            return self._with_chances(X)
        return Answers(np.asarray(self.model.predict(X)).tolist())

    def _with_chances(self, X: Any) -> Answers:
        """One call where probabilities are all there is; else the label is the model's own."""
        chances = np.asarray(self.model.predict_proba(X))
        labels = self.model.classes_.tolist()
        rows = [dict(zip(labels, row, strict=True)) for row in chances.tolist()]
        if self._has["decision_function"]:
            return self._answer_many(X)._replace(chances=rows)
        guess = [labels[k] for k in chances.argmax(axis=1)]
        return Answers(guess, chances[:, 1].tolist() if len(labels) == 2 else None, rows)

    def _ranks(self) -> bool:
        return "score" in self._needs and len(self.model.classes_) == 2


class RegressorStudent(Student):
    """A regressor."""

    def answer(self, X: Any) -> Answers:
        if self._comes_alone(X):
            return Answers([float(self.model.predict_one(X[0]))])
        return Answers(np.asarray(self.model.predict(X), dtype=np.float64).ravel().tolist())


class DetectorStudent(Student):
    """An outlier detector, which learns without labels."""

    def answer(self, X: Any) -> Answers:
        if self._comes_alone(X) and hasattr(self.model, "decide_one"):
            score = self.model.decide_one(X[0])
            return Answers([UNUSUAL if score < 0 else USUAL], [score])
        if "score" in self._needs:
            f = np.asarray(self.model.decision_function(X))
            return Answers(np.where(f < 0, UNUSUAL, USUAL).tolist(), f.tolist())
        return Answers(np.asarray(self.model.predict(X)).tolist())

    def learn(self, X: Any, y: Any, keys: Any = None, weights: Any = None) -> None:
        super().learn(X, None, keys, weights)


class RiverStudent(Student):
    """A river model: dicts, one by one, even where several come at once."""

    def __init__(self, model: Any, kind: Kind, needs: set[str]) -> None:
        super().__init__(model, None, needs)
        self._kind = kind
        self._guesses_chances = "likelihood" in needs or "score" in needs

    def answer(self, X: Any) -> Answers:
        examples = records(X)
        if self._kind == "detector":
            return self._scored([self.model.score_one(x) for x in examples])
        if self._kind == "regressor":
            return Answers([float(self.model.predict_one(x)) for x in examples])
        guess = [_plain(self.model.predict_one(x)) for x in examples]
        if not (self._guesses_chances and hasattr(self.model, "predict_proba_one")):
            return Answers(guess)
        try:
            chances = [dict(self.model.predict_proba_one(x)) for x in examples]
        except NotImplementedError:  # river's way to say that there are none
            self._guesses_chances = False
            return Answers(guess)
        labels = {label for row in chances for label in row}
        second = max(labels) if len(labels) == 2 else None
        score = None if second is None else [row.get(second, 0.0) for row in chances]
        return Answers(guess, score, chances)

    def learn(self, X: Any, y: Any, keys: Any = None, weights: Any = None) -> None:
        if weights is not None:
            raise ValueError("weights are not for a river model, which takes one example at a time")
        if self._kind == "detector":
            for x in records(X):
                self.model.learn_one(x)
            return
        for x, label in zip(records(X), np.asarray(y).tolist(), strict=True):
            self.model.learn_one(x, label)

    def _scored(self, unusual: list[float]) -> Answers:
        last = _last_of_river(self.model)
        if hasattr(last, "classify"):
            guess: list[int | None] = [UNUSUAL if last.classify(s) else USUAL for s in unusual]
        else:
            guess = [None] * len(unusual)  # a score, and no threshold to it
        return Answers(guess, [-s for s in unusual])


_STUDENTS: Mapping[Kind, type[Student]] = {
    "classifier": ClassifierStudent,
    "regressor": RegressorStudent,
    "detector": DetectorStudent,
}


def enrol(name: str, model: Any, classes: NDArray[Any] | None, needs: set[str]) -> Student:
    """The model behind the two verbs; one that cannot go on learning is refused."""
    kind = kind_of(model)
    if _has_to_be_taught_by_steps(model):
        _check_steps(name, model)
    elif not hasattr(model, "partial_fit"):
        if not hasattr(model, "learn_one"):
            raise ValueError(
                f"models has {name!r}, which has neither partial_fit nor learn_one; "
                "choose a model that goes on learning"
            )
        return RiverStudent(model, kind, needs)
    return _STUDENTS[kind](model, classes if kind == "classifier" else None, needs)


def kind_of(model: Any) -> Kind:
    """What a model answers with; whoever does not say is taken for a classifier."""
    if hasattr(model, "__sklearn_tags__"):
        detects, regresses = is_outlier_detector(model), is_regressor(model)
    else:
        last = _last_of_river(model)
        detects = hasattr(last, "score_one")
        river = sys.modules.get("river.base")  # whoever has a model of river's has loaded it
        regresses = river is not None and isinstance(last, river.Regressor)
    return "detector" if detects else "regressor" if regresses else "classifier"


def _last_of_river(model: Any) -> Any:
    """The last step of a river pipeline, or the model itself."""
    steps = getattr(model, "steps", None)
    return list(steps.values())[-1] if isinstance(steps, Mapping) else model


# --- scikit-learn's pipelines ---------------------------------------------------------------------


def _has_to_be_taught_by_steps(model: Any) -> bool:
    """Whether it is a pipeline that cannot go on learning by itself."""
    return isinstance(model, Pipeline) and not hasattr(model, "partial_fit")


def _last_step(model: Any) -> Any:
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


def _check_steps(name: str, pipeline: Pipeline) -> None:
    """Every step must go on learning, or have nothing to learn."""
    for step, part in pipeline.steps:
        if part in (None, "passthrough") or hasattr(part, "partial_fit"):
            continue
        if part is _last_step(pipeline) or not _is_ready(part):
            raise ValueError(
                f"models has {name!r}, whose step {step!r} has no partial_fit; "
                "fit it beforehand, or put one there that goes on learning"
            )


def _is_ready(part: Any) -> bool:
    try:
        check_is_fitted(part)
    except NotFittedError:
        return False
    return True


def _teach_steps(pipeline: Pipeline, X: Any) -> Any:
    """Let all steps but the last learn these rows; gives the rows as the last one sees them."""
    for _, part in pipeline.steps[:-1]:
        if part in (None, "passthrough"):
            continue
        if hasattr(part, "partial_fit"):
            part.partial_fit(X)
        X = part.transform(X)
    return X


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
