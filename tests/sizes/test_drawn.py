"""Programs over shapes drawn here: the file's answers are the source's, in LiteRT too.

`python tests/sizes/explore.py` draws others, as many as wanted.
"""

import pytest
from explore import check

N_PROGRAMS = 1000  # of each kind
N_SHARDS = 50  # of them


@pytest.mark.parametrize("kind", ["tf", "onnx"])
@pytest.mark.parametrize("shard", range(N_SHARDS))
def test_drawn(kind, shard, litert):
    wrong = {}
    for number in range(1000 + shard, 1000 + N_PROGRAMS, N_SHARDS):
        if found := check(kind, number, litert):
            wrong[f"{kind}/{number}"] = found
    assert not wrong
