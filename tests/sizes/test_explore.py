"""What exploring takes for rounding, and what for a difference."""

import numpy as np
import pytest
from explore import rounding_of
from stored import difference, sample, values


def cancelled(arrays):
    """Large numbers of which little is left."""
    (x,) = arrays
    return [np.float32([x.sum(dtype=np.float32) - x[::-1].sum(dtype=np.float32)]), x / 1000]


def expected_of(run, arrays):
    pairs = zip(run(arrays), rounding_of(run, arrays), strict=True)
    return [(x.shape, sample(x), rounding) for x, rounding in pairs]


def test_rounding_is_what_the_inputs_leave_of_it():
    arrays = [values((96,))]
    left, scaled = rounding_of(cancelled, arrays)
    assert 1e-7 < left < 1e-3
    assert 0 < scaled < 1e-8


@pytest.mark.parametrize(("gap", "differs"), [(1e-6, False), (0.01, True)])
def test_what_cancels_may_differ_by_rounding_alone(gap, differs):
    want, _ = expected_of(cancelled, [values((96,))])
    shape, elements, rounding = want
    assert bool(difference(elements + np.float32(gap), shape, elements, rounding)) == differs


def test_what_does_not_cancel_is_held_to_its_own_size():
    _, want = expected_of(cancelled, [values((96,))])
    shape, elements, rounding = want
    assert difference(elements + np.float32(1e-6), shape, elements, rounding)
    assert not difference(elements + np.float32(1e-8), shape, elements, rounding)


def test_integers_are_exact():
    shape, elements, rounding = expected_of(lambda arrays: arrays, [np.int32([3, 4])])[0]
    assert rounding == 0
    assert difference(elements + 1, shape, elements, rounding)
