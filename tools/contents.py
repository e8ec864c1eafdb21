"""What is in a flatbuffer, as plain data."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..converter.sources.source import naming
from ..schema import tables
from ..schema.files import read_bytes


def inspect(path: str | os.PathLike, content: bytes | None = None) -> dict[str, Any]:
    """A flatbuffer's signatures, inputs, outputs, operators, tensors and sizes.

    `content` are its bytes where they are known.
    """
    from ..schema.model import load  # the interpreter itself never needs the Model

    content = read_bytes(path) if content is None else content
    with naming(path):
        model = load(content)
    main = model.subgraphs[0]
    operators = Counter(op.custom_code or op.op for s in model.subgraphs for op in s.operators)
    return {
        "file": os.fspath(path),
        "bytes": len(content),
        "constant_bytes": sum(constant_bytes(t) for s in model.subgraphs for t in s.tensors),
        "description": model.description,
        "metadata": {name: len(value) for name, value in model.metadata.items()},
        "associated_files": {name: len(value) for name, value in model.associated_files.items()},
        "signatures": {
            s.key: {"inputs": list(s.inputs), "outputs": list(s.outputs), "subgraph": s.subgraph}
            for s in model.signatures
        },
        "inputs": [tensor_row(main, i) for i in main.inputs],
        "outputs": [tensor_row(main, i) for i in main.outputs],
        "operators": dict(operators.most_common()),
        "subgraphs": [
            {
                "name": subgraph.name,
                "operators": [operator_row(subgraph, i) for i in range(len(subgraph.operators))],
                "tensors": [tensor_row(subgraph, i) for i in range(len(subgraph.tensors))],
            }
            for subgraph in model.subgraphs
        ],
    }


def delegated(path: str, delegates: Sequence[Any]) -> dict[str, Any]:
    """Which delegate runs which operator of a flatbuffer's first subgraph, and why not the rest."""
    from .runnable import Flatbuffer  # only here an interpreter is needed

    model = Flatbuffer(path, by_name=False, delegates=delegates)
    model.interpreter.allocate_tensors()
    return model.interpreter.delegate_report().as_dict()


def constant_bytes(tensor: Any) -> int:
    """Bytes of a constant tensor's data, 0 for any other."""
    return 0 if tensor.data is None else memoryview(tensor.data).nbytes


def operator_row(subgraph: Any, index: int) -> dict[str, Any]:
    """One operator as a row of a table; options at their default are left out."""
    op = subgraph.operators[index]
    return {
        "index": index,
        "operator": op.custom_code or op.op,
        "version": op.version,
        "inputs": [int(i) for i in op.inputs],
        "outputs": [int(i) for i in op.outputs],
        "options": {} if op.options is None else non_default(op.options),
    }


def non_default(options: Any) -> dict[str, Any]:
    """The fields of an options record that are not at their default, enums by name."""
    kinds = {name: kind for name, kind, *_ in tables.TABLES[type(options).__name__]}
    default = type(options)()
    fields = {}
    for name in type(options).__slots__:
        value = getattr(options, name)
        if not np.array_equal(value, getattr(default, name)):
            is_enum = kinds.get(name) in tables.ENUMS
            fields[name] = (
                tables.name_of(kinds[name], value) if is_enum else np.asarray(value).tolist()
            )
    return fields


def tensor_row(subgraph: Any, index: int) -> dict[str, Any]:
    """One tensor as a row of a table; an unknown dimension is -1."""
    if index < 0:
        return {"index": index, "name": "", "type": "", "shape": [], "bytes": 0}
    tensor = subgraph.tensors[index]
    shape = tensor.shape_signature if tensor.shape_signature is not None else tensor.shape
    row = {
        "index": index,
        "name": tensor.name,
        "type": tensor.dtype,
        "shape": [int(n) for n in shape],
        "bytes": constant_bytes(tensor),
    }
    quantization = tensor.quantization
    if quantization is not None and len(quantization.scales):
        row["scales"] = len(quantization.scales)
        row["scale"] = quantization.scale
        row["zero_point"] = quantization.zero_point if len(quantization.zero_points) else 0
    return row
