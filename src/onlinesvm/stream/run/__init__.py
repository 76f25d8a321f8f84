"""Runs that survive: every lesson in a log, everything learned in checkpoints, nothing lost."""

from onlinesvm.stream.run.moment import Moment
from onlinesvm.stream.run.options import RunOptions
from onlinesvm.stream.run.record import RunRecord, read_run
from onlinesvm.stream.run.run import Run

__all__ = ["Moment", "Run", "RunOptions", "RunRecord", "read_run"]
