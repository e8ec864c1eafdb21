"""Custom operators in a model: registered classes, those of custom_ops/, and Flex operators.

A Python class is a host step, one with a kernel an instruction (custom_kernel.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..schema.custom_ops import has_kernel, make_custom_op
from ..schema.dtypes import tf_name
from .plan.node import DynamicResult, HostCall, Node, NodeError

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy.typing as npt

    from ..engine.plan.program import Program
    from .plan.node import Prepared

    Prepare: TypeAlias = Callable[..., Iterable[tuple[Sequence[int], np.dtype | type]]]
    """Gives (shape, dtype) of each result from an operand, or None, for each input."""


class CustomOp(Protocol):
    """A custom operator; it may have a method prepare, too (schema/custom_ops.py)."""

    def run(self, *inputs: np.ndarray | None) -> npt.ArrayLike:
        """The result, or a tuple or list of the results."""
        ...


def prepare_custom(node: Node, class_of: Callable[[str], type]) -> Prepared:
    """What `prepare` returns for the custom operator `node`.

    Raises NodeError with LiteRT's message when it is neither registered nor shipped.
    """
    try:
        cls = class_of(node.kind)
    except LookupError as error:
        return _without_class(node, error)
    return prepare_class(node, cls, node.custom_options)


def prepare_class(node: Node, cls: type, options: bytes) -> Prepared:
    """What `prepare` returns for an operator of the model that a registered class computes."""
    if has_kernel(cls):
        from .custom_kernel import prepare_kernel

        return prepare_kernel(node, cls, options)
    operator: CustomOp = make_custom_op(cls, options)
    present = [i for i, x in enumerate(node.inputs) if x is not None]
    operands = [x for x in node.inputs if x is not None]
    n_inputs = len(node.inputs)

    def call(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        inputs: list[np.ndarray | None] = [None] * n_inputs
        for i, array in zip(present, arrays, strict=False):
            inputs[i] = array
        output = operator.run(*inputs)
        results: list[npt.ArrayLike] = [*output] if isinstance(output, (tuple, list)) else [output]
        if len(results) != len(node.outputs):
            node.fail(f"run must give {len(node.outputs)} results, got {len(results)}")
        return [np.asarray(result) for result in results]

    prepare: Prepare | None = getattr(operator, "prepare", None)
    if prepare is None:
        shapes = [declaration.shape or () for declaration in node.outputs]
        return DynamicResult(lambda *arrays: call([arrays[i] for i in present]), shapes)
    outs = [node.result(shape, dtype) for shape, dtype in prepare(*node.inputs)]

    def run(*arrays: np.ndarray) -> None:
        for out, result in zip(arrays[len(present) :], call(arrays[: len(present)]), strict=True):
            if result.shape != out.shape or result.dtype != out.dtype:
                node.fail(
                    f"run must give {tf_name(out.dtype)} of shape {out.shape}, "
                    f"got {tf_name(result.dtype)} of shape {result.shape}"
                )
            out[...] = result

    return HostCall(run, operands, outs)


def class_for(node: Node, name: str) -> type | None:
    """The class that is registered under a name, for the interpreter or for all; None without."""
    from ..schema.custom_ops import custom_op_of

    class_of = custom_op_of if node.scope is None else node.scope.custom_op
    try:
        return class_of(name)
    except LookupError:
        return None


def runs_python(kind: str, class_of: Callable[[str], type]) -> bool:
    """Whether a custom operator is a Python class without a kernel."""
    try:
        return not has_kernel(class_of(kind))
    except LookupError:
        return False


def _without_class(node: Node, error: LookupError) -> Prepared:
    """What `prepare` returns for a custom operator without a registered class."""
    from .custom_ops.registry import SHIPPED

    prepare = SHIPPED.get(node.kind)
    if prepare is not None:
        return prepare(node)
    if node.kind.startswith("Flex"):
        from .select_ops import prepare_select_op

        return prepare_select_op(node)
    delegates = () if node.scope is None else node.scope.delegates
    if any(getattr(delegate, "takes_custom_operators", False) for delegate in delegates):
        return _of_a_delegate(node)
    raise NodeError(_unresolved(node.kind)) from error


def _of_a_delegate(node: Node) -> Prepared:
    """A custom operator that only a delegate may have a kernel for: its results are as declared."""
    for declaration in node.outputs:
        node.result(declaration.shape or ())

    def emit(_: Program) -> None:
        raise NodeError(_unresolved(node.kind), node)

    return emit


def _unresolved(code: str) -> str:
    return (
        f"Encountered unresolved custom op: {code}.\n"
        "See instructions: https://www.tensorflow.org/lite/guide/ops_custom; in flatlite, "
        f"register a class with @flatlite.lite.custom_op({code!r})"
    )
