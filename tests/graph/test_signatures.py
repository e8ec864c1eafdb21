"""The table of TensorFlow's ops."""

import numpy as np
import pytest

from flatlite.graph.core.signatures import REQUIRED, op_types, signature_of
from flatlite.schema.dtypes import RESOURCE


def test_a_row_is_parsed_whole():
    conv = signature_of("Conv2D")
    assert [(a.name, a.dtype) for a in conv.inputs] == [("input", "T"), ("filter", "T")]
    assert [a.name for a in conv.outputs] == ["output"]
    assert conv.attrs["padding"].default is REQUIRED
    assert conv.attrs["data_format"].default == b"NHWC"
    assert conv.attrs["dilations"].default == [1, 1, 1, 1]
    assert (conv.attrs["strides"].kind, conv.is_stateful) == ("list(int)", False)


def test_lists_references_and_fixed_types():
    assert signature_of("ConcatV2").inputs[0].count == "N"
    data = signature_of("Assert").inputs[1]
    assert (data.is_list, data.dtype, data.count) == (True, "T", None)
    assert signature_of("ApplyAdam").inputs[0].is_reference
    read = signature_of("ReadVariableOp")
    assert (read.inputs[0].dtype, read.is_stateful) == (RESOURCE, True)
    assert signature_of("Substr").inputs[0].dtype == np.dtype(object)
    assert signature_of("Placeholder").attrs["shape"].default is None


def test_lists_of_types_may_hold_float64():
    types = [np.dtype("float32"), np.dtype("float64")]  # None == np.dtype("float64")
    (results,) = signature_of("PartitionedCall").outputs
    assert results.dtypes({"Tout": types}.__getitem__) == types
    with pytest.raises(ValueError, match="attribute Tout must hold types, got"):
        results.dtypes({"Tout": [types[0], None]}.__getitem__)


def test_every_row_can_be_parsed():
    types = op_types()
    assert len(types) == len(set(types)) > 500
    for kind in types:
        assert signature_of(kind).type == kind


def test_what_is_not_there_is_none():
    for kind in ("NoSuchOp", "", "Conv2D input:T", "Conv", "Abs\nAcos", "->"):
        assert signature_of(kind) is None
