"""Operators that move elements, or make them of shapes."""

from math import prod

import numpy as np
from fuzz.drawing import Draw, rows

SCALED = "qint8 quint8 qint16"
NARROW = "int8 uint8 int16"
ANY = "float32 int32 int64 bool int8 uint8 int16 qint8 quint8 qint16"
COMMON = "float32 int32 int64 qint8 quint8"
HALVES = "float16 bfloat16"
OTHERS = f"{HALVES} float64 uint16 uint32 uint64 complex64"
"""Types that LiteRT moves and does not compute in."""


def dummy(shape):
    """An array of a shape that takes no room: numpy says what shapes come out."""
    return np.broadcast_to(np.int8(0), shape)


def axis_of(d: Draw, rank):
    """A dimension, sometimes counted from the end."""
    return d.integer(-rank, rank - 1)


@rows({"RESHAPE": f"{ANY} {OTHERS} complex128 string int4 qint4"})
def reshape(d: Draw, op, kind):
    x = d.x(kind)
    shape = d.at(x).shape
    expected = list(
        d.pick([shape[::-1], (prod(shape),), (1, *shape), (*shape, 1), merged(d, shape)])
    )
    new_shape = list(expected)
    if expected and prod(shape) and d.chance(0.4):
        new_shape[d.integer(0, len(new_shape) - 1)] = -1
    if d.chance(0.2):
        d.add(op, [x], [d.like(x, expected)], new_shape=np.array(new_shape, np.int32))
    else:
        d.add(op, [x, d.known(new_shape)], [d.like(x, expected)])


def merged(d: Draw, shape):
    """Two neighbouring dimensions as one."""
    if len(shape) < 2:
        return shape
    i = d.integer(0, len(shape) - 2)
    return (*shape[:i], shape[i] * shape[i + 1], *shape[i + 2 :])


@rows({"SQUEEZE": f"{ANY} {OTHERS} complex128 string int4 qint4"})
def squeeze(d: Draw, op, kind):
    x = d.x(kind, ranks=range(1, 6))
    shape = d.at(x).shape
    ones = [i for i, n in enumerate(shape) if n == 1]
    chosen = [i for i in ones if d.flag()]
    squeezed_axes = chosen or ones
    signed_axes = [i - len(shape) if d.chance(0.3) else i for i in chosen]
    expected = [n for i, n in enumerate(shape) if i not in squeezed_axes]
    d.add(op, [x], [d.like(x, expected)], squeeze_dims=np.array(signed_axes, np.int32))


@rows({"EXPAND_DIMS": f"{ANY} {OTHERS} complex128 string int4 qint4"})
def expand_dims(d: Draw, op, kind):
    x = d.x(kind, ranks=range(5))
    axis = axis_of(d, len(d.at(x).shape) + 1)
    expected = np.expand_dims(dummy(d.at(x).shape), axis).shape
    d.add(op, [x, d.known(d.pick([axis, [axis]]))], [d.like(x, expected)])


@rows({"TRANSPOSE": f"{ANY} {OTHERS} int4 qint4"})
def transpose(d: Draw, op, kind):
    x = d.x(kind)
    order = d.rng.permutation(len(d.at(x).shape)).tolist()
    expected = [d.at(x).shape[i] for i in order]
    permutation = [i - len(order) if d.chance(0.1) else i for i in order]
    d.add(op, [x, d.known(np.array(permutation, np.int32))], [d.like(x, expected)])


@rows({"CONCATENATION": f"{ANY} {HALVES} uint32 int4 qint4"})
def concatenation(d: Draw, op, kind):
    x = d.x(kind, ranks=range(1, 6))
    shape, scheme = d.at(x).shape, d.at(x).quantization
    axis = axis_of(d, len(shape))
    parts = [x]
    for _ in range(d.integer(0, 3)):
        input_shape = list(shape)
        input_shape[axis] = d.pick([shape[axis], d.size()])
        free = kind in ("qint8", "quint8") and d.chance(0.3)
        parts.append(d.x(kind, shape=input_shape, scheme=d.scheme(kind) if free else scheme))
    expected = list(shape)
    expected[axis] = sum(d.at(part).shape[axis] for part in parts)
    d.rng.shuffle(parts)
    d.add(op, parts, [d.tensor(kind, expected, scheme)], axis=axis)


@rows({"PACK": f"{ANY} uint32"})
def pack(d: Draw, op, kind):
    x = d.x(kind, ranks=range(5))
    shape, scheme = d.at(x).shape, d.at(x).quantization
    parts = [x, *(d.x(kind, shape=shape, scheme=scheme) for _ in range(d.integer(0, 3)))]
    axis = axis_of(d, len(shape) + 1)
    expected = np.stack([dummy(shape)] * len(parts), axis).shape
    d.add(op, parts, [d.like(x, expected)], axis=axis, values_count=len(parts))


@rows({"UNPACK": f"{ANY} {HALVES}"})
def unpack(d: Draw, op, kind):
    shape = d.shape(range(1, 6))
    axis = axis_of(d, len(shape))
    count = min(shape[axis], 6)
    shape = tuple(np.delete(dummy(shape), slice(count, None), axis).shape)
    x = d.x(kind, shape=shape)
    expected = dummy(shape).sum(axis=axis).shape
    d.add(op, [x], [d.like(x, expected) for _ in range(count)], axis=axis, num=count)


@rows({"SPLIT": f"{COMMON} int8 uint8 int16 qint16"})
def split(d: Draw, op, kind):
    x = d.x(kind, ranks=range(1, 6))
    shape = list(d.at(x).shape)
    axis = axis_of(d, len(shape))
    count = d.pick([n for n in range(1, 9) if shape[axis] % n == 0])
    shape[axis] //= count
    outs = [d.like(x, shape) for _ in range(count)]
    d.add(op, [d.known(axis), x], outs, num_splits=count)


@rows({"SPLIT_V": f"{COMMON} int8 uint8 int16 qint16"})
def split_v(d: Draw, op, kind):
    x = d.x(kind, ranks=range(1, 6))
    shape = d.at(x).shape
    axis = axis_of(d, len(shape))
    cuts = sorted(d.integer(0, shape[axis]) for _ in range(d.integer(0, 3)))
    sizes = np.diff([0, *cuts, shape[axis]]).tolist()
    outs = []
    for size in sizes:
        input_shape = list(shape)
        input_shape[axis] = size
        outs.append(d.like(x, input_shape))
    if d.chance(0.3):
        sizes[d.integer(0, len(sizes) - 1)] = -1
    d.add(op, [x, d.known(sizes), d.known(axis)], outs, num_splits=len(sizes))


@rows({"SLICE": f"{ANY} {OTHERS} string int4 qint4"})
def slices(d: Draw, op, kind):
    x = d.x(kind)
    shape = d.at(x).shape
    begin = [d.integer(0, n) if d.chance(0.7) else 0 for n in shape]
    size = [
        d.integer(0 if d.hollow else min(1, n - b), n - b)
        for b, n in zip(begin, shape, strict=True)
    ]
    sizes_with_ends = [
        -1 if d.chance(0.2) and s == n - b else s
        for s, b, n in zip(size, begin, shape, strict=True)
    ]
    dtype = d.pick(["int32", "int64"])
    d.add(op, [x, d.known(begin, dtype), d.known(sizes_with_ends, dtype)], [d.like(x, size)])


@rows({"STRIDED_SLICE": f"{ANY} {OTHERS} string"})
def strided_slice(d: Draw, op, kind):
    x = d.x(kind, ranks=range(1, 5))
    shape, taken, fields, at = d.at(x).shape, [], [], 0
    masks = dict.fromkeys(("begin", "end", "ellipsis", "new_axis", "shrink_axis"), 0)
    while at < len(shape) and (at == 0 or d.chance(0.9)):
        bit, roll = 1 << len(fields), d.rng.random()
        n = shape[at]
        begin, end = d.integer(-n - 1, n), d.integer(-n - 1, n + 2)
        step = d.pick([1, 1, 1, 2, 3, -1, -2])
        if roll < 0.08 and len(fields) < 5:
            masks["new_axis"] |= bit
            taken.append(np.newaxis)
        elif roll < 0.13 and not masks["ellipsis"]:
            masks["ellipsis"] |= bit
            taken.append(Ellipsis)
            at += d.integer(0, len(shape) - at)
        elif roll < 0.3 and n:
            masks["shrink_axis"] |= bit
            begin, step = d.integer(-n, n - 1), 1
            end = begin + 1
            taken.append(begin)
            at += 1
        else:
            first, last = d.chance(0.3), d.chance(0.3)
            masks["begin"] |= bit * first
            masks["end"] |= bit * last
            taken.append(slice(None if first else begin, None if last else end, step))
            at += 1
        fields.append((begin, end, step))
    try:
        expected = dummy(shape)[tuple(taken)].shape
    except IndexError:  # an ellipsis moved what comes behind it: no index fits, a slice does
        masks["shrink_axis"] = 0
        taken = [slice(one, one + 1) if isinstance(one, int) else one for one in taken]
        expected = dummy(shape)[tuple(taken)].shape
    operands = [d.known([f[i] for f in fields]) for i in range(3)]
    scheme = d.at(x).quantization
    out = d.tensor(kind, expected, scheme)
    d.add(op, [x, *operands], [out], **{f"{name}_mask": mask for name, mask in masks.items()})


@rows({"REVERSE_V2": f"{ANY} {HALVES}"})
def reverse(d: Draw, op, kind):
    x = d.x(kind, ranks=range(1, 5))
    rank = len(d.at(x).shape)
    first = d.integer(0, rank - 1)
    axes = list(range(first, d.integer(first, rank - 1) + 1))
    d.add(op, [x, d.known(axes)], [d.like(x)])


@rows({"REVERSE_SEQUENCE": f"{COMMON} int16 uint8 qint16"})
def reverse_sequence(d: Draw, op, kind):
    x = d.x(kind, ranks=range(2, 5))
    shape = d.at(x).shape
    along, batch = d.rng.permutation(len(shape))[:2].tolist()
    lengths = d.rng.integers(0, shape[along], shape[batch], endpoint=True)
    d.add(op, [x, d.known(lengths)], [d.like(x)], seq_dim=along, batch_dim=batch)


@rows({"PAD": f"{ANY} {HALVES}", "PADV2": f"{ANY} {HALVES}"})
def pad(d: Draw, op, kind):
    x = d.x(kind)
    shape = d.at(x).shape
    widths = [[d.integer(0, 3) if d.flag() else 0 for _ in range(2)] for _ in shape]
    expected = [n + before + after for n, (before, after) in zip(shape, widths, strict=True)]
    operands = [
        x,
        d.known(np.array(widths).reshape(-1, 2), d.pick(["int32", "int32", "int64", "int16"])),
    ]
    if op == "PADV2":
        operands.append(d.constant(kind, d.pick([(), (1,)]), d.at(x).quantization))
    d.add(op, operands, [d.like(x, expected)])


@rows({"MIRROR_PAD": f"{ANY} {OTHERS}"})
def mirror_pad(d: Draw, op, kind):
    x = d.x(kind, ranks=range(1, 6))
    symmetric = d.flag()
    widths = [
        [d.integer(0, max(0, min(4, n if symmetric else n - 1))) for _ in range(2)]
        for n in d.at(x).shape
    ]
    expected = [n + sum(width) for n, width in zip(d.at(x).shape, widths, strict=True)]
    mode = "SYMMETRIC" if symmetric else "REFLECT"
    d.add(op, [x, d.known(widths)], [d.like(x, expected)], mode=mode)


@rows(dict.fromkeys(("SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"), f"{ANY} {OTHERS}"))
def blocks(d: Draw, op, kind):
    shape = list(d.shape((3, 4)))
    n = len(shape) - 2
    block = [d.integer(1, 3) for _ in range(n)]
    if op == "BATCH_TO_SPACE_ND":
        shape[0] = d.integer(1, 3) * prod(block)
        sides = [[d.integer(0, 1), d.integer(0, 1)] for _ in range(n)]
        inner = [m * b - sum(side) for m, b, side in zip(shape[1:-1], block, sides, strict=True)]
        expected = [shape[0] // prod(block), *(max(0, m) for m in inner), shape[-1]]
    else:
        sides = []
        for m, b in zip(shape[1:-1], block, strict=True):
            before = d.integer(0, 2)
            sides.append([before, -(m + before) % b + b * d.integer(0, 1)])
        inner = [(m + sum(side)) // b for m, b, side in zip(shape[1:-1], block, sides, strict=True)]
        expected = [shape[0] * prod(block), *inner, shape[-1]]
    x = d.x(kind, shape=shape)
    d.add(op, [x, d.known(block), d.known(sides)], [d.like(x, expected)])


@rows(dict.fromkeys(("SPACE_TO_DEPTH", "DEPTH_TO_SPACE"), f"{COMMON} int8 uint8"))
def depths(d: Draw, op, kind):
    block = d.integer(1, 4)
    n, h, w, c = (d.integer(1, 5) for _ in range(4))
    space, depth = (n, h * block, w * block, c), (n, h, w, c * block * block)
    before, after = (space, depth) if op == "SPACE_TO_DEPTH" else (depth, space)
    x = d.x(kind, shape=before)
    d.add(op, [x], [d.like(x, after)], block_size=block)


@rows({"TILE": f"{ANY} {OTHERS} string"})
def tile(d: Draw, op, kind):
    x = d.x(kind, ranks=range(1, 5))
    times = [d.integer(0 if d.hollow else 1, 3) if d.flag() else 1 for _ in d.at(x).shape]
    expected = [n * t for n, t in zip(d.at(x).shape, times, strict=True)]
    d.add(op, [x, d.known(times, d.pick(["int32", "int64"]))], [d.like(x, expected)])


@rows({"BROADCAST_TO": f"{ANY} {OTHERS} complex128 int4"})
def broadcast_to(d: Draw, op, kind):
    expected = d.shape(range(1, 6))
    input_shape = tuple(1 if d.chance(0.4) else n for n in expected)[
        d.integer(0, len(expected) - 1) :
    ]
    x = d.x(kind, shape=input_shape)
    d.add(op, [x, d.known(expected, d.pick(["int32", "int64"]))], [d.like(x, expected)])


@rows({"BROADCAST_ARGS": "int32 int64"})
def broadcast_args(d: Draw, op, kind):
    expected = d.shape(range(1, 5))
    input_shapes = [tuple(1 if d.chance(0.4) else n for n in expected) for _ in range(2)]
    operands = [d.known(shape, kind, at_run_time=0.5) for shape in input_shapes]
    d.add(op, operands, [d.tensor(kind, (len(expected),))])


@rows(dict.fromkeys(("MATRIX_DIAG", "MATRIX_SET_DIAG"), f"{COMMON} int8 uint8 int16 uint32 qint16"))
def diagonal(d: Draw, op, kind):
    if op == "MATRIX_DIAG":
        x = d.x(kind, ranks=range(1, 4))
        shape = d.at(x).shape
        d.add(op, [x], [d.like(x, (*shape, shape[-1]))])
        return
    x = d.x(kind, ranks=range(2, 5))
    shape = d.at(x).shape
    values = d.x(kind, shape=(*shape[:-2], min(shape[-2:])), scheme=d.at(x).quantization)
    d.add(op, [x, values], [d.like(x)])


@rows({"FILL": f"{ANY} {OTHERS} string"})
def fill(d: Draw, op, kind):
    shape = d.shape(range(5))
    value = d.x(kind, shape=())
    sizes = d.known(np.array(shape), d.pick(["int32", "int64"]))
    d.add(op, [sizes, value], [d.like(value, shape)])


@rows({"ZEROS_LIKE": "float32 int32 int64"})
def zeros_like(d: Draw, op, kind):
    x = d.x(kind)
    d.add(op, [x], [d.like(x)])


@rows({"RANGE": "float32 int32 int64"})
def ranges(d: Draw, op, kind):
    start, count, step = d.integer(-9, 9), d.integer(0, 20), d.pick([1, 2, -1, -3])
    numbers = [start, start + count * step, step]
    if kind == "float32" and d.flag():
        numbers = [n / 8 for n in numbers]
    d.add(op, [d.known(n, kind, 0.3) for n in numbers], [d.tensor(kind, None)])


@rows({"ONE_HOT": f"{COMMON} bool int8 uint8"})
def one_hot(d: Draw, op, kind):
    depth = d.integer(1, 9)
    at = d.x(d.pick(["int32", "int64", "int16"]), ranks=range(4), low=-1, high=depth)
    rank = len(d.at(at).shape)
    axis = d.integer(-1, rank)
    shape = list(d.at(at).shape)
    shape.insert(rank if axis == -1 else axis, depth)
    on = d.x(kind, shape=())
    off = d.x(kind, shape=(), scheme=d.at(on).quantization)
    d.add(op, [at, d.known(depth), on, off], [d.like(on, shape)], axis=axis)


@rows(dict.fromkeys(("SHAPE", "RANK"), f"{ANY} {OTHERS} complex128 string int4 qint4"))
def shape_of(d: Draw, op, kind):
    x = d.x(kind)
    if op == "RANK":
        d.add(op, [x], [d.tensor("int32", ())])
        return
    wide = d.pick(["int32", "int64"])
    d.add(op, [x], [d.tensor(wide, (len(d.at(x).shape),))], out_type=wide.upper())


@rows({"RESIZE_BILINEAR": f"float32 {NARROW} {SCALED}"})
@rows({"RESIZE_NEAREST_NEIGHBOR": f"{NARROW} float32 {HALVES} uint16 int32 uint32 bool {SCALED}"})
def resize(d: Draw, op, kind):
    n, h, w, c = d.shape((4,))
    x = d.x(kind, shape=(n, max(h, 1), max(w, 1), c))
    size = [d.integer(1, 12), d.integer(1, 12)]
    corners = d.flag()
    options = {"align_corners": corners, "half_pixel_centers": not corners and d.flag()}
    d.add(op, [x, d.known(size)], [d.like(x, (n, *size, c))], **options)
