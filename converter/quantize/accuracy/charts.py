"""Pictures as SVG text, for pages that need nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

BLUE, ORANGE, GREY, RED = "#3b6ea5", "#d9822b", "#8a8f98", "#b3312c"
MARGIN = 52  # of a scatter, for its axes


class Point(NamedTuple):
    """A point of a scatter.

    Attributes:
        x, y: where.
        label: what is said of it when it is pointed at.
        is_marked: whether it is on the line.
        name: what stands beside it there.
    """

    x: float
    y: float
    label: str
    is_marked: bool
    name: str = ""


def svg(width: int, height: int, parts: Sequence[str]) -> str:
    """A picture of some elements."""
    box = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{"".join(parts)}</svg>'


def text(x: float, y: float, words: str, anchor: str = "start", size: int = 11) -> str:
    """Words at a place."""
    style = f'font-family="sans-serif" font-size="{size}" text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style} fill="#333">{escape(words)}</text>'


def histogram(
    values: np.ndarray,
    limits: tuple[float, float] | None = None,
    width: int = 220,
    height: int = 56,
    bins: int = 64,
) -> str:
    """How often values occur, on a logarithmic scale.

    Args:
        values: finite numbers.
        limits: what can be stored; shown as two lines.
        width, height: of the picture.
        bins: how many intervals there are.
    """
    if not values.size:
        return svg(width, height, [text(4, height / 2, "no elements")])
    low, high = float(values.min()), float(values.max())
    if limits is not None:
        low, high = min(low, limits[0]), max(high, limits[1])
    high = high if high > low else low + 1.0
    counts, _ = np.histogram(values, bins, (low, high))
    tall = np.log1p(counts) / max(float(np.log1p(counts.max())), 1e-9) * (height - 14)
    step = width / bins
    parts = [
        f'<rect x="{i * step:.2f}" y="{height - 12 - h:.2f}" width="{step:.2f}" '
        f'height="{h:.2f}" fill="{BLUE}"/>'
        for i, h in enumerate(tall)
        if h
    ]
    for limit in limits or ():
        x = (limit - low) / (high - low) * width
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height - 12}" stroke="{ORANGE}"/>'
        )
    parts.append(text(0, height - 1, f"{low:.3g}", size=9))
    parts.append(text(width, height - 1, f"{high:.3g}", "end", 9))
    return svg(width, height, parts)


def scatter(
    points: Sequence[Point], x_name: str, y_name: str, lines: Mapping[str, float] | None = None
) -> str:
    """Points, a line through those that are marked, and horizontal lines by their names."""
    width, height = 520, 320
    lines = lines or {}
    xs, ys = np.array([p.x for p in points]), np.array([*(p.y for p in points), *lines.values()])

    def extent(values: np.ndarray) -> tuple[float, float]:
        low, high = float(values.min()), float(values.max())
        pad = 0.05 * (high - low) or max(abs(high) * 0.05, 1e-6)
        return low - pad, high + pad

    (left, right), (bottom, top) = extent(xs), extent(ys)

    def place(x: float, y: float) -> tuple[float, float]:
        across = MARGIN + (x - left) / (right - left) * (width - MARGIN - 8)
        return across, (height - MARGIN) - (y - bottom) / (top - bottom) * (height - MARGIN - 8)

    frame = f'width="{width - MARGIN - 8}" height="{height - MARGIN - 8}"'
    parts = [f'<rect x="{MARGIN}" y="8" {frame} fill="#fff" stroke="{GREY}"/>']
    highest = max(lines.values(), default=0.0)
    for name, y in lines.items():
        _, at = place(left, y)
        ends = f'x1="{MARGIN}" x2="{width - 8}" y1="{at:.1f}" y2="{at:.1f}"'
        parts.append(f'<line {ends} stroke="{RED}" stroke-dasharray="4 3"/>')
        beside = at - 3 if y == highest else at + 10  # lines may lie close together
        parts.append(text(width - 12, beside, f"{name} {y:.4g}", "end", 9))
    marked = sorted((p for p in points if p.is_marked), key=lambda p: p.x)
    path = " ".join("{:.1f},{:.1f}".format(*place(p.x, p.y)) for p in marked)
    parts.append(f'<polyline points="{path}" fill="none" stroke="{BLUE}"/>')
    for point in points:
        x, y = place(point.x, point.y)
        color = BLUE if point.is_marked else GREY
        circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{color}">'
        parts.append(f"{circle}<title>{escape(point.label)}</title></circle>")
        if point.is_marked and point.name:
            side, anchor = (9, "start") if x < width / 2 else (-9, "end")
            parts.append(text(x + side, y + 14, point.name, anchor, 9))
    parts.append(text(MARGIN, height - MARGIN + 16, f"{xs.min():.4g}"))
    parts.append(text(width - 8, height - MARGIN + 16, f"{xs.max():.4g}", "end"))
    parts.append(text(width / 2, height - 8, x_name, "middle"))
    parts += [text(2, place(left, y)[1] + 4, f"{y + 0.0:.3g}") for y in (ys.min(), ys.max())]
    parts.append(text(2, height / 2, y_name))
    return svg(width, height, parts)
