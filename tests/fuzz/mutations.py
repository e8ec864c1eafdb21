"""Changes of a model's records: what the file says stays well formed, and need not make sense.

Each takes the record of a Model and a random generator, changes one thing in place and gives the
words for it; None when the model has nothing to change. Those of BREAKING make a file that no
reader may accept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from flatlite.schema import tables
from flatlite.schema.flatbuffer import Record, record

Mutation: TypeAlias = Callable[[Any, np.random.Generator], "str | None"]

INTEGERS = (-(1 << 31), -129, -3, -1, 0, 1, 2, 3, 5, 8, 64, 255, 1 << 16, (1 << 31) - 1)
SCALES = (0.0, -0.5, 1e-38, 1e-10, 1.0, 3e5, 1e38, np.inf, np.nan)
SIZES = (0, 1, 2, 3, 7, 16, 70_000)
NAMES = (None, "", "x", "\0", "a\nb", "\u202e", "x" * 5000, "../../etc/passwd")
WIDTHS = {"Int32Vector": np.int32, "Uint16Vector": np.uint16, "Uint8Vector": np.uint8}


def pick(rng: np.random.Generator, items: Any) -> Any:
    """One of a sequence; None of an empty one."""
    return items[int(rng.integers(len(items)))] if items is not None and len(items) else None


def changed(vector: Any, rng: np.random.Generator, values: Any = INTEGERS) -> np.ndarray:
    """A vector with another length, order or element."""
    vector = np.array([] if vector is None else vector)
    if vector.dtype.kind not in "iufb" or not vector.size:
        vector = np.zeros(1, np.int32)
    kind = rng.integers(5)
    if kind == 0:
        return np.resize(vector, int(rng.integers(0, len(vector) + 3))).astype(vector.dtype)
    if kind == 1:
        return rng.permutation(vector)
    vector = vector.copy()
    vector[rng.integers(len(vector))] = _within(vector.dtype, pick(rng, values))
    return vector


def _within(dtype: np.dtype, value: Any) -> Any:
    if dtype.kind not in "iu":
        return value
    limits = np.iinfo(dtype)
    value = 0 if value != value else value  # nan
    return int(min(max(value, int(limits.min)), int(limits.max)))


def _tensors(model: Any) -> list[Any]:
    return [t for g in model.subgraphs for t in g.tensors or ()]


def _operators(model: Any) -> list[Any]:
    return [o for g in model.subgraphs for o in g.operators or ()]


def shape(model: Any, rng: np.random.Generator) -> str | None:
    """Another shape; with half a chance its data are cut or repeated to fit."""
    tensor = pick(rng, _tensors(model))
    if tensor is None:
        return None
    before, n = np.array(tensor.shape if tensor.shape is not None else [], np.int32), 0
    tensor.shape = changed(before, rng, SIZES).astype(np.int32)
    tensor.shape_signature = pick(rng, (None, tensor.shape_signature))
    data = model.buffers[tensor.buffer].data if model.buffers else None
    if data is not None and before.size and rng.integers(2):
        old, n = (int(np.prod(x, dtype=object)) for x in (before, tensor.shape))
        if old > 0 and 0 <= n < 1 << 16:
            model.buffers[tensor.buffer].data = np.resize(data, n * len(data) // old)
    return f"{tensor.name} {tensor.shape}"


def dtype(model: Any, rng: np.random.Generator) -> str | None:
    """Another element type."""
    tensor = pick(rng, _tensors(model))
    if tensor is None:
        return None
    tensor.type = int(rng.integers(len(tables.ENUMS["TensorType"])))
    return f"{tensor.name} type {tensor.type}"


def options(model: Any, rng: np.random.Generator) -> str | None:
    """Another value in an operator's options."""
    records = [r for o in _operators(model) for r in (o.builtin_options, o.builtin_options_2) if r]
    options = pick(rng, [r for r in records if r.__slots__])
    if options is None:
        return None
    name = pick(rng, options.__slots__)
    setattr(options, name, _other(getattr(options, name), rng))
    return f"{type(options).__name__}.{name} = {getattr(options, name)!r:.60}"


def _other(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, (bool, np.bool_)):
        return not value
    if isinstance(value, (float, np.floating)):
        return float(pick(rng, (*SCALES, -1.0)))
    if isinstance(value, (int, np.integer)):
        return int(pick(rng, (*INTEGERS[1:-1], int(value) + 1))) & 0x7F
    if isinstance(value, np.ndarray):
        return changed(value, rng)
    if isinstance(value, str):
        return pick(rng, NAMES)
    return value


def kind(model: Any, rng: np.random.Generator) -> str | None:
    """Another operator, or another version of it, with the options as they were."""
    code = pick(rng, model.operator_codes)
    if code is None:
        return None
    if rng.integers(2):
        code.version = int(rng.integers(0, 12))
        return f"version {code.version}"
    code.builtin_code = int(rng.integers(len(tables.ENUMS["BuiltinOperator"])))
    code.deprecated_builtin_code = min(code.builtin_code, 127)
    return tables.name_of("BuiltinOperator", code.builtin_code)


def edges(model: Any, rng: np.random.Generator) -> str | None:
    """Other operands or results of an operator, or other ends of a subgraph."""
    graph = pick(rng, model.subgraphs)
    owner = pick(rng, [*(graph.operators or ()), graph])
    field = pick(rng, ("inputs", "inputs", "outputs"))
    values = (-1, *range(len(graph.tensors or ())))
    setattr(owner, field, changed(getattr(owner, field), rng, values).astype(np.int32))
    return f"{type(owner).__name__}.{field} = {getattr(owner, field)}"


def intermediates(model: Any, rng: np.random.Generator) -> str | None:
    """Other intermediates of an operator, or other marks of its variables."""
    operator = pick(rng, _operators(model))
    if operator is None:
        return None
    if rng.integers(2):
        operator.mutating_variable_inputs = rng.integers(0, 2, rng.integers(0, 30)).astype(bool)
        return "mutating_variable_inputs"
    operator.intermediates = rng.integers(-1, 9, rng.integers(0, 13)).astype(np.int32)
    return f"intermediates {operator.intermediates}"


def quantization(model: Any, rng: np.random.Generator) -> str | None:
    """Other scales, zero points or dimension; or none, or some where there were none."""
    tensor = pick(rng, _tensors(model))
    if tensor is None:
        return None
    values = tensor.quantization
    if values is None:
        values = tensor.quantization = record("QuantizationParameters")()
        values.scale, values.zero_point = np.float32([0.5]), np.int64([0])
    change = rng.integers(5)
    if change == 0:
        tensor.quantization = None
    elif change == 1:
        values.quantized_dimension = int(pick(rng, INTEGERS))
    elif change == 2:
        points = np.zeros(1, np.int64) if values.zero_point is None else values.zero_point
        values.zero_point = changed(points, rng, (*INTEGERS, 1 << 40, -(1 << 63)))
    else:
        scales = np.ones(1, np.float32) if values.scale is None else values.scale
        values.scale = changed(scales, rng, SCALES)
    return f"{tensor.name} {tensor.quantization!r:.90}"


def blockwise(model: Any, rng: np.random.Generator) -> str | None:
    """Details that say that a tensor is quantized in blocks."""
    graph = pick(rng, model.subgraphs)
    tensor = pick(rng, graph.tensors)
    if tensor is None:
        return None
    details = record("BlockwiseQuantization")()
    tensors = range(-1, len(graph.tensors))
    details.scales, details.zero_points = int(pick(rng, tensors)), int(pick(rng, tensors))
    details.block_size = int(pick(rng, (0, -1, 1, 16, 32, 1 << 30)))
    if rng.integers(2):
        details.block_shape = changed(np.int32([1, 32]), rng)
    values = tensor.quantization or record("QuantizationParameters")()
    values.details, tensor.quantization = details, values
    tensor.type = pick(rng, (tensor.type, tables.TENSOR_TYPE["INT4"], tables.TENSOR_TYPE["INT8"]))
    return f"{tensor.name} {details!r:.90}"


def sparsity(model: Any, rng: np.random.Generator) -> str | None:
    """Another order, block map, format, size, segments or indices of a sparse tensor."""
    tensors = [t for t in _tensors(model) if t.shape is not None and len(t.shape)]
    tensor = pick(rng, [t for t in tensors if t.sparsity is not None] or tensors)
    if tensor is None:
        return None
    values = tensor.sparsity
    if values is None:
        values = tensor.sparsity = record("SparsityParameters")()
        values.traversal_order = np.arange(len(tensor.shape), dtype=np.int32)
        values.dim_metadata = tuple(_dimension(int(n), rng) for n in tensor.shape)
    change = rng.integers(4)
    if change == 0:
        values.traversal_order = changed(values.traversal_order, rng).astype(np.int32)
    elif change == 1:
        values.block_map = changed(values.block_map, rng).astype(np.int32)
    elif dimension := pick(rng, values.dim_metadata):
        field = pick(rng, ("format", "dense_size", "array_segments", "array_indices"))
        if field.startswith("array") and rng.integers(4):
            before = getattr(dimension, field)
            setattr(dimension, field, _indices(getattr(before, "values", None), rng))
        else:
            setattr(dimension, field, _other(getattr(dimension, field), rng))
            if field == "format":
                dimension.format &= 1
    return f"{tensor.name} {values!r:.120}"


def _dimension(size: int, rng: np.random.Generator) -> Any:
    dimension = record("DimensionMetadata")()
    dimension.format, dimension.dense_size = int(rng.integers(2)), size
    if dimension.format:
        dimension.array_segments = _indices(np.arange(3), rng)
        dimension.array_indices = _indices(np.arange(size % 100), rng)
    return dimension


def _indices(values: Any, rng: np.random.Generator) -> Any:
    name = pick(rng, tuple(WIDTHS))
    values = changed(values, rng).astype(np.int64)
    limits = np.iinfo(WIDTHS[name])
    return record(name)(values=np.clip(values, limits.min, limits.max).astype(WIDTHS[name]))


def buffer(model: Any, rng: np.random.Generator) -> str | None:
    """Other bytes of a constant: what operators read as axes, sizes, indices, strings."""
    buffers = [b for b in model.buffers or () if b.data is not None and len(b.data)]
    buffer = pick(rng, buffers)
    if buffer is None:
        return None
    data = np.array(buffer.data)
    change = rng.integers(6)
    if change == 0:
        buffer.data = np.resize(data, int(rng.integers(0, len(data) + 9)))
    elif change == 1:
        buffer.data = None
    elif change == 2 and len(data) >= 8:
        data[:8].view(np.int64)[0] = pick(rng, (*INTEGERS, 1 << 40, -(1 << 63)))
        buffer.data = data
    elif len(data) >= 4:
        words = data[: len(data) // 4 * 4].view(np.int32)
        words[rng.integers(len(words))] = pick(rng, INTEGERS)
        buffer.data = data
    else:
        data[rng.integers(len(data))] = rng.integers(256)
        buffer.data = data
    return f"buffer of {len(data)} bytes"


def elsewhere(model: Any, rng: np.random.Generator) -> str | None:
    """The bytes of a constant in another file, which may be the model's own."""
    tensor = pick(rng, _tensors(model))
    if tensor is None:
        return None
    name = pick(rng, (*(4 * ("model.tflite",)), "plans", "/etc/passwd", *NAMES))
    n_bytes = 4 * int(np.prod(tensor.shape if tensor.shape is not None else [], dtype=object))
    lengths = (n_bytes, n_bytes, n_bytes // 4, *INTEGERS)
    fields = {key: abs(int(pick(rng, INTEGERS))) for key in ("id", "offset")}
    fields |= {"group": int(rng.random() < 0.1), "length": abs(int(pick(rng, lengths)))}
    model.external_buffer_groups = (record("ExternalBufferGroup")(name=name),)
    model.external_buffers = (record("ExternalBuffer")(**fields),)
    tensor.external_buffer = fields["id"]
    return f"{tensor.name} in {name!r:.40} {fields}"


def names(model: Any, rng: np.random.Generator) -> str | None:
    """Other names of tensors, subgraphs, signatures, custom operators."""
    fields: list[tuple[Any, str]] = [(t, "name") for t in _tensors(model)]
    fields += [(g, "name") for g in model.subgraphs]
    for signature in model.signature_defs or ():
        fields += [(signature, "signature_key")]
        fields += [(m, "name") for m in (*(signature.inputs or ()), *(signature.outputs or ()))]
    fields += [(c, "custom_code") for c in model.operator_codes or ()]
    fields += [(m, "name") for m in model.metadata or ()]
    owner, field = pick(rng, fields)
    setattr(owner, field, pick(rng, NAMES))
    return f"{type(owner).__name__}.{field}"


def order(model: Any, rng: np.random.Generator) -> str | None:
    """Operators left out, doubled or in another order; subgraphs in another order."""
    if len(model.subgraphs) > 1 and not rng.integers(3):
        model.subgraphs = tuple(model.subgraphs[i] for i in rng.permutation(len(model.subgraphs)))
        return "subgraphs"
    graph = pick(rng, model.subgraphs)
    operators = list(graph.operators or ())
    if not operators:
        return None
    at, change = int(rng.integers(len(operators))), rng.integers(3)
    if change == 0:
        del operators[at]
    elif change == 1:
        operators.insert(at, pick(rng, operators))
    else:
        operators = [operators[i] for i in rng.permutation(len(operators))]
    graph.operators = tuple(operators)
    return "operators"


def calls(model: Any, rng: np.random.Generator) -> str | None:
    """Another subgraph called: by control flow, a StableHLO region, a composite, a signature."""
    fields = [(r, name) for r in _with_calls(model) for name in _calls_of(r)]
    if not fields:
        return None
    owner, field = pick(rng, fields)
    setattr(owner, field, int(rng.integers(len(model.subgraphs))))
    return f"{type(owner).__name__}.{field} = {getattr(owner, field)}"


def _with_calls(model: Any) -> Iterator[Record]:
    for operator in _operators(model):
        for options in (operator.builtin_options, operator.builtin_options_2):
            if options is not None and _calls_of(options):
                yield options
    yield from model.signature_defs or ()


def _calls_of(options: Record) -> list[str]:
    return [n for n in options.__slots__ if n.endswith(("subgraph_index", "_index", "subgraph"))]


def variable(model: Any, rng: np.random.Generator) -> str | None:
    """A tensor becomes a variable, or is one no longer."""
    tensor = pick(rng, _tensors(model))
    if tensor is None:
        return None
    tensor.is_variable = not tensor.is_variable
    return f"{tensor.name} {tensor.is_variable}"


CHANGES: tuple[Mutation, ...] = (
    *(3 * (shape, options, edges, quantization, buffer)),
    *(2 * (dtype, kind, order, calls)),
    *(intermediates, blockwise, sparsity, names, variable, elsewhere),
)


def _no_buffer(model: Any, rng: np.random.Generator) -> str | None:
    tensor = pick(rng, _tensors(model))
    if tensor is None:
        return None
    tensor.buffer = len(model.buffers or ()) + int(rng.integers(1000))
    return f"{tensor.name}: buffer {tensor.buffer}" if tensor.buffer else None


def _no_code(model: Any, rng: np.random.Generator) -> str | None:
    operator = pick(rng, _operators(model))
    if operator is None:
        return None
    operator.opcode_index = len(model.operator_codes) + int(rng.integers(1000))
    return f"opcode_index {operator.opcode_index}"


def _no_tensor(model: Any, rng: np.random.Generator) -> str | None:
    graph = pick(rng, model.subgraphs)
    owner = pick(rng, [*(graph.operators or ()), graph])
    field = pick(rng, ("inputs", "outputs"))
    indices = getattr(owner, field)
    if indices is None or not len(indices):
        return None
    indices = np.array(indices)
    indices[rng.integers(len(indices))] = pick(rng, (len(graph.tensors or ()), 1 << 30, -2))
    setattr(owner, field, indices)
    return f"{type(owner).__name__}.{field} = {indices}"


def _no_subgraph(model: Any, rng: np.random.Generator) -> str | None:
    owner = pick(rng, model.signature_defs)
    if owner is None:
        return None
    owner.subgraph_index = len(model.subgraphs) + int(rng.integers(9))
    return f"signature of subgraph {owner.subgraph_index}"


def _negative(model: Any, rng: np.random.Generator) -> str | None:
    tensor = pick(rng, [t for t in _tensors(model) if t.shape is not None and len(t.shape)])
    if tensor is None:
        return None
    tensor.shape = np.array(tensor.shape)
    tensor.shape[rng.integers(len(tensor.shape))] = pick(rng, (-1, -2, -(1 << 31)))
    return f"{tensor.name} {tensor.shape}"


def _version(model: Any, rng: np.random.Generator) -> str | None:
    model.version = int(pick(rng, (0, 1, 2, 4, 1 << 31)))
    return f"schema version {model.version}"


BREAKING: tuple[Mutation, ...] = (
    *(_no_buffer, _no_code, _no_tensor, _no_subgraph, _negative, _version),
)
