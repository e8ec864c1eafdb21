"""What an interpreter and its signatures look like at a prompt and in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .interpreter import Interpreter
    from .spec import SignatureSpec

MAX_ENDS = 4
"""Inputs or outputs that stand in one line."""


class End:
    """An input or output.

    Attributes:
        name: by which it goes.
        tensor: as the file declares it.
        shape: its shape now; as long as that is not decided, -1 for an unknown dimension.
    """

    def __init__(self, interpreter: Interpreter, subgraph: int, name: str | None, index: int):
        self.tensor = interpreter._model.tensor(subgraph, index)
        self.name = self.tensor.name if name is None else name
        plan = interpreter._plans.get(subgraph)
        shape = interpreter._allocation.shapes.get((subgraph, index))
        if shape is None and plan is not None:
            shape = plan.shape(index)
        if shape is None:
            shape = self.tensor.signature or self.tensor.shape
        self.shape = shape


def as_text(interpreter: Interpreter, signature: SignatureSpec | None = None) -> str:
    """One line: `<Interpreter of 'a.tflite', allocated: x float32[2,3] -> y float32[3,2]>`."""
    title, sides = _contents(interpreter, signature)
    return f"<{title}: {' -> '.join(map(_line, sides))}>" if sides else f"<{title}>"


def as_html(interpreter: Interpreter, signature: SignatureSpec | None = None) -> str:
    """A table with a row for each input and output; whatever a file says is escaped."""
    from html import escape  # with a long table of names

    title, sides = _contents(interpreter, signature)
    head = "".join(f"<th>{word}</th>" for word in ("", "name", "type", "shape", "quantization"))
    rows = [f"<tr>{head}</tr>"]
    for side, ends in zip(("input", "output"), sides, strict=False):
        for end in ends:
            cells = (side, _name(end), _kind(end), _shape(end), _quantization(end))
            rows.append(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
    return f"<table><caption>{escape(title)}</caption>{''.join(rows)}</table>"


def _contents(
    interpreter: Interpreter, signature: SignatureSpec | None
) -> tuple[str, list[list[End]]]:
    """What it is, and its inputs and outputs; neither of these when it is closed."""
    kind = type(interpreter).__name__ if signature is None else f"SignatureRunner {signature.key!r}"
    if interpreter._closed:
        return f"{kind}, closed", []
    model, path, subgraph = interpreter._model, interpreter._path, 0
    sides: list[Iterable[tuple[str | None, int]]] = [
        [(None, tensor) for tensor in ends] for ends in model.ends(0)
    ]
    if signature is not None:
        subgraph = signature.subgraph
        sides = [signature.inputs.items(), signature.outputs.items()]
    source = f"{memoryview(model.content).nbytes:,} bytes" if path is None else repr(path)
    state = "allocated" if subgraph in interpreter._plans else "not allocated"
    ends = [[End(interpreter, subgraph, *named) for named in side] for side in sides]
    return f"{kind} of {source}, {state}", ends


def _line(ends: Sequence[End]) -> str:
    words = [f"{_name(end)} {_kind(end)}[{_shape(end)}]" for end in ends[:MAX_ENDS]]
    if len(ends) > MAX_ENDS:
        words.append(f"and {len(ends) - MAX_ENDS} more")
    return ", ".join(words) or "nothing"


def _name(end: End) -> str:
    return end.name if end.name and end.name.isprintable() else repr(end.name)


def _kind(end: End) -> str:
    return end.tensor.type_name.lower()


def _shape(end: End) -> str:
    return ",".join("?" if n < 0 else str(n) for n in end.shape)


def _quantization(end: End) -> str:
    quantization = end.tensor.quantization
    if quantization is None:
        return ""
    if quantization.is_per_channel:
        return f"{len(quantization.scales)} scales along dimension {quantization.axis}"
    return f"scale {np.float32(quantization.scale)}, zero point {quantization.zero_point}"
