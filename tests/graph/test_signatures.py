"""The table of TensorFlow's ops."""

from typing import get_args

import numpy as np
import pytest

from flatlite.graph.core import protocols
from flatlite.graph.core.build import ops
from flatlite.graph.core.signatures.op_limits import rank_limits
from flatlite.graph.core.signatures.signatures import (
    REQUIRED,
    op_types,
    signature_of,
)
from flatlite.graph.core.signatures.tables import rows_of
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


KINDS = {
    "StringAttr": "string",
    "IntAttr": "int",
    "FloatAttr": "float",
    "BoolAttr": "bool",
    "TypeAttr": "type",
    "ShapeAttr": "shape",
    "TensorAttr": "tensor",
    "FunctionRefAttr": "func",
    "IntsAttr": "list(int)",
}


@pytest.mark.parametrize("alias", KINDS)
def test_types_of_attributes_are_those_of_the_signatures(alias):
    attrs = [attr for kind in op_types() for attr in signature_of(kind).attrs.values()]
    for name in get_args(getattr(protocols, alias)):
        assert {attr.kind for attr in attrs if attr.name == name} == {KINDS[alias]}, name


def test_types_of_ops_are_those_of_the_signatures():
    declared = {}
    for kind in op_types():
        outputs = signature_of(kind).outputs
        if not outputs:
            declared[kind] = "OperationFunction"
        elif len(outputs) > 1 or any(argument.count or argument.is_list for argument in outputs):
            declared[kind] = "TensorsFunction"
    assert type(ops).__annotations__ == declared


@pytest.mark.parametrize("table", ["allowed_types", "attribute_limits", "operand_ranks"])
def test_limits_are_of_what_ops_have(table):
    rows = rows_of(table).split("\n")
    places = [place for row in rows for place in row.rpartition(": ")[2].split()]
    assert len(places) == len(set(places)) > 100
    for kind, name in (place.split(".") for place in places):
        signature = signature_of(kind)
        names = signature.attrs if table != "operand_ranks" else signature.inputs
        assert name in {getattr(item, "name", item) for item in names}


def test_ranks_behind_a_list_are_counted_from_the_end():
    assert rank_limits("ConcatV2") == ((-1, 0, 0, "rank 0"),)
    assert [limit[:2] for limit in rank_limits("Conv2D")] == [(0, 4), (1, 4)]
    assert rank_limits("NoSuchOp") == ()
