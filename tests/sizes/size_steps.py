"""What a program computes from sizes: integers, comparisons, choices, floats on the way."""

from __future__ import annotations

import numpy as np
from program import Program, Size

COMPARISONS = {
    "greater": np.greater,
    "less": np.less,
    "greater_equal": np.greater_equal,
    "equal": np.equal,
}


def either(p: Program) -> Size:
    """A dimension, a number, or what was computed before."""
    choice = p.rng.random()
    if choice < 0.25:
        return p.literal()
    if choice < 0.55 and p.sizes:
        return p.rng.choice(p.sizes)
    return p.any_dim()


def sum_or_product(p: Program) -> Size:
    a, b = either(p), either(p)
    kind = p.rng.choice(("add", "sub", "sub", "mul"))
    values = {"add": a.values + b.values, "sub": a.values - b.values, "mul": a.values * b.values}
    return p.size(p.writer.integer(kind, a.handle, b.handle), values[kind])


def extreme(p: Program) -> Size:
    a, b = either(p), either(p)
    kind, function = p.rng.choice((("min", np.minimum), ("max", np.maximum)))
    return p.size(p.writer.integer(kind, a.handle, b.handle), function(a.values, b.values))


def divided(p: Program) -> Size:
    """A quotient or a remainder, of negative numbers too, by what is never 0."""
    a = either(p)
    if p.rng.random() < 0.3:
        a = p.size(p.writer.negative(a.handle), -a.values)
    b = p.literal() if p.rng.random() < 0.7 else p.any_dim()
    kind = p.rng.choice(("div", "div", "mod"))
    p.require(b.values > 0)
    divisor = np.maximum(b.values, 1)
    values = p.writer.quotient(a.values, divisor) if kind == "div" else a.values % divisor
    return p.size(p.writer.integer(kind, a.handle, b.handle), values)


def rounded_up(p: Program) -> Size:
    """(n + k - 1) // k"""
    n, k = p.any_dim(), p.literal()
    if p.rng.random() < 0.5:
        more = p.writer.integer("add", n.handle, p.writer.number(int(k.values[0]) - 1))
        return p.size(p.writer.integer("div", more, k.handle), -(-n.values // k.values))
    part = p.writer.integer("mod", p.writer.negative(n.handle), k.handle)
    total = n.values + (-n.values) % k.values
    return p.size(p.writer.integer("add", n.handle, part), total)


def through_floats(p: Program) -> Size:
    """floor or ceil of a size times a fraction that float32 holds."""
    n, factor = p.any_dim(), p.rng.choice((0.5, 0.25, 0.75, 1.5, 2.0))
    kind, function = p.rng.choice((("floor", np.floor), ("ceil", np.ceil)))
    x = p.writer.times(p.writer.to_float(n.handle), np.float32(factor))
    handle = p.writer.to_int(p.writer.rounded(kind, x))
    return p.size(handle, function(n.values * factor).astype(np.int64))


def ratio(p: Program) -> Size:
    """int(float(a) * (float(m) / float(b))), as sizes of images are computed."""
    a, m, b = p.any_dim(), either(p), p.any_dim()
    p.require((b.values > 0) & (m.values >= 0))
    share = np.float32(m.values) / np.float32(np.maximum(b.values, 1))
    values = np.trunc(np.float32(a.values) * share)
    w = p.writer
    quotient = w.over(w.to_float(m.handle), w.to_float(b.handle))
    handle = w.to_int(w.times(w.to_float(a.handle), quotient))
    return p.size(handle, np.clip(values, -1e9, 1e9).astype(np.int64))


def comparison(p: Program):
    """(handle, values) of a comparison of two sizes."""
    a, b = p.any_dim(), either(p)
    kind = p.rng.choice(list(COMPARISONS))
    handle = p.writer.compare(kind, a.handle, b.handle)
    return handle, COMPARISONS[kind](a.values, b.values)


def chosen(p: Program) -> Size:
    condition, holds = comparison(p)
    a, b = either(p), either(p)
    return p.size(
        p.writer.select(condition, a.handle, b.handle), np.where(holds, a.values, b.values)
    )


def counted(p: Program) -> Size:
    """The number of elements of an array."""
    x = p.pick()
    total = np.ones(p.alive.shape, np.int64)
    for d in x.dims:
        total = total * d
    return p.size(p.writer.count(x.handle), total)


STEPS = (
    sum_or_product,
    sum_or_product,
    extreme,
    extreme,
    divided,
    divided,
    rounded_up,
    through_floats,
    ratio,
    chosen,
    counted,
)


def compute(p: Program, steps=STEPS) -> Size:
    """One more size."""
    size = p.rng.choice(steps)(p)
    p.sizes.append(size)
    return size


def within(p: Program, size: Size, low: int, high: int) -> Size:
    """A size cut to [low, high]."""
    w = p.writer
    handle = w.integer("max", w.integer("min", size.handle, w.number(high)), w.number(low))
    return p.size(handle, np.clip(size.values, low, high))


def size_up_to(p: Program, high: int = 24) -> Size:
    """What an array's new dimension may be: 1 or more, and not too many."""
    for _ in range(4):
        size = either(p)
        if p.always((size.values >= 1) & (size.values <= high)):
            return size
    return within(p, size, 1, high)


def at_most(p: Program, size: Size, other: Size) -> Size:
    """The smaller of two."""
    handle = p.writer.integer("min", size.handle, other.handle)
    return p.size(handle, np.minimum(size.values, other.values))
