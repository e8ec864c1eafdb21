"""Sessions that are the default one: InteractiveSession, and which Session evaluates a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar

from ..core.graph import Graph
from ..core.hooks import hook
from ..core.scopes import drop_session, get_default_session, push_session
from .session import LOGGER, Session

if TYPE_CHECKING:
    from ...engine.run.limits import Limits
    from ...schema.proto import Message
    from .delegated import SessionDelegate


class InteractiveSession(Session):
    """A Session that is the default one from when it is made until it is closed."""

    _active_session_count: ClassVar[int] = 0

    def __init__(
        self,
        target: str = "",
        graph: Graph | None = None,
        config: Message | None = None,
        *,
        memory_limit: int | None = None,
        limits: Limits | None = None,
        profile: bool = False,
        delegates: Sequence[SessionDelegate] = (),
    ):
        super().__init__(
            target,
            graph,
            config,
            memory_limit=memory_limit,
            limits=limits,
            profile=profile,
            delegates=delegates,
        )
        if InteractiveSession._active_session_count:
            LOGGER.error(
                "An interactive session is already active. This can cause out-of-memory errors or "
                "some other unexpected errors (due to the unpredictable timing of garbage "
                "collection) in some cases. You must explicitly call `InteractiveSession.close()` "
                "to release resources held by the other session(s). Please use `tf.Session()` if "
                "you intend to productionize."
            )
        InteractiveSession._active_session_count += 1
        push_session(self)
        self._graph_block = None if graph is None else graph.as_default()
        if self._graph_block is not None:
            self._graph_block.__enter__()

    def close(self) -> None:
        """Frees variables and compiled runs; it is the default session no more."""
        if not self._closed:
            InteractiveSession._active_session_count -= 1
        super().close()
        drop_session(self)
        if self._graph_block is not None:
            self._graph_block.__exit__(None, None, None)
            self._graph_block = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


@hook("session_for")
def session_for(graph: Graph, session: Session | None, what: str, call: str) -> Session:
    """`session`, or the default one; ValueError when there is none or it runs another graph.

    `what` and `call` say what wants to run: "evaluate tensor", "eval".
    """
    if session is None:
        session = get_default_session()
        if session is None:
            raise ValueError(
                f"Cannot {what} using `{call}()`: No default session is registered. Use `with "
                f"sess.as_default(){':' if call == 'run' else ''}` or pass an explicit session to "
                f"`{call}(session=sess)`"
            )
        if session.graph is not graph:
            noun = what.rpartition(" ")[2]
            raise ValueError(
                f"Cannot use the default session to {what}: the {noun}'s graph is different from "
                f"the session's graph. Pass an explicit session to `{call}(session=sess)`."
            )
    elif session.graph is not graph:
        noun = what.rpartition(" ")[2]
        raise ValueError(
            f"Cannot use the given session to {what}: the {noun}'s graph is different from the "
            "session's graph."
        )
    return session
