"""Ops that call functions: calls, branches and loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.evaluate import as_results, evaluate_body, is_true
from ..core.registry import add_row, op
from ..core.shapes import Shape, declared, same, scalar, unknown

if TYPE_CHECKING:
    from ..core.protocols import OperationView, TensorView
    from ..core.signatures.attributes import FunctionRef


def _run(
    op: OperationView, reference: FunctionRef, arguments: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """The results of a function of the library on `arguments`."""
    return evaluate_body(op.graph.functions.body(reference), arguments)


def _declared_shapes(op: OperationView) -> list[Shape]:
    """What the attribute output_shapes says."""
    signature = op.signature
    if signature is not None and "output_shapes" not in signature.attrs:
        return [None] * len(op.outputs)
    shapes = op.get_attr("output_shapes")
    return list(shapes) if len(shapes) == len(op.outputs) else [None] * len(op.outputs)


def _module_shapes(op: OperationView) -> list[Shape]:
    """What JAX says of the results of its module; nothing where that is damaged."""
    shapes, n_results = list(op.get_attr("Sout")), len(op.outputs)
    return shapes if len(shapes) == n_results else [None] * n_results


def _is_open(tensor: TensorView | None) -> bool:
    """Whether an input is a back edge that is yet to be set."""
    return tensor is None


def _merge_shapes(op: OperationView) -> list[Shape]:
    """The shape of all inputs where they agree; a back edge may bring any."""
    if any(map(_is_open, op.inputs)):
        return [None, ()]
    first, *others = (tensor.sizes for tensor in op.inputs)
    return [first if all(shape == first for shape in others) else None, ()]


def scalars(op: OperationView) -> list[Shape]:
    """Handles, flows and sizes."""
    return [()] * len(op.outputs)


for _name in ("Enter", "Exit", "NextIteration", "RefEnter", "RefExit", "RefNextIteration"):
    add_row(_name, None, same)
for _name in ("Merge", "RefMerge"):
    add_row(_name, None, _merge_shapes)
for _name in ("Switch", "RefSwitch"):
    add_row(_name, None, lambda op: [op.inputs[0].sizes] * 2)
add_row("SymbolicGradient", None, lambda op: [x.sizes for x in op.inputs[: len(op.outputs)]])
add_row("LoopCond", None, scalar)
add_row("XlaCallModule", None, _module_shapes, pure=False)
for _name in ("Scatter", "Size", "Split", "Write"):
    add_row(f"TensorArray{_name}V3", None, scalars, pure=False)
for _name in ("Stack", "StackV2"):
    add_row(_name, None, lambda op: [(2,)], pure=False)
for _name in ("TensorArrayGradV3", "TensorArrayGradWithShape", "TensorArrayV3"):
    add_row(_name, None, lambda op: [(2,), ()], pure=False)
for _name in ("StackPush", "StackPushV2"):
    add_row(_name, None, lambda op: [op.inputs[1].sizes], pure=False)
for _name in ("StackClose", "StackCloseV2", "TensorArrayCloseV3"):
    add_row(_name, None, lambda op: [], pure=False)
for _name in ("StackPop", "StackPopV2", "TensorArrayReadV3"):
    add_row(_name, None, declared, pure=False)


@op("PartitionedCall", "StatefulPartitionedCall", shape=unknown, pure=False)
def partitioned_call(
    *inputs: np.ndarray, f: FunctionRef, op: OperationView
) -> np.ndarray | Sequence[np.ndarray]:
    """What the function gives."""
    return as_results(_run(op, f, inputs))


@op("If", "StatelessIf", shape=_declared_shapes, pure=False)
def if_(
    condition: np.ndarray,
    *inputs: np.ndarray,
    then_branch: FunctionRef,
    else_branch: FunctionRef,
    op: OperationView,
) -> np.ndarray | Sequence[np.ndarray]:
    """What one of two functions gives."""
    return as_results(_run(op, then_branch if is_true(condition) else else_branch, inputs))


@op("Case", "StatelessCase", shape=_declared_shapes, pure=False)
def case(
    index: np.ndarray, *inputs: np.ndarray, branches: Sequence[FunctionRef], op: OperationView
) -> np.ndarray | Sequence[np.ndarray]:
    """What the function at `index` gives; the last one for an index out of range."""
    i = int(index)
    return as_results(_run(op, branches[i if 0 <= i < len(branches) else -1], inputs))


@op("While", "StatelessWhile", "XlaWhile", shape=_declared_shapes, pure=False)
def while_(
    *inputs: np.ndarray, cond: FunctionRef, body: FunctionRef, op: OperationView
) -> np.ndarray | Sequence[np.ndarray]:
    """The loop variables, passed through `body` as long as `cond` holds."""
    values = list(inputs)
    while is_true(np.asarray(_run(op, cond, values)[0])):
        values = _run(op, body, values)
    return as_results(values)
