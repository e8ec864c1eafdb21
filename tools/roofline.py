"""How near operators come to what the machine can do at most (engine/machine.py).

An operator takes at least as long as its products, each added to a sum, and as reading its operands
and writing its results once. What it takes of that is its share of the limit: what is missing to
100 % is packing, requantization, other steps on numbers, threads that wait, or caches missed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import log10, prod
from typing import Any, NamedTuple

import numpy as np

from ..converter.quantize.accuracy.charts import BLUE, GREY, ORANGE, RED, svg, text
from ..engine.machine import Limits
from ..interpreter.interpreter import Interpreter
from ..schema.operators import operator

MEMORY = "memory"
_WIDTH, _HEIGHT, _MARGIN = 720, 420, 56
_COLORS = {"float32": BLUE, "int8": ORANGE, "int16": RED}


class Work(NamedTuple):
    """What an operator does at least.

    Attributes:
        kind: of the numbers it multiplies: "float32", "int8" or "int16"; an operand of float32 that
            is rounded to int8 first counts as int8.
        products: how many are added up; 0 for all but convolutions, matrix products and recurrent
            layers.
        n_bytes: of operands and results.
    """

    kind: str
    products: int
    n_bytes: int


def work_of(interpreter: Interpreter, position: int) -> Work:
    """The work of an operator of the first subgraph, at the shapes it has now."""
    details = interpreter._get_op_details(position)
    operands, results = (list(map(int, details[ends])) for ends in ("inputs", "outputs"))
    present = [t for t in (*operands, *results) if t >= 0]  # those left out are -1
    tensors = {t: interpreter._get_tensor_details(t, 0) for t in present}
    shapes = {t: tuple(map(int, tensor["shape"])) for t, tensor in tensors.items()}
    sizes = {t: _bytes_of(interpreter, t, shapes[t]) for t in tensors}
    written = sum(sizes[t] for t in results if t >= 0)
    read = {t: sizes[t] for t in operands if t >= 0}
    row, products = operator(details["op_name"]), 0
    if row is not None:
        if "moves" in row.traits:  # a part of an operand may be enough
            read = {t: min(size, written) for t, size in read.items()}
        operand_shapes = [shapes.get(t) for t in operands]
        products = row.products(operand_shapes, [shapes[t] for t in results if t >= 0])
    types = [np.dtype(tensors[t]["dtype"]).name for t in read]
    return Work(_kind(types), products, sum(read.values()) + written)


def _kind(types: Sequence[str]) -> str:
    """The numbers an operator with operands of these types multiplies."""
    if "int16" in types:
        return "int16"
    return "int8" if "int8" in types or "uint8" in types else "float32"


def _bytes_of(interpreter: Interpreter, tensor: int, shape: Sequence[int]) -> int:
    spec = interpreter._model.subgraph(0).tensors[tensor]
    bits = spec.bits or 8 * spec.dtype.itemsize
    return -(-prod(shape) * bits // 8)


def roofline_rows(
    interpreter: Interpreter, rows: Sequence[Mapping[str, Any]], limits: Limits
) -> list[dict[str, Any]]:
    """The rows of `timing.profile_rows` with their work and their share of the limit.

    To each come `products`, `bytes`, `numbers` (what kind is multiplied), `limit_ms` (the least
    time it could take), `limited_by` ("products" or "memory") and `of_limit` (that time's part of
    the measured one). Operators of delegates' partitions have no row.
    """
    n_operators = len(interpreter._get_ops_details())
    result = []
    for row in rows:
        if not 0 <= row["index"] < n_operators:
            continue
        work = work_of(interpreter, row["index"])
        by_products = work.products / limits.products[work.kind]
        least = limits.seconds(work.kind, work.products, work.n_bytes)
        result.append(
            {
                **row,
                "products": work.products,
                "bytes": work.n_bytes,
                "numbers": work.kind if work.products else "",
                "limit_ms": 1e3 * least,
                "limited_by": "products" if work.products and by_products >= least else MEMORY,
                "of_limit": 1e3 * least / row["ms"] if row["ms"] else 1.0,
            }
        )
    return result


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """All rows together: products and bytes per second, the least time, its share."""
    seconds = sum(row["ms"] for row in rows) / 1e3 or 1.0
    least = sum(row["limit_ms"] for row in rows)
    return {
        "giga_products_per_second": sum(row["products"] for row in rows) / seconds / 1e9,
        "gigabytes_per_second": sum(row["bytes"] for row in rows) / seconds / 1e9,
        "limit_ms": least,
        "of_limit": least / (1e3 * seconds),
    }


def picture(rows: Sequence[Mapping[str, Any]], limits: Limits, title: str) -> str:
    """The roofline as SVG: products per second over products per byte, both logarithmic.

    The slanted roofs are reading from the nearest and from the farthest memory, the level ones
    products of each kind that occurs. A point is an operator that has products; its area is its
    share of the time.
    """
    points = [row for row in rows if row["products"] and row["ms"]]
    others = sum(row["share"] for row in rows if not row["products"])
    roofs = {kind: limits.products[kind] for kind in _COLORS if _occurs(points, kind)}
    bandwidths = {"near": limits.bandwidth[0][1], "far": limits.bandwidth[-1][1]}
    points_drawn = [
        (row["products"] / row["bytes"], 1e3 * row["products"] / row["ms"]) for row in points
    ]
    highest = max([*roofs.values(), *(y for _, y in points_drawn), 1e9])
    lowest = min([y for _, y in points_drawn] + [highest / 1e3])
    left = min([x for x, _ in points_drawn] + [0.1])
    right = max([x for x, _ in points_drawn] + [2 * highest / bandwidths["far"]])
    axes = _Axes((left / 2, 2 * right), (lowest / 2, 2 * highest))
    parts = axes.frame()
    for name, rate in bandwidths.items():
        ends = (axes.low_x, min(axes.high_x, highest / rate))
        parts.append(axes.line([(x, x * rate) for x in ends], GREY))
        parts.append(axes.note(ends[0], ends[0] * rate, f"{name} memory, {rate / 1e9:.0f} GB/s"))
    for kind, rate in roofs.items():
        start = max(axes.low_x, rate / bandwidths["near"])
        parts.append(axes.line([(start, rate), (axes.high_x, rate)], _COLORS[kind]))
        parts.append(axes.note(axes.high_x, rate, f"{kind}, {rate / 1e9:.0f} G/s", "end"))
    for row, (x, y) in sorted(
        zip(points, points_drawn, strict=True), key=lambda pair: -pair[0]["share"]
    ):
        label = f"{row['index']} {row['operator']} {row['name']}: {row['ms']:.3g} ms, "
        label += f"{row['of_limit']:.0%} of the limit"
        parts.append(axes.point(x, y, row["share"], _COLORS[row["numbers"]], label))
    parts.append(text(_MARGIN, 16, title, size=13))
    parts.append(text(_WIDTH - 8, 16, f"without products: {others:.0%} of the time", "end"))
    return svg(_WIDTH, _HEIGHT, parts)


def _occurs(points: Iterable[Mapping[str, Any]], kind: str) -> bool:
    return any(row["numbers"] == kind for row in points)


class _Axes:
    """Two logarithmic axes."""

    def __init__(self, xs: tuple[float, float], ys: tuple[float, float]) -> None:
        (self.low_x, self.high_x), (self.low_y, self.high_y) = xs, ys

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Where a point lies, within the frame."""
        across = log10(x / self.low_x) / log10(self.high_x / self.low_x)
        up = log10(y / self.low_y) / log10(self.high_y / self.low_y)
        width, height = _WIDTH - _MARGIN - 8, _HEIGHT - _MARGIN - 28
        up = min(max(up, 0.0), 1.0)
        return _MARGIN + across * width, 28 + (1 - up) * height

    def frame(self) -> list[str]:
        """The frame, with a line for each power of ten."""
        left, top = self.place(self.low_x, self.high_y)
        right, bottom = self.place(self.high_x, self.low_y)
        size = f'width="{right - left:.1f}" height="{bottom - top:.1f}"'
        parts = [f'<rect x="{left}" y="{top}" {size} fill="none" stroke="{GREY}"/>']
        for x in _powers(self.low_x, self.high_x):
            at, _ = self.place(x, self.low_y)
            parts.append(_segment((at, bottom), (at, top), "#eee"))
            parts.append(text(at, bottom + 14, f"{x:g}", "middle"))
        for y in _powers(self.low_y, self.high_y):
            _, at = self.place(self.low_x, y)
            parts.append(_segment((left, at), (right, at), "#eee"))
            parts.append(text(left - 4, at + 4, f"{y / 1e9:g}", "end"))
        parts.append(text((left + right) / 2, _HEIGHT - 8, "products per byte", "middle"))
        parts.append(text(4, 28, "G products/s"))
        return parts

    def line(self, points: Sequence[tuple[float, float]], color: str) -> str:
        """A straight line."""
        start, end = (self.place(*point) for point in points)
        return _segment(start, end, color)

    def note(self, x: float, y: float, words: str, anchor: str = "start") -> str:
        """Words just above a point."""
        across, down = self.place(x, y)
        return text(across + (4 if anchor == "start" else -4), down - 5, words, anchor, 10)

    def point(self, x: float, y: float, share: float, color: str, label: str) -> str:
        """A circle that says something when it is pointed at."""
        across, down = self.place(x, y)
        radius = 2.5 + 30 * share**0.5
        circle = f'<circle cx="{across:.1f}" cy="{down:.1f}" r="{radius:.1f}" fill="{color}" '
        return f'{circle}fill-opacity="0.45"><title>{escape(label)}</title></circle>'


def _segment(start: tuple[float, float], end: tuple[float, float], color: str) -> str:
    ends = f'x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
    return f'<line {ends} stroke="{color}"/>'


def _powers(low: float, high: float) -> list[float]:
    """The powers of ten between two numbers."""
    powers = [10.0**n for n in range(-6, 16)]
    return [power for power in powers if low <= power <= high]
