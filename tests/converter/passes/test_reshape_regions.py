"""Reshapes that undo each other, with elementwise operators between that read them twice."""

import pytest
from rewriting import Rewrite, check

from flatlite.converter.passes.reshape_regions import cancel_reshapes

REWRITES = [
    Rewrite(
        "around_a_gate",
        cancel_reshapes,
        """graph main(x: float32[n,1,1,4]) {
             y = RESHAPE(x, int32[4]{-1, 4, 1, 1})
             s = LOGISTIC(y)
             t = MUL(y, s)
             u = ADD(t, float32[1]{0.5})
             z = RESHAPE(u, int32[4]{-1, 1, 1, 4})
             return z
           }""",
        """graph main(x: float32[n,1,1,4]) {
             s = LOGISTIC(x)
             t = MUL(x, s)
             u = ADD(t, float32[1]{0.5})
             return u
           }""",
    ),
    Rewrite(
        "of_two_tensors",
        cancel_reshapes,
        """graph main(x: float32[n,6], w: float32[n,6]) {
             a = RESHAPE(x, int32[3]{-1, 2, 3})
             b = RESHAPE(w, int32[3]{-1, 2, 3})
             c = SUB(a, b)
             d = RESHAPE(c, int32[2]{-1, 6})
             return d, a
           }""",
        """graph main(x: float32[n,6], w: float32[n,6]) {
             a = RESHAPE(x, int32[3]{-1, 2, 3})
             c = SUB(x, w)
             return c, a
           }""",
    ),
    Rewrite(
        "holds_off_on_what_is_read_between",
        cancel_reshapes,
        """graph main(x: float32[n,6]) {
             a = RESHAPE(x, int32[3]{-1, 2, 3})
             c = TANH(a)
             d = RESHAPE(c, int32[2]{-1, 6})
             return d, c
           }""",
    ),
    Rewrite(
        "holds_off_on_repeated_operands",
        cancel_reshapes,
        """graph main(x: float32[n,6]) {
             a = RESHAPE(x, int32[3]{-1, 2, 3})
             c = MUL(a, float32[3]{1, 2, 3})
             d = RESHAPE(c, int32[2]{-1, 6})
             return d
           }""",
    ),
    Rewrite(
        "holds_off_on_another_shape",
        cancel_reshapes,
        """graph main(x: float32[n,6], w: float32[n,3,2]) {
             a = RESHAPE(x, int32[3]{-1, 2, 3})
             b = RESHAPE(w, int32[3]{-1, 2, 3})
             c = SUB(a, b)
             d = RESHAPE(c, int32[2]{-1, 6})
             return d
           }""",
    ),
]


@pytest.mark.parametrize("row", REWRITES, ids=str)
def test_rewrite(row):
    check(row)
