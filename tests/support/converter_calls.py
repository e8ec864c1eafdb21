"""Calls of the converter that TensorFlow 2.21's converter and ours answer alike.

converter/record_converter.py runs them with TensorFlow, converter/test_as_tensorflow.py with
flatlite: `lite` is tf.lite or flatlite.lite, `v1` is compat.v1.lite, `folder` is `converter`.
"""

from __future__ import annotations

import os

import numpy as np

FROZEN = "../corpus/A/add/000/graph.pb"  # Add of input1, (2, ?), and input2, (?, 3, 2, 1)
WRITTEN_FIRST = ("bad.pb", "unfrozen.pb")
"""Files that the tests and the script write to the current folder: see `write_files`."""


def saved(name):
    return lambda folder: os.path.join(folder, "tf", "saved_models", name)


TEXTS = [bytes((i * i + 7 * n) % 251 for i in range(n)) for n in range(131)]
"""What fingerprints are taken of."""
ORDERS, SEVERAL, UNSIGNED = saved("orders"), saved("several"), saved("unsigned")
KERAS, VERSION_1, OPEN = saved("keras"), saved("version_1"), saved("open")


def v2(model, keys=None, tags=None, **attributes):
    """Of tf.lite: signatures `keys` of a SavedModel, converted with these attributes."""
    return lambda lite, v1, folder: converted(
        lite,
        lite.TFLiteConverter.from_saved_model(model(folder), signature_keys=keys, tags=tags),
        attributes,
    )


def v1(model, /, **settings):
    """Of tf.compat.v1.lite: `from_saved_model(model, **given)`; capitals are attributes."""
    arguments = {key: value for key, value in settings.items() if key.islower()}
    attributes = {key.lower(): value for key, value in settings.items() if not key.islower()}
    return lambda lite, v1, folder: converted(
        v1, v1.TFLiteConverter.from_saved_model(model(folder), **arguments), attributes
    )


def frozen(inputs, outputs, shapes=None, path=FROZEN, **attributes):
    return lambda lite, v1, folder: converted(
        v1,
        v1.TFLiteConverter.from_frozen_graph(
            path if path in WRITTEN_FIRST else os.path.join(folder, path), inputs, outputs, shapes
        ),
        attributes,
    )


def converted(lite, converter, attributes):
    """What `convert` gives; an attribute that is a function is called with `lite` for its value."""
    for name, value in attributes.items():
        owner = converter.target_spec if hasattr(converter.target_spec, name) else converter
        setattr(owner, name, value(lite) if callable(value) else value)
    return converter.convert()


def default(lite):
    return [lite.Optimize.DEFAULT]


def samples(lite):
    return lambda: [[np.zeros((1, 16, 3), np.float32)]]


def only_int8(lite):
    return {lite.OpsSet.TFLITE_BUILTINS_INT8}


def constructed(*args):
    def call(lite, v1, folder):
        with open(os.path.join(folder, FROZEN), "rb") as file:
            return v1.TFLiteConverter(file.read(), *args).convert()

    return call


NOT_CONCRETE = [lambda x: x]
BOTH = ["input1", "input2"]
CALLS = {
    "no folder": v2(lambda folder: "nowhere"),
    "no folder, version 1": v1(lambda folder: "nowhere"),
    "unknown signature": v2(SEVERAL, ["nox"]),
    "unknown signature of two": v2(SEVERAL, ["subtract", "nox"]),
    "unknown signature of a Keras export": v2(KERAS, ["nox"]),
    "unknown signature of one's own orders": v2(ORDERS, ["nox"]),
    "no signatures": v2(UNSIGNED),
    "unknown tags": v2(SEVERAL, None, ["nox"]),
    "unknown tags, version 1": v1(SEVERAL, tag_set={"nox"}),
    "unknown signature, version 1": v1(VERSION_1, tag_set={"train", "gpu"}, signature_key="nox"),
    "no default signature, version 1": v1(VERSION_1, tag_set={"train", "gpu"}, signature_key="x"),
    "unknown input, version 1": v1(ORDERS, input_arrays=["nox"]),
    "unknown output, version 1": v1(ORDERS, output_arrays=["nox"]),
    "input that is no name, version 1": v1(ORDERS, input_arrays=[1]),
    "shape of an unknown input, version 1": v1(ORDERS, input_shapes={"nox": [1]}),
    "contradicting shape, version 1": v1(ORDERS, input_shapes={"serving_default_alpha": [None, 4]}),
    "shape of another rank, version 1": v1(ORDERS, input_shapes={"serving_default_alpha": [3]}),
    "no file": frozen(BOTH, ["Add"], path="nowhere.pb"),
    "a file of something else": lambda lite, v1, folder: v1.TFLiteConverter.from_frozen_graph(
        "bad.pb", ["x"], ["y"]
    ),
    "variables": frozen(["x"], ["z"], path="unfrozen.pb"),
    "unknown input": frozen(["nox"], ["Add"]),
    "unknown inputs": frozen(["nox", "input1", "neither"], ["Add"]),
    "unknown output": frozen(BOTH, ["nox"]),
    "input that is no name": frozen([1], ["Add"]),
    "output that is no name": frozen(BOTH, [None]),
    "shape of an unknown input": frozen(BOTH, ["Add"], {"nox": [1]}),
    "shape of a known and an unknown input": frozen(BOTH, ["Add"], {"input1": None, "nox": [1]}),
    "contradicting shape": frozen(BOTH, ["Add"], {"input1": [3]}),
    "constructor without tensors": constructed(None, None),
    "constructor without outputs": constructed(None, None, [("input1", [2, 4])]),
    "constructor without inputs": constructed(None, None, None, ["Add"]),
    "constructor with no inputs": constructed(None, None, [], ["Add"]),
    "functions: none": lambda lite, v1, folder: lite.TFLiteConverter.from_concrete_functions(
        []
    ).convert(),
    "functions: not concrete": lambda lite, v1, folder: (
        lite.TFLiteConverter.from_concrete_functions(NOT_CONCRETE)
    ),
    "unknown size, old converter": v1(
        OPEN, signature_key="inner", EXPERIMENTAL_NEW_CONVERTER=False
    ),
    "unknown sizes, old converter": v1(OPEN, signature_key="all", EXPERIMENTAL_NEW_CONVERTER=False),
    "unknown size, conversion summary": v1(
        OPEN, signature_key="inner", CONVERSION_SUMMARY_DIR="summary"
    ),
    "unknown sizes, conversion summary": v1(
        OPEN, signature_key="all", CONVERSION_SUMMARY_DIR="summary"
    ),
    "int8 without samples": v2(OPEN, ["fixed"], supported_ops=only_int8),
    "int8 without samples, optimized": v2(
        OPEN, ["fixed"], supported_ops=only_int8, optimizations=default
    ),
    "int8 without samples, version 1": v1(OPEN, signature_key="fixed", SUPPORTED_OPS=only_int8),
    "stablehlo without optimizations": v2(
        OPEN, ["fixed"], experimental_use_stablehlo_quantizer=True
    ),
    "stablehlo without samples": v2(
        OPEN, ["fixed"], experimental_use_stablehlo_quantizer=True, optimizations=default
    ),
    "stablehlo configuration alone": v2(
        OPEN, ["fixed"], experimental_stablehlo_quantizer_config=lambda lite: "a configuration"
    ),
    "stablehlo without samples, version 1": v1(
        OPEN, signature_key="fixed", EXPERIMENTAL_USE_STABLEHLO_QUANTIZER=True
    ),
    "unknown QDQ mode": v2(OPEN, ["fixed"], _experimental_qdq_conversion_mode="nox"),
    "type of biases of a float model": v2(
        OPEN, ["fixed"], _experimental_full_integer_quantization_bias_type="int32"
    ),
    "type of biases of an int8 model": v2(
        OPEN,
        ["fixed"],
        _experimental_full_integer_quantization_bias_type="int64",
        optimizations=default,
        representative_dataset=samples,
    ),
    "int8 input of a float model": v2(OPEN, ["fixed"], inference_input_type="int8"),
    "statistics for another input": v1(
        OPEN, signature_key="fixed", QUANTIZED_INPUT_STATS={"nox": (0.0, 1.0)}
    ),
    "unknown enum of operator sets": lambda lite, v1, folder: lite.OpsSet("NOX"),
    "unknown optimization": lambda lite, v1, folder: lite.Optimize("NOX"),
}
"""Functions that raise, by what is wrong."""

KERAS_CALLS = {
    "no Keras file": lambda lite, v1, folder: v1.TFLiteConverter.from_keras_model_file("no.h5"),
}
"""The same, of tf_keras."""

POSITIONS = {
    "orders": ("v2", ORDERS, {}),
    "orders, version 1": ("v1", ORDERS, {}),
    "orders, version 1, inputs": (
        "v1",
        ORDERS,
        {"input_arrays": [f"serving_default_{name}" for name in ("zeta", "alpha", "mid")]},
    ),
    "keras": ("v2", KERAS, {}),
    "keras, version 1": ("v1", KERAS, {}),
    "several": ("v2", SEVERAL, {}),
    "several, two": ("v2", SEVERAL, {"signature_keys": ["subtract", "add"]}),
    "several, none": ("v2", SEVERAL, {"signature_keys": []}),
    "several, version 1": ("v1", SEVERAL, {"signature_key": "subtract"}),
    "open": ("v2", OPEN, {}),
    "version 1": ("v1", VERSION_1, {}),
    **{
        name: ("keras", lambda folder, name=name: os.path.join(folder, "keras", name), {})
        for name in ("mapped_keras2.h5", "mapped_keras2.keras")
    },
    **{
        f"{name}_keras{n}{suffix}": (
            "keras",
            lambda folder, path=path: os.path.join(folder, path),
            {},
        )
        for n in (2, 3)
        for suffix in (".h5", ".keras")
        for name in ("activations", "images", "nested", "sequences")
        if (path := f"keras/models/{name}_keras{n}{suffix}")
    },
}
"""What is converted, how, and with which arguments."""


def outcome(call, lite, v1, folder):
    """The types, the nearest first, and the text of what a call raises."""
    try:
        call(lite, v1, folder)
    except Exception as error:  # whatever it is is what is wanted
        types = [kind.__name__ for kind in type(error).__mro__]
        return types, str(error).replace(folder, "FOLDER")
    return [], ""


def write_files(unfrozen):
    """Writes what WRITTEN_FIRST names; `unfrozen` are the bytes of a GraphDef with variables."""
    for name, content in zip(WRITTEN_FIRST, (b"bad data", unfrozen), strict=True):
        with open(name, "wb") as file:
            file.write(content)
