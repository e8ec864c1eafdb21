"""Weights that a file stores as sparse tensors, against LiteRT."""

import numpy as np
import pytest
from building import Builder, save
from cases import floats
from declared import COLUMNS, ROWS, sparse_weights
from running import answers

from flatlite.lite import Interpreter


@pytest.mark.parametrize("densified", [False, True])
def test_fully_connected(densified, litert):
    b = Builder()
    x = b.input("x", (3, COLUMNS))
    weights, dense = sparse_weights(b, np.float32)
    if densified:
        weights = b.op("DENSIFY", [weights], [b.tensor("dense", dense.shape)])
    y = b.tensor("y", (3, ROWS))
    b.op("FULLY_CONNECTED", [x, weights, -1], [y])
    content, images = save(b.outputs(y)), floats(3, COLUMNS, seed=4)
    (ours,) = answers(Interpreter(model_content=content), images)
    np.testing.assert_allclose(ours, images @ dense.T, rtol=1e-5, atol=1e-6)
    theirs = litert.run(content, [[images]])
    assert not isinstance(theirs, str), theirs
    np.testing.assert_allclose(ours, theirs[0][0], rtol=1e-5, atol=1e-6)


def test_densify_of_float16(litert):
    b = Builder()
    weights, dense = sparse_weights(b, np.float16)
    y = b.tensor("y", dense.shape, "FLOAT16")
    b.op("DENSIFY", [weights], [y])
    z = b.tensor("z", dense.shape)
    b.op("DEQUANTIZE", [y], [z])
    content = save(b.outputs(z))
    (ours,) = answers(Interpreter(model_content=content))
    np.testing.assert_array_equal(ours, dense.astype(np.float32))
    theirs = litert.run(content, [[]])
    assert not isinstance(theirs, str), theirs
    np.testing.assert_array_equal(ours, theirs[0][0])
