"""Tensor arrays of TensorFlow 1's loops in files: what its sessions gave for the same graphs."""

import io
import lzma
from pathlib import Path

import numpy as np
import pytest
from support.running import answers, kinds

import flatlite.compat.v1 as tf
from flatlite.errors import ConverterError
from flatlite.lite import Interpreter, TFLiteConverter

CONTENT = lzma.decompress(Path(__file__).with_name("tensor_arrays.npz.xz").read_bytes())
RECORDED = np.load(io.BytesIO(CONTENT))
"""make_tensor_arrays.py has recorded them with TensorFlow."""
PROGRAMS = {
    "lstm_sequence": (5, "UNIDIRECTIONAL_SEQUENCE_LSTM"),
    "lstm_last": (7, "UNIDIRECTIONAL_SEQUENCE_LSTM"),
    "lstm_states": (3, "WHILE"),
    "bidirectional": (6, "BIDIRECTIONAL_SEQUENCE_LSTM"),
    "gru_of_lengths": (15, "WHILE"),
    "maps": (10, "WHILE"),
    "scans": (14, "WHILE"),
    "grows": (1, "WHILE"),
    "reads": (2, "WHILE"),
    "some_rows": (4, "GATHER"),
    "fewer_rows": (10, "DYNAMIC_UPDATE_SLICE"),
    "joins": (4, "WHILE"),
    "writes_in_branches": (1, "WHILE"),
    "map_of_maps": (1, "WHILE"),
    "decoder": (1, "WHILE"),
}
"""Program -> the most operators that its main graph has, and one that is among them."""


def arrays(program, word):
    return [RECORDED[key] for key in RECORDED if key.startswith(f"{program}/{word}")]


@pytest.mark.parametrize("program", PROGRAMS)
def test_recorded_programs(program, tmp_path, litert):
    path = tmp_path / "graph.pb"
    path.write_bytes(RECORDED[f"{program}/graph"].tobytes())
    runs = [(arrays(program, f"in{run}"), arrays(program, f"out{run}")) for run in range(2)]
    inputs = [f"x{i}" for i in range(len(runs[0][0]))]
    outputs = [f"y{i}" for i in range(len(runs[0][1]))]
    content = TFLiteConverter.from_frozen_graph(path, inputs, outputs).convert()
    limit, kind = PROGRAMS[program]
    operators = kinds(content)
    assert len(operators) <= limit
    assert kind in operators
    interpreter = Interpreter(model_content=content)
    feeds = [feed for feed, _ in runs]
    theirs = litert.run(content, feeds, "BUILTIN_WITHOUT_DEFAULT_DELEGATES")
    assert not isinstance(theirs, str), theirs
    for (feed, expected), values in zip(runs, theirs, strict=True):
        for results in (answers(interpreter, *feed), values):
            for value, array in zip(results, expected, strict=True):
                np.testing.assert_allclose(value, array, rtol=1e-5, atol=1e-6)


MAPS = {
    "map": lambda x: tf.map_fn(lambda row: row * row, x),
    "map of maps": lambda x: tf.map_fn(lambda row: tf.map_fn(lambda y: y * y, row), x),
    "branch": lambda x: tf.cond(
        x[0, 0] > 0, lambda: tf.map_fn(lambda row: row * row, x), lambda: x
    ),
    "scan": lambda x: tf.scan(lambda before, row: before * 0 + row * row, x, tf.zeros([3])),
}


@pytest.mark.parametrize("name", MAPS)
def test_arrays_of_this_graph(name, control_flow_v1):
    """Arrays of handles, in functions that loops and branches call."""
    value = np.float32([[1, 2, 3], [-4, 5, 6]])
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2, 3])
        y = MAPS[name](x)
        assert "TensorArrayV3" in str(tf.get_default_graph().as_graph_def())
        content = TFLiteConverter.from_session(session, [x], [y]).convert()
        np.testing.assert_array_equal(session.run(y, {x: value}), value * value)
    np.testing.assert_array_equal(answers(Interpreter(model_content=content), value)[0], value**2)


@pytest.mark.parametrize("reads", [False, True])
def test_elements_whose_sizes_a_loop_computes(reads, control_flow_v1):
    """0, then 1 1, then 2 2 2: they can be joined, not read."""
    with tf.Graph().as_default(), tf.Session() as session:
        count = tf.placeholder(tf.int32, [], "count")
        array = tf.TensorArray(tf.float32, count, infer_shape=False)

        def body(i, array):
            return i + 1, array.write(i, tf.fill([i + 1], tf.cast(i, tf.float32)))

        _, array = tf.while_loop(lambda i, _: i < count, body, (0, array))
        result = array.read(1) if reads else array.concat()
        converter = TFLiteConverter.from_session(session, [count], [result])
        if reads:
            with pytest.raises(ConverterError, match="its loop computes how large the elements"):
                converter.convert()
            return
        content = converter.convert()
    assert converter.verified
    (y,) = answers(Interpreter(model_content=content), np.int32(3))
    assert y.tolist() == [0, 1, 1, 2, 2, 2]
