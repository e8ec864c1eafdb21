"""Draws whole programs over shapes: `draw(kind, seed)` gives the same one everywhere."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import partial

import numpy as np
from array_steps import STEPS
from onnx_writer import Onnx
from program import LITERALS, Program, Refused, bindings
from size_steps import STEPS as SIZE_STEPS
from size_steps import compute
from tf_writer import TensorFlow
from wider_steps import WIDER, WIDER_SIZES
from wider_writers import WiderOnnx, WiderTensorFlow

WRITERS = {
    "tf": (TensorFlow, STEPS, SIZE_STEPS),
    "onnx": (Onnx, STEPS, SIZE_STEPS),
    "wider_tf": (WiderTensorFlow, WIDER, WIDER_SIZES),
    "wider_onnx": (WiderOnnx, WIDER, WIDER_SIZES),
}
"""Kind of programs -> who writes them, their steps by weight, and how they compute sizes."""
N_IDS = 9  # rows of an embedding
LAYOUTS = {
    1: (("n",),),
    2: (("n", "m"), ("n", 3), ("b", "n")),
    3: (("b", "n", 2), ("b", "n", "m"), ("n", "m", 3), (1, "n", 4)),
    4: (("b", "h", "w", 2), ("b", "h", "w", 3), (1, "h", "w", 1), ("b", "h", 5, 2), ("b", 6, 5, 2)),
}
"""Dimensions of inputs with channels last: a name is a size of its own unless another input takes
its sizes over."""


@dataclass(frozen=True)
class Drawn:
    """A program, finished.

    Attributes:
        kind: "tf" or "onnx".
        content: a GraphDef or an ONNX model.
        inputs: (name, dimensions as numbers or names of sizes, dtype).
        n_outputs: they are called out0, out1 ...
        sizes: values of the unknown sizes by name, at every binding at which it may be valid.
        steps: what was drawn, for messages.
    """

    kind: str
    content: bytes
    inputs: tuple
    n_outputs: int
    sizes: tuple[dict[str, int], ...]
    steps: tuple[str, ...]

    def shapes(self, sizes: dict[str, int]) -> list[tuple[int, ...]]:
        """The shapes of the inputs at one binding."""
        return [tuple(sizes.get(d, d) for d in dims) for _, dims, _ in self.inputs]


def draw(kind: str, seed: int) -> Drawn:
    """The program of this kind and number."""
    for attempt in range(1000):
        rng = random.Random(f"{kind} {seed} {attempt}")
        make_writer, *steps = WRITERS[kind]
        writer = make_writer(rng)
        try:
            with writer.scope():
                return _draw(writer, rng, *steps)
        except Refused:
            continue
    raise ValueError(f"nothing to draw for {kind} {seed}")


def _inputs(rng: random.Random, kind: str) -> list[tuple]:
    """(name, dims, dtype) of one to three inputs; the first has an unknown size."""
    inputs = []
    for i in range(rng.choice((1, 1, 1, 2, 2, 3))):
        dims = list(rng.choice(LAYOUTS[rng.choice((1, 2, 3, 3, 4, 4))]))
        dtype = "int32" if len(dims) == 2 and rng.random() < 0.2 else "float32"
        if kind == "onnx" and len(dims) > 2:
            dims = [dims[0], dims[-1], *dims[1:-1]]
        taken = {d for _, row, _ in inputs for d in row if isinstance(d, str)}
        for axis, d in enumerate(dims):
            if isinstance(d, str):
                old = sorted(taken)
                dims[axis] = rng.choice(old) if old and rng.random() < 0.4 else f"{d}{i}"
        inputs.append((f"x{i}", tuple(dims), dtype))
    return inputs


def _draw(writer, rng: random.Random, array_steps, size_steps) -> Drawn:
    kind = writer.kind
    inputs = _inputs(rng, kind)
    names = sorted({d for _, dims, _ in inputs for d in dims if isinstance(d, str)})
    literals = rng.sample(LITERALS, 2)
    symbols = bindings(rng, names, literals)
    n = len(next(iter(symbols.values())))
    p = Program(rng, writer, literals, symbols, np.ones(n, bool))
    for name, dims, dtype in inputs:
        handle = writer.input(name, dims, dtype)
        sizes = [symbols[d] if isinstance(d, str) else np.full(n, d) for d in dims]
        known = [None if isinstance(d, str) else d for d in dims]
        if dtype == "int32":
            handle = writer.embedding(handle, N_IDS, 2)
            sizes, known = [*sizes, np.full(n, 2)], [*known, 2]
            if kind == "onnx":
                handle = writer.transpose(handle, [0, 2, 1])
                sizes, known = [sizes[0], sizes[2], sizes[1]], [known[0], 2, known[1]]
        p.arrays.append(p.array(handle, sizes, known))
    steps = _steps(p, array_steps, size_steps)
    outputs = _outputs(p)
    rows = [{name: int(v[i]) for name, v in symbols.items()} for i in np.flatnonzero(p.alive)]
    return Drawn(kind, writer.content(), tuple(inputs), outputs, tuple(rows), tuple(steps))


def _steps(p: Program, array_steps, size_steps) -> list[str]:
    """Draws steps; gives their names."""
    values, steps = p.rng.randint(2, 6), []
    for _ in range(40):
        if len(steps) >= values:
            return steps
        if p.rng.random() < 0.35:
            attempt, function = partial(compute, steps=size_steps), None
        else:
            (function,) = p.rng.choices(list(array_steps), list(array_steps.values()))
            attempt = function
        alive = p.alive
        try:
            step = attempt(p)
        except Refused:
            p.alive = alive
            continue
        if function is None:
            continue
        p.arrays.append(step)
        steps.append(function.__name__)
    if len(steps) < 2:
        raise Refused
    return steps


def _outputs(p: Program) -> int:
    """The last array, with luck another one, and the computed sizes."""
    handles = [p.arrays[-1].handle]
    if len(p.arrays) > 2 and p.rng.random() < 0.4:
        handles.append(p.rng.choice(p.arrays[:-1]).handle)
    if p.sizes and p.rng.random() < 0.7:
        chosen = p.rng.sample(p.sizes, min(3, len(p.sizes)))
        handles.append(p.writer.vector([size.handle for size in chosen]))
    for handle in handles:
        p.writer.output(handle)
    return len(handles)
