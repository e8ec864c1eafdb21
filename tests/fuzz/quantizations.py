"""Random float models, quantized: what the converter writes, ours and LiteRT must run alike.

equal            the quantized file gives the same integers in ours and in LiteRT
unstable         dynamic range: floats that its rounding of inputs moves as far
known            LiteRT has a fault in an operator of the quantized file: a row of known.py
not quantized    the converter says why it cannot, or the model is none that ran before
differs, LiteRT refuses, LiteRT dies, far off, converter fails, flatlite dies: failures
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from flatlite.schema.model import load, save

from . import models, models_text, rewrites, shrinking
from .children import Child, Died
from .drawing import Drawn
from .verdict import Verdict

SHARE = 60  # cases of it in `make test`
PASSES = {"equal", "equal in steps", "unstable", "known", "both refuse", "not quantized"}
MODES = ("int8", "int8", "dynamic")
SAMPLES = 4
DIVISION = "RuntimeError: Division by 0"
CONVERTER = Child(__name__, "quantize")
REFUSALS = ("ConverterError", "UnsupportedOps", "CalibrationError")


@dataclass
class Quantized:
    """A float model and how it is quantized."""

    drawn: Drawn
    mode: str


def cases(seed: int) -> Iterator[Quantized]:
    """Endless float models, each from its own generator."""
    for number in count():
        rng = np.random.default_rng((seed, number))
        mode = MODES[int(rng.integers(len(MODES)))]
        yield Quantized(rewrites.draw(rng), mode)


def quantize(job):
    """In a child: the quantized file of (content, feeds, mode), or an error's type and text."""
    from flatlite.lite import Optimize, TFLiteConverter

    content, feeds, mode = job
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            converter = TFLiteConverter.from_tflite_model(content)
            converter.verify = False
            converter.optimizations = [Optimize.DEFAULT]
            if mode == "int8":
                converter.representative_dataset = lambda: iter(feeds)
            return bytes(converter.convert())
    except Exception as error:  # any other than a refusal is a finding
        return f"{type(error).__name__}: {error}"


def check(case: Quantized) -> Verdict:
    """Quantizes a model and runs the file in both interpreters."""
    drawn = case.drawn
    if models.check(drawn).kind != "equal" or not drawn.feeds:
        return Verdict("not quantized")
    written = CONVERTER.run((save(drawn.model), [drawn.feeds] * SAMPLES, case.mode))
    if isinstance(written, Died):
        return Verdict("flatlite dies", written.text)
    if isinstance(written, str):
        refused = written.startswith(REFUSALS)
        return Verdict("not quantized" if refused else "converter fails", written)
    quantized = Drawn(load(written), drawn.feeds)
    verdict = models.check(quantized)
    if DIVISION in verdict.text:
        return Verdict("known", "a divisor is 0 in 8 bits, which a float kernel refuses")
    if models.UNREADABLE in verdict.text:
        return Verdict("known", models.UNREADABLE)
    renamed = {"only LiteRT refuses": "LiteRT refuses", "LiteRT aborts": "LiteRT dies"}
    return Verdict(renamed.get(verdict.kind, verdict.kind), verdict.text)


def smaller(case: Quantized) -> Iterator[Quantized]:
    """Smaller models, quantized the same way."""
    return (Quantized(drawn, case.mode) for drawn in shrinking.smaller(case.drawn))


def line(case: Quantized) -> str:
    """The mode and the operators, in a line."""
    return f"{case.mode}: {models_text.line(case.drawn)}"


def script(case: Quantized) -> str:
    """Python text that builds the float model and quantizes it."""
    return f"{models_text.script(case.drawn)}\n{TAIL.format(mode=case.mode)}"


TAIL = """
    from fuzz.quantizations import quantize
    written = quantize((content, [feeds] * 4, "{mode}"))
    print(answers(Interpreter(model_content=written), *feeds))
    print(LiteRT().run(written, [feeds], "BUILTIN_REF"))"""


def close() -> None:
    """Ends the children."""
    CONVERTER.close()
    models.close()
