"""Some of every fuzzer, elsewhere with each commit; `make fuzz` goes on from there."""

import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from fuzz import campaign

SECONDS = 60  # after which a fuzzer ends on a slow machine; it has a number of cases, so that the
# same commit tries the same ones everywhere


@pytest.fixture(scope="module")
def seed():
    """A number of the commit; 0 where there is no repository."""
    command = [shutil.which("git") or "false", "rev-parse", "HEAD"]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    return int(done.stdout[:7] or "0", 16)


@pytest.mark.parametrize("fuzzer", campaign.fuzzers(), ids=campaign.name_of)
def test_fuzz(fuzzer, seed):
    counts, end = Counter(), time.monotonic() + SECONDS
    for failure in campaign.hunt(fuzzer, seed, fuzzer.SHARE, end, counts):
        pytest.fail(campaign.describe(failure, campaign.shrink(failure)), pytrace=False)
    fuzzer.close()
    assert 2 * counts["equal"] >= sum(counts.values()), counts
