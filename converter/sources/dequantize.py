"""Quantized files as float ones, of which other integers can be made.

x:i8 -> CONV_2D(w:i8, b:i32) -> y:i8 -> QUANTIZE -> z:i8       becomes
x:f32 -> CONV_2D(w:f32, b:f32) -> y:f32 -> CAST -> z:f32
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...interpreter.spec import SubgraphSpec, TensorSpec
from ...schema.model import load as load_model
from ...schema.model import save
from ...schema.quantization import Quantization
from ...schema.structure import Operator, Subgraph, Tensor
from ..ir.builder import make_options
from .tflite import FileSource, load

INTEGERS = frozenset(("INT2", "INT4", "INT8", "UINT4", "UINT8", "INT16", "INT32", "INT64"))
MOVING = ("DEQUANTIZE", "QUANTIZE")
AS_NUMBERS = ("BITCAST", "CAST")
"""Operators that read the integers, not what they stand for."""
Grids = dict[tuple[int, int], Quantization]


def dequantized(sources: Sequence[FileSource]) -> list[FileSource] | str:
    """The signatures of a quantized file as those of a float one; why not, where there is no such.

    Inputs and outputs are float32, the constants what their integers stand for.
    """
    source = sources[0]
    model = load_model(source.model.content)
    grids: Grids = {}
    for index, subgraph in enumerate(model.subgraphs):
        spec = source.model.subgraph(index)
        reason = reason_against(subgraph, spec)
        if reason:
            return reason
        for i, tensor in enumerate(subgraph.tensors):
            if is_quantized(tensor):
                dequantize(tensor, spec.tensors[i])
                parameters = spec.tensors[i].quantization
                if parameters is not None and not parameters.zero_points.any():
                    grids[index, i] = parameters
        subgraph.operators = [floated(operator) for operator in subgraph.operators]
    by_key = {graph.key: graph for graph in load(save(model))}
    return [replace(as_before(before, by_key[before.key]), grids=grids) for before in sources]


def as_before(before: FileSource, source: FileSource) -> FileSource:
    """A signature with the order of ports, and the shapes, that another one has."""
    ends = []
    for old_ports, new_ports in ((before.inputs, source.inputs), (before.outputs, source.outputs)):
        by_name = {port.key: port for port in new_ports}
        ports = [by_name[port.key] for port in old_ports]
        for old, port in zip(old_ports, ports, strict=True):
            port.tensor.set_shape(old.tensor.sizes)
        ends.append(tuple(ports))
    files = before.associated_files
    return replace(source, inputs=ends[0], outputs=ends[1], associated_files=files)


def is_quantized(tensor: Tensor) -> bool:
    """Whether a tensor's integers stand for other numbers."""
    return tensor.quantization is not None and tensor.dtype in INTEGERS


def reason_against(subgraph: Subgraph, spec: SubgraphSpec) -> str:
    """Why a subgraph has no float form; empty where it has."""
    for tensor, tensor_spec in zip(subgraph.tensors, spec.tensors, strict=True):
        if tensor.sparsity is not None:
            return f"tensor '{tensor.name}' is sparse"
        if is_quantized(tensor) and tensor.is_variable:
            return f"variable '{tensor.name}' is {tensor_spec.type_name} with a scale"
        if tensor.quantization is not None and tensor.quantization.details is not None:
            return f"tensor '{tensor.name}' has scales of blocks"
    for operator in subgraph.operators:
        operands = [subgraph.tensors[i] for i in (*operator.inputs, *operator.outputs) if i >= 0]
        if operator.intermediates:
            return f"{operator.op} has intermediate tensors"
        if operator.op in (*AS_NUMBERS, "CUSTOM") and any(map(is_quantized, operands)):
            return f"{operator.custom_code or operator.op} reads the integers themselves"
    return ""


def dequantize(tensor: Tensor, spec: TensorSpec) -> None:
    """Makes a tensor float32, of the values its integers stand for."""
    parameters = spec.quantization
    if spec.is_constant and parameters is not None:
        value = spec.value
        scale, zero_point = parameters.shaped(value.ndim)
        tensor.data = np.asarray((value.astype(np.float32) - zero_point) * scale, np.float32)
    tensor.dtype, tensor.quantization = "FLOAT32", None


def floated(operator: Operator) -> Operator:
    """An operator of a float file; CAST where integers became others."""
    if operator.op not in MOVING:
        return operator
    options = make_options("CAST", {})
    return Operator("CAST", operator.inputs, operator.outputs, options)
