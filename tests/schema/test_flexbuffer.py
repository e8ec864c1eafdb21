"""FlexBuffers as Google's library writes them, and others: a value or a ModelError."""

import numpy as np
import pytest
from flatbuffers import flexbuffers

from flatlite.schema.errors import ModelError
from flatlite.schema.flexbuffer import read_flexbuffer, read_flexbuffer_map

VALUES = [
    None,
    True,
    False,
    0,
    -1,
    200,
    -40_000,
    1 << 40,
    -(1 << 62),
    0.5,
    -1.5e30,
    "",
    "text with ü",
    b"\xff\x00",
    [],
    [1, -2, 300],
    [0.5, 1e9],
    ["a", 1, None, [2.5, [True]]],
    {},
    {"ksize": [1, 2, 2, 1], "padding": "SAME", "T": 0, "flag": False, "scale": 1e-6},
    {"nested": {"b": [1, {"c": "d"}], "a": 1.5}, "long" * 40: list(range(300))},
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_as_it_was_written(value):
    content = bytes(flexbuffers.Dumps(value))
    assert read_flexbuffer(content) == value
    assert type(read_flexbuffer(content)) is type(value)


def test_vectors_of_one_type_and_indirect_numbers():
    fbb = flexbuffers.Builder()
    with fbb.Map():
        fbb.Key("ints")
        fbb.TypedVectorFromElements([1, -2, 3])
        fbb.Key("pair")
        fbb.FixedTypedVectorFromElements([1.5, 2.5])
        fbb.Key("triple")
        fbb.FixedTypedVectorFromElements([7, 8, 9])
        fbb.Key("bools")
        fbb.TypedVectorFromElements([True, False])
        fbb.Key("far")
        fbb.IndirectInt(-5)
        fbb.Key("near")
        fbb.IndirectFloat(0.25)
    content = bytes(fbb.Finish())
    assert read_flexbuffer(content) == {
        "ints": [1, -2, 3],
        "pair": [1.5, 2.5],
        "triple": [7, 8, 9],
        "bools": [True, False],
        "far": -5,
        "near": 0.25,
    }


def test_options_are_a_map():
    assert read_flexbuffer_map(b"") == {}
    assert read_flexbuffer_map(bytes(flexbuffers.Dumps({"a": 1}))) == {"a": 1}
    with pytest.raises(ModelError, match="options must be a FlexBuffer map, got list"):
        read_flexbuffer_map(bytes(flexbuffers.Dumps([1])))


def test_what_is_nested_or_shared_too_often_is_refused():
    deep = 1
    for _ in range(20):
        deep = [deep]
    with pytest.raises(ModelError, match="nested or shared so often"):
        read_flexbuffer(bytes(flexbuffers.Dumps(deep)))
    # each vector holds the one before it twice: 2**60 elements in some 200 bytes
    content, at = bytearray([1, 7, 4]), 1
    for _ in range(14):
        start = len(content)
        content += bytes([2, start + 1 - at, start + 2 - at, 10 << 2, 10 << 2])
        at = start + 1
    content += bytes([len(content) - at, 10 << 2, 1])
    with pytest.raises(ModelError, match="nested or shared so often"):
        read_flexbuffer(bytes(content))


def test_any_bytes_are_a_value_or_refused():
    random = np.random.default_rng(0)
    sources = [bytes(flexbuffers.Dumps(value)) for value in VALUES]
    outcomes = {"value": 0, "refused": 0}
    for _ in range(4000):
        content = bytearray(sources[random.integers(len(sources))])
        for _ in range(random.integers(1, 4)):
            content[random.integers(len(content))] = random.integers(256)
        try:
            read_flexbuffer(bytes(content[: random.integers(1, len(content) + 1)]))
            outcomes["value"] += 1
        except ModelError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 100
