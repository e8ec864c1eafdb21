"""Records, and that bytes written here read the same through the official flatbuffers code."""

import copy
import pickle
import re

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as published

from flatlite.schema import tables
from flatlite.schema.errors import ModelError
from flatlite.schema.flatbuffer import Record, build, parse, record


def test_a_record_has_the_schema_s_defaults():
    options = record("Conv2DOptions")(stride_w=2)
    assert (options.stride_w, options.dilation_w_factor, options.padding) == (2, 1, 0)
    assert repr(options) == "Conv2DOptions(stride_w=2)"
    assert repr(record("ReshapeOptions")(new_shape=np.ones(2, "i4"))) == (
        "ReshapeOptions(new_shape=[1, 1])"
    )
    assert repr(record("Buffer")(data=np.ones(2000, "u1"))) == "Buffer(data=<2000 numbers>)"


def test_records_compare_by_content():
    reshape = record("ReshapeOptions")
    assert reshape(new_shape=np.array([1, 2], "i4")) == reshape(new_shape=[1, 2])
    assert reshape(new_shape=np.array([1, 2], "i4")) != reshape(new_shape=[1, 3])
    assert reshape(new_shape=[1]) != reshape()
    assert record("AddOptions")() != record("SubOptions")()
    nan = record("SoftmaxOptions")(beta=float("nan"))
    assert nan == record("SoftmaxOptions")(beta=float("nan"))


def test_a_field_that_does_not_exist():
    with pytest.raises(TypeError, match=r"GatherOptions has axis, batch_dims; got {'axes': 1}"):
        record("GatherOptions")(axes=1)
    with pytest.raises(TypeError, match="PadOptions has no fields; got"):
        record("PadOptions")(mode=1)


def test_records_are_copied_and_pickled():
    options = record("ReshapeOptions")(new_shape=np.array([1, 2], "i4"))
    assert copy.deepcopy(options) == options
    assert pickle.loads(pickle.dumps(options)) == options


def test_what_is_read_is_a_view_that_cannot_be_written(files):
    content = bytearray(files["sample classifier"])
    model = parse(content)
    data = next(b.data for b in model.buffers if b.data is not None and len(b.data))
    assert np.shares_memory(data, np.frombuffer(content, "u1"))
    with pytest.raises(ValueError, match="read-only"):
        data[0] = 1


def test_any_buffer_is_read(files):
    content = files["sample classifier"]
    array = np.frombuffer(content, "u1")
    assert parse(content) == parse(memoryview(content)) == parse(bytearray(content)) == parse(array)
    with pytest.raises(TypeError):
        parse(content.decode("latin-1"))


def test_reading_and_writing_keeps_every_field(files):
    for name, content in files.items():
        model = parse(content)
        again = build(model)
        assert parse(again) == model, name
        assert build(parse(again)) == again, name


def test_constants_are_aligned(files):
    for name, content in files.items():
        written = build(parse(content))
        start = np.frombuffer(written, "u1").ctypes.data
        for buffer in parse(written).buffers or ():
            if buffer.data is not None and len(buffer.data):
                assert (buffer.data.ctypes.data - start) % 16 == 0, name


def test_the_official_reader_reads_the_same(files):
    for name, content in files.items():
        theirs = published.ModelT.InitFromPackedBuf(build(parse(content)))
        assert_same(parse(content), theirs, name)


def assert_same(ours, theirs, place):
    """Asserts that a record holds what flatc's object holds."""
    assert type(theirs).__name__ == type(ours).__name__ + "T", place
    for field in ours.__slots__:
        words = re.sub(r"_(\w)", lambda match: match.group(1).upper(), field)
        mine, other = getattr(ours, field), getattr(theirs, words)
        where = f"{place}.{field}"
        if isinstance(mine, tuple):
            assert len(mine) == len(other), where
            for index, (a, b) in enumerate(zip(mine, other, strict=True)):
                assert_same(a, b, f"{where}[{index}]")
        elif isinstance(mine, Record):
            assert_same(mine, other, where)
        elif isinstance(mine, np.ndarray):
            assert np.array_equal(mine, [] if other is None else other, equal_nan=True), where
        elif isinstance(mine, str):
            assert mine.encode() == other, where
        else:
            assert mine == other or (mine is None and other is None), where


def test_equal_strings_vectors_and_tables_are_written_once():
    tensor = record("Tensor")
    quantization = record("QuantizationParameters")(scale=[0.5], zero_point=[0])
    sizes = []
    for count in (1, 2, 100):
        built = tuple(
            tensor(name="one name", shape=[1, 2, 3], quantization=quantization)
            for _ in range(count)
        )
        sizes.append(len(build(minimal(tensors=built))))
    assert sizes[2] - sizes[1] < 98 * 32


def minimal(**subgraph):
    """A Model record with one subgraph."""
    return record("Model")(
        version=3,
        subgraphs=(record("SubGraph")(**subgraph),),
        buffers=(record("Buffer")(),),
        operator_codes=(record("OperatorCode")(),),
    )


@pytest.mark.parametrize(
    ("subgraph", "message"),
    [
        ({"inputs": [2**40]}, "SubGraph.inputs must hold int32 numbers, got int64"),
        ({"inputs": [0.5]}, "SubGraph.inputs must hold int32 numbers, got float64"),
        ({"name": 3}, "SubGraph.name must be a str, got 3"),
        (
            {"debug_metadata_index": 2**31},
            r"must be in \[-2147483648, 2147483647\], got 2147483648",
        ),
        ({"tensors": (1,)}, "a Tensor must be a record of that name, got 1"),
        (
            {"operators": (record("Operator")(builtin_options=record("Buffer")()),)},
            r"Operator.builtin_options must be a member of BuiltinOptions, got Buffer\(\)",
        ),
    ],
)
def test_a_field_that_does_not_fit(subgraph, message):
    with pytest.raises(ModelError, match=message):
        build(minimal(**subgraph))


def test_a_buffer_outside_the_flatbuffer_is_not_written():
    model = minimal()
    model.buffers = (record("Buffer")(offset=100, size=4),)
    with pytest.raises(ModelError, match="with its bytes in data"):
        build(model)


def test_constants_above_two_gigabytes_are_refused():
    model = minimal()
    view = np.lib.stride_tricks.as_strided(np.zeros(1, "u1"), (2**31,), (0,))
    model.buffers = (record("Buffer")(data=view),)
    with pytest.raises(
        ModelError, match="under 2 GB, but the constants alone are 2147483680 bytes"
    ):
        build(model)


def test_text_that_is_not_utf_8_survives():
    model = minimal(name="caf\udce9")
    content = build(model)
    assert b"caf\xe9\x00" in content
    assert parse(content).subgraphs[0].name == "caf\udce9"


def test_numbers_of_operators_above_127():
    content = build(minimal())
    assert parse(content).operator_codes[0].builtin_code == tables.BUILTIN_OPERATOR["ADD"]
    new = minimal()
    new.operator_codes = (record("OperatorCode")(deprecated_builtin_code=127, builtin_code=206),)
    assert parse(build(new)).operator_codes[0].builtin_code == 206
