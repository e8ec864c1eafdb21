"""Passes tested as two short texts: what a graph becomes, and that it still computes the same."""

import re
from dataclasses import dataclass

import numpy as np
import running

from flatlite.converter.ir.dim_values import evaluate
from flatlite.converter.ir.parse import parse
from flatlite.converter.ir.write import write
from flatlite.converter.passes.fold import remove_dead_code
from flatlite.lite import Interpreter
from flatlite.schema.model import save

CONSTANT = re.compile(r"(float32|int32)\[([\d,]+)\]#([A-Za-z]\w*)")


@dataclass
class Rewrite:
    """`run` turns the graph `before` into `after`; None when it must leave it alone."""

    name: str
    run: object
    before: str
    after: str | None = None
    rtol: float = 1e-5
    positive: bool = False

    def __str__(self):
        return self.name


def graph_of(text):
    """The graph of a text; a constant `float32[8,3]#w` is random, the same for the same name."""
    constants = {}
    for _, dims, name in CONSTANT.findall(text):
        shape = tuple(int(n) for n in dims.split(","))
        seed = sum(name.encode())
        constants[name] = np.random.default_rng(seed).uniform(0.5, 2.0, shape).astype(np.float32)
    graph = parse(text, constants)
    graph.output_names = [f"out{i}" for i in range(len(graph.outputs))]
    return graph


def shown(graph):
    """The text of a graph, but for the names of what is computed and the content of constants."""
    inputs = {id(tensor) for tensor in graph.inputs}
    computed = [t for t in graph.tensors() if id(t) not in inputs and not t.is_constant]
    for i, tensor in enumerate(computed):
        tensor.name = f"t{i}"
    return re.sub(r"#\w+", "#", str(graph))


def answers(graph, feeds):
    """What the interpreter answers for the written graph."""
    return running.answers(Interpreter(model_content=save(write(graph).model)), *feeds)


SIZES = ({"n": 2, "h": 6}, {"n": 3, "h": 15})


def feeds_of(graph, binding, positive=False):
    """Random inputs of some sizes; wide enough to meet every bound of a RELU6."""
    generator = np.random.default_rng(binding)
    feeds = []
    for tensor in graph.inputs:
        shape = [evaluate(size, SIZES[binding]) for size in tensor.sizes]
        array = generator.normal(0, 4, shape)
        feeds.append((np.abs(array) + 0.1 if positive else array).astype(tensor.dtype))
    return feeds


def check(row):
    """Runs the pass of a row and compares text and answers."""
    before, graph = graph_of(row.before), graph_of(row.before)
    row.run(graph)
    remove_dead_code(graph)
    want = shown(graph_of(row.after or row.before))
    got = shown(graph)
    assert got == want, f"expected\n{want}\ngot\n{got}"
    if row.after is None:
        return
    for binding in (0, 1):
        feeds = feeds_of(before, binding, row.positive)
        for want, got in zip(answers(before, feeds), answers(graph, feeds), strict=True):
            assert want.shape == got.shape
            np.testing.assert_allclose(
                got, want, rtol=row.rtol, atol=row.rtol * np.abs(want).max(initial=0)
            )
