"""Optimizers: TensorFlow's recorded trajectories, names of slots, errors."""

import make_trajectories
import numpy as np
import pytest
from recorded import load, rows
from trajectory import trajectory

import flatlite.compat.v1 as tf

ROWS = [row for row in rows() if row["kind"] == "tf1_optimizer"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_trajectory(row, record_property):
    record_property("corpus", "tf1_optimizer")
    actual, slots, variables = trajectory(tf, row)
    expected = load(row["files"]["data"])
    assert slots == row["slots"]
    assert variables == row["variables"]
    assert actual.keys() == expected.keys()
    tolerance = row["tolerance"]["tf"]
    for name, want in expected.items():
        assert actual[name].dtype == want.dtype, name
        np.testing.assert_allclose(actual[name], want, err_msg=name, **tolerance)


@pytest.mark.parametrize("row", make_trajectories.ROWS, ids=lambda row: row["id"])
def test_further_trajectory(row):
    actual, _, _ = trajectory(tf, row)
    expected = np.load(make_trajectories.GOLDENS)
    prefix = f"{row['id']}:"
    names = [name.removeprefix(prefix) for name in expected.files if name.startswith(prefix)]
    assert len(names) >= 2
    for name in names:
        want = expected[prefix + name]
        np.testing.assert_allclose(actual[name], want, rtol=2e-5, atol=2e-6, err_msg=name)


def test_minimize(session):
    w = tf.get_variable("w", initializer=[3.0, 4.0])
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.25).minimize(tf.nn.l2_loss(w), global_step=step)
    assert train.name == "GradientDescent"
    assert tf.get_collection(tf.GraphKeys.TRAIN_OP) == [train]
    session.run(tf.global_variables_initializer())
    assert session.run(train) is None
    assert session.run(w).tolist() == [2.25, 3]
    assert session.run(step) == 1


def test_names_of_operations(session):
    w = tf.get_variable("w", initializer=[3.0, 4.0])
    tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.nn.l2_loss(w))
    names = {op.name for op in session.graph.get_operations()}
    assert {
        "w/Momentum",
        "w/Momentum/Assign",
        "Momentum",
        "Momentum/learning_rate",
        "Momentum/momentum",
        "Momentum/update_w/ApplyMomentum",
    } <= names


def test_slots_and_variables(session):
    w = tf.get_variable("w", initializer=[3.0])
    optimizer = tf.train.AdamOptimizer(name="Mine")
    assert optimizer.get_name() == "Mine"
    assert optimizer.get_slot_names() == []
    assert optimizer.get_slot(w, "m") is None
    optimizer.minimize(tf.nn.l2_loss(w))
    assert optimizer.get_slot_names() == ["m", "v"]
    assert optimizer.get_slot(w, "v").name == "w/Mine_1:0"
    assert [v.name for v in optimizer.variables()] == [
        "beta1_power:0",
        "beta2_power:0",
        "w/Mine:0",
        "w/Mine_1:0",
    ]
    assert tf.trainable_variables() == [w]


def test_two_optimizers_have_slots_of_their_own(session):
    w = tf.get_variable("w", initializer=[3.0])
    first, second = (tf.train.MomentumOptimizer(0.1, 0.9) for _ in range(2))
    for optimizer in (first, second):
        optimizer.minimize(tf.nn.l2_loss(w))
    assert first.get_slot(w, "momentum").name == "w/Momentum:0"
    assert second.get_slot(w, "momentum").name == "w/Momentum_1:0"


@pytest.mark.parametrize("use_resource", [False, True])
def test_constraint(session, use_resource):
    w = tf.get_variable(
        "w",
        initializer=[3.0, -4.0],
        use_resource=use_resource,
        constraint=lambda value: tf.maximum(value, 0.0),
    )
    train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.nn.l2_loss(w))
    session.run(tf.global_variables_initializer())
    session.run(train)
    assert session.run(w).tolist() == [1.5, 0]


def test_rate_is_read_at_every_step(session):
    w = tf.get_variable("w", initializer=1.0)
    rate = tf.placeholder(tf.float32, [])
    train = tf.train.GradientDescentOptimizer(rate).minimize(w)
    session.run(tf.global_variables_initializer())
    for value in (1.0, 2.0):
        session.run(train, {rate: value})
    assert session.run(w) == -2


def test_all_gradients_use_the_old_values(session):
    """Neither variable's update is seen by the other's gradient."""
    a, b = tf.get_variable("a", initializer=[[2.0]]), tf.get_variable("b", initializer=[[3.0]])
    train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.matmul(a, b))
    session.run(tf.global_variables_initializer())
    session.run(train)
    assert session.run([a, b]) == [[[-1]], [[1]]]


class Signs(tf.train.Optimizer):
    """variable -= sign of the gradient, counted in a slot."""

    def __init__(self):
        super().__init__(False, "Signs")

    def _create_slots(self, var_list):
        for variable in var_list:
            self._zeros_slot(variable, "steps", "Steps")

    def _apply_dense(self, grad, var):
        count = self.get_slot(var, "steps").assign_add(tf.ones_like(grad))
        return tf.group(var.assign_sub(tf.sign(grad)), count)


def test_optimizer_of_ones_own(session):
    w = tf.get_variable("w", initializer=[3.0, -4.0])
    optimizer = Signs()
    train = optimizer.minimize(tf.nn.l2_loss(w))
    session.run(tf.global_variables_initializer())
    for _ in range(2):
        session.run(train)
    assert session.run(w).tolist() == [1, -2]
    assert session.run(optimizer.get_slot(w, "steps")).tolist() == [2, 2]


def test_errors(session):
    w = tf.get_variable("w", initializer=[3.0])
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    with pytest.raises(ValueError, match="Must specify the optimizer name"):
        tf.train.GradientDescentOptimizer(0.1, name="")
    with pytest.raises(ValueError, match="No gradients provided for any variable, check"):
        optimizer.minimize(tf.constant(1.0))
    with pytest.raises(ValueError, match="gate_gradients must be one of"):
        optimizer.minimize(w, gate_gradients=3)
    with pytest.raises(ValueError, match=r"Invalid type tf\.int32 for"):
        optimizer.minimize(tf.constant(1))
    with pytest.raises(TypeError, match=r"Argument is not a tf\.Variable"):
        optimizer.minimize(w, var_list=[tf.constant(1.0)])
    with pytest.raises(ValueError, match="No variables to optimize"):
        optimizer.minimize(w, var_list=[])
    with pytest.raises(ValueError, match="No variables provided"):
        optimizer.apply_gradients([])
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        optimizer.apply_gradients([(None, w)])
    with pytest.raises(TypeError, match="Gradient must be convertible to a Tensor"):
        optimizer.apply_gradients([(object(), w)])
    with pytest.raises(NotImplementedError, match="Trying to update a Tensor"):
        optimizer.apply_gradients([(1.0, tf.constant(1.0))])


def test_loss_of_a_function(session):
    w = tf.get_variable("w", initializer=[3.0])
    train = tf.train.GradientDescentOptimizer(0.1).minimize(lambda: w * w)
    session.run(tf.global_variables_initializer())
    session.run(train)
    np.testing.assert_allclose(session.run(w), [3 - 0.1 * 2 * 3])
