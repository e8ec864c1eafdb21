"""`tf.train.CheckpointOptions`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence


class CheckpointOptions:
    """How a Checkpoint is written.

    Args:
        experimental_io_device: Taken for TensorFlow's sake: there is one device.
        experimental_write_callbacks: Functions that are called when a checkpoint is there, with
            its name where they take an argument.
        experimental_enable_async_checkpoint, enable_async, experimental_skip_slot_variables,
        experimental_sharding_callback: Only as they are by default: `save` and `write` come back
            when all is written, in one file.

    Raises:
        ValueError: Something that is not done is asked for.
        TypeError: A function takes more than one argument.
    """

    def __init__(
        self,
        experimental_io_device: str | None = None,
        experimental_enable_async_checkpoint: bool = False,
        experimental_write_callbacks: Sequence[Callable[..., object]] | None = None,
        enable_async: bool = False,
        experimental_skip_slot_variables: bool = False,
        experimental_sharding_callback: object = None,
    ):
        for name, value in (
            ("experimental_enable_async_checkpoint", experimental_enable_async_checkpoint),
            ("enable_async", enable_async),
            ("experimental_skip_slot_variables", experimental_skip_slot_variables),
            ("experimental_sharding_callback", experimental_sharding_callback),
        ):
            if value:
                raise ValueError(f"{name} is not supported, got {value!r}; leave it out")
        self.experimental_io_device = experimental_io_device
        self.experimental_write_callbacks = list(experimental_write_callbacks or ())
        self._calls = [_with_path(callback) for callback in self.experimental_write_callbacks]

    def written(self, path: str) -> None:
        """Calls the functions for a checkpoint that is there now."""
        for call in self._calls:
            call(path)


def _with_path(callback: Callable[..., object]) -> Callable[[str], object]:
    """A function of a checkpoint's name."""
    n_arguments = len(inspect.signature(callback).parameters)
    if n_arguments > 1:
        raise TypeError(f"{callback!r} must take the checkpoint's name, or nothing")
    return callback if n_arguments else lambda _: callback()
