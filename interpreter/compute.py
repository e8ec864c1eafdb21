"""Running one operator at once: folding of what is known before the model runs."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from ..engine.plan.program import Program
from ..schema.flatbuffer import Record
from .plan.node import DynamicResult, Node, NodeError, Operand

if TYPE_CHECKING:
    from typing import TypeAlias

    from .plan.node import Emit, Prepared

    OptionValue: TypeAlias = np.ndarray | Record | list[Record] | str | bytes | float | None

SMALL = 64  # elements of all operands of an operator whose results are remembered
REMEMBERED = 4096  # results; all of them are forgotten when there are more

_VALUES: dict[Hashable, list[np.ndarray]] = {}


def run_now(node: Node, emit: Prepared) -> None:
    """Computes the results of `node`, whose inputs are all known, and sets their values.

    Args:
        node: a prepared node.
        emit: what its `prepare` returned.

    Raises:
        Fault: an index or value is out of range.
        NodeError: no kernel takes these types.
    """
    if emit is None:
        return
    if isinstance(emit, DynamicResult):
        inputs = [None if operand is None else operand.value for operand in node.inputs]
        for array in emit.function(*inputs):
            node.result(array.shape, array.dtype, value=array)
        return
    pending = [result for result in node.results if result.value is None]
    key = _key(node, pending)
    values = _VALUES.get(key) if key is not None else None
    if values is None:
        values = _computed(node, emit, pending)
        if key is not None:
            if len(_VALUES) >= REMEMBERED:
                _VALUES.clear()
            _VALUES[key] = values
    for result, value in zip(pending, values, strict=True):
        result.settle(value.copy())


def _key(node: Node, results: list[Operand]) -> Hashable:
    """What the values of a node's results are decided by; None where that is too much to keep.

    Models that compute on shapes do the same sums again at every size they are resized to, and at
    every one the converter looks at.
    """
    operands = [operand for operand in (*node.inputs, *results) if operand is not None]
    if sum(operand.size for operand in operands) > SMALL:
        return None
    if any(operand.quantization or operand.dtype.hasobject for operand in operands):
        return None
    values = [None if operand is None else operand.value for operand in node.inputs]
    known = tuple(None if x is None else (x.dtype, x.shape, x.tobytes()) for x in values)
    names = getattr(node.options, "__slots__", ())
    fields: list[OptionValue] = [getattr(node.options, name) for name in names]
    if any(isinstance(field, list | Record) for field in fields):
        return None
    stated = tuple(
        (field.dtype.str, field.tobytes()) if isinstance(field, np.ndarray) else repr(field)
        for field in fields
    )
    declared = tuple((x.dtype, x.shape) for x in results)
    return node.kind, node.version, stated, known, declared


def _computed(node: Node, emit: Emit, pending: list[Operand]) -> list[np.ndarray]:
    """The values of some results of a node."""
    program = Program()
    program.tag = node
    try:
        emit(program)
    except NodeError:
        raise
    except ValueError as error:
        node.fail(str(error))  # a kernel that does not take these types
    for result in pending:
        program.keep(result)
    program.close()
    program.run()
    return [program.array(result).copy() for result in pending]
