"""Live Keras 3 models with classes and functions of the program, as what these consist of.

What a configuration does not describe is called on Keras' symbolic tensors, by its own `call`: a
model of the layers and of the functions of `keras.ops` that it uses comes of it, on any backend.

    x -> Scale -> y      becomes      x, Weight -> Multiply -> y      in a model called "scale"
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ....schema.errors import ConverterError
from .jax_modules import module_results, symbolic_tensors
from .live import keras_of, quantized

WEIGHT = "flatlite.Weight"
"""The layer that gives a weight of a layer of the program, whatever it is called with."""
CALL_ERRORS = (AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError)
"""What a `call` raises that asks for values, or for functions of a backend."""
MAX_DEPTH = 32
MAX_CONSTANT = 64
"""Elements of a constant that is written among the arguments of a function."""
FIX = (
    "write it with functions of keras.ops and layers, a symbolic tensor first (x * w, not w * x), "
    "or, where TensorFlow is installed, save the model as a SavedModel (model.export(folder)) and "
    "use TFLiteConverter.from_saved_model(folder)"
)


def expanded(model: Any, is_known: Callable[[Any], bool]) -> Any:
    """A model with the same inputs, outputs and weights, all of whose layers are known.

    Args:
        model: A built model of the Keras 3 in this process, of any class and backend.
        is_known: Whether a layer or function is written by what its configuration says.

    Returns None when the model is of another Keras.

    Raises ConverterError naming the layer whose `call` does not work on symbolic tensors.
    """
    keras = keras_of(type(model))
    if keras is None or not getattr(keras, "__version__", "").startswith("3"):
        return None
    inputs = symbolic_inputs(keras, model)
    return _Expansion(keras, is_known).model_of(model, *inputs, model.name, 0)


def symbolic_inputs(keras: Any, model: Any) -> tuple[tuple, dict]:
    """Symbolic arguments like those that a model was built with, in batches of any size."""
    if hasattr(model, "input") and getattr(model, "inputs", None):
        structure = keras.tree.map_structure(
            lambda x: keras.Input(batch_shape=x.shape, dtype=x.dtype, name=x.name), model.input
        )
        return (structure,), {}
    config = model.get_build_config() or {}
    names = list(inspect.signature(model.call).parameters)
    shapes = {names[0]: config.get("input_shape")}
    if "shapes_dict" in config:
        shapes = {key.removesuffix("_shape"): s for key, s in config["shapes_dict"].items()}
    return (), {key: _like(keras, key, s, model.input_dtype) for key, s in shapes.items()}


def _like(keras: Any, name: str, shape: Any, dtype: str) -> Any:
    """Inputs of a shape, or of a list or dict of shapes."""
    if isinstance(shape, Mapping):
        return {key: _like(keras, key, item, dtype) for key, item in shape.items()}
    if not isinstance(shape, list | tuple) or not shape:
        raise ConverterError(f"Keras does not say with what shape of '{name}' the model was built")
    if all(size is None or isinstance(size, int) for size in shape):
        return keras.Input(batch_shape=(None, *shape[1:]), dtype=dtype, name=name)
    return [_like(keras, f"{name}_{i}", item, dtype) for i, item in enumerate(shape)]


class _Expansion:
    """One model's layers, and the weights that were made layers."""

    def __init__(self, keras: Any, is_known: Callable[[Any], bool]) -> None:
        self.keras, self.is_known = keras, is_known
        self.weight_class = weight_class(keras)
        self.names: dict[str, int] = {}

    def model_of(self, layer: Any, args: tuple, kwargs: Mapping, name: str, depth: int) -> Any:
        """What a layer or model does with symbolic arguments, as a model of known layers."""
        if depth > MAX_DEPTH:
            raise ConverterError(
                f"{_title(layer)}: layers call layers deeper than {MAX_DEPTH} levels"
            )
        mode = getattr(layer, "quantization_mode", None)
        if mode is not None:
            raise ConverterError(f"{_title(layer)} {quantized(mode)}")
        tree, inputs = self.keras.tree, symbolic_tensors(self.keras, (args, kwargs))
        kwargs = {key: item for key, item in kwargs.items() if key != "training"}
        if "training" in inspect.signature(layer.call).parameters:
            kwargs["training"] = False
        try:
            results = layer.call(*args, **kwargs)
        except CALL_ERRORS as error:
            if self.keras.backend.backend() != "jax":
                raise _refusal(layer, error) from error
            results = module_results(self.keras, layer, args, kwargs)
        results = tree.map_structure(lambda x: self._as_tensor(x, inputs[0]), results)
        traced = self.keras.Model(inputs, results, name=name)

        def called(inner: Any, *args: Any, **kwargs: Any) -> Any:
            return self._called(inner, args, kwargs, depth)

        return self.keras.models.clone_model(
            traced, clone_function=lambda inner: inner, call_function=called
        )

    def _called(self, layer: Any, args: tuple, kwargs: dict, depth: int) -> Any:
        """The results of one call: of a known layer, or of the model that it becomes."""
        tree, tensors = self.keras.tree, symbolic_tensors(self.keras, (args, kwargs))
        if self.is_known(layer):
            args, kwargs = tree.map_structure(
                lambda x: self._as_tensor(x, tensors[0]), (args, kwargs)
            )
            return layer(*args, **kwargs)
        if not isinstance(layer, self.keras.Layer):
            raise ConverterError(f"{_title(layer)} is not supported; {FIX}")
        copies = {id(x): self.keras.Input(batch_shape=x.shape, dtype=x.dtype) for x in tensors}
        args, kwargs = tree.map_structure(lambda x: copies.get(id(x), x), (args, kwargs))
        model = self.model_of(layer, args, kwargs, self._name(layer.name), depth + 1)
        unique = {id(x): x for x in tensors}
        return model(list(unique.values()))

    def _name(self, name: str) -> str:
        """A name for each call of a layer: each becomes a model."""
        self.names[name] = number = self.names.get(name, -1) + 1
        return f"{name}_call_{number}" if number else name

    def _as_tensor(self, value: Any, like: Any) -> Any:
        """A variable or array as what a layer gives; small arrays and integers as arrays."""
        is_variable = isinstance(value, self.keras.Variable)
        if not is_variable and not self.keras.ops.is_tensor(value):
            return value
        if isinstance(value, self.keras.KerasTensor):
            return value
        array = np.asarray(self.keras.ops.convert_to_numpy(value))
        if array.dtype.kind != "f" or array.size <= MAX_CONSTANT:
            return array if array.ndim else array.item()
        return self.weight_class(value)(like)


def weight_class(keras: Any) -> type:
    """The class of layers that give a weight of another, of the Keras in this process."""

    class Weight(keras.layers.Layer):
        """Gives a variable, or an array, of floats."""

        def __init__(self, value: Any) -> None:
            is_variable = isinstance(value, keras.Variable)
            super().__init__(trainable=is_variable and value.trainable, dtype="float32")
            self.sizes = [int(n) for n in value.shape]
            self.value = value if is_variable else keras.Variable(value, trainable=False)
            self.built = True

        def call(self, x: Any) -> Any:
            return self.value

        def compute_output_spec(self, x: Any) -> Any:
            return keras.KerasTensor(self.sizes, "float32")

        def get_config(self) -> dict:
            return {**super().get_config(), "shape": self.sizes}

    Weight.__module__, Weight.__qualname__ = WEIGHT.split(".")
    return Weight


def _title(layer: Any) -> str:
    return f"{type(layer).__name__} '{layer.name}'"


def _refusal(layer: Any, error: Exception) -> ConverterError:
    first_line = str(error).strip().partition("\n")[0][:200]
    return ConverterError(
        f"{_title(layer)}: its call does not work on symbolic tensors: {first_line}; {FIX}"
    )
