"""The plan cache: a model's plan on disk, so that the next process need not prepare it again.

An entry is small: instructions as plain data, and what the file says of inputs, outputs and
signatures. Weights stay in the model file.
"""

from __future__ import annotations

import marshal
from typing import TYPE_CHECKING

import numpy as np

from ...engine.plan.serialized import PackedConstants, SerializedProgram, serialize
from ...engine.run.stages import Stage as EngineStage
from ...engine.run.stages import aligned
from ..spec import SignatureSpec, TensorSpec
from .node import Node, StageNotes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from _typeshed import ReadableBuffer

    from ...engine.plan.planner import Layout
    from ..model import LoadedModel
    from .node import Stage
    from .scope import Scope

    Shape: TypeAlias = tuple[int, ...]
    ScaleFields: TypeAlias = tuple[bytes, bytes, int]
    TensorFields: TypeAlias = tuple[int, str, Shape, Shape, str, str, int, bool, ScaleFields | None]


class CachedPlan:
    """A plan read from the cache.

    Attributes:
        n_subgraphs: of the model.
        inputs, outputs: tensors of the first subgraph.
        tensors: these and its variables, by index.
        signatures: by key.

    Args:
        serialized: the bytes that `store_plan` wrote.
        content: those of the model file.
        packed: where its packed constants lie; all who run it share them.
    """

    def __init__(
        self,
        serialized: ReadableBuffer,
        content: ReadableBuffer,
        packed: PackedConstants | None = None,
    ):
        self._packed = PackedConstants() if packed is None else packed
        fields = marshal.loads(serialized)
        self.n_subgraphs, self.inputs, self.outputs, tensors, signatures, *stage = fields
        self.tensors = {fields[0]: _tensor(fields) for fields in tensors}
        self.signatures = {fields[0]: SignatureSpec(*fields) for fields in signatures}
        self._stop, self._bound, self._readable, self._shapes, self._instructions = stage
        self._content = np.frombuffer(memoryview(content), np.uint8)

    def stage(self, scope: Scope) -> Stage | None:
        """The plan's only stage for inputs of the shapes in the file.

        None when a kernel it needs is not cached any more.
        """
        try:
            program = SerializedProgram(
                self._instructions, self._content, scope.n_threads, self._packed, scope.memory_limit
            )
        except LookupError:
            return None
        stage: Stage = EngineStage(program, {}, {}, StageNotes())
        stage.stop, stage.notes.shapes = self._stop, self._shapes
        for tensor, buffer in zip(self._bound, program.bound_buffers, strict=True):
            spec = self.tensors[tensor]
            is_input = tensor in self.inputs
            stage.bound[tensor] = buffer
            stage.arrays[tensor] = (
                aligned(spec.shape, spec.dtype) if is_input else scope.state(0, tensor)
            )
        program.close(dict(zip(program.bound_buffers, stage.arrays.values(), strict=True)))
        readable = zip(self._readable, program.readable, strict=True)
        stage.arrays.update((tensor, program.array(buffer)) for tensor, buffer in readable)
        return stage


def serialized_plan(
    model: LoadedModel, stage: Stage, readable: Sequence[int], layout: Layout
) -> bytes | None:
    """What `CachedPlan` is made of; None for a stage that cannot be cached.

    Args:
        model: the file.
        stage: the first of its plan.
        readable: the tensors that are readable after a run, in order, beside those bound to memory.
        layout: what was decided about the program.
    """
    from ...schema import tables

    kinds = {x.tag.kind for x in layout.instructions if isinstance(x.tag, Node)}
    if not kinds <= tables.ENUMS["BuiltinOperator"].keys():
        return None  # a custom operator that another process may have a class of its own for
    spec = model.subgraph(0)
    results = {tensor for operator in spec.operators for tensor in operator.outputs}
    ends = dict.fromkeys((*spec.inputs, *spec.outputs, *stage.bound))
    tensors = [fields for t in ends if (fields := _fields(spec.tensors[t])) is not None]
    has_initial_values = not results.isdisjoint(stage.bound)  # computed ones, of variables
    if stage.cut is not None or has_initial_values or len(tensors) < len(ends):
        return None
    if not ends.keys() <= {*stage.bound, *readable}:
        return None
    bound = [stage.operands[tensor] for tensor in stage.bound]
    outputs = [stage.operands[tensor] for tensor in readable]
    content = np.frombuffer(memoryview(model.content), np.uint8)
    instructions = serialize(stage.program, layout, content, bound, outputs, _trace)
    if instructions is None:
        return None
    shapes = {t: x.shape for t, x in stage.operands.items() if x.shape != spec.tensors[t].shape}
    fields = (
        *(model.n_subgraphs, spec.inputs, spec.outputs, tensors),
        [(s.key, s.inputs, s.outputs, s.subgraph) for s in model.signatures.values()],
        *(stage.stop, [*stage.bound], [*readable], shapes, instructions),
    )
    return marshal.dumps(fields)


def _trace(node: Node) -> tuple[tuple[int, int], ...]:
    """(subgraph, position) of a node, after those of the nodes that call it."""
    before = () if node.caller is None else _trace(node.caller)
    assert node.planner is not None  # it is in a plan
    return (*before, (node.planner.spec.index, node.index))


def _fields(tensor: TensorSpec) -> TensorFields | None:
    is_numpys = tensor.dtype.isbuiltin == 1  # whose text numpy reads; bfloat16's and float8's not
    if tensor.has_data or tensor.sparsity is not None or not is_numpys:
        return None
    scales = tensor.quantization
    return (
        *(tensor.index, tensor.name, tensor.shape, tensor.signature),
        *(tensor.dtype.str, tensor.type_name, tensor.bits, tensor.is_variable),
        None
        if scales is None
        else (scales.scales.tobytes(), scales.zero_points.tobytes(), scales.axis),
    )


def _tensor(fields: TensorFields) -> TensorSpec:
    index, name, shape, signature, dtype, type_name, bits, is_variable, scales = fields
    quantization = None
    if scales is not None:
        from ...schema.quantization import Quantization

        quantization = Quantization(
            np.frombuffer(scales[0], np.float32), np.frombuffer(scales[1], np.int64), scales[2]
        )
    kind = np.dtype(dtype)
    return TensorSpec(
        index, name, shape, signature, kind, type_name, bits, quantization, is_variable
    )
