"""ParseExample, ParseExampleV2: serialized Example messages as tensors.

Source: TensorFlow's operations of these names; ragged features, as in LiteRT, are not supported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

import numpy as np

from ...schema import proto
from ...schema.flexbuffer import read_flexbuffer
from .registry import custom

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...schema.flexbuffer import FlexValue
    from ..plan.node import DynamicResult, Node

_SERIALIZED, _SPARSE_KEYS, _DENSE_KEYS, _RAGGED_KEYS = 0, 2, 3, 4
_COUNTS = ("Nsparse", "Ndense", "num_sparse")
_LISTS = {"i": "int64_list", "f": "float_list", "O": "bytes_list"}
"""Kind of dtype -> the field of a Feature."""


class _List(Protocol):
    value: Sequence[bytes | float]


class _Feature(Protocol):
    int64_list: _List
    float_list: _List
    bytes_list: _List

    def WhichOneof(self, name: str) -> str | None: ...


class _Layout(NamedTuple):
    """Which inputs hold what, by their positions."""

    n_sparse: int
    sparse_keys: list[int]
    dense_keys: list[int]
    defaults: list[int]


@custom("ParseExample", "ParseExampleV2")
def parse_example(node: Node) -> DynamicResult:
    """The features of each Example: sparse ones (indices, values, shapes), then dense ones.

    A dense feature that an Example lacks is its default, which must not be empty then.
    """
    layout = _layout(node)
    n_sparse, n_dense = layout.n_sparse, len(layout.defaults)
    expected = 3 * n_sparse + n_dense
    node.require(
        len(node.outputs) == expected,
        f"{n_sparse} sparse and {n_dense} dense features have {expected} results, "
        f"the model declares {len(node.outputs)}",
    )
    dtypes = [np.dtype(np.float32 if x.dtype is None else x.dtype) for x in node.outputs]
    shapes = [(x.shape or (1,))[1:] for x in node.outputs[3 * n_sparse :]]

    def run(*arrays: np.ndarray) -> list[np.ndarray]:
        serialized = arrays[_SERIALIZED]
        examples = [_features(node, content) for content in serialized.ravel().tolist()]
        sparse_keys = [key for i in layout.sparse_keys for key in arrays[i].ravel().tolist()]
        dense_keys = [key for i in layout.dense_keys for key in arrays[i].ravel().tolist()]
        node.require(
            (len(sparse_keys), len(dense_keys)) == (n_sparse, n_dense),
            f"there must be {n_sparse} sparse and {n_dense} dense keys, "
            f"got {len(sparse_keys)} and {len(dense_keys)}",
        )
        sparse = [
            _sparse(node, examples, key, dtype)
            for key, dtype in zip(sparse_keys, dtypes[n_sparse:], strict=False)
        ]
        results = [part[i] for i in range(3) for part in sparse]
        for j, (key, shape) in enumerate(zip(dense_keys, shapes, strict=True)):
            default, dtype = arrays[layout.defaults[j]], dtypes[3 * n_sparse + j]
            rows = [_dense(node, example, key, dtype, shape, default) for example in examples]
            results.append(_stacked(rows, (*serialized.shape, *shape), dtype))
        return results

    dense = [(None, *shape) for shape in shapes]
    sparse = [(None, 2)] * n_sparse + [(None,)] * n_sparse + [(2,)] * n_sparse
    return node.dynamic_result(run, [*sparse, *dense])


def _layout(node: Node) -> _Layout:
    """The layout that the options of the operator's version imply."""
    counts = {name: _count(node, name, n) for name, n in _counts(node).items() if name in _COUNTS}
    if node.kind == "ParseExampleV2":
        keys, ragged = node.optional(_DENSE_KEYS), node.optional(_RAGGED_KEYS)
        node.require(ragged is None or ragged.size == 0, "ragged features are not supported")
        n_dense = 0 if keys is None else keys.size
        first = _RAGGED_KEYS + 1
        layout = _Layout(
            counts.get("num_sparse", 0),
            [_SPARSE_KEYS],
            [_DENSE_KEYS],
            [*range(first, first + n_dense)],
        )
    else:
        n_sparse, n_dense = counts.get("Nsparse", 0), counts.get("Ndense", 0)
        dense = _SPARSE_KEYS + n_sparse
        first = dense + n_dense
        layout = _Layout(
            n_sparse,
            [*range(_SPARSE_KEYS, dense)],
            [*range(dense, first)],
            [*range(first, first + n_dense)],
        )
    needed = [_SERIALIZED, *layout.sparse_keys, *layout.dense_keys, *layout.defaults]
    node.require(
        max(needed) < len(node.inputs) and all(node.inputs[i] is not None for i in needed),
        f"there must be {max(needed) + 1} inputs, got {len(node.inputs)}",
    )
    for i in needed[: len(needed) - len(layout.defaults)]:
        operand = node.inputs[i]
        node.require(operand and operand.dtype.hasobject, f"input {i} must be strings")
    return layout


def _count(node: Node, name: str, n: int) -> int:
    """A number of features, for each of which there is an input."""
    node.require(0 <= n <= len(node.inputs), f"{name} must be in [0, {len(node.inputs)}], got {n}")
    return n


def _counts(node: Node) -> dict[str, int]:
    """The integer attributes: of a map, or of the NodeDef that the converter writes."""
    value: FlexValue = read_flexbuffer(node.custom_options)
    if isinstance(value, dict):
        return {name: item for name, item in value.items() if isinstance(item, int)}
    content = value[1] if isinstance(value, list) and len(value) == 2 else None
    content = content.encode() if isinstance(content, str) else content
    if not isinstance(content, bytes):
        node.fail("options must be a map, or the operation's name and its NodeDef")
    attrs = cast("Mapping[str, _Attr]", proto.parse("NodeDef", content).attr)
    return {name: int(attr.i) for name, attr in attrs.items()}


class _Attr(Protocol):
    i: int


def _features(node: Node, content: bytes) -> Mapping[str, _Feature]:
    """The features of a serialized Example."""
    try:
        features = proto.parse("Example", content).features
    except ValueError as error:
        node.fail(f"Could not parse example input: {error}")
    return cast("Mapping[str, _Feature]", features.feature)


def _values(
    node: Node, example: Mapping[str, _Feature], key: bytes, dtype: np.dtype
) -> np.ndarray | None:
    """The values of a feature; None where the Example has none."""
    name = key.decode("utf-8", "replace")
    feature = example.get(name, None)
    kind = None if feature is None else feature.WhichOneof("kind")
    if feature is None or kind is None:
        return None
    field = _LISTS[dtype.kind]
    node.require(
        kind == field, f"Key: {name}. Data types don't match. Expected {field}, got {kind}"
    )
    values = [*getattr(feature, field).value]
    array = np.empty(len(values), dtype)
    array[:] = values
    return array


def _sparse(
    node: Node, examples: Sequence[Mapping[str, _Feature]], key: bytes, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices, values and shape of a feature of any length."""
    parsed = [_values(node, example, key, dtype) for example in examples]
    rows = [np.empty(0, dtype) if row is None else row for row in parsed]
    pairs = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    longest = max((len(row) for row in rows), default=0)
    values = np.concatenate([np.empty(0, dtype), *rows])
    indices = np.array(pairs, np.int64).reshape(-1, 2)
    return indices, values, np.array([len(rows), longest], np.int64)


def _dense(
    node: Node,
    example: Mapping[str, _Feature],
    key: bytes,
    dtype: np.dtype,
    shape: tuple[int, ...],
    default: np.ndarray,
) -> np.ndarray:
    """The values of a feature of this shape, or its default."""
    count = int(np.prod(shape, dtype=np.int64))
    values = _values(node, example, key, dtype)
    name = key.decode("utf-8", "replace")
    if values is None:
        node.require(default.size, f"Feature: {name} (data type: {dtype}) is required but missing")
        values = default.ravel() if default.size == count else np.repeat(default.ravel()[:1], count)
    node.require(
        values.size == count,
        f"Key: {name}. Number of {dtype} values != expected. Values size: {values.size} but "
        f"output shape: {list(shape)}",
    )
    return values.reshape(shape)


def _stacked(rows: Sequence[np.ndarray], shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    out = np.empty((len(rows), *shape[len(shape) - (rows[0].ndim if rows else 0) :]), dtype)
    for i, row in enumerate(rows):
        out[i] = row
    return out.reshape(shape)
