"""Custom operators in a model: Python classes of schema/custom_ops.py as host steps."""

from collections.abc import Callable

import numpy as np

from ..schema.custom_ops import make_custom_op
from .node import DynamicResult, Node, NodeError


def prepare_custom(node: Node, class_of: Callable[[str], type]):
    """What `prepare` returns for the custom operator `node`.

    Raises NodeError with LiteRT's words when nobody registered it.
    """
    try:
        cls = class_of(node.kind)
    except LookupError as error:
        raise NodeError(_unresolved(node.kind)) from error
    operator = make_custom_op(cls, node.custom_options)
    present = [i for i, x in enumerate(node.inputs) if x is not None]
    n_inputs = len(node.inputs)

    def call(arrays):
        inputs = [None] * n_inputs
        for i, array in zip(present, arrays, strict=False):
            inputs[i] = array
        given = operator.run(*inputs)
        results = list(given) if isinstance(given, (tuple, list)) else [given]
        if len(results) != len(node.outputs):
            node.fail(f"run must give {len(node.outputs)} results, got {len(results)}")
        return [np.asarray(result) for result in results]

    if not hasattr(operator, "prepare"):
        shapes = [declared.shape or () for declared in node.outputs]
        return DynamicResult(lambda *arrays: call([arrays[i] for i in present]), shapes)
    shapes = operator.prepare(*node.inputs)
    outs = [node.result(shape, dtype) for shape, dtype in shapes]

    def run(*arrays):
        for out, result in zip(arrays[len(present) :], call(arrays[: len(present)]), strict=True):
            if result.shape != out.shape or result.dtype != out.dtype:
                node.fail(
                    f"run must give {out.dtype} of shape {out.shape}, "
                    f"got {result.dtype} of shape {result.shape}"
                )
            out[...] = result

    return lambda program: program.host(run, [node.inputs[i] for i in present], outs)


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
