"""Delegates in shared libraries: libedgetpu.so.1, libvx_delegate.so and others like them.

Such a library exports two functions, tflite_plugin_create_delegate and
tflite_plugin_destroy_delegate (tflite/delegates/external/external_delegate_interface.h).
"""

from __future__ import annotations

import ctypes
import os
import sys
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from ...interpreter.delegation.partition import Partition, Partitioning
from ..delegate import Delegate
from .graph import Graph, Kernel
from .structures import POINTER, DelegateStructure, Structure

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    import numpy as np

    from ...interpreter.delegation.offer import Offer
    from ...interpreter.plan.node import Node

    Option: TypeAlias = str | int | float | bool

_STRINGS = ctypes.POINTER(ctypes.c_char_p)
_REPORT = ctypes.CFUNCTYPE(None, ctypes.c_char_p)


class Handle:
    """A TfLiteDelegate, destroyed when nobody needs it any more.

    Attributes:
        address: where it lies.
        delegate: the structure there.
    """

    def __init__(self, library: ctypes.CDLL, address: int, report: object) -> None:
        self.address = address
        self.delegate: Structure = DelegateStructure.from_address(address)
        destroy = library.tflite_plugin_destroy_delegate
        destroy.argtypes, destroy.restype = [POINTER], None
        weakref.finalize(self, _destroy, destroy, address, report)


def _destroy(destroy: Callable[[int], None], address: int, report: object) -> None:
    """Destroys a delegate; the callback that it reports to lives until then."""
    destroy(address)
    del report


class ExternalDelegate(Delegate):
    """A delegate in a shared library with TFLite's C interface.

    The library is asked when an interpreter is made, as by LiteRT, and again for other shapes.
    What fails in it is an error; with `delegate.fallback = True` a warning, and the CPU takes over.

    Args:
        library: path or name of the library.
        options: what the library knows by these names; passed on as text.

    Raises:
        OSError: the library cannot be opened.
        ValueError: it is no delegate, or refuses the options; the message is what it reported.
    """

    takes_custom_operators = True
    chooses_early = True

    def __init__(self, library: str, options: Mapping[str, Option] | None = None) -> None:
        super().__init__(fallback=False)
        self.name = os.path.basename(library)
        self._library = _opened(library)
        self._source = library, dict(options or {})
        self._handle = _created(self._library, self._source[1])
        self._kernels: dict[Node, tuple[Graph, Kernel]] = {}

    def parts(self, ops: Sequence[Node | Partition]) -> Partitioning:
        """What the library takes of a graph; raises RuntimeError when it fails."""
        graph = Graph(self, self._handle, cast("Offer", ops))
        graph.choose()
        for kernel in graph.kernels:
            self._kernels[kernel.partition.ops[0]] = graph, kernel
        groups = [kernel.partition.ops for kernel in graph.kernels]
        taken = {op.index for group in groups for op in group}
        reasons = {
            op.index: graph.reasons.get(op.index, "the library does not take it")
            for op in ops
            if not isinstance(op, Partition) and op.index not in taken
        }
        return Partitioning(groups, reasons)

    def compile(self, partition: Partition) -> Callable[..., Sequence[np.ndarray]]:
        """The function that runs a kernel of the library; RuntimeError when it is refused."""
        graph, kernel = self._kernels.pop(partition.ops[0])
        return graph.compile(kernel)

    def __reduce__(self) -> tuple[type[ExternalDelegate], tuple[str, dict[str, Option]]]:
        return type(self), self._source

    def _get_native_delegate_pointer(self) -> int:
        """The address of the TfLiteDelegate."""
        return self._handle.address


def _opened(name: str) -> ctypes.CDLL:
    if sys.platform == "win32":
        raise ValueError("delegates in shared libraries need Linux or macOS")
    library = ctypes.CDLL(name)
    for function in "tflite_plugin_create_delegate", "tflite_plugin_destroy_delegate":
        if not hasattr(library, function):
            raise ValueError(
                f"it has no function {function}, which a shared library needs to be a delegate"
            )
    return library


def _created(library: ctypes.CDLL, options: Mapping[str, Option]) -> Handle:
    """The delegate that a library makes; raises ValueError when it makes none."""
    messages: list[str] = []

    def note(message: bytes | None) -> None:
        messages.append((message or b"").decode("utf-8", "replace"))

    report = _REPORT(note)
    create = library.tflite_plugin_create_delegate
    create.argtypes = [_STRINGS, _STRINGS, ctypes.c_size_t, _REPORT]
    create.restype = POINTER
    texts = [str(text) for pair in options.items() for text in pair]
    if any("\0" in text for text in texts):
        raise ValueError(f"options must not have NUL characters, got {dict(options)}")
    keys, values = ([x.encode() for x in texts[i::2]] for i in range(2))
    strings = ctypes.c_char_p * len(options)
    address: int | None = create(strings(*keys), strings(*values), len(options), report)
    if not address:
        raise ValueError("".join(messages).strip() or "it made no delegate and reported no error")
    handle = Handle(library, address, report)
    if not handle.delegate.Prepare:
        raise ValueError(
            "its delegate has no function Prepare; one for TFLite's opaque interface needs the "
            "functions of TFLite's C library, which flatlite does not have"
        )
    return handle
