import pytest
from rewriting import Rewrite, check

from flatlite.converter.passes.exponentials import (
    drop_nan_guard,
    fuse_elu,
    fuse_log_softmax,
    fuse_logistic,
    fuse_negative_exponential,
    fuse_selected_branches,
    fuse_softmax,
    fuse_softplus,
)
from flatlite.converter.passes.identities import remove_identities
from flatlite.converter.passes.norms import fuse_variance

SOFTMAX = """graph main(x: float32[n,4]) {{
             m = REDUCE_MAX({of}, int32[1]{{1}})
             r = RESHAPE(m, int32[2]{{-1, 1}})
             d = SUB(x, r)
             e = EXP(d)
             s = SUM(e, int32[1]{{{axis}}}; keep_dims={keep})
             y = DIV(e, s)
             return y
           }}"""
LOG_SOFTMAX = """graph main(x: float32[n,4]) {{
             m = REDUCE_MAX(x, int32[1]{{1}}; keep_dims=true)
             d = SUB(x, m)
             e = EXP(d)
             s = SUM(e, int32[1]{{1}}; keep_dims=true)
             l = LOG(s)
             y = SUB({shifted}, l)
             return y
           }}"""
LOGISTIC = """graph main(x: float32[n,4], z: float32[n,4]) {{
             n = NEG(x)
             e = EXP(n)
             d = ADD(e, float32[]{{{one}}})
             y = DIV({numerator}, d)
             return y
           }}"""
SOFTPLUS = """graph main(x: float32[n,4], z: float32[n,4]) {{
             r = RELU({positive})
             a = ABS(x)
             n = NEG(a)
             e = EXP(n)
             o = ADD(e, float32[]{{1.0}})
             l = LOG(o)
             y = ADD(r, l)
             return y
           }}"""
SELECTED = """graph main(x: float32[n,4]) {{
             c = {compare}(x, float32[]{{0.0}})
             {negative}
             y = SELECT_V2(c, x, m)
             return y
           }}"""
EXPONENTIAL = """n = SELECT_V2(c, float32[]{0.0}, x)
             e = EXP(n)
             m = SUB(e, float32[]{1.0})"""
NEGATIVE = """graph main(x: float32[n,4]) {{
             a = MINIMUM(x, float32[]{{0.0}})
             s = MUL(a, float32[]{{{factor}}})
             e = EXP(s)
             y = SUB(e, float32[]{{1.0}})
             return y
           }}"""
HALVES = """graph main(x: float32[n,4], z: float32[n,4]) {{
             r = RELU({positive})
             a = MINIMUM(x, float32[]{{0.0}})
             e = ELU(a)
             y = ADD({order})
             return y
           }}"""
VARIANCE = """graph main(x: float32[n,4]) {{
             m = MEAN(x, int32[1]{{1}}; keep_dims={keep})
             p = MUL(x, x)
             s = MEAN(p, int32[1]{{{axis}}}; keep_dims={keep})
             q = SQUARE(m)
             y = SUB(s, q; fused_activation_function={activation})
             return y
           }}"""

GUARDED = """graph main(x: float32[n,4]) {{
             u = NOT_EQUAL(x, x)
             a = RELU(x)
             b = ABS({read})
             c = LOGISTIC(b)
             d = LOG(c)
             e = SUB(a, d)
             y = SELECT_V2(u, x, e)
             return y
           }}"""


def returns(line, inputs="x: float32[n,4]"):
    return f"graph main({inputs}) {{\n{line}\nreturn y\n}}"


ROWS = [
    Rewrite(
        "softmax/last_axis",
        fuse_softmax,
        SOFTMAX.format(of="x", axis=1, keep="true"),
        returns("y = SOFTMAX(x; beta=1.0)"),
    ),
    Rewrite(
        "softmax/first_axis_without_maximum",
        fuse_softmax,
        """graph main(x: float32[3,4]) {
             e = EXP(x)
             s = SUM(e, int32[1]{0}; keep_dims=true)
             y = DIV(e, s)
             return y
           }""",
        """graph main(x: float32[3,4]) {
             a = TRANSPOSE(x, int32[2]{1, 0})
             b = SOFTMAX(a; beta=1.0)
             y = TRANSPOSE(b, int32[2]{1, 0})
             return y
           }""",
    ),
    Rewrite(
        "softmax/holds_off_on_two_axes",
        fuse_softmax,
        SOFTMAX.format(of="x", axis="0, 1", keep="true").replace("int32[1]{0", "int32[2]{0"),
    ),
    Rewrite(
        "log_softmax/maximum",
        fuse_log_softmax,
        LOG_SOFTMAX.format(shifted="d"),
        returns("y = LOG_SOFTMAX(x)"),
    ),
    Rewrite(
        "log_softmax/holds_off_on_another_minuend",
        fuse_log_softmax,
        LOG_SOFTMAX.format(shifted="x"),
    ),
    Rewrite(
        "logistic/reciprocal",
        fuse_logistic,
        LOGISTIC.format(one=1.0, numerator="float32[]{1.0}"),
        returns("y = LOGISTIC(x)", "x: float32[n,4], z: float32[n,4]"),
    ),
    Rewrite(
        "logistic/quotient",
        fuse_logistic,
        LOGISTIC.format(one=1.0, numerator="z"),
        returns("s = LOGISTIC(x)\ny = MUL(z, s)", "x: float32[n,4], z: float32[n,4]"),
    ),
    Rewrite(
        "logistic/holds_off_on_another_number",
        fuse_logistic,
        LOGISTIC.format(one=2.0, numerator="z"),
    ),
    Rewrite(
        "softplus/both_sides",
        fuse_softplus,
        SOFTPLUS.format(positive="x"),
        returns(
            "a = RELU(x)\nb = ABS(x)\nc = LOGISTIC(b)\nd = LOG(c)\ny = SUB(a, d)",
            "x: float32[n,4], z: float32[n,4]",
        ),
    ),
    Rewrite("softplus/holds_off_on_two_values", fuse_softplus, SOFTPLUS.format(positive="z")),
    Rewrite(
        "nan_guard/of_softplus",
        drop_nan_guard,
        GUARDED.format(read="x"),
        returns("a = RELU(x)\nb = ABS(x)\nc = LOGISTIC(b)\nd = LOG(c)\ny = SUB(a, d)"),
    ),
    Rewrite("nan_guard/holds_off_on_two_values", drop_nan_guard, GUARDED.format(read="a")),
    Rewrite(
        "selected/leaky_relu",
        fuse_selected_branches,
        SELECTED.format(compare="GREATER_EQUAL", negative="m = MUL(x, float32[]{0.25})"),
        returns("y = LEAKY_RELU(x; alpha=0.25)"),
    ),
    Rewrite(
        "selected/elu",
        fuse_selected_branches,
        SELECTED.format(compare="GREATER", negative=EXPONENTIAL),
        returns("y = ELU(x)"),
    ),
    Rewrite(
        "selected/holds_off_on_the_other_half",
        fuse_selected_branches,
        SELECTED.format(compare="LESS", negative=EXPONENTIAL),
    ),
    Rewrite(
        "negative_exponential/of_a_multiple",
        fuse_negative_exponential,
        NEGATIVE.format(factor=0.5),
        returns(
            "a = MINIMUM(x, float32[]{0.0})\ns = MUL(a, float32[]{0.5})\ny = ELU(s)",
        ),
    ),
    Rewrite(
        "negative_exponential/holds_off_on_a_negative_factor",
        fuse_negative_exponential,
        NEGATIVE.format(factor=-0.5),
    ),
    Rewrite(
        "elu/sum_of_its_halves",
        fuse_elu,
        HALVES.format(positive="x", order="e, r"),
        "graph main(x: float32[n,4], z: float32[n,4]) {\ny = ELU(x)\nreturn y\n}",
    ),
    Rewrite(
        "elu/holds_off_on_halves_of_others",
        fuse_elu,
        HALVES.format(positive="z", order="r, e"),
    ),
    Rewrite(
        "variance/dropped_dimensions_and_relu",
        fuse_variance,
        VARIANCE.format(keep="false", axis=1, activation="RELU"),
        returns(
            "a = MEAN(x, int32[1]{1}; keep_dims=true)\nb = SQUARED_DIFFERENCE(x, a)\n"
            "y = MEAN(b, int32[1]{1})"
        ),
        rtol=1e-4,
    ),
    Rewrite(
        "variance/holds_off_on_another_axis",
        fuse_variance,
        VARIANCE.format(keep="true", axis=0, activation="NONE"),
    ),
    Rewrite(
        "identities/relu_of_a_variance",
        remove_identities,
        """graph main(x: float32[n,4], z: float32[n,4]) {
             b = SQUARED_DIFFERENCE(x, z)
             m = MEAN(b, int32[1]{1})
             y = RELU(m)
             return y
           }""",
        """graph main(x: float32[n,4], z: float32[n,4]) {
             b = SQUARED_DIFFERENCE(x, z)
             y = MEAN(b, int32[1]{1})
             return y
           }""",
    ),
    Rewrite(
        "identities/maximum_and_selection",
        remove_identities,
        """graph main(x: float32[n,4], z: float32[n,4]) {
             a = MAXIMUM(x, float32[]{-inf})
             y = SELECT_V2(bool[]{false}, z, a)
             return y
           }""",
        """graph main(x: float32[n,4], z: float32[n,4]) {
             return x
           }""",
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_rewrite(row):
    check(row)
