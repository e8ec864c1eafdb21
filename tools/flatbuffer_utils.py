"""Reading, writing and changing models as objects, with the names of LiteRT's flatbuffer_utils.

Functions that take a model take flatbuffers' own objects (`ModelT` of a generated module) as well.
"""

from __future__ import annotations

import copy
import os
import random
import re
import sys
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ..schema import tables
from ..schema.files import read_bytes, write_file
from ..schema.flatbuffer import build
from ..schema.reader import read
from .flatbuffer_objects import object_of, record_of

IDENTIFIER = tables.FILE_IDENTIFIER.encode()
FLOATS = {"FLOAT16": np.float16, "FLOAT32": np.float32, "FLOAT64": np.float64}
_HEX = re.compile(r"0x[0-9a-fA-F]+")


def convert_bytearray_to_object(model_bytearray: Any) -> Any:
    """The object of a model's bytes.

    Its parts need not agree with one another, nor need it bear the identifier of a .tflite file.
    Raises ModelError when it is no flatbuffer.
    """
    return object_of(read(memoryview(model_bytearray).toreadonly().cast("B"), identified=False))


def read_model_from_bytearray(model_bytearray: Any) -> Any:
    """The object of a model's bytes, with what lies outside the flatbuffer in it."""
    return convert_bytearray_to_object(model_bytearray)


def read_model(input_tflite_file: str | os.PathLike[str]) -> Any:
    """The object of a .tflite file, with arrays that nobody may write to.

    Raises RuntimeError when there is no such file, ModelError when it is no model.
    """
    if not os.path.exists(input_tflite_file):
        raise RuntimeError(f"Input file not found at {os.fspath(input_tflite_file)!r}\n")
    return convert_bytearray_to_object(read_bytes(input_tflite_file))


def read_model_with_mutable_tensors(input_tflite_file: str | os.PathLike[str]) -> Any:
    """What `read_model` gives, with arrays of its own."""
    return copy.deepcopy(read_model(input_tflite_file))


def convert_object_to_bytearray(model_object: Any, extra_buffer: bytes = b"") -> bytes:
    """The bytes of a model's object, and more behind them."""
    if hasattr(model_object, "Pack"):
        import flatbuffers

        builder = flatbuffers.Builder(1024)
        builder.Finish(model_object.Pack(builder), file_identifier=IDENTIFIER)
        return bytes(builder.Output()) + extra_buffer
    return build(record_of(model_object)) + extra_buffer


def write_model(model_object: Any, output_tflite_file: str | os.PathLike[str]) -> None:
    """Writes a model's object into a file."""
    write_file(output_tflite_file, convert_object_to_bytearray(model_object))


def strip_strings(model: Any) -> None:
    """Removes description, signatures and the names of subgraphs and tensors, in place."""
    model.description = model.signatureDefs = None
    for subgraph in model.subgraphs:
        subgraph.name = None
        for tensor in subgraph.tensors:
            tensor.name = None


def type_to_name(tensor_type: int) -> str | None:
    """The name of an element type, None for a number that is none."""
    return _name_of("TensorType", tensor_type)


def opcode_to_name(model: Any, op_code: int) -> str | None:
    """The name of the operator that an operator code stands for."""
    return _name_of("BuiltinOperator", _builtin(model.operatorCodes[op_code]))


def randomize_weights(
    model: Any, random_seed: int = 0, buffers_to_skip: Collection[int] | None = None
) -> None:
    """Puts random values into all constants, in place: floats within 0.5 of 0, any bytes else.

    Args:
        model: the object of a model.
        random_seed: the same seed gives the same values.
        buffers_to_skip: buffers that stay as they are.
    """
    generator = random.Random(random_seed)
    kinds = {
        graph.tensors[i].buffer: type_to_name(graph.tensors[i].type)
        for graph in model.subgraphs
        for operator in graph.operators or ()
        for i in (() if operator.inputs is None else operator.inputs)
        if i >= 0
    }
    for index, buffer in enumerate(model.buffers):
        if not index or index in (buffers_to_skip or ()) or buffer.data is None:
            continue
        data = np.array(buffer.data, np.uint8)
        dtype = FLOATS.get(kinds.get(index) or "")
        if dtype is None:
            data[:] = [generator.randint(0, 255) for _ in range(data.size)]
        else:
            values = data[: data.size // np.dtype(dtype).itemsize * np.dtype(dtype).itemsize]
            floats = values.view(dtype)
            floats[:] = [generator.uniform(-0.5, 0.5) for _ in range(floats.size)]
        buffer.data = data


def rename_custom_ops(model: Any, map_custom_op_renames: Mapping[str, str]) -> None:
    """Gives custom operators other names, in place."""
    for code in model.operatorCodes:
        if code.customCode:
            name = code.customCode.decode("ascii", "replace")
            code.customCode = map_custom_op_renames.get(name, name).encode("ascii")


def xxd_output_to_bytes(input_cc_file: str | os.PathLike[str]) -> bytes:
    """The bytes of the array in a C file that `xxd -i` has written."""
    with open(input_cc_file) as file:
        lines = [line.partition("//")[0] for line in file]
    return bytes(int(value, 16) for line in lines for value in _HEX.findall(line))


def xxd_output_to_object(input_cc_file: str | os.PathLike[str]) -> Any:
    """The object of the model in such a C file."""
    return convert_bytearray_to_object(xxd_output_to_bytes(input_cc_file))


def count_resource_variables(model: Any) -> int:
    """How many resource variables, of different names, a model (its object or bytes) has."""
    if isinstance(model, (bytes, bytearray, memoryview)):
        model = convert_bytearray_to_object(model)
    names = {
        operator.builtinOptions.sharedName
        for graph in model.subgraphs
        for operator in graph.operators or ()
        if opcode_to_name(model, operator.opcodeIndex) == "VAR_HANDLE"
    }
    return len(names)


def get_options_as(op: Any, opts_type: type) -> Any:
    """The options of an operator when they are of a type, else None.

    Args:
        op: an operator's object, or flatbuffers' reader of one.
        opts_type: the class of an options object, `Conv2DOptionsT` and its like.

    Raises:
        ValueError: that is no such class.
    """
    name = getattr(opts_type, "__name__", "")
    table = _table_of(name.removesuffix("T"))
    union = next(
        (u for u in ("BuiltinOptions", "BuiltinOptions2") if table in tables.UNIONS[u]), ""
    )
    if not name.endswith("T") or not union:
        raise ValueError(f"Unsupported options type: {opts_type}")
    kind = type(op)
    if not kind.__name__.endswith("T"):  # a reader: its module has the class of the object
        objects = getattr(sys.modules[kind.__module__], f"{kind.__name__}T", None)
        if objects is None:
            return None
        op = objects.InitFromObj(op)
    options = getattr(op, "builtinOptions" if union == "BuiltinOptions" else "builtinOptions2")
    return options if isinstance(options, opts_type) else None


def _table_of(name: str) -> str:
    """The schema's name of an options table; flatc's Python module writes some otherwise."""
    names = {table.lower(): table for table in tables.TABLES}
    return names.get(name.lower(), "")


def _builtin(code: Any) -> int:
    return max(code.builtinCode, code.deprecatedBuiltinCode)


def _name_of(enum: str, value: int) -> str | None:
    try:
        return tables.name_of(enum, value)
    except KeyError:
        return None
