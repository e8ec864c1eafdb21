"""Records frozen graphs whose loops keep tensor arrays, and what TensorFlow's sessions give.

    python tests/converter/make_tensor_arrays.py    # with tensorflow-cpu and tf_keras 2.21

tensor_arrays.npz.xz has, for each program: "<program>/graph", the GraphDef, whose inputs are named
x0, x1, and its outputs y0, y1; "<program>/in<run><i>" and "<program>/out<run><i>", what two runs
are fed and give.
"""

import io
import lzma
from pathlib import Path

import numpy as np
import tensorflow.compat.v1 as tf
from tf_keras.src.layers.rnn.legacy_cells import GRUCell, LSTMCell

SIZES = ((2, 5), (3, 7))
"""What a first and a later dimension that is not known is in each run."""
WEIGHTS = np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32)


def placeholder(*shape, name="x0", dtype=tf.float32):
    return tf.placeholder(dtype, shape, name)


def lstm_sequence():
    x = placeholder(None, 5, 3)
    return [x], [tf.nn.dynamic_rnn(LSTMCell(4), x, dtype=tf.float32)[0]]


def lstm_last():
    x = placeholder(None, None, 3)
    return [x], [tf.nn.dynamic_rnn(LSTMCell(4), x, dtype=tf.float32)[1].h]


def lstm_states():
    x = placeholder(2, 5, 3)
    y, state = tf.nn.dynamic_rnn(LSTMCell(4), x, dtype=tf.float32)
    return [x], [y, state.c]


def bidirectional():
    x = placeholder(None, 6, 3)
    cells = LSTMCell(4), LSTMCell(4)
    y, _ = tf.nn.bidirectional_dynamic_rnn(*cells, x, dtype=tf.float32)
    return [x], [tf.concat(y, 2)]


def gru_of_lengths():
    x, lengths = placeholder(None, 6, 3), placeholder(None, name="x1", dtype=tf.int32)
    y, state = tf.nn.dynamic_rnn(GRUCell(4), x, lengths, dtype=tf.float32)
    return [x, lengths], [y, state]


def maps():
    x, factor = placeholder(None, 3), placeholder(None, name="x1", dtype=tf.int32)
    y = tf.map_fn(lambda row: (row[0] * tf.cast(row[1], tf.float32), row[1] + 1), (x, factor))
    return [x, factor], list(y)


def scans():
    x = placeholder(None, 3)
    forward = tf.scan(lambda a, row: tf.tanh(a + row), x)
    back = tf.scan(lambda a, row: a * 0.5 + row, x, tf.zeros(3), reverse=True)
    return [x], [forward, back, tf.foldr(lambda a, row: tf.maximum(a, row) + 1, x)]


def grows():
    x = placeholder(3)
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True)

    def step(i, array):
        return i + 1, array.write(i, x * tf.cast(i, tf.float32))

    return [x], [tf.while_loop(lambda i, _: i < 5, step, (0, array))[1].stack()]


def reads():
    x = placeholder(4, 3)
    array = tf.TensorArray(tf.float32, 4, clear_after_read=False).unstack(x)

    def step(i, total):
        return i + 1, total + array.read(i) * array.read(3 - i)

    total = tf.while_loop(lambda i, _: i < 4, step, (0, tf.zeros(3)))[1]
    return [x], [total, array.gather([2, 0]), tf.cast(array.size(), tf.float32)]


def some_rows():
    """Rows of a value into some elements of an array, which has more."""
    x = placeholder(2, 3)
    array = tf.TensorArray(tf.float32, 4, element_shape=[3]).scatter([3, 1], x)
    return [x], [array.gather([1, 3])]


def fewer_rows():
    """An array of more elements than it gets."""
    x = placeholder(2, 3)
    array = tf.TensorArray(tf.float32, 4).unstack(x).write(3, x[0] * 2).write(2, x[1] - 1)
    return [x], [array.stack()]


def joins():
    x = placeholder(4, 3)

    def step(i, array):
        return i + 1, array.write(i, tf.gather(x, tf.stack([i, 3 - i])))

    array = tf.while_loop(lambda i, _: i < 4, step, (0, tf.TensorArray(tf.float32, 4)))[1]
    return [x], [array.concat(), tf.TensorArray(tf.float32, 2).split(x, [2, 2]).read(1)]


def writes_in_branches():
    x = placeholder(4, 3)

    def step(i, array):
        row = x[i]
        written = tf.cond(
            tf.reduce_sum(row) > 0,
            lambda: array.write(i, row * 2).flow,
            lambda: array.write(i, -row).flow,
        )
        return i + 1, tf.TensorArray(tf.float32, handle=array.handle, flow=written)

    array = tf.while_loop(lambda i, _: i < 4, step, (0, tf.TensorArray(tf.float32, 4)))[1]
    return [x], [array.stack()]


def map_of_maps():
    x = placeholder(3, 4, 2)

    def scaled(row):
        return row / (1 + tf.reduce_sum(row * row))

    return [x], [tf.map_fn(lambda rows: tf.map_fn(scaled, rows), x)]


def decoder():
    x = placeholder(1, 4)

    def step(i, token, state, tokens):
        state = tf.tanh(tf.matmul(state, WEIGHTS) + tf.gather(WEIGHTS, token))
        token = tf.argmax(tf.matmul(state, WEIGHTS), 1, output_type=tf.int32)
        return i + 1, token, state, tokens.write(i, token)

    start = 0, tf.constant([0]), x, tf.TensorArray(tf.int32, 6)
    _, _, state, tokens = tf.while_loop(lambda i, *_: i < 6, step, start)
    return [x], [tokens.stack(), state]


PROGRAMS = (
    *(lstm_sequence, lstm_last, lstm_states, bidirectional, gru_of_lengths),
    *(maps, scans, grows, reads, some_rows, fewer_rows, joins, writes_in_branches),
    *(map_of_maps, decoder),
)


def recorded(program, rng):
    """The frozen graph of a program, and what is fed and fetched in two runs."""
    rows = {}
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.set_random_seed(1)
        inputs, outputs = program()
        session.run(tf.global_variables_initializer())
        for run, sizes in enumerate(SIZES):
            feeds = []
            for tensor in inputs:
                known = enumerate(tensor.shape.as_list())
                shape = [n or sizes[min(i, 1)] for i, n in known]
                if tensor.dtype == tf.int32:
                    feeds.append(rng.integers(1, 6, shape).astype(np.int32))
                else:
                    feeds.append(rng.normal(size=shape).astype(np.float32))
            values = session.run(outputs, dict(zip(inputs, feeds, strict=True)))
            rows.update({f"in{run}{i}": array for i, array in enumerate(feeds)})
            rows.update({f"out{run}{i}": array for i, array in enumerate(values)})
        names = [tf.identity(tensor, f"y{i}").op.name for i, tensor in enumerate(outputs)]
        message = graph.as_graph_def()
        frozen = tf.graph_util.convert_variables_to_constants(session, message, names)
    return {"graph": np.frombuffer(frozen.SerializeToString(), np.uint8), **rows}


def main():
    tf.disable_v2_behavior()
    tf.disable_control_flow_v2()
    rng, arrays = np.random.default_rng(0), {}
    for program in PROGRAMS:
        rows = recorded(program, rng)
        arrays.update({f"{program.__name__}/{key}": array for key, array in rows.items()})
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    path = Path(__file__).with_name("tensor_arrays.npz.xz")
    path.write_bytes(lzma.compress(packed.getvalue(), preset=9))


if __name__ == "__main__":
    main()
