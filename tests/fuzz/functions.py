"""Random TF functions through the converter, against our numpy kernels and LiteRT.

equal            the file gives what the function gives, in ours and in LiteRT
unstable         it does not, but the function's own answers move as far with its last bits
not converted    the converter refuses the function, naming what it lacks
not run          the numpy kernels refuse the function
differs, LiteRT differs, LiteRT refuses, converter fails, flatlite dies: failures
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import numpy as np

from . import models
from .children import Child, Died
from .compare import difference
from .drawn_functions import Drawn, function
from .verdict import Verdict

SHARE = 300  # cases of it in `make test`
PASSES = {"equal", "unstable", "not converted", "not run", "known"}
SOURCE = Child(__name__, "outcome_of")
TOLERANCE = 1e-4
NUDGE = 1e-6
EMPTY = "Invalid tensor size"


def cases(seed: int) -> Iterator[Drawn]:
    """Endless functions, each from its own generator."""
    return (function(np.random.default_rng((seed, number))) for number in count())


def graph_of(case: Drawn):
    """The function as a graph: (graph, input tensors, output tensors)."""
    from flatlite.graph.core.graph import Graph

    graph = Graph()
    tensors = []
    for i, feed in enumerate(case.feeds):
        attrs = {"dtype": feed.dtype, "shape": feed.shape}
        tensors += graph.add("Placeholder", f"x{i}", (), attrs).outputs
    inputs = list(tensors)
    for k, step in enumerate(case.steps):
        operands = [
            graph.constant(np.asarray(one), f"c{k}_{i}") if isinstance(one, np.ndarray | np.generic)
            else tensors[one]
            for i, one in enumerate(step.inputs)
        ]  # fmt: skip
        tensors += graph.add(step.op, f"op{k}", operands, step.attrs).outputs
    return graph, inputs, [tensors[i] for i in case.outputs]


def outcome_of(case: Drawn):
    """In a child: (the source's answers, what it gives for nudged inputs, the file), or a text."""
    from flatlite.graph.core.evaluate import evaluate
    from flatlite.graph.format.graphdef import to_graph_def
    from flatlite.lite import TFLiteConverter
    from flatlite.schema.errors import OpError

    try:
        graph, inputs, outputs = graph_of(case)
        signs = np.random.default_rng(0)
        moved = [
            (x * (1 + signs.choice([-NUDGE, NUDGE], x.shape))).astype(x.dtype)
            if x.dtype.kind == "f" else x
            for x in case.feeds
        ]  # fmt: skip
        expected, near = (
            evaluate(graph, outputs, dict(zip(inputs, feeds, strict=True)))
            for feeds in (case.feeds, moved)
        )
    except (OpError, ValueError, TypeError) as error:
        return f"not run: {type(error).__name__}: {error}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shapes = [(f"x{i}", list(x.shape)) for i, x in enumerate(case.feeds)]
            names = [tensor.name for tensor in outputs]
            converter = TFLiteConverter(to_graph_def(graph), None, None, shapes, names)
            converter.verify = False
            return expected, near, bytes(converter.convert())
    except Exception as error:  # any other than a refusal is a finding
        text = f"{type(error).__name__}: {error}"
        refused = text.startswith(("ConverterError", "UnsupportedOps")) and "report it" not in text
        return f"{'not converted' if refused else 'converter fails'}: {text}"


def check(case: Drawn) -> Verdict:
    """Converts a function, runs file and source, and compares."""
    actual = SOURCE.run(case)
    if isinstance(actual, Died):
        return Verdict("flatlite dies", actual.text)
    if isinstance(actual, str):
        return Verdict(*actual.split(": ", 1))
    expected, near, content = actual
    unstable = bool(difference(near, expected, TOLERANCE))
    ours = models.OURS.run((content, list(case.feeds), 1, False))
    if isinstance(ours, Died):
        return Verdict("flatlite dies", ours.text)
    text = ours if isinstance(ours, str) else difference(ours, expected, TOLERANCE)
    if text:
        return Verdict("unstable" if unstable and isinstance(ours, list) else "differs", text)
    seen = []
    for resolver in models.RESOLVERS:
        theirs = models.LITERT.run((content, list(case.feeds), resolver))
        text = difference(theirs, expected, TOLERANCE) if isinstance(theirs, list) else str(theirs)
        if not text:
            return Verdict("equal")
        seen.append((isinstance(theirs, list), text))
    if unstable:
        return Verdict("unstable", seen[0][1])
    if EMPTY in seen[-1][1]:
        return Verdict("known", seen[-1][1])
    ran = [text for is_answer, text in seen if is_answer]
    return Verdict("LiteRT differs", ran[0]) if ran else Verdict("LiteRT refuses", seen[-1][1])


def smaller(case: Drawn) -> Iterator[Drawn]:
    """One output, that of an earlier step; a step's results as inputs; fewer unneeded steps."""
    n_inputs = len(case.feeds)
    first = n_inputs
    for step in case.steps:
        for i in range(first, first + len(step.results)):
            if case.outputs != (i,):
                yield pruned(replace(case, outputs=(i,)))
        first += len(step.results)
    for k in range(len(case.steps)):
        if (shorter := without_step(case, k)) is not None:
            yield shorter


def pruned(case: Drawn) -> Drawn:
    """Without the steps and inputs that no output needs."""
    needed, first = set(case.outputs), _firsts(case)
    live = []
    for k in reversed(range(len(case.steps))):
        step = case.steps[k]
        if needed & set(range(first[k], first[k] + len(step.results))):
            live.insert(0, k)
            needed |= {i for i in step.inputs if isinstance(i, int)}
    inputs = [i for i in range(len(case.feeds)) if i in needed] or [0]
    order = [*inputs, *(first[k] + j for k in live for j in range(len(case.steps[k].results)))]
    number = {old: new for new, old in enumerate(order)}
    steps = tuple(_renumbered(case.steps[k], number) for k in live)
    outputs = tuple(number[i] for i in case.outputs)
    return Drawn(tuple(case.feeds[i] for i in inputs), steps, outputs)


def without_step(case: Drawn, k: int) -> Drawn | None:
    """The same with the results of one step as inputs; None where it gives an output."""
    first, n_inputs, step = _firsts(case)[k], len(case.feeds), case.steps[k]
    removed = range(first, first + len(step.results))
    if set(removed) & set(case.outputs):
        return None
    rng = np.random.default_rng(k)
    feeds = [rng.normal(size=shape).astype(dtype) for dtype, shape in step.results]
    n_tensors = n_inputs + sum(len(one.results) for one in case.steps)
    order = [
        *range(n_inputs),
        *removed,
        *(i for i in range(n_inputs, n_tensors) if i not in removed),
    ]
    number = {old: new for new, old in enumerate(order)}
    steps = tuple(_renumbered(one, number) for one in case.steps if one is not step)
    return pruned(Drawn((*case.feeds, *feeds), steps, tuple(number[i] for i in case.outputs)))


def _firsts(case: Drawn) -> list[int]:
    """The number of each step's first result."""
    sizes = [len(step.results) for step in case.steps]
    return [len(case.feeds) + sum(sizes[:k]) for k in range(len(sizes))]


def _renumbered(step, number):
    return replace(step, inputs=tuple(number[i] if isinstance(i, int) else i for i in step.inputs))


def line(case: Drawn) -> str:
    """The function in one line."""
    shown = [f"{x.dtype}{list(x.shape)}" for x in case.feeds]
    for k, step in enumerate(case.steps):
        operands = [
            str(i) if isinstance(i, int) else f"const{list(np.shape(i))}" for i in step.inputs
        ]
        first = _firsts(case)[k]
        shown.append(f"{first} = {step.op}({', '.join(operands)})")
    return f"{'; '.join(shown)}; return {', '.join(map(str, case.outputs))}"


def script(case: Drawn) -> str:
    """Python text that converts the function and prints both answers."""
    rows = ["import numpy as np", "from numpy import array, dtype, float32, int32, int64", ""]
    rows += [
        "from flatlite.graph.core.evaluate import evaluate",
        "from flatlite.graph.core.graph import Graph",
    ]
    rows += ["from flatlite.graph.format.graphdef import to_graph_def"]
    rows += ["from flatlite.lite import Interpreter, TFLiteConverter", "", "graph, t = Graph(), []"]
    for i, x in enumerate(case.feeds):
        attrs = f'{{"dtype": np.dtype("{x.dtype}"), "shape": {x.shape}}}'
        rows.append(f't += graph.add("Placeholder", "x{i}", (), {attrs}).outputs')
    for k, step in enumerate(case.steps):
        operands = [
            f"t[{i}]" if isinstance(i, int) else f'graph.constant({_text(i)}, "c{k}_{j}")'
            for j, i in enumerate(step.inputs)
        ]
        rows.append(
            f't += graph.add("{step.op}", "op{k}", [{", ".join(operands)}], {step.attrs}).outputs'
        )
    feeds = ", ".join(map(_text, case.feeds))
    outputs = ", ".join(f"t[{i}]" for i in case.outputs)
    shapes = [(f"x{i}", list(x.shape)) for i, x in enumerate(case.feeds)]
    rows += [f"feeds, outputs = [{feeds}], [{outputs}]"]
    rows += ["print(evaluate(graph, outputs, dict(zip(t, feeds))))"]
    rows += [f"given = (None, None, {shapes}, [o.name for o in outputs])"]
    rows += ["content = TFLiteConverter(to_graph_def(graph), *given).convert()"]
    rows += ["interpreter = Interpreter(model_content=content)", "interpreter.allocate_tensors()"]
    rows += ["for detail, x in zip(interpreter.get_input_details(), feeds):"]
    rows += ['    interpreter.set_tensor(detail["index"], x)', "interpreter.invoke()"]
    rows += [
        'print([interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()])'
    ]
    return "\n".join(rows)


def _text(array) -> str:
    array = np.asarray(array)
    return f'np.array({array.tolist()}, "{array.dtype}")'


def close() -> None:
    """Ends the children."""
    SOURCE.close()
    models.close()
