"""The IR as a schema.Model: here tensors get their indices, names and buffers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ...schema import model as file
from ...schema import tables
from ...schema.dtypes import tensor_type
from ...schema.flatbuffer import record
from ...schema.operators import known
from ...schema.quantization import Quantization
from ...schema.sparse import nonzeros
from ...schema.targets.versions import update_versions
from .graph import Graph, Op, Origin, Tensor

DESCRIPTION = "flatlite converted."


class WrittenModel(NamedTuple):
    """A model and, for each of its subgraphs, what its tensors come from.

    Attributes:
        model: the file.
        origins: tensor index -> the source tensor it equals.
        tensors: tensor index -> the IR tensor.
        is_bounded: whether there were infinite constants, and are none.
    """

    model: file.Model
    origins: list[dict[int, Origin]]
    tensors: list[list[Tensor]]
    is_bounded: bool = False


def write(
    graphs: Graph | Sequence[Graph],
    *,
    description: str = DESCRIPTION,
    metadata: dict[str, bytes] | None = None,
    bounded: bool = False,
) -> WrittenModel:
    """The Model of one graph, or of several with a signature each; called graphs come after.

    Args:
        graphs: the first is what runs by default.
        description: free text in the file.
        metadata: further entries by name, after the minimal runtime version.
        bounded: whether infinite constants become the largest numbers of their type.
    """
    ordered = all_subgraphs([graphs] if isinstance(graphs, Graph) else graphs)
    indices = {id(graph): i for i, graph in enumerate(ordered)}
    layouts = [_Layout(graph, indices, bounded) for graph in ordered]
    model = file.Model(
        subgraphs=[layout.subgraph() for layout in layouts],
        description=description,
        signatures=[
            s for i, layout in enumerate(layouts) if (s := layout.signature(i)) is not None
        ],
    )
    update_versions(model)
    model.metadata.update(metadata or {})
    return WrittenModel(
        model,
        [layout.origins() for layout in layouts],
        [layout.tensors for layout in layouts],
        any(layout.n_bounded for layout in layouts),
    )


def all_subgraphs(graphs: Sequence[Graph]) -> list[Graph]:
    """Some graphs, then those that they call, in the order of the file's subgraphs."""
    reachable = dict.fromkeys(called for graph in graphs for called in graph.reachable())
    return [*graphs, *(called for called in reachable if called not in graphs)]


class _Layout:
    """Indices and names of the tensors of one graph: inputs, constants, results.

    Constants are in the order that TensorFlow's converter gives them: the last one used is first,
    a bias before its weights.
    """

    def __init__(self, graph: Graph, subgraph_indices: dict[int, int], bounded: bool) -> None:
        self.graph = graph
        self.bounded, self.n_bounded = bounded, 0
        self.subgraph_indices = subgraph_indices
        used = list(graph.tensors())
        entering = {id(tensor) for tensor in graph.inputs}
        others = [tensor for tensor in used if id(tensor) not in entering]
        constants = [tensor for tensor in reversed(others) if tensor.producer is None]
        self.block_scales = {id(t): scales_of(t) for t in constants if has_blocks(t)}
        constants += self.block_scales.values()
        results = [tensor for tensor in others if tensor.producer is not None]
        self.tensors = [*dict.fromkeys(graph.inputs), *constants, *results]
        self.index = {id(tensor): i for i, tensor in enumerate(self.tensors)}
        self.names = self._names()

    def _names(self) -> dict[int, str]:
        """Public names for inputs and outputs; for the others their own, made unique.

        Constants whose name is taken twice leave its path out: those of a recurrent operator, all
        of one name, would be a large part of a file.
        """
        names = {id(tensor): tensor.name for tensor in self.graph.inputs}
        public = self.graph.output_names or [tensor.name for tensor in self.graph.outputs]
        for tensor, name in zip(self.graph.outputs, public, strict=True):
            names.setdefault(id(tensor), name)
        used: dict[str, int] = dict.fromkeys(names.values(), 0)
        for tensor in self.tensors:
            if id(tensor) not in names:
                name = tensor.name.removesuffix(":0")
                if used.get(name) and is_stored(tensor):
                    name = name.rpartition("/")[-1]
                names[id(tensor)] = unique(name, used)
        return names

    def subgraph(self) -> file.Subgraph:
        """The graph as the file has it."""
        return file.Subgraph(
            name=self.graph.name,
            tensors=[self._tensor(tensor) for tensor in self.tensors],
            inputs=self._indices(self.graph.inputs),
            outputs=self._indices(self.graph.outputs),
            operators=[self._operator(op) for op in self.graph.ops],
        )

    def signature(self, subgraph: int) -> file.Signature | None:
        """The public names of the graph, None when it has no signature."""
        names = self.graph.signature
        if names is None:
            return None
        inputs = dict(zip(names.inputs, self._indices(self.graph.inputs), strict=True))
        outputs = dict(zip(names.outputs, self._indices(self.graph.outputs), strict=True))
        return file.Signature(names.key, inputs, outputs, subgraph)

    def origins(self) -> dict[int, Origin]:
        """Tensor index -> the source tensor it equals, where it equals one."""
        return {
            i: tensor.origin
            for i, tensor in enumerate(self.tensors)
            if tensor.origin is not None and tensor.producer is not None
        }

    def _indices(self, tensors: Iterable[Tensor | None]) -> list[int]:
        return [-1 if tensor is None else self.index[id(tensor)] for tensor in tensors]

    def _tensor(self, tensor: Tensor) -> file.Tensor:
        shape = tensor.shape
        static_shape = () if shape is None else tuple(1 if n is None else n for n in shape)
        signature = None
        if shape is not None and None in shape:
            signature = tuple(-1 if n is None else n for n in shape)
        data = tensor.value if tensor.is_constant else None
        if data is not None and tensor.sparsity is not None:
            data = nonzeros(data, tensor.sparsity).tobytes()
        elif self.bounded and data is not None and is_infinite(data):
            data, self.n_bounded = saturated(data), self.n_bounded + 1
        return file.Tensor(
            name=self.names[id(tensor)],
            shape=static_shape,
            dtype=type_name(tensor.dtype),
            data=data,
            shape_signature=signature,
            quantization=self._quantization(tensor),
            is_variable=tensor.is_variable,
            sparsity=tensor.sparsity,
            has_rank=shape is not None,
        )

    def _quantization(self, tensor: Tensor) -> Quantization | None:
        """The quantization of a tensor, which names the one with the scales of its blocks."""
        params, scales = tensor.quantization, self.block_scales.get(id(tensor))
        if scales is None:
            return params
        index, block = self.index[id(scales)], params.block_size
        details = record("BlockwiseQuantization")(scales=index, zero_points=-1, block_size=block)
        return Quantization([], [], details=details)  # XNNPACK insists on dimension 0

    def _operator(self, op: Op) -> file.Operator:
        options = op.options
        if op.graphs:
            subgraph_indices = [self.subgraph_indices[id(graph)] for graph in op.graphs]
            names = known(op.kind).calls
            if names == ("branch_subgraph_indices",):  # one field for all of them
                fields = {names[0]: np.array(subgraph_indices, np.int32)}
            else:
                fields = dict(zip(names, subgraph_indices, strict=True))
            before = {name: getattr(options, name) for name in type(options).__slots__}
            options = type(options)(**{**before, **fields})
        elif options is not None and is_redundant(op.kind, options):
            options = None
        return file.Operator(
            op=op.kind,
            inputs=self._indices(op.inputs),
            outputs=self._indices(op.outputs),
            options=options,
            custom_code=op.custom_code or None,
            custom_options=op.custom_options or None,
            intermediates=self._indices(op.intermediates),
        )


def has_blocks(tensor: Tensor) -> bool:
    """Whether a tensor has scales for blocks of elements."""
    return tensor.quantization is not None and tensor.quantization.blocks is not None


def scales_of(tensor: Tensor) -> Tensor:
    """The scales of a tensor's blocks, as LiteRT reads them."""
    scales = tensor.quantization.blocks.scales.astype(np.float16)
    return Tensor(f"{tensor.name}_scales", scales.dtype, scales.shape, scales)


def is_infinite(array: np.ndarray) -> bool:
    """Whether some real number in an array is infinite."""
    return array.dtype.kind == "f" and bool(np.isinf(array).any())


def saturated(array: np.ndarray) -> np.ndarray:
    """Reals with the largest numbers of their type in the place of infinities."""
    limits = np.finfo(array.dtype)
    return np.asarray(np.clip(array, limits.min, limits.max))


def is_redundant(kind: str, options: object) -> bool:
    """Whether a file without these options means the same to every reader.

    Options with fields are kept even at their defaults: some runtimes insist on them.
    """
    fields = tables.TABLES[type(options).__name__]
    return not fields or (kind == "RESHAPE" and options == type(options)())


def is_stored(tensor: Tensor) -> bool:
    """Whether it is a constant, or the float32 form of one."""
    op = tensor.producer
    return op is None or (op.kind == "DEQUANTIZE" and op.inputs[0].is_constant)


def type_name(dtype: np.dtype) -> str:
    """The name of the TensorType of a numpy dtype."""
    return tables.name_of("TensorType", tensor_type(dtype))


def unique(name: str, used: dict[str, int]) -> str:
    """`name`, or `name` and the first number that makes it new, as TensorFlow's converter has it.

    Args:
        name: what a tensor is called.
        used: names -> the last number that was tried after them.
    """
    base = name = name or "t"
    while name in used:
        used[base] += 1
        name = f"{base}{used[base]}"
    used[name] = 0
    return name
