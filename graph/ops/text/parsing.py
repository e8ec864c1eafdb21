"""Messages of tf.train.Example and SequenceExample as tensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, cast

import numpy as np

from ....schema import proto
from ...core.evaluate import as_results
from ...core.registry import op
from ...core.shapes import shown

if TYPE_CHECKING:
    from ...core.protocols import OperationView
    from ...core.shapes import Shape

    Items: TypeAlias = "list[int] | list[float] | list[bytes]"

KINDS = {"int64_list": np.dtype(np.int64), "float_list": np.dtype(np.float32),
         "bytes_list": np.dtype(object)}  # fmt: skip
WORDS = {np.dtype(np.int64): "int64", np.dtype(np.float32): "float", np.dtype(object): "bytes"}


class _FeatureMessage(Protocol):
    def WhichOneof(self, group: str) -> str | None: ...


class Where(NamedTuple):
    """Which message is parsed, for errors: its name and position; position None of a single one."""

    name: str
    position: int | None

    def key(self, key: str) -> str:
        """Where a feature stands."""
        if self.position is None:
            return f"Key: {key}."
        return f"Name: {self.name}, Key: {key}, Index: {self.position}."

    def feature(self, key: str) -> str:
        """Where a feature that is not there would stand."""
        return f"Feature: {key}" if self.position is None else f"Name: {self.name}, Feature: {key}"


def fail(words: str) -> ValueError:
    """The error of a message that cannot be parsed."""
    return ValueError(words)


def _items(feature: _FeatureMessage | None) -> tuple[np.dtype | None, Items]:
    """The type of a feature, None without any, and its values."""
    kind = None if feature is None else feature.WhichOneof("kind")
    if kind is None:
        return None, []
    return KINDS[kind], list(getattr(feature, kind).value)


MISMATCHES = {
    "dense": "Data type: {kind} but expected type: {dtype}",
    "sparse": "Expected type: {dtype}, Actual type: {kind}",
    "list": "Expected type: {dtype}",
}
"""How values of another type are reported, by what they are parsed as."""


def values_of(
    feature: _FeatureMessage | None, dtype: np.dtype, where: str, form: str
) -> Items | None:
    """The values of a feature; None where it is not there. Raises for those of another type."""
    kind, items = _items(feature)
    if kind is not None and kind != dtype:
        words = MISMATCHES[form].format(kind=_type_word(kind), dtype=_type_word(dtype))
        raise fail(f"{where}  Data types don't match. {words}")
    return None if kind is None else items


def _type_word(dtype: np.dtype) -> str:
    return "string" if dtype.hasobject else WORDS[dtype]


def as_array(items: Iterable[object], dtype: np.dtype) -> np.ndarray:
    """A vector of values."""
    listed = list(items)
    array = np.empty(len(listed), dtype)
    array[:] = listed
    return array


def dense_value(
    items: Items | None, key: str, dtype: np.dtype, shape: Sequence[int | None],
    default: np.ndarray, where: Where,
) -> np.ndarray:  # fmt: skip
    """The values of a feature in its shape, of which the first size may be free."""
    word, size = WORDS[dtype], prod(n or 1 for n in shape)
    if shape and shape[0] is None:
        elements = [] if items is None else items
        if len(elements) % max(size, 1):
            if where.position is None:
                words = f"number of elements should be divisible by {size}, found {len(elements)}"
                raise fail(f"Error while parsing feature with key {key}: {words} instead")
            raise fail(
                f"{where.key(key)}  Number of {word} values is not a multiple of stride length. "
                f"Saw {len(elements)} values but output shape is: {shown(tuple(shape))}"
            )
        return as_array(elements, dtype).reshape(-1, *(n or 0 for n in shape[1:]))
    if not items:
        if default.size == 0 and size:
            words = "is required but could not be found."
            raise fail(f"{where.feature(key)} (data type: {_type_word(dtype)}) {words}")
        if items is None or size:
            return default.reshape([n or 0 for n in shape])
    if len(items) != size:
        if where.position is None:
            words = f"Some {word}_list slice was not parsed."
            raise fail(f"{where.key(key)}  Can't parse serialized Example: {words}")
        raise fail(
            f"{where.key(key)}  Number of {word} values != expected.  Values size: {len(items)} "
            f"but output shape: {shown(tuple(shape))}"
        )
    return as_array(items, dtype).reshape([n or 0 for n in shape])


def stacked(
    parts: Sequence[np.ndarray], shape: Sequence[int | None], default: np.ndarray
) -> np.ndarray:
    """Values of several messages, those of free size filled up with the default."""
    dtype = parts[0].dtype if parts else default.dtype
    if not shape or shape[0] is not None:
        rows = np.stack(parts) if parts else np.empty(0, dtype)
        return rows.reshape(len(parts), *(n or 0 for n in shape))
    longest = max((len(part) for part in parts), default=0)
    result = np.empty((len(parts), longest, *(n or 0 for n in shape[1:])), dtype)
    filler = default.ravel()[0] if default.size else (b"" if dtype.hasobject else 0)
    result[...] = filler
    for row, part in zip(result, parts, strict=True):
        row[: len(part)] = part
    return result


def sparse_of(rows: Sequence[Items | None], dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Places, values and shape of a feature of several messages."""
    lengths = [len(row or ()) for row in rows]
    positions = [(i, j) for i, n in enumerate(lengths) for j in range(n)]
    values = as_array((x for row in rows for x in row or ()), dtype)
    shape = np.array([len(rows), max(lengths, default=0)], np.int64)
    return np.array(positions, np.int64).reshape(-1, 2), values, shape


def splits_of(lengths: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """Where rows of these lengths begin, and the last one ends."""
    return np.cumsum([0, *lengths]).astype(dtype)


def texts(array: np.ndarray) -> list[str]:
    """Keys as text."""
    return [
        x.decode("utf-8", "surrogateescape") for x in cast("list[bytes]", array.ravel().tolist())
    ]


def names_of(names: np.ndarray, count: int) -> list[str]:
    """The names of messages, `<unknown>` without any."""
    return texts(names) if names.size else ["<unknown>"] * count


class Wanted(NamedTuple):
    """The features that are request for: keys and types, shapes and defaults."""

    sparse: list[tuple[str, np.dtype]]
    dense: list[tuple[str, np.dtype, Sequence[int | None], np.ndarray]]
    ragged: list[tuple[str, np.dtype, np.dtype]]


def requested(
    keys: Sequence[list[str]],
    types: Sequence[Sequence[object]],
    dense_shapes: Sequence[object],
    defaults: Sequence[np.ndarray],
) -> Wanted:
    """Keys (sparse, dense, ragged) with types (sparse, dense, ragged values, ragged splits)."""
    listed = [[np.dtype(cast("np.dtype", t)) for t in row] for row in types]
    shapes = [cast("Sequence[int | None]", shape) for shape in dense_shapes]
    return Wanted(
        [*zip(keys[0], listed[0], strict=True)],
        [*zip(keys[1], listed[1], shapes, defaults, strict=True)],
        [*zip(keys[2], listed[2], listed[3], strict=True)],
    )


Features: TypeAlias = "Mapping[str, _FeatureMessage]"


def parse_features(
    messages: Sequence[Features], wheres: Sequence[Where], request: Wanted, is_single: bool
) -> list[np.ndarray]:
    """The outputs for the features of messages: sparse ones, dense ones, ragged ones."""
    positions: list[np.ndarray] = []
    values: list[np.ndarray] = []
    shapes: list[np.ndarray] = []
    for key, dtype in request.sparse:
        rows = [
            _items_of(m, key, dtype, w, "sparse") for m, w in zip(messages, wheres, strict=True)
        ]
        at, items, shape = sparse_of(rows, dtype)
        positions.append(at[:, 1:] if is_single else at)
        values.append(items)
        shapes.append(shape[1:] if is_single else shape)
    dense: list[np.ndarray] = []
    for key, dtype, shape, default in request.dense:
        parts = [
            dense_value(_items_of(m, key, dtype, w, "dense"), key, dtype, shape, default, w)
            for m, w in zip(messages, wheres, strict=True)
        ]
        whole = stacked(parts, shape, default.astype(dtype) if default.size else default)
        dense.append(whole[0] if is_single else whole)
    flat: list[np.ndarray] = []
    splits: list[np.ndarray] = []
    for key, dtype, split_type in request.ragged:
        rows = [
            _items_of(m, key, dtype, w, "sparse") or []
            for m, w in zip(messages, wheres, strict=True)
        ]
        flat.append(as_array((x for row in rows for x in row), dtype))
        splits.append(splits_of([] if is_single else [*map(len, rows)], split_type))
        if is_single:
            splits[-1] = np.zeros(0, split_type)
    return [*positions, *values, *shapes, *dense, *flat, *splits]


def _items_of(
    message: Features, key: str, dtype: np.dtype, where: Where, form: str
) -> Items | None:
    # A map of messages would make the one that is request for.
    feature = message[key] if key in message else None  # noqa: SIM401
    return values_of(feature, dtype, where.key(key), form)


def _messages(
    serialized: np.ndarray, names: np.ndarray
) -> tuple[list[Features], list[Where], bool]:
    """The features of every Example, where they stand, and whether there is only a single one."""
    is_single = serialized.ndim == 0
    contents = cast("list[bytes]", serialized.ravel().tolist())
    listed = names_of(names, len(contents))
    wheres = [Where(n, None if is_single else i) for i, n in enumerate(listed)]
    features: list[Features] = []
    for content in contents:
        try:
            message = proto.parse("Example", content)
        except ValueError:
            text = content.decode("utf-8", "backslashreplace")
            raise fail(f"Could not parse example input, value: '{text}'") from None
        features.append(cast("Features", message.features.feature))  # pyright: ignore[reportAttributeAccessIssue]
    return features, wheres, is_single


def _parsed_shapes(op: OperationView) -> list[Shape]:
    """Those of dense features; what is sparse or ragged has as many elements as there are."""
    batch = op.inputs[0].sizes
    n_sparse = cast("int", op.get_attr("num_sparse"))
    sparse_types = cast("Sequence[object]", op.get_attr("sparse_types"))
    is_second = op.type == "ParseExampleV2"
    n_ragged = len(cast("Sequence[object]", op.get_attr("ragged_value_types"))) if is_second else 0
    dense = cast("Sequence[Shape]", op.get_attr("dense_shapes"))
    rank = None if batch is None else len(batch) + 1
    shapes: list[Shape] = [(None, rank) for _ in range(n_sparse)]
    shapes += [(None,) for _ in sparse_types]
    shapes += [(rank,) for _ in range(n_sparse)]
    shapes += [None if batch is None or shape is None else batch + shape for shape in dense]
    count = None if not batch or batch[0] is None else batch[0] + 1
    splits: Shape = (0,) if batch == () else (count,)
    return [*shapes, *[(None,)] * n_ragged, *[splits] * n_ragged]


@op("ParseExampleV2", shape=_parsed_shapes)
def parse_example_v2(
    serialized: np.ndarray,
    names: np.ndarray,
    sparse_keys: np.ndarray,
    dense_keys: np.ndarray,
    ragged_keys: np.ndarray,
    *defaults: np.ndarray,
    Tdense: Sequence[object],
    sparse_types: Sequence[object],
    ragged_value_types: Sequence[object],
    ragged_split_types: Sequence[object],
    dense_shapes: Sequence[object],
) -> np.ndarray | Sequence[np.ndarray]:
    """The features of Examples."""
    keys = [texts(sparse_keys), texts(dense_keys), texts(ragged_keys)]
    types = (sparse_types, Tdense, ragged_value_types, ragged_split_types)
    request = requested(keys, types, dense_shapes, defaults)
    messages, wheres, is_single = _messages(serialized, names)
    return as_results(parse_features(messages, wheres, request, is_single))


@op("ParseExample", shape=lambda op: [None] * len(op.outputs))
def parse_example(
    serialized: np.ndarray,
    names: np.ndarray,
    *parts: np.ndarray,
    Tdense: Sequence[object],
    sparse_types: Sequence[object],
    dense_shapes: Sequence[object],
) -> np.ndarray | Sequence[np.ndarray]:
    """The features of Examples, with each key as an input of its own."""
    n_sparse, n_dense = len(sparse_types), len(Tdense)
    cut = n_sparse + n_dense
    keys = [[*map(_text_of, parts[:n_sparse])], [*map(_text_of, parts[n_sparse:cut])], []]
    request = requested(keys, (sparse_types, Tdense, (), ()), dense_shapes, parts[cut:])
    messages, wheres, is_single = _messages(serialized, names)
    return as_results(parse_features(messages, wheres, request, is_single))


def _text_of(array: np.ndarray) -> str:
    return texts(array)[0]


def _as_keys(keys: Sequence[bytes | str]) -> list[str]:
    return [
        key.decode("utf-8", "surrogateescape") if isinstance(key, bytes) else key for key in keys
    ]


@op("ParseSingleExample", shape=_parsed_shapes)
def parse_single_example(
    serialized: np.ndarray,
    *defaults: np.ndarray,
    sparse_keys: Sequence[bytes],
    dense_keys: Sequence[bytes],
    sparse_types: Sequence[object],
    Tdense: Sequence[object],
    dense_shapes: Sequence[object],
) -> np.ndarray | Sequence[np.ndarray]:
    """The features of one Example."""
    keys = [_as_keys(sparse_keys), _as_keys(dense_keys), []]
    request = requested(keys, (sparse_types, Tdense, (), ()), dense_shapes, defaults)
    messages, wheres, is_single = _messages(serialized, np.zeros(0, object))
    return as_results(parse_features(messages, wheres, request, is_single))
