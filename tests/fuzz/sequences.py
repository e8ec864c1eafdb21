"""Random models with a state, called several times: our interpreter against LiteRT.

equal                  each result of each call is that of LiteRT, or of the operator's definition
only LiteRT refuses    this interpreter takes more
both refuse            neither runs it
LiteRT aborts          a process of LiteRT ends; nothing to compare with
differs, only flatlite refuses, flatlite dies: failures
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import numpy as np

from .answers import litert_steps, our_steps
from .children import Child, Died
from .compare import difference
from .drawn_sequences import KINDS, Sequential
from .verdict import Verdict

__all__ = ["PASSES", "cases", "check", "close", "line", "script", "smaller"]

SHARE = 25  # cases of it in `make test`
PASSES = {"equal", "only LiteRT refuses", "both refuse", "LiteRT aborts"}
RESOLVERS = ("BUILTIN_REF", "BUILTIN_WITHOUT_DEFAULT_DELEGATES")
OURS = Child(our_steps.__module__, "our_steps")
LITERT = Child(litert_steps.__module__, "litert_steps")


def cases(seed: int) -> Iterator[Sequential]:
    """Endless models, each from its own generator."""
    return (draw(np.random.default_rng((seed, number))) for number in count())


def draw(rng: np.random.Generator) -> Sequential:
    """A model of one of the kinds."""
    return KINDS[int(rng.integers(len(KINDS)))](rng)


def check(case: Sequential) -> Verdict:
    """Runs a model's steps in both and compares."""
    got = OURS.run((case.content, case.steps))
    if isinstance(got, Died):
        return Verdict("flatlite dies", got.text)
    theirs = [LITERT.run((case.content, case.steps, resolver)) for resolver in RESOLVERS]
    answers = [x for x in (*theirs, case.expected) if isinstance(x, list)]
    if not answers:
        if any(isinstance(x, Died) for x in theirs):
            return Verdict("LiteRT aborts")
        refused = "both refuse" if isinstance(got, str) else "only LiteRT refuses"
        return Verdict(refused, theirs[1])
    if isinstance(got, str):
        return Verdict("only flatlite refuses", got)
    texts = [_difference(got, want, case.tolerance) for want in answers]
    if case.expected is not None and texts[-1]:
        return Verdict("differs", texts[-1])
    return Verdict("differs", texts[0]) if all(texts) else Verdict("equal")


def _difference(got, want, tolerance):
    """How the steps of two interpreters differ; empty where they do not."""
    for i, (ours, theirs) in enumerate(zip(got, want, strict=True)):
        if text := difference(ours, theirs, tolerance):
            return f"call {i}: {text}"
    return ""


def smaller(case: Sequential) -> Iterator[Sequential]:
    """The case without its last steps, and without its first ones."""
    n = len(case.steps)
    for steps in (case.steps[: n - 1], [list(x) for x in case.steps[1:2]], case.steps[1:]):
        if 0 < len(steps) < n and case.expected is None:
            yield replace(case, steps=[list(steps[0]), *steps[1:]])


def line(case: Sequential) -> str:
    """The kind of a model, its operators and its steps."""
    from flatlite.schema.model import load

    ops = [[step.op for step in graph.operators] for graph in load(case.content).subgraphs]
    forms = ["".join("again " if isinstance(x, tuple) else "anew " for x in case.steps)]
    return f"{case.kind}: {ops}; {' '.join(forms)}"


def script(case: Sequential) -> str:
    """Python text that runs the steps in both."""
    from base64 import b85encode
    from zlib import compress

    content = b85encode(compress(case.content, 9)).decode()
    return (
        "from base64 import b85decode\nfrom zlib import decompress\nimport sys\n"
        "sys.path[:0] = ['tests/support', 'tests']\nfrom numpy import *\n"
        "from fuzz.answers import litert_steps, our_steps\n"
        f"content = decompress(b85decode({content!r}))\n"
        f"steps = {[*case.steps]!r}\n"
        "print(our_steps((content, steps)))\n"
        f"print(litert_steps((content, steps, {RESOLVERS[1]!r})))"
    )


def close() -> None:
    """Ends the children."""
    OURS.close()
    LITERT.close()
