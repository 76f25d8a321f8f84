"""Sparse matrices whose members lie: refused in one line, whatever form the model keeps."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from onlinesvm import PassiveAggressiveClassifier, RampSVC

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
y = (X[:, 0] > 0).astype(int)


def plain() -> sp.csr_array:
    return sp.csr_array((np.ones(4), [0, 1, 0, 2], [0, 2, 4]), shape=(2, 3))


def far_column(form: str) -> sp.csr_array:
    matrix = plain().asformat(form)
    matrix.indices = np.array([0, 1, 0, 10**6], np.int32)
    return matrix


def negative_column(form: str) -> sp.csr_array:
    matrix = plain().asformat(form)
    matrix.indices = np.array([0, 1, -(10**6), 1], np.int32)
    return matrix


def starts_beyond(form: str) -> sp.csr_array:
    matrix = plain().asformat(form)
    matrix.indptr = matrix.indptr.copy()
    matrix.indptr[1] = 10**7
    return matrix


def ends_beyond(form: str) -> sp.csr_array:
    matrix = plain().asformat(form)
    matrix.indptr = matrix.indptr.copy()
    matrix.indptr[-1] = 10**7
    return matrix


def far_entry(form: str) -> sp.coo_array:
    matrix = plain().tocoo()
    matrix.coords = (matrix.coords[0], np.array([0, 1, 0, 10**6], np.int32))
    return matrix


LIES = [
    pytest.param(lie, form, id=f"{form} {lie.__name__}")
    for lie in (far_column, negative_column, starts_beyond, ends_beyond)
    for form in ("csr", "csc", "bsr")
] + [pytest.param(far_entry, "coo", id="coo far_entry")]


@pytest.mark.parametrize("learned", [X, sp.csr_array(X)], ids=["dense", "sparse"])
@pytest.mark.parametrize(("lie", "form"), LIES)
def test_a_matrix_that_lies_is_refused(lie, form, learned):
    for cls in (PassiveAggressiveClassifier, RampSVC):
        model = cls().fit(learned, y)
        before = model.decision_function(X)
        for call in (model.predict, lambda M, model=model: model.partial_fit(M, [0, 1])):
            with pytest.raises(ValueError, match="X is a broken sparse matrix"):
                call(lie(form))
        np.testing.assert_array_equal(model.decision_function(X), before)


def test_room_for_more_entries_is_no_lie():
    matrix = plain()
    roomy = plain()
    roomy.data, roomy.indices = np.append(matrix.data, 9.0), np.append(matrix.indices, 99)
    for learned in (X, sp.csr_array(X)):
        model = RampSVC().fit(learned, y)
        np.testing.assert_array_equal(
            model.decision_function(roomy), model.decision_function(matrix)
        )
