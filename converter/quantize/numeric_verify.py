"""The graph with a float operator beside each quantized one: what TFLite calls debug mode.

    q -> CONV_2D -> r      becomes      q -> DEQUANTIZE -> CONV_2D -> f
                                        q -> CONV_2D -> r;  NumericVerify(r, f) -> d

The float operator gets the numbers that the quantized one got, and the float weights, so that d is
the error of this operator alone. Where a float tensor is quantized for the operator, the float one
gets that tensor, and d has the error of this rounding, too; TensorFlow's debugger does the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from flatbuffers import flexbuffers

from ...schema.model import Subgraph
from ..ir.graph import Graph, Op, Tensor
from ..lowering.moves import int32s
from ..passes.rewrite import builder, producer_of
from .rewrite import FLOAT32, like
from .rules import is_float32

NAME = "NumericVerify"
TOLERANCE = 5.0  # steps, which the operator takes and, unless told to, does not insist on


Constants = Mapping[Tensor, Sequence["np.ndarray | None"]]
"""Result of an operator -> the float constants among its inputs, None for other inputs."""


def insert_numeric_verify(graph: Graph, constants: Constants) -> dict[Tensor, Tensor]:
    """Verifies every quantized operator of a graph; the differences -> the results they are of."""
    options = bytes(flexbuffers.Dumps({"tolerance": TOLERANCE, "log_if_failed": False}))
    float_forms: dict[Tensor, Tensor] = {}
    verified: dict[Tensor, Tensor] = {}
    for op in list(graph.ops):
        is_cast = op.kind in ("QUANTIZE", "DEQUANTIZE")
        if is_cast or op.graphs or not op.outputs or not is_quantized(op.output):
            continue
        if op.output.is_variable:  # what a recurrent operator begins with
            continue
        inputs = [
            None if tensor is None else float_form(graph, op, tensor, float_forms)
            for tensor in op.inputs
        ]
        for i, array in enumerate(constants.get(op.output, ())):
            if array is not None and is_constant_of(op, i, array):
                inputs[i] = Tensor(op.inputs[i].name, FLOAT32, array.shape, array)
        results = [
            like(tensor, FLOAT32 if is_quantized(tensor) else tensor.dtype, None, tensor.name)
            for tensor in op.outputs
        ]
        verify = [
            Op(
                "CUSTOM",
                [tensor, result],
                [like(tensor, FLOAT32, None, f"{NAME}/{tensor.name}")],
                custom_code=NAME,
                custom_options=options,
                origin=op.origin,
            )
            for tensor, result in zip(op.outputs, results, strict=True)
            if is_quantized(tensor)
        ]
        graph.insert_before(op, Op(op.kind, inputs, results, op.options, origin=op.origin))
        last = op
        for row in verify:
            last = graph.insert_after(last, row)
            verified[row.output] = row.inputs[0]
    return verified


def is_constant_of(op: Op, i: int, array: np.ndarray) -> bool:
    """Whether input `i` of a quantized operator is what a float constant became."""
    tensor = op.input(i)
    is_constant = tensor is not None and tensor.is_constant and is_quantized(tensor)
    return is_constant and op.inputs[i].data.shape == array.shape


def is_quantized(tensor: Tensor) -> bool:
    """Whether a tensor holds integers that stand for other numbers."""
    return tensor.quantization is not None and tensor.dtype.kind != "f"


def float_form(graph: Graph, op: Op, tensor: Tensor, forms: dict[Tensor, Tensor]) -> Tensor:
    """What a tensor stands for, in float32, made before `op`; of a float tensor's integers it."""
    if not is_quantized(tensor):
        return tensor
    cast = producer_of(tensor, "QUANTIZE")
    if cast is not None and is_float32(cast.inputs[0]):
        return cast.inputs[0]
    if tensor not in forms:
        result = like(tensor, FLOAT32, None, tensor.name)
        if tensor.is_constant:
            scale, zero_point = tensor.quantization.shaped(tensor.data.ndim)
            values = np.asarray((tensor.data.astype(np.float32) - zero_point) * scale, np.float32)
            result = Tensor(tensor.name, FLOAT32, values.shape, values)
        else:
            graph.insert_before(op, Op("DEQUANTIZE", [tensor], [result], origin=op.origin))
        if tensor.is_variable:  # the float operator goes on from the same state
            result = builder(graph, op).SLICE(result, int32s([0, 0]), int32s([-1, -1]))
            result.is_variable = True
        forms[tensor] = result
    return forms[tensor]


def float_constants(subgraph: Subgraph, tensors: Sequence[Tensor]) -> Constants:
    """Of each result of a float file the float constants that its operator takes.

    Args:
        subgraph: of the float file.
        tensors: the IR tensors behind its tensor indices.
    """

    def constant(i: int) -> np.ndarray | None:
        data = subgraph.tensors[i].data if i >= 0 else None
        return data if isinstance(data, np.ndarray) and data.dtype == FLOAT32 else None

    return {tensors[op.outputs[0]]: [*map(constant, op.inputs)] for op in subgraph.operators}
