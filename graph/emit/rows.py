"""Rows by number: sums of those of one number, and rows of variables that change.

    Unique -> Shape -> UnsortedSegmentSum -> Mul -> ScatterAdd
    Unique -> Shape -> UnsortedSegmentSum -> SparseApplyMomentum

is how optimizers take a gradient of some rows of a variable. How many different rows there are is
known only when it runs; where all that is made of them goes on to change variables' rows, there
is room for as many as there are indices, and what is left over is marked as none.
"""

from __future__ import annotations

import copy
from collections.abc import Container, Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.layout import fill
from ...engine.plan.buffer import Buffer, arena, constant
from ..core.graph import Operation, Tensor
from ..core.registry import row_of
from .registry import EMITTERS, emit
from .shapes import result

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..session.stage import Site
    from .registry import Emitted

CHANGES = {"Add": "add_rows", "Sub": "subtract_rows", "Update": "assign_rows"}
ADDITIONS = ("ScatterAdd", "ScatterSub", "ResourceScatterAdd", "ResourceScatterSub")
UPDATES = (
    *("Adadelta", "Adagrad", "AdagradDA", "CenteredRMSProp", "Ftrl", "FtrlV2", "Momentum"),
    *("ProximalAdagrad", "ProximalGradientDescent", "RMSProp"),
)
"""What there is as `Apply...` of whole variables and as `SparseApply...` of rows of them."""
SPARSE = {f"{prefix}SparseApply{kind}": f"Apply{kind}" for kind in UPDATES
          for prefix in ("", "Resource")}  # fmt: skip
ENDS = (*ADDITIONS, *SPARSE)
SCALING = ("Mul", "RealDiv", "Neg", "Square")
"""Operations that make zeros of zeros, where their other operand is a number."""
NUMBERS: frozenset[np.dtype] = frozenset(map(np.dtype, ("float32", "float64", "int32", "int64")))
SUMMED: frozenset[np.dtype] = frozenset(map(np.dtype, ("float32", "int32", "int64")))
INDICES: frozenset[np.dtype] = frozenset(map(np.dtype, ("int32", "int64")))


_BY_RATE = "multiply_linear_by_lr"
"""Whether Ftrl keeps something else; the engine has no kernel for that."""


def none_of(dtype: np.dtype) -> int:
    """The index that marks a row as none."""
    return int(np.iinfo(dtype).min)


def find_padded(order: Iterable[Operation], is_open: Container[Tensor]) -> set[Operation]:
    """The `Unique` operations among some whose result may have room left over.

    `is_open` are tensors others ask for.
    """
    order = list(order)
    inside = set(order)
    return {op for op in order if op.type == "Unique" and _only_adds_rows(op, inside, is_open)}


def _only_adds_rows(
    unique: Operation, inside: Container[Operation], is_open: Container[Tensor]
) -> bool:
    indices, positions = unique.outputs
    rows: dict[Tensor, None] = {}
    counts: dict[Tensor, None] = {}
    waiting = [indices]
    readers: list[tuple[Operation, Tensor]] = []
    seen: set[Tensor] = set()
    while waiting:
        tensor = waiting.pop()
        if tensor in seen:
            continue
        seen.add(tensor)
        if tensor in is_open:
            return False
        for op in tensor.consumers():
            if op not in inside:
                continue
            readers.append((op, tensor))
            if (op.type == "Shape" and tensor is indices) or (
                op.type == "StridedSlice" and tensor in counts and op.outputs[0].sizes == ()
            ):
                counts[op.outputs[0]] = None
            elif op.type == "UnsortedSegmentSum" and op.inputs[2] is tensor and tensor in counts:
                if op.inputs[1] is not positions or op.inputs[0] in seen:
                    return False
                rows[op.outputs[0]] = None
            elif op.type in SCALING and tensor in rows:
                rows[op.outputs[0]] = None
            elif op.type not in ENDS:
                return False
            if op.type not in ENDS:
                waiting.append(op.outputs[0])
    return all(_fits(op, indices, rows) for op, _ in readers)


def _fits(op: Operation, indices: Tensor, rows: Container[Tensor]) -> bool:
    """Whether an operation makes zeros, or nothing, of what is left over."""
    if op.type in SCALING:
        others = [x for x in op.inputs if x not in rows]
        is_scaled = op.inputs[0] in rows or op.type == "Mul"
        return is_scaled and all(x.sizes == () for x in others)
    if op.type in ADDITIONS:
        is_taken = indices.dtype in INDICES and op.inputs[2].dtype in NUMBERS
        return is_taken and op.inputs[1] is indices and op.inputs[2] in rows
    if op.type in SPARSE:
        row_indices, grad = (_operand(op, name) for name in ("indices", "grad"))
        is_taken = indices.dtype in INDICES and op.get_attr("T") == np.float32
        return is_taken and row_indices is indices and grad in rows and not op.attrs.get(_BY_RATE)
    return True


def _operand(op: Operation, name: str) -> Tensor:
    return op.inputs[_place(op, name)]


def takes_each_once(op: Operation, padded: Container[Operation]) -> bool:
    """Whether an operation changes rows whose numbers come from one of `padded`."""
    return op.type in SPARSE and _operand(op, "indices").op in padded


def _place(op: Operation, name: str) -> int:
    """Where the operand of a name stands."""
    assert op.signature is not None
    return [argument.name for argument in op.signature.inputs].index(name)


def unique(program: Program, x: Buffer, index_dtype: np.dtype) -> list[Buffer] | None:
    """The different elements of `x` and the index that marks none behind them; their places."""
    if x.ndim != 1 or x.dtype not in INDICES or not x.size:
        return None
    out, positions = arena(x.shape, x.dtype), arena(x.shape, index_dtype)
    scratch = arena((1 << (2 * x.size - 1).bit_length(),), np.int64)
    program.call("unique.unique", x, scratch, out, positions, none=none_of(x.dtype))
    return [out, positions]


@emit("UnsortedSegmentSum")
def unsorted_segment_sum(
    program: Program, op: Site, x: Buffer, ids: Buffer, count: Buffer
) -> Emitted:
    """The sums of the rows of each number."""
    out = result(op)
    if out is None or x.dtype not in SUMMED or ids.dtype not in INDICES or not out.size:
        return None
    if x.shape[: ids.ndim] != ids.shape:
        return None
    fill(program, constant(np.zeros((), x.dtype)), out)
    if ids.size:
        size = prod(x.shape[ids.ndim :])
        rows, sums = x.reshape((ids.size, size)), out.reshape((out.shape[0], size))
        program.call("segment.sum", rows, ids.ravel(), sums, sorted_ids=0)
    return out


def _add_change(kind: str, kernel: str) -> None:
    @emit(f"Scatter{kind}", f"ResourceScatter{kind}")
    def change(
        program: Program, op: Site, var: Buffer, indices: Buffer, updates: Buffer
    ) -> Emitted:
        if var.dtype not in NUMBERS or indices.dtype not in INDICES or not var.ndim:
            return None
        if updates.shape != (*indices.shape, *var.shape[1:]) or updates.dtype != var.dtype:
            return None
        if updates.size:
            size = prod(var.shape[1:])
            program.call(
                f"scatter.{kernel}",
                indices.ravel(),
                updates.reshape((indices.size, size)),
                var.reshape((var.shape[0], size)),
                split=size,
                none=none_of(indices.dtype),
            )
        return [var] if op.outputs else []


for _kind, _kernel in CHANGES.items():
    _add_change(_kind, _kernel)


def update_rows(program: Program, op: Site, buffers: Sequence[Buffer]) -> list[Buffer] | None:
    """What a `SparseApply...` does to rows of which each number comes once.

    The rows are taken out, changed as a whole variable would be, and put back.
    """
    place, row = _place(op.op, "indices"), row_of(op.type)
    dense = EMITTERS.get(SPARSE[op.type])
    indices, var = buffers[place], buffers[0]
    positions = (row.writes or ()) if row is not None else ()
    kinds = [(buffers[i].shape, buffers[i].dtype) for i in positions]
    if dense is None or len(set(kinds)) != 1 or not var.ndim or not var.size:
        return None
    shape, size = (indices.size, prod(var.shape[1:])), prod(var.shape[1:])
    operands = list(buffers)
    none = none_of(indices.dtype)
    for i in positions:
        whole = buffers[i].reshape((var.shape[0], size))
        operands[i] = arena(shape, var.dtype)
        program.call("gather.rows", whole, indices, operands[i], split=indices.size, none=none)
    grad = _place(op.op, "grad")
    operands[grad] = operands[grad].reshape(shape)
    del operands[place]
    as_whole = copy.copy(op)
    as_whole.type = SPARSE[op.type]
    dense.function(program, as_whole, *operands)
    for i in positions:
        whole = buffers[i].reshape((var.shape[0], size))
        rows = operands[i if i < place else i - 1]
        program.call("scatter.assign_rows", indices, rows, whole, split=size, none=none)
    return [var] if op.outputs else []
