"""Sources of live objects: functions of a running TensorFlow, models of a running Keras."""

from __future__ import annotations

import inspect
import logging
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...schema.errors import ConverterError, noted
from ..callers import caller
from ..sources.source import GraphSource, Source, naming
from .arguments import known_shapes

_LOGGER = logging.getLogger("flatlite")
EXPORT = (
    "save the model as a SavedModel, with tf.saved_model.save(model, folder) or, from Keras 3, "
    "model.export(folder), and use TFLiteConverter.from_saved_model(folder)"
)


def is_concrete(function: Any) -> bool:
    """Whether something is one of TensorFlow's concrete functions."""
    return any(kind.__name__ == "ConcreteFunction" for kind in type(function).__mro__)


def function_sources(funcs: Any, owner: Any = None) -> list[GraphSource]:
    """The sources of concrete functions; arguments and errors as of `from_concrete_functions`."""
    functions = list(funcs) if isinstance(funcs, Iterable) else [funcs]
    if not all(map(is_concrete, functions)):
        text = "This function takes in a list of ConcreteFunction."
        if any(hasattr(function, "get_concrete_function") for function in functions):
            text += " To get the ConcreteFunction from a Function, call get_concrete_function."
        raise noted(ValueError(text), f"Given is {funcs}")
    if not functions:
        raise ValueError("No ConcreteFunction is specified.")
    if not all(hasattr(function, "graph") for function in functions):
        raise TypeError(
            f"from_concrete_functions needs functions of a running TensorFlow; {EXPORT}"
        )
    with naming(None):
        if owner is not None and not hasattr(owner, "python_function"):
            return _owned(functions, owner)
        return [_frozen(functions)]


def frozen_sources(funcs: Any) -> list[GraphSource]:
    """A single function, frozen whoever owns it; errors as of `from_concrete_functions`."""
    try:
        return function_sources(funcs)
    except ValueError as error:
        noted(error, "experimental_lower_to_saved_model = False asks for a frozen function")
        raise


def _frozen(functions: Sequence[Any]) -> GraphSource:
    """A single function with the values of its variables."""
    from ..sources import running_tensorflow

    if len(functions) > 1:
        raise noted(
            ValueError("This converter can only convert a single ConcreteFunction."),
            f"For several, {running_tensorflow.PROVIDE}",
        )
    return running_tensorflow.frozen_function(functions[0])


def _owned(functions: Sequence[Any], owner: Any) -> list[GraphSource]:
    """Functions saved by their owner; a single one that it cannot save is frozen."""
    from tempfile import TemporaryDirectory

    from ..sources import running_tensorflow

    with TemporaryDirectory() as folder:
        try:
            return running_tensorflow.saved(functions, owner, folder)
        except running_tensorflow.SaveError as error:
            if len(functions) > 1:
                raise
            source = _frozen(functions)
            warnings.warn(
                f"{error}; it is frozen, as without trackable_obj, and the file has no signature",
                stacklevel=caller(),
            )
            return [source]


def keras_sources(model: Any, is_frozen: bool = False) -> Sequence[Source]:
    """The sources of a Keras model in memory; errors as of `from_keras_model`.

    With `is_frozen` they have the names of frozen graphs, and no signatures.
    """
    from ..keras.files.live import can_export, export, function_of, is_keras_model, session_of
    from ..sources import keras, running_tensorflow, saved_model

    if not is_keras_model(model):
        raise TypeError(f"from_keras_model cannot read a live {type(model).__name__}; {EXPORT}")
    try:
        with naming(None):
            return [keras.from_live(model, is_frozen)]
    except (ConverterError, ValueError):
        function = function_of(model)
        if function is not None:
            with naming(None):
                return [running_tensorflow.frozen_function(function)]
        if not can_export(model):
            with naming(None):
                source = _of_program(model)
            if source is None:
                raise
            return [source]
        session = session_of(model)
        if session is not None:
            inputs, outputs = list(model.inputs), list(model.outputs)
            shapes = known_shapes(inputs)
            return [running_tensorflow.from_session(session, inputs, outputs, shapes)]
        from tempfile import TemporaryDirectory

        with TemporaryDirectory() as folder:
            export(model, folder)
            sources = saved_model.load(folder, api_version=2)
        return [as_frozen(source) for source in sources] if is_frozen else sources


def _of_program(model: Any) -> Source | None:
    """The source of a Keras 3 model with classes of the program, None of another Keras.

    What does not work on symbolic tensors is traced by PyTorch, where that is its backend.
    """
    from ..keras.files.torch_graph import can_trace, onnx_model
    from ..sources import keras, onnx

    try:
        return keras.from_program(model)
    except ConverterError as error:
        if not can_trace(model):
            raise
        source = onnx.load(onnx_model(model))
        _LOGGER.warning("flatlite: %s, so the model is traced by PyTorch", _reason(error))
        return source


def _reason(error: ConverterError) -> str:
    """What an error says before it says what to do."""
    return str(error).partition(";")[0]


def as_frozen(source: GraphSource) -> GraphSource:
    """A signature with the names that its function has when TensorFlow freezes it.

    Inputs are called as the arguments; results are Identity, Identity_1 and so on.
    """
    inputs = tuple(replace(port, name=port.key) for port in source.inputs)
    outputs = tuple(
        replace(port, name=f"Identity_{i}" if i else "Identity")
        for i, port in enumerate(source.outputs)
    )
    return replace(source, key=None, inputs=inputs, outputs=outputs, tensorflow=None)


def loaded_with(path: str | os.PathLike, custom_objects: Mapping[str, Any]) -> Any:
    """The model in a file with what only the program's Keras can run, None without such.

    Keras 2 (tf_keras) and Keras 3 read their own classes; functions do not say whose they are.
    """
    from ..keras.files.live import keras_of, known_class, running_keras

    others = [value for value in custom_objects.values() if not known_class(value)]
    packages = [package for value in others if (package := keras_of(value)) is not None]
    if others and not packages and all(map(inspect.isroutine, others)):
        packages = [running_keras(os.fspath(path))]
    if not packages or packages[0] is None:
        return None
    return packages[0].models.load_model(path, custom_objects=dict(custom_objects), compile=False)
