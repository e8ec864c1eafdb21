"""OpHint: marks part of a graph as one function that the converter replaces by one operator.

Every tensor that enters or leaves the part goes through an Identity that carries the function's
name, a number of this use of it, and the argument's index. `stubs.collapse` reads these marks.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...graph.core.arrays import as_array
from ...graph.core.create import output

if TYPE_CHECKING:
    from ...graph.core.graph import Tensor

ATTRIBUTE = "_tflite_attr_"
"""Before the name of a constant attribute, on the function's first output."""


class OpHint:
    """Marks the operations between some inputs and outputs as one function.

    Args:
        function_name: of the operator in the converted file.
        level: depth of this hint among nested ones, 1 for the outermost.
        children_inputs_mappings: how arguments pass through hints inside this one: a dict of lists
            under "parent_first_child_input", "parent_last_child_output" and
            "internal_children_input_output".
        **kwargs: constant attributes of the function: numbers, strings, lists of numbers, arrays.

    >>> import numpy as np
    >>> from flatlite.graph.core.create import constant
    >>> from flatlite.graph.core.graph import Graph
    >>> with Graph().as_default():
    ...     hint = OpHint("Scale", factor=2.0)
    ...     x = hint.add_input(constant(np.float32([1, 2])), name="x")
    ...     y = hint.add_output(output("Mul", [x, 2.0]), name="y")
    >>> y.op.type, y.op.get_attr(OpHint.FUNCTION_NAME_ATTR)
    ('Identity', b'Scale')
    """

    AGGREGATE_FIRST = "first"
    AGGREGATE_LAST = "last"
    AGGREGATE_STACK = "stack"
    CHILDREN_INPUTS_MAPPINGS = "_tflite_children_ophint_inputs_mapping"
    FUNCTION_AGGREGATE_ATTR = "_tflite_function_aggregate"
    FUNCTION_INPUT_INDEX_ATTR = "_tflite_function_input_index"
    FUNCTION_LEVEL_ATTR = "_tflite_ophint_level"
    FUNCTION_NAME_ATTR = "_tflite_function_name"
    FUNCTION_OUTPUT_INDEX_ATTR = "_tflite_function_output_index"
    FUNCTION_SORT_INDEX_ATTR = "_tflite_function_sort_index"
    FUNCTION_UUID_ATTR = "_tflite_function_uuid"
    TFLITE_INPUT_INDICES = "_tflite_input_indices"

    class OpHintArgumentTracker:
        """Numbers the arguments on one side of a hint.

        Args:
            function_name: the function's name.
            unique_function_id: tells this use of the function from others.
            node_name_prefix: starts the names of the identities.
            attr_name: FUNCTION_INPUT_INDEX_ATTR or FUNCTION_OUTPUT_INDEX_ATTR.
            level: depth of the hint.
            children_inputs_mappings: as OpHint's.
        """

        def __init__(
            self,
            function_name: str,
            unique_function_id: str,
            node_name_prefix: str,
            attr_name: str,
            level: int = 1,
            children_inputs_mappings: Mapping | None = None,
        ) -> None:
            self._name = function_name
            self._id = unique_function_id
            self._prefix = node_name_prefix
            self._attr_name = attr_name
            self._level = level
            self._children = children_inputs_mappings
            self._used_indices: set[int] = set()
            self._tags: dict[str, list] = {}  # tag -> [index, arguments so far, aggregate]

        def add(
            self,
            arg: Tensor,
            tag: str | None = None,
            name: str | None = None,
            aggregate: str | None = None,
            index_override: int | None = None,
        ) -> Tensor:
            """The tensor behind an Identity that marks `arg` as an argument.

            Args:
                arg: the tensor.
                tag: groups arguments that become one.
                name: part of the Identity's name.
                aggregate: what becomes of the arguments of a tag: AGGREGATE_FIRST, _LAST or _STACK.
                index_override: index among the operator's arguments; the next free by default.

            Raises:
                ValueError: indices or aggregates that contradict each other, a tag without an
                    aggregate or the other way round.
            """
            if tag is None:
                if aggregate is not None:
                    raise ValueError("You must specify `tag` if using aggregate.")
                index, sort = self._new_index(index_override), None
            else:
                index, sort = self._tagged(tag, aggregate, index_override)
            label = f"{self._prefix}-{self._name}-{self._id}-{index!r}-{sort!r}-{name}"
            identity = output("Identity", [arg], name=label)
            identity.op.attrs |= {
                OpHint.FUNCTION_NAME_ATTR: self._name.encode(),
                OpHint.FUNCTION_UUID_ATTR: self._id.encode(),
                OpHint.FUNCTION_LEVEL_ATTR: self._level,
                self._attr_name: index,
            }
            if self._children:
                text = json.dumps(self._children, sort_keys=True)
                identity.op.attrs[OpHint.CHILDREN_INPUTS_MAPPINGS] = text.encode()
            if tag is not None:
                identity.op.attrs[OpHint.FUNCTION_SORT_INDEX_ATTR] = sort
                identity.op.attrs[OpHint.FUNCTION_AGGREGATE_ATTR] = str(aggregate).encode()
            return identity

        def _tagged(self, tag: str, aggregate: str | None, index: int | None) -> tuple[int, int]:
            """(index, position among those of the same tag)."""
            known = (OpHint.AGGREGATE_FIRST, OpHint.AGGREGATE_LAST, OpHint.AGGREGATE_STACK)
            if aggregate not in known:
                raise ValueError(
                    f"You must specify `aggregate` if using tag, one of {known}; got {aggregate!r}"
                )
            if tag not in self._tags:
                self._tags[tag] = [self._new_index(index), 0, aggregate]
            row = self._tags[tag]
            if index is not None and index != row[0]:
                raise ValueError(
                    f"Tag {tag!r} was called with two indices {row[0]!r} and {index!r}"
                )
            if aggregate != row[2]:
                raise ValueError(
                    f"Tag {tag!r} was called with two aggregates {row[2]!r} and {aggregate!r}"
                )
            row[1] += 1
            return row[0], row[1] - 1

        def _new_index(self, index: int | None) -> int:
            """A free index, `index` if it is given."""
            if index is None:
                index = next(
                    i for i in range(len(self._used_indices) + 1) if i not in self._used_indices
                )
            if index < 0 or index in self._used_indices:
                raise ValueError(f"Index {index} was already used by another call to add")
            self._used_indices.add(index)
            return index

    def __init__(
        self,
        function_name: str,
        level: int = 1,
        children_inputs_mappings: Mapping | None = None,
        **kwargs: Any,
    ) -> None:
        _check_children(children_inputs_mappings)
        self._name = function_name
        self._attributes = {name: _attribute(name, value) for name, value in kwargs.items()}
        identity = (function_name, uuid.uuid1().hex)
        sides = (
            ("InputHint", self.FUNCTION_INPUT_INDEX_ATTR),
            (
                "OutputHint",
                self.FUNCTION_OUTPUT_INDEX_ATTR,
            ),
        )
        self._inputs, self._outputs = (
            self.OpHintArgumentTracker(*identity, *side, level, children_inputs_mappings)
            for side in sides
        )
        self._has_attributes = False

    def add_input(self, *args: Any, **kwargs: Any) -> Tensor:
        """Marks a tensor as an input and returns the one to go on with.

        Args: as OpHintArgumentTracker.add.
        """
        return self._inputs.add(*args, **kwargs)

    def add_output(self, *args: Any, **kwargs: Any) -> Tensor:
        """Marks a tensor as an output and returns the one to go on with.

        Args: as OpHintArgumentTracker.add.
        """
        identity = self._outputs.add(*args, **kwargs)
        if not self._has_attributes:
            self._has_attributes = True
            identity.op.attrs |= {ATTRIBUTE + name: x for name, x in self._attributes.items()}
        return identity

    def add_inputs(self, *args: Tensor, **kwargs: Any) -> list[Tensor]:
        """Marks several tensors, `args`, as inputs; `names` may list a name for each."""
        return self._several(self.add_input, args, **kwargs)

    def add_outputs(self, *args: Tensor, **kwargs: Any) -> list[Tensor]:
        """Marks several tensors, `args`, as outputs; `names` may list a name for each."""
        return self._several(self.add_output, args, **kwargs)

    def _several(
        self, add: Callable, tensors: tuple[Tensor, ...], names: Sequence[str] | None = None
    ) -> list[Tensor]:
        if names is None:
            return [add(tensor) for tensor in tensors]
        if len(names) != len(tensors):
            raise ValueError(f"names must have {len(tensors)} items, got {len(names)}")
        return [add(tensor, name=name) for tensor, name in zip(tensors, names, strict=True)]


KEYS = {
    "parent_first_child_input": {"parent_input_index", "child_input_index"},
    "parent_last_child_output": {"parent_output_index", "child_output_index"},
    "internal_children_input_output": {"child_input_index", "child_output_index"},
}


def _check_children(mappings: Mapping | None) -> None:
    """Raises ValueError unless the mapping has the documented form."""
    if mappings is None:
        return
    if set(mappings) != set(KEYS):
        raise ValueError(
            f"children_inputs_mappings must have the keys {list(KEYS)}, got {list(mappings)}"
        )
    for key, names in KEYS.items():
        for row in mappings[key]:
            if set(row) != names:
                raise ValueError(f"the rows of {key} must have the keys {sorted(names)}, got {row}")


def _attribute(name: str, value: Any) -> np.ndarray:
    try:
        return as_array(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"attribute '{name}' must be a constant: {error}") from None
