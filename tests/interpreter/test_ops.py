"""Every operator case against its definition in numpy and against LiteRT."""

import numpy as np
import pytest
from cases import Case, Refuse, all_cases, content

from flatlite.lite import Interpreter

ACCEPTED = [case for case in all_cases() if isinstance(case, Case)]
REFUSED = [case for case in all_cases() if isinstance(case, Refuse)]


def by_name(case):
    return case.name


def answers(case):
    """What our interpreter gives."""
    interpreter = Interpreter(model_content=content(case))
    interpreter.allocate_tensors()
    for detail, array in zip(interpreter.get_input_details(), case.feeds, strict=True):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    return [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]


def compare(case, got, want):
    assert len(got) == len(want)
    for ours, theirs in zip(got, want, strict=True):
        theirs = np.asarray(theirs)
        assert ours.shape == theirs.shape
        if theirs.dtype.kind == "f":
            with np.errstate(over="ignore"):
                theirs = theirs.astype(ours.dtype)
            np.testing.assert_allclose(ours, theirs, rtol=case.rtol, atol=case.atol)
        else:
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("case", [case for case in ACCEPTED if case.expected], ids=by_name)
def test_definition(case):
    want = case.expected(*case.inputs)
    got = answers(case)
    compare(case, got, want if isinstance(want, (tuple, list)) else [want])
    first = next(array for array in case.inputs if array is not None)
    assert [x.dtype for x in got] == [np.dtype(d) for d in case.outputs or [first.dtype]]


@pytest.mark.parametrize("case", [case for case in ACCEPTED if case.oracle], ids=by_name)
def test_litert(case, litert):
    theirs = litert.run(content(case), [case.feeds], case.oracle)
    assert not isinstance(theirs, str), theirs
    got = answers(case)
    compare(case, got, theirs[0])
    assert [x.dtype for x in got] == [x.dtype for x in theirs[0]]


def test_every_case_has_a_definition_or_litert():
    alone = [case for case in ACCEPTED if not case.oracle]
    assert all(case.expected and case.why for case in alone)


def test_the_sign_of_minus_zero(litert):
    case = Case("sign/zeros", "SIGN", {}, [np.float32([-0.0, 0.0, -1.0])])
    theirs = litert.run(content(case), [case.feeds])[0]
    np.testing.assert_array_equal(np.signbit(answers(case)), np.signbit(theirs))


@pytest.mark.parametrize("case", REFUSED, ids=by_name)
def test_refused(case):
    with pytest.raises(RuntimeError) as raised:
        answers(case)
    assert f"{case.op} 'out0': {case.message}" in str(raised.value)
    assert "failed to prepare" in str(raised.value)
