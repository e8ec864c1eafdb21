"""Who makes the sessions of MonitoredSession: a chief, or a worker that waits for it."""

from __future__ import annotations

import abc

from ...graph.core.scopes import get_default_graph
from ...graph.session.session import Session
from .scaffold import Scaffold
from .session_manager import SessionManager


class SessionCreator(metaclass=abc.ABCMeta):
    """Makes sessions."""

    @abc.abstractmethod
    def create_session(self) -> Session:
        """A session that is ready."""
        raise NotImplementedError(f"create_session is not implemented for {self}.")


class ChiefSessionCreator(SessionCreator):
    """Makes sessions whose variables it restores or initialises.

    Args:
        scaffold: A Scaffold; a new one by default.
        master: "" for this process.
        config: Of the session.
        checkpoint_dir: Where to look for the latest checkpoint.
        checkpoint_filename_with_path: The checkpoint to restore.
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config=None,
        checkpoint_dir=None,
        checkpoint_filename_with_path=None,
    ):
        self._scaffold = Scaffold() if scaffold is None else scaffold
        self._master, self._config = master, config
        self._folder, self._path = checkpoint_dir, checkpoint_filename_with_path

    def create_session(self) -> Session:
        """A session that is ready."""
        scaffold = self._scaffold.finalize()
        return _manager(scaffold).prepare_session(
            self._master,
            init_op=scaffold.init_op,
            saver=scaffold.saver,
            checkpoint_dir=self._folder,
            checkpoint_filename_with_path=self._path,
            config=self._config,
            init_feed_dict=scaffold.init_feed_dict,
            init_fn=scaffold.init_fn,
        )


class WorkerSessionCreator(SessionCreator):
    """Makes sessions that wait until the chief has made the model ready.

    Args:
        scaffold: A Scaffold; a new one by default.
        master: "" for this process.
        config: Of the session.
        max_wait_secs: How long it waits.
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config=None,
        max_wait_secs: float = 30 * 60,
    ):
        self._scaffold = Scaffold() if scaffold is None else scaffold
        self._master, self._config, self._max_wait_secs = master, config, max_wait_secs

    def create_session(self) -> Session:
        """A session that is ready."""
        manager = _manager(self._scaffold.finalize())
        return manager.wait_for_session(self._master, self._config, self._max_wait_secs)


def _manager(scaffold: Scaffold) -> SessionManager:
    return SessionManager(
        scaffold.local_init_op,
        scaffold.ready_op,
        scaffold.ready_for_local_init_op,
        get_default_graph(),
        local_init_feed_dict=scaffold.local_init_feed_dict,
    )
