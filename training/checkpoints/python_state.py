"""State of Python objects in checkpoints."""

from __future__ import annotations

from abc import ABC, abstractmethod


class PythonState(ABC):
    """A mixin for objects whose state, whatever it is, belongs into an object-based checkpoint.

    >>> import flatlite.compat.v1 as tf
    >>> class Epoch(tf.train.experimental.PythonState):
    ...     number = 3
    ...
    ...     def serialize(self):
    ...         return str(self.number)
    ...
    ...     def deserialize(self, string_value):
    ...         self.number = int(string_value)
    >>> checkpoint = tf.train.Checkpoint(epoch=Epoch())
    """

    @abstractmethod
    def serialize(self) -> str | bytes:
        """The state as a string, when a checkpoint is written."""

    @abstractmethod
    def deserialize(self, string_value: bytes) -> None:
        """Takes the state from the string that `serialize` gave, when a checkpoint is restored."""
