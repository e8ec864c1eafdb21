"""Writes recurrent.npz.xz: frozen graphs of recurrent layers, and what TensorFlow makes of them.

Run as `python tests/converter/keras/make_recurrent.py` in an environment with TensorFlow, tf_keras
and Keras 3. Of each case there are "<case>/graph", a frozen GraphDef, "<case>/x" and "<case>/y",
and "<case>/operators", how many operators TensorFlow's file has over all its subgraphs: -1 where
its converter refuses the model.
"""

from __future__ import annotations

import io
import lzma
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
import tf_keras
from tensorflow.lite.python import schema_py_generated as schema
from tensorflow.python.framework import convert_to_constants

STEPS, DEPTH, UNITS = 6, 4, 3
LAYERS = {
    "LSTM": lambda layers: layers.LSTM(UNITS, return_sequences=True),
    "LSTM_last": lambda layers: layers.LSTM(UNITS),
    "LSTM_relu_back": lambda layers: layers.LSTM(UNITS, activation="relu", go_backwards=True),
    "LSTM_hard": lambda layers: layers.LSTM(UNITS, recurrent_activation="hard_sigmoid"),
    "RNN": lambda layers: layers.SimpleRNN(UNITS, return_sequences=True),
    "GRU": lambda layers: layers.GRU(UNITS, return_sequences=True),
    "GRU_before": lambda layers: layers.GRU(UNITS, reset_after=False),
    "both": lambda layers: layers.Bidirectional(layers.LSTM(UNITS, return_sequences=True)),
    "both_last": lambda layers: layers.Bidirectional(layers.SimpleRNN(UNITS)),
}
SHAPES = {"fixed": (2, STEPS), "batch": (None, STEPS), "any": (None, None)}
ONE = (1, STEPS)


def n_operators(make_converter) -> int:
    """How many operators TensorFlow's file has; -1 where there is none."""
    try:
        content = make_converter().convert()
    except Exception as error:  # its converter raises many kinds
        print("  refused:", str(error).splitlines()[0][:90])
        return -1
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    return sum(len(graph.operators or ()) for graph in model.subgraphs)


def frozen(function):
    """The GraphDef of a concrete function with constants for its variables, loops left whole."""
    frozen_function = convert_to_constants.convert_variables_to_constants_v2(
        function, lower_control_flow=False
    )
    definition = frozen_function.graph.as_graph_def()
    for node in definition.node:
        node.ClearField("experimental_debug_info")
    for inner in definition.library.function:
        inner.ClearField("arg_attr")
        for node in inner.node_def:
            node.ClearField("experimental_debug_info")
    return definition.SerializeToString(deterministic=True)


def recorded(make, k, shape) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    x = k.Input((shape[1], DEPTH), batch_size=shape[0])
    model = k.Model(x, make(k.layers)(x))
    for weight in model.weights:
        value = rng.normal(0, 0.4, weight.shape)
        weight.assign((np.round(value * 64) / 64).astype(np.float32))

    @tf.function(input_signature=[tf.TensorSpec((*shape, DEPTH), tf.float32, name="x")])
    def call(x):
        return tf.identity(model(x, training=False), name="y")

    values = rng.normal(size=(shape[0] or 2, STEPS, DEPTH)).astype(np.float32)
    return {
        "graph": np.frombuffer(frozen(call.get_concrete_function()), np.uint8),
        "x": values,
        "y": np.asarray(call(values)),
        "operators": np.int32(n_operators(lambda: tf.lite.TFLiteConverter.from_keras_model(model))),
    }


def version_1(static: bool) -> dict[str, np.ndarray]:
    """A cell of TensorFlow 1 under dynamic_rnn, or written out step by step."""
    v1 = tf.compat.v1
    with v1.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(1)
        x = v1.placeholder(tf.float32, (2, STEPS, DEPTH), "x")
        kernel = v1.get_variable("kernel", (DEPTH + UNITS, 4 * UNITS))
        bias = v1.get_variable("bias", (4 * UNITS,))

        def step(row, h, c):
            i, j, f, o = tf.split(tf.matmul(tf.concat([row, h], 1), kernel) + bias, 4, 1)
            c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
            return tf.tanh(c) * tf.sigmoid(o), c

        h = c = tf.zeros((2, UNITS))
        if static:
            rows = []
            for row in tf.unstack(x, axis=1):
                h, c = step(row, h, c)
                rows.append(h)
            y = tf.stack(rows, 1)
        else:
            rows = tf.TensorArray(tf.float32, STEPS).unstack(tf.transpose(x, (1, 0, 2)))
            outputs = tf.TensorArray(tf.float32, STEPS)

            def body(t, h, c, outputs):
                h, c = step(rows.read(t), h, c)
                return t + 1, h, c, outputs.write(t, h)

            *_, outputs = tf.while_loop(lambda t, *_: t < STEPS, body, (0, h, c, outputs))
            y = tf.transpose(outputs.stack(), (1, 0, 2))
        y = tf.identity(y, "y")
        session.run(v1.global_variables_initializer())
        values = np.random.default_rng(0).normal(size=x.shape).astype(np.float32)
        result = session.run(y, {x: values})
        definition = v1.graph_util.convert_variables_to_constants(session, session.graph_def, ["y"])
        count = n_operators(lambda: v1.lite.TFLiteConverter.from_session(session, [x], [y]))
    return {
        "graph": np.frombuffer(definition.SerializeToString(deterministic=True), np.uint8),
        "x": values,
        "y": result,
        "operators": np.int32(count),
    }


def main() -> None:
    arrays = {}
    for name, make in LAYERS.items():
        for version, k in ((2, tf_keras), (3, keras)):
            for kind, shape in SHAPES.items():
                if kind == "any" and name not in ("LSTM", "GRU"):
                    continue
                case = f"{name}_keras{version}_{kind}"
                print(case)
                rows = recorded(make, k, shape)
                arrays |= {f"{case}/{key}": value for key, value in rows.items()}
    rows = recorded(LAYERS["LSTM"], keras, ONE)
    arrays |= {f"LSTM_keras3_one/{key}": value for key, value in rows.items()}
    for static in (False, True):
        case = f"tf1_{'static' if static else 'dynamic'}"
        arrays |= {f"{case}/{key}": value for key, value in version_1(static).items()}
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    path = Path(__file__).parent / "recurrent.npz.xz"
    path.write_bytes(lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME))
    print({key: int(v) for key, v in arrays.items() if key.endswith("operators")})


if __name__ == "__main__":
    main()
