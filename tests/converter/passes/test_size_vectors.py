"""Vectors of sizes are computed once, in few operators; slices of everything are one operator."""

import pytest
from rewriting import Rewrite, check

from flatlite.converter.passes.size_vectors import join_sizes, share_sizes
from flatlite.converter.passes.unpack import (
    split_before_reshape,
    transpose_without_unit_axis,
    unpack_before_transpose,
    unpack_slices,
)

REWRITES = [
    Rewrite(
        "sizes/of_equal_expressions",
        share_sizes,
        """graph main(x: float32[n,h,8]) {
             a = SHAPE(x)
             y = RELU(x)
             b = SHAPE(y)
             c = CONCATENATION(b, int32[1]{1})
             d = RESHAPE(y, c)
             e = SHAPE(d)
             f = RESHAPE(d, a)
             g = RESHAPE(f, e)
             return g
           }""",
        """graph main(x: float32[n,h,8]) {
             a = SHAPE(x)
             y = RELU(x)
             c = CONCATENATION(a, int32[1]{1})
             d = RESHAPE(y, c)
             f = RESHAPE(d, a)
             g = RESHAPE(f, c)
             return g
           }""",
    ),
    Rewrite(
        "sizes/holds_off_on_other_types_and_sizes",
        share_sizes,
        """graph main(x: float32[n,h,8]) {
             a = SHAPE(x)
             b = SHAPE(x; out_type=INT64)
             y = TRANSPOSE(x, int32[3]{1, 0, 2})
             c = SHAPE(y)
             return a as "a", b as "b", c as "c"
           }""",
    ),
    Rewrite(
        "join/single_sizes_of_another_tensor",
        join_sizes,
        """graph main(x: float32[n,h,8]) {
             y = TRANSPOSE(x, int32[3]{2, 1, 0})
             s = SHAPE(y)
             a = GATHER(s, int32[]{2})
             b = GATHER(s, int32[]{1})
             c = EXPAND_DIMS(a, int32[]{0})
             d = EXPAND_DIMS(b, int32[]{0})
             f = CONCATENATION(c, d, int32[2]{2, 4})
             g = RESHAPE(x, f)
             return g
           }""",
        """graph main(x: float32[n,h,8]) {
             s = SHAPE(x)
             a = STRIDED_SLICE(s, int32[1]{0}, int32[1]{2}, int32[1]{1})
             f = CONCATENATION(a, int32[2]{2, 4})
             g = RESHAPE(x, f)
             return g
           }""",
    ),
    Rewrite(
        "join/a_number",
        join_sizes,
        """graph main(x: float32[n,h,8]) {
             s = SHAPE(x)
             a = GATHER(s, int32[1]{1})
             b = EXPAND_DIMS(a, int32[]{0})
             c = RESHAPE(b, int32[0]{})
             d = RANGE(int32[]{0}, c, int32[]{1})
             return d
           }""",
        """graph main(x: float32[n,h,8]) {
             s = SHAPE(x)
             a = STRIDED_SLICE(s, int32[1]{1}, int32[1]{2}, int32[1]{1}; shrink_axis_mask=1)
             d = RANGE(int32[]{0}, a, int32[]{1})
             return d
           }""",
    ),
    Rewrite(
        "join/holds_off_on_what_is_no_size",
        join_sizes,
        """graph main(x: float32[n,h,8]) {
             s = SHAPE(x)
             a = MUL(s, int32[3]{2, 1, 1})
             c = BROADCAST_TO(float32[1,1,1]{1}, a)
             return c
           }""",
    ),
    Rewrite(
        "unpack/all_slices",
        unpack_slices,
        """graph main(x: float32[n,3,8]) {
             y = NEG(x)
             a = GATHER(y, int32[]{2}; axis=1)
             b = GATHER(y, int32[]{0}; axis=1)
             c = GATHER(y, int32[]{1}; axis=-2)
             d = SUB(a, b)
             e = MUL(d, c)
             return e
           }""",
        """graph main(x: float32[n,3,8]) {
             y = NEG(x)
             b, c, a = UNPACK(y; num=3, axis=1)
             d = SUB(a, b)
             e = MUL(d, c)
             return e
           }""",
    ),
    Rewrite(
        "unpack/holds_off_on_some_slices",
        unpack_slices,
        """graph main(x: float32[n,3,8]) {
             y = NEG(x)
             a = GATHER(y, int32[]{2}; axis=1)
             b = GATHER(y, int32[]{0}; axis=1)
             d = SUB(a, b)
             return d
           }""",
    ),
    Rewrite(
        "unpack/before_transpose",
        unpack_before_transpose,
        """graph main(x: float32[n,h,2,8]) {
             y = TRANSPOSE(x, int32[4]{2, 0, 1, 3})
             a, b = UNPACK(y; num=2)
             c = SUB(a, b)
             return c
           }""",
        """graph main(x: float32[n,h,2,8]) {
             a, b = UNPACK(x; num=2, axis=2)
             c = SUB(a, b)
             return c
           }""",
    ),
    Rewrite(
        "unpack/holds_off_where_others_move",
        unpack_before_transpose,
        """graph main(x: float32[n,h,2,8]) {
             y = TRANSPOSE(x, int32[4]{2, 1, 0, 3})
             a, b = UNPACK(y; num=2)
             c = SUB(a, b)
             return c
           }""",
    ),
    Rewrite(
        "split/before_reshape",
        split_before_reshape,
        """graph main(x: float32[n,24]) {
             y = RESHAPE(x, int32[3]{-1, 3, 8})
             a, b, c = UNPACK(y; num=3, axis=1)
             d = SUB(a, b)
             e = MUL(d, c)
             return e
           }""",
        """graph main(x: float32[n,24]) {
             a, b, c = SPLIT(int32[]{1}, x; num_splits=3)
             d = SUB(a, b)
             e = MUL(d, c)
             return e
           }""",
    ),
    Rewrite(
        "unit_axis/put_in_and_taken_out",
        transpose_without_unit_axis,
        """graph main(x: float32[n,h,3,8]) {
             a = EXPAND_DIMS(x, int32[]{0})
             b = TRANSPOSE(a, int32[5]{3, 1, 2, 0, 4})
             c = SQUEEZE(b; squeeze_dims=[3])
             return c
           }""",
        """graph main(x: float32[n,h,3,8]) {
             c = TRANSPOSE(x, int32[4]{2, 0, 1, 3})
             return c
           }""",
    ),
    Rewrite(
        "unit_axis/holds_off_on_another",
        transpose_without_unit_axis,
        """graph main(x: float32[n,1,3,8]) {
             a = EXPAND_DIMS(x, int32[]{0})
             b = TRANSPOSE(a, int32[5]{3, 1, 2, 0, 4})
             c = SQUEEZE(b; squeeze_dims=[2])
             return c
           }""",
    ),
]


@pytest.mark.parametrize("row", REWRITES, ids=str)
def test_rewrite(row):
    check(row)
