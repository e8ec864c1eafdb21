"""Sizes as expressions: they evaluate as integers do, and equal ones are the same object."""

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flatlite.converter.ir import dims
from flatlite.converter.ir.dim_values import evaluate
from flatlite.converter.ir.equations import solve
from flatlite.converter.ir.parse import parsed_size
from flatlite.converter.ir.sizes import Assumption, Scope, Size, as_size, extent, lowered
from flatlite.engine import sizes

NAMES = ("n", "h", "w")
n, h, w = (
    dims.symbol(name, reference) for name, reference in zip(NAMES, (7, 1680, 2640), strict=True)
)
FUNCTIONS = {
    "add": (dims.add, lambda x, y: x + y),
    "subtract": (dims.subtract, lambda x, y: x - y),
    "multiply": (dims.multiply, lambda x, y: x * y),
    "largest": (dims.largest, max),
    "smallest": (dims.smallest, min),
    "floor_div": (dims.floor_div, lambda x, y: x // y),
    "modulo": (dims.modulo, lambda x, y: x % y),
    "from_front": (dims.from_front, lambda x, y: x + y if x < 0 else x),
}
LEAVES = st.one_of(st.sampled_from(NAMES), st.integers(-9, 9))
TREES = st.recursive(
    LEAVES, lambda inner: st.tuples(st.sampled_from(sorted(FUNCTIONS)), inner, inner), max_leaves=9
)
NUMBERS = st.fixed_dictionaries(dict.fromkeys(NAMES, st.integers(0, 40)))
SYMBOLS = dict(zip(NAMES, (n, h, w), strict=True))


def symbolic(tree):
    if isinstance(tree, tuple):
        return FUNCTIONS[tree[0]][0](symbolic(tree[1]), symbolic(tree[2]))
    return SYMBOLS.get(tree, tree)


def plain(tree, numbers):
    if isinstance(tree, tuple):
        return FUNCTIONS[tree[0]][1](plain(tree[1], numbers), plain(tree[2], numbers))
    return numbers.get(tree, tree)


@given(tree=TREES, numbers=NUMBERS)
def test_expressions_are_what_integers_give(tree, numbers):
    try:
        want = plain(tree, numbers)
    except ZeroDivisionError:
        return
    x = symbolic(tree)
    assert evaluate(x, numbers) == want
    if dims.not_negative(x):
        assert want >= 0
    assert parsed_size(str(x), SYMBOLS.__getitem__) is x or str(x) == str(want)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (dims.floor_div(dims.add(dims.multiply(2, n), 4), 2), dims.add(n, 2)),
        (dims.floor_div(dims.floor_div(h, 2), 3), dims.floor_div(h, 6)),
        (
            dims.multiply(-1, dims.floor_div(dims.multiply(-1, h), 2)),
            dims.floor_div(dims.add(h, 1), 2),
        ),
        (dims.largest(dims.largest(h, 3), 3), dims.largest(3, h)),
        (dims.add(dims.largest(dims.subtract(n, 1), 0), 1), dims.largest(n, 1)),
        (dims.modulo(dims.multiply(n, h), h), 0),
        (dims.smallest(dims.smallest(n, 3), n), dims.smallest(n, 3)),
        (dims.broadcast(n, 1), n),
        (dims.broadcast(1, 8), 8),
        (dims.broadcast(n, 8), 8),
        (dims.broadcast(dims.broadcast(n, h), n), dims.broadcast(h, n)),
    ],
)
def test_equal_means_identical(x, y):
    assert x is y or x == y


def test_length_padded_to_a_multiple_is_one():
    padded = dims.add(h, dims.modulo(dims.multiply(-1, h), 4))
    assert dims.modulo(padded, 4) == 0
    assert dims.divide_exactly(padded, 4) is dims.floor_div(dims.add(h, 3), 4)


@pytest.mark.parametrize(
    ("x", "y", "want"),
    [
        (n, h, ("n", h)),
        (dims.multiply(8, n), 16, ("n", 2)),
        (dims.add(h, 3), w, ("w", dims.add(h, 3))),
        (dims.multiply(n, h), dims.multiply(n, w), ("w", h)),
        (dims.add(n, 5), 2, None),
        (dims.multiply(2, n), dims.multiply(3, h), None),
        (n, n, None),
    ],
)
def test_equalities_are_solved(x, y, want):
    solution = solve(x, y, lambda name: dims.symbol(name, 240))
    assert (solution and (solution[0], solution[1])) == want


def test_no_symbol_is_solved_for_in_a_product():
    n, m = dims.symbol("n", 2), dims.symbol("m", 240)
    assert solve(dims.multiply(n, m), 0, lambda name: dims.symbol(name, 240)) is None
    assert solve(dims.multiply(3, n), dims.multiply(2, n), lambda name: n, even_empty=True) is None


def test_a_multiple_is_a_number_times_a_new_symbol():
    name, size = solve(dims.modulo(h, 7), 0, lambda name: dims.symbol(name, 240))
    assert (name, str(size)) == ("h", "7*h_7")


def test_numbers_with_expressions_choose_by_them():
    x = as_size(dims.subtract(h, 2))
    assert isinstance(x, Size)
    assert str(extent(sizes.largest(x, 0) + 1)) == "max(2, h)-1"
    assert str(extent(sizes.steps(0, as_size(h), 2))) == "floor(h+1, 2)"
    assert sizes.broadcast_size(as_size(h), 8) == 8
    assert not sizes.negative([as_size(dims.subtract(2, h))])
    assert sizes.negative([-1])


def test_what_depends_on_an_assumption_opaquely_is_demanded_again():
    seen = []

    def lower(scope: Scope):
        first, second, third = (scope.length(name) for name in "abc")
        seen.append((first, second, third))
        half = dims.opaque(f"half_{second}", 120, [second])
        if first is not half:
            raise Assumption("a", half)
        if second is not third:
            raise Assumption("b", third)
        return first

    assert str(lowered(lower)) == "half_c"
    assert [str(second) for _, second, _ in seen] == ["b", "b", "c", "c"]


def test_lowering_starts_again_with_what_an_operator_demands():
    seen = []

    def lower(scope: Scope):
        first, second = scope.length("a"), scope.length("b")
        seen.append((first, second))
        if first is not second:
            raise Assumption("b", first)
        return second

    assert str(lowered(lower)) == "a"
    assert [first is second for first, second in seen] == [False, True]


def test_nested_sizes_take_no_time_that_grows_with_their_text():
    """Each within the next twice, both bounds of each; the number is computed once."""
    x = h
    for _ in range(16):
        nested = dims.add(dims.smallest(x, dims.multiply(2, w)), dims.largest(x, 3))
        x = dims.floor_div(nested, 2)
    assert dims.not_negative(x)
    assert not dims.not_negative(dims.subtract(x, 2))
    assert evaluate(x, {"h": 8, "w": 4}) == 8


def test_sums_of_many_limited_counts_are_given_up(monkeypatch):
    """Detections of ninety classes, of each as many as its limit."""
    n_proofs, prove = 0, dims._is_sum_not_negative

    def counted(*args):
        nonlocal n_proofs
        n_proofs += 1
        assert n_proofs <= dims.MAX_PROOFS
        return prove(*args)

    monkeypatch.setattr(dims, "_is_sum_not_negative", counted)
    counts = [dims.smallest(dims.symbol(f"count{i}", 7), 300) for i in range(90)]
    total = reduce(dims.add, counts)
    assert dims.not_negative(total)
    assert not dims.not_negative(dims.subtract(total, 100))
    assert not dims.not_negative(dims.subtract(700, total))
