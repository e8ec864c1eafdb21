"""Who may use an interpreter: one call at a time, and none while views of its memory are alive."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn
from weakref import ref

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

_ALIVE = """There is at least 1 reference to internal data
      in the interpreter in the form of a numpy array or slice. Be sure to
      only hold the function returned from tensor() if you are using raw
      data access."""


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


class _Holder:
    """Keeps the memory of a view alive; it is the base of the view and of every slice of it."""

    __slots__ = ("__array_interface__", "__weakref__", "memory")

    def __init__(self, memory: np.ndarray):
        self.memory = memory
        self.__array_interface__ = memory.__array_interface__


class Views:
    """The views given out by one interpreter.

    Attributes:
        alive: the holders of those that still exist, or of which a slice does.
    """

    def __init__(self):
        self.alive: dict[int, ref[_Holder]] = {}

    def __bool__(self) -> bool:
        """Whether an array that was given out, or a slice of one, still exists."""
        return bool(self.alive)

    def ensure_none(self) -> None:
        """Raises RuntimeError, in LiteRT's words, while one exists."""
        if self.alive:
            raise RuntimeError(_ALIVE)

    def give(self, memory: np.ndarray) -> np.ndarray:
        """A view of `memory` that is counted as long as it exists."""
        holder, alive = _Holder(memory), self.alive
        key = id(holder)
        alive[key] = ref(holder, lambda _: alive.pop(key, None))
        view = np.asarray(holder)
        return view if view.dtype == memory.dtype else view.view(memory.dtype)


def detached(memory: np.ndarray) -> np.ndarray:
    """A copy that is the caller's: a numpy scalar of numbers without dimensions, as in LiteRT."""
    if memory.ndim or memory.dtype.hasobject:
        return memory.copy()
    scalar: np.ndarray = memory[()]
    return scalar
