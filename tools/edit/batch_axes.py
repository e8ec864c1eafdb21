"""Where the batch is in each tensor of a model: its shape rules are run on several batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

import numpy as np

from ...schema.model import Model, Operator, Subgraph, Tensor, save
from .allocated import allocated_shapes
from .subgraphs import copied

N_BATCHES = 3  # at once, of which shapes are compared with those of one
MAX_SIZES = 64  # elements of a tensor that may be the sizes of another one


class BatchAxes:
    """The axis of each tensor of a first subgraph that counts items, operator by operator.

    Attributes:
        graph: the subgraph, whose constants are changed while it is followed.
        n: items of a batch in the model as it is.
        shapes: tensor -> its shape there.
        axes: tensor -> the axis that has `n` items for each batch; others do not have one.
        outer: tensor -> what that axis counts more slowly than items, 1 in inputs.
        source: an input that has the batch.
    """

    def __init__(self, model: Model, inputs: Iterable[int], n: int) -> None:
        self.model, self.graph, self.n = model, model.subgraphs[0], n
        self.axes: dict[int, int] = dict.fromkeys(inputs, 0)
        self.outer: dict[int, int] = {}
        self.source = min(self.axes)
        self.shapes = allocated_shapes(save(model), {})
        self._pending: list[Operator] = []
        self._sizes: list[Operator] = []

    def add(self, op: Operator) -> None:
        """Follows the batch through an operator once `run` is called."""
        self._pending.append(op)

    def run(self) -> None:
        """Finds the axes of all results of the operators added.

        Raises ValueError when one of them refuses several batches.
        """
        operators, self._pending = self._pending, []
        batched = self.axes.keys() & {i for op in operators for i in op.inputs}
        if batched:
            shapes = allocated_shapes(*self._part([*self._sizes, *operators]))
            for op in operators:
                self._follow(op, shapes)
        self._sizes += [op for op in operators if self._is_sizes(op)]

    def _follow(self, op: Operator, several: Mapping[int, tuple[int, ...]]) -> None:
        outer = next((self.outer.get(i, 1) for i in op.inputs if i in self.axes), 1)
        for i in op.outputs:
            pairs = list(zip(self.shapes[i], several.get(i, ()), strict=False))
            unequal = [axis for axis, (one, more) in enumerate(pairs) if one != more]
            if len(unequal) == 1 and len(pairs) == len(self.shapes[i]):
                (axis,) = unequal
                one, more = pairs[axis]
                if more == one * N_BATCHES and one % self.n == 0:
                    self.axes[i] = axis
                    self.outer.setdefault(i, outer)

    def _part(self, operators: list[Operator]) -> tuple[bytes, dict[int, tuple[int, ...]]]:
        """A model of some of the operators, and the shapes of its inputs for several batches."""
        part = copied(self.model)
        graph = part.subgraphs[0]
        computed = {i for op in operators for i in op.outputs}
        read = {i for op in operators for i in op.inputs if i >= 0} - computed
        graph.operators, part.signatures = operators, []
        for tensor in (t for i, t in enumerate(graph.tensors) if i not in read):
            tensor.data, tensor.sparsity = None, None  # nobody reads it, and it may be large
        graph.inputs = sorted(i for i in read if is_data(graph.tensors[i]))
        graph.outputs = sorted(computed)
        shapes = {i: self._several(i) for i in read if graph.tensors[i].data is None}
        for i, shape in shapes.items():
            graph.tensors[i].shape, graph.tensors[i].shape_signature = shape, None
        return save(part), {i: shapes[i] for i in graph.inputs}

    def _several(self, tensor: int) -> tuple[int, ...]:
        axis = self.axes.get(tensor)
        shape = self.shapes[tensor]
        return tuple(n * N_BATCHES if i == axis else n for i, n in enumerate(shape))

    def _is_sizes(self, op: Operator) -> bool:
        """Whether the sizes of other tensors may be computed by this operator."""
        tensors = [self.graph.tensors[i] for i in op.outputs]
        return bool(tensors) and all(
            t.dtype in ("INT32", "INT64") and prod(self.shapes[i]) <= MAX_SIZES
            for i, t in zip(op.outputs, tensors, strict=True)
        )

    def constant(self, op: Operator, operand: int) -> np.ndarray | None:
        """The value of an operand, None where it is computed or left out."""
        index = op.inputs[operand] if operand < len(op.inputs) else -1
        data = None if index < 0 else self.graph.tensors[index].data
        return data if isinstance(data, np.ndarray) else None

    def new_tensor(self, tensor: Tensor) -> int:
        """The index of a tensor that is added to the subgraph."""
        self.graph.tensors.append(tensor)
        index = len(self.graph.tensors) - 1
        self.shapes[index] = tensor.shape
        return index

    def new_constant(self, name: str, data: np.ndarray) -> int:
        """The index of a constant of type INT32 that is added."""
        return self.new_tensor(Tensor(name, data.shape, "INT32", data))

    def set_constant(self, op: Operator, operand: int, data: np.ndarray) -> None:
        """Gives an operand another value; other readers of the first one still have that."""
        before = self.graph.tensors[op.inputs[operand]]
        name = f"{before.name}_any_batch"
        quantization = before.quantization
        tensor = Tensor(name, data.shape, before.dtype, data, quantization=quantization)
        op.inputs[operand] = self.new_tensor(tensor)


def is_data(tensor: Tensor) -> bool:
    """Whether a tensor is no constant and no state."""
    return tensor.data is None and not tensor.is_variable


def has_known_sizes(graph: Subgraph, tensor: int) -> bool:
    """Whether the file states every size of a tensor."""
    known = graph.tensors[tensor]
    return known.has_rank and -1 not in (known.shape_signature or ())
