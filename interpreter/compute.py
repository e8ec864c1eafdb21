"""Running one operator at once: folding of what is known before the model runs."""

from collections.abc import Callable

from ..engine.plan.program import Program
from .node import Late, Node, NodeError


def run_now(node: Node, emit: Callable[[Program], None] | Late | None) -> None:
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
    if isinstance(emit, Late):
        inputs = [None if operand is None else operand.value for operand in node.inputs]
        for array in emit.function(*inputs):
            node.result(array.shape, array.dtype, value=array)
        return
    program = Program()
    program.tag = node
    try:
        emit(program)
    except NodeError:
        raise
    except ValueError as error:
        node.fail(str(error))  # a kernel that does not take these types
    pending = [result for result in node.results if result.value is None]
    for result in pending:
        program.keep(result)
    program.close()
    program.run()
    for result in pending:
        result.settle(program.array(result).copy())
