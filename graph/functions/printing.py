"""Tensors shown while a graph runs: `tf.Print` and `tf.print`."""

from __future__ import annotations

import pprint
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, cast

from ..core.build import ops
from ..core.composite.ragged_dispatch import is_ragged
from ..core.composite.sparse_tensor import SparseTensor
from ..core.composite.structure import flatten, is_nested, pack
from ..core.create import convert_to_tensor
from ..core.graph import Operation, Tensor
from ..variables.variables import Variable
from .strings import format as format_tensors

if TYPE_CHECKING:
    from ..core.typing import TensorLike

_STREAMS = {"<stderr>": "stderr", "<stdout>": "stdout"}
_LEVELS = ("stdout", "stderr", "log(info)", "log(warning)", "log(error)")


def Print(
    input_: TensorLike,
    data: Sequence[TensorLike],
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`input_`; whenever it is computed, `data` is written to the standard error stream.

    Args:
        input_: What the result is.
        data: Tensors to show.
        message: What is written before them.
        first_n: How often it is written; always by default.
        summarize: How many elements of each are shown; 3 by default.
        name: Of the operation.
    """
    if not isinstance(data, (list, tuple)):
        raise TypeError(f"Expected list for 'data' argument to 'Print' Op, not {data}.")
    tensors = [convert_to_tensor(x) for x in data]
    return ops.Print(
        input_, tensors, message=message or "", first_n=-1 if first_n is None else first_n,
        summarize=3 if summarize is None else summarize, name=name,
    )  # fmt: skip


def print_v2(
    *inputs: object,
    output_stream: object = None,
    summarize: int = 3,
    sep: str = " ",
    end: str | None = "\n",
    name: str | None = None,
) -> Operation:
    """An operation that writes tensors and other values when it runs.

    Args:
        inputs: Tensors, structures of them, and anything else, which is shown as Python does.
        output_stream: sys.stderr (the default), sys.stdout, "log(info)" and its likes, or
            "file://" and a path.
        summarize: How many elements at both ends of each dimension are shown; -1: all.
        sep: What is written between the inputs.
        end: What is written behind them; None: the line's end.
        name: Of the operations.

    Raises ValueError for another stream.
    """
    tensors: list[object] = []
    mark = _mark(inputs)
    parts = [_shown(x, tensors, mark) for x in inputs]
    text = format_tensors(sep.join(parts), tensors, mark, summarize)
    ending = "\n" if end is None else end
    return ops.PrintV2(text, output_stream=_stream(output_stream), end=ending, name=name)


def _mark(inputs: Sequence[object]) -> str:
    """A placeholder that none of the inputs has in its text."""
    texts = [x for value in inputs for x in flatten(value) if isinstance(x, str)]
    mark, i = "{}", 0
    while any(mark in text for text in texts):
        mark, i = f"{{{i}}}", i + 1
    return mark


def _is_tensor(value: object) -> bool:
    return isinstance(value, (Tensor, Variable))


def _shown(value: object, tensors: list[object], mark: str) -> str:
    """The text of an input, with placeholders for tensors, which are added to `tensors`."""
    if isinstance(value, SparseTensor):
        parts = value.indices, value.values, value.dense_shape
        tensors += parts
        return f"SparseTensor(indices={mark}, values={mark}, shape={mark})"
    if is_ragged(value):
        tensors.append(value)
        return mark
    if _is_tensor(value):
        tensors.append(convert_to_tensor(cast("TensorLike", value)))
        return mark
    if not is_nested(value):
        return str(value)
    leaves: list[object] = []
    quoted: list[str] = []
    for leaf in flatten(value):
        if _is_tensor(leaf) or isinstance(leaf, SparseTensor) or is_ragged(leaf):
            text = _shown(leaf, tensors, mark)
            quoted.append(text)
            leaves.append(text)
        else:
            leaves.append(leaf)
    shown = pprint.pformat(pack(value, leaves))
    for text in quoted:
        shown = shown.replace(repr(text), text, 1)
    return shown


def _stream(stream: object) -> str:
    if stream is None:
        return "stderr"
    if isinstance(stream, str):
        if stream in _LEVELS or stream.startswith("file://"):
            return stream
    else:
        known = _STREAMS.get(getattr(cast("IO[str]", stream), "name", ""))
        if known is not None:
            return known
    raise ValueError(
        f"Unsupported output stream, logging level, or file: {stream}. Supported streams are "
        "sys.stdout, sys.stderr, tf.logging levels such as 'log(info)', and 'file://' paths"
    )
