"""The table of operators: well formed, complete, and true of what LiteRT is known to run."""

import numpy as np
import pytest
import write_operators_page
from cases import Case, all_cases

from flatlite.schema import operators, tables
from flatlite.schema.dtypes import tensor_type

RUN = [case for case in all_cases() if isinstance(case, Case) and case.oracle is not None]


def code(dtype, is_scaled):
    name = tables.name_of("TensorType", tensor_type(np.dtype(dtype)))
    return ("q" if is_scaled else "") + operators.SHORT[name]


def types_of(case):
    """The types of a case's operands and results, as the table writes them."""
    first = next(array for array in case.inputs if array is not None)
    scales = case.quantization or {}
    operands = [
        operators.LEFT_OUT if array is None else code(array.dtype, i in scales)
        for i, array in enumerate(case.inputs)
    ]
    results = [first.dtype] if case.outputs is None else case.outputs
    return operands, [code(dtype, f"out{i}" in scales) for i, dtype in enumerate(results)]


def test_rows_are_of_operators():
    assert list(operators.kinds()) == sorted(tables.BUILTIN_OPERATOR)


@pytest.mark.parametrize("kind", operators.kinds())
def test_row(kind):
    row = operators.known(kind)
    for one in row.combinations:
        assert len(one.operands) == len(row.operands)
        assert len(one.results) == len(row.results)
        every = (*one.operands, *one.results)
        for types in every:
            if isinstance(types, int):
                assert not isinstance(every[types], int)
            else:
                assert {kind.removeprefix("q") for kind in types} <= {*operators.TYPES, "-"}


@pytest.mark.parametrize("case", RUN, ids=lambda case: case.name)
def test_cases_that_litert_runs_are_accepted(case):
    operands, results = types_of(case)
    assert operators.known(case.op).accepts(operands, results), (operands, results)


REFUSED = [
    ("PACK", ["bool", "bool"], ["bool"]),
    ("UNPACK", ["i64"], ["i64", "i64"]),
    ("ADD_N", ["i64", "i64"], ["i64"]),
    ("FLOOR_DIV", ["i64", "i64"], ["i64"]),
    ("SPLIT", ["i32", "bool"], ["bool", "bool"]),
    ("CONCATENATION", ["f64", "f64"], ["f64"]),
    ("RANGE", ["f16", "f16", "f16"], ["f16"]),
    ("NOT_EQUAL", ["i16", "i16"], ["bool"]),
    ("EQUAL", ["i8", "i8"], ["bool"]),
    ("ADD", ["f32", "i32"], ["f32"]),
    ("CONCATENATION", ["f32", "i32"], ["f32"]),
]


@pytest.mark.parametrize(("kind", "operands", "results"), REFUSED)
def test_what_litert_refuses_is_not_accepted(kind, operands, results):
    """Of these, LiteRT was seen to refuse the model, to end the process or to answer wrongly."""
    assert not operators.known(kind).accepts(operands, results)


def test_counts_and_options():
    assert operators.known("CONV_2D").counts == (2, 3)
    assert operators.known("CONCATENATION").counts == (1, None)
    assert operators.known("SHAPE").options == {"out_type": (2, 4)}
    assert operators.operator("NO_SUCH") is None
    with pytest.raises(LookupError, match="no row for NO_SUCH"):
        operators.known("NO_SUCH")


def test_the_page_of_operators_is_current():
    """docs/operators.md; tests/write_operators_page.py writes it."""
    text = write_operators_page.page()
    assert text == write_operators_page.PAGE.read_text()
    for line in text.splitlines():
        if line.startswith("| ") and line.count("|") == 5:
            assert line.split("|")[4].strip() or line.split("|")[2].strip() == "-", line
