"""`tf.lite.experimental.nn`: cells against TensorFlow's BlockLSTM, and as TFLite's operators."""

from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.schema.model import load

nn = tf.lite.experimental.nn
RECORDED = dict(np.load(Path(__file__).with_name("separate_gates.npz")))


def run(cell, inputs, values=None, **kwargs):
    """Outputs and last state of a cell with these values of its variables, and the file."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, inputs.shape, "x")
        outputs, state = nn.dynamic_rnn(cell(), x, dtype=tf.float32, **kwargs)
        result = tf.identity(outputs, "y")
        session.run(tf.global_variables_initializer())
        for variable in tf.global_variables():
            if values is not None:
                variable.load(values[variable.op.name.rpartition("/")[2]], session)
        content = tf.lite.TFLiteConverter.from_session(session, [x], [result]).convert()
        return *session.run([result, state], {x: inputs}), content


@pytest.mark.parametrize(
    ("key", "settings"),
    [("plain", {}), ("peepholes", {"use_peepholes": True, "cell_clip": 0.5})],
)
def test_lstm(key, settings):
    def cell():
        return nn.TFLiteLSTMCell(4, **settings)

    y, state, content = run(cell, RECORDED["x"], RECORDED)
    np.testing.assert_allclose(y, RECORDED[f"{key}_h"], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(state.c, RECORDED[f"{key}_c"], rtol=1e-5, atol=1e-6)
    kinds = [op.op for op in load(content).subgraphs[0].operators]
    assert ("UNIDIRECTIONAL_SEQUENCE_LSTM" in kinds) == (key == "plain")
    model = tf.lite.Interpreter(model_content=content)
    model.allocate_tensors()
    model.set_tensor(model.get_input_details()[0]["index"], RECORDED["x"])
    model.invoke()
    actual = model.get_tensor(model.get_output_details()[0]["index"])
    np.testing.assert_allclose(actual, RECORDED[f"{key}_h"], rtol=1e-5, atol=1e-6)


def test_state_as_one_tensor_and_batches_first():
    x = RECORDED["x"].transpose(1, 0, 2)

    def cell():
        return nn.TFLiteLSTMCell(4, state_is_tuple=False)

    y, state, _ = run(cell, x, RECORDED, time_major=False)
    np.testing.assert_allclose(y.transpose(1, 0, 2), RECORDED["plain_h"], rtol=1e-5, atol=1e-6)
    both = np.concatenate([RECORDED["plain_c"], RECORDED["plain_h"][-1]], 1)
    np.testing.assert_allclose(state, both, rtol=1e-5, atol=1e-6)


def test_variables_and_sizes():
    with tf.Graph().as_default() as graph:
        cell = nn.TFLiteLSTMCell(4, num_proj=2, proj_clip=0.1, forget_bias=0.5)
        y, state = nn.dynamic_rnn(cell, tf.zeros([5, 2, 3]), dtype=tf.float32)
        assert (y.shape, state.c.shape, state.h.shape) == ((5, 2, 2), (2, 4), (2, 2))
        assert (cell.state_size, cell.output_size, cell.graph) == ((4, 2), 2, graph)
        assert cell.scope_name == "rnn/tf_lite_lstm_cell"
        shapes = {v.op.name.removeprefix(cell.scope_name + "/"): v.shape for v in cell.variables}
        assert shapes["input_to_cell_w"] == (4, 3) and shapes["cell_to_forget_w"] == (4, 2)
        assert shapes["projection/kernel"] == (2, 4)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            biases = [session.run(v) for v in cell.variables if v.op.name.endswith("_bias")]
        np.testing.assert_array_equal(biases, [[0] * 4, [0.5] * 4, [0] * 4, [0] * 4])


def test_rnn_becomes_one_operator():
    def cell():
        return nn.TfLiteRNNCell(4, activation="relu")

    *_, content = run(cell, RECORDED["x"])
    kinds = [op.op for op in load(content).subgraphs[0].operators]
    assert "UNIDIRECTIONAL_SEQUENCE_RNN" in kinds


def test_refused():
    with pytest.raises(ValueError, match="Unknown activation function: 'swosh'"):
        nn.TfLiteRNNCell(4, activation="swosh")
    with pytest.raises(TypeError, match="is not an RNNCell"):
        nn.dynamic_rnn("cell", tf.zeros([5, 2, 3]), dtype=tf.float32)
