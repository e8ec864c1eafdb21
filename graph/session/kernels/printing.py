"""What operations write while they run."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema.tensorflow.gfile import GFile
from ...ops.text.printing import summary
from ..hosted import hosted

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ..state import State

_LEVELS = {"log(info)": logging.INFO, "log(warning)": logging.WARNING, "log(error)": logging.ERROR}


@hosted("Print")
def print_tensors(op: Operation, state: State, x: np.ndarray, *data: np.ndarray) -> np.ndarray:
    """`x`; the first times, `data` is written to the standard error stream."""
    origin, first_n = state.origin(op), cast("int", op.get_attr("first_n"))
    count = cast("int", state.caches.get(origin, 0))
    if first_n < 0 or count < first_n:
        state.caches[origin] = count + 1
        summarize = cast("int", op.get_attr("summarize"))
        shown = "".join(f"[{summary(array, summarize)}]" for array in data)
        sys.stderr.write(op.get_attr("message").decode() + shown + "\n")
    return x


@hosted("PrintV2")
def print_text(op: Operation, state: State, text: np.ndarray) -> list[np.ndarray]:
    """Nothing; the text is written to a stream, the log or a file."""
    stream = cast("bytes", op.get_attr("output_stream")).decode()
    line = cast("bytes", text.item()).decode(errors="replace")
    ending = cast("bytes", op.get_attr("end")).decode()
    if stream in _LEVELS:
        logging.getLogger("flatlite").log(_LEVELS[stream], "%s", line)
    elif stream.startswith("file://"):
        with GFile(stream.removeprefix("file://"), "a") as file:
            file.write(line + ending)
    else:
        (sys.stdout if stream == "stdout" else sys.stderr).write(line + ending)
    return []
