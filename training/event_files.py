"""Event files: what TensorBoard reads.

An event is in its file, whole, when `add_event` comes back: killing the process loses none.
`flush` waits until the disk has them.
"""

from __future__ import annotations

import os
import socket
import threading
import time
import weakref
from typing import TYPE_CHECKING

from ..graph.session.session import Session
from ..graph.session.state import State
from ..schema import proto
from ..schema.files import append, make_folder, open_new
from ..schema.tensorflow.records import RecordIterator, frame

if TYPE_CHECKING:
    from ..schema.proto import Message

FILE_VERSION = "brain.Event:2"
WRITER = "flatlite.training.event_files"


class EventFileWriter:
    """Appends events to a new file of a folder.

    Args:
        logdir: The folder; made when it is missing.
        max_queue: Taken for TensorFlow's sake: no event waits.
        flush_secs: How often what was written is brought to the disk, at the next event.
        filename_suffix: What the file's name ends with.
    """

    def __init__(
        self,
        logdir,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str | None = None,
    ):
        self._logdir = os.fspath(logdir)
        self._suffix = filename_suffix or ""
        self._flush_secs = flush_secs
        self._lock = threading.Lock()
        self._file = None
        self._next_flush = 0.0
        self.reopen()

    def get_logdir(self) -> str:
        """The folder."""
        return self._logdir

    @property
    def is_closed(self) -> bool:
        """Whether events are dropped until it is opened again."""
        return self._file is None

    def reopen(self) -> None:
        """Starts a new file when the last one was closed."""
        if self._file is not None:
            return
        make_folder(self._logdir)
        now = time.time()
        seconds = int(now)
        while self._file is None:
            name = f"events.out.tfevents.{seconds:010d}.{socket.gethostname()}{self._suffix}"
            try:
                self._file = open_new(os.path.join(self._logdir, name))
            except FileExistsError:
                seconds += 1  # another writer's, of this second
        weakref.finalize(self, self._file.close)
        event = proto.Event(wall_time=now, file_version=FILE_VERSION)
        event.source_metadata.writer = WRITER
        self.add_event(event)

    def add_event(self, event: Message) -> None:
        """Appends an Event; nothing happens when the file is closed."""
        record = frame(event.SerializeToString(deterministic=True))
        with self._lock:
            if self._file is None:
                return
            append(self._file, record)
            now = time.monotonic()
            if now >= self._next_flush:
                os.fsync(self._file.fileno())
                self._next_flush = now + self._flush_secs

    def flush(self) -> None:
        """Comes back when all events are on the disk."""
        with self._lock:
            if self._file is not None:
                os.fsync(self._file.fileno())

    def close(self) -> None:
        """Brings all events to the disk and closes the file."""
        with self._lock:
            if self._file is not None:
                os.fsync(self._file.fileno())
                self._file.close()
                self._file = None


_SHARED: weakref.WeakKeyDictionary[State, dict[str, EventFileWriter]] = weakref.WeakKeyDictionary()
_SHARING = threading.Lock()


def shared_writer(
    session: Session, logdir, max_queue: int, flush_secs: float, filename_suffix: str | None
) -> EventFileWriter:
    """The writer that a session has for a folder, made or opened again when need be."""
    with _SHARING:
        writers = _SHARED.setdefault(session.state, {})
        key = os.path.abspath(logdir)
        if key in writers:
            writers[key].reopen()
        else:
            writers[key] = EventFileWriter(logdir, max_queue, flush_secs, filename_suffix)
        return writers[key]


class EventIterator:
    """The events of a file in order; after the last one it may be asked again for newer ones.

    Raises DataLossError when an event is cut or damaged; asked again, it tries that one again.
    """

    def __init__(self, path):
        self._records = RecordIterator(path)

    def __iter__(self) -> EventIterator:
        return self

    def __next__(self) -> Message:
        return proto.parse("Event", next(self._records))

    next = __next__


def summary_iterator(path) -> EventIterator:
    """The Event messages of an event file.

    >>> from pathlib import Path
    >>> import flatlite.compat.v1 as tf
    >>> with tf.summary.FileWriter("out/doc_events") as writer:
    ...     writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=2)]), 7)
    >>> path = sorted(Path("out/doc_events").glob("events*"))[-1]
    >>> [(e.step, v.simple_value) for e in tf.train.summary_iterator(path) for v in e.summary.value]
    [(7, 2.0)]
    """
    return EventIterator(path)
