"""A page about a quantized model: what each layer loses, and what to change.

One file of HTML with everything in it; nothing is fetched.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from ..converter.quantize.accuracy.charts import GREY, histogram, svg, text
from ..converter.quantize.islands import MOST_STEPS, Island, is_recurrent
from ..converter.quantize.rules import NO_KERNEL
from ..schema.files import write_file
from ..schema.model import Model
from .called_layers import MOST_ITERATIONS
from .layer_errors import LOW, LayerErrors, layer_errors, weight_sizes

STYLE = """
body {font-family: sans-serif; margin: 2em auto; max-width: 76em; padding: 0 1em; color: #222}
table {border-collapse: collapse; margin: 1em 0}
.layers td {white-space: nowrap}
.layers td:first-child {white-space: normal; overflow-wrap: anywhere}
th, td {border-bottom: 1px solid #ddd; padding: 0.25em 0.7em; text-align: left; vertical-align: top}
td.n, th.n {text-align: right; font-variant-numeric: tabular-nums}
.low {background: #fbe3e1} .mid {background: #fdf3d8} .advice {color: #8a4b00}
details > summary {cursor: pointer} code {background: #f3f3f3}
.key {display: inline-block; border: 1px solid #8a8f98; padding: 0 0.6em; margin-right: 0.6em}
.graph {max-height: 40em; overflow: auto; border: 1px solid #ddd}
"""
COLORS = {
    "INT8": "#cfe3f5",
    "UINT8": "#cfe3f5",
    "INT16": "#d9ead3",
    "FLOAT32": "#f9dcc4",
    "INT4": "#e3d7f1",
}
"""Of operators in the drawing, by the type of their result."""
OTHER = "#eee"  # of results of other types
LAYERS_TEXT = (
    "Measured on the first samples of the representative dataset, against the float model; an "
    "error holds what the layers before have lost. Layers of loops are measured in every "
    f"iteration, at most {MOST_ITERATIONS}, those of branches when they are taken. Orange lines "
    "are the ends of what can be stored."
)
ROW, WIDTH = 26, 860  # of the drawing


def write_report(converter: Any, path: str | os.PathLike) -> None:
    """Writes the page about the last model that a converter quantized.

    Raises ValueError when `convert` has quantized nothing, or there are no samples.
    """
    write_file(path, page(converter).encode())


def page(converter: Any) -> str:
    """The page."""
    layers = layer_errors(converter)
    last = converter._last
    (plain, float_functions), (quantized, functions) = last.files
    sizes = len(float_functions[0].content), len(functions[0].content)
    worst = sorted(layers, key=lambda row: row.decibels)
    parts = [
        "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'>",
        f"<title>Quantization report</title><style>{STYLE}</style></head><body>",
        "<h1>Quantization report</h1>",
        summary(converter, sizes),
        "<h2>What to change</h2>",
        changes(worst, last.float_islands),
        "<h2>Float islands</h2>",
        islands(last),
        "<h2>Sizes</h2>",
        size_table(plain.model, quantized.model, sizes),
        "<h2>Layers</h2>",
        f"<p>{LAYERS_TEXT}</p>",
        layer_table(layers),
        "<h2>Graph</h2>",
        legend(),
        *(drawing(quantized.model, i, layers) for i in range(len(quantized.model.subgraphs))),
        "</body></html>",
    ]
    return "\n".join(parts)


def summary(converter: Any, sizes: tuple[int, int]) -> str:
    """Outputs, and the size of the file."""
    rows = [
        (name, f"{value:.1f} dB", converter.measured_on[key])
        for key, outputs in converter.signal_to_noise.items()
        for name, value in outputs.items()
    ]
    share = sizes[1] / sizes[0]
    words = f"<p>{sizes[0]:,} bytes in float, {sizes[1]:,} quantized ({share:.0%}).</p>"
    return words + table(("output", "signal to noise", "on"), rows, numbers=(1,))


def changes(worst: Sequence[LayerErrors], float_islands: Sequence[Any]) -> str:
    """The advice of the layers that lose the most."""
    rows = [
        (f"<a href='#{anchor(row.name)}'>{escape(row.name)}</a>", f"{row.decibels:.1f} dB", words)
        for row in worst
        for words in row.advice
    ]
    cures: dict[str, dict[str, None]] = {}
    for island in float_islands:
        cures.setdefault(cure_of(island), {})[island.kind] = None
    rows += [(escape(", ".join(kinds)), "float", words) for words, kinds in cures.items()]
    if not rows:
        return "<p>Nothing: no layer loses more than its inputs have lost.</p>"
    return table(("layer", "signal to noise", "what would help"), rows, raw=(0,))


def cure_of(island: Island) -> str:
    """What lets operators run in integers that stay float."""
    if "WHILE" in (island.kind, island.reason.split()[0]) or is_recurrent(island.kind):
        return (
            f"strict_int8 writes out loops of known lengths, up to {MOST_STEPS} steps, in integers"
        )
    if island.reason.startswith(NO_KERNEL):
        return "no integer kernel; another operator in the source would run in integers"
    return island.reason


def islands(last: Any) -> str:
    """What stays float."""
    if last.float_islands:
        rows = [
            (row.kind, len(row.names), ", ".join(row.names[:3]), row.reason, f"{row.share:.1%}")
            for row in last.float_islands
        ]
        return table(("operator", "count", "first", "why", "work"), rows, numbers=(1, 4))
    if last.float_operators:
        return table(("operator", "count"), list(last.float_operators.items()), numbers=(1,))
    return "<p>None.</p>"


def size_table(plain: Model, quantized: Model, sizes: tuple[int, int]) -> str:
    """Bytes of constants by their type, in both files."""
    before, after = weight_sizes(plain), weight_sizes(quantized)
    names = list(dict.fromkeys((*before, *after)))
    rows = [(f"{n} constants", f"{before.get(n, 0):,}", f"{after.get(n, 0):,}") for n in names]
    rows.append(("whole file", f"{sizes[0]:,}", f"{sizes[1]:,}"))
    return table(("bytes", "float", "quantized"), rows, numbers=(1, 2))


def layer_table(layers: Iterable[LayerErrors]) -> str:
    """A row for each layer, with its histograms."""
    heads = ("layer", "SNR", "cosine", "largest error", "values", "weights")
    lines = [f"<table class='layers'><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>"]
    for row in layers:
        color = "low" if row.decibels < LOW else "mid" if row.decibels < 1.5 * LOW else ""
        weights = ""
        if row.weights is not None:
            before, after = row.weight_bytes
            weights = (
                f"{histogram(finite(row.weights))}<br>{before:,} to {after:,} bytes<br>"
                f"{row.weight_type.lower()}, {row.weight_decibels:.1f} dB"
            )
        name = f"<b>{escape(row.name)}</b><br>{escape(row.operator)}, {row.type}"
        hints = [f"<span class='advice'>{escape(words)}</span>" for words in row.advice]
        cells = (
            "<br>".join([name, *hints]),
            f"{row.decibels:.1f} dB",
            f"{row.cosine:.5f}",
            f"{row.max_abs:.3g}",
            histogram(finite(row.values), row.limits),
            weights,
        )
        columns = "".join(f"<td>{cell}</td>" for cell in cells)
        lines.append(f"<tr id='{anchor(row.name)}' class='{color}'>{columns}</tr>")
    return "\n".join([*lines, "</table>"])


def finite(values: np.ndarray) -> np.ndarray:
    """The finite elements."""
    flat = values.ravel()
    return flat[np.isfinite(flat)]


def legend() -> str:
    """What the colours of the drawing mean."""
    colors = {**COLORS, "other": OTHER}
    keys = (
        f"<span class='key' style='background: {color}'>{name.lower()}</span>"
        for name, color in colors.items()
    )
    return f"<p>Results of {''.join(keys)}</p>"


def drawing(model: Model, number: int, layers: Iterable[LayerErrors]) -> str:
    """The operators of a subgraph from top to bottom; lines to what is read farther down."""
    subgraph = model.subgraphs[number]
    layer_at = {row.place: row for row in layers}
    producer = {i: k for k, op in enumerate(subgraph.operators) for i in op.outputs}
    parts = []
    for k, op in enumerate(subgraph.operators):
        result = subgraph.tensors[op.outputs[0]] if op.outputs else None
        y, name = k * ROW, result.name if result is not None else ""
        color = COLORS.get(result.dtype if result is not None else "", OTHER)
        box = f'x="8" y="{y + 2}" width="540" height="{ROW - 6}" rx="4"'
        parts.append(f'<rect {box} fill="{color}" stroke="{GREY}"/>')
        kind = op.custom_code or op.op
        layer = layer_at.get((number, op.outputs[0])) if op.outputs else None
        noise = f"  {layer.decibels:.1f} dB" if layer is not None else ""
        words = text(16, y + ROW - 10, f"{kind}  {name[-48:]}{noise}")
        link = words if layer is None else f'<a href="#{anchor(layer.name)}">{words}</a>'
        parts.append(link)
        for i in op.inputs:
            before = producer.get(i)
            if before is None:
                continue
            if before == k - 1:
                parts.append(line(28, (before + 1) * ROW - 4, 28, y + 2))
                continue
            bend = min(560 + 14 * (k - before), WIDTH - 10)
            start, end = before * ROW + ROW / 2, y + ROW / 2
            path = f"M548 {start:.0f} C{bend} {start:.0f} {bend} {end:.0f} 548 {end:.0f}"
            parts.append(f'<path d="{path}" fill="none" stroke="{GREY}"/>')
    height = max(len(subgraph.operators), 1) * ROW
    name = escape(subgraph.name or "main")
    return f"<h3>{name}</h3><div class='graph'>{svg(WIDTH, height, parts)}</div>"


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    """A line."""
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{GREY}"/>'


def anchor(name: str) -> str:
    """What links to a layer say."""
    return "layer-" + "".join(c if c.isalnum() else "-" for c in name)


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[Any]],
    numbers: Sequence[int] = (),
    raw: Sequence[int] = (),
) -> str:
    """A table; columns `raw` are HTML already."""
    kinds = ["n" if i in numbers else "" for i in range(len(heads))]
    lines = [f"<th class='{kind}'>{escape(h)}</th>" for kind, h in zip(kinds, heads, strict=True)]
    body = []
    for row in rows:
        cells = [str(cell) if i in raw else escape(str(cell)) for i, cell in enumerate(row)]
        columns = (f"<td class='{k}'>{c}</td>" for k, c in zip(kinds, cells, strict=True))
        body.append(f"<tr>{''.join(columns)}</tr>")
    return f"<table><tr>{''.join(lines)}</tr>{''.join(body)}</table>"
