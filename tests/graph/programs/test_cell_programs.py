"""Cells of LSTM and GRU that are one operation: TensorFlow's values, gradients and words."""

import json
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf

from . import cell_programs

RECORDED = json.loads(Path(__file__).with_name("cell_programs.json").read_text())


def assert_close(arrays, expected):
    """The same up to rounding."""
    for array, other in zip(arrays, expected, strict=True):
        np.testing.assert_allclose(array, other, 2e-5, 2e-5)


def test_sequences():
    expected_rows = RECORDED["sequences"]
    for row, expected in zip(cell_programs.sequences(tf), expected_rows, strict=True):
        assert_close(row, expected)


def test_sequences_of_version_2():
    rows = cell_programs.sequences_of_version_2(tf, tf.raw_ops.BlockLSTMV2)
    for row, expected in zip(rows, RECORDED["sequences_of_version_2"], strict=True):
        assert_close(row, expected)


def test_imported():
    (shapes, arrays), (expected_shapes, expected) = (
        cell_programs.imported(tf),
        RECORDED["imported"],
    )
    assert shapes == expected_shapes
    assert_close(arrays, expected)


def test_refusals():
    assert cell_programs.refusals(tf) == RECORDED["refusals"]


def test_gradients_of_steps():
    expected_rows = RECORDED["gradients_of_formulas"]
    rows = cell_programs.gradients_of_operations(tf)
    for row, expected in zip(rows, expected_rows, strict=True):
        assert_close(row, expected)


@pytest.mark.parametrize("n_steps", [-1, cell_programs.TIME + 1])
def test_more_steps_than_there_are(n_steps):
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"in \[0, 5\].* got {n_steps}"):
        cell_programs.hidden(tf, n_steps)
