"""Layers of several inputs."""

from __future__ import annotations

from functools import reduce

from ...graph.core.graph import Tensor
from .registry import LIST, Call, is_integer, layer


def checked_inputs(call: Call, inputs: list) -> list[Tensor]:
    """The inputs, which must be tensors of one rank."""
    call.require(len(inputs) >= 2, f"takes at least two tensors, got {len(inputs)}")
    ranks = {len(call.shape(x)) for x in inputs}
    call.require(len(ranks) == 1, f"the inputs must have one number of dimensions, got {ranks}")
    return inputs


def chain(kind: str):
    """A layer that is one TF operation between its inputs, from the left."""

    def write(call: Call, inputs):
        return reduce(lambda x, y: call.op(kind, x, y), checked_inputs(call, inputs))

    return write


CHAINS = {
    "Add": "AddV2",
    "Maximum": "Maximum",
    "Minimum": "Minimum",
    "Multiply": "Mul",
}
for _kind, _operation in CHAINS.items():
    layer(_kind, takes=LIST)(chain(_operation))


@layer("Subtract", takes=LIST)
def subtract(call: Call, inputs):
    """The first less the second."""
    call.require(len(checked_inputs(call, inputs)) == 2, f"takes two tensors, got {len(inputs)}")
    return call.op("Sub", *inputs)


@layer("Average", takes=LIST)
def average(call: Call, inputs):
    """The mean of the inputs."""
    total = chain("AddV2")(call, inputs)
    return call.op("Mul", total, call.constant(1 / len(inputs), total))


@layer("Concatenate", takes=LIST)
def concatenate(call: Call, inputs):
    """The inputs behind one another."""
    inputs = checked_inputs(call, inputs)
    axis = call.axis("axis", len(call.shape(inputs[0])))
    return call.op("ConcatV2", *inputs, call.constant(axis))


@layer("Dot", takes=LIST)
def dot(call: Call, inputs):
    """Sums of products along one axis of each of two inputs, for each element of the batch."""
    call.require(len(inputs) == 2, f"takes two tensors, got {len(inputs)}")
    setting = call.setting("axes")
    axis_pair = [setting, setting] if is_integer(setting) else setting
    is_valid = (
        isinstance(axis_pair, list) and len(axis_pair) == 2 and all(map(is_integer, axis_pair))
    )
    call.check(is_valid, "axes", "an axis, or one for each of two inputs")
    ranks = [len(call.shape(x)) for x in inputs]
    axes = [axis % rank for axis, rank in zip(axis_pair, ranks, strict=True)]
    call.check(0 not in axes, "axes", "axes after the batch")
    if call.flag("normalize"):
        inputs = [l2_normalized(call, x, axis) for x, axis in zip(inputs, axes, strict=True)]
    labels = iter("acdefghijklmnopqrstuvwxyz")
    terms = [["b"] + [next(labels) for _ in range(rank - 1)] for rank in ranks]
    terms[1][axes[1]] = contracted = terms[0][axes[0]]
    remaining = [label for label in (*terms[0], *terms[1][1:]) if label != contracted]
    equation = f"{''.join(terms[0])},{''.join(terms[1])}->{''.join(remaining)}"
    y = call.op("Einsum", *inputs, equation=equation)
    return call.op("ExpandDims", y, call.constant(1)) if len(remaining) == 1 else y


def l2_normalized(call: Call, x: Tensor, axis: int) -> Tensor:
    """`x` divided by its length along an axis."""
    square_sum = call.op("Sum", call.op("Square", x), call.constant([axis]), keep_dims=True)
    return call.op(
        "Mul", x, call.op("Rsqrt", call.op("Maximum", square_sum, call.constant(1e-12, x)))
    )
