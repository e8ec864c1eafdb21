"""Structures of elements: tuples and mappings nest, lists do not: they are tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias, cast

import numpy as np

from ...graph.core.build import ops
from ...graph.core.composite.ragged_tensor import RaggedTensor, RaggedTensorValue
from ...graph.core.composite.sparse_tensor import SparseTensor, SparseTensorValue
from ...graph.core.composite.type_specs import (
    RaggedTensorSpec,
    SparseTensorSpec,
    Spec,
    TensorSpec,
    type_spec_from_value,
)
from ...graph.core.create import convert_to_tensor, create
from ...graph.core.dtype import as_dtype, as_numpy
from ...graph.core.graph import Tensor
from ...graph.core.tensor_shape import TensorShape
from ...schema.dtypes import VARIANT

if TYPE_CHECKING:
    from ...graph.core.protocols import AttrValue
    from ...graph.core.shapes import Shape
    from ...graph.core.typing import DTypeLike, ShapeLike
    from .dataset import Dataset

Structure: TypeAlias = object
"""Tuples, namedtuples and mappings of leaves."""


SERIALIZED = SparseTensorSpec, RaggedTensorSpec
"""What is known of tensors that elements have as values of their own."""


class Spread(Protocol):
    """A dataset, as far as structures know of it."""

    @property
    def element_spec(self) -> Structure:
        """What its elements are."""
        ...


class DatasetSpec:
    """What is known of a dataset that is part of an element.

    Args:
        element_spec: What its elements are.
        dataset_shape: Of the datasets: () for one.
    """

    whole: ClassVar[type[Dataset]]
    """The class of datasets; dataset.py sets it."""

    def __init__(self, element_spec: Structure, dataset_shape: ShapeLike = ()):
        self.element_spec = element_spec
        self.shape = TensorShape(dataset_shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DatasetSpec) and (self.element_spec, self.shape) == (
            other.element_spec,
            other.shape,
        )

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"DatasetSpec({self.element_spec!r}, {self.shape!r})"


def is_nested(item: object) -> bool:
    """Whether an item has items of its own."""
    return isinstance(item, (tuple, Mapping)) and not isinstance(item, SparseTensorValue)


def flatten(structure: Structure) -> list[object]:
    """The leaves; those of mappings in the order of their keys."""
    if not is_nested(structure):
        return [structure]
    if isinstance(structure, Mapping):
        mapping = cast("Mapping[str, object]", structure)
        return [leaf for key in sorted(mapping) for leaf in flatten(mapping[key])]
    return [leaf for item in cast("Sequence[object]", structure) for leaf in flatten(item)]


def pack(like: Structure, leaves: Iterable[object]) -> Structure:
    """As many leaves as `like` has, in its structure."""
    return _packed(like, iter(leaves))


def _packed(like: Structure, leaves: Iterator[object]) -> Structure:
    if not is_nested(like):
        return next(leaves)
    if isinstance(like, Mapping):
        mapping = cast("Mapping[str, object]", like)
        values = {key: _packed(mapping[key], leaves) for key in sorted(mapping)}
        pairs = [(key, values[key]) for key in mapping]
        return type(like)(pairs)  # pyright: ignore[reportCallIssue] - as dict is made
    items = [_packed(item, leaves) for item in cast("Sequence[object]", like)]
    make = getattr(like, "_make", None)
    return tuple(items) if make is None else make(items)


def assert_same(first: Structure, other: Structure) -> None:
    """Raises ValueError unless two structures nest alike, TypeError where one nests otherwise."""
    if is_nested(first) != is_nested(other):
        raise ValueError(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: type={type(first).__name__} str={first}\n\n"
            f"Second structure: type={type(other).__name__} str={other}"
        )
    if not is_nested(first):
        return
    if isinstance(first, Mapping) != isinstance(other, Mapping):
        words = "The two structures don't have the same sequence type. First structure has type"
        raise TypeError(f"{words} {type(first)}, while second structure has type {type(other)}.")
    if isinstance(first, Mapping):
        a, b = cast("Mapping[str, object]", first), cast("Mapping[str, object]", other)
        if set(a) != set(b):
            words = "The two dictionaries don't have the same set of keys. First structure has keys"
            raise ValueError(f"{words} {list(a)}, while second structure has keys {list(b)}.")
        for key in a:
            assert_same(a[key], b[key])
        return
    parts = cast("Sequence[object]", first), cast("Sequence[object]", other)
    if len(parts[0]) != len(parts[1]):
        words = "The two structures don't have the same number of elements."
        raise ValueError(f"{words}\n\nFirst structure: {first}.\n\nSecond structure: {other}.")
    for a, b in zip(*parts, strict=True):
        assert_same(a, b)


def flatten_up_to(like: Structure, structure: Structure) -> list[object]:
    """The parts of a structure that stand where the leaves of another do.

    Raises ValueError or TypeError where it does not nest as that does.
    """
    if not is_nested(like):
        return [structure]
    if isinstance(like, Mapping):
        mapping = cast("Mapping[str, object]", like)
        other = cast("Mapping[str, object]", structure if isinstance(structure, Mapping) else {})
        if set(other) != set(mapping):
            raise ValueError(f"expected keys {sorted(mapping)}, got {structure}")
        return [x for key in sorted(mapping) for x in flatten_up_to(mapping[key], other[key])]
    pairs = zip(cast("Sequence[object]", like), cast("Sequence[object]", structure), strict=True)
    return [x for a, b in pairs for x in flatten_up_to(a, b)]


def normalize(structure: Structure, spec: Structure | None = None) -> Structure:
    """Leaves that are no tensors as constants, of the types that `spec` has where it is given.

    Raises TypeError for what has no form in a dataset.
    """
    specs = flatten(spec) if spec is not None else [None] * len(flatten(structure))
    leaves = [
        _normal(leaf, k, leaf_spec)
        for k, (leaf, leaf_spec) in enumerate(zip(flatten(structure), specs, strict=True))
    ]
    return pack(structure, leaves)


def _normal(leaf: object, k: int, spec: object) -> object:
    if isinstance(leaf, RaggedTensor):
        return leaf
    if isinstance(leaf, RaggedTensorValue):
        return RaggedTensor.from_nested_row_splits(leaf.flat_values, leaf.nested_row_splits)
    if isinstance(leaf, (SparseTensor, SparseTensorValue)):
        return SparseTensor.from_value(cast("SparseTensor", leaf))
    if is_dataset(leaf):
        return leaf
    dtype = as_numpy(spec.dtype) if isinstance(spec, Spec) else None
    return convert_to_tensor(cast("np.ndarray", leaf), dtype, name=f"component_{k}")


def is_dataset(leaf: object) -> bool:
    """Whether a leaf is a dataset."""
    return hasattr(leaf, "variant_tensor") and hasattr(leaf, "element_spec")


def spec_of(structure: Structure) -> Structure:
    """What is known of the tensors of a structure."""
    return pack(structure, [_spec(leaf) for leaf in flatten(structure)])


def _spec(leaf: object) -> object:
    if isinstance(leaf, (SparseTensor, RaggedTensor)):
        return type_spec_from_value(leaf)
    if is_dataset(leaf):
        return DatasetSpec(cast("Spread", leaf).element_spec)
    tensor = cast("Tensor", leaf)
    return TensorSpec(tensor.sizes, tensor.dtype)


def components(structure: Structure) -> list[Tensor]:
    """The tensors that an element is made of: a sparse tensor's is its serialized form."""
    return [_component(leaf) for leaf in flatten(structure)]


def _component(leaf: object) -> Tensor:
    if isinstance(leaf, SparseTensor):
        parts = leaf.indices, leaf.values, leaf.dense_shape
        return cast("Tensor", ops.SerializeSparse(*parts, out_type=VARIANT))
    if isinstance(leaf, RaggedTensor):
        return encoded(leaf, False)
    if is_dataset(leaf):
        return cast("Tensor", leaf.variant_tensor)  # pyright: ignore[reportAttributeAccessIssue]
    return cast("Tensor", leaf)


def encoded(leaf: RaggedTensor | Tensor, by_rows: bool) -> Tensor:
    """A ragged or dense tensor as one value, or each of its rows as one."""
    is_ragged = isinstance(leaf, RaggedTensor)
    splits, values = (leaf.nested_row_splits, leaf.flat_values) if is_ragged else ((), leaf)
    attrs: dict[str, AttrValue] = {"batched_input": by_rows}
    if not splits:
        attrs["Tsplits"] = np.dtype(np.int64)
    return create("RaggedTensorToVariant", [list(splits), values], attrs).outputs[0]


def component_rows(structure: Structure) -> list[Tensor]:
    """As `components`, of tensors whose rows are elements."""
    return [_rows(leaf) for leaf in flatten(structure)]


def _rows(leaf: object) -> Tensor:
    if isinstance(leaf, SparseTensor):
        parts = leaf.indices, leaf.values, leaf.dense_shape
        return cast("Tensor", ops.SerializeManySparse(*parts, out_type=VARIANT))
    if isinstance(leaf, RaggedTensor):
        return encoded(leaf, True)
    return _component(leaf)


def component_types(spec: Structure) -> list[np.dtype]:
    """The types of an element's components."""
    return [as_numpy(s.dtype) if isinstance(s, TensorSpec) else VARIANT for s in flatten(spec)]


def component_shapes(spec: Structure) -> list[Shape]:
    """What is known of the shapes of an element's components; nothing of serialized ones."""
    shapes = [shape_of(s) for s in flatten(spec)]
    return [
        None if isinstance(s, SERIALIZED) or shape.rank is None else tuple(shape.as_list())
        for s, shape in zip(flatten(spec), shapes, strict=True)
    ]


def from_components(spec: Structure, tensors: Iterable[Tensor]) -> list[object]:
    """The leaves of an element from its components."""
    return [_leaf(s, tensor) for s, tensor in zip(flatten(spec), tensors, strict=True)]


def _leaf(spec: object, tensor: Tensor) -> object:
    if isinstance(spec, SparseTensorSpec):
        parts = ops.DeserializeSparse(tensor, dtype=as_numpy(spec.dtype))
        sparse = SparseTensor(*cast("Sequence[Tensor]", parts))
        if spec.shape.rank is not None:
            sparse.indices.set_shape((None, spec.shape.rank))
            sparse.dense_shape.set_shape((spec.shape.rank,))
            sparse.set_shape(spec.shape)
        return sparse
    if isinstance(spec, RaggedTensorSpec):
        return _ragged(spec, tensor)
    if isinstance(spec, DatasetSpec):
        return DatasetSpec.whole(tensor, spec.element_spec)
    tensor.set_shape(cast("TensorSpec", spec).shape)
    return tensor


def _ragged(spec: RaggedTensorSpec, tensor: Tensor) -> RaggedTensor | Tensor:
    """The tensor that a value stands for: a dense one where no dimension is ragged."""
    attrs: dict[str, AttrValue] = {
        "input_ragged_rank": -1 if spec.ragged_rank else 0,
        "output_ragged_rank": spec.ragged_rank,
        "Tvalues": as_numpy(spec.dtype),
        "Tsplits": as_numpy(spec.row_splits_dtype),
    }
    *splits, values = create("RaggedTensorFromVariant", [tensor], attrs).outputs
    sizes = None if spec.shape.rank is None else spec.shape.as_list()
    if sizes is not None and not splits:
        values.set_shape(sizes)
    elif sizes is not None:
        values.set_shape([None, *sizes[spec.ragged_rank + 1 :]])
        splits[0].set_shape([None if sizes[0] is None else sizes[0] + 1])
    return RaggedTensor.from_nested_row_splits(values, splits, validate=False)


def with_shape(spec: object, shape: TensorShape, deeper: int = 0) -> object:
    """What is known of a leaf, with another shape, in which `deeper` more dimensions are ragged."""
    if isinstance(spec, SparseTensorSpec):
        return SparseTensorSpec(shape, spec.dtype)
    if isinstance(spec, RaggedTensorSpec):
        rank = spec.ragged_rank + deeper
        return RaggedTensorSpec(shape, spec.dtype, rank, spec.row_splits_dtype)
    if isinstance(spec, DatasetSpec):
        return DatasetSpec(spec.element_spec, shape)
    return TensorSpec(shape, cast("TensorSpec", spec).dtype)


def shape_of(spec: object) -> TensorShape:
    """What is known of a leaf's shape."""
    return cast("Spec | DatasetSpec", spec).shape


def batched(spec: Structure, size: int | None) -> Structure:
    """What is known of several elements as rows."""
    front = TensorShape([size])
    leaves = [with_shape(s, front.concatenate(shape_of(s)), 1) for s in flatten(spec)]
    return pack(spec, leaves)


def unbatched(spec: Structure) -> Structure:
    """What is known of a row; ValueError where there are none."""
    leaves = flatten(spec)
    if any(shape_of(s).rank == 0 for s in leaves):
        raise ValueError("Cannot unbatch an input with scalar components.")
    return pack(spec, [with_shape(s, _without_first(shape_of(s)), -1) for s in leaves])


def _without_first(shape: TensorShape) -> TensorShape:
    return shape if shape.rank is None else shape[1:]


def most_specific(first: Structure, other: Structure) -> Structure:
    """What holds of both of two elements that are alike but for sizes."""
    pairs = zip(flatten(first), flatten(other), strict=True)
    return pack(first, [with_shape(a, _common(shape_of(a), shape_of(b))) for a, b in pairs])


def _common(first: TensorShape, other: TensorShape) -> TensorShape:
    if first.rank is None or first.rank != other.rank:
        return TensorShape(None)
    sizes = zip(first.as_list(), other.as_list(), strict=True)
    return TensorShape([a if a == b else None for a, b in sizes])


def types_of(spec: Structure) -> Structure:
    """The types of an element, in its structure."""
    return pack(spec, [_type(s) for s in flatten(spec)])


def _type(spec: object) -> object:
    return spec.dtype if isinstance(spec, Spec) else as_dtype(VARIANT)


def shapes_of(spec: Structure) -> Structure:
    """The shapes of an element, in its structure."""
    return pack(spec, [shape_of(s) for s in flatten(spec)])


def classes_of(spec: Structure) -> Structure:
    """The classes of an element's parts, in its structure."""
    return pack(spec, [getattr(s, "value_type", type(s)) for s in flatten(spec)])


def specs(types: Structure, shapes: Structure | None, classes: Structure | None) -> Structure:
    """What is known of an element of these types, shapes and classes."""
    leaves = flatten(types)
    listed = shape_leaves(shapes, len(leaves))
    class_leaves = [Tensor] * len(leaves) if classes is None else flatten(classes)
    triples = zip(leaves, listed, class_leaves, strict=True)
    return pack(types, [
        (SparseTensorSpec if kind is SparseTensor else TensorSpec)(
            cast("ShapeLike | None", shape), as_dtype(cast("DTypeLike", dtype)))
        for dtype, shape, kind in triples
    ])  # fmt: skip


def shape_leaves(shapes: Structure | None, n: int) -> list[object]:
    """A shape for each component: lists, TensorShapes and None are shapes, as are tuples of
    numbers.
    """
    if shapes is None:
        return [None] * n
    return list(_shapes(shapes))


def _shapes(shapes: Structure) -> Iterator[object]:
    if isinstance(shapes, Mapping):
        mapping = cast("Mapping[str, object]", shapes)
        for key in sorted(mapping):
            yield from _shapes(mapping[key])
    elif isinstance(shapes, tuple) and not _is_shape(cast("tuple[object, ...]", shapes)):
        for item in cast("tuple[object, ...]", shapes):
            yield from _shapes(item)
    else:
        yield shapes


def _is_shape(items: tuple[object, ...]) -> bool:
    return all(item is None or isinstance(item, (int, np.integer)) for item in items)
