"""Pictures of models and of their way through a stream (needs the `report` extra)."""

from onlinesvm.report.bound import plot_bound
from onlinesvm.report.decision import plot_decision
from onlinesvm.report.history import plot_history
from onlinesvm.report.novelty import plot_novelty
from onlinesvm.report.page import write_page
from onlinesvm.report.regression import plot_regression, plot_residuals
from onlinesvm.report.reliability import plot_reliability
from onlinesvm.report.section import Section

__all__ = [
    "Section",
    "plot_bound",
    "plot_decision",
    "plot_history",
    "plot_novelty",
    "plot_regression",
    "plot_reliability",
    "plot_residuals",
    "write_page",
]
