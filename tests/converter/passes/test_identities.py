import pytest
from rewriting import Rewrite, check, graph_of

from flatlite.converter.passes.fold import fold_constants, merge_duplicates, remove_dead_code
from flatlite.converter.passes.identities import (
    divide_by_multiplying,
    merge_constants,
    merge_constants_of_sum,
    multiply_by_zero,
    order_operands,
    remove_all_but_weights,
    remove_identities,
    shrink_all_but_weights,
    shrink_constants,
    take_negation,
)

FOLD = [
    Rewrite(
        "fold/shape_of_known",
        fold_constants,
        """graph main(x: float32[8,4]) {
             s = SHAPE(x)
             y = RESHAPE(x, s)
             return y, s
           }""",
        """graph main(x: float32[8,4]) {
             y = RESHAPE(x, int32[2]{8, 4})
             return y, int32[2]{8, 4}
           }""",
    ),
    Rewrite(
        "fold/large_constant",
        fold_constants,
        """graph main(x: float32[40,40]) {
             w = TRANSPOSE(float32[40,40]#w, int32[2]{1, 0})
             y = ADD(x, w)
             return y
           }""",
        """graph main(x: float32[40,40]) {
             y = ADD(x, float32[40,40]#w)
             return y
           }""",
        rtol=3.0,
    ),
    Rewrite(
        "fold/sum_of_nothing",
        fold_constants,
        """graph main(x: float32[8,4]) {
             r = SLICE(x, int32[2]{1, 0}, int32[2]{0, 4})
             s = SUM(r, int32[1]{0})
             y = MUL(x, s)
             return y
           }""",
        """graph main(x: float32[8,4]) {
             y = MUL(x, float32[4]{0.0})
             return y
           }""",
    ),
    Rewrite(
        "fold/holds_off_where_nothing_gives_nothing",
        fold_constants,
        """graph main(x: float32[8,4]) {
             r = SLICE(x, int32[2]{1, 0}, int32[2]{0, 4})
             s = SUM(r, int32[1]{1})
             return s, x
           }""",
    ),
    Rewrite(
        "fold/holds_off_on_an_output_without_elements",
        fold_constants,
        """graph main(x: float32[8,4]) {
             y = SLICE(float32[2]{1, 2}, int32[1]{1}, int32[1]{0})
             return y, x
           }""",
    ),
    Rewrite(
        "fold/holds_off_on_unknown_dimension",
        fold_constants,
        """graph main(x: float32[n,4]) {
             s = SHAPE(x)
             return s
           }""",
    ),
    Rewrite(
        "fold/holds_off_where_the_file_would_grow",
        fold_constants,
        """graph main(x: float32[1]) {
             b = BROADCAST_TO(float32[1]{1.0}, int32[3]{100, 100, 100})
             y = ADD(x, b)
             return y
           }""",
    ),
    Rewrite(
        "dead/unread",
        remove_dead_code,
        """graph main(x: float32[2]) {
             y = RELU(x)
             z = NEG(y)
             w = ABS(x)
             return w
           }""",
        """graph main(x: float32[2]) {
             w = ABS(x)
             return w
           }""",
    ),
    Rewrite(
        "dead/holds_off_on_custom",
        remove_dead_code,
        """graph main(x: float32[2]) {
             y: float32[2] = CUSTOM:Log(x)
             return x
           }""",
    ),
    Rewrite(
        "dead/holds_off_on_what_calls_a_graph",
        remove_dead_code,
        """graph main(x: float32[2]) {
             c: bool[1] = CUSTOM:Test(x)
             y: float32[2] = IF(c, x; calls=[then, otherwise])
             return x
           }
           graph then(a: float32[2]) {
             return a
           }
           graph otherwise(a: float32[2]) {
             return a
           }""",
    ),
    Rewrite(
        "duplicates/ops_and_constants",
        merge_duplicates,
        """graph main(x: float32[2,4]) {
             a = ADD(x, float32[4]{1, 2, 3, 4})
             b = ADD(x, float32[4]{1, 2, 3, 4})
             c = MUL(a, b)
             return c
           }""",
        """graph main(x: float32[2,4]) {
             a = ADD(x, float32[4]{1, 2, 3, 4})
             c = MUL(a, a)
             return c
           }""",
    ),
    Rewrite(
        "duplicates/outputs",
        merge_duplicates,
        """graph main(x: float32[2]) {
             a = RELU(x)
             b = RELU(x)
             return a as "a", b as "b"
           }""",
        """graph main(x: float32[2]) {
             a = RELU(x)
             return a as "a", a as "b"
           }""",
    ),
    Rewrite(
        "duplicates/holds_off_on_other_options",
        merge_duplicates,
        """graph main(x: float32[2]) {
             a = LEAKY_RELU(x; alpha=0.1)
             b = LEAKY_RELU(x; alpha=0.2)
             c = MUL(a, b)
             return c
           }""",
    ),
]

IDENTITIES = [
    Rewrite(
        "identities/parts_of_complex_numbers",
        remove_identities,
        """graph main(x: float32[n,4], y: float32[n,4]) {
             p = PACK(x, y; axis=2, values_count=2)
             c: complex64[n,4] = BITCAST(p)
             r = REAL(c)
             i = IMAG(c)
             d = SUB(r, i)
             return d
           }""",
        """graph main(x: float32[n,4], y: float32[n,4]) {
             d = SUB(x, y)
             return d
           }""",
    ),
    Rewrite(
        "identities/arithmetic",
        remove_identities,
        """graph main(x: float32[n,4]) {
             a = MUL(x, float32[4]{1.0})
             b = ADD(a, float32[]{0.0})
             c = SUB(b, float32[1]{0.0})
             d = DIV(c, float32[]{1.0})
             e = NEG(d)
             f = NEG(e)
             g = ABS(f)
             return g
           }""",
        """graph main(x: float32[n,4]) {
             g = ABS(x)
             return g
           }""",
    ),
    Rewrite(
        "identities/movement",
        remove_identities,
        """graph main(x: float32[n,4]) {
             a = RESHAPE(x, int32[2]{-1, 4})
             b = TRANSPOSE(a, int32[2]{0, 1})
             c = PAD(b, int32[2,2]{0})
             d = SLICE(c, int32[2]{0, 0}, int32[2]{-1, 4})
             e = STRIDED_SLICE(d, int32[2]{0, 0}, int32[2]{0, 4}, int32[2]{1, 1};
               begin_mask=1, end_mask=1)
             f = TILE(e, int32[2]{1, 1})
             g = CAST(f)
             h = CONCATENATION(g; axis=1)
             i = RELU(h)
             j = RELU(i)
             return j
           }""".replace("g = CAST(f)", "g: float32[n,4] = CAST(f)"),
        """graph main(x: float32[n,4]) {
             i = RELU(x)
             return i
           }""",
    ),
    Rewrite(
        "identities/reversing_nothing",
        remove_identities,
        """graph main(x: float32[4,1,n], y: float32[4,0]) {
             a = REVERSE_V2(x, int32[1]{1})
             b = REVERSE_V2(a, int32[2]{0, 1})
             c = REVERSE_V2(y, int32[1]{0})
             d = NEG(c)
             return b, d
           }""",
        """graph main(x: float32[4,1,n], y: float32[4,0]) {
             b = REVERSE_V2(x, int32[2]{0, 1})
             d = NEG(y)
             return b, d
           }""",
    ),
    Rewrite(
        "identities/hold_off_when_the_shape_grows",
        remove_identities,
        """graph main(x: float32[4]) {
             a = ADD(x, float32[2,4]{0.0})
             return a
           }""",
    ),
    Rewrite(
        "identities/hold_off_on_a_cut_that_small_sizes_hide",
        remove_identities,
        """graph main(x: float32[n,4]) {
             a = STRIDED_SLICE(x, int32[2]{0, 0}, int32[2]{5, 4}, int32[2]{1, 1};
               begin_mask=3, end_mask=2)
             return a
           }""",
    ),
    Rewrite(
        "identities/hold_off_backwards",
        remove_identities,
        """graph main(x: float32[4]) {
             a = STRIDED_SLICE(x, int32[1]{0}, int32[1]{0}, int32[1]{-1}; begin_mask=1, end_mask=1)
             return a
           }""",
    ),
    Rewrite(
        "identities/hold_off_on_activation",
        remove_identities,
        """graph main(x: float32[4]) {
             a = ADD(x, float32[]{0.0}; fused_activation_function=RELU)
             return a
           }""",
    ),
    Rewrite(
        "operands/constant_second",
        order_operands,
        """graph main(x: float32[n,4]) {
             a = ADD(float32[]{1.0}, x)
             b = SUB(float32[]{1.0}, a)
             return b
           }""",
        """graph main(x: float32[n,4]) {
             a = ADD(x, float32[]{1.0})
             b = SUB(float32[]{1.0}, a)
             return b
           }""",
    ),
    Rewrite(
        "constants/merged",
        merge_constants,
        """graph main(x: float32[n,4]) {
             a = MUL(x, float32[]{2.0})
             b = DIV(a, float32[]{4.0})
             c = ADD(b, float32[]{3.0})
             d = SUB(c, float32[4]{1.0}; fused_activation_function=RELU)
             return d
           }""",
        """graph main(x: float32[n,4]) {
             b = MUL(x, float32[]{0.5})
             d = ADD(b, float32[4]{2.0}; fused_activation_function=RELU)
             return d
           }""",
    ),
    Rewrite(
        "constants/hold_off_on_what_swallows",
        merge_constants,
        """graph main(x: float32[2,2]) {
             a = ADD(x, float32[2,2]{-1e+09, -1e+09, 0.0, -1e+09})
             b = ADD(a, float32[2,2]{1e+09, 0.0, 0.0, 1e+09})
             return b
           }""",
    ),
    Rewrite(
        "constants/hold_off_on_two_readers",
        merge_constants,
        """graph main(x: float32[n,4]) {
             a = MUL(x, float32[]{2.0})
             b = MUL(a, float32[]{4.0})
             c = ADD(a, b)
             return c
           }""",
    ),
    Rewrite(
        "constants/hold_off_on_overflow",
        merge_constants,
        """graph main(x: float32[4]) {
             a = MUL(x, float32[]{1e+30})
             b = MUL(a, float32[]{1e+30})
             return b
           }""",
    ),
    Rewrite(
        "constants/merged_around_a_sum",
        merge_constants_of_sum,
        """graph main(x: float32[n], y: float32[n]) {
             a = MUL(x, float32[]{0.5})
             b = DIV(y, float32[]{2.0})
             c = CONCATENATION(a, b; axis=0)
             d = SUM(c, int32[1]{0})
             e = MUL(d, float32[]{4.0}; fused_activation_function=RELU)
             return e
           }""",
        """graph main(x: float32[n], y: float32[n]) {
             c = CONCATENATION(x, y; axis=0)
             d = SUM(c, int32[1]{0})
             e = MUL(d, float32[]{2.0}; fused_activation_function=RELU)
             return e
           }""",
    ),
    *(
        Rewrite(
            f"constants/hold_off_around_a_sum_{reason}",
            merge_constants_of_sum,
            f"""graph main(x: float32[], y: float32[]) {{
                  a = MUL(x, float32[]{{{first}}})
                  b = MUL(y, float32[]{{{second}}})
                  c = PACK(a, b; values_count=2)
                  d = SUM(c, int32[1]{{0}})
                  e = MUL(d, float32[]{{{after}}})
                  return e, {other}
                }}""",
        )
        for reason, first, second, after, other in (
            ("of_other_factors", 0.5, 0.25, 4.0, "x"),
            ("that_may_overflow", 0.5, 0.5, 0.25, "x"),
            ("that_is_read", 0.5, 0.5, 4.0, "d"),
            ("of_what_is_read", 0.5, 0.5, 4.0, "b"),
        )
    ),
    Rewrite(
        "constants/shrunk",
        shrink_constants,
        """graph main(x: float32[n,4]) {
             a = MAXIMUM(x, float32[1,4]{0.5})
             return a
           }""",
        """graph main(x: float32[n,4]) {
             a = MAXIMUM(x, float32[]{0.5})
             return a
           }""",
    ),
    Rewrite(
        "constants/shrunk_where_they_do_not_learn",
        shrink_all_but_weights,
        """graph main(x: float32[n,4], i: int32[n,4]) {
             a = MAXIMUM(x, float32[4]{0.5})
             j = ADD(i, int32[4]{7})
             return a, j
           }""",
        """graph main(x: float32[n,4], i: int32[n,4]) {
             a = MAXIMUM(x, float32[4]{0.5})
             j = ADD(i, int32[]{7})
             return a, j
           }""",
    ),
    Rewrite(
        "identities/kept_where_they_learn",
        remove_all_but_weights,
        """graph main(x: float32[n,4]) {
             a = ADD(x, float32[4]{0.0})
             b = MUL(a, float32[]{1.0})
             c = RESHAPE(b, int32[2]{-1, 4})
             return c
           }""",
        """graph main(x: float32[n,4]) {
             a = ADD(x, float32[4]{0.0})
             return a
           }""",
    ),
    Rewrite(
        "constants/shrunk_in_a_choice",
        shrink_constants,
        """graph main(c: bool[n,4], x: float32[n,4]) {
             a = SELECT_V2(c, float32[1,4]{0.5}, x)
             b = SELECT_V2(c, x, float32[5,1,4]{0.0})
             return a, b
           }""",
        """graph main(c: bool[n,4], x: float32[n,4]) {
             a = SELECT_V2(c, float32[]{0.5}, x)
             b = SELECT_V2(c, x, float32[5,1,4]{0.0})
             return a, b
           }""",
    ),
    Rewrite(
        "constants/hold_off_when_they_give_the_shape",
        shrink_constants,
        """graph main(x: float32[1,4]) {
             a = MAXIMUM(x, float32[5,4]{0.5})
             return a
           }""",
    ),
    Rewrite(
        "negation/taken_into_sums",
        take_negation,
        """graph main(x: float32[n,4], y: float32[n,4]) {
             a = NEG(y)
             b = ADD(x, a; fused_activation_function=RELU)
             c = ADD(a, x)
             d = SUB(x, a)
             e = SUB(a, x)
             return b, c, d, e
           }""",
        """graph main(x: float32[n,4], y: float32[n,4]) {
             a = NEG(y)
             b = SUB(x, y; fused_activation_function=RELU)
             c = SUB(x, y)
             d = ADD(x, y)
             e = SUB(a, x)
             return b, c, d, e
           }""",
    ),
    Rewrite(
        "negation/holds_off_on_integers",
        take_negation,
        """graph main(x: int64[4], y: int64[4]) {
             a = NEG(y)
             b = ADD(x, a)
             return b
           }""",
    ),
    Rewrite(
        "zero/of_a_gate",
        multiply_by_zero,
        """graph main(x: float32[2,4]) {
             a = TANH(x)
             b = MUL(a, float32[2,4]{0.0})
             c = MAXIMUM(x, b)
             return c
           }""",
        """graph main(x: float32[2,4]) {
             c = MAXIMUM(x, float32[2,4]{0.0})
             return c
           }""",
    ),
    Rewrite(
        "zero/of_sums_of_truth_values",
        multiply_by_zero,
        """graph main(x: float32[4], p: bool[4]) {
             a: float32[4] = CAST(p)
             b = SUB(float32[]{1.0}, a)
             c = MUL(b, float32[4]{0.0})
             d = MAXIMUM(x, c)
             return d
           }""",
        """graph main(x: float32[4], p: bool[4]) {
             d = MAXIMUM(x, float32[4]{0.0})
             return d
           }""",
    ),
    Rewrite(
        "zero/holds_off_where_a_sum_may_overflow",
        multiply_by_zero,
        """graph main(i: int32[4]) {
             a: float32[4] = CAST(i)
             b = ADD(a, float32[]{3.0e38})
             c = MUL(b, float32[4]{0.0})
             return c
           }""",
    ),
    Rewrite(
        "zero/holds_off_where_x_may_be_nan",
        multiply_by_zero,
        """graph main(x: float32[2,4]) {
             b = MUL(x, float32[2,4]{0.0})
             return b
           }""",
    ),
    Rewrite(
        "division/becomes_multiplication",
        divide_by_multiplying,
        """graph main(x: float32[4]) {
             a = DIV(x, float32[4]{4.0})
             return a
           }""",
        """graph main(x: float32[4]) {
             a = MUL(x, float32[4]{0.25})
             return a
           }""",
    ),
    Rewrite(
        "division/holds_off_on_zero",
        divide_by_multiplying,
        """graph main(x: float32[4]) {
             a = DIV(x, float32[4]{0, 1, 2, 3})
             return a
           }""",
    ),
    Rewrite(
        "division/holds_off_on_integers",
        divide_by_multiplying,
        """graph main(x: int32[4]) {
             a = DIV(x, int32[]{2})
             return a
           }""",
    ),
]


@pytest.mark.parametrize("row", [*FOLD, *IDENTITIES], ids=str)
def test_rewrite(row):
    check(row)


def test_slices_of_unknown_rank_stay():
    graph = graph_of(
        """graph main(x: float32[?]) {
             a: float32[?] = SLICE(x, int32[2]{0, 0}, int32[2]{-1, 3})
             b: float32[?] = STRIDED_SLICE(a, int32[2]{0, 0}, int32[2]{3, 3}, int32[2]{1, 1})
             return b
           }"""
    )
    assert remove_identities(graph) == 0
