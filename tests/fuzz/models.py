"""Random .tflite models: our interpreter against LiteRT.

equal                  each output is that of LiteRT's reference kernels or its optimized ones
equal in steps         not as a whole, but each operator alone, with what comes before it here
unstable               LiteRT differs from itself as much, when its inputs change in the last bit
only LiteRT refuses    this interpreter takes more
both refuse            neither runs it
LiteRT aborts          a process of LiteRT ends; nothing to compare with
known                  a fault of LiteRT in an operator alone: a row of known.py
differs, only flatlite refuses, flatlite dies: failures
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from itertools import count
from math import prod

import numpy as np
from cases import OPTIMIZED

from . import known
from .answers import litert, ours
from .children import Child, Died
from .compare import difference, tolerance_of
from .drawing import Draw, Drawn, all_rows
from .models_text import line, script
from .nesting import content_and_feeds
from .shrinking import smaller
from .verdict import Verdict

__all__ = ["PASSES", "cases", "check", "close", "line", "script", "smaller"]

SHARE = 800  # cases of it in `make test`
MOST_OF_RESULT = 1 << 20
"""Elements of the largest tensor; a model with a larger one is drawn anew."""
PASSES = {"equal", "equal in steps", "unstable", "known"}
PASSES |= {"only LiteRT refuses", "both refuse", "LiteRT aborts"}
TRACED = {"differs", "only flatlite refuses", "unstable"}
"""Kinds of a whole model after which its operators are looked at."""
UNREADABLE = "Invalid tensor size"
"""LiteRT's error where a result whose shape only running gives has no elements."""
RESOLVERS = ("BUILTIN_REF", OPTIMIZED, "BUILTIN")
OURS, LITERT = Child(ours.__module__, "ours"), Child(litert.__module__, "litert")


def cases(seed: int) -> Iterator[Drawn]:
    """Endless models, each from its own generator."""
    return (draw(np.random.default_rng((seed, number))) for number in count())


def draw(rng: np.random.Generator) -> Drawn:
    """One operator, or a few that read one another's results."""
    d = Draw(rng)
    for _ in range(1 if d.special else d.pick([1, 1, 1, 2, 3, 5, 9])):
        row = d.pick([row for row in all_rows() if not (d.special and row.sums)])
        there = {d.kind(i) for i in range(len(d.graph.tensors)) if d.at(i).data is None}
        fit = [kind for kind in row.types if kind in there]
        row.draw(d, row.op, d.pick(fit or row.types))
    if max(prod(tensor.shape) for tensor in d.graph.tensors) > MOST_OF_RESULT:
        return draw(rng)
    return d.finish()


def check(case: Drawn) -> Verdict:
    """Runs a model in both and compares; what differs is looked at operator by operator."""
    verdict, got = _compared(case)
    if verdict.kind not in TRACED:
        return verdict
    if len(case.graph.operators) > 1 or case.called_by:
        verdict = _in_steps(case, got, verdict)
    return verdict


def _compared(case):
    """The verdict on a model as a whole, and this interpreter's answer."""
    content, feeds = content_and_feeds(case)
    OURS.send((content, feeds, case.threads, case.repeats))
    LITERT.send((content, feeds, RESOLVERS[0]))
    got, theirs = OURS.receive(), LITERT.receive()
    if isinstance(got, Died):
        return Verdict("flatlite dies", got.text), got
    tolerance = tolerance_of(step.op for step in case.graph.operators)
    seen, unequal = {}, set(range(len(case.graph.outputs)))
    for resolver in RESOLVERS:
        if seen:
            theirs = LITERT.run((content, feeds, resolver))
        seen[resolver] = theirs
        if isinstance(got, list) and isinstance(theirs, list):
            unequal = {i for i in unequal if difference([got[i]], [theirs[i]], tolerance)}
            if not unequal:
                return Verdict("equal"), got
    return _judge(case, got, seen, tolerance), got


def _judge(case, got, seen, tolerance):
    """The verdict on a model that is equal to no LiteRT."""
    kernels = [seen[resolver] for resolver in RESOLVERS[:2]]  # without a delegate before them
    ran = [theirs for theirs in kernels if isinstance(theirs, list)]
    if not ran:
        if any(isinstance(theirs, Died) for theirs in kernels):
            return Verdict("LiteRT aborts")
        refused = "both refuse" if isinstance(got, str) else "only LiteRT refuses"
        return Verdict(refused, kernels[1])
    reason = known.reason(case) if len(case.graph.operators) == 1 and not case.called_by else ""
    if reason:
        return Verdict("known", reason)
    if isinstance(got, str):
        return Verdict("only flatlite refuses", got)
    verdict = Verdict("differs", difference(got, ran[0], tolerance))
    for resolver in RESOLVERS[:2]:
        theirs = seen[resolver]
        if isinstance(theirs, list) and unstable(case, got, theirs, resolver, tolerance):
            return Verdict("unstable", verdict.text)
    return verdict


def _in_steps(case, got, whole):
    """The verdict on a model by its operators, each alone with what this interpreter gives it.

    No kernels of LiteRT are right in every operator, and where floats become integers the last bits
    decide: what the whole gives there is no measure of the operators behind.
    """
    constants = {i: t.data for i, t in enumerate(case.graph.tensors) if t.data is not None}
    values, kinds = dict(zip(case.graph.inputs, case.feeds, strict=True)), Counter()
    for step in case.graph.operators:
        alone = _alone(case, step, values)
        verdict, results = _compared(alone)
        kinds[verdict.kind] += 1
        if verdict.kind not in PASSES:
            return Verdict(verdict.kind, f"{step.op} alone: {verdict.text}")
        if not isinstance(results, list):
            return verdict if isinstance(got, str) else whole
        values.update(zip(step.outputs, results, strict=True))
    tolerance = tolerance_of(step.op for step in case.graph.operators)
    expected = [{**constants, **values}[i] for i in case.graph.outputs]
    text = got if isinstance(got, str) else difference(got, expected, tolerance)
    if text and whole.kind != "unstable":
        return Verdict(whole.kind, f"the operators one by one give something else: {text}")
    if text:
        return whole
    others = [kind for kind in ("known", "unstable", "only LiteRT refuses") if kinds[kind]]
    return Verdict(others[0] if others else "equal in steps", whole.text)


def _alone(case, step, values):
    """One operator of a model, with `values` for what others compute."""
    copied = deepcopy(case)
    copied.called_by = ""
    graph = copied.graph
    graph.operators = [deepcopy(step)]
    graph.outputs = list(step.outputs)
    graph.inputs = sorted({i for i in step.inputs if i in values})
    copied.feeds = [values[i] for i in graph.inputs]
    for i, feed in zip(graph.inputs, copied.feeds, strict=True):
        graph.tensors[i].shape = np.shape(feed)
    return copied


def unstable(case, got, theirs, resolver, tolerance):
    """Whether LiteRT's own answer moves as far when floats change by their rounding."""
    if any(a.dtype == object for a in theirs):
        return False
    spread = [np.zeros(np.shape(a)) for a in theirs]
    with np.errstate(all="ignore"):
        for seed in range(5):
            moved = _moved(case, np.random.default_rng(seed)) if seed else case
            outputs = LITERT.run((*content_and_feeds(moved), resolver))
            if not isinstance(outputs, list):
                return False
            for i, (a, b) in enumerate(zip(outputs, theirs, strict=True)):
                if a.shape != b.shape:
                    return True
                spread[i] = np.maximum(spread[i], _distance(a, b))
        if not any(s.any() for s in spread):
            return False
        for a, b, s in zip(got, theirs, spread, strict=True):
            near = 4 * np.max(s, initial=0.0) + tolerance * np.max(np.abs(b), initial=0.0)
            if a.shape != b.shape or not np.all(_distance(a, b) <= near):
                return False
    return True


def _moved(case, rng):
    """A model whose float inputs and constants are changed in their last bits."""
    copied = deepcopy(case)

    def move(array):
        if array.dtype != np.float32:
            return array
        return np.asarray(array * (1 + rng.uniform(-1e-6, 1e-6, array.shape)), np.float32)

    copied.feeds = [move(feed) for feed in case.feeds]
    for tensor in copied.graph.tensors:
        if tensor.data is not None:
            tensor.data = move(np.asarray(tensor.data))
    return copied


def _distance(a, b):
    if a.dtype == object:
        return np.where(a == b, 0.0, np.inf)
    if a.dtype.name == "bfloat16":
        a, b = (x.astype(np.float32) for x in (a, b))
    equal = (a == b) | (np.isnan(a) & np.isnan(b))
    a, b = (np.asarray(x, np.result_type(x, np.float64)) for x in (a, b))
    distance = np.abs(a - b)
    return np.where(equal, 0.0, np.where(np.isnan(distance), np.inf, distance))


def close() -> None:
    """Ends the children."""
    OURS.close()
    LITERT.close()
