"""Programs over shapes, converted and run."""

from __future__ import annotations

import tempfile
from pathlib import Path

from running import answers
from stored import difference

from flatlite.lite import Interpreter, TFLiteConverter

REFERENCE = "BUILTIN_WITHOUT_DEFAULT_DELEGATES"


def converter_of(kind, content, inputs, n_outputs):
    """A converter for a GraphDef or an ONNX model; inputs are (name, dims, dtype)."""
    suffix = {"tf": ".pb", "onnx": ".onnx"}[kind]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"program{suffix}")
        path.write_bytes(content)
        if kind == "onnx":
            return TFLiteConverter.from_onnx_model(path)
        outputs = [f"out{i}" for i in range(n_outputs)]
        shapes = {
            name: [d if isinstance(d, int) else None for d in dims] for name, dims, _ in inputs
        }
        return TFLiteConverter.from_frozen_graph(path, list(shapes), outputs, shapes)


def differences(outputs, expected) -> str:
    """ "" when outputs are as expected, (shape, kept elements) each, or these and a rounding."""
    texts = [difference(array, *want) for array, want in zip(outputs, expected, strict=True)]
    return "; ".join(f"output {i}: {text}" for i, text in enumerate(texts) if text)


def wrong_answers(content, rows, litert) -> list[str]:
    """What is wrong of a file in our interpreter and in LiteRT, which is asked for nothing empty.

    Rows are (inputs, [what each output must be]), one for each size.
    """
    interpreter, wrong = Interpreter(model_content=content), []
    for arrays, want in rows:
        try:
            text = differences(answers(interpreter, *arrays), want)
        except (RuntimeError, ValueError) as error:
            text = str(error)
        if text:
            wrong.append(f"{[array.shape for array in arrays]}: {text}")
    full = [row for row in rows if not _is_empty(*row)]
    by_litert = litert.run(content, [arrays for arrays, _ in full], REFERENCE)
    if isinstance(by_litert, str):
        by_litert = [by_litert] * len(full)
    for (arrays, want), outputs in zip(full, by_litert, strict=True):
        text = outputs if isinstance(outputs, str) else differences(outputs, want)
        if text:  # LiteRT may die, or answer from old memory, of an IF at size after size
            litert.close()
            alone = litert.run(content, [arrays], REFERENCE)
            text = alone if isinstance(alone, str) else differences(alone[0], want)
        if text:
            wrong.append(f"LiteRT, {[array.shape for array in arrays]}: {text}")
    return wrong


def _is_empty(arrays, want) -> bool:
    return any(0 in shape for shape in [*(a.shape for a in arrays), *(one[0] for one in want)])
