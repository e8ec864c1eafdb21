import pytest
from rewriting import Rewrite, check

from flatlite.converter.passes.linear import (
    add_missing_bias,
    drop_merging_reshapes,
    fuse_affine_after,
    fuse_affine_before,
    fuse_factors_before,
    fuse_scale_into_matmul,
    matmul_to_fully_connected,
    merge_fully_connected_reshapes,
    merge_matmul_reshape,
    move_bias_to_addend,
)

AFTER = [
    Rewrite(
        "after/batch_norm_and_relu_of_conv",
        fuse_affine_after,
        """graph main(x: float32[n,6,6,3]) {
             a = CONV_2D(x, float32[20,3,3,3]#w, float32[20]#b; stride_w=1, stride_h=1)
             c = MUL(a, float32[20]#scale)
             d = ADD(c, float32[20]#offset; fused_activation_function=RELU)
             return d
           }""",
        """graph main(x: float32[n,6,6,3]) {
             d = CONV_2D(x, float32[20,3,3,3]#w, float32[20]#b;
               stride_w=1, stride_h=1, fused_activation_function=RELU)
             return d
           }""",
    ),
    Rewrite(
        "after/batch_norm_of_depthwise",
        fuse_affine_after,
        """graph main(x: float32[n,6,6,10]) {
             a = DEPTHWISE_CONV_2D(x, float32[1,3,3,20]#w;
               stride_w=1, stride_h=1, depth_multiplier=2)
             c = DIV(a, float32[1,1,1,20]#scale)
             d = SUB(c, float32[20]#offset)
             return d
           }""",
        """graph main(x: float32[n,6,6,10]) {
             d = DEPTHWISE_CONV_2D(x, float32[1,3,3,20]#w, float32[20]#b;
               stride_w=1, stride_h=1, depth_multiplier=2)
             return d
           }""",
    ),
    Rewrite(
        "after/bias_of_fully_connected",
        fuse_affine_after,
        """graph main(x: float32[n,6]) {
             a = FULLY_CONNECTED(x, float32[20,6]#w, none)
             d = SUB(float32[20]#offset, a)
             return d
           }""",
        """graph main(x: float32[n,6]) {
             d = FULLY_CONNECTED(x, float32[20,6]#w, float32[20]#b)
             return d
           }""",
    ),
    Rewrite(
        "after/scale_of_transpose_conv",
        fuse_affine_after,
        """graph main(x: float32[2,4,4,3]) {
             a = TRANSPOSE_CONV(int32[4]{2, 8, 8, 20}, float32[20,3,3,3]#w, x;
               stride_w=2, stride_h=2)
             c = MUL(a, float32[20]#scale)
             d = ADD(c, float32[20]#offset)
             return d
           }""",
        """graph main(x: float32[2,4,4,3]) {
             d = TRANSPOSE_CONV(int32[4]{2, 8, 8, 20}, float32[20,3,3,3]#w, x, float32[20]#b;
               stride_w=2, stride_h=2)
             return d
           }""",
    ),
    Rewrite(
        "after/neg_of_conv",
        fuse_affine_after,
        """graph main(x: float32[n,6,6,3]) {
             a = CONV_2D(x, float32[20,3,3,3]#w, float32[20]#b; stride_w=1, stride_h=1)
             c = NEG(a)
             return c
           }""",
        """graph main(x: float32[n,6,6,3]) {
             c = CONV_2D(x, float32[20,3,3,3]#w, float32[20]#b; stride_w=1, stride_h=1)
             return c
           }""",
    ),
    Rewrite(
        "after/holds_off_on_another_reader",
        fuse_affine_after,
        """graph main(x: float32[n,6]) {
             a = FULLY_CONNECTED(x, float32[20,6]#w, none)
             c = ADD(a, float32[20]#offset)
             d = MUL(a, c)
             return d
           }""",
    ),
    Rewrite(
        "after/holds_off_on_an_output",
        fuse_affine_after,
        """graph main(x: float32[n,6]) {
             a = FULLY_CONNECTED(x, float32[20,6]#w, none)
             c = ADD(a, float32[20]#offset)
             return a, c
           }""",
    ),
    Rewrite(
        "after/holds_off_on_another_axis",
        fuse_affine_after,
        """graph main(x: float32[n,6,6,3]) {
             a = CONV_2D(x, float32[20,3,3,3]#w; stride_w=1, stride_h=1)
             c = MUL(a, float32[6,1]{1, 2, 3, 4, 5, 6})
             return c
           }""",
    ),
    Rewrite(
        "after/holds_off_on_an_activation",
        fuse_affine_after,
        """graph main(x: float32[n,6]) {
             a = FULLY_CONNECTED(x, float32[20,6]#w, none; fused_activation_function=RELU)
             c = ADD(a, float32[20]#offset)
             return c
           }""",
    ),
    Rewrite(
        "after/holds_off_when_the_shape_grows",
        fuse_affine_after,
        """graph main(x: float32[n,6]) {
             a = FULLY_CONNECTED(x, float32[20,6]#w, none)
             c = ADD(a, float32[1,1,20]#offset)
             return c
           }""",
    ),
    Rewrite(
        "after/holds_off_on_computed_weights",
        fuse_affine_after,
        """graph main(x: float32[n,6], w: float32[20,6]) {
             a = FULLY_CONNECTED(x, w, none)
             c = MUL(a, float32[20]#scale)
             return c
           }""",
    ),
    Rewrite(
        "after/holds_off_where_weights_would_overflow",
        fuse_affine_after,
        """graph main(x: float32[n,6]) {
             a = FULLY_CONNECTED(x, float32[20,6]#w, none)
             c = DIV(a, float32[]{1e-45})
             return c
           }""",
    ),
    Rewrite(
        "after/bias_of_computed_weights",
        fuse_affine_after,
        """graph main(x: float32[n,6], w: float32[20,6]) {
             a = FULLY_CONNECTED(x, w, none)
             c = ADD(a, float32[20]#offset)
             return c
           }""",
        """graph main(x: float32[n,6], w: float32[20,6]) {
             c = FULLY_CONNECTED(x, w, float32[20]#b)
             return c
           }""",
    ),
]

BEFORE = [
    Rewrite(
        "before/scale_of_padded_conv",
        fuse_affine_before,
        """graph main(x: float32[n,6,6,3]) {
             a = MUL(x, float32[3]{1, 2, 3})
             c = CONV_2D(a, float32[20,3,3,3]#w, float32[20]#b; stride_w=1, stride_h=1)
             return c
           }""",
        """graph main(x: float32[n,6,6,3]) {
             c = CONV_2D(x, float32[20,3,3,3]#w, float32[20]#b; stride_w=1, stride_h=1)
             return c
           }""",
    ),
    Rewrite(
        "before/one_factor_of_unknown_channels",
        fuse_affine_before,
        """graph main(x: float32[n,h]) {
             a = MUL(x, float32[]{2.0})
             c = FULLY_CONNECTED(a, float32[200,3]#w)
             return c
           }""",
        """graph main(x: float32[n,h]) {
             c = FULLY_CONNECTED(x, float32[200,3]#w)
             return c
           }""",
    ),
    Rewrite(
        "before/offset_of_valid_conv",
        fuse_affine_before,
        """graph main(x: float32[n,6,6,3]) {
             a = SUB(x, float32[3]{1, 2, 3})
             c = CONV_2D(a, float32[20,3,3,3]#w; padding=VALID, stride_w=1, stride_h=1)
             return c
           }""",
        """graph main(x: float32[n,6,6,3]) {
             c = CONV_2D(x, float32[20,3,3,3]#w, float32[20]#b;
               padding=VALID, stride_w=1, stride_h=1)
             return c
           }""",
    ),
    Rewrite(
        "before/depthwise_with_multiplier",
        fuse_affine_before,
        """graph main(x: float32[n,6,6,10]) {
             a = ADD(x, float32[10]{1, 2, 3, 4, 5, 6, 7, 8, 9, 0})
             c = DEPTHWISE_CONV_2D(a, float32[1,3,3,20]#w;
               padding=VALID, stride_w=1, stride_h=1, depth_multiplier=2)
             return c
           }""",
        """graph main(x: float32[n,6,6,10]) {
             c = DEPTHWISE_CONV_2D(x, float32[1,3,3,20]#w, float32[20]#b;
               padding=VALID, stride_w=1, stride_h=1, depth_multiplier=2)
             return c
           }""",
    ),
    Rewrite(
        "before/fully_connected",
        fuse_affine_before,
        """graph main(x: float32[n,6]) {
             a = ADD(x, float32[6]{1, 2, 3, 4, 5, 6})
             c = FULLY_CONNECTED(a, float32[20,6]#w, float32[20]#b)
             return c
           }""",
        """graph main(x: float32[n,6]) {
             c = FULLY_CONNECTED(x, float32[20,6]#w, float32[20]#b)
             return c
           }""",
    ),
    Rewrite(
        "before/holds_off_on_offset_where_zeros_are_padded",
        fuse_affine_before,
        """graph main(x: float32[n,6,6,3]) {
             a = ADD(x, float32[3]{1, 2, 3})
             c = CONV_2D(a, float32[20,3,3,3]#w; stride_w=1, stride_h=1)
             return c
           }""",
    ),
    Rewrite(
        "before/holds_off_on_activation",
        fuse_affine_before,
        """graph main(x: float32[n,6]) {
             a = ADD(x, float32[6]{1.0}; fused_activation_function=RELU)
             c = FULLY_CONNECTED(a, float32[20,6]#w, none)
             return c
           }""",
    ),
    Rewrite(
        "before/offset_with_another_reader",
        fuse_affine_before,
        """graph main(x: float32[n,6]) {
             a = ADD(x, float32[6]{1, 2, 3, 4, 5, 6})
             c = FULLY_CONNECTED(a, float32[20,6]#w, float32[20]#b)
             return c, a
           }""",
        """graph main(x: float32[n,6]) {
             a = ADD(x, float32[6]{1, 2, 3, 4, 5, 6})
             c = FULLY_CONNECTED(x, float32[20,6]#w, float32[20]#b)
             return c, a
           }""",
    ),
    Rewrite(
        "before/holds_off_on_another_reader",
        fuse_affine_before,
        """graph main(x: float32[n,6]) {
             a = MUL(x, float32[6]{2.0})
             c = FULLY_CONNECTED(a, float32[20,6]#w, none)
             return c, a
           }""",
    ),
    Rewrite(
        "before/factors_with_another_reader",
        fuse_factors_before,
        """graph main(x: float32[n,6]) {
             a = MUL(x, float32[6]{1, 2, 3, 4, 5, 6})
             c = FULLY_CONNECTED(a, float32[20,6]#w, none)
             return c, a
           }""",
        """graph main(x: float32[n,6]) {
             a = MUL(x, float32[6]{1, 2, 3, 4, 5, 6})
             c = FULLY_CONNECTED(x, float32[20,6]#w, none)
             return c, a
           }""",
    ),
    Rewrite(
        "before/factors_hold_off_on_computed_weights",
        fuse_factors_before,
        """graph main(x: float32[n,6], w: float32[20,6]) {
             a = MUL(x, float32[6]{1, 2, 3, 4, 5, 6})
             c = FULLY_CONNECTED(a, w, none)
             return c, a
           }""",
    ),
    Rewrite(
        "bias/zeros",
        add_missing_bias,
        """graph main(x: float32[n,6,6,3]) {
             c = CONV_2D(x, float32[20,3,3,3]#w; stride_w=1, stride_h=1)
             return c
           }""",
        """graph main(x: float32[n,6,6,3]) {
             c = CONV_2D(x, float32[20,3,3,3]#w, float32[20]{0.0}; stride_w=1, stride_h=1)
             return c
           }""",
    ),
]

PRODUCTS = [
    Rewrite(
        "matmul/constant_matrix",
        matmul_to_fully_connected,
        """graph main(x: float32[n,5,6]) {
             c = BATCH_MATMUL(x, float32[6,20]#w)
             return c
           }""",
        """graph main(x: float32[n,5,6]) {
             c = FULLY_CONNECTED(x, float32[20,6]#w, none; keep_num_dims=true)
             return c
           }""",
    ),
    Rewrite(
        "matmul/transposed_constant_matrix",
        matmul_to_fully_connected,
        """graph main(x: float32[n,6]) {
             c = BATCH_MATMUL(x, float32[20,6]#w; adj_y=true)
             return c
           }""",
        """graph main(x: float32[n,6]) {
             c = FULLY_CONNECTED(x, float32[20,6]#w, none)
             return c
           }""",
    ),
    Rewrite(
        "matmul/holds_off_on_a_stack",
        matmul_to_fully_connected,
        """graph main(x: float32[2,5,6]) {
             c = BATCH_MATMUL(x, float32[2,6,20]#w)
             return c
           }""",
    ),
    Rewrite(
        "fully_connected/reshapes",
        merge_fully_connected_reshapes,
        """graph main(x: float32[n,5,6]) {
             a = RESHAPE(x, int32[2]{-1, 6})
             c = FULLY_CONNECTED(a, float32[20,6]#w, none)
             d = RESHAPE(c, int32[3]{-1, 5, 20})
             return d
           }""",
        """graph main(x: float32[n,5,6]) {
             d = FULLY_CONNECTED(x, float32[20,6]#w, none; keep_num_dims=true)
             return d
           }""",
    ),
    Rewrite(
        "fully_connected/another_split",
        merge_fully_connected_reshapes,
        """graph main(x: float32[n,6,6]) {
             a = RESHAPE(x, int32[2]{-1, 6})
             c = FULLY_CONNECTED(a, float32[20,6]#w, none)
             d = RESHAPE(c, int32[4]{-1, 2, 3, 20})
             return d
           }""",
        """graph main(x: float32[n,6,6]) {
             a = RESHAPE(x, int32[4]{-1, 2, 3, 6})
             d = FULLY_CONNECTED(a, float32[20,6]#w, none; keep_num_dims=true)
             return d
           }""",
    ),
    Rewrite(
        "fully_connected/merges_dimensions_itself",
        drop_merging_reshapes,
        """graph main(x: float32[n,5,6]) {
             a = RESHAPE(x, int32[2]{-1, 6})
             c = FULLY_CONNECTED(a, float32[20,6]#w, none)
             return c
           }""",
        """graph main(x: float32[n,5,6]) {
             c = FULLY_CONNECTED(x, float32[20,6]#w, none)
             return c
           }""",
    ),
    Rewrite(
        "fully_connected/holds_off_where_the_rows_are_others",
        drop_merging_reshapes,
        """graph main(x: float32[n,5,6]) {
             a = RESHAPE(x, int32[2]{-1, 30})
             c = FULLY_CONNECTED(a, float32[20,30]#w, none)
             return c
           }""",
    ),
    Rewrite(
        "fully_connected/holds_off_on_a_split_of_two_unknown_dimensions",
        merge_fully_connected_reshapes,
        """graph main(x: float32[n,h,6], s: int32[3]) {
             a = RESHAPE(x, int32[2]{-1, 6})
             c = FULLY_CONNECTED(a, float32[20,6]#w, none)
             d = RESHAPE(c, s)
             return d
           }""",
    ),
]

ADDENDS = [
    Rewrite(
        "addend/bias_of_a_sum",
        move_bias_to_addend,
        """graph main(x: float32[n,6], y: float32[n,6]) {
             a = FULLY_CONNECTED(x, float32[20,6]#w, none)
             b = FULLY_CONNECTED(y, float32[20,6]#v, none)
             c = ADD(a, b)
             d = ADD(c, float32[20]#bias; fused_activation_function=RELU)
             return d
           }""",
        """graph main(x: float32[n,6], y: float32[n,6]) {
             a = FULLY_CONNECTED(x, float32[20,6]#w, none)
             b = FULLY_CONNECTED(y, float32[20,6]#v, none)
             t = ADD(a, float32[20]#bias)
             d = ADD(t, b; fused_activation_function=RELU)
             return d
           }""",
    ),
    Rewrite(
        "addend/holds_off_without_a_product",
        move_bias_to_addend,
        """graph main(x: float32[n,20], y: float32[n,20]) {
             c = ADD(x, y)
             d = ADD(c, float32[20]#bias)
             return d
           }""",
    ),
    Rewrite(
        "scale/of_attention_scores",
        fuse_scale_into_matmul,
        """graph main(x: float32[n,5,6], k: float32[n,2,10,5]) {
             a = FULLY_CONNECTED(x, float32[20,6]#w, float32[20]#b; keep_num_dims=true)
             b = RESHAPE(a, int32[4]{-1, 5, 2, 10})
             q = TRANSPOSE(b, int32[4]{0, 2, 1, 3})
             p = BATCH_MATMUL(q, k)
             s = MUL(p, float32[]{0.25})
             return s
           }""",
        """graph main(x: float32[n,5,6], k: float32[n,2,10,5]) {
             a = FULLY_CONNECTED(x, float32[20,6]#w, float32[20]#b; keep_num_dims=true)
             b = RESHAPE(a, int32[4]{-1, 5, 2, 10})
             q = TRANSPOSE(b, int32[4]{0, 2, 1, 3})
             p = BATCH_MATMUL(q, k)
             return p
           }""",
    ),
    Rewrite(
        "scale/holds_off_on_another_reader",
        fuse_scale_into_matmul,
        """graph main(x: float32[n,6], k: float32[20,5]) {
             q = FULLY_CONNECTED(x, float32[20,6]#w, none)
             p = BATCH_MATMUL(q, k)
             s = MUL(p, float32[]{0.25})
             return s, q
           }""",
    ),
    Rewrite(
        "matmul/reshapes_around",
        merge_matmul_reshape,
        """graph main(x: float32[3,4,5], y: float32[5,12]) {
             a = RESHAPE(x, int32[2]{12, 5})
             b = BATCH_MATMUL(a, y)
             c = RESHAPE(b, int32[4]{3, 4, 6, 2})
             return c
           }""",
        """graph main(x: float32[3,4,5], y: float32[5,12]) {
             b = BATCH_MATMUL(x, y)
             c = RESHAPE(b, int32[4]{3, 4, 6, 2})
             return c
           }""",
    ),
]


@pytest.mark.parametrize("row", [*AFTER, *BEFORE, *PRODUCTS, *ADDENDS], ids=str)
def test_rewrite(row):
    check(row)
