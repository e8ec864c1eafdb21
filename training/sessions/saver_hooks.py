"""Hooks that write files while a session runs: checkpoints and summaries."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...graph.core.scopes import GraphKeys, get_collection
from ...schema import proto
from ..export.meta_graph import export_meta_graph
from ..export.write_graph import write_graph
from ..summary_writer import FileWriter, FileWriterCache
from .hook_steps import SecondOrStepTimer, required_step
from .session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

if TYPE_CHECKING:
    from ...graph.session.session import Session
    from ..checkpoints.saver import Saver
    from .coordinator import Coordinator
    from .scaffold import Scaffold

LOGGER = logging.getLogger("flatlite")


class CheckpointSaverListener:
    """Is told when a CheckpointSaverHook saves."""

    def begin(self) -> None:
        """Called before the session is made."""

    def before_save(self, session: Session, global_step_value: int) -> None:
        """Called before each checkpoint."""

    def after_save(self, session: Session, global_step_value: int) -> bool | None:
        """Called after each checkpoint; True asks for a stop."""

    def end(self, session: Session, global_step_value: int) -> None:
        """Called at the end, after the last checkpoint."""


class CheckpointSaverHook(SessionRunHook):
    """Saves checkpoints: at the start, every so often, at the end.

    Args:
        checkpoint_dir: The folder.
        save_secs, save_steps: How often; one of both.
        saver: What saves; by default that of `scaffold`, or the only one in SAVERS.
        checkpoint_basename: What their names start with.
        scaffold: Whose saver to take.
        listeners: CheckpointSaverListeners.
        save_graph_def: Whether the graph is written, too.

    Raises ValueError when both `saver` and `scaffold` are given.
    """

    def __init__(
        self,
        checkpoint_dir,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Saver | None = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Scaffold | None = None,
        listeners: Sequence[CheckpointSaverListener] | None = None,
        save_graph_def: bool = True,
    ):
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver, self._scaffold = saver, scaffold
        self._folder = os.fspath(checkpoint_dir)
        self._save_path = os.path.join(self._folder, checkpoint_basename)
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._listeners = list(listeners or ())
        self._save_graph_def = save_graph_def

    def begin(self) -> None:
        """Finds the global step and the folder's event file."""
        self._writer = FileWriterCache.get(self._folder)
        self._step = required_step(self)
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Writes the graph, and a first checkpoint."""
        graph, step = session.graph, int(session.run(self._step))
        definition = graph.as_graph_def(add_shapes=True)
        if self._save_graph_def:
            write_graph(definition, self._folder, "graph.pbtxt")
        self._writer.add_graph(graph)
        with graph.as_default():
            saver_def = self._saver_of_collection().saver_def
            meta = export_meta_graph(graph_def=definition, saver_def=saver_def)
        self._writer.add_meta_graph(meta)
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the step."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Saves, when it is time."""
        if not self._timer.should_trigger_for_step(run_values.results + 1):
            return
        step = int(run_context.session.run(self._step))
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: Session) -> None:
        """Saves the last step, if that was not done."""
        step = int(session.run(self._step))
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session: Session, step: int) -> bool:
        """Saves; whether a listener asks for a stop."""
        for listener in self._listeners:
            listener.before_save(session, step)
        LOGGER.info("Saving checkpoints for %d into %s.", step, self._save_path)
        with session.graph.as_default():
            saver = self._saver_of_collection()
            saver.save(session, self._save_path, step, write_meta_graph=self._save_graph_def)
        log = proto.SessionLog(status=proto.SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
        self._writer.add_session_log(log, step)
        answers = [listener.after_save(session, step) for listener in self._listeners]
        return any(answers)

    def _saver_of_collection(self) -> Saver:
        if self._saver is None and self._scaffold is not None:
            return self._scaffold.saver
        if self._saver is None:
            savers = get_collection(GraphKeys.SAVERS)
            if not savers:
                raise RuntimeError(
                    f"No items in collection {GraphKeys.SAVERS}. Please add a saver to the "
                    "collection or provide a saver or scaffold."
                )
            if len(savers) > 1:
                raise RuntimeError(
                    f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which "
                    "one to use by passing it to the constructor."
                )
            self._saver = savers[0]
        return self._saver


class SummarySaverHook(SessionRunHook):
    """Writes summaries.

    Args:
        save_steps, save_secs: How often; one of both.
        output_dir: The folder.
        summary_writer: What writes them.
        scaffold: Whose `summary_op` to take.
        summary_op: A summary, or a list of them.

    Raises ValueError unless exactly one of `scaffold` and `summary_op` is given.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir=None,
        summary_writer: FileWriter | None = None,
        scaffold: Scaffold | None = None,
        summary_op=None,
    ):
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op, self._scaffold = summary_op, scaffold
        self._writer, self._folder = summary_writer, output_dir
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self) -> None:
        """Finds the global step and the folder's event file."""
        if self._writer is None and self._folder:
            self._writer = FileWriterCache.get(self._folder)
        self._next_step: int | None = None
        self._step = required_step(self)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the step, and for the summaries when it is time."""
        step = self._next_step
        self._is_due = step is None or self._timer.should_trigger_for_step(step)
        return SessionRunArgs([self._step, *(self._summaries() if self._is_due else [])])

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Writes them."""
        if self._writer is None:
            return
        before, *summaries = run_values.results
        step = int(before) + 1
        if self._is_due:
            step = int(run_context.session.run(self._step))
        if self._next_step is None:
            start = proto.SessionLog(status=proto.SessionLog.START)
            self._writer.add_session_log(start, step)
        if self._is_due:
            self._timer.update_last_triggered_step(step)
            for summary in summaries:
                self._writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: Session | None = None) -> None:
        """Brings them to the disk."""
        if self._writer is not None:
            self._writer.flush()

    def _summaries(self) -> list:
        summary = self._summary_op
        if summary is None and self._scaffold is not None:
            summary = self._scaffold.summary_op
        if summary is None:
            return []
        return list(summary) if isinstance(summary, list) else [summary]
