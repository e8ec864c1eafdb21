"""What LiteRT computes in the memory of others is read before, or computed in that of a copy."""

import numpy as np
import pytest
from rewriting import Rewrite, check, graph_of

from flatlite.converter.ir.write import write
from flatlite.converter.passes.shared_memory import keep_from_overwriting
from flatlite.schema.model import save

FAST = "BUILTIN_WITHOUT_DEFAULT_DELEGATES"
CASES = [
    Rewrite(
        "shared_memory/reader_moves",
        keep_from_overwriting,
        """graph main(x: float32[2,6]) {
             a = SUB(x, float32[]{3})
             y = MUL(a, x)
             z = RESHAPE(y, int32[2]{3, 4})
             r = ADD(z, float32[]{1})
             s = SIN(r)
             g = GATHER(y, int32[2]{1, 0})
             return s, g
           }""",
        """graph main(x: float32[2,6]) {
             a = SUB(x, float32[]{3})
             y = MUL(a, x)
             z = RESHAPE(y, int32[2]{3, 4})
             g = GATHER(y, int32[2]{1, 0})
             r = ADD(z, float32[]{1})
             s = SIN(r)
             return s, g
           }""",
    ),
    Rewrite(
        "shared_memory/copy_for_one_that_needs_the_result",
        keep_from_overwriting,
        """graph main(x: float32[2,6]) {
             a = SUB(x, float32[]{3})
             y = RESHAPE(a, int32[2]{3, 4})
             z = RESHAPE(y, int32[2]{6, 2})
             r = SOFTMAX(z; beta=1)
             s = RESHAPE(r, int32[2]{3, 4})
             g = MINIMUM(y, s)
             return g
           }""",
        """graph main(x: float32[2,6]) {
             a = SUB(x, float32[]{3})
             y = RESHAPE(a, int32[2]{3, 4})
             z = RESHAPE(y, int32[2]{6, 2})
             z1 = SLICE(z, int32[2]{0, 0}, int32[2]{-1, -1})
             r = SOFTMAX(z1; beta=1)
             s = RESHAPE(r, int32[2]{3, 4})
             g = MINIMUM(y, s)
             return g
           }""",
    ),
    Rewrite(
        "shared_memory/holds_off_where_the_owner_has_readers",
        keep_from_overwriting,
        """graph main(x: float32[2,6]) {
             y = SIN(x)
             z = RESHAPE(y, int32[2]{3, 4})
             r = ADD(z, float32[]{1})
             s = COS(r)
             g = GATHER(y, int32[2]{1, 0})
             return s, g
           }""",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_pass(case):
    check(case)


X = np.random.default_rng(4).normal(size=(2, 6)).astype(np.float32)
Y = (X - 3) * X
EXPONENTIALS = np.exp((X - 3).reshape(6, 2))
SOFTMAX = EXPONENTIALS / EXPONENTIALS.sum(1, keepdims=True)
VALUES = [
    (np.sin(Y.reshape(3, 4) + 1), Y[[1, 0]]),
    (np.minimum((X - 3).reshape(3, 4), SOFTMAX.reshape(3, 4)),),
    (np.cos(np.sin(X).reshape(3, 4) + 1), np.sin(X)[[1, 0]]),
]


@pytest.mark.parametrize("case, values", [*zip(CASES, VALUES, strict=True)])
def test_litert_gives_what_the_graph_says(case, values, litert):
    graph = graph_of(case.before)
    before = save(write(graph).model)
    keep_from_overwriting(graph)
    content = save(write(graph).model)
    plain, results = (litert.run(file, [[X]], FAST)[0] for file in (before, content))
    is_right = all(np.allclose(*pair, 1e-5, 1e-6) for pair in zip(plain, values, strict=True))
    assert is_right == (case.after is None)  # LiteRT's fault is still there
    for result, value in zip(results, values, strict=True):
        np.testing.assert_allclose(result, value, 1e-5, 1e-6)
