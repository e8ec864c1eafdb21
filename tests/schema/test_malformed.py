"""A file whose bytes are wrong raises ModelError: never another error, a crash, or a wait."""

import struct
import tracemalloc

import flatbuffers
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flatlite.schema.errors import ModelError
from flatlite.schema.flatbuffer import build, parse, record
from flatlite.schema.model import load, save
from flatlite.schema.reader import read

pytestmark = pytest.mark.filterwarnings("ignore:signature .* is left out:RuntimeWarning")

INVALID = "The model is not a valid Flatbuffer buffer"


def outcome(content):
    """Whether a file is read; what it gives must then be writable and stay the same."""
    try:
        model = load(content)
    except ModelError:
        return False
    assert load(save(model)) == model
    return True


def test_every_truncation(files):
    content = files["sample unusual"]
    read = [size for size in range(len(content)) if outcome(content[:size])]
    assert read == []


def test_every_bit_of_the_offsets(files):
    content = files["sample control_flow"]
    for position in range(0, len(content), 3):
        changed = bytearray(content)
        changed[position] ^= 1 << position % 8
        outcome(bytes(changed))


@settings(max_examples=400)
@given(data=st.data())
def test_changed_bytes(files, data):
    small = [name for name, content in files.items() if len(content) < 4000]
    content = bytearray(files[data.draw(st.sampled_from(small))])
    numbers = st.one_of(
        st.sampled_from([0, 1, 4, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, len(content)]),
        st.integers(0, 2**32 - 1),
    )
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(content) - 4))
        width = data.draw(st.sampled_from([1, 2, 4]))
        value = data.draw(numbers) % 256**width
        content[position : position + width] = value.to_bytes(width, "little")
    outcome(bytes(content))


@settings(max_examples=200)
@given(tail=st.binary(max_size=200))
def test_garbage(tail):
    outcome(tail)
    outcome(b"\x14\0\0\0TFL3" + tail)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "0 bytes are too few"),
        (b"TFL3", "4 bytes are too few"),
        (b"\x08\0\0\0TFL2" + bytes(20), "must be 'TFL3', got b'TFL2'"),
        (b"\x08\0\0\0TFL3", r"root at byte 0: the offset of a table leads to byte 8"),
        (b"\0\0\0\0TFL3" + bytes(8), "root at byte 0: the offset of a table is 0"),
        (b"\xff\xff\xff\xffTFL3" + bytes(8), "leads to byte 4294967295, past the end of the file"),
        (b"\x08\0\0\0TFL3\x00\x00\x00\x80" + bytes(8), "vtable at byte 2147483656 is not inside"),
        (b"\x08\0\0\0TFL3\x00\x00\x00\x00" + bytes(8), "vtable at byte 8 has a size of 0 bytes"),
        (b"\x0c\0\0\0TFL3\x05\0\x04\0\x04\0\0\0", "vtable at byte 8 has a size of 5 bytes"),
        (b"\x0c\0\0\0TFL3\x04\0\x02\0\x04\0\0\0", "table must have 4 bytes or more, got 2"),
        (b"\x0c\0\0\0TFL3\x04\0\xff\0\x04\0\0\0", "table of 255 bytes ends past the end"),
    ],
)
def test_the_root(content, reason):
    with pytest.raises(ModelError, match=f"{INVALID}\n.*{reason}"):
        parse(content)


def table(fields, size=4):
    """A file whose root is a table with these (place, bytes), fields by slot, of `size` bytes."""
    slots = [place for place, _ in fields]
    vtable = struct.pack(f"<{len(slots) + 2}H", 4 + 2 * len(slots), size, *slots)
    body = bytearray(size)
    struct.pack_into("<i", body, 0, len(vtable))
    for place, content in fields:
        if place >= 4:
            body[place : place + len(content)] = content
    return struct.pack("<I4s", 8 + len(vtable), b"TFL3") + vtable + body


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (table([(4, b"\3\0\0\0"), (6, b"\1\0")], 12), "fields overlap at byte 6 of the table"),
        (table([(2, b"\3\0")], 12), "fields overlap at byte 2 of the table"),
        (table([(6, b"\3\0\0\0")], 8), "a field ends past the 8 bytes of its table"),
        (
            table([(0, b""), (4, b"\0\0\0\0")], 8),
            "operator_codes at byte .*: the offset of a vector is 0",
        ),
        (
            table([(0, b""), (4, b"\x04\0\0\0")], 8) + b"\xff\xff\xff\x3f",
            "operator_codes at byte .*: 1073741823 elements of 4 bytes end past",
        ),
        (
            table([(0, b""), (0, b""), (0, b""), (4, b"\4\0\0\0")], 8) + b"\2\0\0\0ab",
            "description at byte .*: string of 2 bytes has no zero byte after it",
        ),
    ],
)
def test_fields(content, reason):
    with pytest.raises(
        ModelError, match=f"{INVALID}\n{reason}|{INVALID}\nroot at byte .*: {reason}"
    ):
        parse(content)


def test_the_field_is_named(files):
    content = bytearray(files["sample classifier"])
    name = content.index(b"conv/kernel\0")
    content[name - 4 : name] = b"\xff\xff\xff\x7f"
    with pytest.raises(
        ModelError,
        match=rf"{INVALID}\nsubgraphs\[0\]\.tensors\[1\]\.name at byte {name - 4}: 2147483647 elem",
    ):
        parse(bytes(content))


def test_an_enum_out_of_range():
    builder = flatbuffers.Builder()
    builder.StartObject(11)
    builder.PrependInt8Slot(1, 99, 0)
    tensor = builder.EndObject()
    with pytest.raises(ModelError, match=r"type must be in \[0, 23\), got 99"):
        parse(with_subgraph(builder, 0, tensor))


@pytest.mark.parametrize(
    ("member", "reason"),
    [(0, r"must be in \[1, 127\), got 0"), (200, r"must be in \[1, 127\), got 200")],
)
def test_a_union_of_no_type(member, reason):
    builder = flatbuffers.Builder()
    builder.StartObject(0)
    options = builder.EndObject()
    builder.StartObject(14)
    builder.PrependUint8Slot(3, member, 0)
    builder.PrependUOffsetTRelativeSlot(4, options, 0)
    operator = builder.EndObject()
    with pytest.raises(ModelError, match=rf"operators\[0\]\.builtin_options.*{reason}"):
        parse(with_subgraph(builder, 3, operator))


def with_subgraph(builder, slot, *entries):
    """The file of a model with a subgraph that has a vector of these tables in a slot."""
    builder.StartVector(4, len(entries), 4)
    for entry in reversed(entries):
        builder.PrependUOffsetTRelative(entry)
    vector = builder.EndVector()
    builder.StartObject(6)
    builder.PrependUOffsetTRelativeSlot(slot, vector, 0)
    subgraph = builder.EndObject()
    builder.StartVector(4, 1, 4)
    builder.PrependUOffsetTRelative(subgraph)
    subgraphs = builder.EndVector()
    builder.StartObject(4)
    add = builder.EndObject()
    builder.StartVector(4, 1, 4)
    builder.PrependUOffsetTRelative(add)
    codes = builder.EndVector()
    builder.StartObject(10)
    builder.PrependUint32Slot(0, 3, 0)
    builder.PrependUOffsetTRelativeSlot(1, codes, 0)
    builder.PrependUOffsetTRelativeSlot(2, subgraphs, 0)
    builder.Finish(builder.EndObject(), file_identifier=b"TFL3")
    return bytes(builder.Output())


def test_one_table_named_a_million_times_is_read_once():
    builder = flatbuffers.Builder()
    builder.StartObject(11)
    tensor = builder.EndObject()
    content = with_subgraph(builder, 0, *[tensor] * 200_000)
    tracemalloc.start()
    tensors = parse(content).subgraphs[0].tensors
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(tensors) == 200_000
    assert len({id(tensor) for tensor in tensors}) == 1
    assert peak < 64 << 20


def test_a_vector_of_tables_shared_by_many_tables():
    builder = flatbuffers.Builder()
    builder.StartObject(11)
    tensor = builder.EndObject()
    builder.StartVector(4, 3000, 4)
    for _ in range(3000):
        builder.PrependUOffsetTRelative(tensor)
    tensors = builder.EndVector()
    subgraphs = []
    for _ in range(3000):
        builder.StartObject(6)
        builder.PrependUOffsetTRelativeSlot(0, tensors, 0)
        subgraphs.append(builder.EndObject())
    with pytest.raises(ModelError, match="vectors overlap: together they are longer than the file"):
        parse(model_of(builder, subgraphs))


def test_a_vector_of_truth_values_shared_by_many_operators_is_read_once():
    builder = flatbuffers.Builder()
    flags = builder.CreateNumpyVector(np.full(100_000, 2, np.uint8))
    operators = []
    for _ in range(1000):
        builder.StartObject(14)
        builder.PrependUOffsetTRelativeSlot(7, flags, 0)
        operators.append(builder.EndObject())
    content = with_subgraph(builder, 3, *operators)
    model = read(memoryview(content))
    flags = [operator.mutating_variable_inputs for operator in model.subgraphs[0].operators]
    assert len({id(array) for array in flags}) == 1
    assert flags[0].dtype == np.bool_
    assert flags[0].all()
    assert not flags[0].flags.writeable


def test_a_file_may_lie_anywhere_in_memory(files):
    for content in files.values():
        model = parse(content)
        for shift in range(1, 8):
            assert parse(memoryview(bytes(shift) + content)[shift:]) == model


def model_of(builder, subgraphs):
    """The file of a model with these subgraphs."""
    builder.StartVector(4, len(subgraphs), 4)
    for subgraph in reversed(subgraphs):
        builder.PrependUOffsetTRelative(subgraph)
    vector = builder.EndVector()
    builder.StartObject(10)
    builder.PrependUint32Slot(0, 3, 0)
    builder.PrependUOffsetTRelativeSlot(2, vector, 0)
    builder.Finish(builder.EndObject(), file_identifier=b"TFL3")
    return bytes(builder.Output())


def test_vectors_that_overlap():
    builder = flatbuffers.Builder()
    tensors = []
    inner = np.full(1000, 900, "<u4")
    builder.StartVector(4, 1000, 4)
    builder.head = builder.Head() - inner.nbytes
    builder.Bytes[builder.head : builder.head + inner.nbytes] = inner.tobytes()
    vector = builder.EndVector()
    for shift in range(90):
        builder.StartObject(11)
        builder.PrependUOffsetTRelativeSlot(0, vector - 4 * shift, 0)
        tensors.append(builder.EndObject())
    with pytest.raises(ModelError, match="vectors overlap: together they are longer than the file"):
        parse(with_subgraph(builder, 0, *tensors))


def test_an_offset_buffer_outside_the_file(files):
    model = parse(files["sample classifier"])
    content = bytearray(build(model) + bytes(64))
    builder = flatbuffers.Builder()
    assert parse(bytes(content)) == model
    builder.StartObject(3)
    builder.PrependUint64Slot(1, 2**40, 0)
    builder.PrependUint64Slot(2, 8, 0)
    buffer = builder.EndObject()
    with pytest.raises(ModelError, match="Buffer has 8 bytes here, past the end of the file"):
        parse(with_buffers(builder, buffer))


def with_buffers(builder, *buffers):
    """The file of a model with an empty subgraph and these buffers."""
    builder.StartObject(6)
    subgraph = builder.EndObject()
    builder.StartVector(4, 1, 4)
    builder.PrependUOffsetTRelative(subgraph)
    subgraphs = builder.EndVector()
    builder.StartVector(4, len(buffers), 4)
    for buffer in reversed(buffers):
        builder.PrependUOffsetTRelative(buffer)
    vector = builder.EndVector()
    builder.StartObject(10)
    builder.PrependUint32Slot(0, 3, 0)
    builder.PrependUOffsetTRelativeSlot(2, subgraphs, 0)
    builder.PrependUOffsetTRelativeSlot(4, vector, 0)
    builder.Finish(builder.EndObject(), file_identifier=b"TFL3")
    return bytes(builder.Output())


def test_an_offset_buffer_is_read_from_behind_the_flatbuffer():
    builder = flatbuffers.Builder()
    buffers = []
    for offset in (0, 1, 512):
        builder.StartObject(3)
        builder.PrependUint64Slot(1, offset, 0)
        builder.PrependUint64Slot(2, 8, 0)
        buffers.append(builder.EndObject())
    content = with_buffers(builder, *buffers).ljust(512, b"\0") + b"behind:)"
    first, second, third = parse(content).buffers
    assert first.data is None
    assert second.data is None
    assert third.data.tobytes() == b"behind:)"
    assert (third.offset, third.size) == (0, 0)


# Every field is where it says from here on, but says something that cannot be.

Code, SubGraph, Op, Tensor = map(record, ("OperatorCode", "SubGraph", "Operator", "Tensor"))
Quantization, Signature = map(record, ("QuantizationParameters", "SignatureDef"))


def model(*tensors, operators=(), codes=(), data=(), subgraphs=None, **fields):
    """A Model record around some tensors and operators."""
    main = SubGraph(tensors=tensors, operators=operators)
    buffers = tuple(
        record("Buffer")(data=np.frombuffer(d, "u1") if d else None) for d in (b"", *data)
    )
    default_fields = {"version": 3, "subgraphs": subgraphs or (main,), "buffers": buffers}
    return record("Model")(**default_fields | {"operator_codes": codes} | fields)


def calling(*indices):
    """A subgraph that calls these."""
    calls = tuple(Op(builtin_options=record("CallOptions")(subgraph=index)) for index in indices)
    return SubGraph(operators=calls)


RELU, CONV, CALL = Code(builtin_code=19), Code(builtin_code=3), Code(builtin_code=31)
SPLIT = Code(builtin_code=32, custom_code="two")
MISTAKES = {
    "version": (
        model(version=2),
        "^Model provided is schema version 2 not equal to supported version 3.$",
    ),
    "no subgraph": (
        model(subgraphs=()) and record("Model")(version=3),
        "^No subgraph in the model.$",
    ),
    "buffer index": (
        model(Tensor(name="t", buffer=1)),
        r"subgraph 0: tensor 0 't': buffer must be in \[0, 1\), got 1",
    ),
    "negative size": (
        model(Tensor(shape=[2, -1])),
        r"dimensions must not be negative, got \[2, -1\]",
    ),
    "elements": (
        model(Tensor(shape=[2**16, 2**15])),
        "must have at most 2147483647 elements, got 2147483648",
    ),
    "overflow": (model(Tensor(shape=[2**30] * 8)), "must have at most 2147483647 elements"),
    "rank": (model(Tensor(shape=[1] * 33)), "rank must be at most 32, got 33"),
    "shape_signature": (
        model(Tensor(shape=[1], shape_signature=[-2])),
        r"shape_signature \[-2\] does not describe",
    ),
    "signature rank": (
        model(Tensor(shape=[1], shape_signature=[-1, 1])),
        "does not describe the shape",
    ),
    "too short": (
        model(Tensor(shape=[3], buffer=1), data=[bytes(8)]),
        r"FLOAT32 of shape \[3\] needs 12 bytes, but buffer 1 has 8",
    ),
    "too long": (
        model(Tensor(shape=[3], type=17, buffer=1), data=[bytes(3)]),
        r"INT4 of shape \[3\] needs 2 bytes, but buffer 1 has 3",
    ),
    "external buffer": (model(Tensor(external_buffer=5)), "external_buffer 5 does not exist"),
    "external group": (
        model(external_buffers=(record("ExternalBuffer")(id=1, group=1),)),
        r"external buffer 1: group must be in \[0, 0\), got 1",
    ),
    "strings": (
        model(Tensor(type=5, shape=[1], buffer=1), data=[b"\1\0\0\0\xff\0\0\0\0\0\0\0"]),
        "tensor 0 '': the offsets of a string buffer",
    ),
    "string offsets": (
        model(
            Tensor(type=5, shape=[2], buffer=1),
            data=[
                struct.pack("<4i", 2, 16, -(2**31), 16),
                struct.pack("<4i", 2, 2**31 - 1, 16, 16),
            ],
        ),
        "tensor 0 '': the offsets of a string buffer",
    ),
    "too few strings": (
        model(Tensor(type=5, shape=[2], buffer=1), data=[struct.pack("<3i", 1, 12, 12)]),
        "2 strings are needed, but buffer 1 has 1",
    ),
    "string count": (
        model(Tensor(type=5, shape=[1], buffer=1), data=[b"\xff\0\0\0"]),
        "cannot hold the 255 strings",
    ),
    "zero points": (
        model(Tensor(shape=[2], quantization=Quantization(scale=[1, 2], zero_point=[0]))),
        "1 zero_point values and 2 scale values",
    ),
    "scales": (
        model(Tensor(shape=[3], quantization=Quantization(scale=[1, 2]))),
        r"2 scales do not fit dimension 0 of the shape \[3\]",
    ),
    "axis": (
        model(Tensor(shape=[1], quantization=Quantization(scale=[1], quantized_dimension=1))),
        r"quantized_dimension must be in \[0, 1\), got 1",
    ),
    "blocks": (
        model(Tensor(quantization=Quantization(details=record("BlockwiseQuantization")(scales=4)))),
        "quantization scales must be a tensor below 1, got 4",
    ),
    "operator code": (
        model(codes=(Code(builtin_code=210),)),
        "builtin_code must be in|Op builtin_code out of range: 210",
    ),
    "custom without a name": (
        model(codes=(SPLIT, Code(builtin_code=32))),
        "operator code 1: Operator with CUSTOM builtin_code has no custom_code",
    ),
    "opcode_index": (
        model(operators=(Op(opcode_index=1),), codes=(RELU,)),
        r"operator 0: opcode_index must be in \[0, 1\), got 1",
    ),
    "input": (
        model(Tensor(), operators=(Op(inputs=[1]),), codes=(RELU,)),
        r"operator 0 \(RELU\): input 0 must be a tensor in \[-1, 1\), got 1",
    ),
    "input -2": (
        model(Tensor(), operators=(Op(inputs=[0, -2]),), codes=(RELU,)),
        "input 1 must be a tensor .* got -2",
    ),
    "output": (
        model(Tensor(), operators=(Op(outputs=[-1]),), codes=(RELU,)),
        r"output 0 must be a tensor in \[0, 1\), got -1",
    ),
    "intermediate": (
        model(Tensor(), operators=(Op(intermediates=[9]),), codes=(RELU,)),
        "intermediate 0 must be a tensor",
    ),
    "written constant": (
        model(
            Tensor(shape=[1], buffer=1),
            operators=(Op(outputs=[0]),),
            codes=(RELU,),
            data=[bytes(4)],
        ),
        "tensor 0 is written but constant",
    ),
    "in and out": (
        model(Tensor(), operators=(Op(inputs=[0], outputs=[0]),), codes=(RELU,)),
        "tensor 0 must not be input and output at once",
    ),
    "options": (
        model(operators=(Op(builtin_options=record("AddOptions")()),), codes=(CONV,)),
        r"operator 0 \(CONV_2D\): options must be Conv2DOptions, got AddOptions",
    ),
    "two options": (
        model(
            operators=(
                Op(
                    builtin_options=record("AddOptions")(),
                    builtin_options_2=record("DilateOptions")(),
                ),
            ),
            codes=(CONV,),
        ),
        "has two options",
    ),
    "subgraph input": (
        model(subgraphs=(SubGraph(inputs=[0]),)),
        r"subgraph 0: input 0 must be a tensor in \[0, 0\), got 0",
    ),
    "subgraph output": (
        model(subgraphs=(SubGraph(), SubGraph(outputs=[-1]))),
        r"subgraph 1: output 0 must be a tensor",
    ),
    "call": (
        model(subgraphs=(calling(1),), codes=(CALL,)),
        r"operator 0 \(CALL\): subgraph must be in \[0, 1\), got 1",
    ),
    "call of itself": (
        model(subgraphs=(calling(0),), codes=(CALL,)),
        r"subgraphs \[0\] call one another in a circle",
    ),
    "circle": (
        model(subgraphs=(calling(1), calling(2), calling(1)), codes=(CALL,)),
        r"subgraphs \[1, 2\] call one another",
    ),
    "deep calls": (
        model(subgraphs=(*(calling(i + 1) for i in range(64)), SubGraph()), codes=(CALL,)),
        "is called more than 64 deep",
    ),
    "metadata": (
        model(metadata=(record("Metadata")(name="m", buffer=1),)),
        r"metadata 'm': buffer must be in \[0, 1\), got 1",
    ),
    "metadata_buffer": (
        model(metadata_buffer=[-1]),
        r"metadata_buffer must be in \[0, 1\), got -1",
    ),
    "signature": (
        model(signature_defs=(Signature(signature_key="s", subgraph_index=1),)),
        r"signature 's': subgraph_index must be in \[0, 1\), got 1",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_what_cannot_be(name):
    root, message = MISTAKES[name]
    with pytest.raises(ModelError, match=message):
        parse(build(root))


def test_calls_may_be_64_deep_and_shared():
    chain = [calling(index + 1, index + 1) for index in range(63)]
    assert parse(build(model(subgraphs=(*chain, SubGraph()), codes=(CALL,))))


def test_many_subgraphs():
    with pytest.raises(ModelError, match="at most 10000 subgraphs, got 10001"):
        parse(build(model(subgraphs=tuple(SubGraph() for _ in range(10_001)))))


def test_buffer_0_is_empty_whatever_a_file_has_in_it():
    root = model(Tensor(shape=[9]), data=[bytes(4)])
    root.buffers = (record("Buffer")(data=b"some"), root.buffers[1])
    assert parse(build(root)).buffers == (record("Buffer")(), root.buffers[1])
    assert load(build(root)).subgraphs[0].tensors[0].data is None


def test_a_list_of_operands_shared_by_many_operators():
    builder = flatbuffers.Builder()
    builder.StartVector(4, 1000, 4)
    for _ in range(1000):
        builder.PrependInt32(-1)
    operands = builder.EndVector()
    operators = []
    for _ in range(1000):
        builder.StartObject(14)
        builder.PrependUOffsetTRelativeSlot(1, operands, 0)
        operators.append(builder.EndObject())
    with pytest.raises(ModelError, match="more operands than the file has room for"):
        parse(with_subgraph(builder, 3, *operators))


def test_what_is_not_aligned_is_refused_as_litert_does():
    with pytest.raises(ModelError, match="a vector must lie at a multiple of 4"):
        parse(table([(0, b""), (4, b"\6\0\0\0")], 8) + bytes(8))
    with pytest.raises(ModelError, match="a table must lie at a multiple of 4"):
        parse(b"\x0e\0\0\0TFL3\x04\0\x04\0\0\0\x06\0\0\0" + bytes(8))
    with pytest.raises(ModelError, match="a field of 4 bytes must lie at a multiple of that"):
        parse(table([(6, b"\3\0\0\0")], 12))


def test_fields_of_8_bytes_lie_at_multiples_of_8():
    """As the verifier of flatbuffers demands, whatever place their vtable says."""
    builder = flatbuffers.Builder()
    builder.StartObject(10)
    builder.PrependUint64Slot(9, 1, 0)
    content = bytearray(with_subgraph(builder, 3, builder.EndObject()))
    assert parse(bytes(content)).subgraphs
    content += bytes(8)
    vtable = content.index(struct.pack("<HHH", 24, 12, 0))
    (place,) = struct.unpack_from("<H", content, vtable + 22)
    struct.pack_into("<H", content, vtable + 2, 20)
    struct.pack_into("<H", content, vtable + 22, place + 4)
    with pytest.raises(ModelError, match="where its fields lie at multiples of 8"):
        parse(bytes(content))
