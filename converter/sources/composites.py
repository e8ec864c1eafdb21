"""Calls of functions that say which operation they stand for, as that operation.

@tf.function(experimental_implements="name")
def f(x): ...

x -> PartitionedCall(f) -> y      becomes      x -> name -> y
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...graph.core.library import COMPOSITE
from ...graph.format.inline import Replacement

if TYPE_CHECKING:
    from ...graph.core.graph import Operation, Tensor
    from ...graph.core.library import Function
    from ...graph.core.protocols import AttrValue
    from ...graph.core.shapes import Shape
    from ...graph.core.signatures.attributes import FunctionRef

OUTPUT_TYPES, OUTPUT_SHAPES = "_output_types", "_output_shapes"
FUSABLE = "tfl_fusable_op"
"""The attribute by which a function of any name asks to become a custom operator."""


def composite(call: Operation, function: Function, inputs: Sequence[Tensor]) -> Replacement | None:
    """The operation that a call of `function` stands for, None where it is to be inlined."""
    reference = function.composite
    if reference is None:
        return None
    known = COMPOSITES.get(reference.name)
    if known is not None:
        return known(call, reference, inputs)
    if not reference.attrs.get(FUSABLE):
        return None
    noted = call.attrs.get(OUTPUT_SHAPES)
    shapes = noted if isinstance(noted, list) else [tensor.sizes for tensor in call.outputs]
    return _custom(call, reference, cast("list[Shape]", shapes))


def _custom(call: Operation, reference: FunctionRef, shapes: list[Shape]) -> Replacement:
    """A custom operator with the attributes of the function."""
    attrs: dict[str, AttrValue] = {k: v for k, v in reference.attrs.items() if k != FUSABLE}
    attrs |= {
        COMPOSITE: reference.name.encode(),
        OUTPUT_TYPES: [tensor.dtype for tensor in call.outputs],
        OUTPUT_SHAPES: list(shapes),
    }
    return Replacement(reference.name, attrs, len(call.inputs))


def _detections(call: Operation, reference: FunctionRef, inputs: Sequence[Tensor]) -> Replacement:
    """A detector's last step: boxes, classes, scores and their number, of one image."""
    limits = (reference.attrs.get(f"max_{x}") for x in ("detections", "classes_per_detection"))
    n = int(np.prod([limit for limit in limits if isinstance(limit, int)]))
    return _custom(call, reference, [(1, n, 4), (1, n), (1, n), (1,)])


def _padded_suppression(
    call: Operation, reference: FunctionRef, inputs: Sequence[Tensor]
) -> Replacement | None:
    """Of one image, whose boxes NonMaxSuppressionV4 takes in any order."""
    if len(inputs[0].sizes or ()) != 2:
        return None
    return Replacement("NonMaxSuppressionV4", {"pad_to_max_output_size": True}, 5)


Rule = Callable[["Operation", "FunctionRef", "Sequence[Tensor]"], "Replacement | None"]
COMPOSITES: Mapping[str, Rule] = {
    "TFLite_Detection_PostProcess": _detections,
    "non_max_suppression_padded_v2": _padded_suppression,
}
"""What the function implements -> the operation."""
