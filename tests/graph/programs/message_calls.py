"""Calls of decode_proto and encode_proto, and messages for them."""

from __future__ import annotations

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

KINDS = descriptor_pb2.FieldDescriptorProto
FIELDS = {
    "i32": KINDS.TYPE_INT32,
    "i64": KINDS.TYPE_INT64,
    "u32": KINDS.TYPE_UINT32,
    "u64": KINDS.TYPE_UINT64,
    "f": KINDS.TYPE_FLOAT,
    "d": KINDS.TYPE_DOUBLE,
    "b": KINDS.TYPE_BOOL,
    "s": KINDS.TYPE_STRING,
    "by": KINDS.TYPE_BYTES,
    "si": KINDS.TYPE_SINT32,
    "fx": KINDS.TYPE_FIXED32,
    "en": KINDS.TYPE_ENUM,
    "sub": KINDS.TYPE_MESSAGE,
}
TYPES = {KINDS.TYPE_ENUM: ".p.E", KINDS.TYPE_MESSAGE: ".p.M"}


def descriptors() -> descriptor_pb2.FileDescriptorSet:
    """Message p.M: each kind of field alone and repeated, and `seven`, which is 7 by default."""
    files = descriptor_pb2.FileDescriptorSet()
    file = files.file.add(name="calls.proto", package="p", syntax="proto2")
    message = file.message_type.add(name="M")
    labels = {"": KINDS.LABEL_OPTIONAL, "r_": KINDS.LABEL_REPEATED}
    for name, kind in FIELDS.items():
        for prefix, label in labels.items():
            row = {"name": prefix + name, "type": kind, "label": label}
            message.field.add(number=len(message.field) + 1, type_name=TYPES.get(kind), **row)
    message.field.add(name="seven", number=90, type=5, label=1, default_value="7")
    numbers = file.enum_type.add(name="E")
    numbers.value.add(name="A", number=0)
    numbers.value.add(name="B", number=3)
    return files


def messages() -> list[bytes]:
    """Two of them."""
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(descriptors().file[0].SerializeToString())
    kind = message_factory.GetMessageClass(pool.FindMessageTypeByName("p.M"))
    first = kind(
        i32=-3, u64=2**63 + 1, u32=2**31 + 5, f=1.5, d=2.5, b=True, s="hé", by=b"\xff", si=-4, en=3,
        r_i32=[1, 2, 3], r_s=["a", "b"], r_b=[True], r_d=[0.5, -1], i64=-(2**40),
    )  # fmt: skip
    first.sub.i32 = 4
    first.r_sub.add(i32=9)
    second = kind(r_i32=[5])
    second.r_sub.add()
    second.r_sub.add(s="x")
    return [first.SerializeToString(), second.SerializeToString()]


def decode(names: str, types: str, contents: str = "M", more: str = "") -> str:
    """A call for these fields of p.M."""
    return f"tf.io.decode_proto({contents}, 'p.M', {names.split()}, {types}, S{more})"


ALL = "i32 i64 u64 u32 f d b s by si en r_i32 r_s r_b r_d sub r_sub seven"
ALL_TYPES = (
    "[tf.int32, tf.int64, tf.uint64, tf.uint32, tf.float32, tf.float64, tf.bool, tf.string, "
    "tf.string, tf.int32, tf.int32, tf.int32, tf.string, tf.bool, tf.float64, tf.string, tf.string,"
    " tf.int32]"
)
CALLS = [
    decode(ALL, ALL_TYPES),
    decode("i32 u32", "[tf.int64, tf.uint64]", "[M]"),
    decode("f fx", "[tf.float64, tf.uint64]"),
    decode("r_i32 i32 i32", "[tf.int32] * 3"),
    decode("i32 seven r_i32 s", "[tf.int32] * 3 + [tf.string]", "[b'', b'']"),
    decode("r_i32", "[tf.int32]", "tf.placeholder_with_default(M, None)", ", sanitize=True"),
    decode("i32 r_i32 s", "[tf.int32] * 2 + [tf.string]", "['i32: 5 r_i32: [1, 2]']", ", 'text'"),
    decode("i32", "[tf.int32]", "['i32: x']", ", 'text'"),
    decode("i32", "[tf.int32]", "M", ", 'json'"),
    decode("i32", "[tf.int32]", "[b'\\xff\\xff']"),
    decode("i32", "[tf.int32]", "[]"),
    decode("nope", "[tf.int32]"),
    decode("i32", "[tf.int32, tf.int32]"),
    *(decode(name, f"[tf.{kind}]") for name, kind in (
        ("i32", "float32"), ("d", "float32"), ("u64", "int64"), ("u32", "int64"), ("en", "int64"),
        ("i64", "int32"), ("s", "int32"), ("sub", "int32"),
    )),
    "tf.io.decode_proto(M, 'p.Q', ['i32'], [tf.int32], S)",
    "tf.io.decode_proto(M, 'p.M', ['i32'], [tf.int32], 'bytes://zz')",
    "tf.io.decode_proto(M, 'p.M', ['i32'], [tf.int32], '/no/such/file')",
    "tf.io.decode_proto([b''], 'tensorflow.Example', ['features'], [tf.string])",
    "tf.io.encode_proto([[1, 2]], [[[5]], [[1, 2]]], ['i32', 'r_i32'], 'p.M', S)",
    "tf.io.encode_proto([[1, 1]], [[[3]], [[4]]], ['r_i32', 'i32'], 'p.M', S)",
    "tf.io.encode_proto([[2]], [[[3, 4]]], ['i32'], 'p.M', S)",
    "tf.io.encode_proto([[1, 1]], [[['a']], [[b'\\x08\\x04']]], ['s', 'sub'], 'p.M', S)",
    "tf.io.encode_proto([[1]], [tf.constant([[3.]], tf.float64)], ['f'], 'p.M', S)",
    "tf.io.encode_proto([[1]], [tf.constant([[True]])], ['b'], 'p.M', S)",
    "tf.io.encode_proto([[3]], [[[3, 4]]], ['r_i32'], 'p.M', S)",
    "tf.io.encode_proto([[1]], [[[3.0]]], ['i32'], 'p.M', S)",
    "tf.io.encode_proto([[1]], [[[3]]], ['nope'], 'p.M', S)",
    "tf.io.encode_proto([[1, 1]], [[[3]]], ['i32'], 'p.M', S)",
    "tf.io.encode_proto([[1], [1]], [[[3]]], ['i32'], 'p.M', S)",
]  # fmt: skip
SOURCE = b"bytes://" + descriptors().SerializeToString()


def outcome(tf, call: str) -> object:
    """What a call gives: arrays as lists with their types, or the error's name and first words."""
    names = {"tf": tf, "M": messages(), "S": SOURCE}
    with tf.Graph().as_default(), tf.Session() as session:
        try:
            value = session.run(eval(call, names))
        except tf.errors.OpError as error:
            lines = error.message.splitlines()
            words = lines[lines.index("Graph execution error:") :] if len(lines) > 3 else lines
            at = next((i for i, line in enumerate(words) if line.startswith("Node:")), -1)
            return [type(error).__name__, words[at + 1][:34]]
    parts = [value.sizes, *value.values] if hasattr(value, "sizes") else [value]
    return [[part.dtype.name, _listed(part)] for part in map(np.asarray, parts)]


def _listed(array: np.ndarray) -> object:
    if array.dtype.kind == "O":
        return np.vectorize(lambda text: text.decode("latin1"), otypes=[object])(array).tolist()
    return array.tolist()


def outcomes(tf):
    """What each call gives."""
    return {call: outcome(tf, call) for call in CALLS}
