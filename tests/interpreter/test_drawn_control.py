"""Operators that call subgraphs, and variables, on drawn states: as LiteRT, over several calls."""

import numpy as np
import pytest
from control_draws import KINDS, Draw
from running import answers

from flatlite.lite import Interpreter

ALL = "BUILTIN_WITHOUT_DEFAULT_DELEGATES"  # the reference kernels lack CASE


def as_litert(kind, seeds, litert):
    """How many drawn models LiteRT runs; ours must give its results there."""
    n_runs = 0
    for seed in seeds:
        file, steps = KINDS[kind](Draw(seed))
        theirs = litert.run(file, steps, ALL)
        if isinstance(theirs, str):  # on no elements, or strings in variables
            continue
        n_runs += 1
        interpreter = Interpreter(model_content=file)
        for step, expected in zip(steps, theirs, strict=True):
            for got, want in zip(answers(interpreter, *step), expected, strict=True):
                assert got.shape == want.shape, seed
                assert got.dtype == want.dtype or got.dtype.hasobject, seed
                assert got.tolist() == want.tolist(), seed
    return n_runs


@pytest.mark.parametrize("kind", KINDS)
def test_as_litert(kind, litert):
    assert as_litert(kind, range(12), litert) > 6


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_as_litert(kind, litert):
    assert as_litert(kind, range(100, 300), litert) > 120


def test_a_handle_may_be_int32(builder, saved, litert):
    """As files had it before there was a type for resources."""
    main = builder("main")
    x, handle = main.input("x", (2,)), main.tensor("handle", (1,), "INT32")
    y = main.tensor("y", (2,))
    main.op("VAR_HANDLE", [], [handle], shared_name="v")
    main.op("ASSIGN_VARIABLE", [handle, x], [])
    main.op("READ_VARIABLE", [handle], [y])
    file, x = saved(main.outputs(y)), np.float32([3, -4])
    (got,) = answers(Interpreter(model_content=file), x)
    assert got.tolist() == litert.run(file, [[x]], ALL)[0][0].tolist() == [3, -4]
