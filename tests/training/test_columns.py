"""Feature columns, against TensorFlow."""

import json
from pathlib import Path

import numpy as np
import pytest
from recorded import load, rows

import flatlite.compat.v1 as tf

from .column_programs import ERRORS, FEATURES, VALUES, outcome

RECORDED = json.loads(Path(__file__).with_name("column_programs.json").read_text())
CORPUS = [row for row in rows() if row["kind"] == "tf1_feature_column"]


@pytest.mark.parametrize("expression", VALUES)
def test_values(expression, tmp_path):
    actual, expected = outcome(tf, expression, tmp_path), RECORDED[expression]
    np.testing.assert_allclose(actual.pop("values"), expected.pop("values"), 1e-5, 1e-6)
    assert actual == expected


@pytest.mark.parametrize("expression", ERRORS)
def test_errors(expression, tmp_path):
    actual, expected = outcome(tf, expression, tmp_path), RECORDED[expression]
    assert actual["error"] == expected["error"]
    assert actual["words"][:24] == expected["words"][:24]


def features_of(arrays):
    """The features of the corpus: words are stored as bytes and lengths."""
    features = {}
    for key in [key for key in arrays if key.startswith("feat:")]:
        name, _, part = key.removeprefix("feat:").partition("#")
        if not part:
            features[name] = tf.constant(arrays[key])
        elif part == "len":
            ends = np.cumsum(arrays[key])
            content = arrays[f"feat:{name}#bytes"].tobytes()
            words = [content[end - n : end] for n, end in zip(arrays[key].flat, ends, strict=True)]
            features[name] = tf.constant(np.array(words, object).reshape(arrays[key].shape))
    return features


@pytest.mark.parametrize("row", CORPUS, ids=lambda row: row["id"])
def test_recorded(row, record_property):
    record_property("corpus", "tf1_feature_column")
    arrays = load(row["files"]["data"])
    with tf.Graph().as_default(), tf.Session() as session:
        result = eval(row["expr"], {"tf": tf, "np": np, "features": features_of(arrays)})
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        np.testing.assert_allclose(session.run(result), arrays[row["key"]], 1e-5, 1e-6)
        shapes = {v.op.name: v.shape.as_list() for v in tf.global_variables()}
        assert shapes == row["variables"]


def test_gradients_reach_tables():
    with tf.Graph().as_default(), tf.Session() as session:
        column = tf.feature_column.embedding_column(
            tf.feature_column.categorical_column_with_identity("ids", 5), 2
        )
        taken, outputs = {}, {}
        features = {"ids": tf.constant(FEATURES["ids"])}
        layer = tf.feature_column.input_layer(
            features, [column], cols_to_vars=taken, cols_to_output_tensors=outputs
        )
        assert outputs[column].shape.as_list() == [3, 2]
        (table,) = taken[column]
        train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(layer))
        session.run(tf.global_variables_initializer())
        before = session.run(table)
        session.run(train)
        changed = np.array([1.0, 1, 0, 0, 1])[:, None]
        np.testing.assert_allclose(before - session.run(table), changed * [1.0, 1.0], 1e-5)
