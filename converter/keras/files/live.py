"""Keras models that are in memory, of any Keras and backend, through their own public methods."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ....schema.errors import ConverterError, ModelError
from ..registry import LAYERS
from .architecture import Layer
from .archive import Archive, parsed_json

LEGACY = "model_weights/"
METHODS = ("to_json", "layers", "weights")


def is_keras_model(model: Any) -> bool:
    """Whether an object looks like a model of Keras 2 or 3."""
    return not isinstance(model, type) and all(hasattr(type(model), name) for name in METHODS)


class LiveWeights:
    """The weights of a model's layers, with the methods of a Store: `model_weights/<layer>/<i>`."""

    def __init__(self, model: Any) -> None:
        self.what = f"the model '{model.name}'"
        self._weights = {
            f"{LEGACY}{layer.name}": [*layer.trainable_weights, *layer.non_trainable_weights]
            for layer in model.layers
        }

    def texts(self, path: str, name: str) -> list[str]:
        """The names of a layer's weights, which are numbers."""
        return [str(i) for i in range(len(self._weights.get(path, ())))]

    def names(self, path: str) -> list[str]:
        """None: there are no groups."""
        return []

    def shape(self, path: str) -> tuple[int, ...] | None:
        """The shape of a weight."""
        return tuple(int(n) for n in self._weight(path).shape)

    def array(self, path: str) -> np.ndarray:
        """The values of a weight."""
        weight = self._weight(path)
        return np.asarray(weight.numpy() if hasattr(weight, "numpy") else weight)

    def _weight(self, path: str) -> Any:
        folder, _, number = path.rpartition("/")
        return self._weights[folder][int(number)]


def archive_of(model: Any) -> Archive:
    """A model in memory as if it had been read from a file.

    Raises ModelError when it has not been built, or its architecture is not in its configuration.
    """
    what = f"the {type(model).__name__} '{getattr(model, 'name', '')}'"
    if not getattr(model, "built", True):
        raise ModelError(f"{what} must be built; call it on data, or give it an Input")
    with _described(what):
        text = model.to_json()
    config = parsed_json(text, what)
    version = config.get("keras_version")
    is_keras2 = isinstance(version, str) and version.startswith("2")
    return Archive(config, (2,) if is_keras2 else (3,), LiveWeights(model), True)


def spec_of(part: Any) -> dict:
    """What a layer, model or function of Keras 3 would be in a file.

    Raises ModelError when its configuration cannot be written.
    """
    with _described(part):
        spec = json.dumps(keras_of(type(part)).saving.serialize_keras_object(part))
    return parsed_json(spec, getattr(part, "name", ""))


@contextmanager
def _described(what: object) -> Generator[None]:
    """Says of what Keras, or a `get_config` of the program, cannot write the configuration."""
    try:
        yield
    except (AttributeError, LookupError, NotImplementedError, TypeError, ValueError) as error:
        raise ModelError(f"{what} cannot be described: {error}") from error


def can_export(model: Any) -> bool:
    """Whether a model may write itself as a SavedModel: TensorFlow is its backend, or may be."""
    return "tensorflow" in sys.modules and hasattr(model, "export")


def export(model: Any, folder: str) -> None:
    """Has a model write a SavedModel by its own method, which raises what Keras raises.

    Of Keras 2, TensorFlow writes it, which names the outputs after layers, where it can: a model
    may use variables that are no attributes of it.
    """
    from ...sources.running_tensorflow import SAVE_ERRORS

    if getattr(keras_of(type(model)), "__version__", "").startswith("2"):
        try:
            sys.modules["tensorflow"].saved_model.save(model, folder)
            return
        except SAVE_ERRORS:
            pass
    names = inspect.signature(model.export).parameters
    model.export(folder, **({"verbose": False} if "verbose" in names else {}))


def function_of(model: Any) -> Any:
    """The concrete function that a model which is not built yet computes, None without one.

    There is one where its `call` is a function of TensorFlow with an input signature.
    """
    call = getattr(model, "call", None)
    is_built = getattr(model, "built", True)
    if call is None or is_built or getattr(call, "input_signature", None) is None:
        return None
    return call.get_concrete_function()


def session_of(model: Any) -> Any:
    """The session that a model of Keras 2 was built for, in TensorFlow 1's graphs; else None."""
    package = keras_of(type(model))
    is_eager = sys.modules["tensorflow"].executing_eagerly()
    if is_eager or not getattr(package, "__version__", "").startswith("2"):
        return None
    return sys.modules["tensorflow"].compat.v1.keras.backend.get_session()


def running_keras(path: str) -> Any:
    """The Keras of the program that reads functions of it in a file, None without one.

    HDF5 is Keras 2's form, where the program has both.
    """
    names = ("keras", "tf_keras") if path.endswith(".keras") else ("tf_keras", "keras")
    packages = [sys.modules[name] for name in names if name in sys.modules]
    return packages[0] if packages else getattr(sys.modules.get("tensorflow"), "keras", None)


def quantized(mode: str) -> str:
    """What to do with a layer that Keras has quantized."""
    return (
        f"is quantized by Keras ({mode[:40]}); convert the model as it was before quantize(), and "
        "have the converter quantize it: converter.optimizations = [flatlite.lite.Optimize.DEFAULT]"
    )


def keras_of(value: Any) -> Any:
    """The running Keras that a class belongs to, with any backend; None without one."""
    packages = (base.__module__.split(".")[0] for base in getattr(value, "__mro__", ()))
    name = next((name for name in packages if name in ("keras", "tf_keras")), "")
    return sys.modules.get(name)


def function_name(setting: Any) -> str:
    """The name of a function or an object as Keras writes it, or what stands in its place."""
    if isinstance(setting, dict):
        keys = ("config", "registered_name", "class_name")
        names = [setting[key] for key in keys if isinstance(setting.get(key), str)]
        return names[0] if names else str(setting)
    return str(setting)


def _with_functions(config: Any, custom_objects: Mapping[str, Any]) -> Any:
    """Settings, those of inner layers too, whose activations are the program's functions."""
    if isinstance(config, list):
        return [_with_functions(part, custom_objects) for part in config]
    if not isinstance(config, dict):
        return config
    return {
        key: custom_objects[function_name(value)]
        if key.endswith("activation") and function_name(value) in custom_objects
        else _with_functions(value, custom_objects)
        for key, value in config.items()
    }


def note_custom(layers: list[Layer], custom_objects: Mapping[str, Any]) -> None:
    """Notes which known layer those of `custom_objects` are written as, and their activations.

    Args:
        layers: All layers of a model.
        custom_objects: By the names of classes: a class of Keras, or derived from one without a
            `call` of its own, or the name of a layer that does the same. By those of functions: a
            function of flatlite's operations, or the name of an activation that does the same.

    Raises ConverterError when an object is something else.
    """
    for layer in layers:
        layer.config = _with_functions(layer.config, custom_objects)
    for name, value in custom_objects.items():
        known = known_class(value)
        for layer in layers:
            if name in (layer.kind, layer.kind.rpartition(">")[2], layer.kind.rpartition(".")[2]):
                if not known or (isinstance(value, str) and LAYERS.get(known) is None):
                    raise ConverterError(
                        f"custom_objects: '{name}' must be the name of a Keras layer, or a class "
                        f"derived from one that computes the same, got {value!r}; save the "
                        "model as a SavedModel and use TFLiteConverter.from_saved_model"
                    )
                layer.written_as = known


def known_class(value: Any) -> str:
    """The layer of Keras that an object of custom_objects computes the same as, "" for none."""
    if isinstance(value, str):
        return value
    bases = getattr(value, "__mro__", ())
    is_model = any(base.__name__ == "Model" and _is_of_keras(base) for base in bases)
    methods = {"call", "__call__", *(["get_config"] if is_model else [])}  # not that of its layers
    for base in bases:
        if _is_of_keras(base):
            return base.__name__
        if methods & vars(base).keys():
            return ""
    return ""


def _is_of_keras(value: type) -> bool:
    return value.__module__.split(".")[0] in ("keras", "tf_keras")
