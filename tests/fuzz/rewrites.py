"""Random models through the converter: a shorter file must give the same answers.

equal                 the shortened file gives what the file gave, in ours and in LiteRT
unstable              it does not, but the file's own answers move as far with its last bits
unfit                 LiteRT and ours do not agree about the file itself, or refuse it
not converted         the converter refuses the file: no float model, or no operator it knows
differs, LiteRT differs, LiteRT refuses, converter fails, flatlite dies: failures
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import count

import numpy as np

from flatlite.schema.model import save

from . import models
from .children import Child, Died
from .compare import difference, tolerance_of
from .drawing import Draw, Drawn, all_rows
from .models_text import line, script
from .patterns import PATTERNS
from .shrinking import smaller
from .verdict import Verdict

__all__ = ["PASSES", "cases", "check", "close", "line", "script", "smaller"]

SHARE = 150  # cases of it in `make test`
PASSES = {"equal", "unstable", "unfit", "not converted"}
CONVERTER = Child(__name__, "convert")
PLAIN = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "AVERAGE_POOL_2D", "CONCATENATION")
"""Operators that passes fuse others into, drawn between patterns."""
UNTOUCHED = frozenset(
    [
        "BUCKETIZE",
        "DILATE",
        "REDUCE_WINDOW",
        "CONV_3D_TRANSPOSE",
        "RFFT2D",
        "NON_MAX_SUPPRESSION_V4",
        "NON_MAX_SUPPRESSION_V5",
        "HASHTABLE_LOOKUP",
        "EMBEDDING_LOOKUP_SPARSE",
        "UNIDIRECTIONAL_SEQUENCE_RNN",
        "RNN",
        "SVDF",
    ]
)
"""Operators that no pass rewrites, or that keep a state from one run to the next."""
MORE = 5
"""A shortened file may round that much worse."""


def cases(seed: int) -> Iterator[Drawn]:
    """Endless models, each from its own generator."""
    return (draw(np.random.default_rng((seed, number))) for number in count())


def draw(rng: np.random.Generator) -> Drawn:
    """Patterns in a chain with branches, and other operators between them."""
    d = Draw(rng)
    d.special = d.hollow = d.lofty = False
    d.spread = 5.0
    x = d.input("float32", d.shape(d.pick([(4,), (4,), (2, 3), range(1, 5)])))
    for _ in range(d.integer(2, 6)):
        if d.chance(0.6):
            x = d.pick(PATTERNS)(d, x)
        else:
            drawn = [row for row in all_rows() if row.op not in UNTOUCHED]
            expected = [row for row in drawn if d.flag() or row.op in PLAIN]
            row = d.pick([row for row in expected if "float32" in row.types])
            row.draw(d, row.op, "float32")
        there = [i for i in range(len(d.graph.tensors)) if _readable(d, i)]
        x = x if d.chance(0.6) else d.pick(there[-4:])
    return d.finish(resizes=False)  # the converter holds a file to its sizes


def _readable(d, i):
    return d.kind(i) == "float32" and d.at(i).data is None


def convert(job):
    """In a child: the shortened file of (content, feeds), or an error's type and text."""
    from flatlite.lite import TFLiteConverter

    content, _ = job
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            converter = TFLiteConverter.from_tflite_model(content)
            converter.verify = False
            return bytes(converter.convert())
    except Exception as error:  # any other than a refusal is a finding
        return f"{type(error).__name__}: {error}"


def check(case: Drawn) -> Verdict:
    """Shortens a model, runs it before and after, and compares."""
    if any(step.op == "BITCAST" for step in case.graph.operators):
        return Verdict("unfit", "floats agree within a tolerance, their bits do not")
    if models.check(case).kind != "equal":
        return Verdict("unfit")
    content = save(case.model)
    shorter = CONVERTER.run((content, case.feeds))
    if isinstance(shorter, Died):
        return Verdict("flatlite dies", shorter.text)
    if isinstance(shorter, str):
        refused = shorter.startswith(("ConverterError", "UnsupportedOps"))
        return Verdict("not converted" if refused else "converter fails", shorter)
    tolerance = MORE * tolerance_of(step.op for step in case.graph.operators)
    before, after = (models.OURS.run((file, case.feeds, 1, False)) for file in (content, shorter))
    if isinstance(after, Died):
        return Verdict("flatlite dies", after.text)
    if isinstance(after, str):
        return Verdict("differs", after)
    if not all(np.isfinite(a).all() for a in before if a.dtype.kind == "f"):
        return Verdict("unfit", "what is not finite may be anything in another order")
    if message := difference(after, before, tolerance):
        if any(step.op == "ATAN2" for step in case.graph.operators):
            return Verdict(
                "unstable", "ATAN2 tells 0 from -0, which formulas do not keep: " + message
            )
        return _unless_unstable(case, after, before, tolerance, Verdict("differs", message))
    return _in_litert(case, shorter, after, tolerance)


def _in_litert(case, shorter, after, tolerance):
    """LiteRT's answers of the shortened file, which it has given of the file itself."""
    seen = []
    for resolver in models.RESOLVERS:
        theirs = models.LITERT.run((shorter, case.feeds, resolver))
        outcome = theirs if isinstance(theirs, list) else str(theirs)
        if isinstance(outcome, list) and not difference(after, outcome, tolerance):
            return Verdict("equal")
        seen.append(outcome)
    ran = [outcome for outcome in seen if isinstance(outcome, list)]
    if not ran:
        if models.UNREADABLE in str(seen[1]):
            return Verdict("unfit", models.UNREADABLE)
        return Verdict("LiteRT refuses", seen[1])
    outcome = Verdict("LiteRT differs", difference(after, ran[0], tolerance))
    return _unless_unstable(case, after, ran[0], tolerance, outcome)


def _unless_unstable(case, got, expected, tolerance, verdict):
    unstable = models.unstable(case, got, expected, models.RESOLVERS[1], tolerance)
    return Verdict("unstable", verdict.text) if unstable else verdict


def close() -> None:
    """Ends the children."""
    CONVERTER.close()
    models.close()
