"""Broken `.tflite` files, with words that their errors must have."""

import struct
from pathlib import Path

import numpy as np
from building import Builder, save

from flatlite.schema.flatbuffer import build, parse

LENET = Path(__file__).parents[1] / "corpus/C/lenet_k3/float.tflite"


def written(content):
    def make(folder):
        path = folder / "model.tflite"
        path.write_bytes(content)
        return path

    return make


def damaged(change):
    """A maker of a good file whose bytes `change` changes."""
    return lambda folder: written(change(LENET.read_bytes()))(folder)


def edited(edit):
    """A maker of a good file whose records `edit(root)` changes."""

    def make(folder):
        root = parse(LENET.read_bytes())
        edit(root)
        return written(bytes(build(root)))(folder)

    return make


def of(kind, *inputs, shape=(2, 3), out=(2, 3), dtype="FLOAT32", custom_code=None, **options):
    """A maker of a file with one operator; `inputs` are shapes, or constants."""
    b = Builder()
    operands = [
        b.constant(f"c{i}", x) if isinstance(x, np.ndarray) else b.input(f"x{i}", x, dtype)
        for i, x in enumerate(inputs or [shape])
    ]
    result = b.tensor("result", out, dtype)
    b.op(kind, operands, [result], custom_code=custom_code, **options)
    b.outputs(result)
    return written(save(b))


def far_root(content):
    return struct.pack("<I", 0x7FFFFFF0) + content[4:]


def operator(root):
    return root.subgraphs[0].operators[0]


def far_tensor(root):
    operator(root).inputs = [9999, *operator(root).inputs[1:]]


def far_buffer(root):
    root.subgraphs[0].tensors[0].buffer = 1 << 30


def far_code(root):
    operator(root).opcode_index = 77


def no_tensor(root):
    operator(root).inputs = [-1, *operator(root).inputs[1:]]


def huge(root):
    root.subgraphs[0].tensors[0].shape = [1 << 30, 1 << 30]


def negative(root):
    root.subgraphs[0].tensors[0].shape = [-5, 2]


def unknown_type(root):
    root.subgraphs[0].tensors[0].type = 99


def unknown_code(root):
    code = root.operator_codes[operator(root).opcode_index]
    code.builtin_code = 9999
    code.deprecated_builtin_code = 127


def no_subgraph(root):
    root.subgraphs = []


def short_constant(root):
    tensors = root.subgraphs[0].tensors
    tensor = next(t for t in tensors if root.buffers[t.buffer].data is not None)
    root.buffers[tensor.buffer].data = root.buffers[tensor.buffer].data[:-4]


X = (2, 3)
TFLITE = {
    "empty": (written(b""), "model.tflite"),
    "identifier alone": (written(b"\0\0\0\0TFL3"), "not a valid Flatbuffer buffer"),
    "cut": (damaged(lambda content: content[:1000]), "not a valid Flatbuffer buffer"),
    "cut late": (damaged(lambda content: content[:-40]), "not a valid Flatbuffer buffer"),
    "zeros": (written(bytes(4096)), "not a valid Flatbuffer buffer"),
    "root beyond the end": (damaged(far_root), "not a valid Flatbuffer buffer"),
    "web page": (written(b"<!DOCTYPE html><html>404</html>"), "not a valid Flatbuffer buffer"),
    "tensor that is not there": (edited(far_tensor), "9999"),
    "buffer that is not there": (edited(far_buffer), "buffer"),
    "operator code that is not there": (edited(far_code), "77"),
    "omitted operand": (edited(no_tensor), "'"),
    "tensor too large": (edited(huge), "must have at most 2147483647 elements"),
    "negative size": (edited(negative), "-5"),
    "unknown type": (edited(unknown_type), "99"),
    "unknown operator": (edited(unknown_code), "9999"),
    "no subgraph": (edited(no_subgraph), "subgraph"),
    "constant cut": (edited(short_constant), "bytes"),
    "reshape to other elements": (
        of("RESHAPE", X, np.int32([4, 5]), out=(4, 5)), "RESHAPE 'result'"),
    "shapes that do not broadcast": (of("ADD", X, (5,)), "ADD 'result'"),
    "axis out of range": (of("CONCATENATION", X, X, axis=7), "CONCATENATION 'result'", "7"),
    "types that do not match": (
        of("ADD", X, np.int32([1, 2, 3])), "ADD 'result'"),
    "too few operands": (of("ADD", X), "ADD 'result'"),
    "channels": (
        of("CONV_2D", (1, 8, 8, 3), np.ones((4, 3, 3, 5), np.float32), np.zeros(4, np.float32),
           out=(1, 6, 6, 4), stride_w=1, stride_h=1, padding=1), "CONV_2D 'result'"),
    "stride of zero": (
        of("CONV_2D", (1, 8, 8, 3), np.ones((4, 3, 3, 3), np.float32), np.zeros(4, np.float32),
           out=(1, 6, 6, 4), stride_w=0, stride_h=1, padding=1), "CONV_2D 'result'"),
    "permutation": (
        of("TRANSPOSE", X, np.int32([0, 0])), "TRANSPOSE 'result'"),
    "index out of range": (
        of("GATHER", np.float32([1, 2]), np.int32([0, 7]), out=(2,)), "GATHER 'result'"),
}  # fmt: skip
