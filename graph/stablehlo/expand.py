"""XlaCallModule as the operations that its module consists of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from ...schema.errors import ModelError, UnsupportedOps
from ...schema.mlir import bytecode
from ...schema.mlir.module import FunctionType, TensorType
from ..core.graph import Graph, Operation, Tensor
from ..format.rebuild import Copy, rebuild
from .writer import Writer

KIND = "XlaCallModule"


def expand_modules(graph: Graph) -> Graph:
    """`graph`, each module of StableHLO replaced by what it consists of.

    Raises:
        ModelError: a module is not valid.
        UnsupportedOps: an operation of a module has no form here.
    """

    def replace(op: Operation, copy: Copy) -> bool:
        if op.type != KIND:
            return False
        results = _written(op, copy.graph, [copy.tensors[x] for x in op.inputs])
        copy.maps_to(op, results, [])
        return True

    return rebuild(graph, None, replace)


def module_body(op: Operation) -> Graph:
    """What the module of `op` computes, as a graph with inputs and outputs; errors as above."""
    graph = Graph()
    graph.inputs = []
    for i, x in enumerate(op.inputs):
        attrs = {"dtype": x.dtype, "shape": x.sizes}
        graph.inputs += graph.add("Placeholder", f"argument_{i}", (), attrs).outputs
    graph.outputs = _written(op, graph, graph.inputs)
    return graph


def _written(op: Operation, graph: Graph, arguments: list[Tensor]) -> list[Tensor]:
    """What the module of `op` computes of `arguments`."""
    where = f"{KIND} '{op.name}'"
    if op.get_attr("function_list"):
        raise UnsupportedOps(f"{where}: calls of TensorFlow functions from a module of StableHLO")
    content = cast("bytes", op.get_attr("module"))
    platforms = cast("Sequence[bytes]", op.get_attr("platforms"))
    specs = cast("Sequence[bytes]", op.get_attr("dim_args_spec"))
    module = bytecode.read(content, f"{where}: its module")
    main = module.functions.get("main")
    type_ = None if main is None else main.attributes.get("function_type")
    if not isinstance(type_, FunctionType):
        raise ModelError(f"{where}: its module must have a function 'main'")
    w = Writer(graph, op.name, module)
    first: list[Tensor] = []
    if len(platforms) > 1:
        names = [bytes(name) for name in platforms]
        first.append(w.constant(names.index(b"CPU") if b"CPU" in names else 0, np.int32))
    first += [_size(spec, arguments, w) for spec in specs]
    expected = [x for x in type_.inputs if isinstance(x, TensorType)]
    if len(expected) != len(first) + len(arguments):
        raise ModelError(
            f"{where}: its module takes {len(expected)} inputs, got {len(first) + len(arguments)}"
        )
    results = w.call("main", [*first, *arguments])
    if len(results) != len(op.outputs):
        raise ModelError(f"{where}: its module gives {len(results)} results, not {len(op.outputs)}")
    return [w.add("Identity", x) if x in arguments or x.op.type == "Const" else x for x in results]


def _size(spec: bytes, arguments: list[Tensor], w: Writer) -> Tensor:
    """The size that "argument.dimension" names."""
    i, axis = (int(part) for part in spec.decode().split("."))
    shape = w.add("Shape", arguments[i], out_type=np.dtype(np.int32))
    return w.add(
        "StridedSlice",
        shape,
        *(w.constant([n], np.int32) for n in (axis, axis + 1, 1)),
        shrink_axis_mask=1,
    )
