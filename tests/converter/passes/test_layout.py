import pytest
from rewriting import Rewrite, check

from flatlite.converter.passes.layout import (
    cancel_transposes,
    sink_transposes,
    split_before_transpose,
)
from flatlite.converter.passes.transpose import (
    fuse_transpose_after_matmul,
    fuse_transpose_into_matmul,
    merge_transposes,
    transpose_to_reshape,
)

TRANSPOSES = [
    Rewrite(
        "merge/two",
        merge_transposes,
        """graph main(x: float32[n,4,5,6]) {
             a = TRANSPOSE(x, int32[4]{0, 3, 1, 2})
             b = TRANSPOSE(a, int32[4]{0, 1, 3, 2})
             return b
           }""",
        """graph main(x: float32[n,4,5,6]) {
             b = TRANSPOSE(x, int32[4]{0, 3, 2, 1})
             return b
           }""",
    ),
    Rewrite(
        "merge/undone",
        merge_transposes,
        """graph main(x: float32[n,4,5,6]) {
             a = TRANSPOSE(x, int32[4]{0, 3, 1, 2})
             b = TRANSPOSE(a, int32[4]{0, 2, 3, 1})
             c = NEG(b)
             return c
           }""",
        """graph main(x: float32[n,4,5,6]) {
             c = NEG(x)
             return c
           }""",
    ),
    Rewrite(
        "to_reshape/size_one",
        transpose_to_reshape,
        """graph main(x: float32[n,1,5]) {
             a = TRANSPOSE(x, int32[3]{0, 2, 1})
             return a
           }""",
        """graph main(x: float32[n,1,5]) {
             a = RESHAPE(x, int32[3]{-1, 5, 1})
             return a
           }""",
    ),
    Rewrite(
        "to_reshape/holds_off_on_unknown_that_could_be_larger",
        transpose_to_reshape,
        """graph main(x: float32[n,4]) {
             a = TRANSPOSE(x, int32[2]{1, 0})
             return a
           }""",
    ),
    Rewrite(
        "matmul/adj",
        fuse_transpose_into_matmul,
        """graph main(x: float32[n,4,5], y: float32[n,4,6]) {
             a = TRANSPOSE(x, int32[3]{0, 2, 1})
             b = BATCH_MATMUL(a, y)
             c = TRANSPOSE(y, int32[3]{0, 2, 1})
             d = BATCH_MATMUL(a, c; adj_y=true)
             return b, d
           }""",
        """graph main(x: float32[n,4,5], y: float32[n,4,6]) {
             b = BATCH_MATMUL(x, y; adj_x=true)
             d = BATCH_MATMUL(x, y; adj_x=true)
             return b, d
           }""",
    ),
    Rewrite(
        "matmul/holds_off_on_other_axes",
        fuse_transpose_into_matmul,
        """graph main(x: float32[4,4,5], y: float32[4,5,6]) {
             a = TRANSPOSE(x, int32[3]{1, 0, 2})
             b = BATCH_MATMUL(a, y)
             return b
           }""",
    ),
    Rewrite(
        "matmul/result_transposed",
        fuse_transpose_after_matmul,
        """graph main(x: float32[n,4,5], y: float32[n,5,6]) {
             a = BATCH_MATMUL(x, y)
             b = TRANSPOSE(a, int32[3]{0, 2, 1})
             return b
           }""",
        """graph main(x: float32[n,4,5], y: float32[n,5,6]) {
             b = BATCH_MATMUL(y, x; adj_x=true, adj_y=true)
             return b
           }""",
    ),
    Rewrite(
        "matmul/result_transposed_one_already",
        fuse_transpose_after_matmul,
        """graph main(x: float32[n,4,5], y: float32[n,6,5]) {
             a = BATCH_MATMUL(x, y; adj_y=true)
             b = TRANSPOSE(a, int32[3]{0, 2, 1})
             return b
           }""",
        """graph main(x: float32[n,4,5], y: float32[n,6,5]) {
             b = BATCH_MATMUL(y, x; adj_y=true)
             return b
           }""",
    ),
    Rewrite(
        "matmul/result_read_twice",
        fuse_transpose_after_matmul,
        """graph main(x: float32[n,4,5], y: float32[n,5,6]) {
             a = BATCH_MATMUL(x, y)
             b = TRANSPOSE(a, int32[3]{0, 2, 1})
             return a, b
           }""",
    ),
    Rewrite(
        "reduction/axes",
        cancel_transposes,
        """graph main(x: float32[n,4,5,6]) {
             a = TRANSPOSE(x, int32[4]{0, 3, 1, 2})
             b = MEAN(a, int32[2]{2, 3})
             return b
           }""",
        """graph main(x: float32[n,4,5,6]) {
             b = MEAN(x, int32[2]{1, 2})
             return b
           }""",
    ),
    Rewrite(
        "reduction/holds_off_when_the_rest_is_moved",
        cancel_transposes,
        """graph main(x: float32[n,4,5,6]) {
             a = TRANSPOSE(x, int32[4]{0, 3, 1, 2})
             b = MEAN(a, int32[1]{3})
             return b
           }""",
    ),
]

REGIONS = [
    Rewrite(
        "region/shuffle_of_channels",
        cancel_transposes,
        """graph main(x: float32[n,4,5,6]) {
             a = TRANSPOSE(x, int32[4]{0, 3, 1, 2})
             b = RESHAPE(a, int32[5]{-1, 2, 3, 4, 5})
             c = TRANSPOSE(b, int32[5]{0, 2, 1, 3, 4})
             d = RESHAPE(c, int32[4]{-1, 6, 4, 5})
             e = TRANSPOSE(d, int32[4]{0, 2, 3, 1})
             return e
           }""",
        """graph main(x: float32[n,4,5,6]) {
             b = RESHAPE(x, int32[5]{-1, 4, 5, 2, 3})
             c = TRANSPOSE(b, int32[5]{0, 1, 2, 4, 3})
             d = RESHAPE(c, int32[4]{-1, 4, 5, 6})
             return d
           }""",
    ),
    Rewrite(
        "region/shuffle_of_channels_into_pixels",
        cancel_transposes,
        """graph main(x: float32[n,4,5,12]) {
             a = TRANSPOSE(x, int32[4]{0, 3, 1, 2})
             b = RESHAPE(a, int32[6]{-1, 3, 2, 2, 4, 5})
             c = TRANSPOSE(b, int32[6]{0, 1, 4, 2, 5, 3})
             d = RESHAPE(c, int32[4]{-1, 3, 8, 10})
             e = TRANSPOSE(d, int32[4]{0, 2, 3, 1})
             return e
           }""",
        """graph main(x: float32[n,4,5,12]) {
             b = RESHAPE(x, int32[6]{-1, 4, 5, 3, 2, 2})
             c = TRANSPOSE(b, int32[6]{0, 1, 4, 2, 5, 3})
             d = RESHAPE(c, int32[4]{-1, 8, 10, 3})
             return d
           }""",
    ),
    Rewrite(
        "region/image_becomes_rows",
        cancel_transposes,
        """graph main(x: float32[n,4,5,6]) {
             a = TRANSPOSE(x, int32[4]{0, 3, 1, 2})
             b = RESHAPE(a, int32[3]{-1, 6, 20})
             c = TRANSPOSE(b, int32[3]{0, 2, 1})
             return c
           }""",
        """graph main(x: float32[n,4,5,6]) {
             b = RESHAPE(x, int32[3]{-1, 20, 6})
             return b
           }""",
    ),
    Rewrite(
        "region/channels_and_rows_become_one_axis_of_another_transpose",
        lambda graph: (cancel_transposes(graph), merge_transposes(graph)),
        """graph main(x: float32[n,4,5,6]) {
             a = TRANSPOSE(x, int32[4]{0, 3, 1, 2})
             b = RESHAPE(a, int32[3]{-1, 24, 5})
             c = TRANSPOSE(b, int32[3]{0, 2, 1})
             return c
           }""",
        """graph main(x: float32[n,4,5,6]) {
             a = TRANSPOSE(x, int32[4]{0, 2, 3, 1})
             b = RESHAPE(a, int32[3]{-1, 5, 24})
             return b
           }""",
    ),
    Rewrite(
        "region/regrouping_holds_off_where_channels_and_rows_become_one_axis",
        cancel_transposes,
        """graph main(x: float32[n,4,5,6]) {
             a = TRANSPOSE(x, int32[4]{0, 3, 1, 2})
             b = RESHAPE(a, int32[3]{-1, 24, 5})
             c = SOFTMAX(b; beta=1.0)
             return c
           }""",
    ),
    Rewrite(
        "region/packed_heads_of_rows_first",
        lambda graph: (cancel_transposes(graph), merge_transposes(graph)),
        """graph main(x: float32[n,5,8]) {
             a = TRANSPOSE(x, int32[3]{1, 0, 2})
             b = FULLY_CONNECTED(a, float32[24,8]#w, float32[24]#b; keep_num_dims=true)
             c = RESHAPE(b, int32[4]{5, -1, 3, 8})
             d = GATHER(c, int32[]{1}; axis=2)
             e = RESHAPE(d, int32[4]{5, -1, 2, 4})
             f = TRANSPOSE(e, int32[4]{1, 2, 0, 3})
             return f
           }""",
        """graph main(x: float32[n,5,8]) {
             b = FULLY_CONNECTED(x, float32[24,8]#w, float32[24]#b; keep_num_dims=true)
             c = RESHAPE(b, int32[4]{-1, 5, 3, 8})
             d = GATHER(c, int32[]{1}; axis=2)
             e = RESHAPE(d, int32[4]{-1, 5, 2, 4})
             f = TRANSPOSE(e, int32[4]{0, 2, 1, 3})
             return f
           }""",
    ),
    Rewrite(
        "region/shuffle_by_a_computed_shape",
        cancel_transposes,
        """graph main(x: float32[n,h,5,6]) {
             s = SHAPE(x)
             p = STRIDED_SLICE(s, int32[1]{0}, int32[1]{1}, int32[1]{1})
             q = STRIDED_SLICE(s, int32[1]{1}, int32[1]{2}, int32[1]{1})
             t = CONCATENATION(p, int32[1]{2}, int32[1]{3}, q, int32[1]{5}; axis=0)
             a = TRANSPOSE(x, int32[4]{0, 3, 1, 2})
             b = RESHAPE(a, t)
             c = TRANSPOSE(b, int32[5]{0, 3, 4, 1, 2})
             return c
           }""",
        """graph main(x: float32[n,h,5,6]) {
             s = SHAPE(x)
             p = STRIDED_SLICE(s, int32[1]{0}, int32[1]{1}, int32[1]{1})
             q = STRIDED_SLICE(s, int32[1]{1}, int32[1]{2}, int32[1]{1})
             t = CONCATENATION(p, q, int32[1]{5}, int32[1]{2}, int32[1]{3}; axis=0)
             b = RESHAPE(x, t)
             return b
           }""",
    ),
    Rewrite(
        "region/permuted_channels",
        cancel_transposes,
        """graph main(x: float32[n,h,5,3]) {
             a = TRANSPOSE(x, int32[4]{0, 3, 1, 2})
             b = GATHER(a, int32[3]{2, 0, 1}; axis=1)
             c = TRANSPOSE(b, int32[4]{0, 2, 3, 1})
             return c
           }""",
        """graph main(x: float32[n,h,5,3]) {
             b = GATHER(x, int32[3]{2, 0, 1}; axis=3)
             return b
           }""",
    ),
    Rewrite(
        "split/heads_of_a_batch",
        split_before_transpose,
        """graph main(x: float32[5,n,8]) {
             a = RESHAPE(x, int32[3]{5, -1, 4})
             b = TRANSPOSE(a, int32[3]{1, 0, 2})
             c = RESHAPE(b, int32[4]{-1, 2, 5, 4})
             return c
           }""",
        """graph main(x: float32[5,n,8]) {
             a = RESHAPE(x, int32[3]{5, -1, 4})
             b = RESHAPE(a, int32[4]{5, -1, 2, 4})
             c = TRANSPOSE(b, int32[4]{1, 2, 0, 3})
             return c
           }""",
    ),
    Rewrite(
        "split/holds_off_where_axes_are_merged",
        split_before_transpose,
        """graph main(x: float32[5,n,8]) {
             a = RESHAPE(x, int32[3]{5, -1, 4})
             b = TRANSPOSE(a, int32[3]{1, 0, 2})
             c = RESHAPE(b, int32[2]{-1, 20})
             return c
           }""",
    ),
    Rewrite(
        "region/arg_max",
        cancel_transposes,
        """graph main(x: float32[n,4,5,6]) {
             a = TRANSPOSE(x, int32[4]{0, 3, 1, 2})
             b = ARG_MAX(a, int32[]{1}; output_type=INT32)
             return b
           }""",
        """graph main(x: float32[n,4,5,6]) {
             b = ARG_MAX(x, int32[]{3}; output_type=INT32)
             return b
           }""",
    ),
    Rewrite(
        "region/arg_min_of_a_row_moves_its_result",
        cancel_transposes,
        """graph main(x: float32[n,4,5,6]) {
             a = TRANSPOSE(x, int32[4]{0, 3, 1, 2})
             b = ARG_MIN(a, int32[]{-2}; output_type=INT64)
             c = TRANSPOSE(b, int32[3]{0, 2, 1})
             return c
           }""",
        """graph main(x: float32[n,4,5,6]) {
             b = ARG_MIN(x, int32[]{1}; output_type=INT64)
             return b
           }""",
    ),
    Rewrite(
        "region/elementwise",
        cancel_transposes,
        """graph main(x: float32[n,4,5,6]) {
             a = TRANSPOSE(x, int32[4]{0, 3, 1, 2})
             b = RELU(a)
             c = ADD(b, float32[1,6,1,1]{1, 2, 3, 4, 5, 6})
             d = TRANSPOSE(c, int32[4]{0, 2, 3, 1})
             return d
           }""",
        """graph main(x: float32[n,4,5,6]) {
             b = RELU(x)
             c = ADD(b, float32[1,1,1,6]{1, 2, 3, 4, 5, 6})
             return c
           }""",
    ),
    Rewrite(
        "region/two_in_one_out",
        cancel_transposes,
        """graph main(x: float32[n,4,5], y: float32[n,4,5]) {
             a = TRANSPOSE(x, int32[3]{0, 2, 1})
             b = TRANSPOSE(y, int32[3]{0, 2, 1})
             c = CONCATENATION(a, b; axis=1)
             d = MUL(c, float32[4]{1, 2, 3, 4})
             return d
           }""",
        """graph main(x: float32[n,4,5], y: float32[n,4,5]) {
             c = CONCATENATION(x, y; axis=2)
             d = MUL(c, float32[1,4,1]{1, 2, 3, 4})
             e = TRANSPOSE(d, int32[3]{0, 2, 1})
             return e
           }""",
    ),
    Rewrite(
        "region/pad_slice_and_reduction",
        cancel_transposes,
        """graph main(x: float32[n,4,5]) {
             a = TRANSPOSE(x, int32[3]{0, 2, 1})
             b = PAD(a, int32[3,2]{0, 0, 1, 2, 3, 0})
             c = STRIDED_SLICE(b, int32[3]{0, 1, 2}, int32[3]{0, 6, 6}, int32[3]{1, 2, 1};
               begin_mask=1, end_mask=5)
             d = SUM(c, int32[1]{1}; keep_dims=true)
             e = SLICE(d, int32[3]{0, 0, 1}, int32[3]{-1, 1, 2})
             f = TRANSPOSE(e, int32[3]{0, 2, 1})
             return f
           }""",
        """graph main(x: float32[n,4,5]) {
             b = PAD(x, int32[3,2]{0, 0, 3, 0, 1, 2})
             c = STRIDED_SLICE(b, int32[3]{0, 2, 1}, int32[3]{0, 6, 6}, int32[3]{1, 1, 2};
               begin_mask=1, end_mask=3)
             d = SUM(c, int32[1]{2}; keep_dims=true)
             e = SLICE(d, int32[3]{0, 1, 0}, int32[3]{-1, 2, 1})
             return e
           }""",
    ),
    Rewrite(
        "region/an_untransposed_neighbour_is_transposed_when_that_pays",
        cancel_transposes,
        """graph main(x: float32[n,4,5], y: float32[n,4,5], z: float32[n,5,4]) {
             a = TRANSPOSE(x, int32[3]{0, 2, 1})
             b = TRANSPOSE(y, int32[3]{0, 2, 1})
             c = MUL(a, b)
             d = ADD(c, z)
             e = TRANSPOSE(d, int32[3]{0, 2, 1})
             return e
           }""",
        """graph main(x: float32[n,4,5], y: float32[n,4,5], z: float32[n,5,4]) {
             c = MUL(x, y)
             t = TRANSPOSE(z, int32[3]{0, 2, 1})
             d = ADD(c, t)
             return d
           }""",
    ),
    Rewrite(
        "region/pack_and_reduction_change_the_rank",
        cancel_transposes,
        """graph main(x: float32[n,4,5], y: float32[n,4,5]) {
             a = TRANSPOSE(x, int32[3]{0, 2, 1})
             b = TRANSPOSE(y, int32[3]{0, 2, 1})
             c = PACK(a, b; values_count=2, axis=-1)
             d = CONCATENATION(c, c; axis=1)
             e = MUL(d, float32[10,1,1]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
             f = SUM(e, int32[]{-1})
             g = TRANSPOSE(f, int32[3]{0, 2, 1})
             return g
           }""",
        """graph main(x: float32[n,4,5], y: float32[n,4,5]) {
             c = PACK(x, y; values_count=2, axis=3)
             d = CONCATENATION(c, c; axis=2)
             e = MUL(d, float32[1,1,10,1]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
             f = SUM(e, int32[]{3})
             return f
           }""",
    ),
    Rewrite(
        "region/split",
        cancel_transposes,
        """graph main(x: float32[n,4,6]) {
             a = TRANSPOSE(x, int32[3]{0, 2, 1})
             b, c = SPLIT(int32[]{1}, a; num_splits=2)
             d = MUL(b, c)
             e = TRANSPOSE(d, int32[3]{0, 2, 1})
             return e
           }""",
        """graph main(x: float32[n,4,6]) {
             b, c = SPLIT(int32[]{2}, x; num_splits=2)
             d = MUL(b, c)
             return d
           }""",
    ),
    Rewrite(
        "region/found_from_below",
        cancel_transposes,
        """graph main(x: float32[n,4,5]) {
             a = RELU(x)
             b = NEG(a)
             c = TRANSPOSE(a, int32[3]{0, 2, 1})
             d = TRANSPOSE(b, int32[3]{0, 2, 1})
             return c, d
           }""",
        """graph main(x: float32[n,4,5]) {
             t = TRANSPOSE(x, int32[3]{0, 2, 1})
             a = RELU(t)
             b = NEG(a)
             return a, b
           }""",
    ),
    Rewrite(
        "region/softmax_holds_off_when_the_last_axis_moves",
        cancel_transposes,
        """graph main(x: float32[n,4,5]) {
             a = TRANSPOSE(x, int32[3]{0, 2, 1})
             b = SOFTMAX(a; beta=1.0)
             c = TRANSPOSE(b, int32[3]{0, 2, 1})
             return c
           }""",
    ),
    Rewrite(
        "region/holds_off_without_gain",
        cancel_transposes,
        """graph main(x: float32[n,4,5], z: float32[n,5,4]) {
             a = TRANSPOSE(x, int32[3]{0, 2, 1})
             d = ADD(a, z)
             e = RELU(d)
             return e
           }""",
    ),
    Rewrite(
        "region/holds_off_where_the_transposed_is_needed",
        cancel_transposes,
        """graph main(x: float32[n,4,5]) {
             a = TRANSPOSE(x, int32[3]{0, 2, 1})
             b = RELU(a)
             return b, a
           }""",
    ),
    Rewrite(
        "sink/bias_before_transpose",
        sink_transposes,
        """graph main(x: float32[n,4,4,3]) {
             a = CONV_2D(x, float32[20,3,3,3]#w; stride_w=1, stride_h=1)
             b = TRANSPOSE(a, int32[4]{0, 3, 1, 2})
             c = ADD(b, float32[1,20,1,1]#bias)
             return c
           }""",
        """graph main(x: float32[n,4,4,3]) {
             a = CONV_2D(x, float32[20,3,3,3]#w; stride_w=1, stride_h=1)
             b = ADD(a, float32[1,1,1,20]#bias)
             c = TRANSPOSE(b, int32[4]{0, 3, 1, 2})
             return c
           }""",
    ),
]


@pytest.mark.parametrize("row", [*TRANSPOSES, *REGIONS], ids=str)
def test_rewrite(row):
    check(row)
