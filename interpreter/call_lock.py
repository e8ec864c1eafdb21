"""One call at a time."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import NoReturn


class CallLock:
    """What a call on an interpreter enters; a second one is refused meanwhile, not made to wait.

    Attributes:
        free: holds `run`, and nothing while a call is inside.
        run: what an invoke may call without looking at anything else, or None. Only who is inside
            may set it.
    """

    __slots__ = ("free", "run")

    def __init__(self):
        self.run: Callable[[], bool] | None = None
        self.free: list[Callable[[], bool] | None] = [None]

    def __enter__(self) -> None:
        try:
            self.free.pop()  # one operation, also for threads
        except IndexError:
            self.refuse()
        except BaseException:
            self.leave()
            raise

    def __exit__(self, *_: object) -> None:
        self.free.append(self.run)

    @contextmanager
    def handed_on(self) -> Generator[Callable[[], None], None, None]:
        """Enters; what it gives lets others in again, and an error inside does, too."""
        self.__enter__()
        try:
            yield self.__exit__
        except BaseException:
            self.__exit__()
            raise

    def leave(self) -> None:
        """Lets others in again after Ctrl-C that was seen just when this call had come inside."""
        if not self.free:
            self.free.append(None)

    def refuse(self) -> NoReturn:
        """Raises RuntimeError: a call is inside."""
        raise RuntimeError(
            "This interpreter is in use by another call; give each thread its own, clone() "
            "makes one"
        ) from None
