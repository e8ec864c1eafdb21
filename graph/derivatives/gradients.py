"""Symbolic gradients: a walk from results back to what they depend on, over rows of derivatives."""

from __future__ import annotations

import contextlib
import enum
import functools
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ..core.arrays import type_name
from ..core.build import ops
from ..core.calls import call_type, refuse_expansion
from ..core.composite.indexed_slices import IndexedSlices, dense, joined
from ..core.composite.ragged_tensor import RaggedTensor
from ..core.create import constant, convert_to_tensor
from ..core.function_graph import captured
from ..core.graph import Graph, Operation, Tensor
from ..core.order import data_inputs, ordered
from ..core.scopes import get_default_graph, name_scope
from ..core.shapes import is_static
from ..core.signatures.operands import Operands
from ..functions.flow.control_flow import tuple as after_all
from .dataflow_loops import functionalize_loops
from .registry import DERIVATIVES, Derivative, Gradient

if TYPE_CHECKING:
    from ..core.typing import TensorLike
    from ..variables.variables import Variable

Differentiable: TypeAlias = "Tensor | Variable | IndexedSlices | RaggedTensor"
"""What gradients are of, and by."""


class UnconnectedGradients(enum.Enum):
    """What `gradients` gives where nothing connects y and x: None or zeros."""

    NONE = "none"
    ZERO = "zero"


class AggregationMethod:
    """How the gradients of a tensor with several readers are added.

    `ADD_N`, the default, waits for all of them and adds them in one operation. The others add two
    at a time, so that each can be forgotten early.
    """

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


_METHODS = (
    AggregationMethod.ADD_N,
    AggregationMethod.EXPERIMENTAL_TREE,
    AggregationMethod.EXPERIMENTAL_ACCUMULATE_N,
)


def gradients(
    ys: Differentiable | Sequence[Differentiable],
    xs: Differentiable | Sequence[Differentiable],
    grad_ys: TensorLike | IndexedSlices | Sequence[TensorLike | IndexedSlices | None] | None = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Differentiable | Sequence[Differentiable] | None = None,
    unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
) -> list[Gradient | None]:
    """Adds operations that compute the derivative of the sum of `ys` by each of `xs`.

    Args:
        ys: A tensor, or a list of them.
        xs: A tensor or variable, or a list of them.
        grad_ys: What flows into each of `ys`, of its shape; None for ones.
        name: The name scope of the new operations.
        colocate_gradients_with_ops: Whether gradients stand where the operations stand that they
            are of, and sums of those from several devices where what they are by.
        gate_gradients: Whether all gradients of an operation are there before one is used.
        aggregation_method: One of AggregationMethod, ADD_N by default.
        stop_gradients: Tensors that count as constants.
        unconnected_gradients: What to give where nothing connects `ys` and an x.

    Returns:
        One gradient for each of `xs`: a Tensor; IndexedSlices where only some rows are not zero; or
        None (or zeros) where no y depends on it.

    Raises:
        LookupError: An operation between them has no derivative; the message names it.
        ValueError: `grad_ys` has another length than `ys`; an argument is not known.
        TypeError: A gradient has another dtype than what it is the gradient of.
    """
    unconnected = _unconnected(unconnected_gradients)
    method = AggregationMethod.DEFAULT if aggregation_method is None else aggregation_method
    if method not in _METHODS:
        raise ValueError(
            f"Invalid `aggregation_method` specified {method}. Accepted values are {[*_METHODS]}."
        )
    x_tensors = [as_tensor(x) for x in _listed(xs)]
    with name_scope(name):
        y_tensors = [as_tensor(_value(y)) for y in _listed(ys)]
        stops = [as_tensor(x) for x in _listed(() if stop_gradients is None else stop_gradients)]
        functionalize_loops(y_tensors, x_tensors)
        walk = _Walk(y_tensors, x_tensors, stops, method, colocate_gradients_with_ops)
        walk.seed(y_tensors, _grad_ys(y_tensors, grad_ys, walk))
        walk.run(gate_gradients)
        results = [walk.result(x, unconnected) for x in x_tensors]
        return [_like(x, result) for x, result in zip(_listed(xs), results, strict=True)]


def _like(x: object, gradient: Gradient | None) -> Gradient | None:
    """The gradient of a ragged tensor in rows as its own."""
    if not isinstance(x, RaggedTensor) or gradient is None:
        return gradient
    return cast("Gradient", x.with_flat_values(dense(gradient)))


def _unconnected(value: UnconnectedGradients | str) -> UnconnectedGradients:
    try:
        return UnconnectedGradients(value)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: '{value}'") from None


def _listed(values: Differentiable | Sequence[Differentiable]) -> Sequence[Differentiable]:
    return values if isinstance(values, Sequence) else [values]


def _value(y: Differentiable) -> Tensor | IndexedSlices | RaggedTensor:
    """Of a variable what it holds; of several tensors in one place all of them as one."""
    if isinstance(y, (Operands, list, tuple)) and not isinstance(y, Tensor):
        return convert_to_tensor(y, name="y")
    return y


def as_tensor(value: Differentiable) -> Tensor:
    """The tensor that a value stands for; of a variable, its reference or handle."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, IndexedSlices):
        return value.values
    if isinstance(value, RaggedTensor):
        return value.flat_values
    op, handle = getattr(value, "op", None), getattr(value, "handle", None)
    if not isinstance(op, Operation):
        return convert_to_tensor(value)  # a number, which nothing is computed from
    return handle if isinstance(handle, Tensor) else op.outputs[0]


def is_trainable(tensor: Tensor) -> bool:
    """Whether values of this type can have a gradient: real and complex numbers, and handles."""
    dtype = tensor.dtype
    if dtype is None:
        return False
    return dtype.kind in "fc" or dtype.names is not None or dtype.name == "bfloat16"


def _grad_ys(
    ys: list[Tensor],
    grad_ys: TensorLike | IndexedSlices | Sequence[TensorLike | IndexedSlices | None] | None,
    walk: _Walk,
) -> list[Gradient]:
    """What flows into each y: that of `grad_ys`, else ones."""
    if grad_ys is None:
        values = [None] * len(ys)
    else:
        values = grad_ys if isinstance(grad_ys, Sequence) else [grad_ys]
    if len(values) != len(ys):
        raise ValueError(f"Passed {len(values)} grad_ys for {len(ys)} ys")
    gradients: list[Gradient] = []
    for i, (y, value) in enumerate(zip(ys, values, strict=True)):
        with walk.beside(y.op):
            gradients.append(_grad_y(y, value, f"grad_ys_{i}"))
    return gradients


def _grad_y(y: Tensor, value: TensorLike | IndexedSlices | None, name: str) -> Gradient:
    if value is None:
        if y.dtype is not None and y.dtype.kind == "c":
            raise TypeError(
                f"Gradients of complex tensors ({y}) must set grad_ys (y.dtype = {y.dtype.name})"
            )
        is_known = is_static(y.sizes)
        shape = constant(np.array(y.sizes, np.int32), name="Shape") if is_known else ops.Shape(y)
        with name_scope(name) as scope:
            return ops.Fill(shape, constant(np.ones((), y.dtype)), name=scope)
    if isinstance(value, IndexedSlices):
        return value
    if isinstance(value, RaggedTensor):
        value = value.flat_values
    if isinstance(value, Tensor) and value.dtype != y.dtype:
        raise TypeError(
            f"Gradient type {value.dtype.name} does not match type {y.dtype.name} of '{y.name}'"
        )
    return ops.Identity(convert_to_tensor(value, y.dtype), name=name)


class _Walk:
    """One call of `gradients`: what has flowed into each tensor so far."""

    def __init__(
        self,
        ys: list[Tensor],
        xs: list[Tensor],
        stops: list[Tensor],
        method: int,
        colocates: bool,
    ) -> None:
        self.xs = dict.fromkeys(xs)
        self.method, self.colocates = method, colocates
        self.outside = _Outside(ys, xs)
        self.between = _between(ys, xs, {tensor.op for tensor in stops}, self.outside)
        refuse_expansion(self.between)
        self.arrived: dict[Tensor, list[Gradient]] = defaultdict(list)
        self.ends = list(dict.fromkeys(y.op for y in ys if y.op in self.between))

    def _before(self, op: Operation) -> list[Operation]:
        return [other for other in self.outside.data_inputs(op) if other in self.between]

    def _order(self) -> Iterator[Operation]:
        """The operations, each after those that read it, those first that are nearer to the ys.

        It is TensorFlow's order, a queue: in it gradients come to where they are added.
        """
        walked = ordered(self.ends, self._before)
        pending = Counter(other for op in walked for other in self._before(op))
        queue = deque(op for op in self.ends if not pending[op])
        while queue:
            op = queue.popleft()
            yield op
            for other in self._before(op):
                pending[other] -= 1
                if not pending[other]:
                    queue.append(other)

    def seed(self, ys: Sequence[Tensor], grad_ys: Sequence[Gradient]) -> None:
        """Puts in what flows into the results."""
        for y, gradient in zip(ys, grad_ys, strict=True):
            self.arrived[y].append(gradient)

    def run(self, gate: bool) -> None:
        """Goes back through all operations, each after those that read it."""
        for op in self._order():
            if self.between[op]:
                self._step(op, gate)

    def _step(self, op: Operation, gate: bool) -> None:
        """Takes what has flowed into the outputs of `op` to its inputs."""
        arrived = [self._sum(tensor) for tensor in op.outputs]
        if all(gradient is None for gradient in arrived):
            return
        row = _derivative(op)
        if row.function is None:
            return
        with name_scope(f"{op.name}_grad"), self.beside(op):
            results = _called(row, op, arrived)
            if gate and sum(gradient is not None for gradient in results) > 1:
                results = after_all(results)
        for tensor, gradient in zip(op.inputs, results, strict=True):
            if gradient is not None and is_trainable(tensor):
                self._add(self.outside.of(tensor), gradient, op)

    def _add(self, tensor: Tensor, gradient: Gradient, op: Operation) -> None:
        is_handle = tensor.dtype is None or tensor.dtype.names is not None
        if not is_handle and gradient.dtype != tensor.dtype:
            raise TypeError(
                f"Gradient type {gradient.dtype.name} generated for op {op.type} '{op.name}' does "
                f"not match type {type_name(tensor.dtype)} of its input '{tensor.name}'"
            )
        if isinstance(gradient, Tensor) and not is_handle and tensor.sizes is not None:
            gradient.set_shape(tensor.sizes)
        self.arrived[tensor].append(gradient)

    def _sum(self, tensor: Tensor) -> Gradient | None:
        """All that has flowed into a tensor, in one."""
        arrived = self.arrived.get(tensor)
        if not arrived:
            return None
        if len(arrived) > 1:
            with self.beside(tensor.op):
                arrived[:] = [self._added(arrived)]
        return arrived[0]

    def _added(self, gradients: list[Gradient]) -> Gradient:
        """The sum; where it is colocated, first of those that are on the same device."""
        if not self.colocates or any(isinstance(x, IndexedSlices) for x in gradients):
            return _added(gradients, self.method)
        by_device: dict[str, list[Gradient]] = defaultdict(list)
        for gradient in gradients:
            by_device[gradient.op.device].append(gradient)
        sums: list[Gradient] = []
        for on_device in by_device.values():
            with self.beside(on_device[0].op, ignore_existing=True):
                is_one = len(on_device) == 1
                sums.append(on_device[0] if is_one else _added(on_device, self.method))
        return sums[0] if len(sums) == 1 else _added(sums, self.method)

    def beside(
        self, op: Operation, ignore_existing: bool = False
    ) -> contextlib.AbstractContextManager[None]:
        """A block whose operations stand where `op` does, if gradients are colocated."""
        if not self.colocates or op.graph is not get_default_graph():
            return contextlib.nullcontext()
        return op.graph.colocate_with(op, ignore_existing)

    def result(self, x: Tensor, unconnected: UnconnectedGradients) -> Gradient | None:
        """The gradient of one of `xs`."""
        gradient = self._sum(x)
        if gradient is None and unconnected is UnconnectedGradients.ZERO:
            return _zeros_like(x)
        return gradient


class _Outside:
    """Where the inputs of operations come from, when an x is outside of the function of the ys.

    What a function has of the graph around counts there as that itself, but for what is an x.
    """

    def __init__(self, ys: list[Tensor], xs: list[Tensor]) -> None:
        inside = {y.graph for y in ys}
        self._is_needed = any(x.graph not in inside for x in xs)
        self._xs = set(xs)
        self._tensors: dict[Graph, dict[Tensor, Tensor]] = {}

    def of(self, tensor: Tensor) -> Tensor:
        """The tensor of the graph around that `tensor` stands for, or itself."""
        while self._is_needed and tensor not in self._xs:
            graph = tensor.graph
            if graph not in self._tensors:
                self._tensors[graph] = captured(graph)
            if tensor not in self._tensors[graph]:
                break
            tensor = self._tensors[graph][tensor]
        return tensor

    def data_inputs(self, op: Operation) -> list[Operation]:
        """The operations whose outputs `op` reads, through functions where that is needed."""
        if not self._is_needed:
            return data_inputs(op)
        return [self.of(tensor).op for tensor in op.inputs]


def _zeros_like(x: Tensor) -> Tensor:
    """Zeros of the shape and dtype of `x`, or of the variable that it is the handle of."""
    if x.op.type != "VarHandleOp":
        return ops.ZerosLike(x)
    dtype, shape = x.op.get_attr("dtype"), x.op.get_attr("shape")
    if is_static(shape):
        return constant(np.zeros(shape, dtype))
    return ops.Fill(ops.VariableShape(x, out_type=np.dtype(np.int32)), np.zeros((), dtype))


def _between(
    ys: Iterable[Tensor], xs: Iterable[Tensor], stops: set[Operation], outside: _Outside
) -> dict[Operation, bool]:
    """The operations that depend on `xs` and that `ys` depend on.

    The value says whether something may flow on from the operation to its inputs.
    """
    upstream = ordered([y.op for y in ys], outside.data_inputs)
    starts = {x.op for x in xs}
    between: dict[Operation, bool] = {}
    for op in upstream:
        inputs = [outside.of(tensor) for tensor in op.all_inputs if tensor is not None]
        inside = any(tensor.op in between and is_trainable(tensor) for tensor in inputs)
        if inside or op in starts:
            between[op] = inside and op not in stops
    return between


def _derivative(op: Operation) -> Derivative:
    override = op.attrs.get("_gradient_op_type")
    kind = override.decode() if isinstance(override, bytes) else str(override or op.type)
    row = DERIVATIVES.get(kind)
    if row is None and override is None:
        row = DERIVATIVES.get(call_type(op))
    if row is None:
        raise LookupError(
            f"No gradient defined for operation '{op.name}' (op type: {op.type}). Register one "
            f"with tf.RegisterGradient('{kind}'), or put tf.stop_gradient around what counts as "
            "a constant."
        )
    return row


def _called(
    row: Derivative, op: Operation, arrived: Sequence[Gradient | None]
) -> Sequence[Gradient | None]:
    """What the derivative gives for each input."""
    if not row.takes_slices:
        arrived = [None if gradient is None else dense(gradient) for gradient in arrived]
    if row.fills_zeros:
        arrived = [
            ops.ZerosLike(t) if gradient is None and is_trainable(t) else gradient
            for gradient, t in zip(arrived, op.outputs, strict=True)
        ]
    assert row.function is not None
    result = row.function(op, *arrived)
    results = result if isinstance(result, Sequence) else [result]
    if len(results) != len(op.inputs):
        raise ValueError(
            f"Num gradients {len(results)} generated for op {op.type} '{op.name}' do not match num "
            f"inputs {len(op.inputs)}"
        )
    return results


def _added(gradients: list[Gradient], method: int) -> Gradient:
    """The sum of gradients; sparse where all of them are."""
    slices = [gradient for gradient in gradients if isinstance(gradient, IndexedSlices)]
    if len(slices) == len(gradients):
        return joined(slices)
    tensors = [dense(gradient) for gradient in gradients]
    if method == AggregationMethod.ADD_N:
        return ops.AddN(tensors)
    return functools.reduce(lambda total, tensor: ops.AddN([total, tensor]), tensors)
