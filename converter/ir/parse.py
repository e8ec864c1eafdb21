"""Reads the text form of the IR (text.py), as it was written or as a person writes it.

A result that states no type gets the one that is inferred. A line may go on inside parentheses.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import Any

import numpy as np

from ...schema.dtypes import TENSOR_TYPES
from ...schema.model import Quantization
from . import dims
from .builder import Builder, as_array, make_options
from .dims import Extent
from .graph import Graph, Op, Sizes, Tensor
from .sizes import Scope

TYPE = re.compile(r"(?P<dtype>\w+)\[(?P<dims>[^\]]*)\](?:<(?P<quantization>[^>]*)>)?")
CALL = re.compile(r"(?P<kind>[A-Z]\w*)(?::(?P<code>[\w.]+))?\((?P<inside>.*)\)$", re.DOTALL)


def parse(text: str, constants: Mapping[str, np.ndarray] | None = None) -> Graph:
    """The graph that `text` shows, the first when there are several.

    Args:
        text: what `to_text` wrote, or a person; results without a type are inferred.
        constants: the arrays of `#name` constants.

    Raises ValueError, with the line, where the text is not understood.
    """
    lines = list(_statements(text))
    graphs: dict[str, Graph] = {}
    scope = Scope()
    for line in lines:
        if line.startswith("graph "):
            name = line[6:].split("(")[0].strip()
            graphs[name] = Graph(name, scope)
    reader = None
    for line in lines:
        if line.startswith("graph "):
            reader = _Reader(graphs, constants or {}, line)
        elif reader is not None and line and line != "}":
            try:
                reader.read(line)
            except (KeyError, ValueError, IndexError, AttributeError) as error:
                raise ValueError(f"{error} in line: {line}") from error
    if not graphs:
        raise ValueError("the text must have a line 'graph name(inputs) {'")
    return next(iter(graphs.values()))


def _statements(text: str) -> Iterator[str]:
    """The lines of `text`; one goes on in the next while a parenthesis is open."""
    open_line = ""
    for line in text.splitlines():
        open_line = f"{open_line} {line.strip()}".strip()
        unquoted = _unquoted(open_line)
        if open_line and unquoted.count("(") <= unquoted.count(")"):
            yield open_line
            open_line = ""
    if open_line:
        yield open_line


class _Reader:
    """Reads the lines of one block."""

    def __init__(
        self, graphs: dict[str, Graph], constants: Mapping[str, np.ndarray], header: str
    ) -> None:
        self.graphs = graphs
        self.constants = constants
        self.graph = graphs[header[6:].split("(")[0].strip()]
        self.builder = Builder(self.graph)
        self.tensors: dict[str, Tensor] = {}
        for declared in _split(header[header.index("(") + 1 : header.rindex(")")]):
            self.graph.inputs.append(self.declare(declared))

    def declare(self, text: str) -> Tensor:
        """A new tensor from `name: type`."""
        name, type_ = _split(text, ":")
        name = json.loads(name) if name.startswith('"') else name
        dtype, sizes, quantization = self.type(TYPE.fullmatch(type_))
        tensor = Tensor(name, dtype, sizes, quantization=quantization)
        self.tensors[name] = tensor
        return tensor

    def read(self, line: str) -> None:
        """One op, or the line of results."""
        if line == "return" or line.startswith("return "):
            self.returns(line[6:].strip())
            return
        head, *tail = _split(line, "=")
        targets, call = (_split(head), "=".join(tail)) if not CALL.match(line) else ([], line)
        match = CALL.match(call.strip())
        if match is None:
            raise ValueError("an op must be written 'result = KIND(inputs; options)'")
        inputs, *options = _split(match["inside"], ";")
        tensors = [self.operand(part) for part in _split(inputs)]
        fields = dict(part.split("=", 1) for part in _split(options[0] if options else ""))
        calls = fields.pop("calls", "[]")[1:-1]
        graphs = [self.graphs[name] for name in _split(calls)]
        if match["code"]:
            content = bytes.fromhex(fields.pop("bytes", ""))
            op = Op(
                match["kind"],
                tensors,
                [self.declare(target) for target in targets],
                custom_code=match["code"],
                custom_options=content,
            )
            self.graph.append(op)
            return
        values = {name: _option(value) for name, value in fields.items()}
        if all(":" in _unquoted(target) for target in targets):
            results = [self.declare(target) for target in targets]
            options = make_options(match["kind"], values)
            self.graph.append(Op(match["kind"], tensors, results, options, graphs=graphs))
            return
        self.builder.origin(targets[0])
        results = self.builder.op(match["kind"], *tensors, graphs=graphs, **values)
        results = results if isinstance(results, tuple) else (results,)
        for name, result in zip(targets, results, strict=True):
            result.name = name
            self.tensors[name] = result

    def returns(self, text: str) -> None:
        """The graph's outputs, with their public names where given."""
        names = []
        for part in _split(text):
            name, _, public = part.partition(" as ")
            output = self.operand(name)
            if output is None:
                raise ValueError("an output must be a tensor")
            self.graph.outputs.append(output)
            names.append(json.loads(public) if public else None)
        if names and None not in names:
            self.graph.output_names = names

    def operand(self, text: str) -> Tensor | None:
        """A tensor named before, a constant, or None."""
        if text == "none":
            return None
        name = json.loads(text) if text.startswith('"') else text
        if name in self.tensors:
            return self.tensors[name]
        match = TYPE.match(text)
        if match is None:
            raise ValueError(f"tensor {text} is not known")
        dtype, sizes, quantization = self.type(match)
        shape = tuple(n for n in sizes or () if isinstance(n, int))
        suffix = text[match.end() :]
        if suffix.startswith("#"):
            if suffix[1:] not in self.constants:
                raise ValueError(f"constant {suffix} is not given")
            array = np.asarray(self.constants[suffix[1:]], dtype)
        else:
            elements = [_read_element(part, dtype) for part in _split(suffix[1:-1])]
            array = np.empty(len(elements), dtype)
            array[:] = elements
        splat = array.size == 1 != prod(shape)
        array = np.broadcast_to(array, shape) if splat else array.reshape(shape)
        tensor = self.builder.constant(as_array(array))
        tensor.quantization = quantization
        return tensor

    def type(self, match: re.Match | None) -> tuple[np.dtype, Sizes | None, Any]:
        """(dtype, sizes, quantization) of a type."""
        if match is None:
            raise ValueError("a type must be written 'float32[1,n]'")
        dtype = TENSOR_TYPES[match["dtype"].upper()]
        sizes = None
        if match["dims"] != "?":
            texts = enumerate(_split(match["dims"]))
            named = self.graph.scope.named
            sizes = tuple(
                parsed_size(text, lambda name, i=i: named(name, i == 0)) for i, text in texts
            )
        return dtype, sizes, _read_quantization(match["quantization"])


def parsed_size(text: str, lookup: Callable[[str], Extent]) -> Extent:
    """The size that `text` writes, as `str` does; `lookup` gives the sizes of names.

    Raises ValueError where the text is none.
    """
    return _parsed_part(ast.parse(text, mode="eval").body, lookup)


_OPERATORS: dict[type, Callable[[Extent, Extent], Extent]] = {
    ast.Add: dims.add,
    ast.Sub: dims.subtract,
    ast.Mult: dims.multiply,
}


def _parsed_part(part: ast.expr, lookup: Callable[[str], Extent]) -> Extent:
    match part:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return lookup(name)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return dims.multiply(-1, _parsed_part(inner, lookup))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_parsed_part(left, lookup), _parsed_part(right, lookup))
        case ast.Call(func=ast.Name(id=name), args=args) if name in dims.FUNCTIONS:
            return dims.FUNCTIONS[name](*(_parsed_part(arg, lookup) for arg in args))
    raise ValueError(f"a size must be a sum of products, got {ast.unparse(part)}")


def _read_quantization(text: str | None) -> Quantization | None:
    if not text:
        return None
    pairs, _, axis = text.partition("@")
    scales, zero_points = zip(*(pair.split(":") for pair in pairs.split(",")), strict=True)
    return Quantization(
        np.array(scales, np.float32),
        np.array(zero_points, np.int64),
        axis=int(axis or 0),
    )


def _read_element(text: str, dtype: np.dtype) -> Any:
    if dtype.hasobject:
        return json.loads(text).encode("latin-1")
    if dtype.kind == "b":
        return text == "true"
    return complex(text) if dtype.kind == "c" else dtype.type(text)


def _option(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _unquoted(text: str) -> str:
    return re.sub(r'"(?:[^"\\]|\\.)*"', "", text)


def _split(text: str, separator: str = ",") -> list[str]:
    """The parts of `text` between separators that are not inside brackets or quotes."""
    parts, depth, start, quoted = [], 0, 0, False
    for i, character in enumerate(text):
        if character == '"' and text[i - 1] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        elif character == separator and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts
