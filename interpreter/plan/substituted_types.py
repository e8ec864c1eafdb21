"""What the decorators of substitution.py do with types that no kernel takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.conversion import convert
from ...engine.plan.buffer import arena
from ...schema.dtypes import tf_name
from ..checks import name_of_dtype
from ..compute import run_now
from .node import DynamicResult, HostCall, NeedsValue, Node, NodeError, Operand, TensorDeclaration

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..registry import Prepare
    from .node import Prepared

_FLOAT32 = np.dtype(np.float32)
_NUMBERS = [np.dtype(name) for name in ("float64", "int64")]
"""What numbers that stand for elements may be: no index, and a type that no other input has."""


def _substitute(
    node: Node, inputs: Sequence[Operand | None], outputs: Sequence[TensorDeclaration]
) -> Node:
    """`node` with other operands and results; what it requires equal is required of `node`."""
    other = Node(
        node.kind,
        inputs,
        outputs,
        node.options,
        index=node.index,
        version=node.version,
        custom_options=node.custom_options,
        intermediates=node.intermediates,
        scope=node.scope,
        stateful=node.stateful,
    )
    other.planner, other.caller, other.equalities = node.planner, node.caller, node.equalities
    other.is_excused = node.is_excused
    return other


def moved_as_indices(node: Node, prepare: Prepare, moved: Sequence[int]) -> Prepared:
    """`prepare` on the numbers of the elements of those inputs that are `moved`."""
    dtypes = [x.dtype for i in moved if (x := node.inputs[i]) is not None]
    for dtype in dtypes[1:]:
        node.require(
            dtype == dtypes[0], f"inputs must be {tf_name(dtypes[0])}, got {tf_name(dtype)}"
        )
    others = {x.dtype for i, x in enumerate(node.inputs) if x is not None and i not in moved}
    index = next(dtype for dtype in _NUMBERS if dtype not in others)
    outputs = [TensorDeclaration(out.name, index, None, out.shape) for out in node.outputs]

    def indexed(arrays: Sequence[np.ndarray | None] | None) -> Node:
        """The node on numbers of the elements, which are known when the arrays are."""
        inputs: list[Operand | None] = []
        first = 1
        for i, x in enumerate(node.inputs):
            array = None if arrays is None else arrays[i]
            if x is None:
                inputs.append(None)
            elif i in moved and array is None:
                inputs.append(Operand.of(arena(x.shape, index), x.name))
            elif array is None:
                inputs.append(x)
            elif i in moved:
                numbers = np.arange(first, first + array.size, dtype=index)
                inputs.append(Operand.known(numbers.reshape(array.shape), x.name))
                first += array.size
            else:
                inputs.append(Operand.known(array, x.name))
        return _substitute(node, inputs, outputs)

    shapes_only = indexed(None)
    try:
        prepared = prepare(shapes_only)
    except NeedsValue as needed:
        if needed.index in moved:  # a list of numbers, which elements that move are not
            node.fail(f"input {needed.index} must be integers, got {tf_name(dtypes[0])}")
        raise
    except NodeError as error:
        words = re.sub(rf"\b{index.name}\b", tf_name(dtypes[0]), str(error))
        raise NodeError(words, node) from error
    if isinstance(prepared, DynamicResult):
        shapes = list(prepared.shapes)
    else:
        shapes = [result.shape for result in shapes_only.results]

    def run(*arrays: np.ndarray | None) -> list[np.ndarray]:
        other = indexed(arrays)
        run_now(other, prepare(other))
        flat = [np.zeros(1, dtypes[0])]
        if dtypes[0].hasobject:
            flat[0][0] = b""
        flat += [array.ravel() for i in moved if (array := arrays[i]) is not None]
        elements = np.concatenate(flat)
        indices = [np.asarray(result.value).astype(np.intp) for result in other.results]
        return [elements[index.ravel()].reshape(index.shape) for index in indices]

    return node.dynamic_result(run, shapes)


def in_float32(node: Node, prepare: Prepare, half: str) -> Prepared:
    """`prepare` on float32 for operands of the type `half`."""
    inputs = [
        _as_float32(x) if x is not None and name_of_dtype(x.dtype) == half else x
        for x in node.inputs
    ]
    outputs = [
        TensorDeclaration(out.name, _FLOAT32, None, out.shape) if _is(out.dtype, half) else out
        for out in node.outputs
    ]
    other = _substitute(node, inputs, outputs)
    prepared = prepare(other)
    dtype = next(x.dtype for x in node.inputs if x is not None and name_of_dtype(x.dtype) == half)
    if isinstance(prepared, DynamicResult):
        function: Callable[..., Sequence[np.ndarray]] = prepared.function

        def run(*arrays: np.ndarray | None) -> list[np.ndarray]:
            widened = [
                array.astype(_FLOAT32) if array is not None and array.dtype == dtype else array
                for array in arrays
            ]
            results = function(*widened)
            return [
                result.astype(dtype) if _is(out.dtype, half) else result
                for result, out in zip(results, outputs_of_node, strict=True)
            ]

        outputs_of_node = node.outputs
        return node.dynamic_result(run, prepared.shapes)
    if isinstance(prepared, HostCall):
        return _host_call_in_float32(node, prepared, other.results, dtype)
    roundings: list[tuple[Operand, Operand]] = []
    for result in other.results:
        declared = node.outputs[len(node.results)].dtype
        if result.dtype != _FLOAT32 or not (declared is None or _is(declared, half)):
            node.results.append(result)
            continue
        value = result.value
        rounded = node.result(result.shape, dtype, None if value is None else value.astype(dtype))
        if value is None:
            roundings.append((result, rounded))

    def emit(program: Program) -> None:
        for x, operand in zip(node.inputs, inputs, strict=True):
            if x is not None and operand is not None and operand is not x and operand.value is None:
                convert(program, x, _FLOAT32, operand)
        if prepared is not None:
            prepared(program)
        for result, rounded in roundings:
            convert(program, result, dtype, rounded)

    return emit


def _host_call_in_float32(
    node: Node, call: HostCall, results: Sequence[Operand], dtype: np.dtype
) -> HostCall:
    """A call on float32 as one on operands of the half float type `dtype`."""
    operands = [x for x in node.inputs if x is not None]
    dtypes = [result.dtype for result in results]
    outs = [
        node.result(result.shape, dtype if result.dtype == _FLOAT32 else result.dtype)
        for result in results
    ]

    def run(*arrays: np.ndarray) -> None:
        inputs = [
            array.astype(_FLOAT32) if array.dtype == dtype else array
            for array in arrays[: len(operands)]
        ]
        outputs = arrays[len(operands) :]
        values = [np.empty(out.shape, kind) for out, kind in zip(outputs, dtypes, strict=True)]
        call.function(*inputs, *values)
        for out, value in zip(outputs, values, strict=True):
            out[...] = value

    return HostCall(run, operands, outs)


def _is(dtype: np.dtype | None, name: str) -> bool:
    return dtype is not None and name_of_dtype(dtype) == name


def _as_float32(x: Operand) -> Operand:
    """An operand of float32 for a half float one, its values when these are known."""
    value = x.value
    if value is not None:
        return Operand.known(value.astype(_FLOAT32), x.name)
    return Operand.of(arena(x.shape, _FLOAT32), x.name)
