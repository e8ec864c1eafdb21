"""Keras 3 models in memory convert without TensorFlow: `KERAS_BACKEND=torch python live.py`.

Needs an environment with flatlite, Keras 3 and JAX or PyTorch, and no TensorFlow. What Keras
computes is the expected value; ends with an error when one differs. `live.py --record` writes
../converter/keras/calls/expanded_keras3.npz.xz: the models that come of those with classes of the
program, and what these compute, for tests that need no Keras.
"""

from __future__ import annotations

import inspect
import io
import lzma
import sys
import tempfile
import warnings
from pathlib import Path

import keras
import numpy as np
from keras import layers, ops

from flatlite.converter.keras.files.symbolic import expanded
from flatlite.converter.sources.keras import is_known
from flatlite.errors import ConverterError
from flatlite.lite import Interpreter, TFLiteConverter
from models import MODELS, Perceptron, Scale, floats

CALLS = Path(__file__).parents[1] / "converter/keras/calls/expanded_keras3.npz.xz"
TOLERANCE = {"other_types": 1e-2}
"""Of the largest value; Keras computes in bfloat16 where we do in float32."""
RECORDED = (
    *("custom_layer", "weights_of_some_size", "custom_mask", "custom_arguments", "custom_model"),
    *("nested_mask", "python_functions", "open_sizes", "other_open_sizes"),
)
"""With JAX, whose modules are among them."""


def flat(structure):
    """What a structure of tensors holds, as arrays."""
    return [np.asarray(ops.convert_to_numpy(x)) for x in keras.tree.flatten(structure)]


def outputs_of(net, inputs):
    """What Keras computes when nothing is learned."""
    takes_training = "training" in inspect.signature(net.call).parameters
    options = {"training": False} if takes_training else {}
    return net(inputs[0] if len(inputs) == 1 else inputs, **options)


def fed(net, inputs, names):
    """Inputs by their names in the file."""
    if isinstance(inputs[0], dict):
        return inputs[0]
    known = [x.name for x in getattr(net, "inputs", None) or ()]
    return dict(zip(known if set(known) == set(names) else names, inputs, strict=True))


def check(name) -> None:
    """Raises unless the file of a model gives what the model does."""
    keras.utils.set_random_seed(1)
    net, inputs = MODELS[name]()
    expected = outputs_of(net, inputs)
    content = TFLiteConverter.from_keras_model(net).convert()
    runner = Interpreter(model_content=content).get_signature_runner()
    details = runner.get_input_details()
    feeds = fed(net, inputs, details)
    results = runner(**{key: x.astype(details[key]["dtype"]) for key, x in feeds.items()})
    if isinstance(expected, dict):
        pairs = [(results[key], flat(expected[key])[0]) for key in expected]
    else:
        pairs = [(results[f"output_{i}"], y) for i, y in enumerate(flat(expected))]
    for got, want in pairs:
        atol = TOLERANCE.get(name, 1e-5) * max(1, np.abs(want).max())
        np.testing.assert_allclose(got, want, rtol=0, atol=atol, err_msg=name)
    print(f"{name}: {len(pairs)} outputs, {len(content)} bytes")


def refusal(net) -> str:
    """The text of the error that a model's conversion raises."""
    try:
        TFLiteConverter.from_keras_model(net)
    except ConverterError as error:
        return str(error)
    raise AssertionError(f"{net.name} is taken")


def check_refusals() -> None:
    """A `call` that needs values."""

    class OfValues(layers.Layer):
        def call(self, x):
            return ops.convert_to_tensor(np.sin(ops.convert_to_numpy(x)))

        def compute_output_spec(self, x):
            return keras.KerasTensor(x.shape, x.dtype)

    x = keras.Input((4,))
    text = refusal(keras.Model(x, OfValues(name="of_values")(x)))
    reasons = {
        "jax": "JAX cannot trace its call with sizes that are not known",
        "torch": "PyTorch cannot trace its call with sizes that are not known",
    }
    assert reasons[keras.backend.backend()] in text, text
    assert len(text.splitlines()) == 1, text


def check_changes() -> None:
    """Calls that change variables, which what is traced could not."""

    class Noise(layers.Layer):
        def build(self, shape):
            self.seed = keras.random.SeedGenerator(1)
            self.n_calls = self.add_weight(shape=(), initializer="zeros", trainable=False)

        def call(self, x):
            return x + keras.random.normal(ops.shape(x), seed=self.seed)

    class Counter(Noise):
        def call(self, x):
            self.n_calls.assign(self.n_calls + 1.0)
            return x + ops.arange(ops.shape(x)[1], dtype=x.dtype) * self.n_calls

    x = keras.Input((None,))
    names = {Counter: "variable"}
    if keras.backend.backend() == "jax":  # PyTorch cannot draw where a size is not known
        names[Noise] = "seed_generator_state"
    for kind, name in names.items():
        text = refusal(keras.Model(x, kind(name="layer")(x)))
        assert ": its call changes" in text, text
        assert "layer/" in text and name in text.partition(",")[0], text


def check_integers() -> None:
    """Weights that Keras has quantized; it rounds what the layers are given to 8 bits, too."""
    net, data = (
        keras.Sequential([keras.Input((8,)), layers.Dense(16), layers.Dense(4)]),
        floats(2, 8),
    )
    net.quantize("int8")
    runner = Interpreter(
        model_content=TFLiteConverter.from_keras_model(net).convert()
    ).get_signature_runner()
    (name,) = runner.get_input_details()
    (result,) = runner(**{name: data}).values()
    expected = flat(net(data))[0]
    np.testing.assert_allclose(result, expected, rtol=0, atol=0.02 * np.abs(expected).max())


def check_files() -> None:
    """Files with classes of the program, which custom_objects gives: a layer, a model."""
    x = keras.Input((3,), name="x")
    nets = {Scale: keras.Model(x, layers.Dense(2)(Scale()(x))), Perceptron: Perceptron(4)}
    for kind, net in nets.items():
        data = floats(2, 3)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.keras"
            net.save(path)
            converter = TFLiteConverter.from_keras_model_file(
                path, custom_objects={"act": np.tanh, kind.__name__: kind}
            )
        runner = Interpreter(model_content=converter.convert()).get_signature_runner()
        (result,) = runner(x=data).values()
        np.testing.assert_allclose(result, flat(net(data))[0], atol=1e-5)


def record() -> None:
    """Writes the models that those with classes of the program become."""
    arrays = {}
    for name in RECORDED:
        keras.utils.set_random_seed(1)
        net, inputs = MODELS[name]()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.keras"
            written = expanded(net, is_known)
            written.save(path, zipped=True)
            arrays[f"{name}/keras"] = np.frombuffer(path.read_bytes(), np.uint8)
        pairs = enumerate(zip(written.inputs, inputs, strict=True))
        arrays |= {f"{name}/0/in{i}": x.astype(like.dtype) for i, (like, x) in pairs}
        outputs = flat(outputs_of(net, inputs))
        arrays |= {f"{name}/0/out{i}": y for i, y in enumerate(outputs)}
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    CALLS.write_bytes(lzma.compress(stream.getvalue(), preset=9))


def main() -> None:
    """Checks every model, or records."""
    warnings.simplefilter("ignore")  # what Keras and its backends deprecate
    if sys.argv[1:] == ["--record"]:
        record()
        return
    for name in MODELS:
        check(name)
    check_refusals()
    check_changes()
    check_integers()
    check_files()
    assert "tensorflow" not in sys.modules
    print(f"{len(MODELS)} models of Keras {keras.__version__} on {keras.backend.backend()}")


if __name__ == "__main__":
    main()
