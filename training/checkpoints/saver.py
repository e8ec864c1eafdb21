"""Saver: the variables of a Session to a checkpoint and back, in TensorFlow's format."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...graph.core.scopes import GraphKeys, get_collection
from ...graph.session.session import Session
from ...graph.variables.variable_lists import global_variables
from ...graph.variables.variables import Variable
from ...schema import proto
from ...schema.errors import InvalidArgumentError, NotFoundError
from ...schema.files import is_folder, remove_leftovers
from ...schema.tensorflow.gfile import local_path
from ...schema.tensorflow.slice_table import open_checkpoint
from ..export.meta_graph import export_meta_graph
from ..export.scoped_graph import is_within, without_scope
from .checkpoints import (
    STATE,
    checkpoint_exists,
    get_checkpoint_mtimes,
    meta_graph_path,
    remove_checkpoint,
    write_state,
)
from .load_status import load_values
from .object_checkpoint import read_object_graph
from .object_graph import OBJECT_GRAPH_KEY
from .saver_ops import V1, V2, Restoring, Saved, add_operations, named_variables

HOUR = 3600
LOGGER = logging.getLogger("flatlite")


class Saver:
    """Saves variables to checkpoints that TensorFlow can restore, and restores what it has saved.

    A checkpoint is there whole or not at all: when the process or the machine stops while one is
    written, the one before stays the latest.

    Args:
        var_list: The variables: a list, or a dict by the names they have in the checkpoint; all
            global variables by default.
        reshape: Whether a tensor of another shape with as many elements may be restored.
        sharded: Whether each device has a data file of its own.
        max_to_keep: How many checkpoints to keep; older ones are removed. None or 0 for all.
        keep_checkpoint_every_n_hours: A checkpoint of each such time is kept for good.
        name: The name scope of the operations.
        restore_sequentially: Whether variables are assigned one after another.
        saver_def: A SaverDef message: no operations are made, those of the message are used.
        builder: Not supported.
        defer_build: Whether operations are made only by `build`.
        allow_empty: Whether there may be no variables.
        write_version: 2, or 1 for files as those of TensorFlow before 1.0.
        pad_step_number: Whether steps have at least 8 digits in names.
        save_relative_paths: Whether the folder's state file has paths relative to it.
        filename: What the file is called where `save` says nothing.

    Raises:
        TypeError: `var_list` is neither a list nor a dict of variables.
        ValueError: There are no variables, two have one name, or `builder` or `write_version` is
            another one.
    """

    def __init__(
        self,
        var_list: Sequence[Variable] | Mapping[str, Variable] | None = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Any = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = V2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | bytes | None = None,
    ):
        if defer_build and var_list:
            raise ValueError(
                "If `var_list` is provided then build cannot be deferred. Either set "
                "defer_build=False or var_list=None."
            )
        if builder is not None:
            raise ValueError(f"Saver: builder must be None, its own one is used, got {builder!r}")
        if write_version not in (V1, V2):
            raise ValueError(f"Saver: write_version must be 1 or 2, got {write_version}")
        if write_version == V1:
            LOGGER.warning("TensorFlow's V1 checkpoint format has been deprecated.")
        self._var_list = var_list
        self._reshape = reshape
        self._sharded = sharded
        self._max_to_keep = max_to_keep
        self._every_n_hours = keep_checkpoint_every_n_hours
        self._name = name
        self._restore_sequentially = restore_sequentially
        self.saver_def = saver_def
        self._allow_empty = allow_empty
        self._is_empty = False
        self._pad_step_number = pad_step_number
        self._save_relative_paths = save_relative_paths
        self._filename = filename
        self._version = write_version
        self._last_checkpoints: list[tuple[str, float]] = []
        self._next_permanent = time.time() + keep_checkpoint_every_n_hours * HOUR
        if saver_def is not None:
            self._sharded = saver_def.sharded
            self._max_to_keep = saver_def.max_to_keep
            self._every_n_hours = saver_def.keep_checkpoint_every_n_hours
            self._version = saver_def.version or V1
            self._next_permanent = time.time() + self._every_n_hours * HOUR
        elif not defer_build:
            self.build()

    def build(self) -> None:
        """Makes the operations that save and restore."""
        if self.saver_def is not None:
            return
        variables = self._variables()
        if not variables:
            if not self._allow_empty:
                raise ValueError("No variables to save")
            self._is_empty = True
            return
        path, saved, restored = add_operations(
            variables,
            self._name,
            self._filename or "model",
            self._sharded,
            Restoring(self._reshape, self._restore_sequentially),
            self._version,
        )
        self.saver_def = proto.SaverDef(
            filename_tensor_name=path.name,
            save_tensor_name=saved.name,
            restore_op_name=restored.name,
            max_to_keep=self._max_to_keep or 0,
            sharded=self._sharded,
            keep_checkpoint_every_n_hours=self._every_n_hours,
            version=self._version,
        )

    def _variables(self) -> list[Saved]:
        """What it saves, by the names in the checkpoint."""
        if self._var_list is not None:
            return named_variables(self._var_list)
        return named_variables(global_variables() + get_collection(GraphKeys.SAVEABLE_OBJECTS))

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints that are kept and may still be removed, the oldest first."""
        return [path for path, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints: list[str]) -> None:
        """Sets the checkpoints that are kept, as made at an unknown time."""
        if not isinstance(last_checkpoints, list):
            raise AssertionError("last_checkpoints must be a list")
        self._last_checkpoints = [(path, np.inf) for path in last_checkpoints]

    def set_last_checkpoints_with_time(
        self, last_checkpoints_with_time: list[tuple[str, float]]
    ) -> None:
        """Sets the checkpoints that are kept and when they were made."""
        if not isinstance(last_checkpoints_with_time, list):
            raise AssertionError("last_checkpoints_with_time must be a list")
        self._last_checkpoints = list(last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]) -> None:
        """Goes on where an earlier process was stopped: these checkpoints are kept, if they exist.

        Give it `get_checkpoint_state(folder).all_model_checkpoint_paths`.
        """
        existing = [path for path in checkpoint_paths if checkpoint_exists(path)]
        times = [time / 1e6 for time in get_checkpoint_mtimes(existing)]
        self.set_last_checkpoints_with_time(list(zip(existing, times, strict=True)))

    def save(
        self,
        sess: Session,
        save_path,
        global_step=None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str | None:
        """Writes a checkpoint.

        Args:
            sess: Whose variables to save.
            save_path: The checkpoint's name; its folder must exist.
            global_step: A number, or the variable that has it, to put behind the name.
            latest_filename: The folder's file that names its checkpoints, "checkpoint".
            meta_graph_suffix: Of the file with the graph.
            write_meta_graph: Whether to write the graph too.
            write_state: Whether to make it the latest checkpoint of the folder.
            strip_default_attrs: Whether attributes with default values are left out of the graph.
            save_debug_info: Taken for TensorFlow's sake.

        Returns:
            The name to give to `restore`; None when there are no variables.

        Raises:
            TypeError: `sess` is no Session.
            ValueError: The folder does not exist, or names collide.
            FailedPreconditionError: A variable has no value.
            ResourceExhaustedError: The disk is full; what was there before still is.
        """
        if not isinstance(sess, Session):
            raise TypeError(f"'sess' must be a Session; {sess}")
        if not self._is_empty and self.saver_def is None:
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        latest_filename = STATE if latest_filename is None else latest_filename
        prefix = self._prefix(sess, local_path(save_path), global_step, latest_filename)
        folder = os.path.dirname(prefix)
        if folder and not is_folder(folder):
            raise ValueError(f"Parent directory of {save_path} doesn't exist, can't save.")
        written = self._write(sess, prefix)
        if write_meta_graph:
            path = meta_graph_path(prefix, meta_graph_suffix)
            with sess.graph.as_default():
                self.export_meta_graph(path, strip_default_attrs=strip_default_attrs)
        if written is not None and write_state:
            self._record(written)
            self._write_state(folder, written, latest_filename)
            self._remove_old(meta_graph_suffix)
        remove_leftovers(local_path(save_path))
        scheme = os.fsdecode(save_path).removesuffix(local_path(save_path))
        return written and scheme + written

    def _prefix(self, sess: Session, save_path: str, global_step, latest_filename: str) -> str:
        """The checkpoint's name with the step."""
        if os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        if global_step is None:
            if os.path.basename(save_path) == latest_filename and not self._sharded:
                raise ValueError(
                    "'latest_filename' collides with 'save_path': "
                    f"'{latest_filename}' and '{save_path}'"
                )
            return save_path
        if not isinstance(global_step, int | np.integer):
            global_step = int(sess.run(global_step))
        return f"{save_path}-{global_step:0{8 if self._pad_step_number else 1}d}"

    def _write(self, sess: Session, prefix: str) -> str | None:
        """Writes index and data files."""
        if self._is_empty:
            return None
        definition = self.saver_def
        feeds = {definition.filename_tensor_name: prefix}
        saved = sess.run(definition.save_tensor_name, feeds)
        return os.fsdecode(saved.item() if isinstance(saved, np.ndarray) else saved)

    def _record(self, path: str) -> None:
        """Notes a checkpoint as the newest."""
        if self._max_to_keep:
            others = [pair for pair in self._last_checkpoints if pair[0] != path]
            self._last_checkpoints = [*others, (path, time.time())]

    def _write_state(self, folder: str, path: str, latest_filename: str) -> None:
        checkpoints = self.last_checkpoints[-(self._max_to_keep or 1) :]
        write_state(folder, path, checkpoints, latest_filename, self._save_relative_paths)

    def _remove_old(self, meta_graph_suffix: str) -> None:
        """Removes checkpoints that are one too many; the state file no longer names them."""
        while self._max_to_keep and len(self._last_checkpoints) > self._max_to_keep:
            path, time_saved = self._last_checkpoints.pop(0)
            if time_saved > self._next_permanent:
                self._next_permanent += self._every_n_hours * HOUR
            else:
                remove_checkpoint(path, self._version, meta_graph_suffix)

    def restore(self, sess: Session, save_path) -> None:
        """Gives variables the values of a checkpoint; they need no value before.

        A checkpoint that `tf.train.Checkpoint` wrote is restored by the names that the variables
        had then.

        Args:
            sess: Whose variables to set.
            save_path: The checkpoint's name, as `save` or `latest_checkpoint` gives it.

        Raises:
            ValueError: `save_path` is None, or no checkpoint.
            NotFoundError: The checkpoint lacks a variable.
            InvalidArgumentError: A tensor has another shape or dtype than its variable.
            DataLossError: The checkpoint is damaged.
        """
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        path = local_path(save_path)
        if not checkpoint_exists(path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {path}")
        definition = self.saver_def
        try:
            sess.run(definition.restore_op_name, {definition.filename_tensor_name: path})
        except NotFoundError as error:
            if self._restore_objects(sess, path):
                return
            raise _explained(error, "a Variable name or other graph key that is missing") from error
        except InvalidArgumentError as error:
            reason = "a mismatch between the current graph and the graph"
            raise _explained(error, reason) from error

    def _restore_objects(self, sess: Session, path: str) -> bool:
        """Restores an object-based checkpoint; False when `path` is none, or lacks a variable."""
        bundle = open_checkpoint(path)
        if OBJECT_GRAPH_KEY not in bundle:
            return False
        nodes = read_object_graph(bundle).nodes
        keys = {item.full_name: item.checkpoint_key for node in nodes for item in node.attributes}
        with sess.graph.as_default():
            rows = list(self._variables())
        variables = {row.name: row.item for row in rows if isinstance(row.item, Variable)}
        if len(variables) < len(rows) or not keys.keys() >= variables.keys():
            return False
        load_values(sess, bundle, [(v, keys[name]) for name, v in variables.items()])
        return True

    def export_meta_graph(
        self,
        filename=None,
        collection_list: Sequence[str] | None = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ):
        """The default graph and this saver as a message; see `tf.train.export_meta_graph`."""
        return export_meta_graph(
            filename,
            saver_def=self.to_proto(export_scope),
            collection_list=collection_list,
            as_text=as_text,
            export_scope=export_scope,
            clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs,
        )

    def as_saver_def(self):
        """The SaverDef message that describes it."""
        return self.saver_def

    def to_proto(self, export_scope: str | None = None):
        """The SaverDef message that describes it, names without the scope `export_scope`.

        None when its operations lie outside of that scope.
        """
        definition = self.saver_def
        if definition is None or not is_within(definition.filename_tensor_name, export_scope):
            return None
        return renamed(definition, lambda name: without_scope(name, export_scope))

    @staticmethod
    def from_proto(saver_def, import_scope: str | None = None) -> Saver:
        """The saver that a SaverDef message describes, its operations within `import_scope`."""
        inside = f"{import_scope}/" if import_scope else ""
        return Saver(saver_def=renamed(saver_def, lambda name: inside + name), name=import_scope)


def renamed(saver_def, rename):
    """A copy of a SaverDef with other names."""
    result = proto.SaverDef()
    result.CopyFrom(saver_def)
    for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
        setattr(result, field, rename(getattr(saver_def, field)))
    return result


def _explained(error, reason: str):
    """An error of restoring with what to do about it."""
    return type(error)(
        error.node_def,
        error.op,
        f"Restoring from checkpoint failed. This is most likely due to {reason} from the "
        "checkpoint. Please ensure that you have not altered the graph expected based on the "
        f"checkpoint. Original error:\n\n{error.message}",
    )
