"""Integers instead of floats at the inputs and outputs of a quantized model.

    x float32 -> QUANTIZE -> q int8 -> ...      becomes      q int8 -> ...
    ... -> q int8 -> DEQUANTIZE -> y float32    becomes      ... -> q int8

For uint8 at the ends of an int8 model a QUANTIZE to the other type stays there.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..schema.files import read_bytes, write_file
from ..schema.model import Model, Quantization, Subgraph, load, save

TYPES = ("INT8", "UINT8", "INT16")


def modify_model_interface(
    input_file: str | os.PathLike[str],
    output_file: str | os.PathLike[str],
    input_type: Any,
    output_type: Any,
) -> None:
    """Writes a quantized model again, with integers at its inputs and outputs.

    Args:
        input_file: a .tflite file whose first subgraph takes and gives float32.
        output_file: where the other is written.
        input_type: int8, uint8 or int16, as a numpy or flatlite type.
        output_type: the same, of the outputs.

    Raises:
        ValueError: the type is none of them.
        RuntimeError: an input or output is not quantized, or not to such a type.
    """
    new_types = [_name(input_type, "input_type"), _name(output_type, "output_type")]
    model = load(read_bytes(input_file))
    main = model.subgraphs[0]
    for index in list(main.inputs):
        _integer_input(model, main, index, new_types[0])
    for index in list(main.outputs):
        _integer_output(model, main, index, new_types[1])
    write_file(output_file, save(model))


def _name(kind: Any, flag: str) -> str:
    try:
        name = np.dtype(getattr(kind, "as_numpy_dtype", kind)).name.upper()
    except TypeError:
        name = ""
    if name not in TYPES:
        known = ", ".join(name.lower() for name in TYPES)
        raise ValueError(f"Unsupported value '{kind}' for {flag}. Only {known} are supported.")
    return name


def _integer_input(model: Model, graph: Subgraph, index: int, new_type: str) -> None:
    if graph.tensors[index].dtype != "FLOAT32":
        return
    readers = [op for op in graph.operators if index in op.inputs]
    if len(readers) != 1 or readers[0].op != "QUANTIZE" or index in graph.outputs:
        raise _failed(graph, index, "the only reader of an input must be a QUANTIZE")
    quantize = readers[0]
    quantized = quantize.outputs[0]
    _check(graph, quantized, new_type)
    if graph.tensors[quantized].dtype == new_type:
        graph.operators.remove(quantize)
        _replace(model, graph, graph.inputs, "inputs", index, quantized)
    else:  # uint8 <-> int8: the QUANTIZE stays and moves the zero point
        _become(graph, index, new_type, quantized)


def _integer_output(model: Model, graph: Subgraph, index: int, new_type: str) -> None:
    if graph.tensors[index].dtype != "FLOAT32":
        return
    writers = [op for op in graph.operators if index in op.outputs]
    read = any(index in op.inputs for op in graph.operators)
    if len(writers) != 1 or writers[0].op != "DEQUANTIZE" or read:
        raise _failed(graph, index, "an output must come from a DEQUANTIZE and go nowhere else")
    dequantize = writers[0]
    quantized = dequantize.inputs[0]
    _check(graph, quantized, new_type)
    if graph.tensors[quantized].dtype == new_type:
        graph.operators.remove(dequantize)
        _replace(model, graph, graph.outputs, "outputs", index, quantized)
    else:
        dequantize.op, dequantize.options, dequantize.version = "QUANTIZE", None, 1
        _become(graph, index, new_type, quantized)


def _check(graph: Subgraph, index: int, new_type: str) -> None:
    current = graph.tensors[index].dtype
    if current != new_type and {current, new_type} != {"INT8", "UINT8"}:
        raise _failed(graph, index, f"it is {current}, which cannot become {new_type}")


def _replace(model: Model, graph: Subgraph, ends: Any, side: str, old: int, new: int) -> None:
    ends[:] = [new if i == old else i for i in ends]
    graph.tensors[new].name, graph.tensors[old].name = (
        graph.tensors[old].name,
        graph.tensors[new].name,
    )
    for signature in model.signatures:
        if signature.subgraph == 0:
            names = getattr(signature, side)
            names.update({name: new for name, tensor in names.items() if tensor == old})


def _become(graph: Subgraph, index: int, new_type: str, quantized: int) -> None:
    """Lets a float tensor have the other type's values of a quantized one."""
    scheme = graph.tensors[quantized].quantization
    if scheme is None:
        raise _failed(graph, quantized, "it has no scale")
    offset = 128 if new_type == "UINT8" else -128
    graph.tensors[index].dtype = new_type
    graph.tensors[index].quantization = Quantization(
        np.array(scheme.scales), np.array(scheme.zero_points) + offset, scheme.axis
    )


def _failed(graph: Subgraph, index: int, reason: str) -> RuntimeError:
    return RuntimeError(
        "Error occurred when trying to modify the model's inputs or outputs from float to "
        f"integers: tensor {index} '{graph.tensors[index].name}': {reason}"
    )
