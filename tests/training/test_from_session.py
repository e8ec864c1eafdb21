"""from_session: a graph built and trained here becomes a file; the LeNet of the example does."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from running import answers

import flatlite.compat.v1 as tf
from flatlite.errors import FailedPreconditionError, InvalidArgumentError

pytestmark = pytest.mark.usefixtures("runs_in_litert")
EXAMPLE = Path(__file__).parents[2] / "examples" / "train_digits.py"


def run(content, *inputs):
    return answers(tf.lite.Interpreter(model_content=content), *inputs)


@pytest.mark.parametrize("use_resource", [False, True])
def test_values_of_now(session, use_resource):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=[[1.0], [2.0]], use_resource=use_resource)
    y = tf.matmul(x, w, name="y")
    session.run(tf.global_variables_initializer())
    session.run(w.assign([[3.0], [4.0]]))
    n_operations = len(session.graph.get_operations())
    converter = tf.lite.TFLiteConverter.from_session(session, [x], [y])
    session.run(w.initializer)
    assert converter.get_input_arrays() == ["x"]
    content = converter.convert()
    assert converter.verified
    inputs = np.array([[1, 10], [5, 7]], np.float32)
    assert run(content, inputs)[0].tolist() == [[43], [43]]
    assert session.run(y, {x: inputs}).tolist() == [[21], [19]]
    assert len(session.graph.get_operations()) == n_operations
    assert session.graph.inputs is None


def test_inner_tensors_as_ends(session):
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    a = tf.add(x, 1.0, name="a")
    b, c = tf.multiply(a, 2.0, name="b"), tf.nn.relu(-a, name="c")
    content = tf.lite.TFLiteConverter.from_session(session, [a], [c, b]).convert()
    inputs = np.array([[1, -1], [2, -2]], np.float32)
    c, b = run(content, inputs)
    assert c.tolist() == [[0, 1], [0, 2]]
    assert b.tolist() == [[2, -2], [4, -4]]


def test_errors(session):
    x = tf.placeholder(tf.float32, [1, 2], name="x")
    w = tf.get_variable("w", initializer=[[1.0], [2.0]])
    y = tf.matmul(x, w)
    from_session = tf.lite.TFLiteConverter.from_session
    with pytest.raises(FailedPreconditionError, match="uninitialized value w"):
        from_session(session, [x], [y])
    with pytest.raises(TypeError, match=r"input_tensors must be tensors, got 'x:0'; .*by_name"):
        from_session(session, ["x:0"], [y])
    with pytest.raises(TypeError, match=r"output_tensors must be a list of tensors, got <tf"):
        from_session(session, [x], y)
    with pytest.raises(TypeError, match="sess must be a Session, got str"):
        from_session("session", [x], [y])
    session.run(tf.global_variables_initializer())
    with pytest.raises(ValueError, match="placeholders 'x', which are not among the inputs"):
        from_session(session, [w.value()], [tf.matmul(x, w)])
    with tf.Graph().as_default():
        other = tf.placeholder(tf.float32, [1])
    with pytest.raises(ValueError, match="must be of the session's graph"):
        from_session(session, [other], [y])


def test_a_variable_that_the_model_changes(session, litert):
    """Every run goes on from where the one before ended, as in the session."""
    x = tf.placeholder(tf.float32, [1, 2])
    w = tf.get_variable("w", initializer=[[1.0], [2.0]])
    y = tf.matmul(x, tf.assign_add(w, [[1.0], [1.0]]))
    session.run(tf.global_variables_initializer())
    content = tf.lite.TFLiteConverter.from_session(session, [x], [y]).convert()
    feeds = np.float32([[1, 10]])
    expected = [session.run(y, {x: feeds}) for _ in range(3)]
    for runs in (litert.run(content, [[feeds]] * 3), _runs(content, feeds)):
        np.testing.assert_array_equal([output[0] for output in runs], expected)


def _runs(content, feeds):
    interpreter = tf.lite.Interpreter(model_content=content)
    return [answers(interpreter, feeds) for _ in range(3)]


@pytest.mark.parametrize("cell", ["GRUCell", "LSTMCell"])
def test_lengths_of_rows_of_an_unknown_batch(session, cell):
    """There are as many lengths as rows, which the session sees to and the file relies on."""
    x, lengths = tf.placeholder(tf.float32, [None, 4, 3]), tf.placeholder(tf.int32, [None])
    cells = [getattr(tf.nn.rnn_cell, cell)(2) for _ in range(2)]
    (y, z), _ = tf.nn.bidirectional_dynamic_rnn(*cells, x, lengths, dtype=tf.float32)
    session.run(tf.global_variables_initializer())
    content = tf.lite.TFLiteConverter.from_session(session, [x, lengths], [y, z]).convert()
    rows = np.random.default_rng(1).normal(size=(3, 4, 3)).astype(np.float32)
    feeds = [rows, np.array([4, 0, 2], np.int32)]
    expected = session.run([y, z], dict(zip([x, lengths], feeds, strict=True)))
    for actual, array in zip(run(content, *feeds), expected, strict=True):
        np.testing.assert_allclose(actual, array, rtol=1e-4, atol=1e-5)
    with pytest.raises(InvalidArgumentError, match="Input to reshape is a tensor with 1 values"):
        session.run(y, {x: rows, lengths: [4]})


def test_loop_over_rows_of_two_inputs(session):
    """An attending decoder: what its loop collects has the size that both inputs broadcast to."""
    x, steps = tf.placeholder(tf.float32, [None, 5, 3]), tf.placeholder(tf.float32, [None, 4, 3])
    lengths = tf.placeholder(tf.int32, [None])
    none = tf.zeros([tf.shape(x)[0], 5])
    mask = tf.where(tf.sequence_mask(lengths, 5), none, none - 1e9)

    def step(state, row):
        scores = tf.reduce_sum(x * state[:, None], 2) + mask
        return tf.tanh(row + tf.reduce_sum(tf.nn.softmax(scores)[:, :, None] * x, 1))

    y = tf.scan(step, tf.transpose(steps, [1, 0, 2]), x[:, 0])
    inputs = [x, steps, lengths]
    content = tf.lite.TFLiteConverter.from_session(session, inputs, [y]).convert()
    random = np.random.default_rng(1)
    feeds = [random.normal(size=(3, n, 3)).astype(np.float32) for n in (5, 4)]
    feeds.append(np.array([5, 1, 2], np.int32))
    expected = session.run(y, dict(zip(inputs, feeds, strict=True)))
    np.testing.assert_allclose(run(content, *feeds)[0], expected, rtol=1e-4, atol=1e-5)


def test_lenet(litert):
    example = runpy.run_path(str(EXAMPLE))
    (images, labels), (test_images, test_labels) = example["load"]()
    with tf.Graph().as_default(), tf.Session() as session:
        model = example["Model"]()
        session.run(tf.global_variables_initializer())
        example["train"](session, model, images, labels, epochs=16)
        trained = session.run(model.probabilities, {model.images: test_images})
        assert example["accuracy"](trained, test_labels) >= 0.97
        converter = tf.lite.TFLiteConverter.from_session(
            session, [model.images], [model.probabilities]
        )
        content = converter.convert()
    (actual,) = run(content, test_images)
    np.testing.assert_allclose(actual, trained, rtol=1e-4, atol=1e-5)
    ((answers,),) = litert.run(content, [[test_images]])
    np.testing.assert_allclose(answers, trained, rtol=1e-4, atol=1e-5)
    assert example["accuracy"](answers, test_labels) == example["accuracy"](trained, test_labels)
