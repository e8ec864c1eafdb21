"""A page about a quantized model: what each layer loses, and what to change.

One file of HTML with everything in it; nothing is fetched.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..converter.quantize.accuracy.charts import BLUE, GREY, ORANGE, RED, histogram, svg, text
from ..converter.quantize.islands import MOST_STEPS, Island, is_recurrent
from ..converter.quantize.rules import NO_KERNEL
from ..converter.quantize.settings_recipe import recipe_of, with_algorithms
from ..schema.files import write_file
from ..schema.model import Model
from .called_layers import MOST_ITERATIONS
from .layer_errors import LOW, LayerErrors, layer_errors, weight_sizes

STYLE = """
:root {--line: #e3e6ea; --quiet: #5d6670; --blue: #3b6ea5}
body {font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; margin: 0; color: #1f2429;
      background: #f6f7f9}
main {max-width: 74em; margin: 0 auto; padding: 1.5em 1.5em 4em}
h1 {font-size: 1.7em; margin: 0} h3 {font-size: 1em; margin: 0.6em 0}
h2 {font-size: 1.15em; margin: 0 0 0.5em}
section {background: #fff; border: 1px solid var(--line); border-radius: 8px;
         padding: 1.1em 1.3em; margin: 1em 0; overflow-x: auto}
.about {color: var(--quiet); margin: 0.2em 0 0} .about b {color: #1f2429; font-weight: 600}
.tiles {display: grid; grid-template-columns: repeat(auto-fit, minmax(13em, 1fr)); gap: 1em;
        margin: 1em 0}
.tiles div {background: #fff; border: 1px solid var(--line); border-radius: 8px; padding: 1em 1.3em}
.tiles b {display: block; font-size: 1.7em; line-height: 1.25; color: var(--blue)}
.tiles span {color: var(--quiet); overflow-wrap: anywhere}
.tiles .low b {color: #b3312c} .tiles .mid b {color: #a86300}
table {border-collapse: collapse; width: 100%}
th {color: var(--quiet); font-weight: 600; font-size: 0.87em}
th, td {border-bottom: 1px solid var(--line); padding: 0.4em 1.2em 0.4em 0; text-align: left;
        vertical-align: top}
tr:last-child td {border-bottom: 0}
.layers td {white-space: nowrap}
.layers td:first-child {white-space: normal; overflow-wrap: anywhere; padding-left: 0.5em}
td.n, th.n {text-align: right; font-variant-numeric: tabular-nums}
tr.low {background: #fbe3e1} tr.mid {background: #fdf3d8} tr:target {outline: 2px solid var(--blue)}
.advice {color: #8a4b00} .quiet {color: var(--quiet)} a {color: var(--blue)}
.key {display: inline-block; border: 1px solid #8a8f98; border-radius: 4px; padding: 0 0.6em;
      margin-right: 0.6em}
.graph {max-height: 40em; overflow: auto}
@media print {body {background: #fff} section, .tiles div {break-inside: avoid}
              .graph {max-height: none}}
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
NOISE_TEXT = (
    "Signal to noise after each layer, in the order in which they run: where a bar is much lower "
    "than those before, that layer loses it. Bars lead to the rows below."
)
MASKED_TEXT = "a mask lies farther below than can be stored, and is cut off; compared above that"
ROW, WIDTH = 26, 860  # of the drawing
CHART_WIDTH, CHART_HEIGHT = 820, 150
BARS = {"": BLUE, "mid": ORANGE, "low": RED}


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
    graphs = (drawing(quantized.model, i, layers) for i in range(len(quantized.model.subgraphs)))
    sections = {
        "Outputs": outputs(converter),
        "Noise through the network": f"<p class='quiet'>{NOISE_TEXT}</p>{noise_chart(layers)}",
        "What to change": changes(worst, last.float_islands),
        "Float islands": islands(last),
        "Sizes": size_table(plain.model, quantized.model, sizes),
        "Layers": f"<p class='quiet'>{LAYERS_TEXT}</p>{layer_table(layers)}",
        "Graph": "\n".join([legend(), *graphs]),
    }
    parts = [
        "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>{escape(title(converter))}</title><style>{STYLE}</style></head><body><main>",
        "<h1>Quantization report</h1>",
        about(converter, len(layers)),
        tiles(converter, quantized.model, sizes, worst),
        *(f"<section><h2>{head}</h2>{body}</section>" for head, body in sections.items()),
        "</main></body></html>",
    ]
    return "\n".join(parts)


def title(converter: Any) -> str:
    """The name of the window."""
    path = converter._path
    return f"{Path(path).name}: quantization report" if path else "Quantization report"


def about(converter: Any, n_layers: int) -> str:
    """What was quantized, and how."""
    recipe = recipe_of(converter)
    words = [("model", "/".join(Path(converter._path).parts[-2:]))] if converter._path else []
    if recipe is not None:
        recipe = with_algorithms(recipe, converter) or recipe
        words.append(("scheme", ", then ".join(scheme.name for scheme in recipe.schemes)))
        if recipe.calibrates:
            words.append(("calibrator", recipe.calibrator.name))
        if recipe.algorithms:
            words.append(("algorithms", ", ".join(one.name for one in recipe.algorithms)))
    words += [("layers measured", str(n_layers)), ("by flatlite", __version__)]
    text = " &middot; ".join(f"{escape(name)} <b>{escape(value)}</b>" for name, value in words)
    return f"<p class='about'>{text}</p>"


def tiles(
    converter: Any, quantized: Model, sizes: tuple[int, int], worst: Sequence[LayerErrors]
) -> str:
    """The figures that tell most."""
    noise = [
        (value, name) for rows in converter.signal_to_noise.values() for name, value in rows.items()
    ]
    rows = []
    if noise:
        value, name = min(noise)
        words = f"'{name}', signal to noise: an error of {amplitude(value)}"
        rows.append((level(value), decibels_text(value), words))
    if worst:
        words = f"in the noisiest layer, {worst[0].name}"
        rows.append((level(worst[0].decibels), decibels_text(worst[0].decibels), words))
    words = f"the file, {sizes[1] / sizes[0]:.0%} of {sizes[0]:,} bytes in float"
    rows.append(("", f"{sizes[1]:,} bytes", words))
    types = [
        subgraph.tensors[op.outputs[0]].dtype
        for subgraph in quantized.subgraphs
        for op in subgraph.operators
        if op.outputs and op.op not in ("QUANTIZE", "DEQUANTIZE")
    ]
    n_integers = sum(name != "FLOAT32" for name in types)
    rows.append(("", f"{n_integers} of {len(types)}", "operators give integers"))
    cells = (
        f"<div class='{kind}'><b>{escape(value)}</b><span>{escape(words)}</span></div>"
        for kind, value, words in rows
    )
    return f"<div class='tiles'>{''.join(cells)}</div>"


def level(decibels: float) -> str:
    """How a figure is coloured: what is low, nearly low, or neither."""
    return "low" if decibels < LOW else "mid" if decibels < 1.5 * LOW else ""


def decibels_text(decibels: float) -> str:
    """A figure in words."""
    return "exact" if decibels == np.inf else f"{round(decibels, 1) + 0.0:.1f} dB"


def amplitude(decibels: float) -> str:
    """The error as a part of the signal."""
    return f"{100 * 10 ** (-decibels / 20):.2g} %"


def outputs(converter: Any) -> str:
    """The noise of the outputs."""
    rows = [
        (name, decibels_text(value), amplitude(value), converter.measured_on[key])
        for key, noise in converter.signal_to_noise.items()
        for name, value in noise.items()
    ]
    return table(("output", "signal to noise", "error", "measured on"), rows, numbers=(1, 2))


def noise_chart(layers: Sequence[LayerErrors]) -> str:
    """A bar for each layer, in the order in which they run."""
    finite_ones = [row.decibels for row in layers if np.isfinite(row.decibels)]
    top = max([60.0, *finite_ones])
    step = min(max(CHART_WIDTH / max(len(layers), 1), 4.0), 90.0)
    width = max(CHART_WIDTH, step * len(layers))

    def height(decibels: float) -> float:
        return float(np.clip(decibels / top, 0.01, 1)) * CHART_HEIGHT

    parts = []
    for value, words in ((LOW, "a tenth"), (2 * LOW, "a hundredth")):
        y = CHART_HEIGHT - height(value) + 8
        parts.append(line(0, y, width, y, "#c9ced4"))
        parts.append(text(width + 6, y + 4, f"{value:.0f} dB: an error of {words}"))
    for i, row in enumerate(layers):
        tall = height(row.decibels)
        box = f'x="{i * step + 1:.1f}" y="{CHART_HEIGHT - tall + 8:.1f}" width="{step - 2:.1f}"'
        words = escape(f"{row.name} ({row.operator}): {decibels_text(row.decibels)}")
        bar = f'<rect {box} height="{tall:.1f}" rx="1" fill="{BARS[level(row.decibels)]}">'
        parts.append(f'<a href="#{anchor(row.name)}">{bar}<title>{words}</title></rect></a>')
    parts.append(line(0, CHART_HEIGHT + 8, width, CHART_HEIGHT + 8))
    return svg(int(width) + 190, CHART_HEIGHT + 16, parts)


def changes(worst: Sequence[LayerErrors], float_islands: Sequence[Any]) -> str:
    """The advice of the layers that lose the most."""
    rows = [
        (
            f"<a href='#{anchor(row.name)}'>{escape(row.name)}</a>",
            decibels_text(row.decibels),
            words,
        )
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
        weights = ""
        if row.weights is not None:
            before, after = row.weight_bytes
            weights = (
                f"{histogram(finite(row.weights))}<br>{before:,} to {after:,} bytes<br>"
                f"{row.weight_type.lower()}, {row.weight_decibels:.1f} dB"
            )
        name = f"<b>{escape(row.name)}</b><br>{escape(row.operator)}, {row.type}"
        if row.is_masked:
            name += f"<br><span class='quiet'>{MASKED_TEXT}</span>"
        hints = [f"<span class='advice'>{escape(words)}</span>" for words in row.advice]
        cells = (
            "<br>".join([name, *hints]),
            decibels_text(row.decibels),
            f"{row.cosine:.5f}",
            f"{row.max_abs:.3g}",
            histogram(finite(row.values), row.limits),
            weights,
        )
        columns = "".join(f"<td>{cell}</td>" for cell in cells)
        lines.append(f"<tr id='{anchor(row.name)}' class='{level(row.decibels)}'>{columns}</tr>")
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
        noise = f"  {decibels_text(layer.decibels)}" if layer is not None else ""
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


def line(x1: float, y1: float, x2: float, y2: float, color: str = GREY) -> str:
    """A line."""
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{color}"/>'


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
