"""Optimizers: TensorFlow's recorded trajectories, names of slots, errors."""

import numpy as np
import pytest
from recorded import load, rows
from trajectory import trajectory

import flatlite.compat.v1 as tf

LATER = ("FtrlOptimizer", "RMSPropOptimizer")
ROWS = [row for row in rows() if row["kind"] == "tf1_optimizer"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_trajectory(row, record_property):
    record_property("corpus", "tf1_optimizer")
    if any(name in row["expr"] for name in LATER):
        with pytest.raises(AttributeError, match="has no attribute"):
            trajectory(tf, row)
        pytest.xfail("this optimizer is not there yet")
    found, slots, variables = trajectory(tf, row)
    expected = load(row["files"]["data"])
    assert slots == row["slots"]
    assert variables == row["variables"]
    assert found.keys() == expected.keys()
    tolerance = row["tolerance"]["tf"]
    for name, want in expected.items():
        assert found[name].dtype == want.dtype, name
        np.testing.assert_allclose(found[name], want, err_msg=name, **tolerance)
