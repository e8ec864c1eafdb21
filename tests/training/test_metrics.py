"""Losses and metrics: TensorFlow's recorded answers, collections, errors."""

import make_metrics
import numpy as np
import pytest
from recorded import load, rows

import flatlite.compat.v1 as tf

ROWS = [row for row in rows() if row["kind"] == "tf1_metric"]
GOLDENS = np.load(make_metrics.GOLDENS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_recorded(row, record_property):
    record_property("corpus", "tf1_metric")
    recorded = load(row["files"]["data"])
    name = row["key"].partition(":")[2]
    with tf.Graph().as_default(), tf.Session() as session:
        labels, predictions = tf.placeholder(tf.int32, [4]), tf.placeholder(tf.float32, [4])
        value, update = eval(row["expr"], {"tf": tf, "l": labels, "p": predictions})
        session.run(tf.local_variables_initializer())
        values, updates = [session.run(value)], []
        for label, score in zip(recorded["l"], recorded["p"], strict=True):
            updates.append(session.run(update, {labels: label, predictions: score}))
            values.append(session.run(value))
    np.testing.assert_allclose(values, recorded[row["key"]], **row["tolerance"]["tf"])
    np.testing.assert_allclose(updates, recorded[f"update:{name}"], **row["tolerance"]["tf"])


@pytest.mark.parametrize(
    "i", range(len(make_metrics.METRICS)), ids=make_metrics.METRICS.__getitem__
)
def test_metric(i):
    values, updates = make_metrics.metric(tf, make_metrics.METRICS[i])
    for got, key in ((values, "values"), (updates, "updates")):
        want = GOLDENS[f"metric{i}:{key}"]
        assert np.asarray(got).dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6, err_msg=key)


@pytest.mark.parametrize("i", range(len(make_metrics.LOSSES)), ids=make_metrics.LOSSES.__getitem__)
def test_loss(i):
    value, count = make_metrics.loss(tf, make_metrics.LOSSES[i])
    assert count == GOLDENS[f"loss{i}:count"]
    np.testing.assert_allclose(value, GOLDENS[f"loss{i}"], rtol=1e-5, atol=1e-6)


def test_collections():
    with tf.Graph().as_default():
        value, update = tf.metrics.mean([1.0], metrics_collections="m", updates_collections=["u"])
        assert tf.get_collection("m") == [value]
        assert tf.get_collection("u") == [update]
        assert [v.op.name for v in tf.local_variables()] == ["mean/total", "mean/count"]
        assert tf.get_collection(tf.GraphKeys.METRIC_VARIABLES) == tf.local_variables()
        assert tf.losses.get_regularization_loss().op.type == "Const"
        loss = tf.losses.log_loss([1.0], [0.5], loss_collection=None)
        assert tf.losses.get_losses() == []
        tf.losses.add_loss(loss)
        assert tf.losses.get_losses() == [loss]


def test_a_mean_of_what_is_fed():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        value, update = tf.metrics.mean(x)
        session.run(tf.local_variables_initializer())
        assert session.run(update, {x: [1, 2]}) == 1.5
        assert session.run(update, {x: [4, 5]}) == 3
        assert session.run(value) == 3


def test_errors():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="Invalid Reduction Key"):
            tf.losses.compute_weighted_loss([1.0], reduction="all")
        with pytest.raises(ValueError, match="weights can not be broadcast to values"):
            tf.losses.compute_weighted_loss([1.0, 2.0], [1.0, 2.0, 3.0])
        with pytest.raises(ValueError, match="`weights` must not be None"):
            tf.losses.compute_weighted_loss([1.0], None)
        with pytest.raises(ValueError, match="`labels` must not be None"):
            tf.losses.log_loss(None, [1.0])
        with pytest.raises(ValueError, match=r"Shapes \(3,\) and \(2,\) are incompatible"):
            tf.losses.hinge_loss([1.0, 2.0], [1.0, 2.0, 3.0])
        with pytest.raises(ValueError, match="You must specify argument `axis`"):
            tf.losses.cosine_distance([1.0], [1.0])
        with pytest.raises(ValueError, match="Curve must be either ROC or PR"):
            tf.metrics.auc([1], [0.5], curve="X")
        with pytest.raises(ValueError, match="Invalid summation_method: X"):
            tf.metrics.auc([1], [0.5], summation_method="X")
        with pytest.raises(ValueError, match="must be in the range"):
            tf.metrics.sensitivity_at_specificity([1], [0.5], 2.0)


def test_weights_are_checked_when_run():
    with tf.Graph().as_default(), tf.Session() as session:
        weights = tf.placeholder(tf.float32, [None])
        loss = tf.losses.compute_weighted_loss([1.0, 2.0, 3.0], weights)
        assert session.run(loss, {weights: [1, 0, 0]}) == 1
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(loss, {weights: [1, 0]})
        scores = tf.placeholder_with_default([2.0], [None])
        _, update = tf.metrics.auc([1], scores)
        session.run(tf.local_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"must be in \[0, 1\]"):
            session.run(update)
