"""Live Keras models on PyTorch, which its own exporter traces into an ONNX model.

For what symbolic.py cannot call on Keras' symbolic tensors: PyTorch computes with open sizes
(`arange(n)`, `n // 2`) where a `call` does, and reports what holds for some sizes only.
"""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from ....schema.errors import ConverterError
from .jax_modules import COLOUR
from .live import keras_of
from .symbolic import symbolic_inputs

BATCH = 3
FIRST_SIZES = (5, 64)
"""Of words, then of images."""
FIX = (
    "give the model's Input a full shape, such as Input((128,)), or load the model with "
    "KERAS_BACKEND=jax or tensorflow, which trace it by themselves"
)
HELP = ("The error above", "For more info")
"""What PyTorch writes of itself around the text of an error."""
INSTALL = "PyTorch traces such models where its exporter is there: pip install onnxscript"


def can_trace(model: Any) -> bool:
    """Whether PyTorch is the backend of a model of Keras 3."""
    backend = getattr(keras_of(type(model)), "backend", None)
    name = getattr(backend, "backend", str)()
    return "torch" in sys.modules and name == "torch"


def onnx_model(model: Any) -> Any:
    """A built model as PyTorch exports it, with the inputs' names that Keras has.

    Raises ConverterError when PyTorch cannot trace it for all sizes, when its call changes
    variables, or the exporter is not installed.
    """
    keras, torch = keras_of(type(model)), sys.modules["torch"]
    structure = symbolic_inputs(keras, model)
    tensors = keras.tree.flatten(structure)
    names: list[str] = []
    module = _module(keras, torch, model, structure, names)
    open_axes = [[k for k, n in enumerate(x.shape) if n is None] for x in tensors]
    axes = tuple(dict.fromkeys(each, torch.export.Dim.AUTO) for each in open_axes)
    errors: list[Exception] = []
    for shapes in _shapes(tensors):
        arrays = [keras.ops.zeros(s, x.dtype) for s, x in zip(shapes, tensors, strict=True)]
        try:
            with torch.no_grad():
                program = torch.onnx.export(
                    module,
                    tuple(arrays),
                    dynamo=True,
                    dynamic_shapes={"arrays": axes},
                    input_names=[x.name for x in tensors],
                    verbose=False,
                )
        except ImportError as error:
            raise ConverterError(f"{_title(model)}: {error}; {INSTALL}") from error
        except torch.onnx.OnnxExporterError as error:
            errors.append(error)
            continue
        exported = program.model_proto
        _check_open(model, exported.graph.input, open_axes)
        return _with_outputs(exported, names)
    raise _refusal(model, errors[0]) from errors[0]


def _module(keras: Any, torch: Any, model: Any, structure: Any, names: list[str]) -> Any:
    """A module of PyTorch that takes a model's inputs one by one; it notes its outputs' names."""
    options = {"training": False} if "training" in inspect.signature(model.call).parameters else {}

    class Module(torch.nn.Module):
        """Gives what the model does, in a list."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *arrays: Any) -> list:
            args, kwargs = keras.tree.pack_sequence_as(structure, list(arrays))
            with keras.StatelessScope() as scope:
                results = self.model(*args, **kwargs, **options)
            if scope.state_mapping:
                changed = [v.path for v in model.variables if id(v) in scope.state_mapping]
                raise ConverterError(
                    f"{_title(model)}: its call changes {changed or 'a variable'}, which is not "
                    "supported where PyTorch traces it"
                )
            flat = keras.tree.flatten(results)
            is_dict = isinstance(results, dict) and len(results) == len(flat)
            names[:] = sorted(results) if is_dict else [f"output_{i}" for i in range(len(flat))]
            return [results[key] for key in names] if is_dict else flat

    return Module()


def _shapes(tensors: Sequence[Any]) -> Iterator[list[tuple[int, ...]]]:
    """Shapes to trace with: all sizes but the batch differ, then those of an axis are equal."""
    n_open = sum(n is None for x in tensors for n in x.shape[1:])
    orders = (True, False) if n_open > 1 else (True,)
    for first, is_distinct in itertools.product(FIRST_SIZES if n_open else (1,), orders):
        counter = itertools.count(first)
        yield [
            tuple(
                n if n is not None else BATCH if not k else next(counter) if is_distinct else first
                for k, n in enumerate(x.shape)
            )
            for x in tensors
        ]


def _check_open(model: Any, inputs: Sequence[Any], open_axes: Sequence[list[int]]) -> None:
    """Raises ConverterError when a size that may be any has become a number."""
    for value, axes in zip(inputs, open_axes, strict=True):
        for k in axes:
            size = value.type.tensor_type.shape.dim[k]
            if not size.dim_param:
                raise ConverterError(
                    f"{_title(model)}: PyTorch traces its call for one size of axis {k} of "
                    f"'{value.name}' only, {size.dim_value}; {FIX}"
                )


def _with_outputs(exported: Any, names: Sequence[str]) -> Any:
    """An ONNX model whose outputs have these names: each by an Identity."""
    for value, name in zip(exported.graph.output, names, strict=True):
        exported.graph.node.add(op_type="Identity", input=[value.name], output=[name])
        value.name = name
    return exported


def _title(model: Any) -> str:
    return f"{type(model).__name__} '{model.name}'"


def _refusal(model: Any, error: Exception) -> ConverterError:
    causes: list[BaseException] = [error]
    while (cause := causes[-1].__cause__) is not None:
        causes.append(cause)
    for cause in causes:
        if isinstance(cause, ConverterError):
            return cause
    cause = causes[:2][-1]  # PyTorch's exporter itself says how to ask for help
    texts = COLOUR.sub("", str(cause)).splitlines()
    lines = [text for text in texts if text.strip() and not text.startswith(HELP)]
    is_note = lines and lines[0].startswith("Exception encountered") and len(lines) > 1
    first_line = (lines or [type(cause).__name__])[1 if is_note else 0][:200]
    return ConverterError(
        f"{_title(model)}: PyTorch cannot trace its call with sizes that are not known: "
        f"{first_line}; {FIX}"
    )
