"""A model as a page of HTML tables, with the names of LiteRT's visualize."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from ..schema import tables
from ..schema.files import read_bytes
from ..schema.flatbuffer import Record
from ..schema.reader import read
from .flatbuffer_utils import type_to_name

MOST_VALUES = 20
STYLE = """<style>
body {font-family: sans-serif; margin: 2em}
table {border-collapse: collapse; margin-bottom: 2em}
th, td {border: 1px solid #ccc; padding: 0.2em 0.6em; text-align: left; vertical-align: top}
th {background: #eee}
</style>"""

Column = tuple[str, Callable[[Any], str]]


def TensorTypeToName(tensor_type: int) -> str | None:
    """The name of an element type."""
    return type_to_name(tensor_type)


def BuiltinCodeToName(code: int) -> str | None:
    """The name of a builtin operator."""
    names = {number: name for name, number in tables.ENUMS["BuiltinOperator"].items()}
    return names.get(code)


def CreateDictFromFlatbuffer(buffer_data: Any) -> dict[str, Any]:
    """All tables of a model's bytes as dictionaries, by the schema's names.

    Its parts need not agree with one another. Raises ModelError when they are no flatbuffer.
    """
    model = _plain(read(memoryview(buffer_data).toreadonly().cast("B"), identified=False))
    for code in model["operator_codes"] or ():
        code["builtin_code"] = max(code["builtin_code"], code["deprecated_builtin_code"])
    return model


def create_html(tflite_input: Any, input_is_filepath: bool = True) -> str:
    """A page about a model: its subgraphs' inputs, outputs, tensors and operators, its buffers.

    Args:
        tflite_input: the path of a .tflite or .bin file, or the bytes of a model.
        input_is_filepath: which of them.

    Raises:
        RuntimeError: there is no such file, or it has another ending.
    """
    name = "Null (used model object)"
    if input_is_filepath:
        name = os.fspath(tflite_input)
        if not os.path.exists(name):
            raise RuntimeError(f"Invalid filename {name!r}")
        if not name.endswith((".tflite", ".bin")):
            raise RuntimeError("Input file was not .tflite or .bin")
        tflite_input = read_bytes(name)
    return "\n".join(_page(CreateDictFromFlatbuffer(tflite_input), name))


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return {name: _plain(getattr(value, name)) for name in value.__slots__}
    if isinstance(value, tuple):
        return [_plain(x) for x in value]
    return value if not isinstance(value, np.ndarray) or value.dtype == np.uint8 else value.tolist()


def _page(model: Mapping[str, Any], name: str) -> Iterable[str]:
    yield "<!DOCTYPE html>\n<html><head><meta charset='utf-8'>"
    yield f"<title>{escape(name)}</title>{STYLE}</head><body>\n<h1>TensorFlow Lite Model</h1>"
    head = {"filename": name, "version": model["version"], "description": model["description"]}
    yield from _table([head], [(key, _text) for key in head])
    codes = [_operator_name(code) for code in model["operator_codes"] or ()]
    for index, graph in enumerate(model["subgraphs"]):
        tensors = graph["tensors"] or []
        named = _Named(tensors)
        yield f"<h2>Subgraph {index} {escape(graph['name'] or '')}</h2>\n<h3>Inputs/Outputs</h3>"
        yield from _table([graph], [("inputs", named), ("outputs", named)])
        yield "<h3>Tensors</h3>"
        columns: list[Column] = [("name", _text), ("type", lambda t: _text(type_to_name(t)))]
        columns += [(key, _text) for key in ("shape", "shape_signature", "buffer")]
        yield from _table(tensors, [*columns, ("quantization", _fields)])
        yield "<h3>Ops</h3>"
        columns = [("opcode_index", lambda i, codes=codes: _text(dict(enumerate(codes)).get(i, i)))]
        columns += [("inputs", named), ("outputs", named)]
        columns += [("builtin_options", _fields), ("builtin_options_2", _fields)]
        yield from _table(graph["operators"] or [], columns)
    yield "<h2>Buffers</h2>"
    yield from _table(model["buffers"] or [], [("data", _size)])
    yield "<h2>Operator Codes</h2>"
    columns = [("builtin_code", lambda code: _text(BuiltinCodeToName(code)))]
    yield from _table(
        model["operator_codes"] or [], [*columns, ("custom_code", _text), ("version", _text)]
    )
    yield "</body></html>"


class _Named:
    """Indices of tensors with names and types, to be seen when pointed at."""

    def __init__(self, tensors: Sequence[Mapping[str, Any]]):
        self._tensors = tensors

    def __call__(self, indices: Sequence[int] | None) -> str:
        return ", ".join(self._label(index) for index in indices or ())

    def _label(self, index: int) -> str:
        if not 0 <= index < len(self._tensors):
            return "-" if index == -1 else f"{index} (no tensor)"
        tensor = self._tensors[index]
        text = f"{tensor['name'] or ''} {type_to_name(tensor['type'])} {tensor['shape']}"
        return f"<span title='{escape(text)}'>{index}</span>"


def _table(rows: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> Iterable[str]:
    heads = "".join(f"<th>{escape(key)}</th>" for key, _ in columns)
    yield f"<table>\n<tr><th>index</th>{heads}</tr>"
    for index, row in enumerate(rows):
        cells = "".join(f"<td>{show(row[key])}</td>" for key, show in columns)
        yield f"<tr><td>{index}</td>{cells}</tr>"
    yield "</table>"


def _operator_name(code: Mapping[str, Any]) -> str:
    name = BuiltinCodeToName(code["builtin_code"]) or "<UNKNOWN>"
    return code["custom_code"] or "" if name == "CUSTOM" else name


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list) and len(value) > MOST_VALUES:
        half = MOST_VALUES // 2
        first, last = (", ".join(map(str, x)) for x in (value[:half], value[-half:]))
        return escape(f"[{first}, ..., {last}]")
    return "" if value is None else escape(str(value))


def _fields(value: Mapping[str, Any] | None) -> str:
    rows = ((key, x) for key, x in (value or {}).items() if x is not None)
    return "<br>".join(f"{escape(key)}: {_text(x)}" for key, x in rows)


def _size(data: np.ndarray | None) -> str:
    return "--" if data is None else f"{len(data)} bytes"
