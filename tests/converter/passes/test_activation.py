import pytest
from rewriting import Rewrite, check

from flatlite.converter.passes.activation import fuse_activation, recognise_clipping

ACTIVATIONS = [
    Rewrite(
        "clipping/relu6",
        recognise_clipping,
        """graph main(x: float32[n,4]) {
             a = MAXIMUM(x, float32[]{0.0})
             b = MINIMUM(a, float32[]{6.0})
             return b
           }""",
        """graph main(x: float32[n,4]) {
             b = RELU6(x)
             return b
           }""",
    ),
    Rewrite(
        "clipping/relu_n1_to_1_minimum_first",
        recognise_clipping,
        """graph main(x: float32[n,4]) {
             a = MINIMUM(x, float32[]{1.0})
             b = MAXIMUM(a, float32[]{-1.0})
             return b
           }""",
        """graph main(x: float32[n,4]) {
             b = RELU_N1_TO_1(x)
             return b
           }""",
    ),
    Rewrite(
        "clipping/relu_then_minimum",
        recognise_clipping,
        """graph main(x: float32[n,4]) {
             a = RELU(x)
             b = MINIMUM(a, float32[]{6.0})
             return b
           }""",
        """graph main(x: float32[n,4]) {
             b = RELU6(x)
             return b
           }""",
    ),
    Rewrite(
        "clipping/holds_off_on_other_bounds",
        recognise_clipping,
        """graph main(x: float32[n,4]) {
             a = MAXIMUM(x, float32[]{0.5})
             b = MINIMUM(a, float32[]{6.0})
             return b
           }""",
    ),
    Rewrite(
        "activation/conv",
        fuse_activation,
        """graph main(x: float32[n,4,4,2]) {
             a = CONV_2D(x, float32[3,3,3,2]#w; stride_w=1, stride_h=1)
             b = RELU6(a)
             return b
           }""",
        """graph main(x: float32[n,4,4,2]) {
             b = CONV_2D(x, float32[3,3,3,2]#w;
               stride_w=1, stride_h=1, fused_activation_function=RELU6)
             return b
           }""",
    ),
    Rewrite(
        "activation/add_and_pool",
        fuse_activation,
        """graph main(x: float32[n,4,4,2]) {
             a = ADD(x, x)
             b = RELU(a)
             c = AVERAGE_POOL_2D(b; stride_w=1, stride_h=1, filter_width=2, filter_height=2)
             d = RELU_N1_TO_1(c)
             return d
           }""",
        """graph main(x: float32[n,4,4,2]) {
             b = ADD(x, x; fused_activation_function=RELU)
             d = AVERAGE_POOL_2D(b;
               stride_w=1, stride_h=1,
               filter_width=2, filter_height=2, fused_activation_function=RELU_N1_TO_1)
             return d
           }""",
    ),
    Rewrite(
        "activation/holds_off_on_another_reader",
        fuse_activation,
        """graph main(x: float32[4]) {
             a = ADD(x, x)
             b = RELU(a)
             c = MUL(a, b)
             return c
           }""",
    ),
    Rewrite(
        "activation/holds_off_on_an_output",
        fuse_activation,
        """graph main(x: float32[4]) {
             a = ADD(x, x)
             b = RELU(a)
             return b, a
           }""",
    ),
    Rewrite(
        "activation/holds_off_on_another_activation",
        fuse_activation,
        """graph main(x: float32[4]) {
             a = ADD(x, x; fused_activation_function=RELU6)
             b = RELU(a)
             return b
           }""",
    ),
    Rewrite(
        "activation/holds_off_on_concatenation",
        fuse_activation,
        """graph main(x: float32[4]) {
             a = CONCATENATION(x, x)
             b = RELU(a)
             return b
           }""",
    ),
]


@pytest.mark.parametrize("row", ACTIVATIONS, ids=str)
def test_rewrite(row):
    check(row)
