"""Streams of examples, and the honest way to score a model on one: test first, then train."""

from onlinesvm.stream.evaluation import Evaluation, evaluate
from onlinesvm.stream.prequential import Lesson, Snapshot, lessons, prequential
from onlinesvm.stream.sources import open_source

__all__ = ["Evaluation", "Lesson", "Snapshot", "evaluate", "lessons", "open_source", "prequential"]
