"""Loss scales against what TensorFlow recorded: programs of loss_scale_programs.py."""

import json
from pathlib import Path

import loss_scale_programs
import numpy as np
import pytest

import flatlite.compat.v1 as tf

RECORDED = json.loads(Path(__file__).with_name("loss_scales.json").read_text())


@pytest.mark.parametrize("name", loss_scale_programs.PROGRAMS)
def test_program(name):
    got = loss_scale_programs.run(tf, name)
    want = RECORDED[name]
    assert got["names"] == want["names"]
    np.testing.assert_allclose(got["steps"], want["steps"], rtol=1e-5, atol=1e-6)


def test_configurations():
    scale = tf.train.experimental.FixedLossScale(3)
    assert scale.from_config(scale.get_config()).get_config() == {"loss_scale_value": 3.0}
    with tf.Graph().as_default():
        dynamic = tf.train.experimental.DynamicLossScale(8, 5, 4)
        again = dynamic.from_config(dynamic.get_config())
        assert (again.initial_loss_scale, again.increment_period, again.multiplier) == (8, 5, 4)
        assert repr(again) == (
            "DynamicLossScale(initial_loss_scale=8.0, increment_period=5, multiplier=4.0)"
        )
    assert repr(scale) == "FixedLossScale(3.0)"


def test_checkpoint(tmp_path):
    def built():
        v = tf.Variable(1.0, use_resource=True)
        opt = tf.train.experimental.enable_mixed_precision_graph_rewrite(
            tf.train.AdamOptimizer(0.1), tf.train.experimental.DynamicLossScale(8, 2)
        )
        step = opt.minimize(v * v, var_list=[v])
        return v, opt, step, tf.train.Checkpoint(v=v, opt=opt)

    with tf.Graph().as_default(), tf.Session() as session:
        _, opt, step, checkpoint = built()
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(step)
        path = checkpoint.save(str(tmp_path / "c"), session=session)
        values = session.run(opt.variables())
    names = [name for name, _ in tf.train.list_variables(path)]
    assert "opt/loss_scale/current_loss_scale/.ATTRIBUTES/VARIABLE_VALUE" in names
    assert "opt/base_optimizer/beta1_power/.ATTRIBUTES/VARIABLE_VALUE" in names
    with tf.Graph().as_default(), tf.Session() as session:
        _, opt, _, checkpoint = built()
        checkpoint.restore(path).assert_consumed().run_restore_ops(session)
        np.testing.assert_array_equal(session.run(opt.variables()), values)
    tf.train.experimental.disable_mixed_precision_graph_rewrite()


def test_refusals():
    sgd = tf.train.GradientDescentOptimizer(1.0)
    wrapped = tf.train.experimental.MixedPrecisionLossScaleOptimizer(sgd, 2)
    enable = tf.train.experimental.enable_mixed_precision_graph_rewrite
    with pytest.raises(ValueError, match="must not already be an instance of a MixedPrecision"):
        enable(wrapped)
    with pytest.raises(ValueError, match=r"must be an instance of a tf\.train\.Optimizer"):
        enable(3)
    with pytest.raises(ValueError, match='"opt" must be an instance of Optimizer'):
        tf.train.experimental.MixedPrecisionLossScaleOptimizer(3, 2)
    with pytest.raises(ValueError, match="Could not interpret loss scale identifier: x"):
        enable(sgd, "x")
    with pytest.raises(ValueError, match="loss_scale cannot be None"):
        tf.train.experimental.MixedPrecisionLossScaleOptimizer(sgd, None)
    with pytest.raises(ValueError, match="loss_scale_value must be at least 1"):
        tf.train.experimental.FixedLossScale(0.5)
    with pytest.raises(ValueError, match="must be a Python int or float"):
        tf.train.experimental.FixedLossScale("1")
    tf.train.experimental.disable_mixed_precision_graph_rewrite()
    with pytest.warns(UserWarning, match="already disabled"):
        tf.train.experimental.disable_mixed_precision_graph_rewrite()
