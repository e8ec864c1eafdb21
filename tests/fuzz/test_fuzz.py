"""Some of every fuzzer, the same cases in every run; `make fuzz` draws others."""

import time
from collections import Counter

import pytest
from fuzz import campaign

SECONDS = 100
"""After which a fuzzer ends on a slow machine."""


@pytest.mark.parametrize("fuzzer", campaign.fuzzers(), ids=campaign.name_of)
def test_fuzz(fuzzer):
    counts, end = Counter(), time.monotonic() + SECONDS
    for failure in campaign.hunt(fuzzer, campaign.SEED, fuzzer.SHARE, end, counts):
        pytest.fail(campaign.describe(failure, campaign.shrink(failure)), pytrace=False)
    fuzzer.close()
    assert 2 * counts["equal"] >= sum(counts.values()), counts
