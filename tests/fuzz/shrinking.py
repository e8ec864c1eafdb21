"""Smaller models of a model: fewer operators and outputs, shorter dimensions, plainer values."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy

import numpy as np

from flatlite.schema.errors import ModelError
from flatlite.schema.model import save

from .drawing import Drawn, dtype_of


def smaller(case: Drawn) -> Iterator[Drawn]:
    """Models with something less than `case`, the largest cuts first."""
    for make in (_without_steps, _without_outputs, _shorter, _plainer):
        for candidate in make(case):
            _tidy(candidate)
            if candidate.graph.outputs and _writable(candidate):
                yield candidate


def _writable(case):
    try:
        save(case.model)
    except ModelError:
        return False
    return True


def _without_steps(case):
    """Each operator left out; what others read of it becomes an input."""
    steps = case.graph.operators
    if len(steps) < 2:
        return
    for position in range(len(steps) - 1, -1, -1):
        copied = deepcopy(case)
        graph = copied.graph
        removed = graph.operators.pop(position)
        graph.outputs = [i for i in graph.outputs if i not in removed.outputs]
        for i in removed.outputs:
            if any(i in step.inputs for step in graph.operators):
                graph.inputs.append(i)
                copied.feeds.append(_some(graph.tensors[i]))
            elif removed.inputs and graph.operators:
                read = [j for j in removed.inputs if any(j in s.outputs for s in graph.operators)]
                graph.outputs += [j for j in read if j not in graph.outputs]
        yield copied


def _some(tensor):
    """Small values of a tensor's type."""
    count = int(np.prod(tensor.shape))
    values = (np.arange(count) % 7).reshape(tensor.shape).astype(dtype_of(tensor.dtype.lower()))
    return np.vectorize(b"%d".__mod__, [object])(values) if values.dtype == object else values


def _without_outputs(case):
    for i in case.graph.outputs if len(case.graph.outputs) > 1 else ():
        copied = deepcopy(case)
        copied.graph.outputs = [i]
        yield copied
    for i in case.graph.outputs if len(case.graph.outputs) > 1 else ():
        copied = deepcopy(case)
        copied.graph.outputs.remove(i)
        yield copied


def _shorter(case):
    """Every dimension of one size becomes shorter at once; numbers in constants follow or not."""
    sizes = {n for tensor in case.graph.tensors for n in tensor.shape if n > 1}
    for size in sorted(sizes, reverse=True):
        for expected in sorted({1, 2, 3, size // 2, size - 1} - {0, size}):
            if expected < size:
                for follow in (False, True):
                    yield _resized(case, size, expected, follow)


def _resized(case, size, new_size, follow):
    copied = deepcopy(case)

    def cut(array):
        array = np.asarray(array)
        resized = array[tuple(slice(new_size if n == size else n) for n in array.shape)]
        if follow and array.dtype.kind == "i" and array.size < 6:
            resized = np.where(resized == size, new_size, resized).astype(array.dtype)
        return np.ascontiguousarray(resized).reshape(resized.shape)

    for tensor in copied.graph.tensors:
        scheme = tensor.quantization
        if scheme is not None and len(scheme.scales) == size:
            scheme.scales, scheme.zero_points = (
                scheme.scales[:new_size],
                scheme.zero_points[:new_size],
            )
        tensor.shape = tuple(new_size if n == size else n for n in tensor.shape)
        if tensor.data is not None:
            tensor.data = cut(tensor.data)
    copied.feeds = [cut(feed) for feed in copied.feeds]
    return copied


def _plainer(case):
    """Floats and wide integers as zeros, by halves, then rounded."""
    graph = case.graph
    arrays = [(None, i, feed) for i, feed in enumerate(case.feeds)]
    arrays += [(t, None, x.data) for t, x in enumerate(graph.tensors) if x.data is not None]
    for tensor, feed, array in arrays:
        flat = np.asarray(array).ravel()
        if flat.dtype == object:
            continue
        spans = {(0, flat.size), (0, flat.size // 2), (flat.size // 2, flat.size)}
        candidates = [np.where(_within(flat.size, *span), 0, flat) for span in sorted(spans)]
        if flat.dtype.kind == "f":
            with np.errstate(all="ignore"):
                candidates += [np.round(flat), np.round(flat, 1)]
        for values in candidates:
            values = values.astype(flat.dtype)
            if values.tobytes() != flat.tobytes():
                copied = deepcopy(case)
                if feed is None:
                    copied.graph.tensors[tensor].data = values.reshape(array.shape)
                else:
                    copied.feeds[feed] = values.reshape(np.shape(array))
                yield copied


def _within(size, first, last):
    at = np.arange(size)
    return (first <= at) & (at < last)


def _tidy(case):
    """Drops inputs and tensors that nobody reads, and gives new indices."""
    graph = case.graph
    produced = {i for step in graph.operators for i in step.outputs}
    read = {i for step in graph.operators for i in step.inputs}
    live = [k for k, i in enumerate(graph.inputs) if i in read]
    case.feeds = [case.feeds[k] for k in live]
    graph.inputs = [graph.inputs[k] for k in live]
    graph.outputs = [i for i in graph.outputs if i in produced]
    used = sorted(i for i in produced | read if i >= 0)
    index = {-1: -1, **{old: new for new, old in enumerate(used)}}
    graph.tensors = [graph.tensors[i] for i in used]
    graph.inputs = [index[i] for i in graph.inputs]
    graph.outputs = [index[i] for i in graph.outputs]
    for step in graph.operators:
        step.inputs = [index[i] for i in step.inputs]
        step.outputs = [index[i] for i in step.outputs]
