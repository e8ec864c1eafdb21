"""What help() shows of a public function says what each of its tensors is."""

import importlib
import inspect
import re
from collections.abc import Iterator

from write_stubs import FACADES, RAW_OPS

TENSOR = re.compile(r"Tensor|IndexedSlices")
"""In the annotation of what takes a tensor."""
UNFINISHED = frozenset(
    (
        "converter.ophint.ophint",
        "graph.core.composite.indexed_slices",
        "graph.core.composite.ragged_tensor",
        "graph.core.composite.sparse_tensor",
        "graph.core.composite.type_specs",
        "graph.core.graph",
        "graph.derivatives.gradient_checker",
        "graph.functions.checks",
        "graph.functions.flow.functional",
        "graph.functions.image.boxes",
        "graph.functions.image.colors",
        "graph.functions.image.cropping",
        "graph.functions.image.files",
        "graph.functions.image.quality",
        "graph.functions.image.random_changes",
        "graph.functions.image.resizing",
        "graph.functions.io.decoding",
        "graph.functions.io.files",
        "graph.functions.io.parsing",
        "graph.functions.nn.sampling",
        "graph.functions.nn.weighted_losses",
        "graph.functions.quantized",
        "graph.functions.ragged.tensors",
        "graph.functions.resources.accumulators",
        "graph.functions.resources.mutable_tables",
        "graph.functions.resources.queues",
        "graph.functions.resources.session_tensors",
        "graph.functions.shape_checks",
        "graph.functions.signal.frames",
        "graph.functions.signal.signal",
        "graph.functions.signal.spectral",
        "graph.functions.signal.stft",
        "graph.functions.sparse.arithmetic",
        "graph.functions.sparse.embedding",
        "graph.functions.sparse.tensors",
        "graph.functions.summaries",
        "graph.functions.unicode",
        "graph.linear_operators.base",
        "interpreter.litert.compiled_model",
        "training.data.experimental",
        "training.data.tables",
        "training.export.saved_model_builder",
        "training.export.signature_defs",
        "training.global_step",
        "training.input_pipeline",
        "training.optimizers.mixed_precision",
        "training.optimizers.moving_averages",
        "training.optimizers.optimizer",
    )
)
"""Modules with functions whose docstring does not name each of their tensors."""


def public_functions() -> Iterator[tuple[str, object]]:
    """Where a function lives -> the function; methods of public classes, too."""
    classes, functions = set(), {}
    for facade in FACADES:
        if facade == RAW_OPS:
            continue
        module = importlib.import_module(facade)
        for value in (getattr(module, name) for name in dir(module)):
            if inspect.isclass(value) and value.__module__.startswith("flatlite."):
                classes.add(value)
            elif inspect.isfunction(value):
                functions[f"{value.__module__}.{value.__qualname__}"] = value
    for cls in classes:
        for name, value in vars(cls).items():
            function = getattr(value, "__func__", value)
            if inspect.isfunction(function) and not name.startswith("_"):
                functions[f"{cls.__module__}.{cls.__qualname__}.{name}"] = function
    return functions.items()


def tensors_of(function: object) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if TENSOR.search(str(p.annotation))]


def unnamed(function: object) -> list[str]:
    words = inspect.getdoc(function) or ""
    return [name for name in tensors_of(function) if not re.search(rf"\b{name}\b", words)]


def test_docstrings_name_each_tensor():
    functions = {
        name.removeprefix("flatlite."): function
        for name, function in public_functions()
        if name.startswith("flatlite.")
    }
    assert len([f for f in functions.values() if tensors_of(f)]) > 600
    assert [name for name, function in functions.items() if not function.__doc__] == []
    lacking = {name: unnamed(f) for name, f in functions.items() if unnamed(f)}
    modules = {name: functions[name].__module__.removeprefix("flatlite.") for name in lacking}
    assert [name for name in lacking if modules[name] not in UNFINISHED] == []
    assert set(modules.values()) == UNFINISHED  # a module that is whole leaves the list
