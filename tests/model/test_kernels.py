"""The compiled kernels against NumPy and scikit-learn, on every instruction set of this machine."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics import pairwise

from onlinesvm.reference import Kernel

_probes = pytest.importorskip("onlinesvm._probes", reason="no onlinesvm._probes: `make build`")
Array = NDArray[Any]

KERNELS: dict[str, dict[str, Any]] = {
    "linear": {"name": "linear"},
    "rbf": {"name": "rbf", "gamma": 0.3},
    "poly": {"name": "poly", "gamma": 0.2, "coef0": 1.0, "degree": 3},
    "laplacian": {"name": "laplacian", "gamma": 0.2},
    "chi2": {"name": "chi2", "gamma": 0.5},
    "rbf with bias": {"name": "rbf", "gamma": 0.3, "offset": 1.0},
    "linear with bias": {"name": "linear", "offset": 1.0},
}
# Rows of A, rows of B, features: single rows, whole blocks, and tails of every kind.
SHAPES = [(1, 1, 1), (1, 17, 1), (3, 15, 2), (7, 16, 5), (9, 33, 17), (16, 64, 8), (19, 100, 130)]
TYPES = {"float32": np.float32, "float64": np.float64}
TOLERANCE = {"float32": {"rtol": 2e-5, "atol": 1e-6}, "float64": {"rtol": 1e-12, "atol": 1e-14}}


class Case(NamedTuple):
    kernel: dict[str, Any]
    A: Array
    B: Array
    sparse: bool = False


def full(**kernel: Any) -> dict[str, Any]:
    """A kernel as the core takes it, every number given."""
    return {"gamma": 1.0, "degree": 3, "coef0": 0.0, "offset": 0.0, **kernel}


def rows(seed: int, n: int, m: int, d: int) -> tuple[Array, Array]:
    """Non-negative, so that chi2 can have them too; some values are zero, one row is shared."""
    X = np.random.default_rng(seed).uniform(0, 2, size=(n + m, d))
    X[X < 0.4] = 0.0
    X[n] = X[0]
    return X[:n], X[n:]


def sweep() -> Array:
    """Distances whose squares run from nothing to far beyond where exp underflows."""
    squares = [
        0,
        1e-30,
        1e-8,
        1e-3,
        0.5,
        1,
        10,
        50,
        87,
        87.5,
        88,
        100,
        104,
        700,
        708,
        709,
        745,
        1e4,
    ]
    return np.concatenate([np.sqrt(squares), [1e10, 1e18], np.linspace(0, 11, 200)])[:, None]


def cases() -> dict[str, Case]:
    out = {}
    for type_name, dtype in TYPES.items():
        for name, kernel in KERNELS.items():
            for seed, shape in enumerate(SHAPES):
                A, B = (X.astype(dtype) for X in rows(seed, *shape))
                for kind, sparse in {"dense": False, "sparse": True}.items():
                    out[f"{name} {shape} {type_name} {kind}"] = Case(full(**kernel), A, B, sparse)
        far = sweep().astype(dtype)
        out[f"sweep {type_name}"] = Case(full(name="rbf"), np.zeros((1, 1), dtype), far)
        A, B = (1e4 + X for X in rows(0, 20, 40, 3))
        out[f"offset {type_name}"] = Case(full(name="rbf"), A.astype(dtype), B.astype(dtype))
    return out


CASES = cases()

CHILD = """
import pickle, sys
from onlinesvm import _core, _probes
import scipy.sparse as sp

def parts(X):
    X = sp.csr_array(X)
    return X.data, X.indices.astype("int32"), X.indptr.astype("int64")

def values(kernel, A, B, sparse):
    if sparse:
        return _probes.kernel_matrix_sparse(kernel, parts(A), parts(B), A.shape[1])
    return _probes.kernel_matrix(kernel, A, B)

cases = pickle.load(open(sys.argv[1], "rb"))
results = {name: values(*case) for name, case in cases.items()}
pickle.dump((_core.isa, results), open(sys.argv[2], "wb"))
"""


@pytest.fixture(scope="module", params=["baseline", "avx2", "avx512"])
def computed(request: pytest.FixtureRequest, tmp_path_factory: Any) -> dict[str, Array]:
    """All cases, computed by a process that was made to use one instruction set."""
    folder: Path = tmp_path_factory.mktemp(request.param)
    (folder / "cases").write_bytes(pickle.dumps({name: tuple(c) for name, c in CASES.items()}))
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(folder / "cases"), str(folder / "results")],
        env={**os.environ, "ONLINESVM_ISA": request.param},
        capture_output=True,
        text=True,
        check=False,
    )
    if "as this processor allows" in child.stderr:
        pytest.skip(f"this processor has no {request.param}")
    assert child.returncode == 0, child.stderr
    isa, results = pickle.loads((folder / "results").read_bytes())
    assert isa == request.param
    return results


def truth(case: Case) -> Array:
    """The same numbers in float64 NumPy."""
    return Kernel(**case.kernel)(case.A, case.B)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("name", KERNELS)
def test_every_shape_equals_numpy(computed, name, kind, dtype):
    for shape in SHAPES:
        label = f"{name} {shape} {dtype} {kind}"
        got, want = np.asarray(computed[label]), truth(CASES[label])
        assert got.shape == want.shape, label
        np.testing.assert_allclose(got, want, **TOLERANCE[dtype], err_msg=label)


@pytest.mark.parametrize(("dtype", "smallest"), [("float32", 2e-38), ("float64", 1e-300)])
def test_exp_is_right_from_nothing_to_underflow(computed, dtype, smallest):
    """Relative error stays small until values vanish; there, next to nothing is enough."""
    label = f"sweep {dtype}"
    got, want = np.asarray(computed[label])[0], truth(CASES[label])[0]
    assert np.isfinite(got).all()
    assert ((got >= 0) & (got <= 1)).all()
    assert got[0] == 1.0
    large = want > smallest
    np.testing.assert_allclose(got[large], want[large], rtol=2e-5 if dtype == "float32" else 1e-12)
    assert (got[~large] <= smallest).all()


@pytest.mark.parametrize("dtype", TYPES)
def test_distances_survive_far_from_the_origin(computed, dtype):
    label = f"offset {dtype}"
    np.testing.assert_allclose(computed[label], truth(CASES[label]), **TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("name", ["rbf", "laplacian", "chi2"])
def test_a_duplicate_has_kernel_value_one(computed, name, kind, dtype):
    """Exactly: the first row of B is the first row of A."""
    values = [np.asarray(computed[f"{name} {s} {dtype} {kind}"])[0, 0] for s in SHAPES]
    assert values == [1.0] * len(SHAPES)


# ---- what does not depend on the instruction set -------------------------------------------------


def dense(kernel: dict[str, Any], A: Array, B: Array) -> Array:
    return np.asarray(_probes.kernel_matrix(full(**kernel), A, B))


@pytest.mark.parametrize("dtype", TYPES.values(), ids=TYPES)
def test_equals_scikit_learn(dtype):
    A, B = (X.astype(dtype) for X in rows(3, 12, 40, 6))
    tolerance = TOLERANCE[np.dtype(dtype).name]
    for name, reference in {
        "linear": pairwise.linear_kernel,
        "rbf": pairwise.rbf_kernel,
        "laplacian": pairwise.laplacian_kernel,
        "chi2": pairwise.chi2_kernel,
    }.items():
        numbers = {} if name == "linear" else {"gamma": 0.4}
        want = reference(A.astype(np.float64), B.astype(np.float64), **numbers)
        got = dense({"name": name, **numbers}, A, B)
        np.testing.assert_allclose(got, want, **tolerance, err_msg=name)
    poly = {"gamma": 0.4, "coef0": 0.5, "degree": 4}
    want = pairwise.polynomial_kernel(A.astype(np.float64), B.astype(np.float64), **poly)
    np.testing.assert_allclose(dense({"name": "poly", **poly}, A, B), want, **tolerance)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("dtype", TYPES.values(), ids=TYPES)
def test_a_row_does_not_depend_on_its_company(name, dtype):
    """The same bits alone, in a block, and from the other side."""
    X = rows(5, 37, 3, 11)[0].astype(dtype)
    together = dense(KERNELS[name], X, X)
    alone = np.vstack([dense(KERNELS[name], X[i : i + 1], X) for i in range(len(X))])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(together, together.T)


def test_a_kernel_function_is_called_with_a_row_and_rows():
    def cosine(x: Array, X: Array) -> Array:
        assert x.ndim == 1
        assert X.ndim == 2
        return X @ x / (np.linalg.norm(x) * np.linalg.norm(X, axis=1))

    A, B = np.random.default_rng(0).normal(size=(2, 9, 4))
    got = dense({"name": "function", "function": cosine}, A, B)
    np.testing.assert_allclose(got, Kernel(cosine)(A, B), rtol=1e-12)


def test_sparse_rows_may_be_empty_and_wide():
    A, B = np.zeros((2, 1000)), np.zeros((3, 1000))
    A[1, [0, 999]] = 1.0, 2.0
    B[2, [999]] = 3.0
    for kernel in KERNELS.values():

        def parts(X: Array) -> tuple[Array, Array, Array]:
            csr = sp.csr_array(X)
            return csr.data, csr.indices.astype(np.int32), csr.indptr.astype(np.int64)

        got = _probes.kernel_matrix_sparse(full(**kernel), parts(A), parts(B), 1000)
        np.testing.assert_allclose(got, truth(Case(full(**kernel), A, B)), rtol=1e-12)
