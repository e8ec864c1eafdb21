"""Optimizers' steps on some rows as instructions: the numbers of the kernels in numpy.

Those are held against TensorFlow's trajectories in test_optimizers.py.
"""

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.graph.emit import rows

OPTIMIZERS = {
    "adadelta": lambda: tf.train.AdadeltaOptimizer(0.5),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "adagrad_da": lambda: tf.train.AdagradDAOptimizer(0.1, tf.train.get_or_create_global_step()),
    "adam": lambda: tf.train.AdamOptimizer(0.1),
    "centered": lambda: tf.train.RMSPropOptimizer(0.1, momentum=0.5, centered=True),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    "ftrl_v2": lambda: tf.train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.1),
    "gradient_descent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "proximal": lambda: tf.train.ProximalGradientDescentOptimizer(0.1, 0.01),
    "proximal_adagrad": lambda: tf.train.ProximalAdagradOptimizer(0.1, 0.1, 0.01, 0.02),
    "rms_prop": lambda: tf.train.RMSPropOptimizer(0.1, momentum=0.5),
}


def trained(make, shape, use_resource):
    """All variables after some steps; whether the last plan has a cut or a step in Python."""
    draws = np.random.RandomState(0)
    start = draws.randn(*shape).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        indices = tf.placeholder(tf.int64, [5])
        v = tf.get_variable("v", initializer=start, use_resource=use_resource)
        loss = tf.reduce_sum(tf.square(tf.gather(v, indices) - 0.5))
        step = tf.train.get_or_create_global_step()
        train = make().minimize(loss, global_step=step)
        session.run(tf.global_variables_initializer())
        for _ in range(6):
            session.run(train, {indices: draws.randint(0, draws.randint(1, shape[0] + 1), 5)})
        (plan,) = [p for key, p in session._plans.items() if train in key[0]]
        is_native = plan.first.cut is None and all(
            x.name != "host" for x in plan.first.program.instructions
        )
        return session.run(tf.global_variables()), is_native


@pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize("shape", [(7,), (9, 4), (4, 3, 2)], ids=str)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_rows(name, shape, use_resource, monkeypatch):
    """Rows that come several times are summed, those that do not come stay as they are."""
    values, is_native = trained(OPTIMIZERS[name], shape, use_resource)
    assert is_native
    monkeypatch.setattr(rows, "find_padded", lambda order, is_open: set())
    expected, is_native = trained(OPTIMIZERS[name], shape, use_resource)
    assert is_native is (name == "gradient_descent")  # which takes rows that repeat
    for value, other in zip(values, expected, strict=True):
        np.testing.assert_allclose(value, other, rtol=2e-5, atol=2e-6)
