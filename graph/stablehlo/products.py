"""StableHLO's products, convolutions, gathers and scatters, as TF's operations for XLA."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...schema.errors import ConverterError
from ...schema.mlir.module import Operation
from ...schema.proto import message
from ..core.graph import Tensor
from .attributes import array, flag, number, numbers, pairs, regions
from .registry import writes
from .shapes import dtype_at
from .writer import Writer


@writes("dot_general")
def dot_general(op: Operation, w: Writer) -> Tensor:
    """Sums of products."""
    content = message("DotDimensionNumbers")(
        lhs_contracting_dimensions=numbers(op, "lhs_contracting_dimensions"),
        rhs_contracting_dimensions=numbers(op, "rhs_contracting_dimensions"),
        lhs_batch_dimensions=numbers(op, "lhs_batching_dimensions"),
        rhs_batch_dimensions=numbers(op, "rhs_batching_dimensions"),
    )
    return w.add(
        "XlaDotV2",
        *w.operands(op),
        dimension_numbers=content.SerializeToString(),
        precision_config=b"",
        preferred_element_type=dtype_at(op.results[0]),
    )


@writes("dot")
def dot(op: Operation, w: Writer) -> Tensor:
    """The product of matrices or vectors."""
    content = message("DotDimensionNumbers")(
        lhs_contracting_dimensions=[len(w.value(op.operands[0]).sizes or ()) - 1],
        rhs_contracting_dimensions=[0],
    )
    return w.add(
        "XlaDotV2",
        *w.operands(op),
        dimension_numbers=content.SerializeToString(),
        precision_config=b"",
        preferred_element_type=dtype_at(op.results[0]),
    )


CONVOLUTION = (
    "kernel_input_feature_dimension",
    "kernel_output_feature_dimension",
    "kernel_spatial_dimensions",
    "input_batch_dimension",
    "input_feature_dimension",
    "input_spatial_dimensions",
    "output_batch_dimension",
    "output_feature_dimension",
    "output_spatial_dimensions",
)


@writes("convolution")
def convolution(op: Operation, w: Writer) -> Tensor:
    """A convolution over any dimensions."""
    x, filters = w.operands(op)
    content = message("ConvolutionDimensionNumbers")()
    for name in CONVOLUTION:
        positions = numbers(op, name)
        if name.endswith("spatial_dimensions"):
            getattr(content, name).extend(positions)
        else:
            setattr(content, name, positions[0])
    reversal = [
        axis
        for axis, flag in zip(
            numbers(op, "kernel_spatial_dimensions"), numbers(op, "window_reversal"), strict=True
        )
        if flag
    ]
    if reversal:
        filters = w.add("ReverseV2", filters, w.constant(reversal, np.int32))
    sizes = [
        numbers(op, "window_strides"),
        pairs(op, "padding"),
        numbers(op, "lhs_dilation"),
        numbers(op, "rhs_dilation"),
    ]
    return w.add(
        "XlaConvV2",
        x,
        filters,
        *(w.constant(n, np.int32) for n in sizes),
        w.constant(number(op, "feature_group_count"), np.int32),
        dimension_numbers=content.SerializeToString(),
        precision_config=b"",
        preferred_element_type=dtype_at(op.results[0]),
        batch_group_count=number(op, "batch_group_count"),
    )


GATHER = {
    "offset_dims": "offset_dims",
    "collapsed_slice_dims": "collapsed_slice_dims",
    "start_index_map": "start_index_map",
    "operand_batching_dims": "operand_batching_dims",
    "start_indices_batching_dims": "start_indices_batching_dims",
}
SCATTER = {
    "update_window_dims": "update_window_dims",
    "inserted_window_dims": "inserted_window_dims",
    "scatter_dims_to_operand_dims": "scatter_dims_to_operand_dims",
    "input_batching_dims": "input_batching_dims",
    "scatter_indices_batching_dims": "scatter_indices_batching_dims",
}
"""Fields of TF's messages -> attributes."""


def _numbers(op: Operation, kind: str, fields: Mapping[str, str]) -> bytes:
    content = message(kind)(index_vector_dim=number(op, "index_vector_dim"))
    for field, name in fields.items():
        if name in op.attributes:
            getattr(content, field).extend(numbers(op, name))
    return content.SerializeToString()


@writes("gather", "dynamic_gather")
def gather(op: Operation, w: Writer) -> Tensor:
    """Windows of a tensor."""
    x, indices, *sizes = w.operands(op)
    if not sizes:
        sizes = [w.constant(numbers(op, "slice_sizes"), indices.dtype.dtype)]
    return w.add(
        "XlaGather",
        x,
        indices,
        *sizes,
        dimension_numbers=_numbers(op, "GatherDimensionNumbers", GATHER),
        indices_are_sorted=flag(op, "indices_are_sorted"),
    )


@writes("scatter")
def scatter(op: Operation, w: Writer) -> Tensor:
    """A tensor with windows combined with updates."""
    if len(op.operands) != 3:
        raise ConverterError(f"stablehlo.scatter '{w.name}': must write into one tensor")
    return w.add(
        "XlaScatter",
        *w.operands(op),
        update_computation=w.function("update", regions(op)[0]),
        dimension_numbers=_numbers(op, "ScatterDimensionNumbers", SCATTER),
        indices_are_sorted=flag(op, "indices_are_sorted"),
    )


@writes("batch_norm_inference")
def batch_norm_inference(op: Operation, w: Writer) -> Tensor:
    """Features with a mean and variance taken away."""
    x, *parts = w.operands(op)
    axis, rank = number(op, "feature_index"), len(x.sizes or ())
    shape = [-1 if i == axis else 1 for i in range(rank)]
    scale, offset, mean, variance = (w.reshape(t, shape) for t in parts)
    epsilon = w.constant(array(op, "epsilon"), dtype_at(op.operands[0]))
    factor = w.add("Mul", w.add("Rsqrt", w.add("AddV2", variance, epsilon)), scale)
    return w.add("AddV2", w.add("Mul", w.add("Sub", x, mean), factor), offset)
