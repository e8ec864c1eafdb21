"""Every operator without elements in each dimension and at ranks 0 to 8, against LiteRT."""

import pytest
from sweep.known import EXPLAINED, ROWS, reason
from sweep.variants import starts, variants
from sweep.verdicts import PASSES, Interpreters

from flatlite.schema import operators

KINDS = [kind for kind in operators.kinds() if starts(kind)]


@pytest.fixture(scope="module")
def interpreters(request):
    if request.config.getoption("--without-litert"):
        pytest.skip("run without LiteRT, as --without-litert asks")
    both = Interpreters()
    yield both
    both.close()


def check(interpreters, cases):
    """Fails with a line for each variant that is neither as in LiteRT nor known."""
    wrong, n_equal = [], 0
    for start in cases:
        for case in variants(start):
            kind, text, _ = interpreters.verdict(case, start)
            n_equal += kind == "equal"
            known = kind in PASSES or (kind in EXPLAINED and reason(case))
            if not known:
                shapes = [None if x is None else x.shape for x in case.inputs]
                wrong.append(f"{kind}: {case.name} {shapes}: {text}")
    assert not wrong, "\n".join(wrong)
    return n_equal


@pytest.mark.parametrize("kind", KINDS)
def test_sweep(kind, interpreters):
    check(interpreters, starts(kind)[:1])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_sweep_of_all_types(kind, interpreters):
    check(interpreters, starts(kind)[1:])


def test_most_is_equal(interpreters):
    """What is compared are answers, not refusals alone."""
    for kind in ("ADD", "CONV_2D", "GATHER", "MEAN", "SOFTMAX", "TRANSPOSE"):
        assert check(interpreters, starts(kind)[:1]) >= 4


def test_rows_are_of_swept_operators():
    assert {row.op for row in ROWS} <= set(KINDS)
