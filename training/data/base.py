"""What all of `tf.data` stands on: a variant in the graph, and what is known of its elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...graph.core.create import convert_to_tensor, create
from ...graph.functions.random import get_seed
from . import structures
from .functions import ElementFunction, UserFunction
from .options import Options
from .structures import DatasetSpec

if TYPE_CHECKING:
    from ...graph.core.graph import Tensor
    from ...graph.core.protocols import AttrValue
    from ...graph.core.typing import TensorLike
    from .dataset import Dataset
    from .structures import Structure

AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = -1, -1, -2


class DatasetBase:
    """Elements of one structure.

    Args:
        variant_tensor: What stands for them in the graph.
        element_spec: What is known of the elements.
        options: Those of the datasets it is made of.
    """

    def __init__(
        self, variant_tensor: Tensor, element_spec: Structure, options: Options | None = None
    ):
        self._variant_tensor, self._spec = variant_tensor, element_spec
        self._options = Options() if options is None else options

    @property
    def variant_tensor(self) -> Tensor:
        """What stands for it in the graph: a scalar."""
        return self._variant_tensor

    @property
    def element_spec(self) -> Structure:
        """What is known of an element: a spec for each part."""
        return self._spec

    def options(self) -> Options:
        """Those of the datasets it is made of."""
        return self._options

    @property
    def output_types(self) -> Structure:
        """The types of an element, in its structure."""
        return structures.types_of(self._spec)

    @property
    def output_shapes(self) -> Structure:
        """The shapes of an element, in its structure."""
        return structures.shapes_of(self._spec)

    @property
    def output_classes(self) -> Structure:
        """The classes of an element's parts, in its structure."""
        return structures.classes_of(self._spec)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} element_spec={self._spec!r}>"

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        raise TypeError(
            "`tf.data.Dataset` only supports `len` in eager mode. Use "
            "`tf.data.Dataset.cardinality()` instead."
        )

    def __iter__(self) -> Iterator[object]:
        raise RuntimeError(
            "`tf.data.Dataset` only supports Python-style iteration in eager mode or within "
            "tf.function."
        )

    def function(self, user: UserFunction, name: str) -> ElementFunction:
        """A function of elements as one of the graph; `name` is whose argument it is."""
        return ElementFunction(user, [self._spec], name)

    def with_inputs(
        self, kind: str, inputs: Sequence[object] = (), spec: Structure = None,
        name: str | None = None, **attrs: AttrValue,
    ) -> Dataset:  # fmt: skip
        """The dataset that an operation makes of this one, of elements as they are or of `spec`."""
        spec = self._spec if spec is None else spec
        inputs = [self._variant_tensor, *inputs]
        op = create(kind, cast("list[TensorLike]", inputs), {**attributes(spec), **attrs}, name)
        return of_variant(op.outputs[0], spec, self._options)


def of_variant(variant: Tensor, spec: Structure, options: Options | None = None) -> Dataset:
    """The dataset that a variant stands for."""
    return DatasetSpec.whole(variant, spec, options)


def attributes(spec: Structure) -> dict[str, AttrValue]:
    """The attributes in which operations say what elements are."""
    types, shapes = structures.component_types(spec), structures.component_shapes(spec)
    return {
        "output_types": cast("list[AttrValue]", types),
        "output_shapes": cast("list[AttrValue]", shapes),
    }


def int64(number: object, name: str | None = None) -> Tensor:
    """A number as operations of datasets take it."""
    return convert_to_tensor(cast("TensorLike", number), np.int64, name)


def seeds(seed: int | None) -> tuple[Tensor, Tensor]:
    """The two seeds of an operation; zeros where nobody set one."""
    first, second = get_seed(seed)
    return int64(first or 0), int64(second or 0)
