"""Small models for the interpreter's tests."""

import numpy as np
import pytest
from building import Builder, save


@pytest.fixture
def builder():
    """The class Builder."""
    return Builder


@pytest.fixture
def saved():
    """saved(*builders, signatures=[(key, inputs, outputs, subgraph)]) -> bytes."""
    return save


@pytest.fixture
def transposer():
    """A model: y = x transposed, z = y in one row; x is [unknown, 3]."""
    b = Builder()
    x = b.input("x", (None, 3))
    permutation = b.constant("permutation", np.array([1, 0], np.int32))
    y, z = b.tensor("y", (3, None)), b.tensor("z", (None,))
    b.op("TRANSPOSE", [x, permutation], [y])
    b.op("RESHAPE", [y, b.constant("row", np.array([-1], np.int32))], [z])
    b.outputs(y, z)
    return save(b, signatures=[("serve", {"x": x}, {"y": y, "z": z}, 0)])
