import pytest
from rewriting import Rewrite, check

from flatlite.converter.passes.booleans import compare_casts
from flatlite.converter.passes.identities import merge_casts

CASTS = [
    Rewrite(
        "casts/of_what_the_first_holds",
        merge_casts,
        """graph main(x: float32[n,4], i: int32[n]) {
             y: float64[n,4] = CAST(x)
             z: int32[n,4] = CAST(y)
             j: int64[n] = CAST(i)
             k: float32[n] = CAST(j)
             return z, k
           }""",
        """graph main(x: float32[n,4], i: int32[n]) {
             z: int32[n,4] = CAST(x)
             k: float32[n] = CAST(i)
             return z, k
           }""",
    ),
    Rewrite(
        "casts/holds_off_where_the_first_loses",
        merge_casts,
        """graph main(x: float32[n,4], i: int32[n]) {
             y: int32[n,4] = CAST(x)
             z: float32[n,4] = CAST(y)
             j: float32[n] = CAST(i)
             k: int64[n] = CAST(j)
             return z, k
           }""",
    ),
]
COMPARISONS = [
    Rewrite(
        "casts/compared",
        compare_casts,
        """graph main(x: float32[n,4]) {
             b = GREATER(x, float32[]{0})
             f: float32[n,4] = CAST(b)
             i: int32[n,4] = CAST(b)
             p = GREATER(f, float32[]{0})
             q = EQUAL(int32[]{0}, i)
             r = LESS(float32[1,4]{0.5, 0.25, 0, 0.75}, f)
             s = LESS_EQUAL(f, float32[]{0.5})
             return p, q, r, s
           }""",
        """graph main(x: float32[n,4]) {
             b = GREATER(x, float32[]{0})
             q = LOGICAL_NOT(b)
             s = LOGICAL_NOT(b)
             return b, q, b, s
           }""",
    ),
    Rewrite(
        "casts/holds_off_where_both_compare_alike_and_where_shapes_differ",
        compare_casts,
        """graph main(x: float32[n,1]) {
             b = GREATER(x, float32[]{0})
             f: float32[n,1] = CAST(b)
             p = GREATER_EQUAL(f, float32[]{0})
             q = EQUAL(f, float32[]{2})
             r = LESS(f, float32[1,4]{0.5, 0.5, 0.5, 0.5})
             s = LESS(f, float32[1,1]{nan})
             return p, q, r, s
           }""",
    ),
]


@pytest.mark.parametrize("row", [*CASTS, *COMPARISONS], ids=str)
def test_rewrite(row):
    check(row)
