"""Methods of datasets that call a function for elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np

from ...graph.core.composite.type_specs import TensorSpec
from ...graph.core.create import create
from ...graph.core.scopes import name_scope
from . import structures
from .base import AUTOTUNE, DatasetBase, attributes, int64
from .functions import ElementFunction, UserFunction
from .structures import DatasetSpec

if TYPE_CHECKING:
    from ...graph.core.typing import TensorLike
    from .dataset import Dataset
    from .structures import Structure


class Elementwise(DatasetBase):
    """Datasets of what functions give for elements."""

    def map(
        self,
        map_func: UserFunction,
        num_parallel_calls: TensorLike | None = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """What a function gives for each element.

        Args:
            map_func: Gets a tuple's items as arguments; gives tensors in any structure.
            num_parallel_calls, deterministic, synchronous, use_unbounded_threadpool: Taken for
                TensorFlow's sake: elements are computed in order, one after the other.
            name: Of the operation.

        Raises TypeError where the function gives something that is no tensor.
        """
        function = self.function(map_func, "Dataset.map()")
        attrs = {"f": function.reference}
        inputs: list[object] = [function.captured]
        if num_parallel_calls is None:
            return self.with_inputs("MapDataset", inputs, function.output_spec, name, **attrs)
        inputs.append(int64(num_parallel_calls))
        return self.with_inputs("ParallelMapDatasetV2", inputs, function.output_spec, name, **attrs)

    def map_with_legacy_function(
        self,
        map_func: UserFunction,
        num_parallel_calls: TensorLike | None = None,
        deterministic: bool | None = None,
    ) -> Dataset:
        """`map` under an older name."""
        return self.map(map_func, num_parallel_calls, deterministic)

    def filter(self, predicate: UserFunction, name: str | None = None) -> Dataset:
        """The elements for which a function gives True, a bool scalar.

        Raises ValueError where it gives something else.
        """
        function = self.predicate(predicate, "Dataset.filter()")
        attrs = {"predicate": function.reference}
        return self.with_inputs("FilterDataset", [function.captured], name=name, **attrs)

    filter_with_legacy_function = filter

    def predicate(self, user: UserFunction, name: str) -> ElementFunction:
        """A function of elements that gives a bool scalar; ValueError for another one."""
        function = self.function(user, name)
        spec = function.output_spec
        if not isinstance(spec, TensorSpec) or spec.dtype != np.bool_ or spec.shape.rank:
            raise ValueError(
                "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its "
                f"return type is {spec}."
            )
        return function

    def take_while(self, predicate: UserFunction, name: str | None = None) -> Dataset:
        """The elements up to the first for which a function gives False."""
        function = self.predicate(predicate, "tf.data.experimental.take_while()")
        attrs = {"predicate": function.reference}
        return self.with_inputs("TakeWhileDataset", [function.captured], name=name, **attrs)

    def flat_map(self, map_func: UserFunction, name: str | None = None) -> Dataset:
        """The elements of the datasets that a function gives, one dataset after the other.

        Raises TypeError where it gives something else.
        """
        function, spec = self._of_datasets(map_func, "Dataset.flat_map()")
        return self.with_inputs(
            "FlatMapDataset", [function.captured], spec, name, f=function.reference
        )

    def interleave(
        self,
        map_func: UserFunction,
        cycle_length: TensorLike | None = None,
        block_length: TensorLike | None = None,
        num_parallel_calls: TensorLike | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Elements of the datasets that a function gives, several at a time in turns.

        Args:
            map_func: A function of an element that gives a dataset.
            cycle_length: How many datasets take turns; 1 by default.
            block_length: How many elements come in one turn; 1 by default.
            num_parallel_calls, deterministic: Taken for TensorFlow's sake: the order is fixed.
            name: Of the operation.

        Raises TypeError where the function gives no dataset.
        """
        function, spec = self._of_datasets(map_func, "Dataset.interleave()")
        is_open = cycle_length is None or _is_autotune(cycle_length)
        turns = 1 if is_open else cycle_length, 1 if block_length is None else block_length
        inputs = [function.captured, *map(int64, turns)]
        return self.with_inputs("InterleaveDataset", inputs, spec, name, f=function.reference)

    def _of_datasets(self, user: UserFunction, name: str) -> tuple[ElementFunction, Structure]:
        """A function that gives a dataset, and what its elements are."""
        function = self.function(user, name)
        if not isinstance(function.output_spec, DatasetSpec):
            raise TypeError(
                "Invalid `map_func`. `map_func` must return a `Dataset` object. Got "
                f"{type(function.output)}."
            )
        return function, function.output_spec.element_spec

    def scan(
        self, initial_state: Structure, scan_func: UserFunction, name: str | None = None
    ) -> Dataset:
        """What a function gives for a state and each element, beside the next state.

        Args:
            initial_state: The first state, in any structure.
            scan_func: `(state, element) -> (next state, result)`.
            name: Of the operation.

        Raises TypeError where it gives no pair, or another kind of state.
        """
        state = structures.normalize(initial_state)

        def pair(current: Structure, element: Structure) -> Structure:
            returned = scan_func(current, element)
            if not isinstance(returned, tuple) or len(cast("tuple[object, ...]", returned)) != 2:
                raise _NoPair(structures.normalize(returned))
            return cast("tuple[object, object]", returned)

        spec = structures.spec_of(state)
        try:
            spec, function = self._with_state(spec, pair, "scan", _first)
        except _NoPair as error:
            raise TypeError(
                "Invalid `scan_func`. `scan_func` should return a pair consisting of new state and "
                f"the output value but its return type is {structures.spec_of(error.args[0])}."
            ) from None
        results = cast("tuple[object, object]", function.output_spec)[1]
        attrs = {"f": function.reference, "preserve_cardinality": True}
        parts = structures.components(state)
        return self.with_inputs("ScanDataset", [parts, function.captured], results, name, **attrs)

    def reduce(
        self, initial_state: Structure, reduce_func: UserFunction, name: str | None = None
    ) -> Structure:
        """What a function makes of a state and one element after the other: tensors.

        Args:
            initial_state: The first state, in any structure.
            reduce_func: `(state, element) -> next state`.
            name: Of the operation.

        Raises TypeError where it gives another kind of state.
        """
        with name_scope(None, "initial_state", None):
            state = structures.normalize(initial_state)
        spec, function = self._with_state(
            structures.spec_of(state), reduce_func, "reduce", lambda output: output
        )
        inputs = [self._variant_tensor, structures.components(state), function.captured]
        attrs = {"f": function.reference, **attributes(spec)}
        op = create("ReduceDataset", cast("list[TensorLike]", inputs), attrs, name)
        return structures.pack(spec, structures.from_components(spec, op.outputs))

    def _with_state(
        self, spec: Structure, user: UserFunction, name: str, state_of: Callable[[object], object]
    ) -> tuple[Structure, ElementFunction]:
        """What is known of a state in the end, and the function that changes it.

        The function is traced again with fewer known sizes where it changes them.
        """
        while True:
            function = ElementFunction(user, [spec, self._spec], f"Dataset.{name}()")
            changed = state_of(function.output_spec)
            for what, read in (("classes", structures.classes_of), ("types", structures.types_of)):
                expected, actual = read(spec), read(changed)
                if structures.flatten(expected) != structures.flatten(actual):
                    raise TypeError(
                        f"Invalid `{name}_func`. The element {what} for the new state must match "
                        f"the initial state. Expected {expected!s}, got {actual!s}."
                    )
            relaxed = structures.most_specific(spec, changed)
            if relaxed == spec:
                return spec, function
            spec = relaxed


class _NoPair(Exception):
    """A function gave something else than a state and a result."""


def _first(output: object) -> object:
    return cast("tuple[object, object]", output)[0]


def _is_autotune(number: object) -> bool:
    return isinstance(number, (int, np.integer)) and number == AUTOTUNE
