"""Sparse tensors are held against their shape before anything is made of them."""

import numpy as np
import pytest

from flatlite.schema.errors import ModelError
from flatlite.schema.flatbuffer import record
from flatlite.schema.sparse import check_sparsity, densify

SPARSE = 1


def dense(size):
    return record("DimensionMetadata")(dense_size=size)


def compressed(segments, indices, vector="Int32Vector"):
    values = {"Int32Vector": "i4", "Uint16Vector": "u2", "Uint8Vector": "u1"}[vector]
    return record("DimensionMetadata")(
        format=SPARSE,
        array_segments=record("Int32Vector")(values=np.array(segments, "i4")),
        array_indices=record(vector)(values=np.array(indices, values)),
    )


def sparsity(order, levels, block_map=None):
    return record("SparsityParameters")(
        traversal_order=order, dim_metadata=tuple(levels), block_map=block_map
    )


def test_rows_with_compressed_columns():
    levels = [dense(3), compressed([0, 2, 2, 3], [0, 3, 1], "Uint16Vector")]
    assert check_sparsity(sparsity([0, 1], levels), [3, 4]) == 3


def test_columns_first():
    levels = [dense(4), compressed([0, 1, 1, 1, 2], [2, 0])]
    assert check_sparsity(sparsity([1, 0], levels), [3, 4]) == 2


def test_blocks():
    levels = [dense(2), compressed([0, 1, 3], [1, 0, 1], "Uint8Vector"), dense(4)]
    assert check_sparsity(sparsity([0, 1, 2], levels, block_map=[1]), [2, 8]) == 12


@pytest.mark.parametrize(
    ("levels", "shape", "message"),
    [
        (sparsity([0, 0], [dense(2), dense(2)]), [2, 2], "traversal_order must hold 2 dimensions"),
        (sparsity(np.int32([0]), [dense(2)]), [2, 2], r"must hold 2 .* got \[0\]"),
        (sparsity([0], [dense(2)]), [2, 2], r"traversal_order must hold 2 .* got \[0\]"),
        (sparsity([0, 1], [dense(2)]), [2, 2], "dim_metadata must have 2 entries, got 1"),
        (sparsity([0], [dense(3)]), [2], "dimension 0 must have a size of 2, got 3"),
        (sparsity([0], [compressed([0, 1], [2])]), [2], r"indices must be in \[0, 2\), got 2 to 2"),
        (sparsity([0], [compressed([0, 1], [-1])]), [2], r"indices must be in \[0, 2\), got -1"),
        (sparsity([0], [compressed([0], [])]), [2], "a level must have 2 segments, got 1"),
        (sparsity([0], [compressed([0, 2], [1])]), [2], "segments must go from 0 up to the 1"),
        (sparsity([0], [compressed([1, 1], [1])]), [2], "segments must go from 0 up"),
        (
            sparsity([0, 1], [dense(2), compressed([0, 2, 1], [0])]),
            [2, 2],
            "segments must go from 0 up",
        ),
        (
            sparsity([0, 1], [dense(1), dense(3)], block_map=[0]),
            [4],
            "a block of 3 must be dense and divide dimension 0",
        ),
        (sparsity([0, 1], [dense(1), dense(0)], block_map=[0]), [4], "a block of 0 must be dense"),
        (
            sparsity([0, 1], [dense(1), dense(4)], block_map=[1]),
            [4],
            r"block_map must be in \[0, 1",
        ),
        (sparsity(None, []), [4], r"traversal_order must hold 1 dimensions .* got \[\]"),
    ],
)
def test_levels_that_do_not_fit(levels, shape, message):
    with pytest.raises(ModelError, match=message):
        check_sparsity(levels, shape)


SPARSE_TENSORS = {
    "compressed columns": (
        sparsity([0, 1], [dense(3), compressed([0, 2, 2, 3], [0, 3, 1], "Uint16Vector")]),
        [1, 2, 3],
        [[1, 0, 0, 2], [0, 0, 0, 0], [0, 3, 0, 0]],
    ),
    "columns first": (
        sparsity([1, 0], [dense(4), compressed([0, 1, 1, 1, 2], [2, 0])]),
        [5, 7],
        [[0, 0, 0, 7], [0, 0, 0, 0], [5, 0, 0, 0]],
    ),
    "blocks": (
        sparsity([0, 1, 2], [dense(2), compressed([0, 1, 3], [1, 0, 1]), dense(2)], block_map=[1]),
        [1, 2, 3, 4, 5, 6],
        [[0, 0, 1, 2], [3, 4, 5, 6]],
    ),
    "nothing stored": (sparsity([0], [compressed([0, 0], [])]), [], [0, 0, 0]),
}


@pytest.mark.parametrize("name", SPARSE_TENSORS)
def test_densify(name):
    levels, values, expected = SPARSE_TENSORS[name]
    expected = np.array(expected, np.float32)
    assert check_sparsity(levels, list(expected.shape)) == len(values)
    dense = densify(np.array(values, np.float32), levels, expected.shape)
    np.testing.assert_array_equal(dense, expected)
