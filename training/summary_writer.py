"""`tf.summary.FileWriter`: summaries, graphs and logs as events."""

from __future__ import annotations

import threading
import time
import warnings
from typing import TYPE_CHECKING, Any, ClassVar

from ..graph.core.graph import Graph
from ..graph.core.scopes import get_default_graph
from ..graph.session.session import Session
from ..schema import proto
from .event_files import EventFileWriter, shared_writer
from .export.meta_graph import export_meta_graph

if TYPE_CHECKING:
    from ..schema.proto import Message


class FileWriter:
    """Writes events for TensorBoard to a new file of a folder.

    Every event is in the file when the call that adds it comes back.

    Args:
        logdir: The folder; made when it is missing.
        graph: A Graph, or a GraphDef, to write at once.
        max_queue: Taken for TensorFlow's sake.
        flush_secs: How often what was written is brought to the disk.
        graph_def: A GraphDef to write at once.
        filename_suffix: What the file's name ends with.
        session: With one, all writers of it share one file of the folder.

    Raises:
        TypeError: `graph` is neither.
        ValueError: Both `graph` and `graph_def` are given.

    >>> import flatlite.compat.v1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     loss = tf.summary.scalar("loss", tf.constant(0.5))
    ...     with tf.summary.FileWriter("out/doc_summaries", session.graph) as writer:
    ...         writer.add_summary(session.run(loss), global_step=1)
    """

    def __init__(
        self,
        logdir,
        graph: Graph | Any = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
        filename_suffix: str | None = None,
        session: Session | None = None,
    ):
        if session is not None:
            self.event_writer = shared_writer(
                session, logdir, max_queue, flush_secs, filename_suffix
            )
        else:
            self.event_writer = EventFileWriter(logdir, max_queue, flush_secs, filename_suffix)
        self._closed = False
        self._run_tags: set[str] = set()
        self._summary_tags: set[str] = set()
        if graph is not None or graph_def is not None:
            self.add_graph(graph, graph_def=graph_def)
            graph_or_def = graph_def if graph is None else graph
            message = (
                graph_or_def.as_graph_def(add_shapes=True)
                if isinstance(graph_or_def, Graph)
                else graph_or_def
            )
            self.add_meta_graph(export_meta_graph(graph_def=message))

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, kind, error, trace) -> None:
        self.close()

    def get_logdir(self) -> str:
        """The folder of its file."""
        return self.event_writer.get_logdir()

    def add_summary(self, summary: Message | bytes, global_step: int | None = None) -> None:
        """Adds a Summary, or what a summary operation gives.

        What says how TensorBoard shows a tag is written for the first value of the tag alone.
        """
        content = summary if isinstance(summary, bytes) else summary.SerializeToString()
        event = proto.Event()
        event.summary.MergeFromString(content)
        event.summary.SetInParent()
        for value in event.summary.value:
            if value.tag in self._summary_tags:
                value.ClearField("metadata")
            self._summary_tags.add(value.tag)
        self._add(event, global_step)

    def add_session_log(self, session_log: Message, global_step: int | None = None) -> None:
        """Adds a SessionLog: a session started, stopped, or wrote a checkpoint."""
        self._add(proto.Event(session_log=session_log), global_step)

    def add_graph(
        self, graph: Graph | Any, global_step: int | None = None, graph_def: Any = None
    ) -> None:
        """Adds a Graph, or a GraphDef.

        Raises:
            TypeError: It is neither.
            ValueError: Both arguments are given.
        """
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        graph_or_def = graph_def if graph is None else graph
        if isinstance(graph_or_def, Graph):
            graph_or_def = graph_or_def.as_graph_def(add_shapes=True)
        elif not isinstance(graph_or_def, proto.GraphDef):
            raise TypeError(
                "The passed graph must be an instance of `Graph` or the deprecated `GraphDef`, got "
                f"{type(graph_or_def).__name__}"
            )
        self._add(
            proto.Event(graph_def=graph_or_def.SerializeToString(deterministic=True)), global_step
        )

    def add_meta_graph(self, meta_graph_def: Message, global_step: int | None = None) -> None:
        """Adds a MetaGraphDef; TypeError for anything else."""
        if not isinstance(meta_graph_def, proto.MetaGraphDef):
            raise TypeError(
                f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}"
            )
        content = meta_graph_def.SerializeToString(deterministic=True)
        self._add(proto.Event(meta_graph_def=content), global_step)

    def add_run_metadata(
        self, run_metadata: Message, tag: str, global_step: int | None = None
    ) -> None:
        """Adds the times of a run; ValueError when the tag was used before."""
        if tag in self._run_tags:
            raise ValueError("The provided tag was already used for this event type")
        self._run_tags.add(tag)
        event = proto.Event()
        event.tagged_run_metadata.tag = tag
        event.tagged_run_metadata.run_metadata = run_metadata.SerializeToString(deterministic=True)
        self._add(event, global_step)

    def _add(self, event: Message, step: int | None) -> None:
        event.wall_time = time.time()
        if step is not None:
            event.step = int(step)
        self.add_event(event)

    def add_event(self, event: Message) -> None:
        """Adds an Event as it is."""
        self._warn_if_closed()
        self.event_writer.add_event(event)

    def flush(self) -> None:
        """Comes back when all events are on the disk."""
        self._warn_if_closed()
        self.event_writer.flush()

    def close(self) -> None:
        """Brings all events to the disk and closes the file; later events are dropped."""
        self.event_writer.close()
        self._closed = True

    def reopen(self) -> None:
        """Goes on after `close`, in a new file."""
        self.event_writer.reopen()
        self._closed = False

    def _warn_if_closed(self) -> None:
        if self._closed:
            warnings.warn(
                "Attempting to use a closed FileWriter. The operation will be a noop unless the "
                "FileWriter is explicitly reopened.",
                stacklevel=4,
            )


SummaryWriter = FileWriter


class FileWriterCache:
    """One FileWriter for each folder."""

    _cache: ClassVar[dict[str, FileWriter]] = {}
    _lock = threading.RLock()

    @staticmethod
    def clear() -> None:
        """Closes all writers and forgets them."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._cache.values():
                writer.close()
            FileWriterCache._cache = {}

    @staticmethod
    def get(logdir: str) -> FileWriter:
        """The writer for a folder; a new one gets the default graph."""
        with FileWriterCache._lock:
            if logdir not in FileWriterCache._cache:
                FileWriterCache._cache[logdir] = FileWriter(logdir, graph=get_default_graph())
            return FileWriterCache._cache[logdir]
