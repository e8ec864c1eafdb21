"""Comparators of STABLEHLO_SORT: those with keys sort by numbers, all sort as they say."""

from functools import cmp_to_key

import numpy as np
import pytest
from building import Builder, save

from flatlite.interpreter.ops.stablehlo import calls
from flatlite.lite import Interpreter

EQ, GT, LT = 0, 3, 5
RANDOM = np.random.default_rng(5)
FLOATS = RANDOM.integers(-9, 9, (3, 40)).astype(np.float32)
NUMBERS = RANDOM.integers(-3, 3, (3, 40)).astype(np.int32)
SPECIAL = np.float32([[np.nan, -np.nan, -0.0, 0.0, np.inf, -np.inf, 1, -1, np.nan, 0.0]])


class Comparator(Builder):
    """A comparator of pairs x0, y0, x1, y1, ..."""

    def __init__(self, dtypes):
        super().__init__("comparator")
        names = [f"{side}{i}" for i in range(len(dtypes)) for side in "xy"]
        types = [dtype for dtype in dtypes for _ in "xy"]
        pairs = zip(names, types, strict=True)
        self.ends = [self.input(name, (), str(dtype).upper()) for name, dtype in pairs]
        self.n = 0

    def __call__(self, kind, *operands, dtype=None, **options):
        self.n += 1
        dtype = dtype or self.subgraph.tensors[operands[0]].dtype
        out = self.tensor(f"t{self.n}", (), dtype)
        return self.op(f"STABLEHLO_{kind}", operands, [out], **options)

    def compare(self, a, b, direction, compare_type=1):
        options = {"comparison_direction": direction, "compare_type": compare_type}
        return self("COMPARE", a, b, dtype="BOOL", **options)


def magnitude(c):
    x, y, *_ = c.ends
    return c.compare(c("ABS", x), c("ABS", y), GT)


def swapped(c):
    x, y, *_ = c.ends
    return c.compare(y, x, LT)


def of_two_operands(c):
    x, y, u, v = c.ends
    return c.compare(c("ADD", x, c("MULTIPLY", u, u)), c("ADD", y, c("MULTIPLY", v, v)), LT)


def in_turn(c):
    x, y, u, v = c.ends
    ties = c("AND", c.compare(u, v, LT), c.compare(c("ABS", x), c("ABS", y), EQ), dtype="BOOL")
    return c("OR", ties, c.compare(c("ABS", x), c("ABS", y), GT), dtype="BOOL")


def falling(c):
    x, y, u, v = c.ends
    ties = c("AND", c.compare(x, y, EQ), c.compare(u, v, LT), dtype="BOOL")
    return c("OR", c.compare(x, y, GT), ties, dtype="BOOL")


def by_difference(c):
    x, y, *_ = c.ends
    return c.compare(c("SUBTRACT", x, y), c.constant("zero", np.zeros((), np.float32)), LT)


def total(c):
    x, y, *_ = c.ends
    return c.compare(x, y, LT, compare_type=2)


def rank(x):
    """A number that rises in IEEE 754's total order."""
    bits = int(np.float32(x).view(np.int32))
    return bits if bits >= 0 else -(bits & 0x7FFFFFFF) - 1


CASES = {
    "magnitude": (magnitude, [FLOATS], lambda x, y: abs(x) > abs(y), 1),
    "swapped": (swapped, [FLOATS], lambda x, y: y < x, None),
    "falling_unsigned": (
        falling, [NUMBERS.astype(np.uint32), NUMBERS[::-1].copy()],
        lambda x, y, u, v: x > y or (x == y and u < v), 2,
    ),
    "two_operands": (
        of_two_operands, [FLOATS, FLOATS[::-1] / 4],
        lambda x, y, u, v: x + u * u < y + v * v, 1,
    ),
    "in_turn": (
        in_turn, [FLOATS, RANDOM.random((3, 40), np.float32)],
        lambda x, y, u, v: abs(x) > abs(y) or (abs(x) == abs(y) and u < v), 2,
    ),
    "in_turn_integers": (
        in_turn, [NUMBERS, RANDOM.integers(0, 4, (3, 40)).astype(np.int32)],
        lambda x, y, u, v: abs(x) > abs(y) or (abs(x) == abs(y) and u < v), 2,
    ),
    "no_form": (by_difference, [FLOATS], lambda x, y: x - y < 0, 0),
    "total": (total, [SPECIAL], lambda x, y: rank(x) < rank(y), 1),
}  # fmt: skip


def sorted_by(inputs, before):
    """Rows sorted together by Python, equal elements as they were."""
    orders = []
    for rows in zip(*inputs, strict=True):

        def compared(i, j, rows=rows):
            pairs = [x for row in rows for x in (row[i], row[j])]
            back = [x for row in rows for x in (row[j], row[i])]
            return bool(before(*back)) - bool(before(*pairs))

        orders.append(sorted(range(len(rows[0])), key=cmp_to_key(compared)))
    return [np.take_along_axis(x, np.array(orders), 1) for x in inputs]


@pytest.mark.parametrize("name", CASES)
def test_sorted_as_it_says(name, monkeypatch):
    comparator, inputs, before, n_keys = CASES[name]
    seen = []
    keys_of = calls.keys_of
    monkeypatch.setattr(calls, "keys_of", lambda *a: seen.append(keys_of(*a)) or seen[-1])
    main, body = Builder("main"), Comparator([x.dtype for x in inputs])
    types = [str(x.dtype).upper() for x in inputs]
    ends = [main.input(f"in{i}", x.shape, types[i]) for i, x in enumerate(inputs)]
    outs = [main.tensor(f"out{i}", x.shape, types[i]) for i, x in enumerate(inputs)]
    body.outputs(comparator(body))
    main.op("STABLEHLO_SORT", ends, outs, dimension=1, is_stable=True, comparator_subgraph_index=1)
    interpreter = Interpreter(model_content=save(main.outputs(*outs), body))
    interpreter.allocate_tensors()
    for end, x in zip(ends, inputs, strict=True):
        interpreter.set_tensor(end, x)
    interpreter.invoke()
    for out, want in zip(outs, sorted_by(inputs, before), strict=True):
        np.testing.assert_array_equal(interpreter.get_tensor(out).view("u4"), want.view("u4"))
    assert [len(keys) for keys in seen] == ([] if n_keys is None else [n_keys])
