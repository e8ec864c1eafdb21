"""What `conversion_summary_dir` gets: logs, drawings and a page about a conversion.

The names of the files, and the messages in the logs, are those that TensorFlow's own reader of
them, toco/logging/gen_html.py, asks for.
"""

from __future__ import annotations

import hashlib
import os
import platform
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

from ...schema import proto
from ...schema.files import make_folder, write_atomic
from ...schema.model import Subgraph, load
from ..ir.graph import Graph, Tensor
from ..ir.graphviz import drawing

FLEX = "Flex"
TYPES = {"float32": "float", "object": "string"}
"""Types that TensorFlow's converter calls otherwise."""
SETS = ("built_in_ops", "custom_ops", "select_ops")
BEFORE = "toco_log_before.pb", "toco_tf_graph.dot"
AFTER = "toco_log_after.pb", "toco_tflite_graph.dot"
PAGE = "toco_conversion_summary.html"


class Stage(NamedTuple):
    """A model before or after the conversion.

    Attributes:
        log: its operators and their tensors.
        dot: a drawing.
    """

    log: Any
    dot: str


class Step(NamedTuple):
    """An operator: its name and version, and (shape, type) of its operands and results."""

    name: str
    version: int
    inputs: list[tuple[str, str]]
    outputs: list[tuple[str, str]]


def stage_before(graphs: Sequence[Graph]) -> Stage:
    """The IR as the source was lowered."""
    steps = [
        Step(op.custom_code or op.kind, 1, _of(op.inputs), _of(op.outputs))
        for graph in graphs
        for op in graph.ops
    ]
    inputs = [end for graph in graphs for end in _of(graph.inputs)]
    outputs = [end for graph in graphs for end in _of(graph.outputs)]
    return Stage(_log(steps, inputs, outputs, b""), drawing(graphs))


def stage_after(content: bytes, graphs: Sequence[Graph]) -> Stage:
    """A file, and the IR that it was written of."""
    model = load(content)
    steps = [
        Step(op.custom_code or op.op, op.version, _read(graph, op.inputs), _read(graph, op.outputs))
        for graph in model.subgraphs
        for op in graph.operators
    ]
    main = model.subgraphs[0]
    ends = _read(main, main.inputs), _read(main, main.outputs)
    return Stage(_log(steps, *ends, content), drawing(graphs))


def _of(tensors: Iterable[Tensor | None]) -> list[tuple[str, str]]:
    """(shape, type) of tensors of the IR; an unknown size is -1."""
    rows = []
    for tensor in tensors:
        if tensor is not None:
            sizes = [] if tensor.shape is None else ["-1" if n is None else n for n in tensor.shape]
            rows.append((f"[{','.join(map(str, sizes))}]", _type(tensor.dtype.name)))
    return rows


def _read(graph: Subgraph, indices: Iterable[int]) -> list[tuple[str, str]]:
    """(shape, type) of tensors of a file."""
    tensors = [graph.tensors[i] for i in indices if i >= 0]
    shapes = [tensor.shape_signature or tensor.shape for tensor in tensors]
    return [
        (f"[{','.join(map(str, shape))}]", _type(tensor.dtype.lower()))
        for tensor, shape in zip(tensors, shapes, strict=True)
    ]


def _type(name: str) -> str:
    return TYPES.get(name, name)


def _log(
    steps: Sequence[Step],
    inputs: Sequence[tuple[str, str]],
    outputs: Sequence[tuple[str, str]],
    content: bytes,
) -> Any:
    """The message about a model."""
    from ... import __version__
    from ...schema.operators import operator

    counts: dict[str, Counter[str]] = {name: Counter() for name in SETS}
    for step in steps:
        is_builtin = operator(step.name) is not None
        kind = SETS[0 if is_builtin else 2 if step.name.startswith(FLEX) else 1]
        counts[kind][step.name] += 1
    return proto.TocoConversionLog(
        op_list=[step.name for step in steps],
        op_signatures=[_signature(step) for step in steps],
        input_tensor_types=[type_ for _, type_ in inputs],
        output_tensor_types=[type_ for _, type_ in outputs],
        log_generation_ts=int(time.time()),
        model_size=len(steps),
        tf_lite_version=f"flatlite {__version__}",
        os_version=platform.system(),
        model_hash=hashlib.sha256(content).hexdigest() if content else "",
        **counts,
    )


def _signature(step: Step) -> str:
    """An operator as TensorFlow's reader takes it apart."""
    sides = ["::".join(f"{s}::{t}" for s, t in rows) for rows in (step.inputs, step.outputs)]
    return f"INPUT:{sides[0]}::OUTPUT:{sides[1]}::NAME:{step.name}::VERSION:{step.version}"


def write_summary(folder: str | os.PathLike, before: Stage, after: Stage, quantized: bool) -> None:
    """Writes logs, drawings and the page into a folder, which is made where there is none."""
    make_folder(folder)
    files: dict[str, bytes] = {PAGE: "\n".join(_page(before, after, quantized)).encode()}
    for names, stage in ((BEFORE, before), (AFTER, after)):
        files[names[0]] = stage.log.SerializeToString(deterministic=True)
        files[names[1]] = stage.dot.encode()
    for name, content in files.items():
        write_atomic(os.path.join(folder, name), content)


def _page(before: Stage, after: Stage, quantized: bool) -> Iterable[str]:
    yield "<!DOCTYPE html>\n<html><head><meta charset='utf-8'>"
    yield "<title>Conversion</title></head><body>"
    yield f"<h1>Conversion by {escape(after.log.tf_lite_version)}</h1>"
    sums = [sum(getattr(after.log, name).values()) for name in SETS]
    yield (
        f"<p>{before.log.model_size} operators before, {after.log.model_size} after: {sums[0]} "
        f"built in, {sums[1]} custom, {sums[2]} of TensorFlow. Post-training quantization "
        f"{'is' if quantized else 'is not'} enabled.</p>"
    )
    for title, stage in (("Before", before), ("After", after)):
        yield f"<h2>{title}</h2>\n<table><tr><th>operator</th><th>inputs, outputs</th></tr>"
        for name, signature in zip(stage.log.op_list, stage.log.op_signatures, strict=True):
            tensors = signature.partition("::NAME:")[0]
            yield f"<tr><td>{escape(name)}</td><td>{escape(tensors)}</td></tr>"
        yield f"</table>\n<details><summary>Graphviz</summary><pre>{escape(stage.dot)}</pre>"
        yield "</details>"
    yield "</body></html>"
