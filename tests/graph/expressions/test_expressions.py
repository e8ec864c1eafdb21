"""Expressions of TF1's functions, against what TensorFlow recorded for them."""

import json
from pathlib import Path

import call_errors
import expressions_edges
import expressions_image
import function_errors
import make_expressions
import numpy as np
import pytest
from recorded import load, rows

import flatlite.compat.v1 as tf

ROWS = [row for row in rows() if row["kind"] == "tf1_expr"]
NOT_OURS = {
    "F/debugging/039": "TensorFlow's optimizer took away a slice that its kernel refuses",
    "F/debugging/042": "a matrix that is not positive definite is an error here",
    "F/debugging/031": "the recorded answer is that of the recorder",
}


def leaves(value, path="0"):
    """The results with the paths they are recorded under."""
    if isinstance(value, dict):
        return [leaf for key, x in value.items() for leaf in leaves(x, key)]
    if isinstance(value, list | tuple):
        return [leaf for i, x in enumerate(value) for leaf in leaves(x, f"{path}/{i}"[2:] or "0")]
    if isinstance(value, tf.SparseTensor):
        parts = ("indices", "values", "dense_shape")
        inner = "" if path == "0" else f"{path}/"
        return [(f"{inner}{part}", getattr(value, part)) for part in parts]
    return [] if value is None else [(path, value)]


def plain(value):
    """Tuples as the lists that JSON makes of them, and what a dictionary has as it is shown."""
    if isinstance(value, dict):
        return {key: repr(item) for key, item in value.items()}
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["id"] not in NOT_OURS], ids=lambda row: row["id"]
)
def test_recorded(row, record_property):
    record_property("corpus", "tf1_expr")
    key = row["id"].rsplit("/", 1)[1]
    needed = row.get("inputs", ())
    feeds = load(row["files"]["inputs"]) if needed else {}
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = {name: tf.constant(feeds[name]) for name in needed}
        names = {"tf": tf, "tf2": tf, "np": np, **inputs}
        if "raises" in row:
            with pytest.raises(Exception) as caught:
                session.run(eval(row["expr"], names))
            assert type(caught.value).__name__ in row["raises_mro"]
            return
        result = eval(row["expr"], names)
        if isinstance(result, tf.Operation):
            session.run(result)
            result = "op ran"
        if "result" in row:
            assert plain(result) == row["result"]
            return
        recorded = load(row["files"]["data"])
        for path, tensor in leaves(result):
            expected = recorded[f"{key}:out:{path}"]
            if isinstance(tensor, int):
                assert tensor == expected
                continue
            values = session.run(tensor)
            values = np.array(values, object if isinstance(values, bytes) else None)
            assert (values.shape, values.dtype) == (expected.shape, expected.dtype)
            if values.dtype.kind == "O":
                assert values.tolist() == expected.tolist()
            else:
                wide = np.complex128 if values.dtype.kind == "c" else np.float64
                np.testing.assert_allclose(
                    values.astype(wide), expected.astype(wide), rtol=1e-4, atol=1e-5
                )


GOLDENS = {group: np.load(make_expressions.goldens_of(group)) for group in make_expressions.GROUPS}
PLACES = [(group, i) for group, rows in make_expressions.GROUPS.items() for i in range(len(rows))]


@pytest.mark.parametrize(
    ("group", "i"), PLACES, ids=[make_expressions.GROUPS[group][i] for group, i in PLACES]
)
def test_more_expressions(group, i):
    expr = make_expressions.GROUPS[group][i]
    results = make_expressions.evaluated(tf, group, expr)
    goldens = GOLDENS[group]
    keys = [key.partition(":")[2] for key in goldens.files if key.partition(":")[0] == str(i)]
    assert sorted(results) == sorted(keys) != []
    for key, got in results.items():
        want = goldens[f"{i}:{key}"]
        if want.dtype.kind == "S":
            assert got.tolist() == want.tolist()
            continue
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        is_drawn = group == "_random" and key.isdigit()
        if want.dtype.kind in "iub" or (is_drawn and "stateless_uniform" in expr):
            np.testing.assert_array_equal(got, want)
        else:
            rtol, atol = (2e-6, 1e-6) if is_drawn else (2e-4, 1e-5)
            np.testing.assert_allclose(got, want, rtol, atol)


REFUSED = [*function_errors.ERRORS, *expressions_edges.ERRORS, *expressions_image.ERRORS]


@pytest.mark.parametrize(
    ("expr", "kind", "words"),
    REFUSED,
    ids=[row[0] for row in REFUSED],
)
def test_refused(expr, kind, words):
    kinds, message = function_errors.caught(tf, expr, make_expressions.INPUTS)
    assert kind in kinds
    assert words in message


CALL_ERRORS = json.loads(Path(__file__).with_name("call_errors.json").read_text())


@pytest.mark.parametrize("call", CALL_ERRORS)
def test_refused_call(call):
    kind, words = call_errors.refused(tf, call)
    assert kind == CALL_ERRORS[call][0]
    assert words.startswith(CALL_ERRORS[call][1])


def test_errors_of_functions():
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(ValueError, match="direction` should be one of"):
            tf.sort([1.0], direction="UP")
        with pytest.raises(ValueError, match="Invalid value for `side`"):
            tf.searchsorted([1.0], [1.0], side="up")
        with pytest.raises(ValueError, match="Dimensions 2 and 1 are not compatible"):
            tf.SparseTensor([[0], [1]], [1.0], [3])
        with pytest.raises(TypeError, match="Input must be a SparseTensor"):
            tf.sparse.to_dense([1.0])
        with pytest.raises(ValueError, match="combiner must be one of"):
            sparse = tf.SparseTensor([[0, 0]], tf.constant([0], tf.int64), [1, 1])
            tf.nn.embedding_lookup_sparse([[1.0]], sparse, None, combiner="max")
        with pytest.raises(ValueError, match="num_mel_bins must be positive"):
            tf.signal.linear_to_mel_weight_matrix(0)
        flat, wider = tf.SparseTensor([[0]], [1.0], [3]), tf.SparseTensor([[0, 1]], [1.0], [3, 5])
        narrow = tf.SparseTensor([[0, 1]], [1.0], [3, 4])
        for wrong, words in (
            # TensorFlow says so, too, but where it folds constants it crashes.
            (tf.sparse.maximum(narrow, wider), "shapes do not match: got 4 and 5 for dimension 1"),
            (tf.sparse.minimum(narrow, flat), "do not have the same ranks; got shapes: 3 4 and 3"),
            (tf.strings.to_number("x"), "could not correctly convert string: x"),
            (tf.strings.substr("abc", 5, 1), "pos 5 out of range"),
            (tf.strings.regex_replace("a", "(", ""), "Invalid pattern"),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.run(wrong)
        assert repr(session.run(tf.SparseTensor([[0]], [1.0], [3]))).startswith("SparseTensorValue")
