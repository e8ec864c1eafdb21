"""What help() shows of a public function says what each of its tensors is."""

import importlib
import inspect
import re
from collections.abc import Iterator

from write_stubs import FACADES, RAW_OPS

TENSOR = re.compile(r"Tensor|IndexedSlices")
"""In the annotation of what takes a tensor."""


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
    assert {name: unnamed(f) for name, f in functions.items() if unnamed(f)} == {}


def test_functions_of_several_tensors_tell_them_apart():
    """Their docstrings are more than the line that says what they give."""
    functions = {name: f for name, f in public_functions() if inspect.isfunction(f)}
    apart = {name: f for name, f in functions.items() if f.__qualname__ == f.__name__}
    several = {name: f for name, f in apart.items() if len(tensors_of(f)) > 1}
    assert len(several) > 300
    one_line = [name for name, f in several.items() if "\n" not in inspect.getdoc(f)]
    assert one_line == []
