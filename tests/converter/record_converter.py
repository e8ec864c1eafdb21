"""Records what TensorFlow 2.21's converter says and writes, for test_as_tensorflow.py.

Run as `python tests/converter/record_converter.py [models]` in an environment with TensorFlow,
tf_keras and Keras 3; `models` also writes the SavedModels `open`, `several` and `unsigned` anew.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
NAMES = ("a", "image", "meta", "attention_mask", "input_ids", "token_type_ids_of_the_sentence")
LONG = "the_" * 17 + "end"


def write_models(tf):
    def spec(shape, name):
        return tf.TensorSpec(shape, tf.float32, name=name)

    def save(name, signatures):
        module = tf.Module()
        module.functions = list(signatures.values())
        folder = HERE / "tf/saved_models" / name
        shutil.rmtree(folder, ignore_errors=True)
        tf.saved_model.save(module, str(folder), signatures=signatures)
        (folder / "fingerprint.pb").unlink()

    @tf.function(input_signature=[spec([2], "a"), spec([2], "b")])
    def subtract(a, b):
        return {"difference": a - b}

    @tf.function(input_signature=[spec([2], name) for name in (*NAMES, LONG)])
    def add(*all):
        return {name: tf.add_n(all) * (i + 1.0) for i, name in enumerate((LONG, *NAMES))}

    @tf.function(input_signature=[spec([], "x")])
    def scalar(x):
        return {"y": x * 2.0, "z": x + 1.0}

    save("several", {"subtract": subtract, "add": add, "scalar": scalar})
    save("unsigned", {})

    def signature(*shapes):
        @tf.function(input_signature=[spec(s, f"x{i}") for i, s in enumerate(shapes)])
        def function(*xs):
            return {f"y{i}": x + x for i, x in enumerate(xs)}

        return function

    save(
        "open",
        {
            "fixed": signature([1, 16, 3]),
            "batch": signature([None, 16, 3]),
            "inner": signature([1, None, 3], [None, 2]),
            "all": signature([None, None]),
        },
    )


def write_mapped():
    """A model of Keras 2 with dicts of inputs and outputs, and names that are none of a graph's."""
    import tf_keras

    inputs = {
        key: tf_keras.Input((n,), name=name)
        for key, n, name in (("zeta", 4, "zeta"), ("mid", 6, "in the middle"), ("alpha", 5, "a b"))
    }
    outputs = {
        name: tf_keras.layers.Dense(i + 1)(x)
        for i, (name, x) in enumerate(zip("qpr", inputs.values(), strict=True))
    }
    tf_keras.Model(inputs, outputs).save(HERE / "keras" / "mapped_keras2.h5")
    shapes = {"c": (4,), "b": (5,), "a": (3, 4)}
    inputs = [tf_keras.Input(shape, name=name) for name, shape in shapes.items()]
    shared, zeta = tf_keras.layers.Dense(2, name="shared"), tf_keras.layers.Dense(3, name="zeta")
    outputs = {key: f(x) for key, f, x in zip("rpq", (shared, zeta, shared), inputs, strict=True)}
    tf_keras.Model(inputs, outputs).save(HERE / "keras" / "mapped_keras2.keras")


def load(lite, v1, keras, kind, path, arguments):
    """A converter of TensorFlow's."""
    if (kind == "keras" and path.endswith(".keras")) or (kind == "keras" and "keras3" in path):
        return lite.TFLiteConverter.from_keras_model(keras.models.load_model(path))
    if kind == "keras":
        return v1.TFLiteConverter.from_keras_model_file(path)
    owner = lite if kind == "v2" else v1
    return owner.TFLiteConverter.from_saved_model(path, **arguments)


def described(content):
    """Names, shapes and keys of a file by position, and its conversion metadata."""
    from tensorflow.lite.python import util

    model = util._convert_model_from_bytearray_to_object(content)
    keys = {s.subgraphIndex: s for s in model.signatureDefs or ()}
    subgraphs = []
    for i, graph in enumerate(model.subgraphs):
        key = keys.get(i)
        ends = {}
        for kind in ("inputs", "outputs"):
            fields = getattr(graph, kind)
            maps = getattr(key, kind) if key else ()
            of = {int(m.tensorIndex): m.name.decode() for m in maps}
            ends[kind] = [
                [
                    of.get(int(t)),
                    graph.tensors[t].name.decode(),
                    None if graph.tensors[t].shape is None else graph.tensors[t].shape.tolist(),
                ]
                for t in fields
            ]
        subgraphs.append({"key": key.signatureKey.decode() if key else None, **ends})
    environment = util.get_conversion_metadata(content).environment
    return {
        "subgraphs": subgraphs,
        "api_version": int(environment.apiVersion),
        "model_type": int(environment.modelType),
    }


def modes(lite, path):
    """The optimization modes in the metadata, by how a model is quantized."""
    import numpy as np
    from tensorflow.lite.python import util

    def samples():
        return ([np.ones((1, 16, 3), np.float32)] for _ in range(2))

    rows = {
        "float": {},
        "dynamic": {"optimizations": [lite.Optimize.DEFAULT]},
        "int8": {"optimizations": [lite.Optimize.DEFAULT], "representative_dataset": samples},
        "samples alone": {"representative_dataset": samples},
    }
    recorded = {}
    for name, attributes in rows.items():
        converter = lite.TFLiteConverter.from_saved_model(path, ["fixed"])
        for key, value in attributes.items():
            setattr(converter, key, value)
        options = util.get_conversion_metadata(converter.convert()).options
        written = options.modelOptimizationModes
        recorded[name] = None if written is None else [int(mode) for mode in written]
    return recorded


def record(part, target):
    """One process's share: Keras 2 and 3 do not live in one."""
    import tensorflow as tf
    from tensorflow.python.saved_model.loader_impl import parse_saved_model

    sys.path.insert(0, str(HERE.parent / "support"))
    import converter_calls as table

    lite, v1 = tf.lite, tf.compat.v1.lite
    result = {"errors": {}, "files": {}}
    for name, (kind, path, arguments) in table.POSITIONS.items():
        if (part == "2") != ("keras2" in name):
            continue
        converter = load(lite, v1, tf.keras, kind, path(str(HERE)), arguments)
        result["files"][name] = described(converter.convert())
    model = parse_saved_model(table.VERSION_1(str(HERE)))
    table.write_files(model.meta_graphs[0].graph_def.SerializeToString())
    for name, call in (table.KERAS_CALLS if part == "2" else table.CALLS).items():
        types, text = table.outcome(call, lite, v1, str(HERE))
        result["errors"][name] = [types[0], text]
    if part == "3":
        result["modes"] = modes(lite, table.OPEN(str(HERE)))
        rows = tf.fingerprint(tf.constant(table.TEXTS)).numpy()
        result["fingerprints"] = [int.from_bytes(bytes(row), "little") for row in rows]
    Path(target).write_text(json.dumps(result))


def main():
    if sys.argv[1:2] == ["record"]:
        return record(*sys.argv[2:])
    os.environ["CUDA_VISIBLE_DEVICES"], os.environ["TF_CPP_MIN_LOG_LEVEL"] = "", "3"
    if "models" in sys.argv:
        import tensorflow as tf

        write_models(tf)
        write_mapped()
    actual = {"errors": {}, "files": {}}
    with tempfile.TemporaryDirectory() as folder:
        for part in "23":
            env = {**os.environ, "TF_USE_LEGACY_KERAS": "1" if part == "2" else "0"}
            target = os.path.join(folder, "part.json")
            command = [sys.executable, str(HERE / "record_converter.py"), "record", part, target]
            subprocess.run(command, env=env, cwd=folder, check=True)
            for key, value in json.loads(Path(target).read_text()).items():
                if isinstance(value, dict):
                    actual.setdefault(key, {}).update(value)
                else:
                    actual[key] = value
    (HERE / "as_tensorflow.json").write_text(json.dumps(actual, indent=0) + "\n")
    return None


if __name__ == "__main__":
    main()
