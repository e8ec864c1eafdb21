"""A drawn model as Python text that builds it and runs it in both interpreters."""

from __future__ import annotations

import numpy as np

from flatlite.schema import tables

from .drawing import Drawn

HEAD = """\
import numpy as np
from building import Builder, save
from flatlite.lite import Interpreter
from flatlite.schema.model import Quantization
from litert import LiteRT
from running import answers

def q(scale, zero_point=0, axis=0):
    scale = np.atleast_1d(np.float32(scale))
    return Quantization(scale, np.full(scale.size, zero_point), axis)

b = Builder()"""
TAIL = """\
feeds = [{feeds}]
content = save(b.outputs({outputs}))
if __name__ == "__main__":
    for resolver in "BUILTIN_REF", "BUILTIN_WITHOUT_DEFAULT_DELEGATES":
        print(LiteRT().run(content, [feeds], resolver))
    print(answers(Interpreter(model_content=content), *feeds))"""


def script(case: Drawn) -> str:
    """Text for `PYTHONPATH=tests/support python`."""
    graph, lines = case.graph, [HEAD]
    for i, tensor in enumerate(graph.tensors):
        arguments = [f'"{tensor.name}"', str(tuple(tensor.shape)), f'"{tensor.dtype}"']
        if tensor.data is not None:
            arguments.append(f"data={_array(tensor.data)}")
        if tensor.quantization is not None:
            scheme = tensor.quantization
            zero = int(scheme.zero_points[0])
            arguments.append(f"quantization=q({scheme.scales.tolist()}, {zero}, {scheme.axis})")
        make = "input" if i in graph.inputs else "tensor"
        lines.append(f"b.{make}({', '.join(arguments)})  # {i}")
    for step in graph.operators:
        options = "".join(f", {k}={v}" for k, v in _options(step.options))
        lines.append(f'b.op("{step.op}", {step.inputs}, {step.outputs}{options})')
    feeds = ", ".join(map(_array, case.feeds))
    lines.append(TAIL.format(feeds=feeds, outputs=", ".join(map(str, graph.outputs))))
    return "\n".join(lines)


def line(case: Drawn) -> str:
    """The operators and types, in a line."""
    graph = case.graph

    def form(i):
        if i < 0:
            return "-"
        tensor = graph.tensors[i]
        mark = "*" if tensor.data is not None else ""
        scheme = tensor.quantization
        mark += "" if scheme is None else f"<{scheme.scales[0]:.5g} {scheme.zero_points[0]}>"
        return f"t{i}:{tensor.dtype.lower()}{mark}[{','.join(map(str, tensor.shape))}]"

    steps = [
        f"{','.join(map(form, s.outputs))} = {s.op}({', '.join(map(form, s.inputs))}; {s.options})"
        for s in graph.operators
    ]
    return f"{'; '.join(steps)} -> {graph.outputs}"


def _array(array):
    array = np.asarray(array)
    dtype = array.dtype.name
    if array.size == 0:
        return f"np.zeros({array.shape}, np.dtype('{dtype}'))"
    text = str(array.tolist()).replace("inf", "np.inf").replace("nan", "np.nan")
    return f"np.array({text}, np.dtype('{dtype}'))"


def _options(record):
    if record is None:
        return
    for name, _, default, _ in tables.TABLES[type(record).__name__]:
        value = getattr(record, name)
        if isinstance(value, np.ndarray):
            yield name, _array(value)
        elif value is not None and value != default:
            yield name, repr(value)
