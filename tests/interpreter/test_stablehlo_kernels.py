"""StableHLO's operators that move, fold and sort are instructions, and give what is defined."""

import numpy as np
import pytest
from building import Builder, save
from declared import body, model
from running import answers
from stablehlo_draws import KINDS, NUMBERS, Draw

from flatlite.interpreter.plan.node import HostCall
from flatlite.lite import Interpreter


def is_native(interpreter):
    """Whether all operators are instructions of one program."""
    plan = interpreter._plans[0]
    steps = plan.first.notes.steps
    return plan.reached is plan.first and not any(isinstance(emit, HostCall) for _, emit in steps)


def compare(file, feeds, expected, rtol=0.0):
    interpreter = Interpreter(model_content=file)
    for got, want in zip(answers(interpreter, *feeds), expected, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol)
    return interpreter


@pytest.mark.parametrize("kind", KINDS)
def test_drawn(kind):
    for seed in range(40):
        file, feeds, expected = KINDS[kind](Draw(seed))
        is_float = any(x.dtype.kind in "fc" for x in expected)
        interpreter = compare(file, feeds, expected, 1e-5 if is_float else 0)
        assert is_native(interpreter) or expected[0].itemsize == 16, (kind, seed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_drawn(kind):
    for seed in range(1000, 1600):
        file, feeds, expected = KINDS[kind](Draw(seed))
        is_float = any(x.dtype.kind in "fc" for x in expected)
        compare(file, feeds, expected, 1e-5 if is_float else 0)


@pytest.mark.parametrize("out", NUMBERS)
def test_products_of_numbers(out):
    """Operands become numbers of the result's type first; sums of integers wrap."""
    random = np.random.default_rng(4)
    for dtype in ("int8", "uint8", "int32", out):
        if np.dtype(out).kind != "f" and np.dtype(dtype).kind == "f":
            continue
        x, y = (random.integers(0, 120, shape).astype(dtype) for shape in ((3, 5, 2), (7, 2, 5)))
        options = {"lhs_contracting_dimensions": [2, 1], "rhs_contracting_dimensions": [1, 2]}
        file = model("DOT_GENERAL", [x, y], [((3, 7), out)], **options)
        want = np.einsum("aij,bji->ab", x.astype(out), y.astype(out))
        assert is_native(compare(file, [x, y], [want], 1e-6 if np.dtype(out).kind == "f" else 0))


@pytest.mark.parametrize("lengths", [(8, 16), (4, 4), (16, 2), (32, 8)], ids=str)
@pytest.mark.parametrize("shape", [(8, 16), (2, 3, 5, 9), (1, 20, 40)], ids=str)
def test_fourier_transforms(shape, lengths, litert):
    b = Builder()
    x, y = (
        b.input("x", shape),
        b.tensor("y", (*shape[:-2], lengths[0], lengths[1] // 2 + 1), "COMPLEX64"),
    )
    b.op("RFFT2D", [x, b.constant("lengths", np.int32(lengths))], [y])
    file, x = save(b.outputs(y)), np.random.default_rng(2).normal(size=shape).astype(np.float32)
    theirs = litert.run(file, [[x]])
    assert not isinstance(theirs, str), theirs
    assert is_native(compare(file, [x], theirs[0], 1e-6))


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("kind", ["EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"])
def test_bytes_without_scales_are_compared_as_they_are(kind, dtype):
    b = Builder()
    operands = [b.input(name, (4,), dtype.upper()) for name in "xy"]
    out = b.tensor("out", (4,), "BOOL")
    b.op(kind, operands, [out])
    x, y = np.array([1, 5, 3, 100], dtype), np.array([2, 5, 1, 99], dtype)
    compare(save(b.outputs(out)), [x, y], [getattr(np, kind.lower())(x, y)])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
@pytest.mark.parametrize(
    ("kind", "function"), [("ADD", np.add), ("SUB", np.subtract), ("MUL", np.multiply)]
)
def test_integers_without_scales_wrap_around(kind, function, dtype, litert):
    """LiteRT ends the process for ADD and SUB, but for ADD of int16; MUL of 8 bits is 0 there."""
    b = Builder()
    operands = [b.input(name, (4,), dtype.upper()) for name in "xy"]
    out = b.tensor("out", (4,), dtype.upper())
    b.op(kind, operands, [out])
    limits = np.iinfo(dtype)
    x, y = np.array([limits.max, limits.min, 7, 100], dtype), np.array([3, 5, 2, 3], dtype)
    file, expected = save(b.outputs(out)), function(x, y)
    compare(file, [x, y], [expected])
    theirs = litert.run(file, [[x, y]])
    if kind == "MUL":
        zeros = np.zeros_like(expected)
        np.testing.assert_array_equal(theirs[0][0], expected if dtype == "int16" else zeros)


SCATTERED = {"update_window_dims": [1], "inserted_window_dims": [0],
             "scatter_dims_to_operand_dims": [0], "index_vector_dim": 1}  # fmt: skip
BROKEN = {
    "more indices than a vector has": {"scatter_dims_to_operand_dims": [0, 1]},
    "an index twice": {"scatter_dims_to_operand_dims": [0, 0]},
    "vectors along no dimension": {"index_vector_dim": 5},
    "another number of updates": {"update_window_dims": [0]},
}


@pytest.mark.parametrize("what", BROKEN)
def test_scatter_of_what_does_not_fit_is_refused(what):
    operands = [
        np.zeros((5, 3), np.float32),
        np.zeros((4, 1), np.int32),
        np.ones((4, 3), np.float32),
    ]
    options = {**SCATTERED, **BROKEN[what], "update_computation_subgraph_index": 1}
    file = model("SCATTER", operands, [((5, 3), "float32")], body("second"), **options)
    with pytest.raises(RuntimeError, match="STABLEHLO_SCATTER"):
        Interpreter(model_content=file).allocate_tensors()


@pytest.mark.parametrize(
    "change",
    [
        {"start_index_map": [0, 0]},
        {"slice_sizes": [0, 3]},
        {"slice_sizes": [6, 3]},
        {"index_vector_dim": 0},
        {"offset_dims": [0, 0]},
    ],
    ids=str,
)
def test_gather_of_what_does_not_fit_is_refused(change):
    operands = [np.zeros((5, 3), np.float32), np.zeros((4, 2), np.int32)]
    options = {"offset_dims": [1], "collapsed_slice_dims": [0], "start_index_map": [0, 1],
               "index_vector_dim": 1, "slice_sizes": [1, 3], **change}  # fmt: skip
    file = model("GATHER", operands, [((4, 3), "float32")], **options)
    with pytest.raises(RuntimeError, match="STABLEHLO_GATHER"):
        Interpreter(model_content=file).allocate_tensors()
