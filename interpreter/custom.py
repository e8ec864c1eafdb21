"""Custom operators in a model: Python classes of schema/custom_ops.py as host steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..schema.custom_ops import make_custom_op
from .node import DynamicResult, Node, NodeError

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy.typing as npt

    from .node import Prepared

    Prepare: TypeAlias = Callable[..., Iterable[tuple[Sequence[int], np.dtype | type]]]
    """Gives (shape, dtype) of each result from an operand, or None, for each input."""


class CustomOp(Protocol):
    """A custom operator; it may have a method prepare, too (schema/custom_ops.py)."""

    def run(self, *inputs: np.ndarray | None) -> npt.ArrayLike:
        """The result, or a tuple or list of the results."""
        ...


def prepare_custom(node: Node, class_of: Callable[[str], type]) -> Prepared:
    """What `prepare` returns for the custom operator `node`.

    Raises NodeError with LiteRT's words when nobody registered it.
    """
    try:
        cls = class_of(node.kind)
    except LookupError as error:
        raise NodeError(_unresolved(node.kind)) from error
    operator: CustomOp = make_custom_op(cls, node.custom_options)
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
                    f"run must give {out.dtype} of shape {out.shape}, "
                    f"got {result.dtype} of shape {result.shape}"
                )
            out[...] = result

    return lambda program: program.host(run, operands, outs)


def _unresolved(code: str) -> str:
    if code.startswith("Flex"):
        return (
            "Regular/Select TensorFlow ops are not supported by this interpreter. Make sure you "
            f"apply/link the Flex delegate before inference.\nFlex op: {code}"
        )
    return (
        f"Encountered unresolved custom op: {code}.\n"
        "See instructions: https://www.tensorflow.org/lite/guide/ops_custom; in flatlite, "
        f"register a class with @flatlite.lite.custom_op({code!r})"
    )
