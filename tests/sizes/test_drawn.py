"""Programs over shapes drawn here: the file's answers are the source's, in LiteRT too.

`python tests/sizes/explore.py` draws others, as many as wanted, and says what is wrong of one.
"""

import pytest
from explore import report

N_PROGRAMS = 1000  # of each kind
N_SHARDS = 50  # of them
N_QUICK = 10  # shards that the default run has
N_SIZES = 4  # at which each is run


@pytest.mark.parametrize("kind", ["tf", "onnx"])
@pytest.mark.parametrize(
    "shard",
    [pytest.param(i, marks=pytest.mark.slow if i >= N_QUICK else ()) for i in range(N_SHARDS)],
)
def test_drawn(kind, shard, litert):
    names = [f"{kind}/{i}" for i in range(1000 + shard, 1000 + N_PROGRAMS, N_SHARDS)]
    actual = [(name, report(name, litert, N_SIZES)) for name in names]
    wrong = [f"{name}: {text}" for name, text in actual if text]
    assert not wrong, "\n".join(wrong)


N_WIDER = 10  # programs of each kind with all steps


@pytest.mark.parametrize("kind", ["wider_tf", "wider_onnx"])
def test_drawn_with_all_steps(kind, litert):
    """Vectors of sizes, computed counts and bounds, loops, branches within branches."""
    names = [f"{kind}/{i}" for i in range(20, 20 + N_WIDER)]
    actual = [(name, report(name, litert, N_SIZES)) for name in names]
    assert not [f"{name}: {text}" for name, text in actual if text]


ONCE_WRONG = {
    "tf": (12687, 202127),
    "onnx": (11101, 11197, 11820, 12535, 21504, 22313, 22870, 300365, 502192),
    "wider_tf": (1001083,),
    "wider_onnx": (1, 15, 57, 86, 1270, 1364, 1508, 1582, 1701, 72559),
}


@pytest.mark.parametrize("name", [f"{kind}/{n}" for kind, row in ONCE_WRONG.items() for n in row])
def test_what_exploring_found(name, litert):
    assert not report(name, litert)
