"""Further steps: vectors of sizes, computed counts and bounds, loops, nested branches."""

from __future__ import annotations

import numpy as np
from array_steps import (
    STEPS,
    along,
    doubled,
    filled_up,
    first_two,
    pad_multiple,
    padded,
    same,
    spatial_array,
    turned,
)
from program import Array, Program, Refused, Size
from size_steps import STEPS as SIZE_STEPS
from size_steps import at_most, comparison, either, size_up_to, within
from stored import values

REDUCED = {"prod": np.prod, "max": np.max, "min": np.min, "sum": np.sum}
EINSUMS = {
    1: ("i,i->i", "i,j->ij"),
    2: ("ij,kj->ik", "ij->ji", "ij->i", "ij,ij->j"),
    3: ("bij,bkj->bik", "bij->ijb", "bij->bj", "bij,bij->bi"),
    4: ("bhwc,bhwd->bcd", "bhwc,bxwc->bhx", "bhwc->bchw"),
}
"""Equations of an array and itself, by its rank."""


def part_of_shape(p: Program) -> Size:
    """The product, sum or extreme of neighbouring dimensions."""
    x = p.pick(2, 3, 4)
    first = p.rng.randrange(x.rank - 1)
    last = p.rng.randint(first + 2, x.rank)
    kind = p.rng.choice(list(REDUCED))
    handle = p.writer.reduce_sizes(kind, p.writer.shape_slice(x.handle, first, last))
    return p.size(handle, REDUCED[kind](np.stack(x.dims[first:last]), axis=0))


def of_two_shapes(p: Program) -> Size:
    """One element of two shapes in a row, which are brought to at least or at most a number."""
    x, y, w = p.pick(), p.pick(), p.writer
    if not x.rank or not y.rank:
        raise Refused
    both = w.join([w.shape_slice(a.handle, 0, a.rank) for a in (x, y)])
    k = p.literal()
    kind, function = p.rng.choice((("min", np.minimum), ("max", np.maximum)))
    at = p.rng.randrange(x.rank + y.rank)
    handle = w.element(w.integer(kind, both, k.handle), at)
    return p.size(handle, function([*x.dims, *y.dims][at], k.values))


def power_of_two(p: Program) -> Size:
    """The next one, by a loop that doubles."""
    n = p.any_dim()
    handle = p.writer.doubled_to(n.handle)
    return p.size(handle, 1 << np.ceil(np.log2(np.maximum(n.values, 1))).astype(np.int64))


def grown(p: Program) -> Array:
    """Every dimension padded to at least a number, at once."""
    x, least = p.pick(1, 2, 3), p.rng.choice((2, 3, 5, 8))
    handle = p.writer.pad_to(x.handle, x.rank, least)
    known = [None if k is None else max(k, least) for k in x.known]
    return p.array(handle, [np.maximum(d, least) for d in x.dims], known)


def squashed(p: Program) -> Array:
    """Neighbours become one dimension; the others are slices of the shape itself."""
    x, w = p.pick(2, 3, 4), p.writer
    first = p.rng.randrange(x.rank - 1)
    last = p.rng.randint(first + 2, x.rank)
    parts = [w.shape_slice(x.handle, 0, first)] if first else []
    parts.append(w.row(w.reduce_sizes("prod", w.shape_slice(x.handle, first, last))))
    if last < x.rank:
        parts.append(w.shape_slice(x.handle, last, x.rank))
    dims = [*x.dims[:first], np.prod(np.stack(x.dims[first:last]), axis=0), *x.dims[last:]]
    handle = w.reshape_to(x.handle, w.join(parts) if len(parts) > 1 else parts[0])
    return p.array(handle, dims, [*x.known[:first], None, *x.known[last:]])


def numbered(p: Program) -> Array:
    """Plus the number of each element: a range in the array's shape."""
    x, w = p.pick(1, 2, 3, 4), p.writer
    numbers = w.times(w.to_float(w.range(w.count(x.handle))), np.float32(0.0625))
    shape = w.shape_slice(x.handle, 0, x.rank)
    return p.array(w.plus(w.reshape_to(numbers, shape), x.handle), x.dims, x.known)


def largest(p: Program) -> Array:
    """The k largest of the last axis, k being computed."""
    x = p.pick(1, 2, 3)
    n = p.dim(x, x.rank - 1)
    p.require(n.values >= 1)
    k = at_most(p, size_up_to(p, 6), n)
    return along(p, x, x.rank - 1, p.writer.largest(x.handle, k.handle), k.values)


def backward_slice(p: Program) -> Array:
    """x[a:b:-c] with computed sides, Python's rules."""
    x = p.pick()
    axis = p.axis(x)
    step = p.rng.choice((-1, -1, -2, -3))
    sides = [either(p) if p.rng.random() < 0.6 else None for _ in range(2)]
    handles = [None if side is None else side.handle for side in sides]
    handle = p.writer.slice_backward(x.handle, x.rank, axis, *handles, step)
    count = [
        len(range(*slice(*(s and int(s.values[i]) for s in sides), step).indices(int(n))))
        for i, n in enumerate(x.dims[axis])
    ]
    p.require(np.int64(count) >= 1)
    return along(p, x, axis, handle, count)


def stretched(p: Program) -> Array:
    """A new axis, broadcast to a computed size where it stands."""
    x, w = p.pick(1, 2, 3), p.writer
    axis, count = p.rng.randrange(x.rank + 1), size_up_to(p, 4)
    dims = [p.dim(x, i).handle if k is None else k for i, k in enumerate(x.known)]
    dims.insert(axis, count.handle)
    handle = w.expand(w.unsqueeze(x.handle, axis), dims)
    shape, known = list(x.dims), list(x.known)
    shape.insert(axis, count.values)
    known.insert(axis, None)
    return p.array(handle, shape, known)


def conv_transposed(p: Program) -> Array:
    """Twice as large, or larger by the taps that do not overlap."""
    x, channel = spatial_array(p, 4)
    taps, padding = p.rng.choice((2, 3)), p.rng.choice(("SAME", "VALID"))
    n_in, n_out = x.known[channel], p.rng.choice((1, 2))
    weights = values((taps, taps, n_in, n_out), seed=p.rng.randrange(1000))
    w, sizes = p.writer, []
    dims, known = list(x.dims), list(x.known)
    for axis in w.spatial(x.rank):
        size = w.integer("mul", p.dim(x, axis).handle, w.number(2))
        if padding == "VALID":
            size = w.integer("add", size, w.number(taps - 2))
        sizes.append(size)
        dims[axis], known[axis] = 2 * dims[axis] + (padding == "VALID") * (taps - 2), None
    batch = p.dim(x, 0).handle if x.known[0] is None else x.known[0]
    dims[channel], known[channel] = np.full(p.alive.shape, n_out), n_out
    handle = w.conv_transposed(x.handle, weights, padding, batch, sizes)
    return p.array(handle, dims, known)


def to_depth(p: Program) -> Array:
    """Made even, then blocks of 2 x 2 become channels or, in TensorFlow, the batch."""
    x, channel = spatial_array(p, 4)
    w = p.writer
    for axis in w.spatial(4):
        x = pad_multiple(p, x, axis, p.number(2))
    dims, known = list(x.dims), list(x.known)
    for axis in w.spatial(4):
        dims[axis], known[axis] = dims[axis] // 2, None
    if w.kind == "tf" and p.rng.random() < 0.5:
        dims[0], known[0] = 4 * dims[0], None
        return p.array(w.space_to_batch(x.handle), dims, known)
    dims[channel], known[channel] = 4 * dims[channel], 4 * known[channel]
    return p.array(w.space_to_depth(x.handle), dims, known)


def einsum(p: Program) -> Array:
    x = p.pick(1, 2, 3, 4)
    equation = p.rng.choice(EINSUMS[x.rank])
    terms, _, result = equation.partition("->")
    of_letter: dict[str, tuple[np.ndarray, int | None]] = {}
    for term in terms.split(","):
        of_letter.update(zip(term, zip(x.dims, x.known, strict=True), strict=True))
    for d in x.dims:
        p.require(d >= 1)
    handle = p.writer.einsum(equation, [x.handle] * len(terms.split(",")))
    return p.array(handle, *zip(*(of_letter[letter] for letter in result), strict=True))


def one_hot(p: Program) -> Array:
    """A row for each place along an axis, as long as was computed."""
    n, depth, w = p.any_dim(), size_up_to(p, 9), p.writer
    k = p.rng.choice((2, 3, 7))
    ids = w.integer("mod", w.range(n.handle), w.number(k))
    return p.array(w.one_hot(ids, depth.handle), [n.values, depth.values])


def scattered(p: Program) -> Array:
    """The slices of an array behind a computed number of zeros, by their new places."""
    x, before, w = p.pick(1, 2, 3), size_up_to(p, 5), p.writer
    n = p.dim(x, 0)
    total = w.integer("add", n.handle, before.handle)
    dims = [p.dim(x, i).handle if k is None else k for i, k in enumerate(x.known)]
    indices = w.unsqueeze(w.integer("add", w.range(n.handle), before.handle), 1)
    handle = w.scatter(indices, x.handle, [total, *dims[1:]])
    return along(p, x, 0, handle, x.dims[0] + before.values)


def stepped(p: Program) -> Array:
    """Slices from a computed one on, each k-th, by a range of them."""
    x, w = p.pick(), p.writer
    axis, k = p.axis(x), p.rng.choice((1, 2, 3))
    n = p.dim(x, axis)
    first = within(p, either(p), 0, 6)
    count = np.maximum(-(-(n.values - first.values) // k), 0)
    p.require(count >= 1)
    indices = w.range_between(first.handle, n.handle, k)
    return along(p, x, axis, w.gather(x.handle, indices, axis), count)


def chosen_rows(p: Program) -> Array:
    """The slices at which a comparison of their places holds."""
    x, w = p.pick(), p.writer
    axis = p.axis(x)
    n, first = p.dim(x, axis), either(p)
    p.require(first.values < n.values)
    indices = w.compare("greater_equal", w.range(n.handle), first.handle)
    count = n.values - np.maximum(first.values, 0)
    return along(p, x, axis, w.gather(x.handle, w.where(indices), axis), count)


def mirrored(p: Program) -> Array:
    """Padded with what lies at its side, as far as there is something."""
    x, w = p.pick(1, 2, 3), p.writer
    axis = p.axis(x)
    n = p.dim(x, axis)
    p.require(n.values >= 1)
    least = w.integer("sub", n.handle, w.number(1))
    amount = at_most(p, size_up_to(p, 4), p.size(least, n.values - 1))
    handle = w.mirror_pad(x.handle, x.rank, axis, amount.handle)
    return along(p, x, axis, handle, n.values + amount.values)


def unequal_parts(p: Program) -> Array:
    """One of two parts, of which the first is as long as was computed."""
    x, w = p.pick(), p.writer
    axis = p.axis(x)
    n = p.dim(x, axis)
    first = at_most(p, within(p, either(p), 0, 40), n)
    left = p.size(w.integer("sub", n.handle, first.handle), n.values - first.values)
    which = p.rng.randrange(2)
    parts = w.parts(x.handle, axis, [first.handle, left.handle])
    return along(p, x, axis, parts[which], (first, left)[which].values)


def nested_branch(p: Program) -> Array:
    """An If in a branch of another one, on sizes of both."""
    x = p.pick(1, 2, 3, 4)
    axis = p.axis(x)
    outer, outer_holds = comparison(p)
    limit = p.rng.choice((2, 3, 5, 8))
    makers = [maker(p, x, axis) for maker in (same, doubled, padded, first_two, turned, filled_up)]
    one, two, three = p.rng.sample(makers, 3)

    def inner(w, h):
        condition = w.compare("greater", w.dim(h, axis, x.rank), w.number(limit))
        return w.cond(condition, [h], [one[1], two[1]])

    handle = p.writer.cond(outer, [x.handle], [inner, three[1]])
    inner_holds = x.dims[axis] > limit
    dims = [
        np.where(outer_holds, np.where(inner_holds, a, b), c)
        for a, b, c in zip(one[0], two[0], three[0], strict=True)
    ]
    return p.array(handle, dims)


def repeated(p: Program) -> Array:
    """A loop as often as a size says."""
    x = p.pick()
    count = within(p, either(p), 0, 5)
    return p.array(p.writer.loop(count.handle, x.handle), x.dims, x.known)


WIDER_SIZES = (*SIZE_STEPS, *(part_of_shape, of_two_shapes) * 2, power_of_two)
WIDER = {
    **STEPS,
    grown: 2,
    squashed: 3,
    numbered: 2,
    largest: 3,
    backward_slice: 4,
    stretched: 3,
    conv_transposed: 3,
    to_depth: 2,
    einsum: 4,
    one_hot: 2,
    scattered: 2,
    stepped: 3,
    chosen_rows: 2,
    mirrored: 3,
    unequal_parts: 3,
    nested_branch: 3,
    repeated: 2,
}
