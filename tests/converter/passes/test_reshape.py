import pytest
from rewriting import Rewrite, check

from flatlite.converter.passes.reshape import (
    fuse_broadcast,
    fuse_keep_dims,
    join_reshapes,
    merge_reshapes,
    settle_shapes,
    sink_reshapes,
    sink_reshapes_through_pads,
)

RESHAPES = [
    Rewrite(
        "join/two",
        join_reshapes,
        """graph main(x: float32[n,1,5,4], y: float32[n,1,5,4]) {
             a = SQUEEZE(x; squeeze_dims=[1])
             b = RESHAPE(y, int32[3]{-1, 5, 4})
             z = ADD(a, b; fused_activation_function=RELU)
             return z
           }""",
        """graph main(x: float32[n,1,5,4], y: float32[n,1,5,4]) {
             c = ADD(x, y; fused_activation_function=RELU)
             z = RESHAPE(c, int32[3]{-1, 5, 4})
             return z
           }""",
    ),
    Rewrite(
        "join/holds_off_on_other_shapes",
        join_reshapes,
        """graph main(x: float32[n,1,20], y: float32[n,5,4]) {
             a = RESHAPE(x, int32[2]{-1, 20})
             b = RESHAPE(y, int32[2]{-1, 20})
             z = ADD(a, b)
             return z
           }""",
    ),
    Rewrite(
        "join/holds_off_on_broadcasts",
        join_reshapes,
        """graph main(x: float32[4,5], y: float32[4,5]) {
             a = RESHAPE(x, int32[2]{20, 1})
             b = RESHAPE(y, int32[2]{1, 20})
             z = MUL(a, b)
             return z
           }""",
    ),
    Rewrite(
        "join/holds_off_on_another_reader",
        join_reshapes,
        """graph main(x: float32[4,5], y: float32[4,5]) {
             a = RESHAPE(x, int32[1]{20})
             b = RESHAPE(y, int32[1]{20})
             z = SUB(a, b)
             return z, b
           }""",
    ),
    Rewrite(
        "settle/one_unknown",
        settle_shapes,
        """graph main(x: float32[n,4,5]) {
             s = SHAPE(x)
             n = STRIDED_SLICE(s, int32[1]{0}, int32[1]{1}, int32[1]{1}; shrink_axis_mask=1)
             p = PACK(n, int32[]{20}; values_count=2)
             y = RESHAPE(x, p)
             return y
           }""",
        """graph main(x: float32[n,4,5]) {
             y = RESHAPE(x, int32[2]{-1, 20})
             return y
           }""",
    ),
    Rewrite(
        "settle/holds_off_on_two_unknown",
        settle_shapes,
        """graph main(x: float32[n,h,4]) {
             s = SHAPE(x)
             n = STRIDED_SLICE(s, int32[1]{0}, int32[1]{2}, int32[1]{1})
             p = CONCATENATION(n, int32[2]{2, 2})
             y = RESHAPE(x, p)
             return y
           }""",
    ),
    Rewrite(
        "merge/chain",
        merge_reshapes,
        """graph main(x: float32[n,4,5]) {
             a = RESHAPE(x, int32[2]{-1, 20})
             b = EXPAND_DIMS(a, int32[]{1})
             c = SQUEEZE(b; squeeze_dims=[1])
             d = EXPAND_DIMS(c, int32[]{2})
             return d
           }""",
        """graph main(x: float32[n,4,5]) {
             d = RESHAPE(x, int32[3]{-1, 20, 1})
             return d
           }""",
    ),
    Rewrite(
        "merge/there_and_back",
        merge_reshapes,
        """graph main(x: float32[n,h,5]) {
             a = EXPAND_DIMS(x, int32[]{1})
             b = SQUEEZE(a; squeeze_dims=[1])
             c = NEG(b)
             return c
           }""",
        """graph main(x: float32[n,h,5]) {
             c = NEG(x)
             return c
           }""",
    ),
    Rewrite(
        "merge/another_reader_keeps_the_first",
        merge_reshapes,
        """graph main(x: float32[n,4,5]) {
             a = RESHAPE(x, int32[2]{-1, 20})
             b = RESHAPE(a, int32[3]{-1, 5, 4})
             return a, b
           }""",
        """graph main(x: float32[n,4,5]) {
             a = RESHAPE(x, int32[2]{-1, 20})
             b = RESHAPE(x, int32[3]{-1, 5, 4})
             return a, b
           }""",
    ),
    Rewrite(
        "keep_dims/expand",
        fuse_keep_dims,
        """graph main(x: float32[n,4,5]) {
             a = REDUCE_MAX(x, int32[2]{1, 2})
             b = RESHAPE(a, int32[3]{-1, 1, 1})
             return b
           }""",
        """graph main(x: float32[n,4,5]) {
             b = REDUCE_MAX(x, int32[2]{1, 2}; keep_dims=true)
             return b
           }""",
    ),
    Rewrite(
        "keep_dims/squeeze",
        fuse_keep_dims,
        """graph main(x: float32[n,4,5]) {
             a = MEAN(x, int32[1]{-1}; keep_dims=true)
             b = SQUEEZE(a; squeeze_dims=[2])
             return b
           }""",
        """graph main(x: float32[n,4,5]) {
             b = MEAN(x, int32[1]{-1})
             return b
           }""",
    ),
    Rewrite(
        "keep_dims/hold_off_on_another_shape",
        fuse_keep_dims,
        """graph main(x: float32[n,4,5]) {
             a = MEAN(x, int32[1]{-1})
             b = RESHAPE(a, int32[3]{-1, 1, 4})
             return b
           }""",
    ),
    Rewrite(
        "sink/bias_of_conv1d",
        sink_reshapes,
        """graph main(x: float32[n,1,6,3]) {
             a = CONV_2D(x, float32[20,1,3,3]#w; stride_w=1, stride_h=1)
             b = SQUEEZE(a; squeeze_dims=[1])
             c = ADD(b, float32[20]#bias)
             return c
           }""",
        """graph main(x: float32[n,1,6,3]) {
             a = CONV_2D(x, float32[20,1,3,3]#w; stride_w=1, stride_h=1)
             b = ADD(a, float32[20]#bias)
             c = RESHAPE(b, int32[3]{-1, 6, 20})
             return c
           }""",
    ),
    Rewrite(
        "sink/between_reshapes",
        sink_reshapes,
        """graph main(x: float32[n,4,5]) {
             a = RESHAPE(x, int32[2]{-1, 20})
             b = NEG(a)
             c = RESHAPE(b, int32[3]{-1, 5, 4})
             return c
           }""",
        """graph main(x: float32[n,4,5]) {
             a = NEG(x)
             b = RESHAPE(a, int32[2]{-1, 20})
             c = RESHAPE(b, int32[3]{-1, 5, 4})
             return c
           }""",
    ),
    Rewrite(
        "sink/bias_of_attention_heads",
        sink_reshapes,
        """graph main(x: float32[n,6]) {
             a = FULLY_CONNECTED(x, float32[20,6]#w, none)
             b = RESHAPE(a, int32[3]{-1, 2, 10})
             c = ADD(b, float32[2,10]#bias)
             return c
           }""",
        """graph main(x: float32[n,6]) {
             a = FULLY_CONNECTED(x, float32[20,6]#w, none)
             b = ADD(a, float32[20]#bias)
             c = RESHAPE(b, int32[3]{-1, 2, 10})
             return c
           }""",
    ),
    Rewrite(
        "sink/through_pad",
        sink_reshapes_through_pads,
        """graph main(x: float32[n,1,5]) {
             a = RESHAPE(x, int32[3]{-1, 5, 1})
             b = PAD(a, int32[3,2]{0, 0, 1, 2, 0, 0})
             c = RESHAPE(b, int32[4]{-1, 1, 1, 8})
             return c
           }""",
        """graph main(x: float32[n,1,5]) {
             b = PAD(x, int32[3,2]{0, 0, 0, 0, 1, 2})
             a = RESHAPE(b, int32[3]{-1, 8, 1})
             c = RESHAPE(a, int32[4]{-1, 1, 1, 8})
             return c
           }""",
    ),
    Rewrite(
        "sink/through_pad_holds_off_when_size_one_is_padded",
        sink_reshapes_through_pads,
        """graph main(x: float32[n,1,5]) {
             a = RESHAPE(x, int32[3]{-1, 5, 1})
             b = PAD(a, int32[3,2]{0, 0, 1, 2, 0, 1})
             c = RESHAPE(b, int32[4]{-1, 1, 2, 8})
             return c
           }""",
    ),
    Rewrite(
        "sink/holds_off_without_gain",
        sink_reshapes,
        """graph main(x: float32[n,4,5]) {
             a = RESHAPE(x, int32[2]{-1, 20})
             b = NEG(a)
             return b
           }""",
    ),
    Rewrite(
        "sink/holds_off_when_the_last_axis_is_split",
        sink_reshapes,
        """graph main(x: float32[n,6]) {
             a = FULLY_CONNECTED(x, float32[20,6]#w, none)
             b = RESHAPE(a, int32[3]{-1, 2, 10})
             c = ADD(b, float32[10]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
             return c
           }""",
    ),
    Rewrite(
        "broadcast/fill",
        fuse_broadcast,
        """graph main(x: float32[n,h]) {
             s = SHAPE(x)
             y = FILL(s, float32[]{1.0})
             c = GREATER(x, y)
             z = SELECT_V2(c, x, y)
             return z
           }""",
        """graph main(x: float32[n,h]) {
             c = GREATER(x, float32[]{1.0})
             z = SELECT_V2(c, x, float32[]{1.0})
             return z
           }""",
    ),
    Rewrite(
        "broadcast/fill_that_gives_the_shape",
        fuse_broadcast,
        """graph main(x: float32[n,h], y: float32[h]) {
             s = SHAPE(x)
             f = FILL(s, float32[]{1.0})
             z = ADD(y, f)
             return z
           }""",
    ),
    Rewrite(
        "broadcast/dropped",
        fuse_broadcast,
        """graph main(x: float32[1,4], y: float32[n,4]) {
             s = SHAPE(y)
             a = BROADCAST_TO(x, s)
             b = ADD(a, y)
             return b
           }""",
        """graph main(x: float32[1,4], y: float32[n,4]) {
             b = ADD(x, y)
             return b
           }""",
    ),
    Rewrite(
        "broadcast/of_a_reshape_dropped",
        fuse_broadcast,
        """graph main(x: float32[4], y: float32[n,4]) {
             a = RESHAPE(x, int32[2]{1, 4})
             b = MUL(y, a)
             return b
           }""",
        """graph main(x: float32[4], y: float32[n,4]) {
             b = MUL(y, x)
             return b
           }""",
    ),
    Rewrite(
        "broadcast/holds_off_on_a_reshape_behind",
        fuse_broadcast,
        """graph main(x: float32[4], y: float32[4,4]) {
             a = RESHAPE(x, int32[2]{4, 1})
             b = MUL(y, a)
             return b
           }""",
    ),
    Rewrite(
        "broadcast/holds_off_when_a_reshape_gives_the_shape",
        fuse_broadcast,
        """graph main(x: float32[4], y: float32[4]) {
             a = RESHAPE(x, int32[2]{1, 4})
             b = MUL(y, a)
             return b
           }""",
    ),
    Rewrite(
        "broadcast/holds_off_when_it_gives_the_shape",
        fuse_broadcast,
        """graph main(x: float32[1,4], y: float32[4]) {
             a = BROADCAST_TO(x, int32[2]{5, 4})
             b = ADD(a, y)
             return b
           }""",
    ),
]


@pytest.mark.parametrize("row", RESHAPES, ids=str)
def test_rewrite(row):
    check(row)
