"""What `Checkpoint.restore` gives: assertions on what matches, and the restoring itself.

Objects and checkpoint are matched anew at each call, so what was added to the objects since
`restore` is restored too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph.core.scopes import get_default_session
from ...graph.core.tensor_shape import TensorShape
from ...graph.functions.resources.mutable_tables import MutableTable
from ...graph.session.session import Session
from ...graph.variables.variables import Variable
from ...schema.errors import InvalidArgumentError
from ...schema.tensorflow.bundle import Bundle
from ...schema.tensorflow.slice_table import SliceTable
from .object_graph import attribute_of, match, node_names, object_graph
from .python_state import PythonState

MAX_SHOWN = 10


class LoadStatus:
    """What can be asked of any restoring."""

    def assert_consumed(self) -> LoadStatus:
        """Raises AssertionError unless all values and all objects have found each other."""
        raise NotImplementedError

    def assert_existing_objects_matched(self) -> LoadStatus:
        """Raises AssertionError unless all objects that exist have found their values."""
        raise NotImplementedError

    def assert_nontrivial_match(self) -> LoadStatus:
        """Raises AssertionError when nothing but the root was found."""
        raise NotImplementedError

    def expect_partial(self) -> LoadStatus:
        """Says that values may be left over; flatlite prints no warning of that in any case."""
        return self

    def run_restore_ops(self, session: Session | None = None) -> None:
        """Gives the variables that match their values; `session` is the default one when None."""
        raise NotImplementedError

    def initialize_or_restore(self, session: Session | None = None) -> None:
        """Restores what matches and initializes the variables that have no value."""
        raise NotImplementedError


class CheckpointLoadStatus(LoadStatus):
    """The restoring of an object-based checkpoint."""

    def __init__(self, root: Any, bundle: Bundle | SliceTable, message: Any):
        self._root, self._bundle, self._message = root, bundle, message

    def assert_consumed(self) -> LoadStatus:
        """Raises AssertionError unless all values and all objects have found each other."""
        self.assert_existing_objects_matched()
        matched, names = match(self._root, self._message), node_names(self._message)
        for node_id, node in enumerate(self._message.nodes):
            if node.attributes and node_id not in matched:
                raise AssertionError(f"Unresolved object in checkpoint {names[node_id]}: {node}")
        unused = [
            f"{names[node_id]} ({value}): {attribute.name}"
            for node_id, value in matched.items()
            for attribute in self._message.nodes[node_id].attributes
            if attribute.name != attribute_of(value)
        ]
        if unused:
            raise AssertionError(
                "Unused attributes in these objects (the attributes exist in the checkpoint but "
                "were not restored):\n" + "\n".join(unused)
            )
        return self

    def assert_existing_objects_matched(self) -> LoadStatus:
        """Raises AssertionError unless all objects that exist have found their values."""
        matched = match(self._root, self._message)
        for node_id, value in matched.items():
            node = self._message.nodes[node_id]
            name = attribute_of(value)
            if name is not None and name not in {attribute.name for attribute in node.attributes}:
                raise AssertionError(f"Object {node} not assigned a value from checkpoint.")
        unused = _without_value(self._root, matched)
        if unused:
            n, n_shown = len(unused), min(MAX_SHOWN, len(unused))
            raise AssertionError(
                f"Found {n} Python objects that were not bound to checkpointed values, likely due "
                f"to changes in the Python program. Showing {n_shown} of {n} unmatched objects: "
                f"{unused[:n_shown]}"
            )
        return self

    def assert_nontrivial_match(self) -> LoadStatus:
        """Raises AssertionError when nothing but the root was found."""
        matched = match(self._root, self._message)
        if len(matched) > 1:
            return self
        unused = _without_value(self._root, matched)
        if unused:
            raise AssertionError(
                "Nothing except the root object matched a checkpointed value. Typically this "
                "means that the checkpoint does not match the Python program. The following "
                f"objects have no matching checkpointed value: {unused}"
            )
        raise AssertionError(
            f"Nothing to load. No dependencies have been added to {self._root} yet."
        )

    def restore_python_state(self) -> None:
        """Gives the Python objects that match their state."""
        for value, key in self._values():
            if isinstance(value, PythonState):
                value.deserialize(self._bundle.read(key).item())

    def run_restore_ops(self, session: Session | None = None) -> None:
        """Gives the variables that match their values; `session` is the default one when None.

        Raises:
            InvalidArgumentError: A value has another dtype or shape than its variable.
            DataLossError: The checkpoint is damaged.
        """
        session, values = session_or_default(session), self._values()
        pairs = [(value, key) for value, key in values if isinstance(value, Variable)]
        load_values(session, self._bundle, pairs)
        for table, key in values:
            if isinstance(table, MutableTable):
                keys, contents = (self._bundle.read(key + end) for end in ("-keys", "-values"))
                table.load(session, keys, contents)

    def initialize_or_restore(self, session: Session | None = None) -> None:
        """Restores what matches and initializes the variables that have no value."""
        session = session_or_default(session)
        self.run_restore_ops(session)
        unmatched = _without_value(self._root, match(self._root, self._message))
        session.run([value.initializer for value in unmatched if isinstance(value, Variable)])

    def _values(self) -> list[tuple[Any, str]]:
        """The objects that match and where the checkpoint has their values."""
        return [
            (value, attribute.checkpoint_key)
            for node_id, value in match(self._root, self._message).items()
            for attribute in self._message.nodes[node_id].attributes
            if attribute.name == attribute_of(value)
        ]


class InitializationOnlyStatus(LoadStatus):
    """What `restore(None)` gives: there is no checkpoint, variables can be initialized."""

    def __init__(self, root: Any):
        self._root = root

    def assert_consumed(self) -> LoadStatus:
        """Raises AssertionError: nothing is restored."""
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_existing_objects_matched = assert_consumed
    assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session: Session | None = None) -> None:
        """Raises AssertionError: nothing is restored."""
        raise AssertionError(
            "No checkpoint specified, so no restore ops are available (save_path=None to "
            "Saver.restore)."
        )

    def initialize_or_restore(self, session: Session | None = None) -> None:
        """Initializes the variables that would be saved."""
        values = [value for value in _all_values(self._root) if isinstance(value, Variable)]
        session_or_default(session).run([value.initializer for value in values])


class NameBasedSaverStatus(LoadStatus):
    """The restoring of a checkpoint that a Saver wrote: variables are found by their names."""

    def __init__(self, root: Any, bundle: Bundle | SliceTable, optional: Variable):
        self._root, self._bundle, self._optional = root, bundle, optional

    def assert_consumed(self) -> LoadStatus:
        """Raises AssertionError unless the checkpoint has all variables."""
        for variable in self._variables():
            if variable is not self._optional and variable.op.name not in self._bundle:
                raise AssertionError(f"Object not restored: {variable}")
        return self

    assert_existing_objects_matched = assert_consumed
    assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session: Session | None = None) -> None:
        """Gives variables the values that the checkpoint has under their names."""
        variables = [v for v in self._variables() if v.op.name in self._bundle]
        pairs = [(variable, variable.op.name) for variable in variables]
        load_values(session_or_default(session), self._bundle, pairs)

    def initialize_or_restore(self, session: Session | None = None) -> None:
        """The same as `run_restore_ops`."""
        self.run_restore_ops(session)

    def _variables(self) -> list[Variable]:
        return [value for value in _all_values(self._root) if isinstance(value, Variable)]


def _all_values(root: Any) -> list[Any]:
    """All objects from `root` that have a value of their own."""
    return [value for _, value, _ in object_graph(root).with_values()]


def _without_value(root: Any, matched: dict[int, Any]) -> list[Any]:
    """The objects from `root` that have a value of their own and no node of the checkpoint."""
    matched_ids = {id(value) for value in matched.values()}
    return [value for value in _all_values(root) if id(value) not in matched_ids]


def session_or_default(session: Session | None) -> Session:
    """`session`, else the default one; ValueError when there is none."""
    session = get_default_session() if session is None else session
    if session is None:
        raise ValueError(
            "Either session argument should be provided or default session should be established"
        )
    return session


def load_values(
    session: Session, bundle: Bundle | SliceTable, pairs: list[tuple[Variable, str]]
) -> None:
    """Gives variables the tensors of a checkpoint, by keys; nothing is set when one does not fit.

    Raises InvalidArgumentError when a tensor has another dtype or shape than its variable.
    """
    values = [(variable, _checked(variable, bundle.read(key), key)) for variable, key in pairs]
    for variable, value in values:
        variable.load(value, session)


def _checked(variable: Variable, value: np.ndarray, key: str) -> np.ndarray:
    """`value`, of the dtype and shape of its variable."""
    problem = None
    if value.dtype != np.dtype(variable.dtype):
        problem = (
            f"expected dtype {np.dtype(variable.dtype)} does not equal original dtype {value.dtype}"
        )
    elif not TensorShape(value.shape).is_compatible_with(variable.get_shape()):
        problem = f"expected shape {variable.get_shape()} does not equal shape {value.shape}"
    if problem:
        reason = f"tensor_name = {key}; {problem}, of variable '{variable.name}'"
        raise InvalidArgumentError(None, None, reason)
    return value
