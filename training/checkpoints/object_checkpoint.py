"""Checkpoint: variables saved and restored by the names of what holds them, as in TensorFlow."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ...graph.core.graph import Tensor
from ...graph.functions.resources.mutable_tables import MutableTable
from ...graph.session.session import Session
from ...graph.variables.variables import Variable
from ...schema import proto
from ...schema.errors import DataLossError
from ...schema.files import make_folder, remove_leftovers
from ...schema.tensorflow.bundle import write_bundle
from ...schema.tensorflow.slice_table import open_checkpoint
from .checkpoint_options import CheckpointOptions
from .checkpoints import write_state
from .load_status import (
    CheckpointLoadStatus,
    InitializationOnlyStatus,
    LoadStatus,
    NameBasedSaverStatus,
    session_or_default,
)
from .object_graph import (
    OBJECT_GRAPH_KEY,
    Trackable,
    as_message,
    checkpoint_key,
    is_trackable,
    object_graph,
    string_tensor,
)
from .python_state import PythonState


class Checkpoint(Trackable):
    """Groups objects that are saved and restored together.

    Variables, tables, optimizers with their slots, RNN cells, PythonState objects, other
    Checkpoints, and lists, tuples and dicts of them may be its attributes. In the file they have
    the names of the attributes on the way to them; how variables are called in the graph does not
    matter. Attributes that are set later belong to it as well.

    Args:
        **kwargs: Attributes to set.

    Raises:
        ValueError: One of `kwargs` cannot be saved.

    >>> import flatlite.compat.v1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     checkpoint = tf.train.Checkpoint(w=tf.Variable([1.0, 2.0]))
    ...     session.run(checkpoint.w.initializer)
    ...     path = checkpoint.save("out/doctest/model")
    ...     checkpoint.restore(path).assert_consumed().run_restore_ops()
    """

    def __init__(self, **kwargs: Any):
        super().__init__()
        self._save_counter: Variable | None = None
        self._count: Any = None
        for name, value in sorted(kwargs.items()):
            if not is_trackable(value):
                raise ValueError(
                    "`Checkpoint` was expecting a trackable object (an object derived from "
                    f"`Trackable`), got {value}. If you believe this object should be trackable "
                    "(i.e. it is part of the TensorFlow Python API and manages state), please "
                    "open an issue."
                )
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_save_counter":
            object.__setattr__(self, name, value)
        else:
            super().__setattr__(name, value)

    @property
    def save_counter(self) -> Variable:
        """The variable that counts the calls of `save`: an int64 that starts at 0."""
        if self._save_counter is None:
            counter = Variable(np.int64(0), trainable=False, name="save_counter", dtype=np.int64)
            self._save_counter = counter
            self._references["save_counter"] = counter
        return self._save_counter

    def write(
        self, file_prefix, session: Session | None = None, options: CheckpointOptions | None = None
    ) -> str:
        """Writes a checkpoint under exactly this name; returns the name.

        The checkpoint is there as a whole or not at all. The folder's state is not changed.

        Args:
            file_prefix: The checkpoint's name; its folders are made when they are missing.
            session: Whose values to save; the default one when None.
            options: What else is done when it is there.

        Raises:
            ValueError: There is no session, or an object cannot be saved.
            FailedPreconditionError: A variable has no value.
            ResourceExhaustedError: The disk is full; what was there before still is.
        """
        session, prefix = session_or_default(session), os.fspath(file_prefix)
        graph = object_graph(self)
        fetches: dict[str, Variable | Tensor] = {}
        tensors: dict[str, np.ndarray] = {}
        for node, value, attribute in graph.with_values():
            key = checkpoint_key(graph.paths[node], attribute)
            if isinstance(value, PythonState):
                state = value.serialize()
                tensors[key] = string_tensor(state.encode() if isinstance(state, str) else state)
            elif isinstance(value, MutableTable):
                with session.graph.as_default():
                    saveable = value.saveable(key)
                fetches.update(zip(saveable.names, saveable.tensors, strict=True))
            else:
                fetches[key] = value
        tensors.update(session.run(fetches) if fetches else {})
        message = as_message(graph).SerializeToString(deterministic=True)
        tensors[OBJECT_GRAPH_KEY] = string_tensor(message)
        make_folder(os.path.dirname(prefix) or os.curdir)
        write_bundle(prefix, dict(sorted(tensors.items(), key=lambda pair: pair[0].encode())))
        remove_leftovers(prefix)
        if options is not None:
            options.written(prefix)
        return prefix

    def save(
        self, file_prefix, session: Session | None = None, options: CheckpointOptions | None = None
    ) -> str:
        """Writes the checkpoint `<file_prefix>-<save_counter>` and makes it the folder's latest.

        Args:
            file_prefix: The beginning of the checkpoint's name.
            session: Whose values to save; the default one when None.
            options: What else is done when it is there.

        Returns:
            The checkpoint's name. Raises what `write` does.
        """
        session, prefix = session_or_default(session), os.fspath(file_prefix)
        if self._save_counter is None:
            session.run(self.save_counter.initializer)
        path = self.write(f"{prefix}-{self.count(session)}", session)
        write_state(os.path.dirname(prefix), path, [path], relative=True)
        remove_leftovers(prefix)
        if options is not None:
            options.written(path)
        return path

    def count(self, session: Session) -> int:
        """Adds one to `save_counter`; its new value."""
        if self._count is None:
            self._count = self.save_counter.assign_add(1)
        return int(session.run(self._count))

    def restore(self, save_path) -> LoadStatus:
        """Finds the objects of a checkpoint; the Python state among them is set at once.

        Variables get their values by `run_restore_ops()` or `initialize_or_restore()` of what is
        returned; those that were added in between get theirs too.

        Args:
            save_path: The checkpoint, as `save` or `latest_checkpoint` gives it, or None. One that
                a Saver wrote is restored by the names of the variables.

        Returns:
            A status with assertions on what matches.

        Raises:
            NotFoundError: There is no such checkpoint.
            DataLossError: It is damaged.
        """
        if save_path is None:
            status = InitializationOnlyStatus(self)
            _ = self.save_counter
            return status
        bundle = open_checkpoint(save_path)
        if OBJECT_GRAPH_KEY not in bundle:
            return NameBasedSaverStatus(self, bundle, self.save_counter)
        status = CheckpointLoadStatus(self, bundle, read_object_graph(bundle))
        status.restore_python_state()
        _ = self.save_counter
        return status


def read_object_graph(bundle):
    """The TrackableObjectGraph of a checkpoint that has one.

    Raises DataLossError when it is damaged, or refers to nodes that it lacks.
    """
    content = bundle.read(OBJECT_GRAPH_KEY)
    try:
        message = proto.parse("TrackableObjectGraph", content.item())
    except (ValueError, TypeError) as error:
        raise DataLossError(
            None, None, f"'{bundle.prefix}': the object graph is damaged ({error})"
        ) from None
    ids = [child.node_id for node in message.nodes for child in node.children]
    for node in message.nodes:
        for slot in node.slot_variables:
            ids += [slot.original_variable_node_id, slot.slot_variable_node_id]
    n = len(message.nodes)
    if n == 0 or (ids and not 0 <= min(ids) <= max(ids) < n):
        raise DataLossError(
            None, None, f"'{bundle.prefix}': the object graph refers to nodes beyond its {n}"
        )
    return message
