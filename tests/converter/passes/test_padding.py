import pytest
from rewriting import Rewrite, check

from flatlite.converter.passes.padding import fuse_dilation, fuse_padding

PADDING = [
    Rewrite(
        "padding/same",
        fuse_padding,
        """graph main(x: float32[n,8,8,3]) {
             a = PAD(x, int32[4,2]{0, 0, 0, 1, 0, 1, 0, 0})
             c = CONV_2D(a, float32[20,3,3,3]#w; padding=VALID, stride_w=2, stride_h=2)
             return c
           }""",
        """graph main(x: float32[n,8,8,3]) {
             c = CONV_2D(x, float32[20,3,3,3]#w; padding=SAME, stride_w=2, stride_h=2)
             return c
           }""",
    ),
    Rewrite(
        "padding/holds_off_on_other_amounts",
        fuse_padding,
        """graph main(x: float32[n,8,8,3]) {
             a = PAD(x, int32[4,2]{0, 0, 1, 0, 1, 0, 0, 0})
             c = CONV_2D(a, float32[20,3,3,3]#w; padding=VALID, stride_w=2, stride_h=2)
             return c
           }""",
    ),
    Rewrite(
        "padding/unknown_height",
        fuse_padding,
        """graph main(x: float32[n,h,8,3]) {
             a = PAD(x, int32[4,2]{0, 0, 1, 1, 1, 1, 0, 0})
             c = DEPTHWISE_CONV_2D(a, float32[1,3,3,3]#w;
               padding=VALID, stride_w=1, stride_h=1, depth_multiplier=1)
             return c
           }""",
        """graph main(x: float32[n,h,8,3]) {
             c = DEPTHWISE_CONV_2D(x, float32[1,3,3,3]#w;
               padding=SAME, stride_w=1, stride_h=1, depth_multiplier=1)
             return c
           }""",
    ),
    Rewrite(
        "padding/holds_off_on_strides_over_unknown_height",
        fuse_padding,
        """graph main(x: float32[n,h,8,3]) {
             a = PAD(x, int32[4,2]{0, 0, 1, 1, 1, 1, 0, 0})
             c = DEPTHWISE_CONV_2D(a, float32[1,3,3,3]#w;
               padding=VALID, stride_w=1, stride_h=2, depth_multiplier=1)
             return c
           }""",
    ),
    Rewrite(
        "padding/3d",
        fuse_padding,
        """graph main(x: float32[2,4,6,8,3]) {
             a = PAD(x, int32[5,2]{0, 0, 1, 1, 0, 1, 1, 1, 0, 0})
             c = CONV_3D(a, float32[3,2,3,3,4]#w; padding=VALID, stride_d=1, stride_w=1, stride_h=1)
             return c
           }""",
        """graph main(x: float32[2,4,6,8,3]) {
             c = CONV_3D(x, float32[3,2,3,3,4]#w; padding=SAME, stride_d=1, stride_w=1, stride_h=1)
             return c
           }""",
    ),
    Rewrite(
        "dilation/same",
        fuse_dilation,
        """graph main(x: float32[2,8,8,3]) {
             a = SPACE_TO_BATCH_ND(x, int32[2]{2, 2}, int32[2,2]{2, 2, 2, 2})
             c = CONV_2D(a, float32[20,3,3,3]#w; padding=VALID, stride_w=1, stride_h=1)
             d = BATCH_TO_SPACE_ND(c, int32[2]{2, 2}, int32[2,2]{0, 0, 0, 0})
             return d
           }""",
        """graph main(x: float32[2,8,8,3]) {
             d = CONV_2D(x, float32[20,3,3,3]#w;
               padding=SAME, stride_w=1, stride_h=1, dilation_w_factor=2, dilation_h_factor=2)
             return d
           }""",
    ),
    Rewrite(
        "dilation/valid_with_crops",
        fuse_dilation,
        """graph main(x: float32[2,9,9,3]) {
             a = SPACE_TO_BATCH_ND(x, int32[2]{2, 2}, int32[2,2]{0, 1, 0, 1})
             c = CONV_2D(a, float32[20,3,3,3]#w; padding=VALID, stride_w=1, stride_h=1)
             d = BATCH_TO_SPACE_ND(c, int32[2]{2, 2}, int32[2,2]{0, 1, 0, 1})
             return d
           }""",
        """graph main(x: float32[2,9,9,3]) {
             d = CONV_2D(x, float32[20,3,3,3]#w;
               padding=VALID, stride_w=1, stride_h=1, dilation_w_factor=2, dilation_h_factor=2)
             return d
           }""",
    ),
    Rewrite(
        "dilation/3d",
        fuse_dilation,
        """graph main(x: float32[2,8,9,8,3]) {
             a = SPACE_TO_BATCH_ND(x, int32[3]{2, 3, 2}, int32[3,2]{2, 2, 0, 0, 1, 1})
             c = CONV_3D(a, float32[3,2,3,3,4]#w; padding=VALID, stride_d=1, stride_w=1, stride_h=1)
             d = BATCH_TO_SPACE_ND(c, int32[3]{2, 3, 2}, int32[3,2]{0, 0, 0, 0, 0, 0})
             return d
           }""",
        """graph main(x: float32[2,8,9,8,3]) {
             a = PAD(x, int32[5,2]{0, 0, 2, 2, 0, 0, 1, 1, 0, 0})
             d = CONV_3D(a, float32[3,2,3,3,4]#w; padding=VALID, stride_d=1, stride_w=1, stride_h=1,
               dilation_d_factor=2, dilation_w_factor=2, dilation_h_factor=3)
             return d
           }""",
    ),
    Rewrite(
        "dilation/unknown_height",
        fuse_dilation,
        """graph main(x: float32[2,h,8,3]) {
             s = SHAPE(x; out_type=INT32)
             n = SLICE(s, int32[1]{1}, int32[1]{1})
             m = NEG(n)
             r = FLOOR_MOD(m, int32[1]{2})
             t = ADD(r, int32[1]{2})
             q = CONCATENATION(int32[1]{2}, t, int32[2]{2, 2}; axis=0)
             p = RESHAPE(q, int32[2]{2, 2})
             u = CONCATENATION(int32[1]{0}, r, int32[2]{0, 0}; axis=0)
             v = RESHAPE(u, int32[2]{2, 2})
             a = SPACE_TO_BATCH_ND(x, int32[2]{2, 2}, p)
             c = CONV_2D(a, float32[20,3,3,3]#w; padding=VALID, stride_w=1, stride_h=1)
             d = BATCH_TO_SPACE_ND(c, int32[2]{2, 2}, v)
             return d
           }""",
        """graph main(x: float32[2,h,8,3]) {
             d = CONV_2D(x, float32[20,3,3,3]#w;
               padding=SAME, stride_w=1, stride_h=1, dilation_w_factor=2, dilation_h_factor=2)
             return d
           }""",
    ),
    Rewrite(
        "dilation/holds_off_on_strides",
        fuse_dilation,
        """graph main(x: float32[2,8,8,3]) {
             a = SPACE_TO_BATCH_ND(x, int32[2]{2, 2}, int32[2,2]{2, 2, 2, 2})
             c = CONV_2D(a, float32[20,3,3,3]#w; padding=VALID, stride_w=2, stride_h=2)
             d = BATCH_TO_SPACE_ND(c, int32[2]{2, 2}, int32[2,2]{0, 0, 0, 0})
             return d
           }""",
    ),
]


@pytest.mark.parametrize("row", PADDING, ids=str)
def test_rewrite(row):
    check(row)
