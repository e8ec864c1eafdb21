"""Small models for the interpreter's tests."""

import numpy as np
import pytest
from building import Builder, save
from custom_ops import OPS, Trouble

from flatlite.engine.run import disk_cache
from flatlite.interpreter.delegation.with_custom_ops import InterpreterWithCustomOps


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


@pytest.fixture
def plans(tmp_path, monkeypatch):
    """The folder of the plan cache; also those of files that are new."""
    folder = tmp_path / "plans"
    monkeypatch.setenv("FLATLITE_PLANS", str(folder))
    monkeypatch.setattr(disk_cache, "SETTLED", 0)
    return folder


@pytest.fixture
def make():
    """make(content) -> an interpreter that knows the operators of custom_ops.py."""

    def registerer(custom_op):
        for name, cls in OPS.items():
            custom_op(name)(cls)

    def make(content, **options):
        return InterpreterWithCustomOps([registerer], model_content=content, **options)

    return make


@pytest.fixture
def trouble(monkeypatch):
    """trouble(function) sets what the operator Trouble does."""
    return lambda function: monkeypatch.setattr(Trouble, "doing", staticmethod(function))
