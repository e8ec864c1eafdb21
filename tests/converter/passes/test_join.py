import pytest
from rewriting import Rewrite, check

from flatlite.converter.passes.join import (
    cancel_split_and_join,
    drop_empty_parts,
    merge_concatenations,
    single_pack_to_reshape,
)

JOINS = [
    Rewrite(
        "join/concatenations",
        merge_concatenations,
        """graph main(x: float32[n,4], y: float32[n,4]) {
             a = CONCATENATION(x, y; axis=1)
             b = CONCATENATION(a, x; axis=-1)
             return b
           }""",
        """graph main(x: float32[n,4], y: float32[n,4]) {
             b = CONCATENATION(x, y, x; axis=-1)
             return b
           }""",
    ),
    Rewrite(
        "join/hold_off_on_other_axis",
        merge_concatenations,
        """graph main(x: float32[4,4]) {
             a = CONCATENATION(x, x; axis=1)
             b = CONCATENATION(a, a; axis=0)
             return b
           }""",
    ),
    Rewrite(
        "join/split_and_concatenation",
        cancel_split_and_join,
        """graph main(x: float32[n,4]) {
             a, b = SPLIT(int32[]{1}, x; num_splits=2)
             c = CONCATENATION(a, b; axis=1)
             d = NEG(c)
             return d
           }""",
        """graph main(x: float32[n,4]) {
             d = NEG(x)
             return d
           }""",
    ),
    Rewrite(
        "join/unpack_and_pack",
        cancel_split_and_join,
        """graph main(x: float32[3,4]) {
             a, b, c = UNPACK(x; num=3)
             d = PACK(a, b, c; values_count=3)
             e = NEG(d)
             return e
           }""",
        """graph main(x: float32[3,4]) {
             e = NEG(x)
             return e
           }""",
    ),
    Rewrite(
        "join/hold_off_on_other_order",
        cancel_split_and_join,
        """graph main(x: float32[n,4]) {
             a, b = SPLIT(int32[]{1}, x; num_splits=2)
             c = CONCATENATION(b, a; axis=1)
             return c
           }""",
    ),
    Rewrite(
        "join/hold_off_on_another_scale",
        cancel_split_and_join,
        """graph main(x: uint8[4,4]<0.5:3>) {
             a: uint8[4,2]<0.5:3>, b: uint8[4,2]<0.5:3> = SPLIT(int32[]{1}, x; num_splits=2)
             c: uint8[4,4]<0.25:3> = CONCATENATION(a, b; axis=1)
             return c
           }""",
    ),
    Rewrite(
        "join/empty_part",
        drop_empty_parts,
        """graph main(x: float32[n,4]) {
             a = CONCATENATION(float32[0,4]{}, x, x)
             return a
           }""",
        """graph main(x: float32[n,4]) {
             a = CONCATENATION(x, x)
             return a
           }""",
    ),
    Rewrite(
        "join/single_pack",
        single_pack_to_reshape,
        """graph main(x: float32[n,4]) {
             a = PACK(x; values_count=1, axis=1)
             return a
           }""",
        """graph main(x: float32[n,4]) {
             a = RESHAPE(x, int32[3]{-1, 1, 4})
             return a
           }""",
    ),
]


@pytest.mark.parametrize("row", JOINS, ids=str)
def test_rewrite(row):
    check(row)
