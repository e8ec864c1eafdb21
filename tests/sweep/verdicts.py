"""What both interpreters say of a variant, and what that means.

equal             both answer, the same
refused           neither answers; flatlite gives one clear error
beyond            LiteRT gives none; flatlite gives the answer that numpy's definition gives, the
                  elements that the case has at its own rank, or no elements
unfounded         LiteRT gives none, and nothing says that flatlite's is right
refused here      LiteRT answers, flatlite refuses
differs           both answer, not the same
unclear           flatlite's error is not one of an operator
dies              flatlite's process ends or hangs
"""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
from cases import Case, content
from fuzz.answers import litert
from fuzz.children import Child, Died
from fuzz.compare import difference, tolerance_of

CLEAR = ("NodeError", "Fault", "PlanError")
PASSES = ("equal", "refused", "beyond")
FILLS = ("85", "170")
"""Bytes that memory starts with, one for each process of LiteRT: what is not written differs."""


class Verdict(NamedTuple):
    """What was found, the words for it, and what flatlite answered."""

    kind: str
    text: str = ""
    ours: object = None


class Interpreters:
    """Both, in child processes."""

    def __init__(self) -> None:
        self.ours = Child(__name__, "answer")
        self.theirs = [_filled(Child(litert.__module__, "litert"), fill) for fill in FILLS]

    def verdict(self, case: Case, start: Case) -> Verdict:
        """Runs a variant of `start` in both."""
        file = content(case)
        self.ours.send((file, case.feeds))
        for child in self.theirs:
            child.send((file, case.feeds, case.oracle))
        ours, *theirs = (child.receive(20) for child in (self.ours, *self.theirs))
        if isinstance(ours, Died):
            return Verdict("dies", ours.text)
        refusal = _refusal(theirs)
        if isinstance(ours, tuple):
            cause, text = ours
            if cause not in CLEAR:
                return Verdict("unclear", f"{cause}: {text}")
            return Verdict("refused", refusal) if refusal else Verdict("refused here", text)
        tolerance = max(tolerance_of([case.op]), case.rtol, case.atol)
        if refusal:
            founded = self._founded(ours, case, start, tolerance)
            return Verdict("beyond" if founded else "unfounded", refusal, ours)
        problem = difference(ours, theirs[0], tolerance)
        return Verdict("differs", problem, ours) if problem else Verdict("equal", "", ours)

    def _founded(self, ours: list, case: Case, start: Case, tolerance: float) -> bool:
        """Whether something other than LiteRT says what the answer is."""
        if not any(x.size for x in ours):
            return True
        expected = _defined(case)
        if expected is not None and not difference(ours, expected, tolerance):
            return True
        our_outputs = self.ours.run((content(start), start.feeds))
        if not isinstance(our_outputs, list) or [x.size for x in our_outputs] != [
            x.size for x in ours
        ]:
            return False
        flat = [[x.ravel() for x in one] for one in (ours, our_outputs)]
        return not difference(flat[0], flat[1], tolerance)

    def close(self) -> None:
        """Ends the children."""
        for child in (self.ours, *self.theirs):
            child.close()


def _defined(case: Case) -> list | None:
    """What the case's definition gives; None where it has none, or none for these operands."""
    if case.expected is None:
        return None
    try:
        with np.errstate(all="ignore"):
            expected = case.expected(*case.inputs)
    except (ValueError, IndexError, TypeError):
        return None
    every = expected if isinstance(expected, tuple | list) else [expected]
    first = next(x for x in case.inputs if x is not None)
    dtypes = case.outputs or [first.dtype]
    return [np.asarray(x, dtype) for x, dtype in zip(every, dtypes, strict=True)]


def _refusal(theirs: list) -> str:
    """Why LiteRT gives no answer; empty when it does."""
    for one in theirs:
        if isinstance(one, str):
            return one
    for one in theirs:
        if isinstance(one, Died):
            return f"LiteRT {one.text}"
    first, second = theirs
    with np.errstate(all="ignore"):
        return "LiteRT's result is unwritten memory" if difference(first, second, 1e-6) else ""


def _filled(child: Child, fill: str) -> Child:
    """The child with memory that starts as `fill`."""
    os.environ["MALLOC_PERTURB_"] = fill
    try:
        child.run((b"", [], "BUILTIN_REF"))
    finally:
        del os.environ["MALLOC_PERTURB_"]
    return child


def answer(job):
    """Outputs of flatlite's interpreter for (content, feeds), or its error's cause and text."""
    from running import answers

    from flatlite.lite import Interpreter

    file, feeds = job
    try:
        return [np.array(x) for x in answers(Interpreter(model_content=file), *feeds)]
    except Exception as error:
        cause = error.__cause__ or error
        return type(cause).__name__, str(error)
