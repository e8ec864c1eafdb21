"""One operation in every type that TensorFlow takes: cases of tests/graph with other types.

converter/tf/record_types.py runs them with TensorFlow, converter/tf/test_types.py with flatlite, so
that nothing but numpy may be imported here.
"""

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "graph/ops"))

import op_cases_array
import op_cases_math
import op_cases_more
import op_cases_nn
from op_cases import CASES

TABLES = (op_cases_array, op_cases_math, op_cases_more, op_cases_nn)
CASES_OF_AN_OP = 2


class Operand(NamedTuple):
    """An input of an operation: an array, or a list of them, and whether it is constant."""

    value: object
    is_constant: bool


def chosen():
    """The first cases of each operation, by name."""
    counts, cases = Counter(), {}
    for case in CASES:
        counts[case.op] += 1
        if counts[case.op] <= CASES_OF_AN_OP:
            cases[case.id] = case
    return cases


def operands(case, types):
    """The operands of a case, in the types that `types` has for some of their positions."""
    if case.op == "Cast":  # a negative number as an unsigned one is whatever the processor makes
        (make,) = case.inputs
        case = replace(case, inputs=[lambda rng: abs(make(rng))])
    drawn = [callable(value) or isinstance(value, list) for value in case.inputs]
    return [
        Operand(_typed(value, types.get(i)), any(drawn) and not drawn[i])
        for i, value in enumerate(case.arrays())
    ]


def _typed(value, dtype):
    if dtype is None:
        return value
    if isinstance(value, list):
        return [_typed(one, dtype) for one in value]
    kind = np.dtype(dtype).kind
    if kind == "O":
        return np.vectorize(lambda x: str(x).encode(), [object])(value)
    if value.dtype.kind == "c" != kind:
        value = value.real
    if value.dtype.kind == "f" and kind in "iu":
        value = np.where(np.isfinite(value), np.rint(value * 2), 0)
    return (np.abs(value) if kind == "u" else value).astype(dtype)
