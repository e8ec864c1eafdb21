"""One call at a time."""

from threading import Lock


class Turn:
    """What a call on an interpreter enters; a second one is refused meanwhile, not made to wait."""

    __slots__ = ("_lock",)

    def __init__(self):
        self._lock = Lock()

    def __enter__(self) -> None:
        if not self._lock.acquire(False):
            raise RuntimeError(
                "This interpreter is in use by another call; give each thread its own, clone() "
                "makes one"
            )

    def __exit__(self, *_: object) -> None:
        self._lock.release()
