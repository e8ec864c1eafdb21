"""Rules for strings and what is read from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from ..core.shapes import is_static
from .registry import rows

if TYPE_CHECKING:
    from ..core.graph import Tensor
    from ..core.shapes import Shape
    from .registry import Call


@rows("DecodeCSV", "DecodeRaw", "ReduceJoin")
def texts(call: Call) -> Sequence[Tensor]:
    """What is done to each string of the first input."""
    if call.op.type == "ReduceJoin":
        return call.again(call.rows(0), call.shifted(1))
    return call.again(call.rows(0), *(call.one(i) for i in range(1, len(call.inputs))))


@rows("DecodePaddedRaw")
def padded_bytes(call: Call) -> Sequence[Tensor]:
    """Strings as numbers, of equal length."""
    return call.again(call.rows(0), call.one(1))


@rows("Substr")
def substr(call: Call) -> Sequence[Tensor]:
    """Parts of strings."""
    rank = max(call.rank(i) for i in range(3))
    return call.again(*(call.aligned(i, rank) for i in range(3)))


@rows("ParseExampleV2")
def parse_example(call: Call) -> Sequence[Tensor]:
    """The features of Examples, where each has equally many elements in all of them."""
    ragged = cast("Sequence[object]", call.op.get_attr("ragged_value_types"))
    shapes = cast("Sequence[Shape]", call.op.get_attr("dense_shapes"))
    if call.rank(0) or call.number("num_sparse") or ragged or not all(map(is_static, shapes)):
        raise call.refusal("features differ in length from row to row")
    return call.again(call.rows(0), *(call.one(i) for i in range(1, len(call.inputs))))
