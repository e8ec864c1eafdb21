"""Some of every fuzzer, the same cases in every run; `make fuzz` draws others."""

import time
from collections import Counter

import numpy as np
import pytest
from cases import Case, content
from fuzz import campaign, compare, known, mutants, rewrites
from fuzz.children import Child
from fuzz.drawing import Draw
from running import answers

from flatlite.lite import Interpreter

SECONDS = 100
"""After which a fuzzer ends on a slow machine."""


@pytest.mark.parametrize("shares", [1, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("fuzzer", campaign.fuzzers(), ids=campaign.name_of)
def test_fuzz(fuzzer, shares):
    counts, end = Counter(), time.monotonic() + shares * SECONDS
    for failure in campaign.hunt(fuzzer, campaign.SEED, shares * fuzzer.SHARE, end, counts):
        pytest.fail(campaign.describe(failure, campaign.shrink(failure)), pytrace=False)
    fuzzer.close()
    kind, share = getattr(fuzzer, "LEAST", ("equal", 0.5))
    assert counts[kind] >= share * sum(counts.values()), counts


@pytest.mark.slow
def test_many_mutants():
    counts = Counter()
    for failure in campaign.hunt(mutants, campaign.SEED + 1, 5000, float("inf"), counts):
        pytest.fail(campaign.describe(failure, failure), pytrace=False)
    mutants.close()
    assert counts["ran"] > 500, counts


@pytest.mark.parametrize(
    ("fresh", "first", "second", "stale"),
    [
        ([b"a"], [b"a"], [b"b"], True),
        ([b"a"], [b"a"], "ValueError: no", True),
        ([b"a"], [b"b"], [b"c"], False),
        ("MemoryError", "MemoryError", [b"a"], False),
        ([b"a"], [b"a"], "MemoryError", False),
        (
            *["ValueError: 8 bytes, at most 3 (3/4 of the memory left)"] * 2,
            "ValueError: 8 bytes, at most 2 (3/4 of the memory left)",
            False,
        ),
    ],
)
def test_what_a_cached_plan_is_blamed_for(fresh, first, second, stale):
    assert bool(mutants.difference(fresh, first, second)) is stale


@pytest.mark.parametrize(
    ("ours", "theirs", "differs"), [(1, 2, False), (0, 0, False), (2, 1, True), (1, 0, True)]
)
def test_bools_are_compared_by_what_they_say(ours, theirs, differs):
    one, other = (np.uint8([byte]).view(bool) for byte in (ours, theirs))
    assert bool(compare.difference([one], [other], 0)) is differs


def test_a_child_that_dies_after_its_answer_is_started_again():
    child = Child("signal", "alarm")
    assert child.run(1) == 0  # a second later, that ends it
    time.sleep(1.5)
    assert child.run(0) == 0
    child.close()


@pytest.mark.parametrize(("last", "kind"), [("ATAN2", "unstable"), ("ADD", "equal")])
def test_signs_of_zeros_are_no_difference(last, kind):
    """RELU(x) + 0 * RELU(-x) is 0 for -0, and the PRELU that it becomes -0."""
    d = Draw(np.random.default_rng(0))
    x = d.input("float32", (4, 1))
    left, negative, right, scaled, total, out = (d.like(x) for _ in range(6))
    d.add("RELU", [x], [left])
    d.add("NEG", [x], [negative])
    d.add("RELU", [negative], [right])
    d.add("MUL", [right, d.known(np.zeros(1), "float32", 0)], [scaled])
    d.add("ADD", [left, scaled], [total])
    d.add(last, [total, total], [out])
    case = d.finish()
    case.graph.outputs = [out]
    case.feeds[0][:, 0] = [-0.0, 0.0, 1.0, -1.0]
    assert rewrites.check(case).kind == kind
    rewrites.close()


def test_gelu_differs_alone_where_entries_rest_on_a_last_bit(litert):
    """C's erfcf is off by its last bit in the middle of one interval of these scales."""
    scales, values = (8.612879355496261e-06, 6.2086860452836845e-06), np.arange(-32768, 32768)
    quantization = dict(zip((0, "out0"), [(scale, 0) for scale in scales], strict=True))
    case = Case("gelu", "GELU", {}, [values.astype(np.int16)], quantization=quantization)
    (theirs,) = litert.run(content(case), [case.feeds])[0]
    (ours,) = answers(Interpreter(model_content=content(case)), *case.feeds)
    rests = known.resting_entries(*scales)
    assert 0 < rests.mean() < 0.01
    entries = 256 + (values >> 7)
    others = ~(rests[entries] | rests[entries + 1])
    np.testing.assert_array_equal(ours[others], theirs[others])
