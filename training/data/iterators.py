"""Iterators over datasets, as programs of TF1 go through them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ...graph.core.build import ops
from ...graph.core.create import convert_to_tensor, create
from ...graph.core.function_graph import FunctionGraph, copy_ancestors, define
from ...graph.core.scopes import get_default_graph, name_scope
from ...graph.functions.random import get_seed
from . import structures
from .base import DatasetBase, attributes

if TYPE_CHECKING:
    from ...graph.core.graph import Operation, Tensor
    from ...graph.core.typing import TensorLike
    from .structures import Structure


class Optional:
    """A value that may be missing: what `get_next_as_optional` gives.

    Args:
        variant: The tensor that stands for it.
        spec: What is known of the value.
    """

    def __init__(self, variant: Tensor, spec: Structure):
        self._variant, self._spec = variant, spec

    @staticmethod
    def from_value(value: Structure) -> Optional:
        """One with a value."""
        with name_scope(None, "optional", None):
            value = structures.normalize(value)
            parts = structures.components(value)
            variant = cast("Tensor", ops.OptionalFromValue(parts))
            return Optional(variant, structures.spec_of(value))

    @staticmethod
    def empty(element_spec: Structure) -> Optional:
        """One without a value."""
        return Optional(cast("Tensor", ops.OptionalNone()), element_spec)

    @staticmethod
    def none_from_structure(value_structure: Structure) -> Optional:
        """`empty` under its older name."""
        return Optional.empty(value_structure)

    def has_value(self, name: str | None = None) -> Tensor:
        """Whether there is a value: a bool scalar."""
        return cast("Tensor", ops.OptionalHasValue(self._variant, name=name))

    def get_value(self, name: str | None = None) -> Structure:
        """The value; InvalidArgumentError when it runs and there is none."""
        with name_scope(name, "OptionalGetValue", [self._variant]) as scope:
            return element_of("OptionalGetValue", self._variant, self._spec, scope)

    @property
    def element_spec(self) -> Structure:
        """What is known of the value."""
        return self._spec

    value_structure = element_spec


def element_of(kind: str, source: Tensor, spec: Structure, name: str | None) -> Structure:
    """An element that an operation gives, in its structure."""
    attrs = attributes(spec)
    op = create(kind, [source], attrs, name)
    leaves = structures.from_components(spec, op.outputs)
    return structures.pack(spec, leaves)


class Iterator:
    """How far one has been through a dataset; a Session keeps it.

    Args:
        iterator_resource: The tensor that stands for it.
        initializer: The operation that starts it; None where it starts by itself.
        spec: What is known of the elements.
    """

    def __init__(self, iterator_resource: Tensor, initializer: Operation | None, spec: Structure):
        self._resource, self._initializer, self._spec = iterator_resource, initializer, spec
        self._string_handle = cast("Tensor", ops.IteratorToStringHandle(iterator_resource))

    @staticmethod
    def from_structure(
        output_types: Structure,
        output_shapes: Structure = None,
        shared_name: str | None = None,
        output_classes: Structure = None,
    ) -> Iterator:
        """One over any dataset of such elements: `make_initializer` says which.

        Args:
            output_types: The types of an element, in its structure.
            output_shapes: Its shapes; any by default.
            shared_name: Under which Sessions of one server share it.
            output_classes: tf.Tensor or tf.SparseTensor for each; tensors by default.
        """
        spec = structures.specs(output_types, output_shapes, output_classes)
        return Iterator(_resource(spec, shared_name), None, spec)

    @staticmethod
    def from_string_handle(
        string_handle: TensorLike,
        output_types: Structure,
        output_shapes: Structure = None,
        output_classes: Structure = None,
    ) -> Iterator:
        """The one that a string of `string_handle` stands for, which may be fed.

        Args:
            string_handle: A string scalar.
            output_types: The types of an element, in its structure.
            output_shapes: Its shapes; any by default.
            output_classes: tf.Tensor or tf.SparseTensor for each; tensors by default.
        """
        spec = structures.specs(output_types, output_shapes, output_classes)
        handle = convert_to_tensor(string_handle, np.dtype(object))
        attrs = attributes(spec)
        resource = create("IteratorFromStringHandleV2", [handle], attrs).outputs[0]
        return Iterator(resource, None, spec)

    @property
    def initializer(self) -> Operation:
        """The operation that starts it; ValueError where it has none of its own."""
        if self._initializer is None:
            raise ValueError(
                "The iterator does not have an initializer. This means it was likely created using "
                "`tf.data.Dataset.make_one_shot_iterator()`. For an initializable iterator, use "
                "`tf.data.Dataset.make_initializable_iterator()` instead."
            )
        return self._initializer

    def make_initializer(self, dataset: DatasetBase, name: str | None = None) -> Operation:
        """An operation that starts it at the first element of a dataset.

        Raises TypeError where the dataset's elements are of other types or shapes.
        """
        with name_scope(name, "make_initializer", None) as scope:
            spec = dataset.element_spec
            for what, read in (("types", structures.types_of), ("classes", structures.classes_of)):
                expected, actual = read(self._spec), read(spec)
                if structures.flatten(expected) != structures.flatten(actual):
                    raise TypeError(
                        f"Expected output {what} {expected!r} but got dataset with output {what} "
                        f"{actual!r}."
                    )
            structures.assert_same(self._spec, spec)
            leaves = zip(structures.flatten(self._spec), structures.flatten(spec), strict=True)
            for expected, actual in leaves:
                if not structures.shape_of(expected).is_compatible_with(
                    structures.shape_of(actual)
                ):
                    raise TypeError(
                        "Expected output shapes compatible with "
                        f"{structures.shapes_of(self._spec)!r} but got dataset with output shapes "
                        f"{structures.shapes_of(spec)!r}."
                    )
            return create("MakeIterator", [dataset.variant_tensor, self._resource], name=scope)

    def get_next(self, name: str | None = None) -> Structure:
        """The next element, in the structure of the dataset's: another one in every run.

        Raises OutOfRangeError when it runs behind the last one.
        """
        return element_of("IteratorGetNext", self._resource, self._spec, name)

    def get_next_as_optional(self) -> Optional:
        """The next element, or that there is none."""
        attrs = attributes(self._spec)
        op = create("IteratorGetNextAsOptional", [self._resource], attrs)
        return Optional(op.outputs[0], self._spec)

    def string_handle(self, name: str | None = None) -> Tensor:
        """A string scalar that stands for it in a Session."""
        if name is None:
            return self._string_handle
        return cast("Tensor", ops.IteratorToStringHandle(self._resource, name=name))

    @property
    def element_spec(self) -> Structure:
        """What is known of the elements."""
        return self._spec

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


def _resource(spec: Structure, shared_name: str | None) -> Tensor:
    attrs = {"container": "", "shared_name": shared_name or "", **attributes(spec)}
    return create("IteratorV2", [], attrs).outputs[0]


def make_initializable_iterator(dataset: DatasetBase, shared_name: str | None = None) -> Iterator:
    """An iterator that its `initializer` starts, which may read what is fed then.

    Args:
        dataset: What it goes through.
        shared_name: Under which Sessions of one server share it.
    """
    spec, variant = dataset.element_spec, dataset.variant_tensor
    resource = _resource(spec, shared_name)
    return Iterator(resource, create("MakeIterator", [variant, resource]), spec)


def make_one_shot_iterator(dataset: DatasetBase) -> Iterator:
    """An iterator that goes through a dataset once, without an initializer.

    Raises ValueError where the dataset reads a placeholder or a variable.
    """
    variant = dataset.variant_tensor
    outer = get_default_graph()
    body = FunctionGraph(outer)
    try:
        body.outputs = [copy_ancestors(variant, body, _require_repeatable)]
    except ValueError as error:
        raise ValueError(
            f"{error}. A likely cause of this error is that the dataset for which you are calling "
            "`make_one_shot_iterator()` captures a stateful object, such as a `tf.Variable` or "
            "`tf.lookup.StaticHashTable`, which is not supported. Use "
            "`make_initializable_iterator()` instead."
        ) from None
    get_seed(None)  # of the function: what is drawn after it has the next ones
    reference = define(body, "_make_dataset")
    spec = dataset.element_spec
    attrs = {"dataset_factory": reference, **attributes(spec)}
    return Iterator(create("OneShotIterator", [], attrs).outputs[0], None, spec)


def _require_repeatable(op: Operation) -> None:
    if op.type in ("Placeholder", "PlaceholderV2"):
        raise ValueError(f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value.")
    is_stateful = op.signature is not None and op.signature.is_stateful and bool(op.outputs)
    if (is_stateful and "Dataset" not in op.type) or op.type in ("VariableV2", "Variable"):
        raise ValueError(
            f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value."
        )


def get_next_as_optional(iterator: Iterator) -> Optional:
    """The next element of an iterator, or that there is none."""
    return iterator.get_next_as_optional()


def get_output_types(dataset_or_iterator: DatasetBase | Iterator) -> Structure:
    """The types of an element, in its structure."""
    return structures.types_of(dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator: DatasetBase | Iterator) -> Structure:
    """The shapes of an element, in its structure."""
    return structures.shapes_of(dataset_or_iterator.element_spec)


def get_output_classes(dataset_or_iterator: DatasetBase | Iterator) -> Structure:
    """The classes of an element's parts, in its structure."""
    return structures.classes_of(dataset_or_iterator.element_spec)
