import pytest
from rewriting import Rewrite, check

from flatlite.converter.passes.formulas import (
    fuse_gelu,
    fuse_hard_swish,
    fuse_leaky_relu,
    fuse_prelu,
)
from flatlite.converter.passes.norms import (
    factor_difference,
    factor_mixture,
    fuse_l2_normalization,
    fuse_mean,
    fuse_rsqrt,
    fuse_squared_difference,
)

FORMULAS = [
    Rewrite(
        "hard_swish/keras",
        fuse_hard_swish,
        """graph main(x: float32[n,4]) {
             a = ADD(x, float32[]{3.0})
             b = RELU6(a)
             c = MUL(b, float32[]{0.16666667})
             d = MUL(x, c)
             return d
           }""",
        """graph main(x: float32[n,4]) {
             d = HARD_SWISH(x)
             return d
           }""",
    ),
    Rewrite(
        "hard_swish/division_last_and_fused_relu6",
        fuse_hard_swish,
        """graph main(x: float32[n,4]) {
             a = ADD(x, float32[]{3.0}; fused_activation_function=RELU6)
             b = MUL(a, x)
             c = DIV(b, float32[]{6.0})
             return c
           }""",
        """graph main(x: float32[n,4]) {
             c = HARD_SWISH(x)
             return c
           }""",
    ),
    Rewrite(
        "hard_swish/holds_off_on_other_numbers",
        fuse_hard_swish,
        """graph main(x: float32[n,4]) {
             a = ADD(x, float32[]{2.0})
             b = RELU6(a)
             c = MUL(b, float32[]{0.16666667})
             d = MUL(x, c)
             return d
           }""",
    ),
    Rewrite(
        "hard_swish/holds_off_on_a_partial_output",
        fuse_hard_swish,
        """graph main(x: float32[n,4]) {
             a = ADD(x, float32[]{3.0})
             b = RELU6(a)
             c = MUL(b, float32[]{0.16666667})
             d = MUL(x, c)
             return d, c
           }""",
    ),
    Rewrite(
        "hard_swish/holds_off_on_a_constant_of_more_dimensions",
        fuse_hard_swish,
        """graph main(x: float32[4]) {
             a = ADD(x, float32[]{3.0})
             b = RELU6(a)
             c = MUL(b, float32[1,1]{0.16666667})
             d = MUL(x, c)
             return d
           }""",
    ),
    Rewrite(
        "gelu/holds_off_on_a_constant_of_more_dimensions",
        fuse_gelu,
        """graph main(x: float32[4]) {
             a = POW(x, float32[]{3.0})
             b = MUL(a, float32[]{0.044715})
             c = ADD(x, b)
             d = MUL(c, float32[]{0.7978846})
             e = TANH(d)
             f = ADD(e, float32[]{1.0})
             g = MUL(x, float32[1,1]{0.5})
             h = MUL(g, f)
             return h
           }""",
    ),
    Rewrite(
        "l2_normalization/holds_off_on_a_constant_of_more_dimensions",
        fuse_l2_normalization,
        """graph main(x: float32[4]) {
             a = SQUARE(x)
             s = SUM(a, int32[1]{0}; keep_dims=true)
             m = MAXIMUM(s, float32[1,1]{1e-12})
             r = RSQRT(m)
             y = MUL(x, r)
             return y
           }""",
    ),
    Rewrite(
        "leaky_relu/holds_off_on_a_constant_of_more_dimensions",
        fuse_leaky_relu,
        """graph main(x: float32[4]) {
             m = MUL(x, float32[1,1]{0.1})
             y = MAXIMUM(x, m)
             return y
           }""",
    ),
    Rewrite(
        "gelu/tanh",
        fuse_gelu,
        """graph main(x: float32[n,4]) {
             a = POW(x, float32[]{3.0})
             b = MUL(a, float32[]{0.044715})
             c = ADD(x, b)
             d = MUL(c, float32[]{0.7978846})
             e = TANH(d)
             f = ADD(e, float32[]{1.0})
             g = MUL(x, float32[]{0.5})
             h = MUL(g, f)
             return h
           }""",
        """graph main(x: float32[n,4]) {
             h = GELU(x; approximate=true)
             return h
           }""",
    ),
    Rewrite(
        "gelu/x_outside_and_products",
        fuse_gelu,
        """graph main(x: float32[n,4]) {
             s = MUL(x, x)
             a = MUL(s, float32[]{0.044715})
             b = ADD(a, float32[]{1.0})
             c = MUL(x, float32[]{0.7978846})
             d = MUL(c, b)
             e = TANH(d)
             f = ADD(e, float32[]{1.0})
             g = MUL(f, float32[]{0.5})
             h = MUL(x, g)
             return h
           }""",
        """graph main(x: float32[n,4]) {
             h = GELU(x; approximate=true)
             return h
           }""",
    ),
    Rewrite(
        "gelu/holds_off_on_the_square",
        fuse_gelu,
        """graph main(x: float32[n,4]) {
             a = SQUARE(x)
             b = MUL(a, float32[]{0.044715})
             c = ADD(x, b)
             d = MUL(c, float32[]{0.7978846})
             e = TANH(d)
             f = ADD(e, float32[]{1.0})
             g = MUL(x, float32[]{0.5})
             h = MUL(g, f)
             return h
           }""",
    ),
    Rewrite(
        "leaky_relu/maximum",
        fuse_leaky_relu,
        """graph main(x: float32[n,4]) {
             a = MUL(x, float32[]{0.1})
             b = MAXIMUM(a, x)
             return b
           }""",
        """graph main(x: float32[n,4]) {
             b = LEAKY_RELU(x; alpha=0.10000000149011612)
             return b
           }""",
    ),
    Rewrite(
        "leaky_relu/holds_off_above_1",
        fuse_leaky_relu,
        """graph main(x: float32[n,4]) {
             a = MUL(x, float32[]{1.5})
             b = MAXIMUM(x, a)
             return b
           }""",
    ),
    Rewrite(
        "prelu/add",
        fuse_prelu,
        """graph main(x: float32[n,20]) {
             p = RELU(x)
             n = NEG(x)
             r = RELU(n)
             m = MUL(r, float32[20]#alpha)
             y = ADD(p, m)
             return y
           }""",
        """graph main(x: float32[n,20]) {
             y = PRELU(x, float32[20]#alpha)
             return y
           }""",
    ),
    Rewrite(
        "prelu/sub",
        fuse_prelu,
        """graph main(x: float32[n,20]) {
             p = RELU(x)
             n = NEG(x)
             r = RELU(n)
             m = MUL(r, float32[20]#alpha)
             y = SUB(p, m)
             return y
           }""",
        """graph main(x: float32[n,20]) {
             y = PRELU(x, float32[20]#alpha)
             return y
           }""",
    ),
    Rewrite(
        "prelu/holds_off_on_another_tensor",
        fuse_prelu,
        """graph main(x: float32[n,20], z: float32[n,20]) {
             p = RELU(x)
             n = NEG(z)
             r = RELU(n)
             m = MUL(r, float32[20]#alpha)
             y = SUB(p, m)
             return y
           }""",
    ),
    Rewrite(
        "l2/rsqrt",
        fuse_l2_normalization,
        """graph main(x: float32[n,4]) {
             a = SQUARE(x)
             b = SUM(a, int32[1]{-1}; keep_dims=true)
             c = MAXIMUM(b, float32[]{1e-12})
             d = RSQRT(c)
             e = MUL(x, d)
             return e
           }""",
        """graph main(x: float32[n,4]) {
             e = L2_NORMALIZATION(x)
             return e
           }""",
    ),
    Rewrite(
        "l2/of_single_elements",
        fuse_l2_normalization,
        """graph main(x: float32[4,1]) {
             a = SQUARE(x)
             b = MAXIMUM(a, float32[]{1e-12})
             c = RSQRT(b)
             d = MUL(x, c)
             return d
           }""",
        """graph main(x: float32[4,1]) {
             d = L2_NORMALIZATION(x)
             return d
           }""",
    ),
    Rewrite(
        "l2/holds_off_without_a_sum",
        fuse_l2_normalization,
        """graph main(x: float32[4,2]) {
             a = SQUARE(x)
             b = MAXIMUM(a, float32[]{1e-12})
             c = RSQRT(b)
             d = MUL(x, c)
             return d
           }""",
    ),
    Rewrite(
        "l2/sqrt",
        fuse_l2_normalization,
        """graph main(x: float32[n,4]) {
             a = MUL(x, x)
             b = SUM(a, int32[]{1}; keep_dims=true)
             c = SQRT(b)
             d = DIV(x, c)
             return d
           }""",
        """graph main(x: float32[n,4]) {
             d = L2_NORMALIZATION(x)
             return d
           }""",
    ),
    Rewrite(
        "l2/holds_off_on_another_axis",
        fuse_l2_normalization,
        """graph main(x: float32[n,4]) {
             a = SQUARE(x)
             b = SUM(a, int32[1]{0}; keep_dims=true)
             c = RSQRT(b)
             d = MUL(x, c)
             return d
           }""",
    ),
    Rewrite(
        "l2/holds_off_on_another_epsilon",
        fuse_l2_normalization,
        """graph main(x: float32[n,4]) {
             a = SQUARE(x)
             b = SUM(a, int32[1]{-1}; keep_dims=true)
             c = MAXIMUM(b, float32[]{1e-3})
             d = RSQRT(c)
             e = MUL(x, d)
             return e
           }""",
    ),
    Rewrite(
        "l2/holds_off_on_another_epsilon_of_single_elements",
        fuse_l2_normalization,
        """graph main(x: float32[4,1]) {
             a = SQUARE(x)
             b = SUM(a, int32[1]{-1}; keep_dims=true)
             c = MAXIMUM(b, float32[]{1e-6})
             d = SQRT(c)
             e = DIV(x, d)
             return e
           }""",
    ),
    Rewrite(
        "squared_difference",
        fuse_squared_difference,
        """graph main(x: float32[n,4], y: float32[4]) {
             a = SUB(x, y)
             b = MUL(a, a)
             return b
           }""",
        """graph main(x: float32[n,4], y: float32[4]) {
             b = SQUARED_DIFFERENCE(x, y)
             return b
           }""",
    ),
    Rewrite(
        "squared_difference/holds_off_on_another_reader",
        fuse_squared_difference,
        """graph main(x: float32[4], y: float32[4]) {
             a = SUB(x, y)
             b = SQUARE(a)
             c = ADD(a, b)
             return c
           }""",
    ),
    Rewrite(
        "squared_difference/holds_off_on_a_wide_broadcast",
        fuse_squared_difference,
        """graph main(x: float32[2,2,2,2,4], y: float32[4]) {
             a = SUB(x, y)
             b = SQUARE(a)
             return b
           }""",
    ),
    Rewrite(
        "rsqrt/one_over",
        fuse_rsqrt,
        """graph main(x: float32[n,4]) {
             a = SQRT(x)
             b = DIV(float32[]{1.0}, a)
             return b
           }""",
        """graph main(x: float32[n,4]) {
             b = RSQRT(x)
             return b
           }""",
        positive=True,
    ),
    Rewrite(
        "rsqrt/over",
        fuse_rsqrt,
        """graph main(x: float32[n,4], y: float32[n,4]) {
             a = SQRT(x)
             b = DIV(y, a)
             return b
           }""",
        """graph main(x: float32[n,4], y: float32[n,4]) {
             a = RSQRT(x)
             b = MUL(y, a)
             return b
           }""",
        positive=True,
    ),
    Rewrite(
        "difference/layer_norm",
        factor_difference,
        """graph main(x: float32[n,20], m: float32[n,20]) {
             u = MEAN(x, int32[1]{-1}; keep_dims=true)
             p = MUL(x, m)
             n = NEG(u)
             q = MUL(n, m)
             r = ADD(q, float32[20]#beta)
             y = ADD(p, r)
             return y
           }""",
        """graph main(x: float32[n,20], m: float32[n,20]) {
             u = MEAN(x, int32[1]{-1}; keep_dims=true)
             d = SUB(x, u)
             p = MUL(d, m)
             y = ADD(p, float32[20]#beta)
             return y
           }""",
    ),
    Rewrite(
        "difference/batch_norm",
        factor_difference,
        """graph main(x: float32[n,20], m: float32[n,20]) {
             u = MEAN(x, int32[1]{-1}; keep_dims=true)
             p = MUL(x, m)
             v = MUL(u, m)
             r = SUB(float32[20]#beta, v)
             y = ADD(p, r)
             return y
           }""",
        """graph main(x: float32[n,20], m: float32[n,20]) {
             u = MEAN(x, int32[1]{-1}; keep_dims=true)
             d = SUB(x, u)
             p = MUL(d, m)
             y = ADD(p, float32[20]#beta)
             return y
           }""",
    ),
    Rewrite(
        "difference/holds_off_on_the_opposite",
        factor_difference,
        """graph main(x: float32[n,20], m: float32[n,20]) {
             u = MEAN(x, int32[1]{-1}; keep_dims=true)
             p = MUL(x, m)
             v = MUL(u, m)
             r = SUB(v, float32[20]#beta)
             y = ADD(p, r)
             return y
           }""",
    ),
    Rewrite(
        "difference/holds_off_on_another_factor",
        factor_difference,
        """graph main(x: float32[n,20], m: float32[n,20], k: float32[n,20]) {
             u = MEAN(x, int32[1]{-1}; keep_dims=true)
             p = MUL(x, k)
             n = NEG(u)
             q = MUL(n, m)
             r = ADD(q, float32[20]#beta)
             y = ADD(p, r)
             return y
           }""",
    ),
    Rewrite(
        "mixture/gru",
        factor_mixture,
        """graph main(z: float32[n,4], h: float32[n,4], c: float32[n,4]) {
             p = MUL(z, h)
             r = SUB(float32[]{1.0}, z)
             q = MUL(c, r)
             y = ADD(p, q)
             return y
           }""",
        """graph main(z: float32[n,4], h: float32[n,4], c: float32[n,4]) {
             d = SUB(h, c)
             s = MUL(d, z)
             y = ADD(s, c)
             return y
           }""",
    ),
    Rewrite(
        "mixture/holds_off_on_a_share_that_is_read_and_on_other_sums",
        factor_mixture,
        """graph main(z: float32[n,4], h: float32[n,4], c: float32[n,4], w: float32[n,4]) {
             p = MUL(z, h)
             r = SUB(float32[]{1.0}, z)
             q = MUL(c, r)
             y = ADD(p, q)
             k = SUB(float32[]{2.0}, w)
             m = MUL(k, c)
             l = MUL(w, h)
             o = ADD(l, m)
             return y, r, o
           }""",
    ),
    Rewrite(
        "mean/sum_and_product",
        fuse_mean,
        """graph main(x: float32[n,4,5]) {
             a = SUM(x, int32[2]{1, 2})
             b = MUL(a, float32[]{0.05})
             return b
           }""",
        """graph main(x: float32[n,4,5]) {
             b = MEAN(x, int32[2]{1, 2})
             return b
           }""",
    ),
    Rewrite(
        "mean/holds_off_on_unknown_size",
        fuse_mean,
        """graph main(x: float32[n,4,5]) {
             a = SUM(x, int32[2]{0, 1})
             b = DIV(a, float32[]{8.0})
             return b
           }""",
    ),
]


@pytest.mark.parametrize("row", FORMULAS, ids=str)
def test_rewrite(row):
    check(row)
