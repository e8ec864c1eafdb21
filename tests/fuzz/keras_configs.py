"""Random Keras models as all versions of Keras write them, against numpy and LiteRT.

equal            the file gives what the layers' definitions give, in ours and in LiteRT
unstable         a sum cancels: rounding decides
differs, LiteRT differs, LiteRT refuses, converter fails, flatlite dies: failures
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np

from . import models
from .children import Child, Died
from .compare import difference
from .drawn_keras import FORMS, Drawn, answers, drawn, files
from .verdict import Verdict

SHARE = 60  # cases of it in `make test`
PASSES = {"equal", "unstable"}
CONVERTER = Child(__name__, "convert")
TOLERANCE = 1e-4


def cases(seed: int) -> Iterator[Drawn]:
    """Endless models, each from its own generator."""
    return (drawn(np.random.default_rng((seed, number))) for number in count())


def convert(job):
    """In a child: the file of a model in one form, or an error's text."""
    from flatlite.lite import TFLiteConverter

    case, form = job
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, f"model.{FORMS[form]}")
        files(case.model, form, path)
        try:
            converter = TFLiteConverter.from_keras_model_file(path)
            converter.verify = False
            return bytes(converter.convert())
        except Exception as error:  # all that is drawn must convert
            return f"{type(error).__name__}: {error}"


def check(case: Drawn) -> Verdict:
    """Converts a model in each of its forms, runs the files, and compares."""
    outputs = answers(case.model, case.feeds)
    near = answers(case.model, [x * (1 + 1e-6) for x in case.feeds])
    if difference([np.float32(x) for x in near], [np.float32(x) for x in outputs], TOLERANCE):
        return Verdict("unstable")
    for form in case.forms:
        content = CONVERTER.run((case, form))
        if isinstance(content, Died):
            return Verdict("flatlite dies", f"{form}: {content.text}")
        if isinstance(content, str):
            return Verdict("converter fails", f"{form}: {content}")
        ours = models.OURS.run((content, case.feeds, 1, False))
        if isinstance(ours, Died):
            return Verdict("flatlite dies", f"{form}: {ours.text}")
        text = ours if isinstance(ours, str) else difference(ours, outputs, TOLERANCE)
        if text:
            return Verdict("differs", f"{form}: {text}")
    theirs = models.LITERT.run((content, case.feeds, models.RESOLVERS[0]))
    if not isinstance(theirs, list):
        return Verdict("LiteRT refuses", str(theirs))
    text = difference(theirs, outputs, TOLERANCE)
    return Verdict("LiteRT differs", text) if text else Verdict("equal")


def smaller(case: Drawn) -> Iterator[Drawn]:
    """One form, one output; an output of an earlier layer."""
    if len(case.forms) > 1:
        yield from (replace(case, forms=(form,)) for form in case.forms)
    for model in case.model.shorter():
        yield replace(case, model=model)


def line(case: Drawn) -> str:
    """The model in one line."""
    return f"{'/'.join(case.forms)}: {case.model}"


def script(case: Drawn) -> str:
    """The architectures, as files hold them."""
    from .drawn_keras import architecture

    return "\n".join(f"{form}: {architecture(case.model, form)}" for form in case.forms)


def close() -> None:
    """Ends the children."""
    CONVERTER.close()
    models.close()
