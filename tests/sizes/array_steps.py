"""What a program does to arrays: slices, paddings, reshapes, convolutions, with computed sizes."""

from __future__ import annotations

import numpy as np
from program import Array, Program, Refused, Size
from size_steps import at_most, comparison, either, size_up_to
from stored import values


def replaced(items, axis, item) -> list:
    """The items with another one at a position."""
    changed = list(items)
    changed[axis] = item
    return changed


def along(p: Program, x: Array, axis: int, handle, dim, known=None) -> Array:
    """`handle` as x with another dimension along one axis."""
    dims = replaced(x.dims, axis, dim)
    return p.array(handle, dims, replaced(x.known, axis, known))


def pairs(p: Program, x: Array, axis: int, before, after) -> list:
    return replaced([(0, 0)] * x.rank, axis, (before, after))


def pad_multiple(p: Program, x: Array | None = None, axis=None, k: Size | None = None) -> Array:
    """After the last: (-n) % k or (k - n % k) % k."""
    x = p.pick() if x is None else x
    axis = p.axis(x) if axis is None else axis
    n = p.dim(x, axis)
    k = p.number(p.rng.choice((2, 3, 4, 5, 8))) if k is None else k
    w = p.writer
    if p.rng.random() < 0.6:
        amount = w.integer("mod", w.negative(n.handle), k.handle)
    else:
        over = w.integer("mod", n.handle, k.handle)
        amount = w.integer("mod", w.integer("sub", k.handle, over), k.handle)
    handle = w.pad(x.handle, pairs(p, x, axis, 0, amount))
    return along(p, x, axis, handle, n.values + (-n.values) % k.values)


def letterbox(p: Program) -> Array:
    """Padded on both sides to what is at least as long."""
    x = p.pick()
    axis = p.axis(x)
    n, target, w = p.dim(x, axis), either(p), p.writer
    longer = np.maximum(target.values, n.values)
    p.require(longer <= 1200)
    total = w.integer("sub", w.integer("max", target.handle, n.handle), n.handle)
    before = w.integer("div", total, w.number(2))
    after = w.integer("sub", total, before)
    return along(p, x, axis, w.pad(x.handle, pairs(p, x, axis, before, after)), longer)


def pad_fixed(p: Program) -> Array:
    x = p.pick()
    axis = p.axis(x)
    before, after = p.rng.randrange(3), p.rng.randrange(3)
    handle = p.writer.pad(x.handle, pairs(p, x, axis, before, after))
    known = None if x.known[axis] is None else x.known[axis] + before + after
    return along(p, x, axis, handle, x.dims[axis] + before + after, known)


def pad_computed(p: Program) -> Array:
    """Any size on one side; it must not be negative."""
    x = p.pick()
    axis, amount = p.axis(x), either(p)
    p.require((amount.values >= 0) & (amount.values <= 300))
    sides = (amount.handle, 0) if p.rng.random() < 0.5 else (0, amount.handle)
    handle = p.writer.pad(x.handle, pairs(p, x, axis, *sides))
    return along(p, x, axis, handle, x.dims[axis] + amount.values)


def centre_crop(p: Program) -> Array:
    x = p.pick()
    axis, w = p.axis(x), p.writer
    n, target = p.dim(x, axis), either(p)
    p.require(target.values >= 0)
    if p.rng.random() < 0.6 or not p.always(target.values <= n.values):
        target = at_most(p, target, n)
    begin = w.integer("div", w.integer("sub", n.handle, target.handle), w.number(2))
    if p.rng.random() < 0.5:
        handle = w.part(x.handle, x.rank, axis, begin, target.handle)
    else:
        end = w.integer("add", begin, target.handle)
        handle = w.slice(x.handle, x.rank, axis, begin, end, 1)
    return along(p, x, axis, handle, target.values)


def python_slice(p: Program) -> Array:
    """x[a:b:c] with Python's rules for sides that are negative, too far or open."""
    x = p.pick()
    axis = p.axis(x)
    step = p.rng.choice((1, 1, 1, 2, 3))
    sides: list[Size | None] = [None, None]
    for i in range(2):
        choice = p.rng.random()
        if choice < 0.4:
            sides[i] = either(p)
        elif choice < 0.65:
            sides[i] = p.number(p.rng.choice((-3, -2, -1, 1, 2)))
    handles = [None if side is None else side.handle for side in sides]
    handle = p.writer.slice(x.handle, x.rank, axis, *handles, step)
    count = [
        len(range(*slice(*(s and int(s.values[i]) for s in sides), step).indices(int(n))))
        for i, n in enumerate(x.dims[axis])
    ]
    p.require(np.int64(count) >= 1)
    return along(p, x, axis, handle, count)


def merge(p: Program) -> Array:
    """Two neighbours become one dimension: their product, or -1."""
    x = p.pick(2, 3, 4)
    i, w = p.rng.randrange(x.rank - 1), p.writer
    product = x.dims[i] * x.dims[i + 1]
    dims, known = [], []
    for axis in range(x.rank):
        if axis == i + 1:
            continue
        if axis == i:
            a, b = p.dim(x, i), p.dim(x, i + 1)
            dims.append(w.integer("mul", a.handle, b.handle))
            known.append(None)
        else:
            number = x.known[axis]
            dims.append(p.dim(x, axis).handle if number is None else number)
            known.append(number)
    if p.rng.random() < 0.4:
        others = [p.always(x.dims[a] > 0) for a in range(x.rank) if a not in (i, i + 1)]
        if all(others):
            dims[i] = -1
    shape = [*x.dims[:i], product, *x.dims[i + 2 :]]
    return p.array(w.reshape(x.handle, dims, {}), shape, known)


def split(p: Program) -> Array:
    """n becomes [n // k, k], after padding or where k divides n."""
    x = p.pick(1, 2, 3)
    axis, w = p.axis(x), p.writer
    k = p.number(p.rng.choice((2, 3, 4)))
    if p.rng.random() < 0.7:
        x = pad_multiple(p, x, axis, k)
    p.require(x.dims[axis] % k.values == 0)
    n = p.dim(x, axis)
    parts = [w.integer("div", n.handle, k.handle), int(k.values[0])]
    free = [a for a in range(x.rank) if a != axis]
    dims = {a: p.dim(x, a).handle if x.known[a] is None else x.known[a] for a in free}
    if all(p.always(x.dims[a] > 0) for a in free) and p.rng.random() < 0.4:
        parts[0] = -1
    items = [*(dims[a] for a in range(axis)), *parts, *(dims[a] for a in range(axis + 1, x.rank))]
    shape = [*x.dims[:axis], n.values // k.values, k.values, *x.dims[axis + 1 :]]
    known = [*x.known[:axis], None, parts[1], *x.known[axis + 1 :]]
    copied = {a: a for a in range(axis)}
    return p.array(w.reshape(x.handle, items, copied), shape, known)


def rows(p: Program) -> Array:
    """[-1, the last dimension], [the first, -1] or [-1]."""
    x = p.pick(2, 3, 4)
    w, kind = p.writer, p.rng.randrange(3)
    total = np.prod(np.stack(x.dims), axis=0)
    if kind == 0:
        p.require(x.dims[-1] > 0)
        last = x.known[-1] or p.dim(x, x.rank - 1).handle
        shape, dims, known = (
            (total // np.maximum(x.dims[-1], 1), x.dims[-1]),
            [-1, last],
            x.known[-1],
        )
        return p.array(w.reshape(x.handle, dims, {}), shape, (None, known))
    if kind == 1:
        p.require(x.dims[0] > 0)
        first = x.known[0] or p.dim(x, 0).handle
        shape = (x.dims[0], total // np.maximum(x.dims[0], 1))
        return p.array(w.reshape(x.handle, [first, -1], {0: 0}), shape, (x.known[0], None))
    return p.array(w.reshape(x.handle, [-1], {}), (total,))


def transpose(p: Program) -> Array:
    x = p.pick(2, 3, 4)
    order = list(range(x.rank))
    p.rng.shuffle(order)
    handle = p.writer.transpose(x.handle, order)
    return p.array(handle, [x.dims[i] for i in order], [x.known[i] for i in order])


def tile(p: Program) -> Array:
    x = p.pick()
    axis, count = p.axis(x), size_up_to(p, 3)
    handle = p.writer.tile(x.handle, replaced([1] * x.rank, axis, count.handle))
    return along(p, x, axis, handle, x.dims[axis] * count.values)


def concat(p: Program) -> Array:
    """With another array, or with a part of itself."""
    x = p.pick()
    axis = p.axis(x)
    others = [
        y
        for y in p.arrays
        if y.rank == x.rank
        and all(p.always(x.dims[i] == y.dims[i]) for i in range(x.rank) if i != axis)
    ]
    y = p.rng.choice(others)
    xs = [x, y] if p.rng.random() < 0.5 else [y, x]
    handle = p.writer.concat([a.handle for a in xs], axis)
    known = [
        None if i == axis else (x.known[i] if x.known[i] is not None else y.known[i])
        for i in range(x.rank)
    ]
    return p.array(handle, replaced(x.dims, axis, x.dims[axis] + y.dims[axis]), known)


def filled(p: Program) -> Array:
    """Zeros or ones of a computed shape before or behind an array."""
    x = p.pick(1, 2, 3)
    axis, count, w = p.axis(x), size_up_to(p, 6), p.writer
    dims = [
        count.handle if i == axis else (p.dim(x, i).handle if x.known[i] is None else x.known[i])
        for i in range(x.rank)
    ]
    block = w.fill(dims, p.rng.choice((0.0, 1.0, -2.5)))
    xs = [block, x.handle] if p.rng.random() < 0.5 else [x.handle, block]
    return along(p, x, axis, w.concat(xs, axis), x.dims[axis] + count.values)


def expand(p: Program) -> Array:
    """Broadcast to a computed shape with one more dimension in front."""
    x, w = p.pick(1, 2, 3), p.writer
    count = size_up_to(p, 4)
    dims = [p.dim(x, i).handle if k is None else k for i, k in enumerate(x.known)]
    handle = w.expand(x.handle, [count.handle, *dims])
    return p.array(handle, [count.values, *x.dims], [None, *x.known])


def new_axis(p: Program) -> Array:
    """A dimension of 1 that comes, or one that goes."""
    x, w = p.pick(), p.writer
    ones = [axis for axis in range(x.rank) if p.always(x.dims[axis] == 1)]
    if ones and p.rng.random() < 0.5:
        axis = p.rng.choice(ones)
        left = [i for i in range(x.rank) if i != axis]
        handle = w.squeeze(x.handle, axis)
        return p.array(handle, [x.dims[i] for i in left], [x.known[i] for i in left])
    if x.rank > 3:
        raise Refused
    axis = p.rng.randrange(x.rank + 1)
    dims = [*x.dims[:axis], np.ones(p.alive.shape, np.int64), *x.dims[axis:]]
    return p.array(w.unsqueeze(x.handle, axis), dims, [*x.known[:axis], 1, *x.known[axis:]])


def halves(p: Program) -> Array:
    """The second of two equal parts, made even before."""
    if p.writer.kind == "onnx":  # its parts may be unequal where the size is unknown
        raise Refused
    x = p.pick()
    axis = p.axis(x)
    x = pad_multiple(p, x, axis, p.number(2))
    return along(p, x, axis, p.writer.halves(x.handle, axis)[1], x.dims[axis] // 2)


def positions(p: Program) -> Array:
    """Adds to each element its place along an axis."""
    x = p.pick(1, 2, 3, 4)
    axis, w = p.axis(x), p.writer
    n = p.dim(x, axis)
    places = w.times(w.to_float(w.range(n.handle)), np.float32(0.125))
    if axis < x.rank - 1:
        places = w.reshape(places, [n.handle] + [1] * (x.rank - axis - 1), {})
    return p.array(w.plus(x.handle, places), x.dims, x.known)


def gather(p: Program) -> Array:
    """Every other slice, or the last one, by computed indices."""
    x = p.pick()
    axis, w = p.axis(x), p.writer
    n = p.dim(x, axis)
    if p.rng.random() < 0.5:
        p.require(n.values >= 1)
        last = w.integer("sub", n.handle, w.number(1))
        dims = [*x.dims[:axis], *x.dims[axis + 1 :]]
        known = [*x.known[:axis], *x.known[axis + 1 :]]
        return p.array(w.gather(x.handle, last, axis), dims, known)
    k = p.number(p.rng.choice((2, 3)))
    count = w.integer("div", n.handle, k.handle)
    indices = w.integer("mul", w.range(count), k.handle)
    p.require(n.values >= k.values)
    return along(p, x, axis, w.gather(x.handle, indices, axis), n.values // k.values)


def broadcast(p: Program) -> Array:
    """A sum or product of two arrays whose shapes go together."""
    x, y = p.pick(), p.pick()
    if p.rng.random() < 0.5:
        y = p.rng.choice(p.arrays)
    rank = max(x.rank, y.rank)
    one = np.ones(p.alive.shape, np.int64)
    a = [one] * (rank - x.rank) + list(x.dims)
    b = [one] * (rank - y.rank) + list(y.dims)
    for m, n in zip(a, b, strict=True):
        p.require((m == n) | (m == 1) | (n == 1))
    dims = [np.where(m == 1, n, m) for m, n in zip(a, b, strict=True)]
    known = [None] * (rank - x.rank) + list(x.known)
    known = [k if k != 1 else None for k in known]
    function = p.rng.choice((p.writer.plus, p.writer.times))
    return p.array(function(x.handle, y.handle), dims, known)


def matmul(p: Program) -> Array:
    """With itself turned, or with an array whose inner dimension is the same."""
    x = p.pick(2, 3)
    if p.rng.random() < 0.5:
        handle = p.writer.matmul(x.handle, x.handle, x.rank, True)
        return p.array(handle, [*x.dims[:-1], x.dims[-2]])
    others = [
        y
        for y in p.arrays
        if y.rank == x.rank
        and p.always(y.dims[-2] == x.dims[-1])
        and (x.rank == 2 or p.always(y.dims[0] == x.dims[0]))
    ]
    if not others:
        raise Refused
    y = p.rng.choice(others)
    handle = p.writer.matmul(x.handle, y.handle, x.rank, False)
    return p.array(handle, [*x.dims[:-1], y.dims[-1]], [*x.known[:-1], y.known[-1]])


def reduce(p: Program) -> Array:
    x = p.pick()
    if not x.rank:
        raise Refused
    axes = sorted(p.rng.sample(range(x.rank), p.rng.randint(1, min(2, x.rank))))
    kind, keep = p.rng.choice(("mean", "sum", "max")), p.rng.random() < 0.5
    for axis in axes:
        p.require(x.dims[axis] >= 1)
    handle = p.writer.reduce(kind, x.handle, axes, keep)
    one = np.ones(p.alive.shape, np.int64)
    if keep:
        dims = [one if i in axes else d for i, d in enumerate(x.dims)]
        return p.array(handle, dims, [1 if i in axes else k for i, k in enumerate(x.known)])
    left = [i for i in range(x.rank) if i not in axes]
    return p.array(handle, [x.dims[i] for i in left], [x.known[i] for i in left])


def scaled(p: Program) -> Array:
    """Times or over a size; over it, the mean of a sum."""
    x, size, w = p.pick(), either(p), p.writer
    if p.rng.random() < 0.5:
        return p.array(w.times(x.handle, w.to_float(size.handle)), x.dims, x.known)
    p.require(size.values != 0)
    return p.array(w.over(x.handle, w.to_float(size.handle)), x.dims, x.known)


def unary(p: Program) -> Array:
    x = p.pick()
    kind = p.rng.choice(("relu", "neg", "abs", "square"))
    return p.array(p.writer.unary(kind, x.handle), x.dims, x.known)


def reverse(p: Program) -> Array:
    x = p.pick()
    return p.array(p.writer.reverse(x.handle, p.axis(x)), x.dims, x.known)


def spatial_array(p: Program, *ranks: int) -> tuple[Array, int]:
    """An array with a batch and a known number of channels, and their axis."""
    x = p.pick(*ranks)
    channel = p.writer.channels(x.rank)
    if x.known[channel] is None:
        raise Refused
    for d in x.dims:
        p.require(d >= 1)
    return x, channel


def conv(p: Program) -> Array:
    """One or two dimensions, dilated or with a stride, any padding."""
    x, channel = spatial_array(p, 3, 4)
    taps = p.rng.choice((1, 2, 3))
    stride, dilation = p.rng.choice(((1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (3, 1)))
    padding = p.rng.choice(("SAME", "SAME", "VALID", "CAUSAL"))
    n_in, n_out = x.known[channel], p.rng.choice((1, 2, 3))
    spatial = p.writer.spatial(x.rank)
    weights = values((*[taps] * len(spatial), n_in, n_out), seed=p.rng.randrange(1000))
    dims, known = list(x.dims), list(x.known)
    reach = 0 if padding != "VALID" else (taps - 1) * dilation
    for axis in spatial:
        p.require(dims[axis] > reach)  # a graph is built of no other sizes, if they are known
    handle = p.writer.conv(x.handle, x.rank, weights, stride, dilation, padding)
    for axis in spatial:
        dims[axis], known[axis] = -(-(dims[axis] - reach) // stride), None
    dims[channel], known[channel] = np.full(p.alive.shape, n_out), n_out
    return p.array(handle, dims, known)


def pool(p: Program) -> Array:
    x, _ = spatial_array(p, 4)
    size, stride = p.rng.choice((2, 3)), p.rng.choice((1, 2))
    padding = p.rng.choice(("SAME", "VALID"))
    kind = p.rng.choice(("max", "average"))
    dims, known = list(x.dims), list(x.known)
    spatial, reach = p.writer.spatial(4), 0 if padding == "SAME" else size - 1
    for axis in spatial:
        p.require(dims[axis] > reach)  # a graph is built of no other sizes, if they are known
    handle = p.writer.pool(kind, x.handle, x.rank, size, stride, padding)
    for axis in spatial:
        dims[axis], known[axis] = -(-(dims[axis] - reach) // stride), None
    return p.array(handle, dims, known)


def resize(p: Program) -> Array:
    x, _ = spatial_array(p, 4)
    if not p.writer.has_resize:
        raise Refused
    height, width = size_up_to(p), size_up_to(p)
    kind = p.rng.choice(("nearest", "bilinear"))
    handle = p.writer.resize(kind, x.handle, height.handle, width.handle)
    dims, known = list(x.dims), list(x.known)
    for axis, size in zip(p.writer.spatial(4), (height, width), strict=True):
        dims[axis], known[axis] = size.values, None
    return p.array(handle, dims, known)


def same(p, x, axis):
    return x.dims, lambda w, h: h


def doubled(p, x, axis):
    return x.dims, lambda w, h: w.times(h, np.float32(2))


def padded(p, x, axis):
    dims = replaced(x.dims, axis, x.dims[axis] + 2)
    return dims, lambda w, h: w.pad(h, pairs(p, x, axis, 1, 1))


def first_two(p, x, axis):
    dims = replaced(x.dims, axis, np.minimum(x.dims[axis], 2))
    return dims, lambda w, h: w.slice(h, x.rank, axis, None, 2, 1)


def turned(p, x, axis):
    order = list(range(x.rank))[::-1]
    return x.dims[::-1], lambda w, h: w.transpose(h, order)


def filled_up(p, x, axis):
    """Padded to a multiple of 4 in the branch itself."""

    def write(w, h):
        n = w.dim(h, axis, x.rank)
        return w.pad(h, pairs(p, x, axis, 0, w.integer("mod", w.negative(n), w.number(4))))

    return replaced(x.dims, axis, x.dims[axis] + (-x.dims[axis]) % 4), write


def branch(p: Program) -> Array:
    """An If on sizes."""
    x = p.pick(1, 2, 3, 4)
    if not p.writer.has_branches:
        raise Refused
    axis = p.axis(x)
    condition, holds = comparison(p)
    makers = p.rng.sample((same, doubled, padded, first_two, turned, filled_up), 2)
    (one, write_one), (two, write_two) = (maker(p, x, axis) for maker in makers)
    handle = p.writer.cond(condition, [x.handle], [write_one, write_two])
    dims = [np.where(holds, a, b) for a, b in zip(one, two, strict=True)]
    return p.array(handle, dims)


STEPS = {
    pad_multiple: 2,
    letterbox: 2,
    pad_fixed: 1,
    pad_computed: 1,
    centre_crop: 3,
    python_slice: 3,
    merge: 2,
    split: 2,
    rows: 2,
    transpose: 1,
    tile: 1,
    concat: 2,
    filled: 1,
    expand: 1,
    new_axis: 1,
    halves: 1,
    positions: 1,
    gather: 2,
    broadcast: 2,
    matmul: 2,
    reduce: 2,
    scaled: 2,
    unary: 1,
    reverse: 1,
    conv: 4,
    pool: 2,
    resize: 3,
    branch: 3,
}
