"""Inputs: whatever holds the numbers, the model is the same; the caller's data stay untouched."""

from __future__ import annotations

import importlib.util
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from .streams import (
    Stream,
    assert_same_bits,
    assert_same_model,
    by_bytes,
    centring,
    comparable,
    go_on,
    knowing_classes,
    learned,
    one_by_one,
    precise,
    predicted,
    predicted_one,
    promise,
    records_of,
    refuses,
    scores,
    sparse,
    streaming,
    takes_dicts,
)


@promise()
def check_inputs_are_neither_changed_nor_kept(estimator: Any, stream: Stream) -> None:
    X, y = stream.X.copy(), stream.y.copy()
    model = learned(estimator, Stream(X, y))
    before = scores(model, stream.X)
    assert np.array_equal(X, stream.X), "learning changed X"
    assert np.array_equal(y, stream.y), "learning changed y"
    X[:] = 77.0
    y[:] = y[0]
    assert np.array_equal(scores(model, stream.X), before), "the model looks into the caller's X"
    if streaming(model):
        x = stream.X[0].copy()
        model.learn_one(x, stream.y[0])
        before = scores(model, stream.X)
        x[:] = 77.0
        assert np.array_equal(scores(model, stream.X), before), "the model looks into a learned x"


@promise()
def check_layouts_do_not_matter(estimator: Any, stream: Stream) -> None:
    frozen = stream.X.copy()
    frozen.flags.writeable = False
    model = learned(estimator, stream)
    for name, X in {
        "read-only": frozen,
        "Fortran order": np.asfortranarray(stream.X),
        "every other column": np.repeat(stream.X, 2, axis=1)[:, ::2],
        "reversed twice": stream.X[::-1].copy()[::-1],
        "a list": stream.X.tolist(),
    }.items():
        assert_same_bits(model, learned(estimator, stream.holding(X)), name)
        assert np.array_equal(scores(model, X), scores(model, stream.X)), name


@promise()
def check_number_types_do_not_matter(estimator: Any, stream: Stream) -> None:
    stream = stream.holding(np.round(stream.X))
    model = learned(estimator, stream)
    for dtype in (np.float32, np.float16, np.int64, np.int8, np.uint16, ">f8", object):
        X = stream.X.astype(dtype)
        assert_same_bits(model, learned(estimator, stream.holding(X)), f"X of {dtype}")
        assert np.array_equal(scores(model, X), scores(model, stream.X))


@promise(streaming)
def check_one_example_in_any_form(estimator: Any, stream: Stream) -> None:
    x, y = np.round(stream.X[0]), stream.y[0]
    strided = np.repeat(x, 2)[::2]
    models = [
        learned(estimator, stream).learn_one(form, y)
        for form in (x, x.astype(np.float32), x.astype(int), strided, x.tolist())
    ]
    for model in models[1:]:
        assert_same_bits(models[0], model, "learn_one of another form of the same numbers")
        same = predicted_one(model, strided) == predicted_one(models[0], x.tolist())
        assert np.all(same), "another form of the same numbers is predicted differently"


@promise(sparse)
def check_sparse_formats(estimator: Any, stream: Stream) -> None:
    X = np.where(stream.X < 1, 0, stream.X)
    exact = precise(estimator)
    dense = scores(learned(exact, stream.holding(X)), X)
    packed = scores(learned(exact, stream.holding(sp.csr_array(X))), sp.csr_array(X))
    alike = np.allclose(packed, dense, rtol=1e-5, atol=1e-6)
    # Fewer sparse rows fit in so many bytes.
    as_promised = alike or by_bytes(estimator) or centring(estimator)
    assert as_promised, "sparse rows give another model than dense ones"
    model = learned(estimator, stream.holding(sp.csr_array(X)))
    for kind in (sp.csr_matrix, sp.csc_array, sp.csc_matrix, sp.coo_array, sp.lil_array):
        assert_same_bits(model, learned(estimator, stream.holding(kind(X))), kind.__name__)
        assert np.array_equal(scores(model, kind(X)), scores(model, sp.csr_array(X)))


@promise(sparse, streaming)
def check_sparse_and_dense_rows_mix(estimator: Any, stream: Stream) -> None:
    dense = stream.holding(np.where(stream.X < 1, 0, stream.X))
    packed = dense.holding(sp.csr_array(dense.X))
    for first, second in ((dense, packed), (packed, dense)):
        model = learned(estimator, first.head(40))
        assert np.array_equal(scores(model, dense.X), scores(model, packed.X))
        alike = learned(estimator, first.head(40), first.tail(40))
        assert_same_bits(go_on(model, second.tail(40)), alike, "rows of the other kind")
        assert_same_bits(
            model.learn_one(dense.X[0], stream.y[0]),
            go_on(alike, first.head(1)),
            "learn_one of the other kind",
        )


@promise(sparse, streaming)
def check_sparse_chunks_give_the_same_bits(estimator: Any, stream: Stream) -> None:
    model = comparable(estimator)
    stream = stream.holding(sp.csr_array(np.where(stream.X < 1, 0, stream.X)))
    whole, pieces = learned(model, stream), learned(model, *stream.pieces(11, 1, 30))
    assert_same_model(whole, pieces, stream.X, "sparse chunks")


@promise(sparse, n=40)
def check_untidy_sparse_rows_are_left_alone(estimator: Any, stream: Stream) -> None:
    tidy = sp.csr_array(np.where(stream.X < 1, 0, stream.X))
    backwards = np.concatenate(
        [np.arange(b, a, -1) - 1 for a, b in zip(tidy.indptr[:-1], tidy.indptr[1:], strict=True)]
    )
    data, columns = tidy.data[backwards], tidy.indices[backwards]
    untidy = sp.csr_array((data, columns.copy(), tidy.indptr), shape=tidy.shape)
    model = learned(estimator, stream.holding(untidy))
    assert_same_bits(model, learned(estimator, stream.holding(tidy)), "unsorted sparse rows")
    assert np.array_equal(untidy.indices, columns), "learning sorted the caller's matrix"


@promise()
def check_frames(estimator: Any, stream: Stream) -> None:
    names = [f"f{j}" for j in range(stream.X.shape[1])]
    columns = dict(zip(names, stream.X.T, strict=True))
    plain = learned(estimator, stream)
    for library in filter(importlib.util.find_spec, ("pandas", "polars")):
        frame = importlib.import_module(library).DataFrame(columns)
        model = learned(estimator, stream.holding(frame))
        assert model.feature_names_in_.tolist() == names
        assert np.array_equal(scores(model, frame), scores(plain, stream.X)), library
        shuffled = partial(predicted, model, frame[names[::-1]])
        refuses(shuffled, ValueError, f"shuffled columns of {library}")


# --- dicts --------------------------------------------------------------------------------------


@promise(takes_dicts, streaming)
def check_dict_chunks_give_the_same_bits(estimator: Any, stream: Stream) -> None:
    model = knowing_classes(comparable(estimator))
    stream = stream.holding(records_of(stream))
    whole = learned(model, stream)
    pieces = learned(model, *stream.pieces(7, 1, 90))
    assert_same_model(whole, pieces, stream.X, "dicts in batches")
    one_by_one(model, stream)
    assert_same_model(whole, model, stream.X, "dicts one by one")


@promise(takes_dicts, streaming)
def check_dicts_have_no_order(estimator: Any, stream: Stream) -> None:
    model = knowing_classes(estimator)
    records = records_of(stream)
    model.learn_one({f"f{j}": 1.0 for j in range(4)}, stream.y[0])
    other = go_on(clone(model).learn_one({f"f{j}": 1.0 for j in range(4)}, stream.y[0]))
    for x, y in zip(records, stream.y, strict=True):
        model.learn_one(x, y)
        other.learn_one(dict(reversed(x.items())), y)
    assert_same_bits(model, other, "the same dicts in another order")


@promise(takes_dicts, streaming)
def check_features_may_come_and_go(estimator: Any, stream: Stream) -> None:
    model = learned(knowing_classes(estimator), stream.holding(records_of(stream)))
    width = model.n_features_in_
    assert predicted_one(model, {"never seen": 1.0}) is not None
    assert predicted_one(model, {}) is not None
    assert model.n_features_in_ == width, "predicting added a feature"
    model.learn_one({"new": 1.0, "f0": 2.0}, stream.y[0])
    assert model.n_features_in_ == width + 1, "a new feature found no place"
    model.learn_one({}, stream.y[1])


@promise(streaming)
def check_dicts_into_named_columns(estimator: Any, stream: Stream) -> None:
    if not importlib.util.find_spec("pandas"):
        return
    frame = importlib.import_module("pandas").DataFrame(stream.X, columns=list("abcd"))
    stream = stream.holding(frame)
    model = learned(estimator, stream)
    model.learn_one(dict(reversed(frame.iloc[0].to_dict().items())), stream.y[0])
    other = learned(estimator, stream, stream.head(1))
    assert_same_bits(model, other, "a dict for a model with named columns")
    complaint = refuses(
        lambda: model.learn_one({"unheard of": 1.0}, stream.y[0]), ValueError, "unknown name"
    )
    assert "unheard of" in complaint
