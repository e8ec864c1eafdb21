"""The keys under which a Session keeps what operations stand for, and the names in them.

A key is the name of a variable, table or queue, on a server with its task: "/job:ps/task:0;w".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from ..core.graph import Operation


def shared_name(op: Operation) -> str:
    """The name under which operations share what they stand for; "" where that is their own."""
    return cast("bytes", op.attrs.get("shared_name") or b"").decode()


def name_of(key: str) -> str:
    """The name in a variable's key."""
    return key.rpartition(";")[2]


def container_of(op: Operation) -> str:
    """The name of what an operation keeps things in; "localhost" where it names none."""
    return cast("bytes", op.attrs.get("container") or b"localhost").decode()
