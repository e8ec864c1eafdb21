"""The text form of the IR: one op per line, with types and shapes.

    graph main(x: float32[n,28,28,1]) {
      y: float32[n,784] = RESHAPE(x, int32[2]{-1, 784})
      z: float32[n,10] = FULLY_CONNECTED(y, float32[10,784]#5f0c9a1b, none; keep_num_dims=true)
      return z
    }

`n` is an unknown dimension, `2*n+1` what depends on it (dims.py), `[?]` an unknown rank. A constant
shows its elements, once when all are equal, or the hash of its content. Options at their default
are left out. `parse` infers the type of a result that states none. A line may go on inside
parentheses.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha1
from math import prod
from typing import Any

import numpy as np

from ...schema import tables
from ...schema.dtypes import TENSOR_TYPES, tensor_type
from ...schema.model import Quantization
from . import dims
from .builder import Builder, as_array, make_options
from .dims import Extent
from .graph import Graph, Op, Sizes, Tensor
from .sizes import Scope

INLINE = 16  # elements up to which a constant is written out
BARE = re.compile(r"[A-Za-z_][\w./]*")
TYPE = re.compile(r"(?P<dtype>\w+)\[(?P<dims>[^\]]*)\](?:<(?P<quantization>[^>]*)>)?")
CALL = re.compile(r"(?P<kind>[A-Z]\w*)(?::(?P<code>[\w.]+))?\((?P<inside>.*)\)$", re.DOTALL)


def to_text(graph: Graph) -> str:
    """The text of `graph` and of the graphs it calls."""
    blocks = [_block(one) for one in called(graph)]
    return "\n".join(blocks)


def called(graph: Graph) -> list[Graph]:
    """`graph` and every graph that its ops call, each once."""
    found = {id(graph): graph}
    pending = [graph]
    while pending:
        for op in pending.pop().ops:
            for one in op.graphs:
                if id(one) not in found:
                    found[id(one)] = one
                    pending.append(one)
    return list(found.values())


def large_constants(graph: Graph) -> dict[str, np.ndarray]:
    """The constants that the text of `graph` shows by their hash; `parse` takes them."""
    values = (t.data for one in called(graph) for t in one.tensors() if t.is_constant)
    return {content_hash(value): value for value in values if not _is_short(value)}


def content_hash(array: np.ndarray) -> str:
    """Eight digits that tell constants apart."""
    content = repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()
    return sha1(content, usedforsecurity=False).hexdigest()[:8]


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
        bare = _unquoted(open_line)
        if open_line and bare.count("(") <= bare.count(")"):
            yield open_line
            open_line = ""
    if open_line:
        yield open_line


def _block(graph: Graph) -> str:
    names = _unique_names(graph)
    inputs = ", ".join(f"{names[id(t)]}: {_type(t)}" for t in graph.inputs)
    lines = [f"graph {graph.name}({inputs}) {{"]
    lines += [f"  {_line(op, names)}" for op in graph.ops]
    returned = [names.get(id(t)) or _constant(t) for t in graph.outputs]
    if graph.output_names is not None:
        returned = [
            f"{name} as {json.dumps(public)}"
            for name, public in zip(returned, graph.output_names, strict=True)
        ]
    return "\n".join([*lines, f"  return {', '.join(returned)}".rstrip(), "}"])


def _unique_names(graph: Graph) -> dict[int, str]:
    names: dict[int, str] = {}
    taken: set[str] = {"none"}
    for tensor in graph.tensors():
        if tensor.is_constant:
            continue
        name, i = tensor.name or "t", 1
        while name in taken:
            i += 1
            name = f"{tensor.name or 't'}_{i}"
        taken.add(name)
        names[id(tensor)] = name if BARE.fullmatch(name) else json.dumps(name)
    return names


def _line(op: Op, names: dict[int, str]) -> str:
    results = ", ".join(f"{names[id(t)]}: {_type(t)}" for t in op.outputs)
    inputs = ", ".join("none" if t is None else names.get(id(t)) or _constant(t) for t in op.inputs)
    options = ", ".join(_options(op))
    kind = f"{op.kind}:{op.custom_code}" if op.custom_code else op.kind
    call = f"{kind}({inputs}; {options})" if options else f"{kind}({inputs})"
    return f"{results} = {call}" if results else call


def _options(op: Op) -> Iterator[str]:
    if op.custom_options:
        yield f"bytes={op.custom_options.hex()}"
    if op.options is not None:
        for name, type_, default, _ in tables.TABLES[type(op.options).__name__]:
            value = getattr(op.options, name)
            if isinstance(value, np.ndarray):
                value = value.tolist()
            if value is None or value == default:
                continue
            if type_ in tables.ENUMS:
                yield f"{name}={tables.name_of(type_, value)}"
            else:
                yield f"{name}={json.dumps(value)}"
    if op.graphs:
        yield f"calls=[{', '.join(graph.name for graph in op.graphs)}]"


def _type(tensor: Tensor) -> str:
    dims = "?" if tensor.sizes is None else ",".join(str(n).replace(" ", "") for n in tensor.sizes)
    return f"{_dtype_name(tensor.dtype)}[{dims}]{_quantization(tensor.quantization)}"


def _dtype_name(dtype: np.dtype) -> str:
    return tables.name_of("TensorType", tensor_type(dtype)).lower()


def _quantization(quantization: Any) -> str:
    if quantization is None:
        return ""
    pairs = zip(quantization.scales, quantization.zero_points, strict=True)
    shown = ",".join(f"{np.float32(scale)}:{int(zero_point)}" for scale, zero_point in pairs)
    axis = f"@{quantization.axis}" if quantization.is_per_channel else ""
    return f"<{shown}{axis}>"


def _constant(tensor: Tensor) -> str:
    value = tensor.data
    if not _is_short(value):
        return f"{_type(tensor)}#{content_hash(value)}"
    elements = value.ravel().tolist() if value.dtype.kind in "iubO" else list(value.ravel())
    if len(elements) > 1 and _is_uniform(value):
        elements = elements[:1]
    return f"{_type(tensor)}{{{', '.join(_element(e) for e in elements)}}}"


def _is_short(value: np.ndarray) -> bool:
    return value.size <= INLINE or _is_uniform(value)


def _is_uniform(value: np.ndarray) -> bool:
    return not value.dtype.hasobject and value.tobytes() == value.ravel()[:1].tobytes() * value.size


def _element(element: Any) -> str:
    if isinstance(element, bytes):
        return json.dumps(element.decode("latin-1"))
    return str(element).lower() if isinstance(element, bool) else str(element)


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
        found = CALL.match(call.strip())
        if found is None:
            raise ValueError("an op must be written 'result = KIND(inputs; options)'")
        inputs, *options = _split(found["inside"], ";")
        tensors = [self.operand(one) for one in _split(inputs)]
        fields = dict(one.split("=", 1) for one in _split(options[0] if options else ""))
        calls = fields.pop("calls", "[]")[1:-1]
        graphs = [self.graphs[name] for name in _split(calls)]
        if found["code"]:
            content = bytes.fromhex(fields.pop("bytes", ""))
            op = Op(
                found["kind"],
                tensors,
                [self.declare(target) for target in targets],
                custom_code=found["code"],
                custom_options=content,
            )
            self.graph.append(op)
            return
        values = {name: _option(value) for name, value in fields.items()}
        if all(":" in _unquoted(target) for target in targets):
            results = [self.declare(target) for target in targets]
            options = make_options(found["kind"], values)
            self.graph.append(Op(found["kind"], tensors, results, options, graphs=graphs))
            return
        self.builder.origin(targets[0])
        results = self.builder.op(found["kind"], *tensors, graphs=graphs, **values)
        results = results if isinstance(results, tuple) else (results,)
        for name, result in zip(targets, results, strict=True):
            result.name = name
            self.tensors[name] = result

    def returns(self, text: str) -> None:
        """The graph's outputs, with their public names where given."""
        names = []
        for one in _split(text):
            shown, _, public = one.partition(" as ")
            output = self.operand(shown)
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
        found = TYPE.match(text)
        if found is None:
            raise ValueError(f"tensor {text} is not known")
        dtype, sizes, quantization = self.type(found)
        shape = tuple(n for n in sizes or () if isinstance(n, int))
        rest = text[found.end() :]
        if rest.startswith("#"):
            if rest[1:] not in self.constants:
                raise ValueError(f"constant {rest} is not given")
            array = np.asarray(self.constants[rest[1:]], dtype)
        else:
            elements = [_read_element(one, dtype) for one in _split(rest[1:-1])]
            array = np.empty(len(elements), dtype)
            array[:] = elements
        splat = array.size == 1 != prod(shape)
        array = np.broadcast_to(array, shape) if splat else array.reshape(shape)
        tensor = self.builder.constant(as_array(array))
        tensor.quantization = quantization
        return tensor

    def type(self, found: re.Match | None) -> tuple[np.dtype, Sizes | None, Any]:
        """(dtype, sizes, quantization) of a type."""
        if found is None:
            raise ValueError("a type must be written 'float32[1,n]'")
        dtype = TENSOR_TYPES[found["dtype"].upper()]
        sizes = None
        if found["dims"] != "?":
            texts = enumerate(_split(found["dims"]))
            named = self.graph.scope.named
            sizes = tuple(
                parsed_size(text, lambda name, i=i: named(name, i == 0)) for i, text in texts
            )
        return dtype, sizes, _read_quantization(found["quantization"])


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
