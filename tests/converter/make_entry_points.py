"""Records what TensorFlow 2.21's converter and command say, for test_entry_points.py.

Run as `python tests/converter/make_entry_points.py` in an environment with TensorFlow; the graphs
are recorded, too, as GraphDefs.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf
from tensorflow.lite.python import tflite_convert, util

TARGET = Path(__file__).with_name("entry_points.json")
v1 = tf.compat.v1
lite = v1.lite


def frozen(build):
    """The bytes of the graph that a function builds."""
    with v1.Graph().as_default() as graph:
        build()
    return graph.as_graph_def().SerializeToString()


def trained():
    x = v1.placeholder(tf.float32, [2, 4], "x")
    x = tf.quantization.fake_quant_with_min_max_args(x, -1.0, 1.0)
    w = tf.constant(np.linspace(-1, 1, 32, dtype=np.float32).reshape(4, 8))
    w = tf.quantization.fake_quant_with_min_max_args(w, -1.0, 1.0, narrow_range=True)
    y = tf.quantization.fake_quant_with_min_max_args(tf.matmul(x, w), -4.0, 4.0)
    tf.identity(y, "y")


def sparse(blocks):
    def build():
        weights = np.zeros((32, 32), np.float32)
        if blocks:
            weights[:16, ::8] = 1.5
        else:
            weights[np.random.default_rng(0).uniform(size=(32, 32)) > 0.7] = 1.5
        x = v1.placeholder(tf.float32, [2, 32], "x")
        tf.matmul(x, tf.constant(weights), name="y")

    return build


def half_float():
    """CEIL, which has no integer kernel, before and behind operators that have."""
    a, b = (v1.placeholder(tf.float32, [1, 8], name) for name in ("a", "b"))
    tf.add(tf.math.ceil(a), b, name="sum")
    tf.math.ceil(tf.tanh(b), name="rounded")


def doubled():
    x = v1.placeholder(tf.float32, [None, 4], "x")
    tf.add(x, v1.placeholder(tf.float32, [None, 4], "z"), name="y")


def faked_output():
    x = v1.placeholder(tf.float32, [1, 4], "x")
    tf.quantization.fake_quant_with_min_max_args(x + x, 0.0, 1.0, name="y")


def dataset():
    tf.identity(
        tf.raw_ops.RangeDataset(
            start=tf.constant(0, tf.int64),
            stop=tf.constant(3, tf.int64),
            step=tf.constant(1, tf.int64),
            output_types=[tf.int64],
            output_shapes=[[]],
        ),
        "y",
    )


GRAPHS = {
    "trained": trained,
    "blocks": sparse(True),
    "random": sparse(False),
    "half_float": half_float,
    "doubled": doubled,
    "faked_output": faked_output,
    "dataset": dataset,
}
SAMPLES = {
    "trained": lambda: [[np.full((2, 4), i / 4, np.float32)] for i in (-3, 1, 2)],
    "half_float": lambda: [[np.full((1, 8), i, np.float32)] * 2 for i in (-2, 1, 2)],
}
DEFAULT, SPARSITY = lite.Optimize.DEFAULT, lite.Optimize.EXPERIMENTAL_SPARSITY
MODES = {
    "trained": ("trained", [DEFAULT], False),
    "trained, with samples": ("trained", [DEFAULT], True),
    "blocks": ("blocks", [SPARSITY], False),
    "random": ("random", [SPARSITY], False),
    "blocks, quantized": ("blocks", [DEFAULT, SPARSITY], False),
}
ENDS = {"half_float": (["a", "b"], ["sum", "rounded"]), "dataset": ([], ["y"])}
IN_TEXT = "--enable_v1_converter --saved_model_dir=s --custom_opdefs=x"
COMMANDS = [
    "--enable_v1_converter --graph_def_file=g.pb",
    "--enable_v1_converter --graph_def_file=g.pb --input_arrays=x",
    "--enable_v1_converter --saved_model_dir=s --input_shapes=1,2",
    "--enable_v1_converter --saved_model_dir=s --input_arrays=a,b --input_shapes=1,2",
    "--enable_v1_converter --saved_model_dir=s --mean_values=1",
    "--enable_v1_converter --saved_model_dir=s --mean_values=1 --std_dev_values=1,2",
    "--enable_v1_converter --saved_model_dir=s --default_ranges_min=0",
    "--enable_v1_converter --saved_model_dir=s --dump_graphviz_video",
    IN_TEXT,
    f"{IN_TEXT} --allow_custom_ops --experimental_new_converter=false",
    "--enable_v1_converter --saved_model_dir=s --input_file=x",
    "--enable_v1_converter --saved_model_dir=s --batch_size=1",
    "",
]
"""Flags that TensorFlow's command refuses before it reads a model."""


def converter_of(graphs, name):
    message = v1.GraphDef.FromString(graphs[name])
    inputs, outputs = ENDS.get(name, (["x"], ["y"]))
    shapes = [
        (i, [d.size for d in node.attr["shape"].shape.dim])
        for i in inputs
        for node in message.node
        if node.name == i
    ]
    if not shapes:
        with v1.Graph().as_default() as graph:
            tf.import_graph_def(message, name="")
        outs = [graph.get_tensor_by_name(f"{o}:0") for o in outputs]
        return lite.TFLiteConverter(message, [], outs)
    return lite.TFLiteConverter(message, None, None, shapes, outputs)


def modes(graphs):
    result = {}
    for key, (name, optimizations, is_measured) in MODES.items():
        converter = converter_of(graphs, name)
        converter.optimizations = optimizations
        if is_measured:
            converter.representative_dataset = SAMPLES[name]
        options = util.get_conversion_metadata(converter.convert()).options
        written = options.modelOptimizationModes
        result[key] = [] if written is None else [int(mode) for mode in written]
    return result


def ends(graphs):
    """The types of inputs and outputs, by the quantizer and the type that is asked for."""
    result = {}
    for is_new in (True, False):
        for dtype in (tf.int8, tf.uint8):
            converter = converter_of(graphs, "half_float")
            converter.optimizations = [DEFAULT]
            converter.representative_dataset = SAMPLES["half_float"]
            converter.experimental_new_quantizer = is_new
            converter.inference_input_type = converter.inference_output_type = dtype
            interpreter = tf.lite.Interpreter(model_content=converter.convert())
            result[f"{is_new} {dtype.name}"] = [
                [np.dtype(row["dtype"]).name for row in rows]
                for rows in (interpreter.get_input_details(), interpreter.get_output_details())
            ]
    return result


def error_of(call):
    try:
        call()
    except Exception as error:
        return [type(error).__name__, str(error).split("\n")[0]]
    return None


def errors(graphs):
    def stats(inference_type, input_type):
        converter = converter_of(graphs, "faked_output")
        converter.inference_type, converter.inference_input_type = inference_type, input_type
        return error_of(converter.convert)

    message = v1.GraphDef.FromString(graphs["doubled"])
    converter = lite.TFLiteConverter
    return {
        "statistics": [stats(tf.uint8, None), stats(tf.float32, tf.int8)],
        "wrong name": error_of(converter(message, None, None, [("w", [1, 4])], ["y"]).convert)[:1],
        "one of two": error_of(converter(message, None, None, [("x", [1, 4])], ["y"]).convert)[:1],
    }


def codes(graphs):
    """The custom operators of a file with operations that TensorFlow is to run."""
    converter = converter_of(graphs, "dataset")
    converter.target_spec.supported_ops = [lite.OpsSet.TFLITE_BUILTINS, lite.OpsSet.SELECT_TF_OPS]
    converter.target_spec.experimental_select_user_tf_ops = ["RangeDataset"]
    model = util._convert_model_from_bytearray_to_object(converter.convert())
    return [code.customCode.decode() for code in model.operatorCodes]


def debug_content(graphs):
    converter = converter_of(graphs, "half_float")
    converter.serialize_debug_metadata = True
    model = util._convert_model_from_bytearray_to_object(converter.convert())
    (entry,) = [m for m in model.metadata if m.name == b"debug_metadata"]
    return base64.b64encode(bytes(model.buffers[entry.buffer].data)).decode()


def authoring_log():
    @tf.lite.experimental.authoring.compatible
    @tf.function
    def f():
        return tf.data.Dataset.range(3).shuffle(3, reshuffle_each_iteration=True)

    with contextlib.redirect_stdout(io.StringIO()):
        f()
    return [message for message in f.get_compatibility_log() if message.startswith("COMP")]


def command(flags):
    """Status and last line of an error of `tflite_convert`."""
    argv, sys.argv = sys.argv, ["tflite_convert", "--output_file=o", *flags.split()]
    text = io.StringIO()
    status = 0
    try:
        with contextlib.redirect_stderr(text), contextlib.redirect_stdout(io.StringIO()):
            tflite_convert.run_main([])
    except SystemExit as stop:
        status = stop.code
    finally:
        sys.argv = argv
    return [status, text.getvalue().partition("error: ")[2].strip()]


def main():
    graphs = {name: frozen(build) for name, build in GRAPHS.items()}
    result = {
        "graphs": {name: base64.b64encode(g).decode() for name, g in graphs.items()},
        "modes": modes(graphs),
        "ends": ends(graphs),
        "errors": errors(graphs),
        "codes": codes(graphs),
        "debug": debug_content(graphs),
        "authoring": authoring_log(),
        "commands": {flags: command(flags) for flags in COMMANDS},
    }
    TARGET.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
