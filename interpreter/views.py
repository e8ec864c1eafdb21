"""Views of tensors' memory, and whether any is still alive."""

from weakref import ref

import numpy as np

_ALIVE = """There is at least 1 reference to internal data
      in the interpreter in the form of a numpy array or slice. Be sure to
      only hold the function returned from tensor() if you are using raw
      data access."""


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
