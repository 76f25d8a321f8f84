"""Rows taken out of all parts and out of the model, and the proof that they are gone."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from ..compose.pipeline import OnlinePipeline
from ..data.arguments import check_count
from ..data.keys import read_wanted
from ..unlearn.certificate import CertificateError
from .cascade import Root, demand_exact, feedback, judged
from .certificate import ClusterCertificate
from .judging import Solution
from .learned import Learned
from .parts import Metered, Parts
from .preparing import Prepared
from .survey import Survey


def unlearn(parts: Parts, model: Any, keys: Any, *, max_rounds: int = 100) -> Learned:
    """The model without the rows of some keys: as if no part had ever had them, but for what was
    settled on all rows, which the certificate names.

    The parts are read again without these rows; those that the model holds are unlearned, and the
    cascade goes on from there, until no remaining row of any part violates by more than ``tol``.
    Costs a few rounds, and none of the leaves.

    Parameters
    ----------
    parts : Parts
        Those that the model was learned from, the rows to be forgotten still in them: delete them
        at their source afterwards. Where the parts bring ids of their own, they may be gone before.
    model : SmoSVC or IncrementalSVC, or an OnlinePipeline that ends with one
        From :func:`fit`, :func:`cascade`, or from an earlier call of this. It is not changed. The
        preparation of a pipeline stays as it is.
    keys : key or list of keys
        A tuple is one key. A key that no row of any part bears is refused by name.
    max_rounds : int, default=100

    Returns
    -------
    Learned
        Its certificate is about the rows that remain; ``ids_removed`` lists the others, none of
        which the model holds.
    """
    if isinstance(model, OnlinePipeline):
        prepared = Prepared(parts, model)
        learned = unlearn(prepared, prepared.last, keys, max_rounds=max_rounds)
        return prepared.behind(_naming_steps(learned, model))
    demand_exact(model)
    check_count("max_rounds", max_rounds, at_least=1)
    wanted, metered = read_wanted(keys), Metered(parts)
    survey = Survey.of(metered, model, keys_gone=wanted)
    known = survey.found | set(model.keys_held())
    for key in wanted:
        if key not in known:
            raise ValueError(
                f"keys has {key!r}, which no row of any part bears: it never came, or is forgotten "
                "already"
            )
    root = Root.going_on(copy.deepcopy(model))
    root.forget(np.union1d(survey.leaving, model.ids_of(wanted)))
    return feedback(metered, root, survey, max_rounds)


def _naming_steps(learned: Learned, pipeline: OnlinePipeline) -> Learned:
    """With a certificate that names the steps, which no part fits anew."""
    assert learned.certificate is not None
    removed = np.array(learned.certificate.ids_removed, dtype=np.int64)
    steps = pipeline._settled_on(removed)
    return replace(learned, certificate=learned.certificate.naming(steps))


def verify(certificate: ClusterCertificate, model: Any, parts: Parts) -> bool:
    """Check that a certificate holds for a model and the rows of all parts, in one more round.

    Every part judges the model anew, in double; nothing of the solver is believed. What cannot be
    checked is the past: that the rows removed were once there, and that nobody kept a copy.

    Returns
    -------
    True

    Raises
    ------
    CertificateError
        One sentence on what does not hold.
    """
    if isinstance(model, OnlinePipeline):
        prepared = Prepared(parts, model)
        return verify(certificate, prepared.last, prepared)
    demand_exact(model)
    if certificate.sealed().seal != certificate.seal:
        raise CertificateError("the certificate was altered: its seal does not fit its content")
    if type(model).__name__ != certificate.method:
        raise CertificateError(
            f"the certificate is about a {certificate.method}, not a {type(model).__name__}"
        )
    removed = np.array(certificate.ids_removed, dtype=np.int64)
    if len(removed) and model._core.holds(removed):
        raise CertificateError("the model holds an example that was removed")
    if Solution.of(model).digest() != certificate.solution_hash:
        raise CertificateError("the model has other coefficients than those certified")
    unsaid = model._settled_on(removed).keys() - certificate.settled.keys()
    if unsaid:
        raise CertificateError(
            f"{', '.join(sorted(unsaid))} was settled on rows that include removed ones, and the "
            "certificate does not say so"
        )
    survey = Survey.of(parts, model, ids_gone=removed)
    if survey.digest != certificate.data_hash:
        raise CertificateError("the parts hold other rows than those certified")
    reports = judged(parts, Root.going_on(model), survey)
    for number, (report, certified) in enumerate(zip(reports, certificate.violations, strict=True)):
        if not report.violation <= certified:
            raise CertificateError(
                f"a row of part {number} violates its condition by {report.violation:.3g}, and "
                f"{certified:.3g} is certified"
            )
    return True
